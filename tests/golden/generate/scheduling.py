"""Golden rows for tests/quantlib/scheduling.rs: business days of joint calendars, the day counts of the later
release, and schedules with stubs, by QuantLib.

Writes ../scheduling_business_days.csv, ../scheduling_day_counts.csv and ../scheduling_schedules.csv.

Usage: python scheduling.py [directory [scale]], with QuantLib from PyPI. A scale of 100 writes a
hundred times the rows, to be compared once and not kept.
"""

import calendar as months
import datetime
import pathlib
import random
import sys

import QuantLib as ql

DIRECTORY = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
SCALE = int(sys.argv[2]) if len(sys.argv) > 2 else 1

CALENDARS = {
    "weekends": ql.WeekendsOnly(),
    "TARGET": ql.TARGET(),
    "US": ql.UnitedStates(ql.UnitedStates.Settlement),
    "FEDWIRE": ql.UnitedStates(ql.UnitedStates.FederalReserve),
    "SIFMA": ql.UnitedStates(ql.UnitedStates.GovernmentBond),
    "NYSE": ql.UnitedStates(ql.UnitedStates.NYSE),
    "UK": ql.UnitedKingdom(ql.UnitedKingdom.Settlement),
    "CHF": ql.Switzerland(),
    "JPY": ql.Japan(),
    "CAD": ql.Canada(ql.Canada.Settlement),
    "AUD": ql.Australia(ql.Australia.Settlement),
}
CONVENTIONS = {
    "unadjusted": ql.Unadjusted,
    "following": ql.Following,
    "modified following": ql.ModifiedFollowing,
    "preceding": ql.Preceding,
    "modified preceding": ql.ModifiedPreceding,
}
DAY_COUNTS = {
    "30/360 US": ql.Thirty360(ql.Thirty360.USA),
    "ACT/364": ql.Actual364(),
    "ACT/365.25": ql.Actual36525(),
    "NL/365": ql.Actual365Fixed(ql.Actual365Fixed.NoLeap),
    "ACT/ACT AFB": ql.ActualActual(ql.ActualActual.AFB),
}
MEASURED = {"ACT/360": ql.Actual360(), "30E/360": ql.Thirty360(ql.Thirty360.European)}
MEASURED["ACT/ACT ISDA"] = ql.ActualActual(ql.ActualActual.ISDA)


def write(name, header, rows):
    path = DIRECTORY / f"scheduling_{name}.csv"
    head = f"# QuantLib {ql.__version__}, date 2026-11-22, python tests/golden/generate/scheduling.py"
    path.write_text("\n".join([head, header, *rows]) + "\n")


def some_date(rng, first=1990, last=2090):
    year, month = rng.randint(first, last), rng.randint(1, 12)
    length = months.monthrange(year, month)[1]
    # Month ends, where rules differ.
    day = rng.choice([rng.randint(1, length), length, min(28, length), min(30, length)])
    return ql.Date(day, month, year)


def joint(rng):
    names = rng.sample(list(CALENDARS), rng.choice([1, 2, 2, 3]))
    parts = [CALENDARS[name] for name in names]
    found = parts[0]
    for part in parts[1:]:
        found = ql.JointCalendar(found, part)
    return "+".join(names), found


def business_days(rng):
    for _ in range(300 * SCALE):
        name, calendar = joint(rng)
        # Before 2007 QuantLib has other days for Japan, see time.py.
        start = some_date(rng, 2014 if "JPY" in name else 1996)
        # Half of them close to a turn of the year, where many holidays are.
        if rng.random() < 0.5:
            start = ql.Date(25, 12, start.year()) + rng.randint(0, 9)
        days = rng.choice([0, 1, -1, rng.randint(-10, 10), rng.randint(-300, 300), rng.randint(-1500, 1500)])
        end = calendar.advance(start, days, ql.Days)
        # QuantLib counts back from the start, itself included; the rule here is minus the days forward.
        first, last = min(start, end), max(start, end)
        between, inclusive = (calendar.businessDaysBetween(first, last, True, both) for both in (False, True))
        if end < start:
            between, inclusive = -between, -inclusive
        is_open = str(calendar.isBusinessDay(start)).lower()
        yield f"{name},{start.ISO()},{days},{is_open},{end.ISO()},{between},{inclusive}"


def act_365l(start, end, frequency):
    """ICMA rule 251.1, by the days of Python's calendar."""
    first, last = (datetime.date(d.year(), d.month(), d.dayOfMonth()) for d in (start, end))
    days = [first + datetime.timedelta(days=n) for n in range(1, (last - first).days + 1)]
    if frequency == 1:
        leap = any((day.month, day.day) == (2, 29) for day in days)
    else:
        leap = months.isleap(last.year)
    return (last - first).days / (366 if leap else 365)


