"""Golden rows for tests/quantlib/pricing.rs: options priced by mpmath at 50 digits and by QuantLib.

Writes ../pricing_normal.csv, ../pricing_european.csv, ../pricing_margrabe.csv, ../pricing_barrier_continuous.csv,
../pricing_barrier_tree.csv and ../pricing_barrier_tree_quantlib.csv.

python3 tests/golden/generate/pricing.py   (from the root; needs mpmath and QuantLib from PyPI)
"""

import pathlib
import random

import mpmath
import QuantLib as ql
from mpmath import mp, mpf

mp.dps = 50
GOLDEN = pathlib.Path(__file__).resolve().parent.parent
RANDOM = random.Random(20261120)


def write(name, tool, header, rows):
    first = f"# {tool}, 2026-11-20, python3 tests/golden/generate/pricing.py"
    text = lambda value: value if isinstance(value, str) else repr(value)
    lines = [",".join(text(value) for value in row) for row in rows]
    (GOLDEN / f"{name}.csv").write_text("\n".join([first, header, *lines]) + "\n")
    print(name, len(rows))


MPMATH = f"mpmath {mpmath.__version__} at 50 digits"


def cdf(x):
    return mpmath.erfc(-x / mpmath.sqrt(mpf(2))) / 2


def pdf(x):
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mp.pi)


def exchange(receive, give, deviation):
    """Returns max(receive - give, 0) of two discounted amounts, with enough digits for the difference."""
    with mp.workdps(mp.dps + 330):
        if deviation == 0 or receive == 0 or give == 0:
            return max(receive - give, mpf(0))
        d1 = mpmath.log(receive / give) / deviation + deviation / 2
        return receive * cdf(d1) - give * cdf(d1 - deviation)


def european(kind, spot, strike, rate, dividend_yield, volatility, time):
    with mp.workdps(mp.dps + 330):
        spot, strike, rate, dividend_yield, volatility, time = map(
            mpf, (spot, strike, rate, dividend_yield, volatility, time)
        )
        asset = spot * mpmath.exp(-dividend_yield * time)
        cash = strike * mpmath.exp(-rate * time)
        deviation = volatility * mpmath.sqrt(time)
        return exchange(asset, cash, deviation) if kind == "call" else exchange(cash, asset, deviation)


def normal_rows():
    points = [0.0, 1e-300, 1e-8, 0.1, 0.25, 0.5, 0.500001, 0.75, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 8.3]
    points += [10.0, 12.5, 15.0, 18.0, 21.0, 25.0, 28.0, 31.0, 34.0, 36.0, 37.3]
    points += [RANDOM.uniform(0.0, 37.0) for _ in range(30)]
    return [(x, float(cdf(mpf(x))), float(pdf(mpf(x))), float(cdf(-mpf(x)) / pdf(mpf(x))))
            for point in points for x in ([point, -point] if point else [point])]


def european_rows():
    numbers = []
    for _ in range(60):  # the usual range
        numbers.append((100.0, RANDOM.uniform(60, 160), RANDOM.uniform(-0.03, 0.1), RANDOM.uniform(-0.02, 0.08),
                        RANDOM.uniform(0.05, 0.9), RANDOM.uniform(0.01, 5)))
    for _ in range(40):  # far out of the money, down to 1e-280
        numbers.append((100.0, 100 * 10 ** RANDOM.uniform(0.05, 2.5), RANDOM.uniform(-0.03, 0.1), 0.01,
                        RANDOM.uniform(0.02, 0.3), RANDOM.uniform(0.05, 2)))
    for _ in range(20):  # short times and small volatilities, near the money
        numbers.append((100.0, 100 * (1 + RANDOM.uniform(-1, 1) * 10 ** RANDOM.uniform(-9, -2)), 0.03, 0.01,
                        10 ** RANDOM.uniform(-6, -1), 10 ** RANDOM.uniform(-4, 0)))
    for _ in range(15):  # long times and large volatilities
        numbers.append((100.0, 10 ** RANDOM.uniform(0, 4), 0.03, 0.01, 10 ** RANDOM.uniform(-0.3, 1.5), RANDOM.uniform(1, 30)))
    numbers += [
        (100.0, 100.0, 0.0, 0.0, 0.2, 1.0), (100.0, 100.0, 0.05, 0.05, 1e-8, 1.0), (100.0, 100.0, 0.0, 0.0, 1e-300, 1.0),
        (1e-300, 1e-300, 0.0, 0.0, 0.2, 1.0), (1e300, 1e300, 0.01, 0.0, 0.2, 1.0), (1e300, 1.0, 0.0, 0.0, 20.0, 1.0),
        (0.0, 100.0, 0.05, 0.01, 0.2, 1.0), (100.0, 0.0, 0.05, 0.01, 0.2, 1.0), (100.0, 95.0, 0.05, 0.01, 0.0, 1.0),
        (100.0, 95.0, 0.05, 0.01, 0.2, 0.0), (100.0, 99.99, 0.05, 0.05, 1e-5, 1.0), (100.0, 105.0, -0.05, 0.0, 0.2, 50.0),
    ]
    rows = []
    for values in numbers:
        for kind in ("call", "put"):
            price = european(kind, *values)
            if price == 0 or price > mpf(10) ** -280:
                rows.append((kind, *values, float(price)))
    return rows


