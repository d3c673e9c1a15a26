"""Golden rows for tests/quantlib/black_family.rs: digital, Bermudan and spread options by mpmath and QuantLib.

Writes ../digital.csv, ../spread.csv and ../bermudan.csv.

python3 tests/golden/generate/options_rest.py   (from the root; needs mpmath and QuantLib from PyPI)
"""

import pathlib
import random

import mpmath
import QuantLib as ql
from black_family import KINDS, MPMATH, QUANTLIB, black, cdf, derivative, moves
from mpmath import mp, mpf

mp.dps = 400
GOLDEN = pathlib.Path(__file__).resolve().parent.parent
RANDOM = random.Random(20261123)


def write(name, tool, header, rows):
    first = f"# {tool}, 2026-11-22, python3 tests/golden/generate/options_rest.py"
    text = lambda value: value if isinstance(value, str) else repr(value)
    lines = [",".join(text(value) for value in row) for row in rows]
    (GOLDEN / f"{name}.csv").write_text("\n".join([first, header, *lines]) + "\n")
    print(name, len(rows))


def digital_row(kind, *numbers):
    """Cash-or-nothing with numerical derivatives, asset-or-nothing, and the terms of theta, rho that may cancel."""
    sign = 1 if kind == "call" else -1

    def d2(spot, strike, rate, dividend_yield, volatility, time):
        s = volatility * mpmath.sqrt(time)
        return (mpmath.log(spot / strike) + (rate - dividend_yield) * time) / s - s / 2

    cash = lambda *moved: mpmath.exp(-moved[2] * moved[5]) * cdf(sign * d2(*moved))
    arguments = list(map(mpf, numbers))
    spot, strike, rate, dividend_yield, volatility, time = arguments
    of = lambda *positions: derivative(cash, arguments, *positions)
    value, s = of(), volatility * mpmath.sqrt(time)
    d1 = d2(*arguments) + s
    asset = spot * mpmath.exp(-dividend_yield * time) * cdf(sign * d1)
    n = mpmath.exp(-rate * time) * mpmath.npdf(d2(*arguments))
    theta_term = max(abs(rate * value), n * abs(rate - dividend_yield) / s, n * abs(d1) / 2 / time)
    rho_term = max(time * value, n * mpmath.sqrt(time) / volatility)
    values = (value, asset, of(0), of(0, 0), of(4), -of(5), of(2), of(3), theta_term, rho_term)
    return (kind, *numbers, *map(float, values))


def digital_rows():
    rows = []
    for _ in range(40):
        numbers = (100.0, RANDOM.uniform(60, 160), RANDOM.uniform(-0.03, 0.1), RANDOM.uniform(-0.02, 0.08),
                   RANDOM.uniform(0.05, 0.9), RANDOM.uniform(0.01, 5))
        rows += [digital_row(kind, *numbers) for kind in ("call", "put")]
    for _ in range(15):  # far from the strike
        numbers = (100.0, 100 * 10 ** RANDOM.uniform(-1, 1), RANDOM.uniform(-0.03, 0.1), 0.01, RANDOM.uniform(0.1, 0.4), RANDOM.uniform(0.3, 2))
        rows += [digital_row(kind, *numbers) for kind in ("call", "put")]
    return [row for row in rows if row[7] > 1e-250]


