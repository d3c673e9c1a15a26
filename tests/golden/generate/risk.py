"""Golden rows for tests/quantlib/risk.rs: market risk by mpmath, numpy, scipy, scikit-learn and exact fractions.

Writes ../parametric_var.csv, ../historical_var.csv, ../monte_carlo_var.csv, ../backtest.csv, ../component_var.csv,
../ledoit_wolf.csv and ../stress.csv.

python3 tests/golden/generate/risk.py   (from the root; needs mpmath, numpy, scipy and scikit-learn from PyPI)

Expected shortfalls are integrals of the density or of the quantile, and owe nothing to the closed forms under test.
"""

import pathlib
import random
from fractions import Fraction

import mpmath
import numpy
import scipy
import scipy.stats
import sklearn
import sklearn.covariance
from mpmath import mp, mpf

mp.dps = 50
GOLDEN = pathlib.Path(__file__).resolve().parent.parent
RANDOM = random.Random(20261122)
MPMATH = f"mpmath {mpmath.__version__} at 50 digits"
NUMPY = f"numpy {numpy.__version__}"


def write(name, tool, header, rows):
    first = f"# {tool}, 2026-11-22, python3 tests/golden/generate/risk.py"
    text = lambda value: value if isinstance(value, str) else repr(value)
    lines = [",".join(text(value) for value in row) for row in rows]
    (GOLDEN / f"{name}.csv").write_text("\n".join([first, header, *lines]) + "\n")
    print(name, len(rows))


def series(values):
    return ";".join(repr(float(value)) for value in values)


def root(function, start):
    return mpmath.findroot(function, start)


# Tails: `alpha` is exact, from the confidence as it is written.


def normal_quantile(alpha):
    start = scipy.stats.norm.isf(float(alpha))
    return root(lambda z: mpmath.log(mpmath.ncdf(-z) / alpha), start)