def margrabe_rows():
    numbers = [(100.0, 95.0, 0.02, 0.03, 0.3, 0.3, 1 - 10.0**-k, 1.0) for k in range(1, 16)]
    numbers += [(100.0, 100.0, 0.0, 0.0, 0.3, 0.3, 1 - 10.0**-k, 1.0) for k in range(1, 16)]
    numbers += [(100.0, 100.000001, 0.0, 0.0, 0.3, 0.3 + 1e-9, 1 - 10.0**-k, 1.0) for k in range(10, 16)]
    for _ in range(60):
        numbers.append((100.0, RANDOM.uniform(50, 200), RANDOM.uniform(-0.02, 0.08), RANDOM.uniform(-0.02, 0.08),
                        RANDOM.uniform(0.01, 0.9), RANDOM.uniform(0.01, 0.9), RANDOM.uniform(-1, 1), RANDOM.uniform(0.01, 5)))
    numbers += [(100.0, 95.0, 0.0, 0.0, 0.3, 0.2, -1.0, 1.0), (100.0, 95.0, 0.02, 0.01, 0.2, 0.2, 1.0, 1.0),
                (100.0, 95.0, 0.02, 0.01, 0.2, 0.3, 0.5, 0.0), (0.0, 95.0, 0.02, 0.01, 0.2, 0.3, 0.5, 1.0),
                (100.0, 0.0, 0.02, 0.01, 0.2, 0.3, 0.5, 1.0), (22.0, 20.0, 0.06, 0.04, 0.2, 0.15, -0.5, 0.1)]
    rows = []
    for values in numbers:
        with mp.workdps(380):
            s1, s2, q1, q2, v1, v2, rho, time = map(mpf, values)
            deviation = mpmath.sqrt((v1**2 + v2**2 - 2 * rho * v1 * v2) * time)
            first, second = s1 * mpmath.exp(-q1 * time), s2 * mpmath.exp(-q2 * time)
            call, put = exchange(first, second, deviation), exchange(second, first, deviation)
        if all(price == 0 or price > mpf(10) ** -280 for price in (call, put)):
            rows.append((*values, float(call), float(put)))
    return rows


class Market:
    """A flat market of QuantLib; times are multiples of 1/360."""

    def __init__(self, spot, rate, dividend_yield, volatility):
        self.today = ql.Date(20, 11, 2026)
        ql.Settings.instance().evaluationDate = self.today
        days = ql.Actual360()
        curve = lambda level: ql.YieldTermStructureHandle(ql.FlatForward(self.today, level, days))
        surface = ql.BlackConstantVol(self.today, ql.NullCalendar(), volatility, days)
        self.process = ql.BlackScholesMertonProcess(
            ql.QuoteHandle(ql.SimpleQuote(spot)), curve(dividend_yield), curve(rate), ql.BlackVolTermStructureHandle(surface))

    def barrier(self, kind, strike, days, direction, knock, level, rebate, engine):
        kinds = {("down", "in"): ql.Barrier.DownIn, ("down", "out"): ql.Barrier.DownOut,
                 ("up", "in"): ql.Barrier.UpIn, ("up", "out"): ql.Barrier.UpOut}
        payoff = ql.PlainVanillaPayoff(ql.Option.Call if kind == "call" else ql.Option.Put, strike)
        option = ql.BarrierOption(kinds[direction, knock], level, rebate, payoff, ql.EuropeanExercise(self.today + days))
        option.setPricingEngine(engine(self.process))
        return option.NPV()