def spread_row(kind, forward1, forward2, strike, rate, sigma1, sigma2, rho, time):
    """The integral over the second forward's deviate, given which the first is lognormal; 30 digits."""
    sign = 1 if kind == "call" else -1
    with mp.workdps(40):
        f1, f2, k, r, s1, s2, c, t = map(mpf, (forward1, forward2, strike, rate, sigma1, sigma2, rho, time))
        root = mpmath.sqrt(t)
        rest = s1 * mpmath.sqrt(1 - c * c)

        def integrand(z):
            first = f1 * mpmath.exp(c * s1 * root * z - (c * s1) ** 2 * t / 2)
            due = f2 * mpmath.exp(s2 * root * z - s2**2 * t / 2) + k
            payoff = black(sign, first, due, mpf(0), rest, t) if due > 0 else max(sign * (first - due), mpf(0))
            return mpmath.npdf(z) * payoff

        # The corner of the payoff where the strike uses up the second forward.
        ends = [mpf(z) for z in range(-14, 15, 2)]
        if k < 0:
            ends = sorted([*ends, (mpmath.log(-k / f2) + s2**2 * t / 2) / (s2 * root)])
        exact = mpmath.exp(-r * t) * mpmath.quad(integrand, ends)
        weight = f2 / (f2 + k)
        sigma = mpmath.sqrt(s1**2 - 2 * c * s1 * s2 * weight + (s2 * weight) ** 2)
        price = black(sign, f1, f2 + k, r, sigma, t)
    quantlib = ql.blackFormula(KINDS[kind], forward2 + strike, forward1, float(sigma) * time**0.5, float(mpmath.exp(-r * t)))
    return (kind, forward1, forward2, strike, rate, sigma1, sigma2, rho, time, float(price), float(sigma), float(exact), quantlib)


def spread_rows():
    rows = []
    for _ in range(25):
        numbers = (100.0, RANDOM.uniform(70, 130), RANDOM.choice((0.0, 5.0, -5.0, 20.0)), RANDOM.uniform(-0.01, 0.08),
                   RANDOM.uniform(0.1, 0.6), RANDOM.uniform(0.1, 0.6), RANDOM.uniform(-0.9, 0.9), RANDOM.choice((0.25, 1.0, 3.0)))
        rows += [spread_row(kind, *numbers) for kind in ("call", "put")]
    return rows


def bermudan_row(tree, n, every, kind, spot, strike, rate, dividend_yield, volatility, time):
    """The tree by its definition, exercised at each `every`-th step."""
    with mp.workdps(60):
        s, k, r, q, v, t = map(mpf, (spot, strike, rate, dividend_yield, volatility, time))
        u, d, p = moves(tree, n, s, k, r, q, v, t)
        discount, sign = mpmath.exp(-r * t / n), 1 if kind == "call" else -1
        node = lambda i, j: s * u**j * d ** (i - j)
        values = [max(sign * (node(n, j) - k), mpf(0)) for j in range(n + 1)]
        for i in range(n - 1, -1, -1):
            values = [discount * (p * values[j + 1] + (1 - p) * values[j]) for j in range(i + 1)]
            if i and i % every == 0:
                values = [max(value, sign * (node(i, j) - k)) for j, value in enumerate(values)]
    times = ";".join(repr(time * i / n) for i in range(every, n, every))
    return (tree, n, times, kind, spot, strike, rate, dividend_yield, volatility, time, float(values[0]))


def bermudan_rows():
    rows = []
    for n, every in ((4, 2), (25, 5), (60, 20), (61, 7)):
        for tree in ("CRR", "JR", "LR", "TIAN"):
            if tree == "LR" and n % 2 == 0:
                continue
            for _ in range(3):
                rate, dividend_yield = RANDOM.choice(((0.08, 0.04), (0.02, 0.06), (0.05, 0.0), (0.03, 0.03)))
                rows.append(bermudan_row(tree, n, every, RANDOM.choice(("call", "put")), 100.0, RANDOM.choice((90.0, 100.0, 105.0, 115.0)),
                                         rate, dividend_yield, RANDOM.choice((0.2, 0.4, 0.7)), RANDOM.choice((0.25, 1.0, 2.0))))
    return rows


if __name__ == "__main__":
    option = "option_type,spot,strike,risk_free_rate,dividend_yield,volatility,time_to_maturity"
    write("digital", MPMATH, f"{option},cash_or_nothing,asset_or_nothing,delta,gamma,vega,theta,rho,epsilon,theta_term,rho_term", digital_rows())
    write("spread", f"mpmath {mpmath.__version__} at 40 digits, {QUANTLIB}", "option_type,forward1,forward2,strike,risk_free_rate,volatility1,"
          "volatility2,correlation,time_to_maturity,price,spread_volatility,exact_price,quantlib_price", spread_rows())
    write("bermudan", f"mpmath {mpmath.__version__} at 60 digits", f"tree,n_steps,exercise_times,{option},price", bermudan_rows())