def student_tail(t, nu):
    return mpmath.betainc(nu / 2, mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / 2


def student_density(t, nu):
    return mpmath.gammaprod([(nu + 1) / 2], [nu / 2]) / mpmath.sqrt(nu * mpmath.pi) * (1 + t * t / nu) ** (-(nu + 1) / 2)


def student_quantile(alpha, nu):
    start = scipy.stats.t.isf(float(alpha), float(nu))
    return root(lambda t: mpmath.log(student_tail(t, nu) / alpha), start)


def expansion(z, skewness, kurtosis):
    """The loss at minus the normal quantile -z, by Cornish and Fisher for the quantile q = -z of the return."""
    q = -z
    value = q + (q**2 - 1) * skewness / 6 + (q**3 - 3 * q) * kurtosis / 24 - (2 * q**3 - 5 * q) * skewness**2 / 36
    return -value


def tail_figures(kind, alpha, nu, skewness, kurtosis):
    """Quantile and mean of the tail of losses, in volatilities."""
    if kind == "student_t":
        t = student_quantile(alpha, nu)
        scale = mpmath.sqrt((nu - 2) / nu)
        # The substitution t = start/u brings the infinite end to 0.
        mean = mpmath.quad(lambda u: (t / u) * student_density(t / u, nu) * t / u**2, [0, 0.01, 0.1, 0.5, 1]) / alpha
        if nu > 1000:
            mean = mpmath.quad(lambda x: x * student_density(x, nu), [t, t + 1, t + 3, t + 8, t + 20]) / alpha
        return scale * t, scale * mean
    z = normal_quantile(alpha)
    loss = (lambda x: x) if kind == "normal" else (lambda x: expansion(x, skewness, kurtosis))
    mean = mpmath.quad(lambda x: loss(x) * mpmath.npdf(x), [z, z + 1, z + 3, z + 8, z + 20]) / alpha
    return loss(z), mean


def parametric():
    rows = []
    confidences = ["0.500001", "0.6", "0.9", "0.95", "0.975", "0.99", "0.999", "0.999999", "0.9999999999"]
    kinds = [("normal", 5.0, 0.0, 0.0)]
    kinds += [("student_t", nu, 0.0, 0.0) for nu in (2.1, 3.0, 4.0, 7.5, 30.0, 400.0, 1e6)]
    kinds += [("cornish_fisher", 5.0, s, k) for s, k in ((-0.5, 1.0), (0.3, 0.5), (-1.2, 4.0), (0.0, 6.0))]
    for kind, nu, skewness, kurtosis in kinds:
        for confidence in confidences:
            alpha = 1 - mpf(confidence)
            volatility, mean = RANDOM.choice([(0.01, 0.0), (0.02, 0.0005), (0.2, -0.03)])
            horizon = RANDOM.choice([1.0, 10.0, 0.5, 21.0])
            quantile, shortfall = tail_figures(kind, alpha, mpf(nu), mpf(skewness), mpf(kurtosis))
            deviation, drift = mpf(volatility) * mpmath.sqrt(mpf(horizon)), mpf(mean) * mpf(horizon)
            figures = [float(x * deviation - drift) for x in (quantile, shortfall)]
            rows.append([kind, nu, skewness, kurtosis, confidence, volatility, mean, horizon, float(deviation), *figures])
    header = "distribution,degrees,skewness,kurtosis,confidence,volatility,mean,horizon,deviation,var,es"
    write("parametric_var", MPMATH, header, rows)


def ranks(count, alpha):
    """Ranks of the ends of the interval of 95 %, from 1 for the largest loss on; 0 and count + 1 for none."""
    beyond = scipy.stats.binom(count, float(alpha))
    upper = max((r for r in range(0, count + 1) if r == 0 or beyond.cdf(r - 1) <= 0.025), default=0)
    lower = next((s for s in range(0, count + 1) if beyond.sf(s - 1) <= 0.025), count + 1)
    return upper, lower


def exact_tail(losses, confidence):
    """Quantile of type 7, mean of the losses at or above, and mean of the worst n·alpha, in exact fractions."""
    ordered = sorted((Fraction(x) for x in losses), reverse=True)
    alpha, n = 1 - Fraction(confidence), len(losses)
    at, rest = divmod((n - 1) * alpha, 1)
    following = ordered[min(int(at) + 1, n - 1)]
    quantile = ordered[int(at)] + rest * (following - ordered[int(at)])
    beyond = [x for x in ordered if x >= quantile]
    whole, rest = divmod(n * alpha, 1)
    worst = sum(ordered[: int(whole)], Fraction(0)) + (rest * ordered[int(whole)] if rest else 0)
    return float(quantile), float(sum(beyond) / len(beyond)), float(worst / (n * alpha)), len(beyond)


def historical():
    rows = []
    for _ in range(60):
        count = RANDOM.choice([1, 2, 5, 6, 20, 100, 250, 251, 400])
        confidence = RANDOM.choice(["0.9", "0.95", "0.975", "0.99", "0.999", "0.55"])
        places = RANDOM.choice([2, 3, 6, 17])
        returns = [round(RANDOM.gauss(0.0003, 0.012), places) for _ in range(count)]
        losses = [-value for value in returns]
        var, es, coherent, tail = exact_tail(losses, confidence)
        assert abs(numpy.quantile(losses, float(confidence)) - var) < 1e-12
        upper, lower = ranks(count, 1 - Fraction(confidence))
        ordered = sorted(losses, reverse=True)
        end = lambda rank: repr(ordered[rank - 1] + 0.0) if 1 <= rank <= count else "none"
        moments = [float(numpy.mean(returns)), float(numpy.std(returns, ddof=1)) if count > 1 else 0.0]
        moments += [float(mpf_moment(returns, power)) for power in (3, 4)]
        rows.append([confidence, series(returns), var, es, coherent, str(tail), end(lower), end(upper), *moments, ewma(returns)])
    header = "confidence,returns,var,es,coherent,tail,lower,upper,mean,volatility,skewness,kurtosis,ewma"
    tool = f"{NUMPY}, scipy {scipy.__version__}, mpmath {mpmath.__version__} and Python's fractions"
    write("historical_var", tool, header, rows)


def mpf_moment(returns, power):
    values = [mpf(x) for x in returns]
    mean = mpmath.fsum(values) / len(values)
    moment = lambda k: mpmath.fsum((x - mean) ** k for x in values) / len(values)
    if len(set(returns)) == 1:
        return mpf(0)
    return moment(power) / moment(2) ** (mpf(power) / 2) - (3 if power == 4 else 0)


def ewma(returns):
    weights = [mpf("0.94") ** i for i in range(len(returns))]
    total = mpmath.fsum(w * mpf(x) ** 2 for w, x in zip(weights, reversed(returns)))
    return float(mpmath.sqrt(total / mpmath.fsum(weights)))


def monte_carlo():
    rows = []
    for seed in (0, 1, 42, 2**32 - 1):
        for count, confidence in ((100, "0.95"), (1000, "0.99"), (20000, "0.975")):
            raw = numpy.random.Philox(key=seed).random_raw(count)
            uniform = ((raw >> numpy.uint64(12)).astype(float) + 0.5) * 2.0**-52
            losses = scipy.stats.norm.isf(uniform) * 0.02
            var, es, _, tail = exact_tail([float(x) for x in losses], confidence)
            rows.append([str(seed), str(count), confidence, var, es, str(tail)])
    write("monte_carlo_var", f"{NUMPY} (Philox), scipy {scipy.__version__}", "seed,count,confidence,var,es,tail", rows)


def likelihood(quiet, broken, p):
    term = lambda count, p: mpf(0) if count == 0 else count * mpmath.log(p)
    return term(quiet, 1 - p) + term(broken, p)


def backtest():
    rows = []
    cases = [(250, 2), (250, 5), (250, 10), (250, 0), (250, 250), (500, 25), (100, 1), (1, 1), (2, 1), (1000, 12), (750, 40)]
    for confidence in ("0.99", "0.95", "0.975", "0.9"):
        for count, broken in cases:
            positions = sorted(RANDOM.sample(range(count), broken))
            if RANDOM.random() < 0.5 and broken < count // 2:
                start = RANDOM.randrange(count - broken)
                positions = list(range(start, start + broken))
            hit = [i in set(positions) for i in range(count)]
            n = [[0, 0], [0, 0]]
            for a, b in zip(hit, hit[1:]):
                n[a][b] += 1
            p = 1 - mpf(confidence)
            pof = 2 * (likelihood(count - broken, broken, mpf(broken) / count) - likelihood(count - broken, broken, p))
            own = lambda row: mpf(row[1]) / sum(row) if sum(row) else mpf(0)
            both = own([n[0][0] + n[1][0], n[0][1] + n[1][1]])
            apart = sum((likelihood(*row, own(row)) for row in n), mpf(0))
            ind = 2 * (apart - likelihood(n[0][0] + n[1][0], n[0][1] + n[1][1], both))
            pof, ind = (max(x, mpf(0)) if abs(x) > mpf(10) ** -40 else mpf(0) for x in (pof, ind))
            chi = lambda x, degrees: mpmath.gammainc(mpf(degrees) / 2, x / 2, regularized=True)
            mass = [mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)]
            figures = [pof, chi(pof, 1), ind, chi(ind, 1), pof + ind, chi(pof + ind, 2)]
            figures += [mpmath.fsum(mass[: broken + 1]), mpmath.fsum(mass[broken:])]
            rows.append([confidence, str(count), ";".join(map(str, positions)) or "none", *map(float, figures)])
    header = "confidence,count,positions,pof,pof_p,ind,ind_p,cc,cc_p,at_most,at_least"
    write("backtest", MPMATH, header, rows)


