"""Writes ../curve_conventions.csv: curves bootstrapped from quotes with the conventions of a market.

Usage: python curve_conventions.py [directory], with mpmath, QuantLib and scipy from PyPI.

Settlement dates, adjusted periods and year fractions come from QuantLib's calendars, schedules and day
counts. The discount factors are found at 50 digits by Newton's method on all equations at once, with
the interpolations of curves.py. The conventions of the markets are written here again.
"""

import importlib.util
import pathlib
import random
import sys

import mpmath as mp
import QuantLib as ql
from scipy.optimize import root

HERE = pathlib.Path(__file__).parent
DIRECTORY = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent)
KINDS = ["linear", "log_linear", "cubic", "monotone_convex"]
FOLLOWING = ql.ModifiedFollowing

ACT360, ACT365, BASIS = ql.Actual360(), ql.Actual365Fixed(), ql.Thirty360(ql.Thirty360.BondBasis)
TARGET, UK = ql.TARGET(), ql.UnitedKingdom(ql.UnitedKingdom.Settlement)
FEDWIRE = ql.UnitedStates(ql.UnitedStates.FederalReserve)
SIFMA = ql.UnitedStates(ql.UnitedStates.GovernmentBond)

# Settlement days; then calendar, day count and payments a year of single payments, OIS and swaps.
MARKETS = {
    "EUR": (2, {"single": (TARGET, ACT360, 1), "ois": (TARGET, ACT360, 1), "swap": (TARGET, BASIS, 1)}),
    "USD": (2, {"single": (FEDWIRE, ACT360, 1), "ois": (SIFMA, ACT360, 1), "swap": (FEDWIRE, BASIS, 2)}),
    "GBP": (0, {"single": (UK, ACT365, 1), "ois": (UK, ACT365, 1), "swap": (UK, ACT365, 2)}),
}


def interpolations():
    """The interpolations of curves.py, without its writing of files."""
    source = (HERE / "curves.py").read_text().rsplit("main()", 1)[0]
    spec = importlib.util.spec_from_loader("curves", loader=None)
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(HERE / "curves.py")
    exec(source, module.__dict__)
    return module.fit


FIT = interpolations()


def years(start, date):
    """A twelfth of a year for each whole month, a 365th for each day of the rest."""
    months = 12 * (date.year() - start.year()) + date.month() - start.month()
    if start + ql.Period(months, ql.Months) > date:
        months -= 1
    rest = date - (start + ql.Period(months, ql.Months))
    return mp.mpf(months) / 12 + mp.mpf(rest) / 365


def fraction(day_count, start, end):
    """QuantLib's year fraction, as an exact number of 360ths or 365ths."""
    basis = 365 if day_count == ACT365 else 360
    return mp.mpf(round(day_count.yearFraction(start, end) * basis)) / basis


def later(calendar, start, tenor):
    """The unadjusted end: on month ends where the start is the last business day of its month."""
    end = start + ql.Period(tenor)
    months = ql.Period(tenor).units() in (ql.Months, ql.Years)
    return ql.Date.endOfMonth(end) if months and calendar.isEndOfMonth(start) else end


