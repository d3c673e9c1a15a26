"""Writes ../portfolio_constrained.csv: portfolios under a linear constraint and a limit of turnover.

Needs mpmath, numpy, scipy and clarabel. Clarabel solves the programme with a variable for the size of each
change, and so tells which conditions hold as equalities; mpmath solves the first-order conditions on these in
50 digits and verifies signs of multipliers and all other conditions. Largest ratios are solved for multiples
of the weights whose excess return is 1. All inputs are doubles taken as they are.
"""
from pathlib import Path

import clarabel
import mpmath
import numpy as np
from mpmath import lu_solve, matrix, mp, mpf
from scipy import sparse

PATH = Path(__file__).parent.parent / "portfolio_constrained.csv"
STAMP = f"# mpmath {mpmath.__version__} and clarabel {clarabel.__version__}, 2026-11-22, python tests/golden/generate/portfolio_constrained.py\n"
HEADER = ("goal,expected_returns,covariance row by row,parameter,coefficients,min,max,current_weights,max_turnover,"
          "weights,volatility\n")
mp.dps = 50
NEAR = 1e-6
random = np.random.default_rng(20261123)


def conditions(size, coefficients, low, high):
    """Rows `a·w >= b` of long-only weights below 0.6, and of the linear constraint, by name."""
    eye = np.eye(size)
    rows = [(("lower", i), eye[i], 0.0) for i in range(size)] + [(("upper", i), -eye[i], -0.6) for i in range(size)]
    return rows + [(("min", 0), coefficients, low), (("max", 0), -coefficients, -high)]


def clarabel_point(sigma, equalities, rows, current, turnover, homogeneous):
    size = len(sigma)
    ones = np.ones(size)
    shift = (lambda a, b: (a - b * ones, 0.0)) if homogeneous else (lambda a, b: (a, b))
    A, b = [np.append(a, np.zeros(size)) for a, _ in equalities], [v for _, v in equalities]
    inequalities = [(np.append(*[shift(a, v)[0], np.zeros(size)]), shift(a, v)[1]) for _, a, v in rows]
    for i in range(size):
        for sign in (1.0, -1.0):
            change, level = shift(sign * np.eye(size)[i], sign * current[i])
            inequalities.append((np.append(-change, np.eye(size)[i]), -level))
    total, level = shift(np.zeros(size), -turnover)
    inequalities.append((np.append(total, -ones), level))
    A += [-a for a, _ in inequalities]
    b += [-v for _, v in inequalities]
    P = np.zeros((2 * size, 2 * size))
    P[:size, :size] = sigma
    cones = [clarabel.ZeroConeT(len(equalities)), clarabel.NonnegativeConeT(len(inequalities))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(P)), np.zeros(2 * size), sparse.csc_matrix(np.array(A)), np.array(b), cones, settings).solve()
    return np.array(solution.x)[:size] if str(solution.status) == "Solved" else None