def barriers():
    """Returns kind, market, days, direction, knock, level and rebate; a knock-in has no rebate here."""
    for kind in ("call", "put"):
        for direction, level in (("down", 80.0), ("down", 95.0), ("down", 99.5), ("up", 100.5), ("up", 105.0), ("up", 130.0)):
            for knock in ("out", "in"):
                strike = RANDOM.choice((85.0, 100.0, 112.5))
                rate, dividend_yield = RANDOM.choice(((0.08, 0.04), (0.02, 0.06), (0.0, 0.0), (0.05, -0.02)))
                volatility, days = RANDOM.choice((0.15, 0.25, 0.6)), RANDOM.choice((90, 180, 720))
                yield kind, 100.0, strike, rate, dividend_yield, volatility, days, direction, knock, level, 3.0 if knock == "out" else 0.0


def continuous_rows():
    rows = []
    for kind, spot, strike, rate, dividend_yield, volatility, days, direction, knock, level, rebate in barriers():
        market = Market(spot, rate, dividend_yield, volatility)
        price = market.barrier(kind, strike, days, direction, knock, level, rebate, ql.AnalyticBarrierEngine)
        rows.append((kind, spot, strike, rate, dividend_yield, volatility, days / 360, direction, knock, level, rebate, price))
    return rows


def tree_price(tree, n, kind, spot, strike, rate, dividend_yield, volatility, time, direction, knock, level, rebate):
    """The tree by the definition of the conventions, node by node."""
    if tree == "LR" and n % 2 == 0:
        n += 1
    spot, strike, rate, dividend_yield, volatility, time, level = map(
        mpf, (spot, strike, rate, dividend_yield, volatility, time, level))
    dt, carry = time / n, rate - dividend_yield
    growth, root = mpmath.exp(carry * dt), volatility * mpmath.sqrt(dt)
    if tree == "CRR":
        u, d = mpmath.exp(root), mpmath.exp(-root)
        p = (growth - d) / (u - d)
    elif tree == "JR":
        drift = (carry - volatility**2 / 2) * dt
        u, d, p = mpmath.exp(drift + root), mpmath.exp(drift - root), mpf(1) / 2
    elif tree == "TIAN":
        v = mpmath.exp(volatility**2 * dt)
        spread = mpmath.sqrt(v * v + 2 * v - 3)
        u, d = growth * v / 2 * (v + 1 + spread), growth * v / 2 * (v + 1 - spread)
        p = (growth - d) / (u - d)
    else:
        s = volatility * mpmath.sqrt(time)
        d1 = (mpmath.log(spot / strike) + carry * time) / s + s / 2
        def h(z):
            y = (z / (n + mpf(1) / 3 + mpf("0.1") / (n + 1))) ** 2 * (n + mpf(1) / 6)
            return mpf(1) / 2 + mpmath.sign(z) * mpmath.sqrt((1 - mpmath.exp(-y)) / 4)
        p = h(d1 - s)
        u = growth * h(d1) / p
        d = (growth - p * u) / (1 - p)
    assert 0 <= p <= 1
    discount = mpmath.exp(-rate * dt)
    ups, downs = [mpf(1)], [mpf(1)]
    for _ in range(n):
        ups.append(ups[-1] * u)
        downs.append(downs[-1] * d)
    sign = 1 if kind == "call" else -1
    vanilla = [max(sign * (spot * ups[j] * downs[n - j] - strike), mpf(0)) for j in range(n + 1)]
    out = list(vanilla)
    paid = mpf(rebate) if knock == "out" else mpf(0)
    for i in range(n, -1, -1):
        for j in range(i + 1):
            if i < n:
                vanilla[j] = discount * (p * vanilla[j + 1] + (1 - p) * vanilla[j])
                out[j] = discount * (p * out[j + 1] + (1 - p) * out[j])
            node = spot * ups[j] * downs[i - j]
            tolerance = mpf(10) ** -12
            if node <= level * (1 + tolerance) if direction == "down" else node >= level * (1 - tolerance):
                out[j] = paid
    return out[0] if knock == "out" else vanilla[0] - out[0]


