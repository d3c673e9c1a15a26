"""Golden rows for tests/quantlib/black_family.rs: options on forwards, rates and currencies, and American Greeks, by
mpmath, with columns of QuantLib beside them.

Writes ../black76.csv, ../bachelier.csv, ../bachelier_implied.csv, ../rate_options.csv, ../garman_kohlhagen.csv and
../american_greeks.csv.

python3 tests/golden/generate/black_family.py   (from the root; needs mpmath and QuantLib from PyPI)

Greeks are numerical derivatives of the price at 400 digits, and implied volatilities roots of it; neither owes
anything to the formulas under test.
"""

import pathlib
import random

import mpmath
import QuantLib as ql
from mpmath import mp, mpf

mp.dps = 400
GOLDEN = pathlib.Path(__file__).resolve().parent.parent
RANDOM = random.Random(20261122)
STEP = mpf(10) ** -50
QUANTLIB = f"and QuantLib {ql.__version__}"
MPMATH = f"mpmath {mpmath.__version__} at 400 digits"
KINDS = {"call": ql.Option.Call, "put": ql.Option.Put}


def write(name, tool, header, rows):
    first = f"# {tool}, 2026-11-22, python3 tests/golden/generate/black_family.py"
    text = lambda value: value if isinstance(value, str) else repr(value)
    lines = [",".join(text(value) for value in row) for row in rows]
    (GOLDEN / f"{name}.csv").write_text("\n".join([first, header, *lines]) + "\n")
    print(name, len(rows))


def cdf(x):
    return mpmath.erfc(-x / mpmath.sqrt(mpf(2))) / 2


def black(sign, forward, strike, rate, volatility, time):
    s = volatility * mpmath.sqrt(time)
    d1 = mpmath.log(forward / strike) / s + s / 2
    return mpmath.exp(-rate * time) * sign * (forward * cdf(sign * d1) - strike * cdf(sign * (d1 - s)))


def normal(sign, forward, strike, rate, volatility, time):
    s = volatility * mpmath.sqrt(time)
    d = (forward - strike) / s
    return mpmath.exp(-rate * time) * (sign * (forward - strike) * cdf(sign * d) + s * mpmath.npdf(d))


def derivative(function, arguments, *positions):
    """Central differences of second order error, one for each position: exact to 90 digits."""
    if not positions:
        return function(*arguments)
    first, *rest = positions
    step = abs(arguments[first]) * STEP if arguments[first] else STEP
    moved = lambda sign: [value + sign * step * (index == first) for index, value in enumerate(arguments)]
    return (derivative(function, moved(1), *rest) - derivative(function, moved(-1), *rest)) / (2 * step)


def forward_greeks(model, kind, *numbers):
    """The price and its derivatives by forward, strike, rate, volatility and time, and the terms that may cancel."""
    sign = 1 if kind == "call" else -1
    numbers = list(map(mpf, numbers))
    forward, strike, rate, volatility, time = numbers
    of = lambda *positions: derivative(lambda *moved: model(sign, *moved), numbers, *positions)
    price, delta, vega = of(), of(0), of(3)
    density, s = vega / mpmath.sqrt(time), volatility * mpmath.sqrt(time)
    if model is black:
        d1 = mpmath.log(forward / strike) / s + s / 2
        d2, per_forward = d1 - s, density / forward
        legs = abs(rate * forward * delta), abs(rate * strike * of(1))
        charm_terms = abs(rate * delta), per_forward * abs(d2) / 2 / time
    else:
        d1 = d2 = (forward - strike) / s
        legs = (abs(rate * price),)
        charm_terms = abs(rate * delta), density * abs(d1) / 2 / time
    theta_term = max(*legs, density * volatility / 2 / mpmath.sqrt(time))
    veta_term = vega * max(abs(rate), (1 + abs(d1 * d2)) / 2 / time)
    values = (price, delta, of(0, 0), vega, -of(4), of(2), of(1), of(1, 1), of(0, 3), of(3, 3), -of(0, 4), -of(3, 4),
              of(2, 3), theta_term, max(charm_terms), veta_term)
    # At the strike some vanish, but for what the differences leave.
    return tuple(0.0 if abs(value) < mpf(10) ** -295 else float(value) for value in values)