def exact_point(sigma, equalities, rows, current, turnover, homogeneous, near):
    """The point of the conditions that hold as equalities near another one; None where it is no minimum."""
    size = len(near)
    weights = near / near.sum() if homogeneous else near
    shift = lambda a, b: ([x - (b if homogeneous else 0) for x in a], mpf(0) if homogeneous else b)
    exact = lambda a, b: shift([mpf(float(x)) for x in a], mpf(float(b)))
    moved = weights - current
    kinks = [i for i in range(size) if abs(moved[i]) < NEAR]
    signs = [0 if i in kinks else int(np.sign(moved[i])) for i in range(size)]
    is_limit = abs(moved).sum() > turnover - NEAR
    named = [("equality", *exact(a, b)) for a, b in equalities if not homogeneous]
    if homogeneous:
        named = [("equality", [mpf(float(x)) for x in a], mpf(float(b))) for a, b in equalities]
    named += [("row", *exact(a, b)) for _, a, b in rows if a @ weights - b < NEAR]
    start = [mpf(float(x)) for x in current]
    if is_limit:
        named += [("kink", *shift([mpf(int(j == i)) for j in range(size)], start[i])) for i in kinks]
        level = -mpf(turnover) - mp.fsum(s * c for s, c in zip(signs, start))
        named.append(("turnover", *shift([mpf(-s) for s in signs], level)))
    k = len(named)
    system, right = matrix(size + k, size + k), matrix(size + k, 1)
    for i in range(size):
        for j in range(size):
            system[i, j] = mpf(float(sigma[i][j]))
        for r, (_, a, _) in enumerate(named):
            system[i, size + r] = -a[i]
            system[size + r, i] = a[i]
    for r, (_, _, b) in enumerate(named):
        right[size + r] = b
    try:
        solved = lu_solve(system, right)
    except ZeroDivisionError:
        return None
    x, u = [solved[i] for i in range(size)], [solved[size + r] for r in range(k)]
    price = next((v for v, n in zip(u, named) if n[0] == "turnover"), mpf(0))
    tiny = mpf(10) ** -30
    for value, (name, _, _) in zip(u, named):
        if name in ("row", "turnover") and value < -tiny or name == "kink" and abs(value) > price + tiny:
            return None
    total = mp.fsum(x)
    w = [v / total for v in x] if homogeneous else x
    for _, a, b in rows:
        if mp.fsum(mpf(float(p)) * q for p, q in zip(a, w)) < mpf(float(b)) - tiny:
            return None
    if mp.fsum(abs(p - q) for p, q in zip(w, start)) > mpf(turnover) + tiny:
        return None
    return w


def market(random, largest):
    """Fewer than `largest` assets driven by factors, with a constraint that the current weights meet, and a turnover."""
    size = int(random.integers(3, largest))
    loads = random.uniform(-0.4, 0.4, (size, size + 2))
    sigma = np.round(loads @ loads.T + np.diag(random.uniform(0.005, 0.05, size)), 4)
    sigma = (sigma + sigma.T) / 2
    mu = np.round(random.uniform(0.0, 0.2, size), 3)
    current = np.floor(random.dirichlet(np.ones(size)) * 64) / 64
    current[0] += 1.0 - current.sum()
    coefficients = np.round(random.integers(0, 2, size) * random.uniform(0.5, 1.0, size), 2)
    held = float(coefficients @ np.minimum(current, 0.6))
    low, high = round(held - random.uniform(0.0, 0.2), 3), round(held + random.uniform(0.0, 0.2), 3)
    return mu, sigma, coefficients, low, high, current, float(np.round(random.uniform(0.1, 1.5), 3))


def lines(count):
    for number in range(count):
        mu, sigma, coefficients, low, high, current, turnover = market(random, 13)
        size = len(mu)
        rows = conditions(size, coefficients, low, high)
        goal = ["min_variance", "target_return", "max_sharpe"][number % 3]
        ones = np.ones(size)
        parameter, homogeneous = 0.0, False
        equalities = [(ones, 1.0)]
        if goal == "target_return":
            parameter = round(float(mu @ current) + random.uniform(-0.01, 0.02), 4)
            equalities.append((mu, parameter))
        if goal == "max_sharpe":
            parameter, homogeneous = -0.01, True
            equalities = [(mu - parameter, 1.0)]
        near = clarabel_point(sigma, equalities, rows, current, turnover, homogeneous)
        if near is None:
            continue
        if homogeneous:
            equalities = [([mpf(float(x)) - mpf(parameter) for x in mu], 1.0)]
        w = exact_point(sigma, equalities, rows, current, turnover, homogeneous, near)
        if w is None:
            continue
        variance = mp.fsum(w[i] * mpf(float(sigma[i][j])) * w[j] for i in range(size) for j in range(size))
        vector = lambda values: " ".join(repr(float(x)) for x in values)
        yield ",".join([goal, vector(mu), vector(sigma.ravel()), repr(parameter), vector(coefficients), repr(low), repr(high),
                        vector(current), repr(turnover), vector(x if abs(x) > mpf(10) ** -30 else 0 for x in w), vector([mp.sqrt(variance)])]) + "\n"


if __name__ == "__main__":
    found = list(lines(180))
    PATH.write_text(STAMP + HEADER + "".join(found))
    print(PATH.name, len(found), {goal: sum(line.startswith(goal) for line in found) for goal in ("min", "target", "max")})
