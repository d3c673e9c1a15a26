"""Writes ../frontier.csv: target-return, largest-ratio and corner portfolios in many digits.

Needs mpmath, numpy and quadprog. Up to five assets every set of active bounds is tried in 50
digits: on each the optimal weights are linear in the price of return, and the first-order
conditions hold on an interval of it; the ends of the intervals are the corners. Beyond, quadprog
finds the active set, and mpmath solves and verifies the conditions on it. All inputs are doubles
taken as they are.
"""
import itertools
from pathlib import Path

import mpmath
import numpy as np
import quadprog
from mpmath import lu_solve, matrix, mp, mpf

PATH = Path(__file__).parent.parent / "frontier.csv"
STAMP = f"# mpmath {mpmath.__version__} and quadprog 0.1.14, date 2026-11-20, python tests/golden/generate/frontier.py\n"
HEADER = "kind,expected_returns,covariance row by row,min_weights,max_weights,parameter,portfolios,volatilities\n"
mp.dps = 50
TOLERANCE = mpf(10) ** -30
random = np.random.default_rng(20261121)


class Face:
    """Weights `a + λ d`, gradients `ga + λ gd` and multipliers `na + λ nd` on a set of places."""

    def __init__(self, mu, sigma, lower, upper, places):
        size = len(mu)
        free = [i for i in range(size) if places[i] == "F"]
        k = len(free)
        self.fixed = lower == upper
        self.places, self.lower, self.upper, self.mu = places, lower, upper, mu
        self.a = [mpf(lower[i]) if places[i] == "L" else mpf(upper[i]) if places[i] == "U" else mpf(0) for i in range(size)]
        self.d = [mpf(0)] * size
        m, b, c = matrix(k + 1, k + 1), matrix(k + 1, 1), matrix(k + 1, 1)
        for r, i in enumerate(free):
            for s, j in enumerate(free):
                m[r, s] = sigma[i][j]
            m[r, k], m[k, r] = -1, 1
            b[r] = -mp.fsum(sigma[i][j] * self.a[j] for j in range(size))
            c[r] = mu[i]
        b[k] = 1 - mp.fsum(self.a)
        x, y = lu_solve(m, b), lu_solve(m, c)
        for r, i in enumerate(free):
            self.a[i], self.d[i] = x[r], y[r]
        product = lambda v: [mp.fsum(sigma[i][j] * v[j] for j in range(size)) for i in range(size)]
        self.ga, self.gd, self.na, self.nd = product(self.a), product(self.d), x[k], y[k]

    def interval(self):
        """The prices of return at which the first-order conditions hold."""
        low, high = mpf("-inf"), mpf("inf")
        conditions = []
        for i, place in enumerate(self.places):
            if place == "F":
                conditions += [(self.a[i] - x, self.d[i]) for x in [mpf(self.lower[i])] if x > mpf("-inf")]
                conditions += [(x - self.a[i], -self.d[i]) for x in [mpf(self.upper[i])] if x < mpf("inf")]
            elif self.lower[i] != self.upper[i]:
                slope = (self.ga[i] - self.na, self.gd[i] - self.mu[i] - self.nd)
                conditions.append(slope if place == "L" else (-slope[0], -slope[1]))
        for value, rate in conditions:
            if abs(rate) < TOLERANCE:
                if value < -TOLERANCE:
                    return None
            elif rate > 0:
                low = max(low, -value / rate)
            else:
                high = min(high, -value / rate)
        return (low, high) if low <= high + TOLERANCE else None

    def at(self, price):
        return [a + price * d for a, d in zip(self.a, self.d)]


def faces(mu, sigma, lower, upper):
    choices = [["F"] + ["L"] * int(lower[i] > -np.inf) + ["U"] * int(upper[i] < np.inf) for i in range(len(mu))]
    for places in itertools.product(*choices):
        if "F" in places:
            face = Face(mu, sigma, lower, upper, places)
            interval = face.interval()
            if interval:
                yield face, *interval


def dot(a, b):
    return mp.fsum(x * y for x, y in zip(a, b))


def volatility(sigma, w):
    return mp.sqrt(dot(w, [dot(row, w) for row in sigma]))


def with_return(found, mu, target):
    for face, low, high in found:
        gained = dot(face.d, mu)
        if gained > TOLERANCE:
            price = (target - dot(face.a, mu)) / gained
            if low - TOLERANCE <= price <= high + TOLERANCE:
                return face.at(price)
    return None


def max_sharpe(found, mu, sigma, rate):
    for face, low, high in found:
        a = face.a
        excess = dot(a, mu) - rate * mp.fsum(a)
        variance = dot(a, face.ga)
        denominator = excess - 2 * dot(a, face.gd)
        if denominator > 0:
            price = variance / denominator
            if max(low, 0) - TOLERANCE <= price <= high + TOLERANCE:
                return face.at(price)
    return None


