"""Writes ../portfolio.csv: minimum-variance weights in many digits.

Needs mpmath, numpy and quadprog. Up to five assets every set of active bounds is tried in 90
digits on the covariance plus 1e-40 of the identity, whose only minimum is the portfolio of least
norm among those of least variance to 1e-40. Beyond, quadprog finds the active set and mpmath
solves and verifies the first-order conditions on it. All inputs are doubles taken as they are.
"""
import itertools
from pathlib import Path

import mpmath
import numpy as np
import quadprog
from mpmath import lu_solve, matrix, mp, mpf

PATH = Path(__file__).parent.parent / "portfolio.csv"
STAMP = f"# mpmath {mpmath.__version__} and quadprog 0.1.14, 2026-11-20, python tests/golden/generate/portfolio.py\n"
HEADER = "covariance row by row,min_weights,max_weights,weights,variance\n"
mp.dps = 90
RIDGE, TOLERANCE = mpf(10) ** -40, mpf(10) ** -60
random = np.random.default_rng(20261120)


def on_active_set(sigma, lower, upper, places):
    """Returns weights, gradient and multiplier where the assets F are free and L, U are at their bounds."""
    size = len(sigma)
    free = [i for i in range(size) if places[i] == "F"]
    w = [mpf({"L": lower, "U": upper}[p][i]) if p != "F" else mpf(0) for i, p in enumerate(places)]
    if free:
        k = len(free)
        a, b = matrix(k + 1, k + 1), matrix(k + 1, 1)
        for r, i in enumerate(free):
            for c, j in enumerate(free):
                a[r, c] = sigma[i][j]
            a[r, k], a[k, r] = -1, 1
            b[r] = -sum(sigma[i][j] * w[j] for j in range(size))
        b[k] = 1 - sum(w)
        x = lu_solve(a, b)
        for r, i in enumerate(free):
            w[i] = x[r]
    elif abs(sum(w) - 1) > TOLERANCE:
        return None
    g = [sum(sigma[i][j] * w[j] for j in range(size)) for i in range(size)]
    if free:
        return w, g, x[len(free)]
    at_lower = [g[i] for i in range(size) if places[i] == "L"]
    return w, g, min(at_lower) if at_lower else max(g)


def is_minimum(w, g, multiplier, lower, upper, places):
    for i, place in enumerate(places):
        fixed = lower[i] == upper[i]
        if not mpf(lower[i]) - TOLERANCE <= w[i] <= mpf(upper[i]) + TOLERANCE:
            return False
        if place == "L" and not fixed and g[i] < multiplier - TOLERANCE:
            return False
        if place == "U" and not fixed and g[i] > multiplier + TOLERANCE:
            return False
    return True


def by_enumeration(covariance, lower, upper):
    size = len(covariance)
    scale = max(max(mpf(covariance[i][i]) for i in range(size)), mpf(10) ** -320)
    if not any(covariance[i][i] for i in range(size)):
        scale = mpf(1)
    sigma = [[mpf(covariance[i][j]) / scale + (RIDGE if i == j else 0) for j in range(size)] for i in range(size)]
    choices = [["F"] + ["L"] * int(lower[i] > -np.inf) + ["U"] * int(upper[i] < np.inf) for i in range(size)]
    for places in itertools.product(*choices):
        answer = on_active_set(sigma, lower, upper, places)
        if answer and is_minimum(*answer, lower, upper, places):
            return answer[0]
    raise ValueError("no portfolio")


def by_quadprog(covariance, lower, upper):
    size = len(covariance)
    normals, values = [np.ones(size)], [1.0]
    for bounds, sign in ((lower, 1.0), (upper, -1.0)):
        for i in np.flatnonzero(np.isfinite(bounds)):
            normals.append(sign * np.eye(size)[i])
            values.append(sign * bounds[i])
    found = quadprog.solve_qp(covariance, np.zeros(size), np.array(normals).T, np.array(values), 1)[0]
    places = ["L" if x - l < 1e-9 else "U" if u - x < 1e-9 else "F" for x, l, u in zip(found, lower, upper)]
    sigma = [[mpf(float(x)) for x in row] for row in covariance]
    answer = on_active_set(sigma, lower, upper, places)
    assert is_minimum(*answer, lower, upper, places)
    return answer[0]


