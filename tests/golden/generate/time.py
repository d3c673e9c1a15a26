"""Golden rows for tests/quantlib/time.rs: tenors, calendars, conventions, day counts and schedules, by QuantLib.

Writes ../time_tenors.csv, ../time_calendars.csv, ../time_adjustments.csv, ../time_day_counts.csv and
../time_schedules.csv.

Usage: python time.py [directory [scale]], with QuantLib and holidays from PyPI. A scale of 100 writes a
hundred times the rows, to be compared once and not kept.
"""

import datetime
import pathlib
import random
import sys

import holidays
import QuantLib as ql

DIRECTORY = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
SCALE = int(sys.argv[2]) if len(sys.argv) > 2 else 1
LAST = ql.Date(31, 12, 2199)

CALENDARS = {
    "weekends": ql.WeekendsOnly(),
    "target": ql.TARGET(),
    "us": ql.UnitedStates(ql.UnitedStates.Settlement),
    "fedwire": ql.UnitedStates(ql.UnitedStates.FederalReserve),
    "sifma": ql.UnitedStates(ql.UnitedStates.GovernmentBond),
    "nyse": ql.UnitedStates(ql.UnitedStates.NYSE),
    "uk": ql.UnitedKingdom(ql.UnitedKingdom.Settlement),
    "chf": ql.Switzerland(),
    "jpy": ql.Japan(),
    "cad": ql.Canada(ql.Canada.Settlement),
    "aud": ql.Australia(ql.Australia.Settlement),
}
# Their days of single years before 1990 are not included, nor are the rules before.
FROM_1990 = ("fedwire", "sifma", "nyse", "chf", "jpy", "cad", "aud")
# The calendars of the first release, for which the rows stay as they are.
ADJUSTED = ["weekends", "target", "us", "fedwire", "sifma", "nyse", "uk"]
CONVENTIONS = {
    "unadjusted": ql.Unadjusted,
    "following": ql.Following,
    "modified_following": ql.ModifiedFollowing,
    "preceding": ql.Preceding,
    "modified_preceding": ql.ModifiedPreceding,
}
FREQUENCIES = [1, 2, 3, 4, 6, 12]


def write(name, header, rows):
    path = DIRECTORY / f"time_{name}.csv"
    also = f" and holidays {holidays.__version__}, date 2026-11-22" if name == "calendars" else ", date 2026-11-20"
    head = f"# QuantLib {ql.__version__}{also}, python tests/golden/generate/time.py"
    path.write_text("\n".join([head, header, *rows]) + "\n")


def iso(date):
    return date.ISO()


def some_date(rng, first=1902, last=2185):
    year, month = rng.randint(first, last), rng.randint(1, 12)
    length = ql.Date.endOfMonth(ql.Date(1, month, year)).dayOfMonth()
    # Month ends, where rules differ.
    day = rng.choice([rng.randint(1, length), length, min(28, length), min(30, length)])
    return ql.Date(day, month, year)


def tenors(rng):
    for _ in range(150 * SCALE):
        years, months = rng.choice([(0, rng.randint(0, 40)), (rng.randint(0, 5), rng.randint(0, 11))])
        weeks, days = rng.choice([(0, 0), (rng.randint(0, 60), rng.randint(0, 400))])
        sign = rng.choice([1, 1, -1])
        start = some_date(rng, 1920, 2180)
        end = start + ql.Period(sign * (12 * years + months), ql.Months)
        end = end + ql.Period(sign * (7 * weeks + days), ql.Days)
        parts = f"{years}Y" * (years > 0) + f"{months}M" + f"{weeks}W" * (weeks > 0) + f"{days}D" * (days > 0)
        yield f"{iso(start)},{'-' * (sign < 0)}{parts},{iso(end)}"


def japan(year):
    """The holidays of the years before 2007, by the package holidays.

    QuantLib 1.44 misplaces equinoxes before 2000, and closes 6 May after a Sunday before the law of 2007.
    """
    closed = {day for day in holidays.Japan(years=year) if day.year == year}
    closed |= {datetime.date(year, month, day) for month, day in [(1, 1), (1, 2), (1, 3), (12, 31)]}
    return [day.isoformat()[5:] for day in sorted(closed) if day.weekday() < 5]