def forwards():
    for _ in range(40):  # usual
        yield (100.0, RANDOM.uniform(60, 160), RANDOM.uniform(-0.03, 0.1), RANDOM.uniform(0.05, 0.9), RANDOM.uniform(0.01, 5))
    for _ in range(20):  # far out of the money and in it
        yield (100.0, 100 * 10 ** RANDOM.uniform(-1.2, 1.2), RANDOM.uniform(-0.03, 0.1), RANDOM.uniform(0.1, 0.4), RANDOM.uniform(0.3, 2))
    for _ in range(10):  # rates, at the forward and beside it
        yield (0.03, 0.03 * RANDOM.uniform(0.9, 1.1), 0.02, RANDOM.uniform(0.1, 0.5), RANDOM.uniform(0.1, 10))


def normals():
    for _ in range(40):  # usual, of either sign
        yield (RANDOM.uniform(-3, 3), RANDOM.uniform(-3, 3), RANDOM.uniform(-0.03, 0.1), RANDOM.uniform(0.1, 3), RANDOM.uniform(0.01, 5))
    for _ in range(30):  # up to 35 deviations out of the money and in it
        deviation = 10 ** RANDOM.uniform(-3, 1)
        yield (100.0, 100.0 + RANDOM.uniform(-35, 35) * deviation, RANDOM.uniform(-0.03, 0.1), deviation, 1.0)
    for _ in range(10):  # next to the strike
        yield (0.02, 0.02 * (1 + 10 ** RANDOM.uniform(-12, -3)), 0.01, RANDOM.uniform(0.002, 0.01), RANDOM.uniform(0.1, 10))
    yield (-0.01, -0.01, 0.0, 0.005, 2.0)


def greek_rows(model, options):
    rows = [(kind, *numbers, *forward_greeks(model, kind, *numbers)) for numbers in options for kind in ("call", "put")]
    return [row for row in rows if row[6] > 1e-250]


def normal_implied_row(kind, forward, strike, rate, volatility, time):
    """The normal volatility of the rounded price; None where rounding leaves nothing of the time value."""
    sign = 1 if kind == "call" else -1
    forward, strike, rate, time = map(mpf, (forward, strike, rate, time))
    at = lambda sigma: normal(sign, forward, strike, rate, sigma, time)
    target = mpf(float(at(mpf(volatility))))
    intrinsic = max(sign * (forward - strike), mpf(0)) * mpmath.exp(-rate * time)
    if target < 1e-290 or target < intrinsic + 1000 * mpf(2) ** -53 * target:
        return None
    root, sigma = mpmath.sqrt(time), mpf(volatility)
    for _ in range(60):
        vega = root * mpmath.exp(-rate * time) * mpmath.npdf((forward - strike) / sigma / root)
        change = (target - at(sigma)) / vega
        sigma = min(max(sigma + change, sigma / 2), 2 * sigma)
        if abs(change) < sigma * mpf(10) ** -60:
            break
    else:
        raise ArithmeticError((kind, forward, strike))
    vega = root * mpmath.exp(-rate * time) * mpmath.npdf((forward - strike) / sigma / root)
    numbers = map(float, (forward, strike, rate, target, time, sigma, target / sigma / vega))
    return (kind, *numbers)


def normal_implied_rows():
    options = list(normals())
    for _ in range(60):  # everything
        deviation = 10 ** RANDOM.uniform(-100, 100)
        options.append((0.0, RANDOM.uniform(-1, 1) * 10 ** RANDOM.uniform(-20, 1.5) * deviation, 0.0, deviation, 1.0))
    rows = [normal_implied_row(kind, *numbers) for numbers in options for kind in ("call", "put")]
    return [row for row in rows if row]


def root_of_normal(forward, strike, time, value, guess):
    """The normal volatility of an undiscounted option out of the money."""
    sign = 1 if strike >= forward else -1
    sigma, root = guess, mpmath.sqrt(time)
    for _ in range(100):
        vega = root * mpmath.npdf((forward - strike) / sigma / root)
        change = (value - normal(sign, forward, strike, mpf(0), sigma, time)) / vega
        sigma = min(max(sigma + change, sigma / 2), 2 * sigma)
        if abs(change) < sigma * mpf(10) ** -60:
            return sigma
    raise ArithmeticError((forward, strike))