def component():
    rows = []
    for case in range(40):
        factors, count = RANDOM.choice([1, 2, 3, 6]), RANDOM.choice([2, 5, 30])
        common = [RANDOM.gauss(0, 0.01) for _ in range(count)]
        draws = [[round(c * RANDOM.choice([1, -1, 0.5]) + RANDOM.gauss(0, 0.006), 6) for c in common] for _ in range(factors)]
        weights = [round(RANDOM.uniform(-0.5, 1), 3) for _ in range(factors)]
        kind, nu = RANDOM.choice([("normal", 5.0), ("student_t", 4.0), ("student_t", 8.0)])
        confidence = RANDOM.choice(["0.95", "0.99", "0.975"])
        estimator = ["sample", "ledoit_wolf"][case % 2]
        values = [[mpf(x) for x in row] for row in draws]
        centred = [[x - mpmath.fsum(row) / count for x in row] for row in values]
        product = lambda a, b: mpmath.fsum(x * y for x, y in zip(a, b))
        matrix = [[product(a, b) / (count - 1) for b in centred] for a in centred]
        if estimator == "ledoit_wolf":
            matrix = shrunk(centred, factors, count)[0]
        w = [mpf(x) for x in weights]
        with_portfolio = [product(row, w) for row in matrix]
        sigma = mpmath.sqrt(product(w, with_portfolio))
        quantile, shortfall = tail_figures(kind, 1 - mpf(confidence), mpf(nu), 0, 0)
        scale = quantile * 10**6
        parts = [scale * x * c / sigma for x, c in zip(w, with_portfolio)]
        without = [
            mpmath.sqrt(max(mpf(0), sigma**2 - 2 * x * c + x * x * matrix[i][i]))
            for i, (x, c) in enumerate(zip(w, with_portfolio))
        ]
        incremental = [scale * (sigma - other) for other in without]
        alone = [scale * abs(x) * mpmath.sqrt(matrix[i][i]) for i, x in enumerate(w)]
        returns = " ".join(series(row) for row in draws)
        rows.append([kind, nu, confidence, estimator, str(count), returns, series(weights), float(scale * sigma),
                     float(shortfall * 10**6 * sigma), series(parts), series(alone), series(incremental)])
    header = "distribution,degrees,confidence,estimator,count,returns,weights,var,es,components,standalone,incremental"
    write("component_var", MPMATH, header, rows)