def line(covariance, lower, upper, solve):
    weights = [w if abs(w) > mpf(10) ** -35 else mpf(0) for w in solve(covariance, lower, upper)]
    size = len(weights)
    variance = sum(weights[i] * mpf(float(covariance[i][j])) * weights[j] for i in range(size) for j in range(size))
    variance = variance if abs(variance) > mpf(10) ** -33 * max(abs(covariance).max(), 1e-320) else 0
    fields = [covariance.ravel(), lower, upper, weights, [variance]]
    return ",".join(" ".join(repr(float(x)) for x in field) for field in fields) + "\n"


def bounds(kind, size):
    """Returns bounds of a kind, in sixteenths so that their sums are exact; the bounds may exclude 1."""
    sixteenths = lambda low, high: np.round(random.uniform(low, high, size) * 16) / 16
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    if kind in (1, 2):
        lower = np.zeros(size)
    if kind == 2:
        upper = np.maximum(sixteenths(0.2, 1.0), 0.0625)
    if kind == 3:
        lower = sixteenths(-1.0, 0.4)
        upper = lower + sixteenths(0.0, 1.5)
    if kind == 4:
        upper = sixteenths(0.0, 1.0)
    if kind == 5:
        lower = np.where(random.random(size) < 0.5, -np.inf, sixteenths(-0.5, 0.3))
        upper = np.where(random.random(size) < 0.5, np.inf, sixteenths(0.3, 1.0))
    return lower + 0.0, upper + 0.0


def small_cases(count):
    """Returns products of small integers: exactly singular where the rank is below the size."""
    while count:
        size = int(random.integers(2, 6))
        factors = random.integers(-2, 4, (size, int(random.integers(0, size + 1)))).astype(float)
        if random.random() < 0.4 and size > 2:
            factors[1] = factors[0]
        if random.random() < 0.2:
            factors[random.integers(0, size)] = 0.0
        lower, upper = bounds(count % 6, size)
        if lower.sum() <= 1.0 <= upper.sum():
            count -= 1
            yield factors @ factors.T * 2.0 ** -6, lower, upper


def large_cases(count):
    for index in range(count):
        size = int(random.integers(8, 26))
        returns = random.standard_normal((3 * size, size)) * random.uniform(0.1, 0.4, size)
        returns += 0.15 * random.standard_normal((3 * size, 1))
        covariance = returns.T @ returns / (3 * size)
        lower, upper = bounds([0, 1, 5][index % 3], size)
        if index % 3 == 1:
            upper = np.full(size, 0.125 if size > 8 else 0.25)
        yield (covariance + covariance.T) / 2, lower, upper


def named_cases():
    free, long_only = (np.full(2, -np.inf), np.full(2, np.inf)), (np.zeros(2), np.full(2, np.inf))
    for covariance in ([[1, 1], [1, 1]], [[4, 2], [2, 1]], [[0, 0], [0, 0]], [[0, 0], [0, 1]], [[1, -1], [-1, 1]],
                       [[1, 0.5], [0.5, 1e-20]], [[1, 0], [0, 1e-20]], [[1e-300, 0], [0, 3e-300]], [[1e300, 0], [0, 3e300]]):
        covariance = np.array(covariance, float)
        if np.linalg.det(covariance / max(abs(covariance).max(), 1e-320)) >= -1e-30:
            yield covariance, *free
            yield covariance, *long_only
    yield np.array([[0.04]]), np.array([-np.inf]), np.array([np.inf])
    yield np.zeros((3, 3)), np.array([0.5, -np.inf, -np.inf]), np.array([np.inf, 0.125, np.inf])


lines = [line(*case, by_enumeration) for case in itertools.chain(named_cases(), small_cases(240))]
lines += [line(*case, by_quadprog) for case in large_cases(24)]
PATH.write_text(STAMP + HEADER + "".join(lines))
print(PATH.name, len(lines))
