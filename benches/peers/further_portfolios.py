"""The portfolios and risks of further.rs by quadprog, scipy or numpy."""

import math

import numpy as np
import quadprog
from scipy.special import bdtr, bdtrc, chdtrc, ndtri

from measure import by, numpy, plain

SIZE = 10
VOLATILITIES = 0.1 + 0.02 * np.arange(SIZE)
PLACES = np.arange(SIZE)
SIGMA = np.outer(VOLATILITIES, VOLATILITIES) * 0.5 ** abs(PLACES[:, None] - PLACES)
EXPECTED = 0.04 + 0.01 * (7 * PLACES % SIZE)
RISKLESS = 0.02
WEIGHTS = np.full(SIZE, 0.1)
PATH, RISK = "/quantlib/portfolio/", "/quantlib/risk/"
quadratic = by("quadprog")


def volatility(weights):
    return math.sqrt(weights @ SIGMA @ weights)


def long_only(equations, values):
    """The weights of least variance that meet linear equations, none below zero."""
    equations = np.column_stack([*equations, np.eye(SIZE)])
    limits = np.concatenate([values, np.zeros(SIZE)])
    return quadprog.solve_qp(SIGMA, np.zeros(SIZE), equations, limits, len(values))[0]


def optima():
    ones = np.ones(SIZE)

    def steepest():
        weights = long_only([EXPECTED - RISKLESS], [1.0])
        return weights / weights.sum()

    quadratic(PATH + "optimize/max-sharpe", steepest, volatility)
    at_return = lambda target: long_only([ones, EXPECTED], [1.0, target])
    quadratic(PATH + "optimize/target-return", lambda: at_return(0.1), volatility)

    def frontier():
        least = long_only([ones], [1.0])
        targets = np.linspace(least @ EXPECTED, EXPECTED.max(), 50)
        # The last target leaves one asset, which rounding may put out of reach.
        return [least, *map(at_return, targets[1:-1]), np.eye(SIZE)[EXPECTED.argmax()]]

    quadratic(PATH + "optimize/efficient-frontier", frontier, lambda points: sum(map(volatility, points)))
    numpy(PATH + "risk-parity", risk_parity, volatility)


def risk_parity():
    """The minimum of y'Sy/2 - sum(b log y) by Newton's method, with Spinu's step far from it."""
    budgets = np.full(SIZE, 1 / SIZE)
    point = np.full(SIZE, 1 / math.sqrt(SIGMA.sum()))
    for _ in range(50):
        slope = SIGMA @ point - budgets / point
        step = np.linalg.solve(SIGMA + np.diag(budgets / point**2), slope)
        decrement = math.sqrt(slope @ step)
        largest = np.max(np.abs(step / point))
        point = point - (step if decrement < 0.01 else step / (1.0 + largest))
        if decrement < 1e-10:
            break
    return point / point.sum()


def contributions():
    marginal = SIGMA @ WEIGHTS
    return WEIGHTS * marginal / math.sqrt(WEIGHTS @ marginal)


QUANTILE = 1.6448536269514722
SHORTFALL = math.exp(-0.5 * QUANTILE**2) / math.sqrt(2 * math.pi) / 0.05


def black_litterman():
    caps = np.arange(1.0, SIZE + 1)
    implied = lambda: 2.5 * SIGMA @ (caps / caps.sum())
    numpy(PATH + "black-litterman/equilibrium", implied, lambda found: found[0])
    view = np.zeros(SIZE)
    view[:2] = 1.0, -1.0

    def posterior():
        prior, scaled = implied(), 0.05 * SIGMA @ view
        return prior + scaled * (0.03 - view @ prior) / (view @ scaled + 0.001)

    numpy(PATH + "black-litterman/posterior", posterior, lambda found: found[0])


DAYS = np.arange(250)


def returns(seed):
    return 0.0001 * ((DAYS + 1) * (DAYS + 7 * seed + 1) % 509 - 250.0)


def ratios(series, periods=252.0):
    """The ratios of a series of returns."""
    count, riskless = len(series), RISKLESS / periods
    root = math.sqrt(periods)
    path = np.cumprod(1.0 + series)
    annual = path[-1] ** (periods / count) - 1.0
    deviation = series.std(ddof=1)
    beyond = series - riskless
    losses = np.minimum(beyond, 0.0)
    downside = math.sqrt(losses @ losses / count)
    drawdown = np.max(1.0 - path / np.maximum.accumulate(np.maximum(path, 1.0)))
    sharpe = beyond.mean() / deviation
    return {
        "total_return": path[-1] - 1.0,
        "annual_return": annual,
        "mean_return": series.mean() * periods,
        "volatility": deviation * root,
        "downside_deviation": downside * root,
        "max_drawdown": drawdown,
        "sharpe": sharpe * root,
        "sharpe_standard_error": math.sqrt((1.0 + sharpe * sharpe / 2) / count) * root,
        "sortino": beyond.mean() / downside * root,
        "calmar": annual / drawdown,
        "omega": np.maximum(beyond, 0.0).sum() / -losses.sum(),
    }


