"""The other libraries from PyPI. Prints the same lines as ours.rs."""

import csv
import math
import sys
from pathlib import Path

import clarabel
import numpy as np
import osqp
import quadprog
from pyinform import transfer_entropy as pyinform_transfer
from scipy import sparse, special, stats

from measure import measure

folder, golden = Path(sys.argv[1]), Path(sys.argv[2])


def read(name):
    return np.fromfile(folder / f"{name}.f64", dtype="<f8")


def rows(name):
    with open(golden / f"{name}.csv", newline="") as file:
        return list(csv.reader(file))[2:]


def error(row, who, value, unit):
    print("error", row, who, float(value), unit, sep="\t", flush=True)


def relative(found, expected):
    with np.errstate(all="ignore"):
        ratio = np.where(expected == 0.0, np.abs(found), np.abs(found / expected - 1.0))
    return np.max(np.where(np.isnan(ratio), np.inf, ratio))


def black_scholes(spot, strike, years, rate, dividend, volatility, sign=1.0):
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate - dividend) * years) / deviation + deviation / 2
    carried, paid = spot * np.exp(-dividend * years), strike * np.exp(-rate * years)
    return sign * (carried * special.ndtr(sign * d1) - paid * special.ndtr(sign * (d1 - deviation)))


def options():
    chain = read("chain").reshape(-1, 6).T.copy()
    measure("bs_batch", "numpy + scipy", lambda: black_scholes(*chain), np.sum)
    european = [row for row in rows("pricing_european")]
    values = np.array([[float(field) for field in row[1:]] for row in european])
    sign = np.array([1.0 if row[0] == "call" else -1.0 for row in european])
    spot, strike, rate, dividend, volatility, years, price = values.T
    with np.errstate(all="ignore"):
        found = black_scholes(spot, strike, years, rate, dividend, volatility, sign)
    plain = (spot > 0) & (strike > 0) & (volatility > 0) & (years > 0)
    error("bs_batch", "numpy + scipy", relative(found[plain], price[plain]), "relative")


def gap(row, who, covariance, weights):
    slopes = covariance @ weights
    error(row, who, abs(slopes @ weights - slopes.min()) / (slopes @ weights), "first-order gap")
    error(row, who, max(0.0, -weights.min()), "outside bounds")


def portfolios():
    for n in (10, 50, 200, 500):
        covariance = read(f"covariance_{n}").reshape(n, n)
        row = f"min_variance_{n}"
        linear = np.zeros(n)
        bounds = np.concatenate([np.ones((1, n)), np.eye(n), -np.eye(n)]).T.copy()
        limits = np.concatenate([[1.0], np.zeros(n), -np.ones(n)])

        def by_quadprog():
            return quadprog.solve_qp(covariance, linear, bounds, limits, 1)[0]

        upper = sparse.csc_matrix(np.triu(covariance))
        full = sparse.csc_matrix(np.concatenate([np.ones((1, n)), -np.eye(n), np.eye(n)]))
        beyond = np.concatenate([[1.0], np.zeros(n), np.ones(n)])
        cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
        settings = clarabel.DefaultSettings()
        settings.verbose = False

        def by_clarabel():
            solver = clarabel.DefaultSolver(upper, linear, full, beyond, cones, settings)
            return np.array(solver.solve().x)

        def by_osqp():
            model = osqp.OSQP()
            rows_of = sparse.csc_matrix(np.concatenate([np.ones((1, n)), np.eye(n)]))
            low = np.concatenate([[1.0], np.zeros(n)])
            model.setup(upper, linear, rows_of, low, np.ones(n + 1), verbose=False)
            return model.solve().x

        for who, solve in (
            ("quadprog", by_quadprog),
            ("Clarabel (Python)", by_clarabel),
            ("OSQP", by_osqp),
        ):
            measure(row, who, solve, lambda weights: weights @ covariance @ weights)
            gap(row, who, covariance, solve())


def plain_transfer(x, y, bins):
    """The textbook estimate from one histogram of triples."""

    def digits(series):
        low, high = series.min(), series.max()
        return np.minimum(((series - low) / (high - low) * bins).astype(np.int64), bins - 1)

    source, target = digits(x), digits(y)
    code = (target[1:] * bins + target[:-1]) * bins + source[:-1]
    joint = np.bincount(code, minlength=bins**3).reshape(bins, bins, bins) / len(code)
    both, past, step = joint.sum(0), joint.sum((0, 2)), joint.sum(2)
    with np.errstate(all="ignore"):
        terms = joint * np.log(joint * past[None, :, None] / (step[:, :, None] * both[None]))
    return np.nansum(terms)


def series():
    x, y = read("x"), read("y")
    for bins in (8, 128):
        measure(f"transfer_entropy_{bins}", "numpy", lambda: plain_transfer(x, y, bins))
    eighths = [np.minimum(((s - s.min()) / (s.max() - s.min()) * 8).astype(np.int32), 7) for s in (x, y)]
    measure(
        "transfer_entropy_8",
        "pyinform, binned before",
        lambda: pyinform_transfer(*eighths, k=1) * math.log(2),
    )
    probabilities = read("probabilities")
    measure("shannon", "numpy", lambda: -np.sum(probabilities * np.log2(probabilities)))
    measure("shannon", "scipy", lambda: stats.entropy(probabilities, base=2))
    exact = -math.fsum(p * math.log2(p) for p in probabilities)
    error("shannon", "numpy", abs(-np.sum(probabilities * np.log2(probabilities)) / exact - 1), "relative")
    error("shannon", "scipy", abs(stats.entropy(probabilities, base=2) / exact - 1), "relative")


def plain_formulas():
    """Compares the direct formula with the golden rows."""
    table = np.array([[float(field) for field in row] for row in rows("ces")])
    rho, w1, w2, income, p1, p2 = table.T[:6]
    with np.errstate(all="ignore"):
        sigma = 1 / (1 - rho)
        total = w1**sigma * p1 ** (1 - sigma) + w2**sigma * p2 ** (1 - sigma)
        x1 = income * w1**sigma * p1**-sigma / total
        x2 = income * w2**sigma * p2**-sigma / total
        utility = (w1 * x1**rho + w2 * x2**rho) ** (1 / rho)
    error("ces", "plain formula", relative(utility, table.T[8]), "relative")
    judged = [
        (float(row[0]) / float(row[1]) >= 0.045) != (row[5] == "1") for row in rows("capital_ratios")
    ]
    error("capital_ratios", "plain quotient", sum(judged), "misjudged")
    functions = {name: getattr(np, name) for name in ("exp", "log", "sin", "cos", "sqrt", "tan")}
    functions |= {"x2": lambda x: x * x, "x3": lambda x: x**3}
    worst = 0.0
    for name, x, h, scheme, quotient in rows("numerical"):
        x, h, quotient = float(x), float(h), float(quotient)
        if not 1e-12 <= h <= 1.0 or abs(x) > 100.0 or quotient == 0.0:
            continue
        function = functions[name]
        with np.errstate(all="ignore"):
            low = function(x - h) if scheme != "forward" else function(x)
            high = function(x + h) if scheme != "backward" else function(x)
            found = (high - low) / (2 * h if scheme == "central" else h)
        if np.isfinite(found):
            worst = max(worst, abs(found / quotient - 1))
    error("derivative", "numpy, steps from 1e-12", worst, "relative")


options()
portfolios()
series()
plain_formulas()
