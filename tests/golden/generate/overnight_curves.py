"""Writes ../overnight_curves.csv: curves bootstrapped from the rates of overnight indexed swaps.

Usage: python overnight_curves.py, with mpmath, QuantLib and scipy from PyPI. The conventions and the solver are
those of curve_conventions.py; without a market a swap starts on the reference date and pays once a year.
"""
import pathlib
import random

import mpmath as mp
import QuantLib as ql

HERE = pathlib.Path(__file__).parent
source = (HERE / "curve_conventions.py").read_text().rsplit("main()", 1)[0]
shared = {"__file__": str(HERE / "curve_conventions.py"), "__name__": "curve_conventions"}
exec(source, shared)
TENORS = {"none": [12, 24, 36, 60, 120], "market": [1, 3, 6, 12, 18, 24, 36, 60, 84, 120, 240]}
of_market = shared["flows"]


def flows(today, market, kind, tenor, start):
    if market != "none":
        return of_market(today, market, kind, tenor, start)
    ends = [today + ql.Period(12 * k, ql.Months) for k in range(1, int(tenor[:-1]) // 12 + 1)]
    return today, [(end, mp.mpf(1)) for end in ends]


def main():
    shared["flows"] = flows
    rng, rows = random.Random(20261123), []
    for year, month, day in [(2026, 11, 20), (2024, 1, 29), (2025, 12, 31)]:
        today = ql.Date(day, month, year)
        for market in ["none", *shared["MARKETS"]]:
            for kind in shared["KINDS"]:
                level = rng.choice([-0.005, 0.01, 0.04])
                months = sorted(rng.sample(TENORS["none" if market == "none" else "market"], 4))
                rates = [round(level + rng.uniform(-0.002, 0.002), 6) for _ in months]
                quotes = [("ois", f"{count}M", rate, "", 0.0) for count, rate in zip(months, rates)]
                _, times, logs = shared["solve"](kind, today, market, quotes)
                spelled = [" ".join(repr(count / 12) for count in months), " ".join(map(repr, rates))]
                zeros = " ".join(mp.nstr(log / time, 17) for log, time in zip(logs, times))
                rows.append(",".join([today.ISO(), market, kind, *spelled, zeros]))
    head = f"# mpmath {mp.__version__} and QuantLib {ql.__version__}, date 2026-11-23, "
    head += "python tests/golden/generate/overnight_curves.py"
    header = "reference_date,market,interpolation,tenors,rates,zero_rates"
    (HERE.parent / "overnight_curves.csv").write_text("\n".join([head, header, *rows]) + "\n")


main()
