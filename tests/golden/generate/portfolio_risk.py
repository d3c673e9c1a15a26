"""Writes risk_parity.csv, risk_contributions.csv, black_litterman.csv and performance.csv of ../.

Needs mpmath and numpy. All inputs are doubles taken as they are; results are computed in 60 digits and
rounded at the end. Risk parity is the root of its first-order conditions by Newton's method on the convex
function, verified to 1e-45. Black-Litterman is the mixed estimation with inverses of the prior and of the
views, which is another formula than that of the library. Ratios follow their definitions.
"""
from pathlib import Path

import mpmath
import numpy as np
from mpmath import lu_solve, matrix, mp, mpf

FOLDER = Path(__file__).parent.parent
STAMP = f"# mpmath {mpmath.__version__}, 2026-11-22, python tests/golden/generate/portfolio_risk.py\n"
mp.dps = 60
random = np.random.default_rng(20261122)


def text(values):
    return " ".join(repr(float(x)) for x in values)


def exact(values):
    return [mpf(float(x)) for x in values]


def dot(a, b):
    return mp.fsum(x * y for x, y in zip(a, b))


def product(sigma, w):
    return [dot(row, w) for row in sigma]


def write(name, header, lines):
    (FOLDER / name).write_text(STAMP + header + "\n" + "".join(line + "\n" for line in lines))
    print(name, len(lines))


def covariance(size, specific, spread=0.0):
    """A factor model; `spread` is the decimal logarithm by which the deviations differ."""
    loads = random.uniform(-0.3, 0.4, (size, 3))
    sigma = loads @ loads.T + np.diag(random.uniform(0.5, 1.0, size) * specific)
    scale = 10.0 ** random.uniform(-spread, spread, size)
    sigma = sigma * np.outer(scale, scale)
    sigma = np.array([[float(f"{x:.6g}") for x in row] for row in sigma])
    return (np.triu(sigma) + np.triu(sigma, 1).T)


def risk_parity(sigma, budgets):
    size = len(budgets)
    y = [mp.sqrt(budgets[i] / sigma[i][i]) for i in range(size)]
    value = lambda y: dot(y, product(sigma, y)) / 2 - mp.fsum(b * mp.log(x) for b, x in zip(budgets, y))
    for _ in range(400):
        slopes = [s - b / x for s, b, x in zip(product(sigma, y), budgets, y)]
        if max(abs(g * x / b) for g, x, b in zip(slopes, y, budgets)) < mpf(10) ** -45:
            total = mp.fsum(y)
            return [x / total for x in y]
        hessian = matrix(size, size)
        for i in range(size):
            for j in range(size):
                hessian[i, j] = sigma[i][j] + (budgets[i] / y[i] ** 2 if i == j else 0)
        step = lu_solve(hessian, matrix([-g for g in slopes]))
        length, before = mpf(1), value(y)
        descent = mp.fsum(step[i] * slopes[i] for i in range(size))
        while True:
            tried = [x + length * step[i] for i, x in enumerate(y)]
            if min(tried) > 0 and value(tried) <= before + length * descent / 4 + mpf(10) ** -50:
                break
            length /= 2
        y = tried
    raise AssertionError("Newton's method did not end")


def risk_parity_lines():
    for number in range(120):
        size = int(random.integers(1, 11))
        specific = [0.05, 0.001, 1e-5, 0.02][number % 4]
        sigma = covariance(size, specific, [0.0, 2.0, 0.0, 6.0][number % 4])
        budgets = np.ones(size) if number % 3 else np.round(random.uniform(0.01, 1.0, size), 3)
        m, b = [exact(row) for row in sigma], exact(budgets)
        total = mp.fsum(b)
        w = risk_parity(m, [x / total for x in b])
        yield ",".join([text(sigma.ravel()), text(budgets), text(w), text([mp.sqrt(dot(w, product(m, w)))])])


