"""Reads the lines of all programs and rounds, and prints the table of benches/README.md."""

import sys
from collections import defaultdict
from statistics import median

ROWS = [
    ("bs_1000", "Black–Scholes, one price", 1000),
    ("bs_engine", "Black–Scholes, one price", 1),
    ("bs_batch", "Black–Scholes, 10⁶ in a batch", 1),
    ("greeks_1000", "Greeks of one option", 1000),
    ("implied_volatility_1000", "implied volatility, one", 1000),
    *((f"barrier_{tree}_{n}", f"barrier tree, {tree.upper()}, n = {n}", 1)
      for tree in ("crr", "jr", "lr", "tian") for n in (100, 1000, 5000)),
    ("barrier_crr_1000000", "barrier tree, CRR, n = 10⁶", 1),
    ("barrier_continuous", "barrier, continuous, closed form", 1),
    *((f"american_{tree}_{n}", f"American put, {tree.upper()}, n = {n}", 1)
      for tree in ("crr", "jr", "lr", "tian") for n in (100, 1000, 5000)),
    *((f"min_variance_{n}", f"minimum variance, long only, n = {n}", 1) for n in (10, 50, 200, 500)),
    ("margrabe", "Margrabe, call and put", 1),
    ("derivative", "derivative by differences", 1),
    ("ces", "CES optimum", 1),
    ("ces_extreme", "CES optimum, ρ = −10⁶", 1),
    ("cobb_douglas", "Cobb–Douglas optimum", 1),
    ("capital_ratios", "Basel minimum, judged", 1),
    ("transfer_entropy_8", "transfer entropy, 10⁶ points, 8 bins", 1),
    ("transfer_entropy_128", "transfer entropy, 10⁶ points, 128 bins", 1),
    ("shannon", "Shannon entropy, 10⁶", 1),
    ("bond_flows", "flows of a 30-year bond", 1),
    ("tenor", "date + tenor", 1),
    *((f"bootstrap_{kind}", f"bootstrap of 14 quotes, {kind.replace('_', '-')}", 1)
      for kind in ("log_linear", "linear", "cubic", "monotone_convex")),
]
# Rows whose other libraries compute something else by design: a curve of other conventions.
DIFFER = ("bs_engine", "bootstrap_linear", "bootstrap_cubic", "bootstrap_monotone", "greeks", "capital")


def read(paths):
    times, values, errors = defaultdict(list), {}, defaultdict(dict)
    for path in paths:
        for line in open(path, encoding="utf-8"):
            kind, row, who, *rest = line.rstrip("\n").split("\t")
            if kind == "time":
                times[row, who].append(float(rest[0]))
                values[row, who] = float(rest[1])
            else:
                errors[row, who][rest[1]] = float(rest[0])
    return times, values, errors


def unit(nanoseconds):
    for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {name}"
    return f"{nanoseconds:.3g} ns"


def accuracy(errors):
    return ", ".join(f"{value:.1e} {name}" if value else f"0 {name}" for name, value in errors.items())


def main():
    times, values, errors = read(sys.argv[1:])
    faults = []
    print("| work | who | time | against ours | error |")
    print("|---|---|--:|--:|---|")
    for row, title, count in ROWS:
        everyone = list(dict.fromkeys(who for table in (times, errors) for r, who in table if r == row))
        everyone.sort(key=lambda who: who != "quant-core")
        reference = "bs_1000" if row == "bs_engine" else row
        ours = median(times.get((reference, "quant-core"), [float("nan")]))
        ours /= 1000 if reference == "bs_1000" else count
        for who in everyone:
            measured = median(times[row, who]) / count if (row, who) in times else None
            time = unit(measured) if measured else "–"
            ratio = "" if who == "quant-core" or not measured else f"{measured / ours:.2g} ×"
            name = f"**{who}**" if who == "quant-core" else who
            print(f"| {title} | {name} | {time} | {ratio} | {accuracy(errors[row, who])} |")
            mine, theirs = values.get((row, "quant-core")), values.get((row, who))
            if mine is None or theirs is None or row.startswith(DIFFER):
                continue
            if abs(theirs - mine) > 1e-2 * abs(mine):
                faults.append(f"{row}: {who} has {theirs}, quant-core {mine}")
    if faults:
        sys.exit("not the same work:\n" + "\n".join(faults))


if __name__ == "__main__":
    main()