def tree_rows():
    rows = []
    for n in (1, 2, 7, 24, 61):
        for kind, spot, strike, rate, dividend_yield, volatility, days, direction, knock, level, rebate in barriers():
            tree = RANDOM.choice(("CRR", "JR", "LR", "TIAN"))
            if tree == "CRR" and RANDOM.random() < 0.5:  # a barrier on a layer, up to rounding
                layers = RANDOM.randint(1, max(1, n // 6)) * (-1 if direction == "down" else 1)
                level = float(spot * mpmath.exp(layers * mpf(volatility) * mpmath.sqrt(mpf(days) / 360 / n)))
            arguments = (kind, spot, strike, rate, dividend_yield, volatility, days / 360, direction, knock, level, rebate)
            rows.append((tree, n, *arguments, float(tree_price(tree, n, *arguments))))
    # The number of steps at which the omitted nodes are the most.
    for tree in ("CRR", "JR", "LR", "TIAN"):
        for arguments in (
            ("call", 100.0, 100.0, 0.08, 0.04, 0.25, 0.5, "down", "out", 95.0, 3.0),
            ("put", 100.0, 110.0, 0.02, 0.04, 0.4, 2.0, "up", "out", 130.0, 3.0),
            ("call", 100.0, 160.0, 0.05, 0.0, 0.2, 0.5, "down", "out", 90.0, 0.0),
            ("put", 100.0, 60.0, 0.05, 0.0, 0.2, 0.5, "down", "in", 70.0, 0.0),
        ):
            rows.append((tree, 1001, *arguments, float(tree_price(tree, 1001, *arguments))))
    return rows


def quantlib_tree_rows():
    """Barriers beyond reach: QuantLib's barrier trees change n and the barrier."""
    names = {"JR": "jr", "LR": "lr", "TIAN": "tian"}
    rows = []
    for n in (3, 50, 51, 301):
        for kind, spot, strike, rate, dividend_yield, volatility, days, direction, *_ in barriers():
            # With an even count, QuantLib's LR uses the moves of the odd tree for one step too few.
            tree = RANDOM.choice(tuple(names) if n % 2 else ("JR", "TIAN"))
            market = Market(spot, rate, dividend_yield, volatility)
            payoff = ql.PlainVanillaPayoff(ql.Option.Call if kind == "call" else ql.Option.Put, strike)
            option = ql.VanillaOption(payoff, ql.EuropeanExercise(market.today + days))
            option.setPricingEngine(ql.BinomialVanillaEngine(market.process, names[tree], n))
            level = 1e-30 if direction == "down" else 1e30
            rows.append((tree, n, kind, spot, strike, rate, dividend_yield, volatility, days / 360, direction, "out", level, 0.0, option.NPV()))
    return rows


if __name__ == "__main__":
    option = "option_type,spot,strike,risk_free_rate,dividend_yield,volatility,time_to_maturity"
    barrier = f"{option},direction,knock,barrier,rebate,price"
    write("pricing_normal", MPMATH, "x,cdf,pdf,mills_ratio", normal_rows())
    write("pricing_european", MPMATH, f"{option},price", european_rows())
    write("pricing_margrabe", MPMATH, "spot1,spot2,dividend_yield1,dividend_yield2,volatility1,volatility2,correlation,time_to_maturity,call,put", margrabe_rows())
    write("pricing_barrier_continuous", f"QuantLib {ql.__version__} AnalyticBarrierEngine", barrier, continuous_rows())
    write("pricing_barrier_tree", MPMATH, f"tree,n_steps,{barrier}", tree_rows())
    write("pricing_barrier_tree_quantlib", f"QuantLib {ql.__version__} BinomialVanillaEngine", f"tree,n_steps,{barrier}", quantlib_tree_rows())
