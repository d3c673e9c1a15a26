"""Writes the inputs of every program of the comparison, so that all do the same work."""

import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
draw = np.random.default_rng(20261120)


def write(name, array):
    np.ascontiguousarray(array, dtype="<f8").tofile(folder / f"{name}.f64")


def options(count):
    """Returns spot, strike, years, rate, dividend yield and volatility of calls near the money."""
    return np.column_stack(
        [
            np.full(count, 100.0),
            draw.uniform(60.0, 160.0, count),
            draw.uniform(0.1, 3.0, count),
            draw.uniform(0.0, 0.08, count),
            draw.uniform(0.0, 0.04, count),
            draw.uniform(0.1, 0.6, count),
        ]
    )


write("options", options(1_000))
write("chain", options(1_000_000))
for n in (10, 50, 200, 500):
    loadings = draw.normal(0.0, 0.08, (n, 5))
    write(f"covariance_{n}", loadings @ loadings.T + np.diag(draw.uniform(0.005, 0.03, n)))
noise = draw.normal(size=1_000_000)
write("x", noise)
write("y", 0.5 * np.roll(noise, 1) + 0.5 * draw.normal(size=1_000_000))
probabilities = draw.exponential(size=1_000_000)
write("probabilities", probabilities / probabilities.sum())
