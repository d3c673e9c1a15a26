"""Golden rows for tests/quantlib/binomial.rs: trees by mpmath at 50 digits and by QuantLib, American prices by
QuantLib's QD+ engine, and discretely monitored barriers by quadrature from date to date.

Writes ../binomial_tree.csv, ../binomial_quantlib.csv, ../binomial_american.csv and ../barrier_discrete.csv.

python3 tests/golden/generate/binomial.py   (from the root; needs mpmath, numpy and QuantLib from PyPI)
"""

import math
import pathlib
import random

import mpmath
import numpy
import QuantLib as ql
from mpmath import mp, mpf

mp.dps = 50
GOLDEN = pathlib.Path(__file__).resolve().parent.parent
RANDOM = random.Random(20261120)
OPTION = "option_type,spot,strike,risk_free_rate,dividend_yield,volatility,time_to_maturity"


def write(name, tool, header, rows):
    first = f"# {tool}, 2026-11-20, python3 tests/golden/generate/binomial.py"
    text = lambda value: value if isinstance(value, str) else repr(value)
    lines = [",".join(text(value) for value in row) for row in rows]
    (GOLDEN / f"{name}.csv").write_text("\n".join([first, header, *lines]) + "\n")
    print(name, len(rows))


def moves(tree, n, spot, strike, rate, dividend_yield, volatility, time):
    """Returns the up move, the down move and the odds of the up move."""
    dt, carry = time / n, rate - dividend_yield
    growth, root = mpmath.exp(carry * dt), volatility * mpmath.sqrt(dt)
    if tree == "CRR":
        u, d = mpmath.exp(root), mpmath.exp(-root)
    elif tree == "JR":
        drift = (carry - volatility**2 / 2) * dt
        return mpmath.exp(drift + root), mpmath.exp(drift - root), mpf(1) / 2
    elif tree == "TIAN":
        v = mpmath.exp(volatility**2 * dt)
        spread = mpmath.sqrt(v * v + 2 * v - 3)
        u, d = growth * v / 2 * (v + 1 + spread), growth * v / 2 * (v + 1 - spread)
    else:
        s = volatility * mpmath.sqrt(time)
        d1 = (mpmath.log(spot / strike) + carry * time) / s + s / 2

        def h(z):
            y = (z / (n + mpf(1) / 3 + mpf("0.1") / (n + 1))) ** 2 * (n + mpf(1) / 6)
            return mpf(1) / 2 + mpmath.sign(z) * mpmath.sqrt((1 - mpmath.exp(-y)) / 4)

        p = h(d1 - s)
        u = growth * h(d1) / p
        return u, (growth - p * u) / (1 - p), p
    return u, d, (growth - d) / (u - d)