def rate_row(kind, forward, strike, annuity, volatility, time):
    """A caplet or a swaption in units of its annuity, which is a product of the arguments."""
    sign = 1 if kind == "call" else -1
    numbers = forward, strike, rate, sigma, years = [mpf(n) for n in (forward, strike, 0, volatility, time)]
    of = lambda *positions: derivative(lambda *moved: black(sign, *moved), list(numbers), *positions)
    out = black(1 if strike >= forward else -1, *numbers)
    implied = root_of_normal(forward, strike, years, out, sigma * forward)
    quantlib = annuity * ql.blackFormula(KINDS[kind], float(strike), float(forward), volatility * time**0.5, 1.0)
    values = (annuity * of(), annuity * out, implied, annuity * of(0), annuity * of(0, 0), annuity * of(3), -annuity * of(4))
    return (kind, float(forward), float(strike), annuity, volatility, time, *map(float, values), quantlib)


def rate_rows():
    rows = []
    for _ in range(50):
        forward = RANDOM.choice((0.002, 0.01, 0.03, 0.05, 0.08))
        strike = forward * RANDOM.choice((1.0, RANDOM.uniform(0.5, 2), RANDOM.uniform(0.2, 5)))
        annuity = RANDOM.choice((2.0**20, 0.25, 4.5, 1e6))
        numbers = forward, strike, annuity, RANDOM.uniform(0.1, 0.9), RANDOM.uniform(0.1, 20)
        rows += [rate_row(kind, *numbers) for kind in ("call", "put")]
    return [row for row in rows if row[6] > 0]


def currency_row(kind, spot, strike, domestic, foreign, volatility, days):
    sign, time = 1 if kind == "call" else -1, days / 360

    def price(spot, strike, domestic, foreign, volatility, years):
        forward = spot * mpmath.exp((domestic - foreign) * years)
        return black(sign, forward, strike, domestic, volatility, years)

    numbers = [mpf(n) for n in (spot, strike, domestic, foreign, volatility, time)]
    of = lambda *positions: derivative(price, numbers, *positions)
    value, delta = of(), of(0)
    values = (value, numbers[0] * mpmath.exp((numbers[2] - numbers[3]) * numbers[5]), delta,
              delta * mpmath.exp(numbers[3] * numbers[5]), delta - value / numbers[0], of(2), of(3))
    today = ql.Date(20, 11, 2026)
    ql.Settings.instance().evaluationDate = today
    count = ql.Actual360()
    curve = lambda level: ql.YieldTermStructureHandle(ql.FlatForward(today, level, count))
    surface = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), volatility, count))
    process = ql.GarmanKohlagenProcess(ql.QuoteHandle(ql.SimpleQuote(spot)), curve(foreign), curve(domestic), surface)
    option = ql.VanillaOption(ql.PlainVanillaPayoff(KINDS[kind], strike), ql.EuropeanExercise(today + days))
    option.setPricingEngine(ql.AnalyticEuropeanEngine(process))
    return (kind, spot, strike, domestic, foreign, volatility, time, *map(float, values), option.NPV(), option.delta())


def currency_rows():
    rows = []
    for _ in range(40):
        spot = RANDOM.choice((1.1, 0.85, 150.0))
        numbers = spot, spot * RANDOM.uniform(0.8, 1.25), RANDOM.uniform(-0.01, 0.08), RANDOM.uniform(-0.01, 0.08)
        numbers += RANDOM.uniform(0.05, 0.3), RANDOM.choice((7, 30, 90, 360, 1800))
        rows += [currency_row(kind, *numbers) for kind in ("call", "put")]
    return rows


def moves(tree, n, spot, strike, rate, dividend_yield, volatility, time):
    """The up move, the down move and the odds of the first."""
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


def american_tree(tree, n, kind, *numbers):
    """The price, and the values and prices of the first two steps, node by node."""
    spot, strike, rate, dividend_yield, volatility, time = map(mpf, numbers)
    u, d, p = moves(tree, n, spot, strike, rate, dividend_yield, volatility, time)
    discount, sign = mpmath.exp(-rate * time / n), 1 if kind == "call" else -1
    node = lambda i, j: spot * u**j * d ** (i - j)
    values, kept = [max(sign * (node(n, j) - strike), mpf(0)) for j in range(n + 1)], {}
    for i in range(n - 1, -1, -1):
        waiting = [discount * (p * values[j + 1] + (1 - p) * values[j]) for j in range(i + 1)]
        values = [max(value, sign * (node(i, j) - strike)) for j, value in enumerate(waiting)]
        if i <= 2:
            kept[i] = values
    return kept, node