def flows(today, market, kind, tenor, start):
    """The start, and the end and the year fraction of each period."""
    days, rules = MARKETS[market]
    calendar, day_count, count = rules.get(kind, rules["single"])
    settlement = calendar.advance(calendar.adjust(today), days, ql.Days)
    adjust = lambda date: calendar.adjust(date, FOLLOWING)
    if kind in ("ois", "swap"):
        maturity = later(calendar, settlement, tenor)
        sticky = maturity == ql.Date.endOfMonth(maturity)
        ends, number = [maturity], 0
        while ends[0] > settlement:
            number += 1
            date = maturity - ql.Period(number * 12 // count, ql.Months)
            ends.insert(0, ql.Date.endOfMonth(date) if sticky else date)
        dates = [settlement, *ends[1:]]
    elif kind == "future":
        first = ql.DateParser.parseISO(start)
        dates = [first, first + ql.Period(tenor)]
    elif kind == "fra":
        dates = [later(calendar, settlement, start), later(calendar, settlement, tenor)]
    else:
        dates = [settlement, later(calendar, settlement, tenor)]
    dates = [adjust(date) for date in dates]
    return dates[0], [(end, fraction(day_count, begin, end)) for begin, end in zip(dates, dates[1:])]


def solve(kind, today, market, quotes):
    legs = [flows(today, market, quote[0], quote[1], quote[3]) for quote in quotes]
    times = [years(today, leg[-1][0]) for _, leg in legs]
    paid = [(years(today, first), [(years(today, end), part) for end, part in leg]) for first, leg in legs]

    def residuals(logs):
        curve = FIT(kind, times, list(logs))
        factor = lambda time: mp.exp(-curve.log(time)) if time > 0 else mp.mpf(1)
        found = []
        for (_, _, rate, _, convexity), (first, leg) in zip(quotes, paid):
            net = mp.mpf(rate) - mp.mpf(convexity)
            found.append(net * sum(part * factor(time) for time, part in leg) + factor(leg[-1][0]) - factor(first))
        return found

    start = [float(time) * quote[2] for time, quote in zip(times, quotes)]
    mp.mp.dps = 17
    rough = root(lambda x: [float(r) for r in residuals([mp.mpf(v) for v in x])], start, tol=1e-12)
    mp.mp.dps = 50
    assert max(abs(rough.fun)) < 1e-9, (kind, quotes, rough.message)
    logs = [mp.mpf(value) for value in rough.x]
    for _ in range(8):
        base, step = residuals(logs), mp.mpf(10) ** -25
        if max(abs(value) for value in base) < mp.mpf(10) ** -40:
            break
        jacobian = mp.zeros(len(logs))
        for j in range(len(logs)):
            moved = residuals([log + (step if i == j else 0) for i, log in enumerate(logs)])
            for i in range(len(logs)):
                jacobian[i, j] = (moved[i] - base[i]) / step
        logs = [log - change for log, change in zip(logs, mp.lu_solve(jacobian, mp.matrix(base)))]
    assert max(abs(value) for value in residuals(logs)) < mp.mpf(10) ** -30
    return [leg[-1][0] for _, leg in legs], times, logs


def strip(rng, today):
    """Quotes of a market by increasing maturity: kind, tenor, rate, start, convexity."""
    level = rng.choice([-0.005, 0.01, 0.04])
    imm = ql.IMM.nextDate(today + ql.Period(9, ql.Months))
    then = ql.IMM.nextDate(imm)
    rows = [
        ("deposit", "1D", "", 0.0), ("deposit", "1W", "", 0.0), ("deposit", "1M", "", 0.0), ("ois", "2M", "", 0.0),
        ("deposit", "3M", "", 0.0), ("fra", "6M", "3M", 0.0), ("fra", "9M", "7M", 0.0),
        ("future", "3M", imm.ISO(), 1e-5), ("future", "3M", then.ISO(), 2.5e-5),
        ("ois", "2Y", "", 0.0), ("swap", "3Y", "", 0.0), ("ois", "5Y", "", 0.0), ("swap", "10Y", "", 0.0),
        ("swap", "30Y", "", 0.0),
    ]
    rows = [row for row in rows if rng.random() < 0.7 or row[1] in ("1W", "10Y")]
    return [(kind, tenor, round(level + rng.uniform(-0.003, 0.003), 6), start, c) for kind, tenor, start, c in rows]


def main():
    rng, rows = random.Random(14), []
    for year, month, day in [(2026, 11, 20), (2024, 1, 29), (2024, 2, 27), (2025, 12, 31), (2026, 8, 27)]:
        today = ql.Date(day, month, year)
        for market in MARKETS:
            quotes = strip(rng, today)
            for kind in KINDS:
                dates, times, logs = solve(kind, today, market, quotes)
                spelled = " ".join(f"{k}:{tenor}:{rate!r}:{start}:{convexity!r}" for k, tenor, rate, start, convexity in quotes)
                zeros = " ".join(mp.nstr(log / time, 17) for log, time in zip(logs, times))
                ends = " ".join(date.ISO() for date in dates)
                rows.append(f"{today.ISO()},{market},{kind},{spelled},{ends},{zeros}")
    head = f"# mpmath {mp.__version__} and QuantLib {ql.__version__}, date 2026-11-22, "
    head += "python tests/golden/generate/curve_conventions.py"
    header = "reference_date,market,interpolation,instruments,dates,zero_rates"
    (DIRECTORY / "curve_conventions.csv").write_text("\n".join([head, header, *rows]) + "\n")


main()