def historical(series, confidence):
    """Value at risk, expected shortfall and the coherent one; not their intervals."""
    ordered = np.sort(series)
    value_at_risk = -np.quantile(series, 1.0 - confidence)
    beyond = ordered[: np.searchsorted(ordered, -value_at_risk, side="right")]
    worst = len(series) * (1.0 - confidence)
    whole = int(worst)
    coherent = -(ordered[:whole].sum() + (worst - whole) * ordered[whole]) / worst
    return value_at_risk, -beyond.mean(), coherent


def of_portfolios():
    numpy(PATH + "risk/contribution", contributions, lambda found: found[0])
    numpy(PATH + "risk/var", lambda: QUANTILE * volatility(WEIGHTS))
    numpy(PATH + "risk/cvar", lambda: SHORTFALL * volatility(WEIGHTS))
    series = returns(1)
    numpy(PATH + "risk/ratios", lambda: ratios(series), lambda found: found["sharpe"])

    def comprehensive():
        parts = contributions()
        total = parts.sum()
        diversification = WEIGHTS @ VOLATILITIES / total
        tail = (QUANTILE * total, SHORTFALL * total)
        return ratios(series), parts, tail, diversification, historical(series, 0.95)

    one_of_each = lambda found: found[0]["sortino"] + found[1][0] + found[2][0] + found[3] + found[4][0]
    numpy(PATH + "risk/comprehensive", comprehensive, one_of_each)


def of_series():
    series = returns(1)
    numpy(RISK + "var/historical", lambda: historical(series, 0.99), lambda found: found[1])
    plain(RISK + "var/parametric", lambda: 2.3263478740408408 * 0.02 * math.sqrt(10))
    factors = np.array([returns(seed) for seed in range(20)])
    exposures = np.full(20, 0.05)

    def components():
        covariance = np.cov(factors)
        with_portfolio = covariance @ exposures
        own = exposures * np.sqrt(np.diag(covariance))
        sigma = math.sqrt(exposures @ with_portfolio)
        scale = ndtri(0.99) * 1e6
        marginal = scale * with_portfolio / sigma
        parts = exposures * marginal
        without = np.sqrt(sigma**2 - 2.0 * exposures * with_portfolio + own**2)
        return scale * sigma, marginal, parts, parts / parts.sum(), scale * abs(own), scale * (sigma - without)

    numpy(RISK + "var/component", components, lambda found: found[0])
    estimates = np.full(250, 0.02)
    by("scipy")(RISK + "backtest", lambda: backtest(series, estimates, 0.99), lambda found: found[0][0])
    shocks = returns(4)[:100]
    numpy(RISK + "stress/scenario", lambda: 1e6 * shocks.sum())


def backtest(series, estimates, confidence):
    """The tests of Kupiec and Christoffersen, and the probabilities of the traffic light."""
    is_beyond = series < -estimates
    days, count, tail = len(series), int(is_beyond.sum()), 1.0 - confidence
    excess = -series[is_beyond] - estimates[is_beyond]
    log = lambda times, part: times * math.log(part) if times else 0.0
    likelihood = lambda hits, misses, part: log(hits, part) + log(misses, 1.0 - part)
    best = lambda hits, misses: likelihood(hits, misses, hits / (hits + misses)) if hits else 0.0
    kupiec = 2.0 * (best(count, days - count) - likelihood(count, days - count, tail))
    pairs = np.bincount(2 * is_beyond[:-1] + is_beyond[1:], minlength=4)
    n00, n01, n10, n11 = map(int, pairs)
    independence = 2.0 * (best(n01, n00) + best(n11, n10) - best(n01 + n11, n00 + n10))
    tests = [(value, chdtrc(degrees, value)) for value, degrees in ((kupiec, 1), (independence, 1))]
    tests.append((kupiec + independence, chdtrc(2, kupiec + independence)))
    probabilities = bdtr(count, days, tail), bdtrc(count - 1, days, tail) if count else 1.0
    return tests[0], tests[1:], probabilities, excess.mean() if count else 0.0, excess.max(initial=0.0)


def portfolios():
    for work in (optima, black_litterman, of_portfolios, of_series):
        work()
