"""The measurement of one piece of work, as measure.rs does it."""

import os
import time
from statistics import median

SAMPLE = float(os.environ.get("SAMPLE_MS", "4")) / 1e3


def measure(row, who, work, value=float):
    result = float(value(work()))
    start = time.perf_counter()
    work()
    once = max(time.perf_counter() - start, 1e-9)
    calls = int(min(max(SAMPLE / once, 1), 1e6))
    times = []
    for _ in range(5 if once > 0.05 else 15):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        times.append((time.perf_counter() - start) / calls * 1e9)
    print("time", row, who, float(median(times)), repr(result), sep="\t", flush=True)


def by(who):
    """Returns the measurement of one library's work."""
    return lambda row, work, value=float: measure(row, who, work, value)


quantlib, numpy, scipy, plain = map(by, ("QuantLib (Python)", "numpy", "scipy", "Python"))