def shrunk(centred, factors, count):
    """The covariance of Ledoit and Wolf from the sums as the paper writes them."""
    matrix = [[mpmath.fsum(x * y for x, y in zip(a, b)) / count for b in centred] for a in centred]
    m = mpmath.fsum(matrix[i][i] for i in range(factors)) / factors
    square = lambda difference: mpmath.fsum(difference(i, j) ** 2 for i in range(factors) for j in range(factors)) / factors
    d2 = square(lambda i, j: matrix[i][j] - (m if i == j else 0))
    b2 = mpmath.fsum(
        square(lambda i, j: centred[i][t] * centred[j][t] - matrix[i][j]) for t in range(count)
    ) / count**2
    s = min(b2, d2) / d2 if d2 > mpf(10) ** -40 else mpf(0)
    return [[(1 - s) * matrix[i][j] + (s * m if i == j else 0) for j in range(factors)] for i in range(factors)], s


def ledoit_wolf():
    rows = []
    generator = numpy.random.default_rng(20261122)
    for factors, count in ((1, 5), (2, 2), (2, 30), (3, 10), (5, 4), (10, 60), (20, 8), (8, 250)):
        for spread in (0.0, 0.01):
            data = generator.normal(0, 0.01, (count, factors)) + generator.normal(0, spread, (count, 1))
            data = numpy.round(data, 7)
            fitted = sklearn.covariance.LedoitWolf().fit(data)
            returns = " ".join(series(column) for column in data.T)
            matrix = series(fitted.covariance_.flatten())
            rows.append([str(count), returns, float(fitted.shrinkage_), matrix])
    write("ledoit_wolf", f"scikit-learn {sklearn.__version__}", "count,returns,shrinkage,covariance", rows)


def stress():
    rows = []
    for _ in range(30):
        count = RANDOM.choice([1, 2, 5, 20])
        shocks = [round(RANDOM.uniform(-0.5, 0.5), RANDOM.choice([2, 4, 17])) for _ in range(count)]
        exposures = [round(RANDOM.uniform(-6, 6), 3) for _ in range(count)]
        value = RANDOM.choice([1.0, 1e6, 2.5e8])
        parts = [Fraction(value) * Fraction(a) * Fraction(b) for a, b in zip(shocks, exposures)]
        rows.append([value, series(shocks), series(exposures), float(sum(parts)), series(parts)])
    write("stress", "Python's fractions", "value,shocks,exposures,total,parts", rows)


if __name__ == "__main__":
    parametric()
    historical()
    monte_carlo()
    backtest()
    component()
    ledoit_wolf()
    stress()
