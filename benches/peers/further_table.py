"""Reads the lines of further.rs and further.py and what the golden tests print; prints the table."""

import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from table import unit

ROOT = Path(__file__).parent.parent.parent
# The largest difference of values, as a part of quant-core's.
TOLERANCE = 1e-6
# The first fourteen computations have a table of their own.
FIRST = 14
# The golden files of each part of a path; the first that fits.
GOLDEN = [
    ("bs/greeks", "pricing_greeks"), ("bs/implied", "implied_volatility"), ("bs/digital", "digital"),
    ("black76/caplet", "rate_options"), ("black76/floorlet", "rate_options"), ("black76/swaption", "rate_options"),
    ("black76", "black76"), ("bachelier/implied", "bachelier_implied"), ("bachelier", "bachelier"),
    ("binomial/american", "american_greeks"), ("binomial/bermudan", "bermudan"), ("garman", "garman_kohlhagen"),
    ("kirk", "spread"), ("business-day", "scheduling_business_days"), ("adjust-date", "time_adjustments"),
    ("year-fraction", "time_day_counts"), ("schedule/generate", "scheduling_schedules"), ("fcff", "analysis_dcf"),
    ("altman", "analysis_altman"), ("piotroski", "analysis_piotroski"), ("beneish", "analysis_beneish"),
    ("-shift", "curve_shifts"), ("nelson-siegel", "nelson_siegel"), ("nss", "svensson"),
    ("bootstrap", "curves_bootstraps"), ("build-curve", "curve_conventions"), ("/curves/", "curve_readings"),
    ("bond/fixed", "bond_yields"), ("zero-coupon", "zero_coupon_bonds"), ("xirr", "dated_internal_rates"),
    ("irr", "internal_rates"), ("npv", "net_present_values"), ("loan", "loans"), ("z-spread", "z_spreads"),
    ("asw", "asset_swaps"), ("finance/d", "level_bonds"), ("convexity", "level_bonds"), ("swap/irs", "swaps"),
    ("ois/value", "swaps"), ("fra/", "forward_rate_agreements"), ("deposit", "deposits"),
    ("fx/forward", "currency_forwards"), ("max-sharpe", "frontier"), ("target-return", "frontier"),
    ("efficient-frontier", "frontier"), ("ratios", "performance"), ("risk-parity", "risk_parity"),
    ("risk/contribution", "risk_contributions"), ("black-litterman", "black_litterman"),
    ("risk/var/historical", "historical_var"), ("risk/var/component", "component_var"), ("backtest", "backtest"),
    ("stress", "stress"), ("risk/var", "parametric_var"), ("risk/cvar", "parametric_var"),
]


def paths():
    lines = (ROOT / "docs/computations.md").read_text(encoding="utf-8").splitlines()
    return [line.split("`")[1].removeprefix("GET ") for line in lines if line.startswith("| `")][FIRST:]


def errors(path):
    """The largest error that a golden test prints for each file; the stated estimates are none."""
    found = defaultdict(float)
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if "widest" not in line:
            for error, name in re.findall(r"([0-9.]+e-?\d+) \((\w+)\.csv:\d+\)", line):
                found[name] = max(found[name], float(error))
    return found


def golden(path, largest):
    """Source, number of rows and largest error of the golden file of a path."""
    name = next((name for part, name in GOLDEN if part in path), None)
    if name is None:
        return "–", "–", "–"
    first, _, *rows = (ROOT / f"tests/golden/{name}.csv").read_text(encoding="utf-8").splitlines()
    source = re.search(r"(?:numpy|mpmath|QuantLib|Python)[^;]*?(?=;|, date|, \d{4}-|$)", first)[0]
    source = re.sub(r"(\d+\.\d+)\.\d+", r"\1", source)
    return f"`{name}`: {source}", f"{len(rows):,}", f"{largest[name]:.1e}" if name in largest else "0"


def measured(row, times, values):
    """The cells of the times of one computation and its peer, and the faults found."""
    own, value, faults = median(times[row, "quant-core"]), values[row, "quant-core"], []
    peer, ratio = "no peer", ""
    for other, who in times:
        if other == row and who != "quant-core":
            theirs = values[row, who]
            peer = f"{who} {unit(median(times[row, who]))}"
            ratio = f"{float(f'{median(times[row, who]) / own:.2g}'):g} ×"
            if abs(theirs - value) > TOLERANCE * max(abs(value), 1e-12):
                faults.append(f"{row}: {who} has {theirs}, quant-core {value}")
    return f"{unit(own)} | {peer} | {ratio}", faults


def main():
    largest, times, values = errors(sys.argv[1]), defaultdict(list), {}
    for path in sys.argv[2:]:
        for line in open(path, encoding="utf-8"):
            _, row, who, time, value = line.rstrip("\n").split("\t")
            times[row, who].append(float(time))
            values[row, who] = float(value)
    faults = []
    print("| computation | golden rows: source | rows | largest error | quant-core | peer | ratio |")
    print("|---|---|--:|--:|--:|---|--:|")
    for path in paths():
        source, rows, error = golden(path, largest)
        own = [row for row, who in times if who == "quant-core" and row.split(" (")[0] == path]
        if path not in own:
            faults.append(f"{path}: not measured")
        for row in own:
            cells, wrong = measured(row, times, values)
            faults += wrong
            name, *case = row.removeprefix("/quantlib/").split(" (")
            named = " (".join([f"`{name}`", *case])
            print(f"| {named} | {source} | {rows} | {error} | {cells} |")
    for row, who in times:
        if not row.startswith("/"):
            print(f"\n{row} of {who}: {unit(median(times[row, who]))}", end="")
    print()
    if faults:
        sys.exit("not the same work:\n" + "\n".join(faults))


main()