def day_counts(rng):
    for _ in range(60 * SCALE):
        for kind, counter in DAY_COUNTS.items():
            start = some_date(rng)
            end = start + rng.choice([0, rng.randint(0, 4000), rng.randint(0, 30000)])
            if rng.random() < 0.3:
                end = max(start, some_date(rng))
            if rng.random() < 0.2:
                end = ql.Date.endOfMonth(ql.Date(1, 2, start.year() + rng.randint(1, 9)))
            days = counter.dayCount(start, end)
            yield f"{kind},{start.ISO()},{end.ISO()},1,{days},{counter.yearFraction(start, end)!r}"
        start, frequency = some_date(rng), rng.choice([1, 2, 4])
        end = start + ql.Period(12 // frequency, ql.Months) + rng.randint(-20, 20)
        yield f"ACT/365L,{start.ISO()},{end.ISO()},{frequency},{end - start},{act_365l(start, end, frequency)!r}"


def third_wednesday(date):
    return ql.Date.nthWeekday(3, ql.Wednesday, date.month(), date.year())


def unadjusted(rng, start, end, period, stub, roll):
    backward = stub.endswith("front")
    rule = ql.DateGeneration.Backward if backward else ql.DateGeneration.Forward
    if roll == "IMM":
        rule = ql.DateGeneration.ThirdWednesday
    dates = list(
        ql.Schedule(
            start, end, period, ql.NullCalendar(), ql.Unadjusted, ql.Unadjusted, rule, roll == "end of month",
        )
    )
    if stub.startswith("long") and len(dates) > 2 and roll != "IMM":
        # The regular period at the stub's end, counted from its other date.
        near, far = (1, 0) if backward else (-2, -1)
        steps = (len(dates) - 2) * (-1 if backward else 1)
        anchor = end if backward else start
        length = period.length()
        regular = anchor + ql.Period((steps + (-1 if backward else 1)) * length, period.units())
        is_month_end = roll == "end of month" and ql.Date.isEndOfMonth(anchor)
        if is_month_end and period.units() == ql.Months:
            regular = ql.Date.endOfMonth(regular)
        if regular != dates[far]:
            del dates[near]
    return dates


def schedules(rng):
    for _ in range(250 * SCALE):
        units = rng.choice([ql.Months, ql.Months, ql.Months, ql.Weeks])
        length = rng.choice([1, 2, 3, 4, 6, 12])
        period = ql.Period(length, units)
        stub = rng.choice(["short front", "long front", "short back", "long back"])
        roll = rng.choice(["same day", "end of month"]) if units == ql.Months else "same day"
        start = some_date(rng)
        end = start + ql.Period(rng.randint(1, 40), units) + rng.choice([0, 0, rng.randint(1, 40)])
        if rng.random() < 0.3:
            end = ql.Date.endOfMonth(end)
        if units == ql.Months and rng.random() < 0.15:
            roll, start = "IMM", third_wednesday(start)
            end = third_wednesday(ql.Date(15, start.month(), start.year()) + ql.Period(length * rng.randint(1, 9), ql.Months))
        name, calendar = joint(rng)
        if "JPY" in name and start.year() < 2007:
            continue
        if roll == "end of month":
            # QuantLib takes the last day of a calendar without holidays, the rule here also the last business day.
            anchor = end if stub.endswith("front") else start
            if not ql.Date.isEndOfMonth(anchor) and calendar.isEndOfMonth(anchor):
                continue
        convention, last = rng.choice(list(CONVENTIONS)), rng.choice(list(CONVENTIONS))
        dates = unadjusted(rng, start, end, period, stub, roll)
        moved = [calendar.adjust(date, CONVENTIONS[convention]) for date in dates[:-1]]
        moved.append(calendar.adjust(dates[-1], CONVENTIONS[last]))
        kind = rng.choice(list(MEASURED))
        ends, fractions = [moved[0]], []
        for date in moved[1:]:
            if date > ends[-1]:
                fractions.append(MEASURED[kind].yearFraction(ends[-1], date))
                ends.append(date)
        if not fractions:
            continue
        text = f"{length}{'M' if units == ql.Months else 'W'}"
        yield ",".join([
            start.ISO(), end.ISO(), text, stub, roll, name, convention, last, kind,
            " ".join(date.ISO() for date in ends), " ".join(repr(fraction) for fraction in fractions),
        ])


def main():
    tables = [
        (business_days, "calendar,start,days,is_business_day,end,between,inclusive"),
        (day_counts, "day_count,start,end,frequency,days,year_fraction"),
        (
            schedules,
            "effective_date,termination_date,frequency,stub,roll,calendar,convention,termination_convention,"
            "day_count,dates,year_fractions",
        ),
    ]
    for seed, (table, header) in enumerate(tables):
        write(table.__name__, header, table(random.Random(seed)))


main()
