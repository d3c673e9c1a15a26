"""Golden rows for tests/quantlib/instruments.rs: fixed-rate bonds by QuantLib, and Treasury bills by mpmath.

Writes ../instruments_bonds.csv and ../instruments_bills.csv.

Usage: python instruments.py [directory [scale]], with QuantLib and mpmath from PyPI. A scale of
100 writes a hundred times the rows, to be compared once and not kept.

Bonds: the schedule is unadjusted, the payments are adjusted. Short first periods by ACT/ACT ICMA
are omitted where QuantLib counts their regular start from the clipped end of the period and not
from the maturity. Bills: the equation of 31 CFR 356, appendix B, solved by bisection at 50 digits.
"""

import datetime
import pathlib
import random
import sys

import mpmath
import QuantLib as ql

DIRECTORY = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
SCALE = int(sys.argv[2]) if len(sys.argv) > 2 else 1
COMMAND = "date 2026-11-20, python tests/golden/generate/instruments.py"

CALENDARS = {
    "weekends": ql.WeekendsOnly(),
    "target": ql.TARGET(),
    "us": ql.UnitedStates(ql.UnitedStates.Settlement),
    "uk": ql.UnitedKingdom(ql.UnitedKingdom.Settlement),
}
CONVENTIONS = {
    "unadjusted": ql.Unadjusted,
    "following": ql.Following,
    "modified_following": ql.ModifiedFollowing,
    "preceding": ql.Preceding,
    "modified_preceding": ql.ModifiedPreceding,
}
KINDS = ["30/360", "30E/360", "30E/360 ISDA", "ACT/360", "ACT/365", "ACT/ACT ICMA", "ACT/ACT ISDA", "BUS/252"]


def write(name, tool, header, rows):
    path = DIRECTORY / f"instruments_{name}.csv"
    path.write_text("\n".join([f"# {tool}, {COMMAND}", header, *rows]) + "\n")


def day_count(kind, maturity, calendar):
    return {
        "30/360": lambda: ql.Thirty360(ql.Thirty360.BondBasis),
        "30E/360": lambda: ql.Thirty360(ql.Thirty360.European),
        "30E/360 ISDA": lambda: ql.Thirty360(ql.Thirty360.ISDA, maturity),
        "ACT/360": ql.Actual360,
        "ACT/365": ql.Actual365Fixed,
        "ACT/ACT ICMA": lambda: ql.ActualActual(ql.ActualActual.ISMA),
        "ACT/ACT ISDA": lambda: ql.ActualActual(ql.ActualActual.ISDA),
        "BUS/252": lambda: ql.Business252(calendar),
    }[kind]()


def bonds(rng):
    for number in range(160 * SCALE):
        kind, name, rule = KINDS[number % 8], rng.choice(list(CALENDARS)), rng.choice(list(CONVENTIONS))
        frequency, end_of_month = rng.choice([1, 2, 3, 4, 6, 12]), rng.random() < 0.5
        issue = ql.Date(rng.randint(1, 28), rng.randint(1, 12), rng.randint(1950, 2150))
        maturity = issue + ql.Period(rng.randint(1, 30), ql.Months) + rng.choice([0, 0, rng.randint(0, 40)])
        if rng.random() < 0.4:
            maturity = ql.Date.endOfMonth(maturity)
        step = ql.Period(12 // frequency, ql.Months)
        schedule = ql.Schedule(
            issue, maturity, step, ql.NullCalendar(), ql.Unadjusted, ql.Unadjusted,
            ql.DateGeneration.Backward, end_of_month,
        )
        clipped = maturity.dayOfMonth() > schedule[1].dayOfMonth() and schedule[1] - step != schedule[0]
        sticky = end_of_month and schedule[1] == ql.Date.endOfMonth(schedule[1])
        if kind == "ACT/ACT ICMA" and (clipped or sticky):
            continue
        rate, face = rng.choice([0.05, rng.uniform(-0.02, 0.15)]), rng.choice([100.0, 1e6])
        bond = ql.FixedRateBond(
            0, face, schedule, [rate], day_count(kind, maturity, CALENDARS[name]), CONVENTIONS[rule],
            100.0, issue, CALENDARS[name],
        )
        settlement = issue + rng.randint(0, maturity - issue)
        coupons = [ql.as_fixed_rate_coupon(flow) for flow in bond.cashflows()]
        # QuantLib accrues only the next coupon; past the end of its period, quant-core accrues both.
        gap = any(c and c.accrualEndDate() <= settlement < c.date() for c in coupons)
        accrued = "" if gap else repr(bond.accruedAmount(settlement) * face / 100.0)
        flows = [
            f"{flow.date().ISO()} {coupon.accrualPeriod() if coupon else 0.0!r} {flow.amount()!r}"
            for flow, coupon in zip(bond.cashflows(), coupons)
        ]
        yield ",".join(
            [issue.ISO(), maturity.ISO(), repr(rate), repr(face), str(frequency), kind]
            + [str(end_of_month).lower(), name, rule, settlement.ISO(), accrued, " ".join(flows)]
        )


def days_in_following_year(date):
    following = (date + datetime.timedelta(days) for days in range(1, 366))
    return 366 if any((day.month, day.day) == (2, 29) for day in following) else 365


def investment_rate(price, face, days, year):
    """Returns the rate of the regulation, by bisection of its equation."""

    def shortfall(rate):
        if 2 * days <= year:
            return price * (1 + rate * days / year) - face
        return price * (1 + (days - mpmath.mpf(year) / 2) * (rate / year)) * (1 + rate / 2) - face

    low, high = mpmath.mpf(-1.9), mpmath.mpf(1e6)
    if face == price:
        return mpmath.mpf(0)
    if 2 * days <= year:
        return (face - price) / price * year / days
    for _ in range(220):
        middle = (low + high) / 2
        low, high = (middle, high) if shortfall(middle) < 0 else (low, middle)
    return low


def bills(rng):
    mpmath.mp.dps = 50
    spans = [1, 7, 28, 91, 181, 182, 183, 184, 273, 364, 365, 366]
    for _ in range(200 * SCALE):
        start = datetime.date(rng.randint(1900, 2100), rng.randint(1, 12), rng.randint(1, 28))
        start = rng.choice([start, datetime.date(4 * rng.randint(480, 524), 2, 29), datetime.date(2019, 3, 1)])
        days = rng.choice(spans + [rng.randint(1, 366)])
        face = rng.choice([100.0, 1000.0, 1e6])
        rate = rng.choice([0.0, 1e-9, -0.005, rng.uniform(-0.02, 0.2), rng.uniform(0, 0.9)])
        price = mpmath.mpf(face) * (1 - mpmath.mpf(rate) * days / 360)
        bond = investment_rate(price, mpmath.mpf(face), days, days_in_following_year(start))
        money = (face - price) / price * 360 / days
        values = [price, bond, money, face - price]
        yield ",".join(
            [start.isoformat(), (start + datetime.timedelta(days)).isoformat(), repr(face), repr(rate), str(days)]
            + [mpmath.nstr(value, 17) for value in values]
        )


def main():
    write(
        "bonds", f"QuantLib {ql.__version__}",
        "issue_date,maturity_date,coupon_rate,face_value,frequency,day_count,end_of_month,calendar,"
        "convention,settlement_date,accrued_interest,cashflows", bonds(random.Random(1)),
    )
    write(
        "bills", f"mpmath {mpmath.__version__}",
        "settlement_date,maturity_date,face_value,discount_rate,days,price,bond_equivalent_yield,"
        "money_market_yield,discount_amount", bills(random.Random(2)),
    )


main()