def contribution_lines():
    for number in range(120):
        size = int(random.integers(1, 11))
        sigma = covariance(size, [0.05, 0.001][number % 2], [0.0, 3.0][number // 2 % 2])
        w = np.round(random.uniform([0.0, -1.0][number // 4 % 2], 1.0, size) * 10.0 ** random.integers(-2, 4), 4) + 0.0
        if not w.any():
            continue
        m, x = [exact(row) for row in sigma], exact(w)
        slopes = product(m, x)
        volatility = mp.sqrt(dot(x, slopes))
        marginal = [slope / volatility for slope in slopes]
        yield ",".join([text(w), text(sigma.ravel()), text([volatility]), text(marginal),
                        text([a * b for a, b in zip(x, marginal)])])


def as_matrix(rows):
    return matrix([list(row) for row in rows])


def black_litterman_lines():
    for number in range(120):
        size = int(random.integers(1, 9))
        count = int(random.integers(0, 5))
        sigma = covariance(size, 0.03)
        caps = np.round(random.uniform(0.0, 100.0, size), 1) + [0.1, 0.0][number % 2 and size > 1]
        aversion, tau = float(np.round(random.uniform(0.5, 5.0), 2)), [0.05, 0.025, 1.0][number % 3]
        views = np.round(random.uniform(-1.0, 1.0, (count, size)), 2) + 0.0
        views = np.array([v if v.any() else np.ones(size) for v in views]).reshape(count, size)
        targets = np.round(random.uniform(-0.1, 0.2, count), 3) + 0.0
        kind = ["proportional", "variance", "confidence"][int(random.integers(0, 3))]
        values = np.round(random.uniform(0.0005, 0.01, count), 5) if kind == "variance" else np.round(random.uniform(0.05, 0.95, count), 2)
        m, p, q = [exact(row) for row in sigma], [exact(row) for row in views], exact(targets)
        d, t, c, v = mpf(aversion), mpf(tau), exact(caps), exact(values)
        w0 = [x / mp.fsum(c) for x in c]
        implied = [d * x for x in product(m, w0)]
        own = [t * dot(row, product(m, row)) for row in p]
        omega = {"proportional": own, "variance": v, "confidence": [o * (1 - x) / x for o, x in zip(own, v)]}[kind]
        prior = (t * as_matrix(m)) ** -1
        precision, weighted = prior.copy(), prior * matrix(implied)
        for row, target, variance in zip(p, q, omega):
            precision += matrix(row) * matrix(row).T / variance
            weighted += matrix(row) * target / variance
        error = precision ** -1
        mu, total = error * weighted, as_matrix(m) + error
        w = (d * total) ** -1 * mu
        yield ",".join([text(sigma.ravel()), text(caps), repr(aversion), repr(tau), text(views.ravel()) or "none",
                        text(targets) or "none", kind, text(values) or "none", text(implied), text(mu),
                        text([total[i, j] for i in range(size) for j in range(size)]), text(w)])


def ratios(returns, benchmark, rate, target, periods):
    n = len(returns)
    mean = lambda values: mp.fsum(values) / len(values)
    def covariance_of(a, b):
        return mp.fsum((x - mean(a)) * (y - mean(b)) for x, y in zip(a, b)) / (n - 1)
    f, t, root = rate / periods, target / periods, mp.sqrt(periods)
    sd = mp.sqrt(covariance_of(returns, returns))
    down = mp.sqrt(mp.fsum(min(x - t, 0) ** 2 for x in returns) / n)
    path = [mpf(1)]
    for x in returns:
        path.append(path[-1] * (1 + x))
    drawdown = max(1 - path[l] / path[k] for k in range(n + 1) for l in range(k, n + 1))
    annual = path[-1] ** (periods / n) - 1
    gains, losses = mp.fsum(max(x - t, 0) for x in returns), mp.fsum(max(t - x, 0) for x in returns)
    sharpe = (mean(returns) - f) / sd
    active = [x - y for x, y in zip(returns, benchmark)]
    tracking = mp.sqrt(covariance_of(active, active))
    other = covariance_of(benchmark, benchmark)
    beta = covariance_of(returns, benchmark) / other
    excess = mean(returns) - f
    return [path[-1] - 1, annual, mean(returns) * periods, sd * root, down * root, drawdown, sharpe * root,
            mp.sqrt((1 + sharpe ** 2 / 2) / n) * root, (mean(returns) - t) / down * root, annual / drawdown,
            gains / losses, mean(active) * periods, tracking * root, mean(active) / tracking * root, beta,
            (excess - beta * (mean(benchmark) - f)) * periods, excess / beta * periods, beta * mp.sqrt(other) / sd]


def performance_lines():
    for number in range(120):
        n = int(random.integers(3, 60))
        spread = [0.01, 0.05, 0.3, 1e-4][number % 4]
        market = random.normal(0.0005, spread, n)
        returns = np.maximum(np.round(0.8 * market + random.normal(0.0, spread / 2, n), 5), -0.95) + 0.0
        benchmark = np.maximum(np.round(market, 5), -0.95) + 0.0
        periods = [252.0, 52.0, 12.0, 4.0, 1.0][number % 5]
        rate, target = float(np.round(random.uniform(-0.01, 0.06), 3)), float(np.round(random.uniform(-0.01, 0.08), 3))
        if not (returns < target / periods).any() or not (returns < 0).any() or len(set(benchmark)) < 2 or len(set(returns)) < 2:
            continue
        found = ratios(exact(returns), exact(benchmark), mpf(rate), mpf(target), mpf(periods))
        yield ",".join([text(returns), text(benchmark), repr(rate), repr(target), repr(periods), text(found)])


write("risk_parity.csv", "covariance row by row,budgets,weights,volatility", list(risk_parity_lines()))
write("risk_contributions.csv", "weights,covariance row by row,volatility,marginal,contributions", list(contribution_lines()))
write("black_litterman.csv", "covariance row by row,market_caps,risk_aversion,tau,views row by row,view_returns,uncertainty,values,"
      "implied_returns,posterior_returns,posterior_covariance row by row,optimal_weights", list(black_litterman_lines()))
write("performance.csv", "returns,benchmark_returns,risk_free_rate,target_return,periods_per_year,"
      "total annual mean volatility downside drawdown sharpe error sortino calmar omega active tracking information beta alpha treynor correlation",
      list(performance_lines()))
