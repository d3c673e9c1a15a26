"""Writes ../nelson_siegel_svensson.csv: values of curves in many digits, and fits of rates.

Needs mpmath, numpy and scipy. Values are the documented formulas at 50 digits. Fits are the best
results of scipy's least_squares from a grid of starts, within the documented bounds, completed at 50
digits by Newton's method on the normal equations. Exact fits are of rates rounded from known parameters.
"""
import itertools
from pathlib import Path

import mpmath
import numpy as np
import scipy
from mpmath import mp, mpf
from scipy.optimize import least_squares

PATH = Path(__file__).parent.parent / "nelson_siegel_svensson.csv"
STAMP = (
    f"# mpmath {mpmath.__version__} and scipy {scipy.__version__}, date 2026-11-20, "
    "python tests/golden/generate/nelson_siegel_svensson.py\n"
)
HEADER = "kind,parameters or tenors,tenor or rates,zero_rate or parameters,forward_rate or misfit,discount_factor\n"
mp.dps = 50
random = np.random.default_rng(5)
TENORS = [0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30]


def zero(b, t):
    x, y = mpf(t) / b[4], mpf(t) / b[5]
    s = lambda x: (1 - mp.exp(-x)) / x
    return b[0] + b[1] * s(x) + b[2] * (s(x) - mp.exp(-x)) + b[3] * (s(y) - mp.exp(-y))


def forward(b, t):
    x, y = mpf(t) / b[4], mpf(t) / b[5]
    return b[0] + b[1] * mp.exp(-x) + b[2] * x * mp.exp(-x) + b[3] * y * mp.exp(-y)


def text(values):
    return " ".join(mp.nstr(mpf(v), 17, min_fixed=-20, max_fixed=20) for v in values)


def random_parameters():
    first = random.uniform(0.6, 3.0)
    return [*random.uniform(-0.05, 0.06, 4), first, first * random.uniform(2.0, 6.0)]


def values(count):
    for number in range(count):
        b = [mpf(float(x)) for x in random_parameters()]
        t = float([1e-12, 1e-4, 0.1, 1, 5, 30, 1000][number % 7] * random.uniform(0.5, 1.5))
        z, f = zero(b, t), forward(b, t)
        yield ",".join(["value", text(b), repr(t), text([z]), text([f]), text([mp.exp(-z * mpf(t))])]) + "\n"


def model(p, t):
    x, y = t / np.exp(p[4]), t / np.exp(p[5])
    s = lambda x: -np.expm1(-x) / x
    return p[0] + p[1] * s(x) + p[2] * (s(x) - np.exp(-x)) + p[3] * (s(y) - np.exp(-y))


def best(rates):
    t = np.array(TENORS, float)
    low, high = np.log(t[0] / 2), np.log(t[-1] * 2)
    found = None
    for first, second in itertools.product(np.linspace(low + 0.1, high - 0.1, 9), repeat=2):
        if abs(first - second) < 0.1:
            continue
        start = [rates[-1], rates[0] - rates[-1], 0.0, 0.0, first, second]
        bounds = ([-np.inf] * 4 + [low] * 2, [np.inf] * 4 + [high] * 2)
        fit = least_squares(lambda p: (model(p, t) - rates) * 1e3, start, bounds=bounds, xtol=1e-15, ftol=1e-15, gtol=1e-15)
        if found is None or fit.cost < found.cost:
            found = fit
    return found.x


def finish(p, rates):
    """Newton's method on the gradient of the sum of squares, from scipy's fit."""
    b = [mpf(float(x)) for x in p]

    def squares(*b):
        c = [*b[:4], mp.exp(b[4]), mp.exp(b[5])]
        return mp.fsum((zero(c, t) - mpf(float(r))) ** 2 for t, r in zip(TENORS, rates))

    def gradient(b):
        h = mpf(10) ** -20
        return mp.matrix([(squares(*[x + h * (i == j) for j, x in enumerate(b)]) - squares(*[x - h * (i == j) for j, x in enumerate(b)])) / (2 * h) for i in range(6)])

    for _ in range(12):
        g, h = gradient(b), mpf(10) ** -12
        hessian = mp.matrix(6, 6)
        for j in range(6):
            column = (gradient([x + h * (i == j) for i, x in enumerate(b)]) - g) / h
            for i in range(6):
                hessian[i, j] = column[i]
        step = mp.lu_solve(hessian, -g)
        b = [x + d for x, d in zip(b, step)]
        if max(abs(d) for d in step) < mpf(10) ** -22:
            return [*b[:4], mp.exp(b[4]), mp.exp(b[5])], squares(*b)
    return None, None


def fits(count):
    for number in range(count):
        b = [mpf(float(x)) for x in random_parameters()]
        exact = [float(zero(b, t)) for t in TENORS]
        if number % 2 == 0:
            yield ",".join(["exact", text(TENORS), " ".join(map(repr, exact)), text(b), "0", ""]) + "\n"
            continue
        rates = np.round(np.array(exact) + random.normal(0, 3e-4, len(TENORS)), 6)
        p = best(rates)
        c, misfit = finish(p, rates)
        low, high = TENORS[0] / 2, TENORS[-1] * 2
        if c and low < min(c[4:]) and max(c[4:]) < high and abs(mp.log(c[4] / c[5])) > 0.05:
            yield ",".join(["fit", text(TENORS), " ".join(repr(float(r)) for r in rates), text(c), text([misfit]), ""]) + "\n"


lines = [*values(84), *fits(60)]
PATH.write_text(STAMP + HEADER + "".join(lines))
print(PATH.name, len(lines), sum(line.startswith("fit") for line in lines))