def corners(found):
    ends = {}
    for face, low, high in found:
        for end in (low, high):
            if 0 < end < mpf("inf"):
                ends[mp.nstr(end, 25)] = (end, face.at(end))
        if low <= 0 <= high:
            ends["0"] = (mpf(0), face.at(mpf(0)))
    path = [w for _, w in sorted(ends.values(), key=lambda pair: pair[0])]
    kept = path[:1]
    for w in path[1:]:
        if max(abs(x - y) for x, y in zip(w, kept[-1])) > TOLERANCE:
            kept.append(w)
    return kept


def line(kind, mu, sigma, lower, upper, parameter, portfolios):
    clean = lambda w: [x if abs(x) > TOLERANCE else mpf(0) for x in w]
    vector = lambda values: " ".join(repr(float(x)) for x in values)
    exact = [[mpf(float(x)) for x in row] for row in sigma]
    fields = [kind, vector(mu), vector(np.array(sigma, float).ravel()), vector(lower), vector(upper), repr(float(parameter))]
    fields += ["|".join(vector(clean(w)) for w in portfolios), vector([volatility(exact, w) for w in portfolios])]
    return ",".join(fields) + "\n"


def market(size):
    loads = random.uniform(-0.4, 0.4, (size, size + 2))
    covariance = np.round(loads @ loads.T + np.diag(random.uniform(0.005, 0.05, size)), 4)
    return np.round(random.uniform(-0.05, 0.2, size), 3), (covariance + covariance.T) / 2


def bounds(kind, size):
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    sixteenths = lambda low, high: np.round(random.uniform(low, high, size) * 16) / 16
    if kind in (1, 2):
        lower = np.zeros(size)
    if kind == 2:
        upper = np.maximum(sixteenths(0.2, 0.8), 0.3125 if size > 3 else 0.625)
    if kind == 3:
        lower = sixteenths(-0.5, 0.1)
        upper = lower + sixteenths(0.5, 1.5)
    return lower + 0.0, upper + 0.0


def small_rows(count):
    for number in range(count):
        size = int(random.integers(2, 6))
        mu, sigma = market(size)
        lower, upper = bounds(number % 4, size)
        if not lower.sum() < 1.0 < upper.sum():
            continue
        m, s = [mpf(float(x)) for x in mu], [[mpf(float(x)) for x in row] for row in sigma]
        found = list(faces(m, s, lower, upper))
        path = corners(found)
        yield line("frontier", mu, sigma, lower, upper, 0.0, path)
        span = [float(dot(w, m)) for w in (path[0], path[-1])]
        target = random.uniform(span[0] - 0.02, max(span[1], span[0] + 0.02))
        w = with_return(found, m, mpf(target))
        if w:
            yield line("target", mu, sigma, lower, upper, target, [w])
        rate = float(np.round(random.uniform(-0.05, 0.08), 3))
        w = max_sharpe(found, m, s, mpf(rate))
        if w:
            yield line("sharpe", mu, sigma, lower, upper, rate, [w])


def active_set(solution, lower, upper):
    return ["L" if x - l < 1e-8 else "U" if u - x < 1e-8 else "F" for x, l, u in zip(solution, lower, upper)]


def large_rows(count):
    for number in range(count):
        size = int(random.integers(8, 21))
        mu, sigma = market(size)
        lower, upper = np.zeros(size), np.full(size, [np.inf, 0.25][number % 2])
        m, s = [mpf(float(x)) for x in mu], [[mpf(float(x)) for x in row] for row in sigma]
        eye, ones = np.eye(size), np.ones(size)
        caps = [] if np.isinf(upper[0]) else [-eye]
        cap_values = [] if np.isinf(upper[0]) else [-upper]
        top = np.sort(mu)[::-1][:4].mean() if caps else mu.max()
        target = float(np.round(random.uniform(mu.mean(), top), 4))
        rows = np.vstack([ones, mu, eye, *caps])
        values = np.concatenate([[1.0, target], lower, *cap_values])
        solution = quadprog.solve_qp(sigma, np.zeros(size), rows.T, values, 2)[0]
        face = Face(m, s, lower, upper, active_set(solution, lower, upper))
        w = with_return([(face, *face.interval())], m, mpf(target))
        assert w, "quadprog's active set does not hold"
        yield line("target", mu, sigma, lower, upper, target, [w])
        rate = 0.01
        # Sharpe: of all y proportional to a portfolio with an excess return of 1, the one of least variance.
        bound = upper[0] if caps else 0.0
        rows = np.vstack([mu - rate, eye] + ([bound * np.ones((size, size)) - eye] if caps else []))
        values = np.concatenate([[1.0], np.zeros(size * (len(rows) - 1) // size)])
        y = quadprog.solve_qp(sigma, np.zeros(size), rows.T, values, 1)[0]
        face = Face(m, s, lower, upper, active_set(y / y.sum(), lower, upper))
        w = max_sharpe([(face, *face.interval())], m, s, mpf(rate))
        assert w, "quadprog's active set does not hold"
        yield line("sharpe", mu, sigma, lower, upper, rate, [w])


lines = [*small_rows(64), *large_rows(20)]
PATH.write_text(STAMP + HEADER + "".join(lines))
print(PATH.name, len(lines))
