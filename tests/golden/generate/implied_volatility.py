"""Golden rows for tests/quantlib/pricing.rs: implied volatilities by mpmath. Writes ../implied_volatility.csv.

python3 tests/golden/generate/implied_volatility.py   (from the root; needs mpmath from PyPI)

Each volatility is the root of the price formula at 400 digits for the price as written, which is the rounded
price of a drawn volatility. `condition` is the change of the volatility, in last bits, by one last bit of the price.
"""

import pathlib
import random

import mpmath
from mpmath import mp, mpf

mp.dps = 400
GOLDEN = pathlib.Path(__file__).resolve().parent.parent
RANDOM = random.Random(20261121)


def write(name, digits, header, rows):
    first = f"# mpmath {mpmath.__version__} at {digits} digits, 2026-11-20, python3 tests/golden/generate/implied_volatility.py"
    text = lambda value: value if isinstance(value, str) else repr(value)
    lines = [",".join(text(value) for value in row) for row in rows]
    (GOLDEN / f"{name}.csv").write_text("\n".join([first, header, *lines]) + "\n")
    print(name, len(rows))


def cdf(x):
    return mpmath.erfc(-x / mpmath.sqrt(mpf(2))) / 2


def price_and_vega(sign, spot, strike, rate, dividend_yield, volatility, time):
    asset, cash = spot * mpmath.exp(-dividend_yield * time), strike * mpmath.exp(-rate * time)
    root = mpmath.sqrt(time)
    deviation = volatility * root
    d1 = mpmath.log(asset / cash) / deviation + deviation / 2
    price = sign * (asset * cdf(sign * d1) - cash * cdf(sign * (d1 - deviation)))
    return price, asset * mpmath.npdf(d1) * root


def row(kind, spot, strike, rate, dividend_yield, volatility, time):
    """Returns the implied volatility of the rounded price; None where rounding leaves no time value."""
    sign = 1 if kind == "call" else -1
    spot, strike, rate, dividend_yield, time = numbers = [mpf(n) for n in (spot, strike, rate, dividend_yield, time)]
    at = lambda sigma: price_and_vega(sign, spot, strike, rate, dividend_yield, sigma, time)
    exact, vega = at(mpf(volatility))
    target = mpf(float(exact))
    asset, cash = spot * mpmath.exp(-dividend_yield * time), strike * mpmath.exp(-rate * time)
    intrinsic, most = max(sign * (asset - cash), mpf(0)), asset if kind == "call" else cash
    room = 1000 * mpf(2) ** -53 * target
    if target < 1e-300 or target < intrinsic + room or target > most - room:
        return None
    sigma = mpf(volatility)
    for _ in range(60):
        price, vega = at(sigma)
        change = (target - price) / vega
        sigma = min(max(sigma + change, sigma / 2), 2 * sigma)
        if abs(change) < sigma * mpf(10) ** -60:
            break
    else:
        raise ArithmeticError((kind, numbers))
    price, vega = at(sigma)
    spot, strike, rate, dividend_yield, time = map(float, numbers)
    return (kind, spot, strike, rate, dividend_yield, float(target), time, float(sigma), float(price / sigma / vega))


def options():
    for _ in range(60):  # the usual range
        yield (100.0, RANDOM.uniform(60, 160), RANDOM.uniform(-0.03, 0.1), RANDOM.uniform(-0.02, 0.08),
               RANDOM.uniform(0.05, 0.9), RANDOM.uniform(0.01, 5))
    for _ in range(40):  # far out of the money and far in the money
        yield (100.0, 100 * 10 ** RANDOM.uniform(0.05, 1.5), RANDOM.uniform(-0.03, 0.1), 0.01, RANDOM.uniform(0.1, 0.6), RANDOM.uniform(0.3, 2))
    for _ in range(30):  # at and near the forward, with a tiny deviation
        deviation = 10 ** RANDOM.uniform(-8, -2)
        yield (100.0, 100.0 * (1 + RANDOM.uniform(-5, 5) * deviation), 0.0, 0.0, deviation, 1.0)
    yield (100.0, 100.0, 0.0, 0.0, 1e-8, 1.0)
    yield (100.0, 100.0, 0.03, 0.03, 0.4, 1.0)
    for _ in range(100):  # the whole range: ratios to e^700, deviations to 100
        ratio = 10 ** RANDOM.uniform(-3, mpmath.log10(700))
        least = (ratio / 37) if ratio < 37 else (2 * ratio) ** 0.5 / 3
        deviation = float(mpf(least) * mpf(100 / least) ** RANDOM.random())
        yield (1.0, float(mpmath.exp(mpf(ratio))) if ratio < 300 else float(mpmath.exp(mpf(ratio) - 400)),
               0.0 if ratio < 300 else -400.0, 0.0, deviation, 1.0)


if __name__ == "__main__":
    header = "option_type,spot,strike,risk_free_rate,dividend_yield,price,time_to_maturity,volatility,condition"
    rows = [row(kind, *numbers) for numbers in options() for kind in ("call", "put")]
    write("implied_volatility", 400, header, [row for row in rows if row])
