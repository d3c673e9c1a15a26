"""Golden rows for tests/quantlib/pricing.rs: Greeks by mpmath. Writes ../pricing_greeks.csv.

python3 tests/golden/generate/greeks.py   (from the root; needs mpmath from PyPI)

The Greeks are numerical derivatives of the price at 400 digits, independent of their formulas.
"""

import pathlib
import random

import mpmath
from mpmath import mp, mpf

mp.dps = 400
GOLDEN = pathlib.Path(__file__).resolve().parent.parent
RANDOM = random.Random(20261120)


def write(name, digits, header, rows):
    first = f"# mpmath {mpmath.__version__} at {digits} digits, 2026-11-20, python3 tests/golden/generate/greeks.py"
    text = lambda value: value if isinstance(value, str) else repr(value)
    lines = [",".join(text(value) for value in row) for row in rows]
    (GOLDEN / f"{name}.csv").write_text("\n".join([first, header, *lines]) + "\n")
    print(name, len(rows))


def cdf(x):
    return mpmath.erfc(-x / mpmath.sqrt(mpf(2))) / 2


def price(sign, spot, strike, rate, dividend_yield, volatility, time):
    asset, cash = spot * mpmath.exp(-dividend_yield * time), strike * mpmath.exp(-rate * time)
    deviation = volatility * mpmath.sqrt(time)
    d1 = mpmath.log(asset / cash) / deviation + deviation / 2
    return sign * (asset * cdf(sign * d1) - cash * cdf(sign * (d1 - deviation)))


STEP = mpf(10) ** -50


def derivative(function, arguments, *positions):
    """Central differences of second order error, one for each position: exact to 90 digits."""
    if not positions:
        return function(*arguments)
    first, *rest = positions
    step = arguments[first] * STEP if arguments[first] else STEP
    moved = lambda sign: [value + sign * step * (index == first) for index, value in enumerate(arguments)]
    return (derivative(function, moved(1), *rest) - derivative(function, moved(-1), *rest)) / (2 * step)


def greeks(kind, *numbers):
    sign = 1 if kind == "call" else -1
    function = lambda *arguments: price(sign, *arguments)
    numbers = list(map(mpf, numbers))
    of = lambda *positions: derivative(function, numbers, *positions)
    spot, strike, rate, dividend_yield, volatility, time = numbers
    rho, epsilon, vega = of(2), of(3), of(4)
    delta, theta = of(0), -of(5)
    asset, cash = abs(epsilon) / time, abs(rho) / time  # the values of the two sides on exercise
    deviation = volatility * mpmath.sqrt(time)
    d1 = (mpmath.log(spot / strike) + (rate - dividend_yield) * time) / deviation + deviation / 2
    d2, density = d1 - deviation, vega / mpmath.sqrt(time)
    # The largest of the three terms that may cancel.
    theta_term = max(abs(dividend_yield * asset), abs(rate * cash), density * volatility / 2 / mpmath.sqrt(time))
    charm_term = max(abs(dividend_yield * asset), density * abs(rate - dividend_yield) / deviation, density * abs(d2) / 2 / time) / spot
    veta_term = vega * max(abs(dividend_yield), abs((rate - dividend_yield) * d1 / deviation), (1 + abs(d1 * d2)) / 2 / time)
    values = (of(), delta, of(0, 0), vega, theta, rho, epsilon, of(1), of(1, 1), of(0, 4), of(4, 4),
              -of(0, 5), -of(4, 5), of(2, 4), theta_term, charm_term, veta_term)
    return tuple(map(float, values))


def options():
    for _ in range(50):  # the usual range
        yield (100.0, RANDOM.uniform(60, 160), RANDOM.uniform(-0.03, 0.1), RANDOM.uniform(-0.02, 0.08),
               RANDOM.uniform(0.05, 0.9), RANDOM.uniform(0.01, 5))
    for _ in range(25):  # far out of the money and far in the money
        yield (100.0, 100 * 10 ** RANDOM.uniform(0.05, 1.5), RANDOM.uniform(-0.03, 0.1), 0.01, RANDOM.uniform(0.1, 0.4), RANDOM.uniform(0.3, 2))
    for _ in range(10):  # at the forward, with a tiny deviation
        yield (100.0, 100.0 * (1 + RANDOM.uniform(-1e-6, 1e-6)), 0.0, 0.0, 10 ** RANDOM.uniform(-6, -3), 1.0)
    for _ in range(10):  # high volatility and a long time
        yield (100.0, RANDOM.uniform(20, 500), 0.02, 0.01, RANDOM.uniform(0.8, 2), RANDOM.uniform(5, 20))
    # d₂, then d₁, close to zero, where vanna and vera vanish.
    yield (100.0, 100.0, 0.02, 0.0, 0.2, 1.0)
    yield (100.0, 100.0, 0.0, 0.02, 0.2, 1.0)


if __name__ == "__main__":
    names = "price,delta,gamma,vega,theta,rho,epsilon,dual_delta,dual_gamma,vanna,vomma,charm,veta,vera"
    header = f"option_type,spot,strike,risk_free_rate,dividend_yield,volatility,time_to_maturity,{names},theta_term,charm_term,veta_term"
    rows = [(kind, *numbers, *greeks(kind, *numbers)) for numbers in options() for kind in ("call", "put")]
    write("pricing_greeks", 400, header, [row for row in rows if 1e-280 < row[7]])
