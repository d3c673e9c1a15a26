"""Writes ../bond_yields.csv (mpmath, 50 digits) and ../bond_yields_quantlib.csv.

Needs mpmath and QuantLib. The first file evaluates the documented formula with exact fractions of
periods; coupon dates come from QuantLib's schedules. The yield of a price is the root for the
price rounded to a double. The second file is QuantLib's own BondFunctions, for the day counts
whose periods are whole there too: 30/360 away from month ends, and ACT/ACT ICMA.
"""
import random
from fractions import Fraction
from pathlib import Path

import mpmath
import QuantLib as ql
from mpmath import mpf

DIRECTORY = Path(__file__).parent.parent
COMMAND = "date 2026-11-20, python tests/golden/generate/bond_yields.py"
KINDS = ["30/360", "30E/360", "ACT/360", "ACT/365", "ACT/ACT ICMA"]
mpmath.mp.dps = 50


def schedule(issue, maturity, frequency, end_of_month):
    step = ql.Period(12 // frequency, ql.Months)
    dates, number = [maturity], 0
    while dates[0] > issue:
        number += 1
        date = maturity - ql.Period(number * 12 // frequency, ql.Months)
        if end_of_month and ql.Date.isEndOfMonth(maturity):
            date = ql.Date.endOfMonth(date)
        dates.insert(0, date)
    return dates[0], [max(dates[0], issue)] + dates[1:]


def fraction(kind, start, end, regular, frequency):
    if kind == "ACT/360":
        return Fraction(end - start, 360)
    if kind == "ACT/365":
        return Fraction(end - start, 365)
    if kind == "ACT/ACT ICMA":
        return Fraction(end - start, frequency * (regular[1] - regular[0]))
    d1, d2 = min(start.dayOfMonth(), 30), end.dayOfMonth()
    if kind == "30E/360" or d1 == 30:
        d2 = min(d2, 30)
    days = 360 * (end.year() - start.year()) + 30 * (end.month() - start.month()) + d2 - d1
    return Fraction(days, 360)


def exact(value):
    return mpf(value.numerator) / value.denominator


def claim(issue, maturity, rate, face, frequency, kind, end_of_month, settlement):
    """Returns the amounts by period, the elapsed part of the current period, and the accrued interest."""
    first, dates = schedule(issue, maturity, frequency, end_of_month)
    amounts, part, accrued = [], None, mpf(0)
    for number, (start, end) in enumerate(zip(dates, dates[1:])):
        if end <= settlement:
            continue
        regular = (first if number == 0 else start, end)
        coupon = mpf(face) * mpf(rate) * exact(fraction(kind, start, end, regular, frequency))
        if not amounts:
            gone = fraction(kind, start, settlement, regular, frequency)
            whole = fraction(kind, *regular, regular, frequency)
            part = exact((fraction(kind, start, end, regular, frequency) - gone) / whole)
            accrued = mpf(face) * mpf(rate) * exact(gone)
        amounts.append(coupon)
    amounts[-1] += face
    return amounts, part, accrued


def price(amounts, part, frequency, convention, y):
    x = 1 + y / frequency
    front = x ** -part if convention == "street" else 1 / (1 + part * (x - 1))
    return front * mpmath.fsum(c * x ** -k for k, c in enumerate(amounts))


def root(amounts, part, frequency, convention, target, near):
    y = near
    for _ in range(12):
        value = price(amounts, part, frequency, convention, y)
        h = mpf(10) ** -25
        slope = (price(amounts, part, frequency, convention, y + h) - value) / h
        y += (target - value) / slope
    return y


def text(value):
    return mpmath.nstr(value, 17, min_fixed=-400, max_fixed=-399)


def rows(rng, count):
    while count:
        kind, frequency = rng.choice(KINDS), rng.choice([1, 2, 2, 3, 4, 6, 12])
        end_of_month, convention = rng.random() < 0.5, rng.choice(["street", "street", "treasury"])
        issue = ql.Date(rng.randint(1, 28), rng.randint(1, 12), rng.randint(1950, 2090))
        maturity = issue + rng.choice([rng.randint(3, 800), rng.randint(300, 11000), rng.randint(300, 36000)])
        if rng.random() < 0.3:
            maturity = ql.Date.endOfMonth(maturity)
        if maturity > ql.Date(31, 12, 2198):
            continue
        settlement = issue + rng.choice([0, rng.randint(0, maturity - issue - 1)])
        rate = rng.choice([0.0, 0.05, rng.uniform(0.0, 0.15), rng.uniform(-0.01, 0.0)])
        y = rng.choice([rate, 0.0, -0.5, rng.uniform(-0.02, 0.12), rng.uniform(0.0, 1.0), 1e-9])
        face = rng.choice([100.0, 1e6])
        amounts, part, accrued = claim(issue, maturity, rate, face, frequency, kind, end_of_month, settlement)
        value = lambda y: price(amounts, part, frequency, convention, y)
        dirty = value(mpf(y))
        # Differences at 50 digits: the error is h² times the third derivative.
        mpmath.mp.dps = 90
        h = mpf(10) ** -25
        up, here, down = value(mpf(y) + h), value(mpf(y)), value(mpf(y) - h)
        modified = -(up - down) / (2 * h) / here
        convexity = (up - 2 * here + down) / (h * h) / here
        mpmath.mp.dps = 50
        if modified < 1e-6 or dirty <= 0:
            continue
        clean = dirty - accrued
        quoted = float(clean)
        again = root(amounts, part, frequency, convention, mpf(quoted) + accrued, mpf(y))
        count -= 1
        yield ",".join(
            [issue.ISO(), maturity.ISO(), repr(rate), repr(face), str(frequency), kind]
            + [str(end_of_month).lower(), settlement.ISO(), convention, repr(y)]
            + [text(x) for x in (clean, dirty, accrued, modified * (1 + mpf(y) / frequency), modified, convexity)]
            + [repr(quoted), text(again)]
        )


def quantlib_rows(rng, count):
    while count:
        kind, frequency = rng.choice(["30/360", "ACT/ACT ICMA"]), rng.choice([1, 2, 4])
        day = rng.randint(1, 28)
        issue = ql.Date(day, rng.randint(1, 12), rng.randint(1960, 2100))
        months = 12 // frequency * rng.randint(1, 60) + rng.choice([0, 0, rng.randint(0, 11)])
        maturity = issue + ql.Period(months, ql.Months)
        dates = ql.Schedule(
            issue, maturity, ql.Period(12 // frequency, ql.Months), ql.NullCalendar(), ql.Unadjusted,
            ql.Unadjusted, ql.DateGeneration.Backward, False,
        )
        counter = ql.Thirty360(ql.Thirty360.BondBasis) if kind == "30/360" else ql.ActualActual(ql.ActualActual.ISMA)
        rate, y = rng.uniform(0.0, 0.12), rng.uniform(-0.01, 0.15)
        settlement = issue + rng.randint(0, maturity - issue - 1)
        bond = ql.FixedRateBond(0, 100.0, dates, [rate], counter, ql.Unadjusted, 100.0, issue)
        often = {1: ql.Annual, 2: ql.Semiannual, 4: ql.Quarterly}[frequency]
        terms = (counter, ql.Compounded, often)
        interest = ql.InterestRate(y, *terms)
        functions = ql.BondFunctions
        clean = functions.cleanPrice(bond, y, *terms, settlement)
        count -= 1
        yield ",".join(
            [issue.ISO(), maturity.ISO(), repr(rate), repr(100.0), str(frequency), kind, "false", settlement.ISO()]
            + ["street", repr(y)]
            + [repr(x) for x in (
                clean, clean + bond.accruedAmount(settlement), bond.accruedAmount(settlement),
                functions.duration(bond, interest, ql.Duration.Macaulay, settlement),
                functions.duration(bond, interest, ql.Duration.Modified, settlement),
                functions.convexity(bond, interest, settlement), clean,
                functions.bondYield(bond, ql.BondPrice(clean, ql.BondPrice.Clean), *terms, settlement, 1e-14, 1000, 0.05),
            )]
        )


def write(name, tool, rows):
    header = (
        "issue_date,maturity_date,coupon_rate,face_value,frequency,day_count,end_of_month,settlement_date,"
        "convention,yield,clean_price,dirty_price,accrued_interest,macaulay_duration,modified_duration,"
        "convexity,quoted_price,yield_of_quoted"
    )
    (DIRECTORY / f"{name}.csv").write_text("\n".join([f"# {tool}, {COMMAND}", header, *rows]) + "\n")


write("bond_yields", f"mpmath {mpmath.__version__}", rows(random.Random(3), 240))
write("bond_yields_quantlib", f"QuantLib {ql.__version__}", quantlib_rows(random.Random(4), 150))
