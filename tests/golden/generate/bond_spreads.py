"""Golden rows of bonds by years, key rates, zero-coupon bonds, z-spreads and asset swaps.

Needs: pip install mpmath QuantLib. Run from the root of the repository:
    python3 tests/golden/generate/bond_spreads.py
"""

import datetime
import random
from fractions import Fraction
from pathlib import Path

import mpmath
import QuantLib as ql
from mpmath import mp, mpf

mp.dps = 50
GOLDEN = Path("tests/golden")
COMMAND = "python3 tests/golden/generate/bond_spreads.py"
MPMATH = f"mpmath {mpmath.__version__} at {mp.dps} digits"
QUANTLIB = f"QuantLib {ql.__version__}"


def write(name, columns, rows, what, tool):
    with open(GOLDEN / f"{name}.csv", "w", encoding="utf-8") as file:
        file.write(f"# {what}; {tool}; {datetime.date.today()}; {COMMAND}\n")
        file.write(",".join(columns) + "\n")
        for row in rows:
            file.write(",".join(text(value) for value in row) + "\n")


def text(value):
    if isinstance(value, (list, tuple)):
        return ";".join(text(item) for item in value)
    return mpmath.nstr(value, 25) if isinstance(value, mpf) else str(value)


def times_of(maturity, frequency):
    """The times of coupons, in periods counted back from the maturity."""
    periods = Fraction(maturity).limit_denominator(10**6) * frequency
    count = -(-periods.numerator // periods.denominator)
    return [periods - count + k for k in range(1, count + 1)]


def exact(fraction):
    return mpf(fraction.numerator) / fraction.denominator


def level_bonds():
    rng = random.Random(20260505)
    rows = []
    for _ in range(200):
        frequency = rng.choice([1, 2, 3, 4, 6, 12])
        maturity = rng.choice([Fraction(rng.randrange(1, 400), 12), Fraction(rng.randrange(1, 4000), 100), Fraction(rng.randrange(1, 40))])
        coupon, face = rng.choice([0.0, rng.uniform(0, 0.15), rng.uniform(-0.01, 0.3)]), rng.choice([100.0, 1.0, 1e6, 1000.0])
        rate = rng.choice([0.0, rng.uniform(0, 0.2), rng.uniform(-0.05, 0.01), 1.5])
        times = [exact(time) for time in times_of(maturity, frequency)]
        payments = [mpf(face) * mpf(coupon) / frequency] * len(times)
        payments[-1] += mpf(face)
        price = lambda y: mpmath.fsum(c * (1 + y / frequency) ** -t for c, t in zip(payments, times))
        value, first, second = (mpmath.diff(price, mpf(rate), order) for order in range(3))
        accrued = mpf(face) * mpf(coupon) / frequency * (1 - times[0])
        modified = -first / value
        rows.append([coupon, float(maturity), face, frequency, rate, value, accrued, modified,
                     modified * (1 + mpf(rate) / frequency), second / value])
    columns = ["coupon", "maturity", "face", "frequency", "ytm", "price", "accrued", "modified", "macaulay", "convexity"]
    write("level_bonds", columns, rows, "bonds by years to maturity, numerical derivatives", MPMATH)


TENORS = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0]


def hat(index, time):
    """The hat function of a tenor."""
    tenors = [mpf(tenor) for tenor in TENORS]
    here = tenors[index]
    if time <= here:
        if index == 0:
            return mpf(1)
        left = tenors[index - 1]
        return max(mpf(0), (time - left) / (here - left))
    if index == len(tenors) - 1:
        return mpf(1)
    return max(mpf(0), (tenors[index + 1] - time) / (tenors[index + 1] - here))


def key_rates():
    """Every payment's yield is moved by the hat function of a tenor, and the price differentiated."""
    rng = random.Random(20260606)
    rows = []
    for _ in range(60):
        frequency = rng.choice([1, 2, 4])
        months = 12 // frequency
        years = rng.randrange(1, 45)
        maturity = datetime.date(2030 + years, rng.randrange(1, 13), 15)
        back = lambda k: ql.NullCalendar().advance(ql.Date(maturity.day, maturity.month, maturity.year), -k * months, ql.Months)
        count = years * frequency
        settlement = back(count) + rng.randrange(0, 25 * months)
        start, end = back(count), back(count - 1)
        part = mpf(end - settlement) / (end - start)
        coupon, rate = rng.uniform(0, 0.12), rng.uniform(-0.01, 0.15)
        payments = [100 * mpf(coupon) / frequency] * count
        payments[-1] += 100
        losses = []
        for index in range(len(TENORS)):
            def price(bump):
                total = mpf(0)
                for k, payment in enumerate(payments):
                    periods = part + k
                    y = mpf(rate) + bump * hat(index, periods / frequency)
                    total += payment * (1 + y / frequency) ** -periods
                return total
            losses.append(-mpmath.diff(price, 0) / 10000)
        iso = lambda date: f"{date.year():04}-{date.month():02}-{date.dayOfMonth():02}"
        rows.append([iso(start), maturity, iso(settlement), coupon, frequency, rate, losses])
    columns = ["issue_date", "maturity_date", "settlement_date", "coupon_rate", "frequency", "yield", "dv01s"]
    write("key_rates", columns, rows, "key-rate DV01s of bonds by ACT/ACT ICMA, numerical derivatives", MPMATH)


