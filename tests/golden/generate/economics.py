"""Writes ../cobb_douglas.csv and ../ces.csv: textbook demands and utilities in many digits.

Needs mpmath. The formulas are the plain ones, with enough digits to exclude cancellation:
x_i = m (w_i/p_i)^s / (w1^s p1^(1-s) + w2^s p2^(1-s)), U = (w1 x1^r + w2 x2^r)^(1/r).
"""
from pathlib import Path

import mpmath
from mpmath import mp, mpf

GOLDEN = Path(__file__).parent.parent
STAMP = f"# mpmath {mpmath.__version__}, 2026-11-20, python tests/golden/generate/economics.py\n"
mp.dps = 800  # rho = -1e300 needs 300 digits for the exponent of a power


def number(value):
    return repr(float(value)) if abs(value) > mpf("1e-330") else "0.0"


def finite(values):
    return all(abs(value) < mpf("1.79e308") for value in values)


def cobb_douglas(alpha, income, prices):
    a, m, (p1, p2) = mpf(alpha), mpf(income), map(mpf, prices)
    x1, x2 = a * m / p1, (1 - a) * m / p2
    return x1, x2, x1**a * x2 ** (1 - a)


def ces(rho, weights, income, prices):
    r, m, (w1, w2), (p1, p2) = mpf(rho), mpf(income), map(mpf, weights), map(mpf, prices)
    s = 1 / (1 - r)
    index = w1**s * p1 ** (1 - s) + w2**s * p2 ** (1 - s)
    x1, x2 = m * (w1 / p1) ** s / index, m * (w2 / p2) ** s / index
    if r == 0:
        return x1, x2, x1 ** (w1 / (w1 + w2)) * x2 ** (w2 / (w1 + w2)), s
    return x1, x2, (w1 * x1**r + w2 * x2**r) ** (1 / r), s


def write(name, header, rows):
    lines = [",".join(map(number, row)) + "\n" for row in rows]
    (GOLDEN / name).write_text(STAMP + header + "\n" + "".join(lines))
    print(name, len(lines))


def cobb_douglas_rows():
    alphas = [1e-300, 1e-17, 1e-9, 0.1, 0.3, 0.5, 0.75, 0.9999999999, 1 - 2**-53]
    markets = [
        (100.0, (1.0, 1.0)), (100.0, (2.0, 7.3)), (1.0, (1e-12, 1e12)), (5e4, (0.01, 123.45)),
        (1e300, (1e280, 3e290)), (1e-300, (1e-280, 3e-10)), (1.0, (1e300, 1e-300)),
        (1e-300, (1e300, 1e-300)), (3.3, (1e-300, 1e250)), (1e-160, (3e155, 7e-155)),
    ]
    for alpha in alphas:
        for income, prices in markets:
            answer = cobb_douglas(alpha, income, prices)
            if finite(answer):
                yield (alpha, income, *prices, *answer)


def ces_rows():
    near_zero = [sign * size for size in (1e-300, 1e-20, 1e-12, 1e-9, 1e-6, 1e-3) for sign in (1, -1)]
    near_one = [1 - 2**-53, 1 - 2**-40, 1 - 1e-9, 1 - 1e-6, 0.999]
    ordinary = [0.9, 0.5, 0.2, -0.3, -1.0, -2.5, -40.0, -1e4, -1e9, -1e17, -1e100, -1e300]
    exact = [(0.5, 0.5), (0.25, 0.75), (0.4, 0.6), (2**-40, 1 - 2**-40)]
    free = [(0.3, 0.7), (1.0, 1.0), (2.0, 5.5), (1e-3, 40.0)]
    markets = [(100.0, (1.0, 1.0)), (100.0, (2.0, 7.3)), (250.0, (13.37, 0.02))]
    extreme = [(1.0, (1e300, 1e-300)), (1e-300, (1e-280, 3e-10)), (1e300, (1e280, 3e290))]
    cases = [(r, w, m) for r in near_zero + [0.0] for w in exact for m in markets + extreme]
    cases += [(r, w, m) for r in ordinary + near_one for w in free for m in markets]
    cases += [(r, w, m) for r in ordinary[::3] for w in exact[1:] + free[2:] for m in extreme]
    cases += [(0.0, w, m) for w in free for m in markets]
    # The factor of a sum of weights that is not 1, as far as it is a double.
    nearly = [(0.5, 0.5 + 2**-20), (0.5, 0.5 - 2**-30), (0.3, 0.6), (1.0, 1.0)]
    cases += [(r, w, m) for r in near_zero for w in nearly for m in markets]
    # Nearly perfect substitutes close to the prices at which they are equally good.
    nudge = 2**-52
    cases += [(r, (1.0, 2.0), (100.0, (3.0, 6.0 * (1 + k * nudge)))) for r in near_one for k in (0, 1, -3)]
    for rho, weights, (income, prices) in cases:
        answer = ces(rho, weights, income, prices)
        if finite(answer):
            yield (rho, *weights, income, *prices, *answer)


write("cobb_douglas.csv", "alpha,income,p1,p2,x1,x2,utility", cobb_douglas_rows())
write("ces.csv", "rho,w1,w2,income,p1,p2,x1,x2,utility,elasticity", ces_rows())