def american_row(tree, n, kind, *numbers):
    with mp.workdps(60):
        kept, node = american_tree(tree, n, kind, *numbers)
        (price,), first, second = kept[0], kept[1], kept[2]
        spot, volatility, time = mpf(numbers[0]), mpf(numbers[4]), mpf(numbers[5])
        delta = (first[1] - first[0]) / (node(1, 1) - node(1, 0))
        slope = lambda j: (second[j + 1] - second[j]) / (node(2, j + 1) - node(2, j))
        gamma = (slope(1) - slope(0)) / ((node(2, 2) - node(2, 0)) / 2)
        moved = node(2, 1) - spot
        theta = (second[1] - price - delta * moved - gamma * moved**2 / 2) / (2 * time / n)

        def beside(position, step):
            at = lambda by: [mpf(value) + by * (index == position) for index, value in enumerate(numbers)]
            return (american_tree(tree, n, kind, *at(step))[0][0][0] - american_tree(tree, n, kind, *at(-step))[0][0][0]) / (2 * step)

        values = (price, delta, gamma, theta, beside(4, volatility / 100), beside(2, mpf(1e-4)), beside(3, mpf(1e-4)))
    # QuantLib's CRR has other odds than the definition; its other trees have the same nodes.
    beside = ("", "") if tree == "CRR" else quantlib_american(tree, n, kind, *numbers)
    return (tree, n, kind, *numbers, *map(float, values), *beside)


def quantlib_american(tree, n, kind, spot, strike, rate, dividend_yield, volatility, time):
    today = ql.Date(20, 11, 2026)
    ql.Settings.instance().evaluationDate = today
    count = ql.Actual360()
    curve = lambda level: ql.YieldTermStructureHandle(ql.FlatForward(today, level, count))
    surface = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), volatility, count))
    process = ql.BlackScholesMertonProcess(ql.QuoteHandle(ql.SimpleQuote(spot)), curve(dividend_yield), curve(rate), surface)
    option = ql.VanillaOption(ql.PlainVanillaPayoff(KINDS[kind], strike), ql.AmericanExercise(today, today + round(360 * time)))
    option.setPricingEngine(ql.BinomialVanillaEngine(process, tree.lower(), n))
    return option.delta(), option.gamma()


def american_rows():
    rows = []
    for n in (3, 7, 25, 61):
        for tree in ("CRR", "JR", "LR", "TIAN"):
            for _ in range(4):
                rate, dividend_yield = RANDOM.choice(((0.08, 0.04), (0.02, 0.06), (0.05, 0.0), (0.0, 0.05), (0.03, 0.03)))
                market = (100.0, RANDOM.choice((90.0, 100.0, 105.0, 115.0)), rate, dividend_yield,
                          RANDOM.choice((0.2, 0.4, 0.7)), RANDOM.choice((90, 180, 360)) / 360)
                rows.append(american_row(tree, n, RANDOM.choice(("call", "put")), *market))
    return rows


if __name__ == "__main__":
    forward = "option_type,forward,strike,risk_free_rate"
    names = "price,delta,gamma,vega,theta,rho,dual_delta,dual_gamma,vanna,vomma,charm,veta,vera,theta_term,charm_term,veta_term"
    write("black76", MPMATH, f"{forward},volatility,time_to_maturity,{names}", greek_rows(black, forwards()))
    write("bachelier", MPMATH, f"{forward},volatility,time_to_maturity,{names}", greek_rows(normal, normals()))
    write("bachelier_implied", MPMATH, f"{forward},price,time_to_maturity,volatility,condition", normal_implied_rows())
    write("rate_options", f"{MPMATH}, {QUANTLIB}", "option_type,forward,strike,annuity,volatility,time,price,time_value,normal_volatility,"
          "delta,gamma,vega,theta,quantlib_price", rate_rows())
    write("garman_kohlhagen", f"{MPMATH}, {QUANTLIB}", "option_type,spot,strike,domestic_rate,foreign_rate,volatility,time_to_expiry,price,"
          "forward,delta,forward_delta,premium_adjusted_delta,rho_domestic,rho_foreign,quantlib_price,quantlib_delta", currency_rows())
    write("american_greeks", f"mpmath {mpmath.__version__} at 60 digits, {QUANTLIB}", "tree,n_steps,option_type,spot,strike,risk_free_rate,"
          "dividend_yield,volatility,time_to_maturity,price,delta,gamma,theta,vega,rho,epsilon,quantlib_delta,quantlib_gamma", american_rows())