def calendars(_):
    years = range(1901, 2200)
    if SCALE == 1:
        years = [year for year in years if 1990 <= year <= 2050 or year % 10 == 1 or 1968 <= year < 1984]
    for name, calendar in CALENDARS.items():
        if name == "weekends":
            continue
        for year in years:
            # The equinoxes of Japan are known until 2099.
            if name in FROM_1990 and year < 1990 or name == "jpy" and year > 2099:
                continue
            serials = range(ql.Date(1, 1, year).serialNumber(), ql.Date(31, 12, year).serialNumber() + 1)
            weekdays = [ql.Date(serial) for serial in serials if serial % 7 > 1]
            closed = [iso(date)[5:] for date in weekdays if calendar.isHoliday(date)]
            if name == "jpy" and year < 2007:
                closed = japan(year)
            yield f"{name},{year},{' '.join(closed)}"


def adjustments(rng):
    for _ in range(200 * SCALE):
        name, convention = rng.choice(ADJUSTED), rng.choice(list(CONVENTIONS))
        date = some_date(rng, 1990) if name in FROM_1990 else some_date(rng)
        # Half of them close to a turn of the year, where many holidays are.
        if rng.random() < 0.5:
            date = ql.Date(25, 12, date.year()) + rng.randint(0, 9)
        adjusted = CALENDARS[name].adjust(date, CONVENTIONS[convention])
        yield f"{name},{convention},{iso(date)},{iso(adjusted)}"


def day_count(kind, maturity, calendar):
    return {
        "30/360": ql.Thirty360(ql.Thirty360.BondBasis),
        "30E/360": ql.Thirty360(ql.Thirty360.European),
        "30E/360 ISDA": ql.Thirty360(ql.Thirty360.ISDA, maturity),
        "ACT/360": ql.Actual360(),
        "ACT/365": ql.Actual365Fixed(),
        "ACT/ACT ICMA": ql.ActualActual(ql.ActualActual.ISMA),
        "ACT/ACT ISDA": ql.ActualActual(ql.ActualActual.ISDA),
        "BUS/252": ql.Business252(calendar),
    }[kind]


def day_counts(rng):
    kinds = ["30/360", "30E/360", "30E/360 ISDA", "ACT/360", "ACT/365", "ACT/ACT ICMA", "ACT/ACT ISDA", "BUS/252"]
    for _ in range(40 * SCALE):
        for kind in kinds:
            start, frequency = some_date(rng), rng.choice(FREQUENCIES)
            name = rng.choice(["weekends", "target", "us", "uk"])
            period_start, period_end = start, start + ql.Period(12 // frequency, ql.Months)
            if kind == "ACT/ACT ICMA":
                length = period_end - period_start
                start = period_start + rng.randint(0, length)
                end = start + rng.randint(0, period_end - start)
            else:
                end = max(start, min(some_date(rng), start + rng.randint(0, 4000)))
            maturity = rng.choice([end, LAST])
            counter = day_count(kind, maturity, CALENDARS[name])
            fraction = 0.0 if start == end else counter.yearFraction(start, end, period_start, period_end)
            yield ",".join(
                [kind, iso(start), iso(end), iso(period_start), iso(period_end), str(frequency), iso(maturity), name]
                + [repr(fraction)]
            )


def schedules(rng):
    for _ in range(120 * SCALE):
        frequency, end_of_month = rng.choice(FREQUENCIES), rng.random() < 0.5
        issue = some_date(rng, 1902, 2180)
        maturity = issue + ql.Period(rng.randint(1, 40), ql.Months) + rng.choice([0, 0, rng.randint(0, 40)])
        if rng.random() < 0.4:
            maturity = ql.Date.endOfMonth(maturity)
        schedule = ql.Schedule(
            issue, maturity, ql.Period(12 // frequency, ql.Months), ql.NullCalendar(),
            ql.Unadjusted, ql.Unadjusted, ql.DateGeneration.Backward, end_of_month,
        )
        dates = " ".join(iso(date) for date in schedule)
        yield f"{iso(issue)},{iso(maturity)},{frequency},{str(end_of_month).lower()},{dates}"


def main():
    tables = [
        (tenors, "start_date,tenor,result_date"),
        (calendars, "calendar,year,holidays"),
        (adjustments, "calendar,convention,date,adjusted"),
        (day_counts, "day_count,start,end,period_start,period_end,frequency,maturity_date,calendar,year_fraction"),
        (schedules, "issue_date,maturity_date,frequency,end_of_month,dates"),
    ]
    for seed, (table, header) in enumerate(tables):
        write(table.__name__, header, table(random.Random(seed)))


main()
