"""Writes ../portfolio_tail.csv: volatility, contributions and value at risk of weights under a covariance.

Usage: python portfolio_tail.py, with mpmath from PyPI. All inputs but the confidence are doubles taken as they
are, the confidence is the decimal as written; results are computed in 60 digits. Every other portfolio is long
one side of a common factor and short the other, so that its contributions cancel.
"""
import random
from pathlib import Path

import mpmath
from mpmath import mp, mpf

FOLDER = Path(__file__).parent.parent
STAMP = f"# mpmath {mpmath.__version__}, 2026-11-23, python tests/golden/generate/portfolio_tail.py\n"
mp.dps = 60
draw = random.Random(20261123)


def text(values):
    return " ".join(repr(float(x)) for x in values)


def covariance(loads, specific):
    """A factor model in doubles; the mirror images of some matrices differ in the last bit."""
    size = len(loads)
    sigma = [[a * b for b in loads] for a in loads]
    for k in range(size):
        sigma[k][k] += specific * loads[k] ** 2 * draw.uniform(0.5, 1.5)
    if draw.random() < 0.2:
        for row in range(size):
            for column in range(row):
                sigma[row][column] *= 1.0 + draw.choice([0.0, 2.0 ** -52])
    return sigma


def weights(loads, cancels):
    found = [round(draw.uniform(-1.0, 1.0), 4) or 0.5 for _ in loads]
    if cancels and len(loads) > 1:
        rest = -sum(w * load for w, load in zip(found[:-1], loads)) / loads[-1]
        found[-1] = float(f"%.{draw.randint(2, 9)}g" % rest)
    scale = 10.0 ** draw.randint(-3, 6)
    return [w * scale for w in found]


def normal(tail):
    return -mp.sqrt(2) * mp.erfinv(2 * tail - 1)


def student_t(tail, degrees):
    """The quantile of the distribution that is scaled to a volatility of 1."""
    upper = lambda t: mp.betainc(degrees / 2, mpf(1) / 2, 0, degrees / (degrees + t * t), regularized=True) / 2 - tail
    low, high = mpf(0), mpf(1)
    while upper(high) > 0:
        high *= 2
    return mp.sqrt((degrees - 2) / degrees) * mp.findroot(upper, (low, high), solver="anderson", tol=mpf(10) ** -90)


def rows():
    for number in range(160):
        size = draw.randint(1, 8)
        loads = [draw.choice([-1, 1]) * draw.uniform(0.05, 0.4) for _ in range(size)]
        sigma = covariance(loads, 10.0 ** draw.uniform(-16, -1))
        w = weights(loads, number % 2 == 1)
        m, x = [[mpf(v) for v in row] for row in sigma], [mpf(v) for v in w]
        slopes = [mp.fsum((m[i][j] + m[j][i]) / 2 * x[j] for j in range(size)) for i in range(size)]
        volatility = mp.sqrt(mp.fsum(a * b for a, b in zip(x, slopes)))
        confidence, horizon = draw.choice(["0.95", "0.99", "0.6", "0.9999"]), draw.choice([1.0, 10.0, 0.5, 252.0])
        degrees = draw.choice([0.0, 0.0, 5.0, 2.5])
        tail = 1 - mpf(confidence)
        multiple = student_t(tail, mpf(degrees)) if degrees else normal(tail)
        parts = [a * b / volatility for a, b in zip(x, slopes)]
        yield ",".join([text(w), text(v for row in sigma for v in row), repr(degrees), confidence, repr(horizon),
                        text([volatility]), text(parts), text([multiple * volatility * mp.sqrt(mpf(horizon))]),
                        text([normal(tail) * volatility])])


HEADER = "weights,covariance,degrees,confidence,horizon,volatility,contributions,var,normal_var_of_period\n"
(FOLDER / "portfolio_tail.csv").write_text(STAMP + HEADER + "".join(row + "\n" for row in rows()))