COUNTS = {"simple": 0, "annual": 1, "semiannual": 2, "quarterly": 4, "monthly": 12, "continuous": None}


def factor(compounding, rate, time):
    count = COUNTS[compounding]
    if count is None:
        return mpmath.exp(-rate * time)
    if count == 0:
        return 1 / (1 + rate * time)
    return (1 + rate / count) ** (-count * time)


def zero_coupon_bonds():
    rng = random.Random(20260707)
    counters = {"ACT/365": ql.Actual365Fixed(), "ACT/360": ql.Actual360(), "30/360": ql.Thirty360(ql.Thirty360.BondBasis),
                "ACT/ACT ISDA": ql.ActualActual(ql.ActualActual.ISDA), "30E/360": ql.Thirty360(ql.Thirty360.EurobondBasis)}
    rows = []
    for _ in range(150):
        issue = datetime.date(rng.randrange(1990, 2040), rng.randrange(1, 13), rng.randrange(1, 29))
        maturity = issue + datetime.timedelta(days=rng.randrange(30, 15000))
        settlement = issue + datetime.timedelta(days=rng.randrange(0, (maturity - issue).days))
        name, compounding = rng.choice(list(counters)), rng.choice(list(COUNTS))
        face, rate = rng.choice([100.0, 1e6]), rng.uniform(-0.01, 0.2)
        day = lambda date: ql.Date(date.day, date.month, date.year)
        scale = {"ACT/365": 365, "ACT/360": 360, "30/360": 360, "30E/360": 360}.get(name)
        time = mpf(counters[name].yearFraction(day(settlement), day(maturity)))
        time = mpmath.nint(time * scale) / scale if scale else time
        price = lambda y: mpf(face) * factor(compounding, y, time)
        value, first, second = (mpmath.diff(price, mpf(rate), order) for order in range(3))
        rows.append([issue, maturity, settlement, name, face, rate, compounding, time, value, -first / value, second / value])
    columns = ["issue_date", "maturity_date", "settlement_date", "day_count", "face", "yield", "compounding", "time", "price",
               "modified", "convexity"]
    write("zero_coupon_bonds", columns, rows, "zero-coupon bonds, numerical derivatives", f"{MPMATH} and {QUANTLIB} (year fractions)")


def z_spreads():
    rng = random.Random(20260808)
    rows = []
    for index in range(180):
        compounding = list(COUNTS)[index % 6]
        count = rng.randrange(1, 61)
        times = [rng.choice([0.25, 0.5, 1.0]) * (k + rng.choice([1.0, 0.37])) for k in range(count)]
        level = rng.uniform(-0.01, 0.08)
        rates = [round(level + 0.0005 * time, 6) for time in times]
        cashflows = [round(rng.uniform(0, 8), 3) for _ in range(count)]
        cashflows[-1] += 100
        spread = rng.choice([rng.uniform(-0.01, 0.05), rng.uniform(0, 0.5), 1e-7])
        value = lambda z: mpmath.fsum(mpf(c) * factor(compounding, mpf(r) + z, mpf(t)) for c, t, r in zip(cashflows, times, rates))
        price = float(value(mpf(spread)))
        z = mpmath.findroot(lambda z: value(z) - mpf(price), spread)
        fall = -mpmath.diff(value, z)
        rows.append([price, cashflows, times, rates, compounding, z, fall])
    columns = ["price", "cashflows", "times", "base_rates", "compounding", "z_spread", "fall"]
    write("z_spreads", columns, rows, "spreads over zero rates", MPMATH)


