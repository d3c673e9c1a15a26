"""Writes ../shannon.csv and ../transfer.csv with mpmath, exact fractions and dictionaries.

Bins are found in exact rational arithmetic on the decimals as written, counts in a dictionary, logarithms to 50 digits.
Long series and distributions are not written out but made by rules that the test repeats:
`ramp N` and `coupled N SEED`.
"""

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import mpmath
from mpmath import mp, mpf

mp.dps = 50
FOLDER = Path(__file__).parent.parent
FIRST_LINE = f"# mpmath {mpmath.__version__}, date 2026-11-20, python tests/golden/generate/entropy.py"
E = 2.718281828459045


def shannon(probabilities, base):
    total = mpmath.fsum(mpf(p) * mpmath.log(mpf(p)) for p in probabilities if p > 0)
    return float(-total / mpmath.log(mpf(base)))


def ramp(count):
    """Probabilities in proportion to 1, 2, …, N."""
    whole = float(count * (count + 1) // 2)
    return [float(index) / whole for index in range(1, count + 1)]


def distributions():
    source = random.Random(20261120)
    yield "1.0", [1.0]
    yield "0.0;1.0;0.0", [0.0, 1.0, 0.0]
    yield "1.0;5e-324", [1.0, 5e-324]
    yield "0.999999999999;1e-12", [0.999999999999, 1e-12]
    yield "0.9999999999999999;1.1102230246251565e-16", [1 - 2**-53, 2**-53]
    yield "0.5;0.500001", [0.5, 0.500001]
    yield "0.9999990000000001", [0.9999990000000001]
    for size in (2, 3, 7, 10, 64, 65, 100):
        yield ";".join([repr(1 / size)] * size), [1 / size] * size
    for size in (2, 3, 5, 8, 30, 63):
        for power in (1, 6, 40):
            weights = [source.random() ** power for _ in range(size)]
            probabilities = [weight / sum(weights) for weight in weights]
            yield ";".join(map(repr, probabilities)), probabilities
    for count in (1_000, 100_000):
        yield f"ramp {count}", ramp(count)


def write_shannon():
    lines = [FIRST_LINE, "probabilities,base,entropy"]
    for name, probabilities in distributions():
        for base in [E, 2.0, 10.0, 3.0, 0.5, 1.0000000000000002, 5e-324, 1.7976931348623157e308]:
            lines.append(f"{name},{base!r},{shannon(probabilities, base)!r}")
    (FOLDER / "shannon.csv").write_text("\n".join(lines) + "\n")


def bins(series, n_bins):
    exact = [Fraction(repr(value)) for value in series]
    low, width = min(exact), max(exact) - min(exact)
    if width == 0:
        return [0] * len(series)
    return [min(int(n_bins * (value - low) / width), n_bins - 1) for value in exact]


def transfer(x, y, lag, n_bins):
    x, y = bins(x, n_bins), bins(y, n_bins)
    triples = Counter((y[t], y[t - lag], x[t - lag]) for t in range(lag, len(x)))
    with_now, with_source, past = Counter(), Counter(), Counter()
    for (now, before, source), count in triples.items():
        with_now[now, before] += count
        with_source[before, source] += count
        past[before] += count
    total = mpmath.fsum(
        count * mpmath.log(mpf(count * past[before]) / (with_now[now, before] * with_source[before, source]))
        for (now, before, source), count in triples.items()
    )
    return float(total / sum(triples.values()))


def coupled(count, seed):
    """Returns a linear congruential series, and one that follows the first with a lag of one step."""
    state, x, y = seed, [], []
    for index in range(count):
        state = (state * 1_103_515_245 + 12_345) % 2**31
        x.append(state / 2**31)
        state = (state * 1_103_515_245 + 12_345) % 2**31
        y.append(0.5 * state / 2**31 + (0.25 * x[index - 1] if index else 0.0))
    return x, y


def series():
    source = random.Random(7)
    yield [0.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0]
    yield [1.0, 2.0], [3.0, 4.0]
    yield [5.0] * 6, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
    yield [-1e308, 1e308, 0.0, 5e307, -5e307, 1e308], [1e308, -1e308, 3e307, 0.0, -1e308, 2.5e307]
    yield [5e-324, 0.0, 1e-323, 1.5e-323, 0.0, 5e-324], [0.0, 1.5e-323, 5e-324, 0.0, 1e-323, 0.0]
    yield [float(t % 5) for t in range(36)], [float(t % 7) for t in range(36)]
    yield [float(t * t % 11) for t in range(40)], [float(t * t * t % 13) for t in range(40)]
    for size in (10, 40):
        x = [source.gauss(0, 1) for _ in range(size)]
        y = [0.0] + [0.7 * x[t - 1] + 0.3 * source.gauss(0, 1) for t in range(1, size)]
        yield x, y
        yield y, x
    # Data of two decimals, many of them on an edge by their decimals alone.
    for size in (30, 60):
        x = [round(source.uniform(-1, 1), 2) for _ in range(size)]
        x[0], x[1] = -1.0, 1.0
        y = [100.0] + [round(100 + 0.5 * x[t - 1] + source.uniform(0, 0.5), 2) for t in range(1, size)]
        yield x, y
        yield y, x


def write_transfer():
    lines = [FIRST_LINE, "x_history,y_history,lag,n_bins,transfer_entropy"]
    for x, y in series():
        for lag in (1, 2, 4):
            for n_bins in (1, 2, 3, 10, 20, 1000):
                if lag < len(x):
                    name = ",".join(";".join(map(repr, side)) for side in (x, y))
                    lines.append(f"{name},{lag},{n_bins},{transfer(x, y, lag, n_bins)!r}")
    for count, seed in ((1_000, 1), (20_000, 2), (100_000, 3)):
        x, y = coupled(count, seed)
        for lag, n_bins in ((1, 2), (1, 8), (1, 10), (1, 128), (1, 1000), (5, 4), (5, 30)):
            for forth, back, way in ((x, y, "forth"), (y, x, "back")):
                value = transfer(forth, back, lag, n_bins)
                lines.append(f"coupled {count} {seed},{way},{lag},{n_bins},{value!r}")
    (FOLDER / "transfer.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write_shannon()
    write_transfer()