def by_nodes(tree, n, exercise, kind, *numbers):
    """The tree by its definition, node by node."""
    spot, strike, rate, dividend_yield, volatility, time = map(mpf, numbers)
    n = n | 1 if tree == "LR" else n
    u, d, p = moves(tree, n, spot, strike, rate, dividend_yield, volatility, time)
    if not 0 <= p <= 1:
        return None
    discount = mpmath.exp(-rate * time / n)
    ups, downs = [u**k for k in range(n + 1)], [d**k for k in range(n + 1)]
    sign = 1 if kind == "call" else -1
    paid = lambda i, j: sign * (spot * ups[j] * downs[i - j] - strike)
    values = [max(paid(n, j), mpf(0)) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        values = [discount * (p * values[j + 1] + (1 - p) * values[j]) for j in range(i + 1)]
        if exercise == "american":
            values = [max(value, paid(i, j)) for j, value in enumerate(values)]
    return values[0]


def markets(count):
    """Kind, spot, strike, rate, yield, volatility and years; times are multiples of 1/360."""
    for _ in range(count):
        kind = RANDOM.choice(("call", "put"))
        rate, dividend_yield = RANDOM.choice(((0.08, 0.04), (0.02, 0.06), (0.05, 0.0), (0.0, 0.05), (0.03, 0.03), (0.1, 0.12)))
        yield (kind, 100.0, RANDOM.choice((70.0, 90.0, 100.0, 110.0, 140.0)), rate, dividend_yield,
               RANDOM.choice((0.1, 0.2, 0.4, 0.7)), RANDOM.choice((60, 180, 360, 1080)) / 360)


def tree_rows():
    rows = []
    for n in (1, 2, 5, 20, 61, 150):
        for tree in ("CRR", "JR", "LR", "TIAN"):
            for exercise in ("european", "american"):
                for market in markets(3):
                    price = by_nodes(tree, n, exercise, *market)
                    if price is not None:
                        rows.append((tree, n, exercise, *market, float(price)))
    # Negative rates: early exercise boundaries on both sides, on one, and none.
    for tree in ("CRR", "JR", "LR", "TIAN"):
        for market in (("put", 80.0, 100.0, -0.01, -0.03, 0.15, 5.0), ("call", 120.0, 100.0, -0.03, -0.01, 0.15, 5.0),
                       ("put", 100.0, 110.0, 0.0, -0.04, 0.25, 1.0), ("put", 100.0, 110.0, -0.02, 0.01, 0.25, 1.0)):
            rows.append((tree, 101, "american", *market, float(by_nodes(tree, 101, "american", *market))))
    return rows


class Market:
    """A flat market of QuantLib; times are multiples of 1/360."""

    def __init__(self, kind, spot, strike, rate, dividend_yield, volatility, time):
        self.today = ql.Date(20, 11, 2026)
        ql.Settings.instance().evaluationDate = self.today
        days = ql.Actual360()
        curve = lambda level: ql.YieldTermStructureHandle(ql.FlatForward(self.today, level, days))
        surface = ql.BlackConstantVol(self.today, ql.NullCalendar(), volatility, days)
        self.process = ql.BlackScholesMertonProcess(
            ql.QuoteHandle(ql.SimpleQuote(spot)), curve(dividend_yield), curve(rate), ql.BlackVolTermStructureHandle(surface))
        payoff = ql.PlainVanillaPayoff(ql.Option.Call if kind == "call" else ql.Option.Put, strike)
        self.option = ql.VanillaOption(payoff, ql.AmericanExercise(self.today, self.today + round(360 * time)))

    def price(self, engine):
        self.option.setPricingEngine(engine(self.process))
        return self.option.NPV()


def quantlib_tree_rows():
    """QuantLib's CRR has other odds, and its LR with an even count has the moves of another."""
    names, rows = {"JR": "jr", "LR": "lr", "TIAN": "tian"}, []
    for n in (3, 51, 301, 1001):
        for tree, name in names.items():
            for market in markets(6):
                price = Market(*market).price(lambda process: ql.BinomialVanillaEngine(process, name, n))
                rows.append((tree, n, "american", *market, price))
    return rows


def american_rows():
    rows = []
    for market in markets(40):
        price = Market(*market).price(lambda process: ql.QdFpAmericanEngine(process, ql.QdFpAmericanEngine.highPrecisionScheme()))
        rows.append((*market, price))
    return rows


def discrete_barrier(kind, spot, strike, rate, dividend_yield, volatility, time, direction, barrier, rebate, dates):
    """A knock-out monitored on `dates` equally spaced dates, the last at expiry, by Gauss's rule of 16
    points on pieces of at most half a standard deviation of the time between two dates."""
    dt = time / dates
    deviation, drift = volatility * math.sqrt(dt), (rate - dividend_yield - volatility**2 / 2) * dt
    total = 9 * volatility * math.sqrt(time) + abs(drift) * dates
    edge, kink = math.log(barrier / spot), math.log(strike / spot)
    low, high = (edge, total) if direction == "down" else (-total, edge)
    breaks = [low, kink, high] if low < kink < high else [low, high]
    points, weights = numpy.polynomial.legendre.leggauss(16)
    xs, ws = [], []
    for start, end in zip(breaks, breaks[1:]):
        pieces = math.ceil((end - start) / (0.5 * deviation))
        half = (end - start) / pieces / 2
        for piece in range(pieces):
            xs.append(start + (2 * piece + 1) * half + half * points)
            ws.append(half * weights)
    xs, ws = numpy.concatenate(xs), numpy.concatenate(ws)
    sign = 1 if kind == "call" else -1
    values = numpy.maximum(sign * (spot * numpy.exp(xs) - strike), 0)
    density = lambda start, ends: numpy.exp(-0.5 * ((ends - start - drift) / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))
    discount = math.exp(-rate * dt)
    side = 1 if direction == "down" else -1
    hit = lambda start: 0.5 * math.erfc(-side * (edge - start - drift) / deviation / math.sqrt(2))
    kernel = density(xs[:, None], xs[None, :]) * ws
    hits = numpy.array([hit(x) for x in xs])
    for _ in range(dates - 1):
        values = discount * (kernel @ values + rebate * hits)
    return discount * (float(density(0.0, xs) @ (ws * values)) + rebate * hit(0.0))


def discrete_barrier_rows():
    rows = []
    for dates in (5, 50, 250):
        for kind in ("call", "put"):
            for direction, levels in (("down", (80.0, 90.0, 95.0)), ("up", (105.0, 112.0, 130.0))):
                for barrier in levels:
                    strike, rebate = RANDOM.choice((90.0, 100.0, 110.0)), RANDOM.choice((0.0, 3.0))
                    rate, dividend_yield = RANDOM.choice(((0.1, 0.0), (0.02, 0.06), (0.05, 0.05)))
                    volatility, time = RANDOM.choice((0.2, 0.3, 0.5)), RANDOM.choice((0.2, 0.5, 1.0))
                    arguments = (kind, 100.0, strike, rate, dividend_yield, volatility, time, direction, barrier, rebate, dates)
                    rows.append((*arguments, discrete_barrier(*arguments)))
    return rows


if __name__ == "__main__":
    tree = f"tree,n_steps,exercise,{OPTION},price"
    write("binomial_tree", f"mpmath {mpmath.__version__} at 50 digits", tree, tree_rows())
    write("binomial_quantlib", f"QuantLib {ql.__version__} BinomialVanillaEngine", tree, quantlib_tree_rows())
    write("binomial_american", f"QuantLib {ql.__version__} QdFpAmericanEngine of high precision", f"{OPTION},price", american_rows())
    write("barrier_discrete", f"numpy {numpy.__version__}, quadrature from date to date", f"{OPTION},direction,barrier,rebate,observations,price", discrete_barrier_rows())
    # Broadie, Glasserman and Kou (1997), table 1: 4.907 at 95 and 6.098 at 90.
    print([round(discrete_barrier("call", 100.0, 100.0, 0.1, 0.0, 0.3, 0.2, "down", h, 0.0, 50), 3) for h in (85, 90, 95, 99)])