def z_spreads_quantlib():
    rng = random.Random(20260909)
    rows = []
    today = ql.Date(15, 1, 2026)
    ql.Settings.instance().evaluationDate = today
    counter = ql.Actual365Fixed()
    for _ in range(60):
        count = rng.randrange(2, 40)
        days = [365 * k // 2 for k in range(1, count + 1)]
        dates = [today + d for d in days]
        rates = [round(rng.uniform(0.0, 0.06), 5) for _ in days]
        curve = ql.ZeroCurve([today] + dates, [rates[0]] + rates, counter, ql.NullCalendar(), ql.Linear(), ql.Continuous)
        amounts = [round(rng.uniform(0.5, 6), 2) for _ in days]
        amounts[-1] += 100
        leg = ql.Leg([ql.SimpleCashFlow(amount, date) for amount, date in zip(amounts, dates)])
        price = round(rng.uniform(70, 130), 3)
        spread = ql.CashFlows.zSpread(leg, price, curve, counter, ql.Continuous, ql.Annual, False, today, today, 1e-14, 1000, 0.01)
        rows.append([price, amounts, [counter.yearFraction(today, date) for date in dates], rates, spread])
    columns = ["price", "cashflows", "times", "base_rates", "z_spread"]
    write("z_spreads_quantlib", columns, rows, "spreads over zero rates as in QuantLib (CashFlows.zSpread)", QUANTLIB)


def interpolated(times, rates, time):
    """Linear in the zero rate, flat beyond the ends."""
    if time <= mpf(times[0]):
        return mpf(rates[0])
    for (t0, r0), (t1, r1) in zip(zip(times, rates), zip(times[1:], rates[1:])):
        if time <= mpf(t1):
            return mpf(r0) + (mpf(r1) - mpf(r0)) * (time - mpf(t0)) / (mpf(t1) - mpf(t0))
    return mpf(rates[-1])


def asset_swaps():
    rng = random.Random(20261010)
    rows = []
    for _ in range(150):
        frequency, floating = rng.choice([1, 2, 4, 12]), rng.choice([1, 2, 4, 12])
        maturity = rng.choice([Fraction(rng.randrange(1, 400), 12), Fraction(rng.randrange(1, 31))])
        times = sorted(rng.sample([0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0], rng.randrange(1, 9)))
        rates = [round(rng.uniform(-0.01, 0.07), 5) for _ in times]
        coupon, face, price = rng.uniform(0, 0.1), rng.choice([100.0, 1000.0]), rng.uniform(0.6, 1.4)
        price *= face
        discount = lambda time: mpmath.exp(-interpolated(times, rates, time) * time)
        payments = [exact(periods) / frequency for periods in times_of(maturity, frequency)]
        value = mpf(face) * (mpf(coupon) / frequency * mpmath.fsum(map(discount, payments)) + discount(payments[-1]))
        resets = [exact(periods) / floating for periods in times_of(maturity, floating)]
        annuity = mpmath.fsum((b - a) * discount(b) for a, b in zip([mpf(0)] + resets, resets))
        gain = (value - mpf(price)) / annuity
        rows.append([price, coupon, float(maturity), times, rates, face, frequency, floating, gain / mpf(face), gain / mpf(price), value, annuity])
    columns = ["price", "coupon", "maturity", "base_times", "base_rates", "face", "frequency", "floating_frequency", "par_spread",
               "market_value_spread", "curve_value", "annuity"]
    write("asset_swaps", columns, rows, "spreads of asset swaps", MPMATH)


def asset_swaps_quantlib():
    """Whole periods of months of 30 days on both legs and the curve, so that dates become exact times."""
    rng = random.Random(20261111)
    rows = []
    today = ql.Date(15, 1, 2026)
    ql.Settings.instance().evaluationDate = today
    counter, calendar = ql.Thirty360(ql.Thirty360.BondBasis), ql.NullCalendar()
    for _ in range(60):
        years, frequency = rng.randrange(1, 21), rng.choice([1, 2])
        times = list(range(1, 22))
        rates = [round(rng.uniform(0.0, 0.06), 5) for _ in times]
        dates = [today + ql.Period(k, ql.Years) for k in times]
        curve = ql.ZeroCurve([today] + dates, [rates[0]] + rates, counter, calendar, ql.Linear(), ql.Continuous)
        handle = ql.YieldTermStructureHandle(curve)
        maturity = today + ql.Period(years, ql.Years)
        coupon, price = rng.uniform(0, 0.1), rng.uniform(70, 130)
        schedule = ql.Schedule(today, maturity, ql.Period(12 // frequency, ql.Months), calendar, ql.Unadjusted, ql.Unadjusted,
                               ql.DateGeneration.Backward, False)
        bond = ql.FixedRateBond(0, 100.0, schedule, [coupon], counter, ql.Unadjusted, 100.0, today)
        index = ql.IborIndex("any", ql.Period(6, ql.Months), 0, ql.EURCurrency(), calendar, ql.Unadjusted, False, counter, handle)
        floating = ql.Schedule(today, maturity, ql.Period(6, ql.Months), calendar, ql.Unadjusted, ql.Unadjusted, ql.DateGeneration.Backward, False)
        for par in [True, False]:
            swap = ql.AssetSwap(True, bond, price, index, 0.0, floating, counter, par)
            swap.setPricingEngine(ql.DiscountingSwapEngine(handle, True, today, today))
            rows.append([price, coupon, years, times, rates, frequency, str(par).lower(), swap.fairSpread()])
    columns = ["price", "coupon", "maturity", "base_times", "base_rates", "frequency", "is_par", "spread"]
    write("asset_swaps_quantlib", columns, rows, "spreads of asset swaps as in QuantLib (AssetSwap), floating twice a year", QUANTLIB)


level_bonds()
key_rates()
zero_coupon_bonds()
z_spreads()
z_spreads_quantlib()
asset_swaps()
asset_swaps_quantlib()
