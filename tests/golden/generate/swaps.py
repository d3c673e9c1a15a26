"""Writes ../swaps.csv, ../forward_rate_agreements.csv, ../deposits.csv and ../currency_forwards.csv
(mpmath, 50 digits) and ../swaps_quantlib.csv.

Needs mpmath and QuantLib. The dates of the first files come from QuantLib's calendars, year fractions
are exact, and curves are evaluated in 50 digits. The last file is QuantLib's own engines, on curves
with a node at every date that they read, whose discount factors are those of the documented time axis.
"""
import calendar
import random
from fractions import Fraction
from pathlib import Path

import mpmath
import QuantLib as ql
from mpmath import mpf

DIRECTORY = Path(__file__).parent.parent
COMMAND = "date 2026-11-22, python tests/golden/generate/swaps.py"
BASIS_POINT = mpf("0.0001")
CALENDARS = {"none": ql.NullCalendar(), "TARGET": ql.TARGET(), "UK": ql.UnitedKingdom()}
CONVENTIONS = {
    "unadjusted": ql.Unadjusted,
    "modified following": ql.ModifiedFollowing,
    "following": ql.Following,
    "preceding": ql.Preceding,
}
DAY_COUNTS = ["ACT/360", "ACT/365", "30/360", "30E/360", "ACT/ACT ISDA"]
INDICES = {"SOFR": "ACT/360", "SONIA": "ACT/365", "ESTR": "ACT/360", "CORRA": "ACT/365"}
mpmath.mp.dps = 50


def number(value):
    return mpmath.nstr(value, 25)


def exact(value):
    return mpf(value.numerator) / value.denominator


def fraction(kind, start, end):
    days = end - start
    if kind == "ACT/360":
        return Fraction(days, 360)
    if kind == "ACT/365":
        return Fraction(days, 365)
    if kind == "ACT/ACT ISDA":
        found = Fraction(0)
        for year in range(start.year(), end.year() + 1):
            first, last = max(start, ql.Date(1, 1, year)), min(end, ql.Date(1, 1, year + 1))
            found += Fraction(last - first, 366 if calendar.isleap(year) else 365)
        return found
    d1, d2 = min(start.dayOfMonth(), 30), end.dayOfMonth()
    if kind == "30E/360" or d1 == 30:
        d2 = min(d2, 30)
    return Fraction(360 * (end.year() - start.year()) + 30 * (end.month() - start.month()) + d2 - d1, 360)


def years(reference, date):
    """Whole months are twelfths of a year, and the days of the rest 365ths."""
    months = 12 * (date.year() - reference.year()) + date.month() - reference.month()
    if reference + ql.Period(months, ql.Months) > date:
        months -= 1
    return exact(Fraction(months, 12) + Fraction(date - (reference + ql.Period(months, ql.Months)), 365))


class Curve:
    def __init__(self, reference, tenors, rates, shape):
        self.reference, self.tenors, self.shape = reference, [mpf(x) for x in tenors], shape
        self.rates = [mpf(x) for x in rates]

    def moved(self, size, pillar=None):
        rates = [x + (size if pillar in (None, i) else 0) for i, x in enumerate(self.rates)]
        return Curve(self.reference, self.tenors, rates, self.shape)

    def exponent(self, date):
        time, tenors, rates = years(self.reference, date), self.tenors, self.rates
        for tenor, rate in zip(tenors, rates):
            if abs(time - tenor) < mpf(10) ** -12:
                return rate * tenor
        if self.shape == "linear":
            if time <= tenors[0]:
                return rates[0] * time
            if time >= tenors[-1]:
                return rates[-1] * time
            i = max(k for k in range(len(tenors)) if tenors[k] < time)
            weight = (time - tenors[i]) / (tenors[i + 1] - tenors[i])
            return (rates[i] + weight * (rates[i + 1] - rates[i])) * time
        times, exponents = [mpf(0)] + tenors, [mpf(0)] + [r * t for r, t in zip(rates, tenors)]
        i = min(max(k for k in range(len(times)) if times[k] <= time), len(times) - 2)
        slope = (exponents[i + 1] - exponents[i]) / (times[i + 1] - times[i])
        return exponents[i] + slope * (time - times[i])

    def factor(self, date):
        return mpmath.exp(-self.exponent(date))


def schedule(effective, maturity, frequency, holidays, convention):
    dates, count = [maturity], 0
    while dates[0] > effective:
        count += 1
        dates.insert(0, maturity - ql.Period(count * 12 // frequency, ql.Months))
    dates[0] = effective
    moved = []
    for date in dates:
        date = CALENDARS[holidays].adjust(date, CONVENTIONS[convention])
        if not moved or date > moved[-1]:
            moved.append(date)
    return moved


def payment(date, holidays, lag):
    for _ in range(lag):
        date = date + 1
        while not CALENDARS[holidays].isBusinessDay(date):
            date = date + 1
    return date


def flows(row, curves, leg):
    """The payments of a leg that are still due, as (year fraction, interest on one unit, factor)."""
    projection, discount = curves
    frequency = row["frequency"] if leg == "fixed" else row["floating_frequency"]
    kind = row["day_count"] if leg == "fixed" else row["floating_day_count"]
    dates = schedule(row["effective"], row["maturity"], frequency, row["calendar"], row["convention"])
    today, found = row["reference"], []
    for start, end in zip(dates, dates[1:]):
        paid = payment(end, row["calendar"], row["payment_lag"])
        if paid <= today:
            continue
        part = exact(fraction(kind, start, end))
        if leg == "fixed":
            interest = mpf(row["fixed_rate"]) * part
        elif row["kind"] == "irs" and start <= today and row["fixing"] != "":
            interest = mpf(row["fixing"]) * part
        elif row["kind"] == "ois" and start < today and row["fixing"] != "":
            earned = mpf(row["fixing"]) * exact(fraction(kind, start, min(today, end)))
            interest = earned if end <= today else (1 + earned) / projection.factor(end) - 1
        elif start < today:
            last = max(end, today + 1)
            interest = exact(Fraction(end - start, last - today)) * (1 / projection.factor(last) - 1)
        else:
            interest = projection.factor(start) / projection.factor(end) - 1
        if leg != "fixed":
            interest += mpf(row["floating_spread"]) * part
        found.append((part, interest, discount.factor(paid)))
    return found


def value(row, curves):
    notional, sign = mpf(row["notional"]), 1 if row["side"] == "payer" else -1
    fixed, floating = flows(row, curves, "fixed"), flows(row, curves, "floating")
    annuity = sum(part * factor for part, _, factor in fixed)
    fixed_value = notional * sum(interest * factor for _, interest, factor in fixed)
    floating_value = notional * sum(interest * factor for _, interest, factor in floating)
    npv = sign * (floating_value - fixed_value)
    return npv, floating_value / (notional * annuity), annuity, fixed_value, floating_value


def central(row, curves, moved):
    up, down = [value(row, [c.moved(s * BASIS_POINT, p) if on else c for c, (on, p) in zip(curves, moved)])[0]
                for s in (1, -1)]
    return (up - down) / 2


def iso(date):
    return date.ISO()


def swap_row(draw, kind):
    reference = ql.Date(15, 1, 2024) + draw.randrange(800)
    start = draw.choice([0, 2, draw.randrange(400), -draw.randrange(900)])
    length = draw.choice([draw.randrange(40, 4000), 365 * draw.randrange(1, 30)])
    effective = reference + start
    maturity = max(effective, reference) + length
    holidays, convention = draw.choice([("none", "unadjusted"), ("TARGET", "modified following"), ("UK", "following"), ("TARGET", "preceding")])
    index = draw.choice(sorted(INDICES))
    frequency = draw.choice([1, 2, 4])
    day_count = draw.choice(DAY_COUNTS)
    tenors = sorted(draw.sample([0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0], draw.randrange(1, 7)))
    level = draw.choice([-0.005, 0.02, 0.05, 0.11])
    rates = [round(level + draw.uniform(-0.01, 0.01), 6) for _ in tenors]
    dual = draw.random() < 0.5
    return {
        "kind": kind, "side": draw.choice(["payer", "receiver"]), "notional": draw.choice([1.0, 1e6, 12345678.9]),
        "effective": effective, "maturity": maturity, "fixed_rate": round(level + draw.uniform(-0.01, 0.01), 5),
        "floating_spread": draw.choice([0.0, 0.0, 0.0025]), "frequency": frequency, "day_count": day_count,
        "floating_frequency": frequency if kind == "ois" else draw.choice([1, 2, 4, 12]),
        "floating_day_count": INDICES[index] if kind == "ois" else draw.choice(DAY_COUNTS[:3]),
        "index": index if kind == "ois" else "", "calendar": holidays, "convention": convention,
        "payment_lag": draw.choice([0, 1, 2, 5]) if kind == "ois" else 0, "reference": reference,
        "tenors": tenors, "rates": rates,
        "discount_tenors": tenors[:3] if dual else [], "discount_rates": [round(r - 0.002, 6) for r in rates[:3]] if dual else [],
        "interpolation": draw.choice(["linear", "log_linear"]),
        "fixing": draw.choice(["", round(level + 0.001, 5)]),
    }


def curves_of(row):
    projection = Curve(row["reference"], row["tenors"], row["rates"], row["interpolation"])
    if not row["discount_tenors"]:
        return [projection, projection]
    return [projection, Curve(row["reference"], row["discount_tenors"], row["discount_rates"], row["interpolation"])]


def risk(row, curves):
    single = not row["discount_tenors"]
    dv01 = central(row, curves, [(True, None), (True, None)])
    buckets = []
    for role in range(1 if single else 2):
        for pillar in range(len(curves[role].tenors)):
            moved = [(single or role == 0, pillar), (single or role == 1, pillar)]
            buckets.append(central(row, curves, moved))
    return dv01, buckets


COLUMNS = ["kind", "side", "notional", "effective", "maturity", "fixed_rate", "floating_spread", "frequency", "day_count",
           "floating_frequency", "floating_day_count", "index", "calendar", "convention", "payment_lag", "reference", "tenors",
           "rates", "discount_tenors", "discount_rates", "interpolation", "fixing"]


def written(row):
    def text(item):
        if isinstance(item, ql.Date):
            return iso(item)
        return " ".join(repr(x) for x in item) if isinstance(item, list) else repr(item) if isinstance(item, float) else str(item)
    return [text(row[name]) for name in COLUMNS]


def write(name, tool, header, rows):
    lines = [f"# {tool}, {COMMAND}", ",".join(header)] + [",".join(row) for row in rows]
    (DIRECTORY / name).write_text("\n".join(lines) + "\n")


def swaps(draw):
    rows = []
    for i in range(160):
        row = swap_row(draw, "irs" if i % 2 else "ois")
        curves = curves_of(row)
        npv, par, annuity, fixed_value, floating_value = value(row, curves)
        dv01, buckets = risk(row, curves)
        rows.append(written(row) + [number(x) for x in (npv, par, annuity, fixed_value, floating_value, dv01)]
                    + [" ".join(number(x) for x in buckets)])
    header = COLUMNS + ["npv", "par_rate", "annuity", "fixed_value", "floating_value", "dv01", "buckets"]
    write("swaps.csv", "mpmath 1.4.1", header, rows)


def day_counter(kind):
    return {"ACT/360": ql.Actual360(), "ACT/365": ql.Actual365Fixed(), "30/360": ql.Thirty360(ql.Thirty360.BondBasis),
            "30E/360": ql.Thirty360(ql.Thirty360.European), "ACT/ACT ISDA": ql.ActualActual(ql.ActualActual.ISDA)}[kind]


def handle(curve, dates):
    """QuantLib's curve with a node at every date, so that it interpolates nothing."""
    dates = sorted({curve.reference} | {d for d in dates if d > curve.reference})
    factors = [float(curve.factor(d)) for d in dates]
    found = ql.DiscountCurve(dates, factors, ql.Actual365Fixed(), ql.NullCalendar())
    found.enableExtrapolation()
    return ql.YieldTermStructureHandle(found)


def quantlib_swap(row, curves):
    ql.Settings.instance().evaluationDate = row["reference"]
    legs = {}
    for leg, frequency in (("fixed", row["frequency"]), ("floating", row["floating_frequency"])):
        dates = schedule(row["effective"], row["maturity"], frequency, row["calendar"], row["convention"])
        legs[leg] = ql.Schedule(dates)
    everything = [d for leg in legs.values() for d in leg.dates()]
    everything += [payment(d, row["calendar"], row["payment_lag"]) for d in everything]
    projection, discount = (handle(curve, everything) for curve in curves)
    kind = ql.Swap.Payer if row["side"] == "payer" else ql.Swap.Receiver
    fixed_counter, counter = day_counter(row["day_count"]), day_counter(row["floating_day_count"])
    if row["kind"] == "irs":
        index = ql.IborIndex("index", ql.Period(12 // row["floating_frequency"], ql.Months), 0, ql.EURCurrency(),
                             ql.NullCalendar(), ql.Unadjusted, False, counter, projection)
        if row["fixing"] != "":
            for date in legs["floating"].dates():
                if date <= row["reference"]:
                    index.addFixing(date, row["fixing"], True)
        swap = ql.VanillaSwap(kind, row["notional"], legs["fixed"], row["fixed_rate"], fixed_counter, legs["floating"], index,
                              row["floating_spread"], counter, ql.Unadjusted)
    else:
        index = ql.OvernightIndex("overnight", 0, ql.USDCurrency(), ql.NullCalendar(), counter, projection)
        swap = ql.OvernightIndexedSwap(kind, row["notional"], legs["fixed"], row["fixed_rate"], fixed_counter, index,
                                       row["floating_spread"], row["payment_lag"], ql.Unadjusted, CALENDARS[row["calendar"]], False)
    swap.setPricingEngine(ql.DiscountingSwapEngine(discount))
    return swap.NPV(), swap.fairRate(), abs(swap.legBPS(0)) * 10_000 / row["notional"]


def quantlib(draw):
    rows = []
    while len(rows) < 100:
        row = swap_row(draw, "irs" if len(rows) % 2 else "ois")
        begun = row["effective"] <= row["reference"]
        if begun and (row["kind"] == "ois" or row["fixing"] == ""):
            # QuantLib needs past fixings of every day.
            row["effective"] = row["reference"] + draw.randrange(0, 30)
        if row["effective"] > row["reference"]:
            row["fixing"] = ""
        if row["kind"] == "irs" and row["effective"] == row["reference"] and row["fixing"] == "":
            row["effective"] = row["reference"] + 1
        if row["kind"] == "ois":
            row["effective"] = max(row["effective"], row["reference"] + 1)
            # QuantLib's spread is added to the averaged daily rates otherwise.
            row["floating_spread"] = 0.0
            row["fixing"] = ""
        if row["maturity"] <= row["effective"] + 31:
            continue
        # Dates that the convention moves before the reference date would need past fixings.
        first = schedule(row["effective"], row["maturity"], 1, row["calendar"], row["convention"])[0]
        if first <= row["reference"] and row["fixing"] == "":
            continue
        row["day_count"] = draw.choice(["ACT/360", "ACT/365", "30/360", "30E/360"])
        ql.IndexManager.instance().clearHistories()
        found = quantlib_swap(row, curves_of(row))
        rows.append(written(row) + [repr(x) for x in found])
    write("swaps_quantlib.csv", "QuantLib 1.44", COLUMNS + ["npv", "par_rate", "annuity"], rows)


def agreements(draw):
    rows = []
    for _ in range(120):
        reference = ql.Date(15, 1, 2024) + draw.randrange(800)
        trade = reference - draw.choice([0, 0, draw.randrange(60)])
        start = draw.randrange(0, 25) + (3 if trade < reference else 0)
        end = start + draw.choice([1, 3, 6, 12])
        holidays, convention = draw.choice([("none", "unadjusted"), ("TARGET", "modified following"), ("UK", "modified following")])
        lag, day_count = draw.choice([0, 2]), draw.choice(["ACT/360", "ACT/365", "30/360"])
        settlement = payment(CALENDARS[holidays].adjust(trade, ql.Following), holidays, lag)
        first, last = (CALENDARS[holidays].adjust(settlement + ql.Period(m, ql.Months), CONVENTIONS[convention]) for m in (start, end))
        tenors = sorted(draw.sample([0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0], draw.randrange(1, 6)))
        level = draw.choice([-0.005, 0.02, 0.05, 0.11])
        rates = [round(level + draw.uniform(-0.01, 0.01), 6) for _ in tenors]
        notional, rate, side = draw.choice([1.0, 1e6]), round(level + draw.uniform(-0.01, 0.01), 5), draw.choice(["payer", "receiver"])
        shape, dual = draw.choice(["linear", "log_linear"]), draw.random() < 0.4
        discount = [round(r - 0.003, 6) for r in rates] if dual else []
        sign, part = (1 if side == "payer" else -1), exact(fraction(day_count, first, last))

        def valued(size):
            projection = Curve(reference, tenors, rates, shape).moved(size)
            other = Curve(reference, tenors, discount, shape).moved(size) if dual else projection
            forward = (projection.factor(first) / projection.factor(last) - 1) / part
            settled = sign * mpf(notional) * (forward - mpf(rate)) * part / (1 + forward * part)
            return settled * other.factor(first), forward, settled

        npv, forward, settled = valued(0)
        dv01 = (valued(BASIS_POINT)[0] - valued(-BASIS_POINT)[0]) / 2
        rows.append([side, repr(notional), repr(rate), iso(trade), str(start), str(end), day_count, holidays, convention, str(lag),
                     iso(reference), " ".join(map(repr, tenors)), " ".join(map(repr, rates)), " ".join(map(repr, discount)), shape,
                     iso(first), iso(last)] + [number(x) for x in (npv, forward, settled, dv01)])
    header = ["side", "notional", "fixed_rate", "trade_date", "start_months", "end_months", "day_count", "calendar", "convention",
              "settlement_days", "reference", "tenors", "rates", "discount_rates", "interpolation", "start_date", "end_date", "npv",
              "break_even_rate", "settlement_amount", "dv01"]
    write("forward_rate_agreements.csv", "mpmath 1.4.1", header, rows)


def deposits(draw):
    rows = []
    for _ in range(120):
        start = ql.Date(15, 1, 2024) + draw.randrange(800)
        end = start + draw.choice([1, draw.randrange(2, 400), draw.randrange(400, 4000)])
        day_count, notional = draw.choice(DAY_COUNTS), draw.choice([1.0, 1e6, 333.33])
        rate = draw.choice([0.0, 1e-9, round(draw.uniform(-0.02, 0.2), 5), 1.9])
        part = fraction(day_count, start, end)
        if part <= 0:
            continue
        part = exact(part)
        growth = 1 + mpf(rate) * part
        continuous = mpmath.log(growth) / part
        rows.append([iso(start), iso(end), repr(notional), repr(rate), day_count] + [number(x) for x in (
            part, mpf(notional) * mpf(rate) * part, mpf(notional) * growth, 1 / growth, continuous, mpmath.expm1(continuous))])
    header = ["start_date", "maturity_date", "notional", "rate", "day_count", "year_fraction", "interest", "maturity_value",
              "discount_factor", "continuous_rate", "effective_annual_rate"]
    write("deposits.csv", "mpmath 1.4.1", header, rows)


def currency_forwards(draw):
    rows, counts = [], {"annual": 1, "semiannual": 2, "quarterly": 4, "monthly": 12}
    for _ in range(160):
        spot, pair = draw.choice([(1.1, "EURUSD"), (151.23, "USDJPY"), (0.0067, "JPYUSD"), (17.5, "USDMXN")])
        base = draw.choice([0.0, round(draw.uniform(-0.02, 0.2), 5)])
        quote = draw.choice([base, base + 1e-12, round(draw.uniform(-0.02, 0.2), 5)])
        time = draw.choice([0.0, 1e-6, 7 / 365, round(draw.uniform(0.05, 2), 4), 30.0])
        kind = draw.choice(["continuous", "simple"] + sorted(counts))
        contract = draw.choice(["", repr(spot), repr(spot * 1.01)])

        def growth(rate):
            rate, t = mpf(rate), mpf(time)
            if kind == "continuous":
                return mpmath.exp(rate * t)
            return 1 + rate * t if kind == "simple" else (1 + rate / counts[kind]) ** (counts[kind] * t)

        notional = draw.choice([1.0, 1e6])
        forward = mpf(spot) * growth(quote) / growth(base)
        held = (forward - mpf(float(contract))) / growth(quote) * mpf(notional) if contract else mpf(0)
        rows.append([pair, repr(spot), repr(base), repr(quote), repr(time), repr(notional), kind, contract] + [number(x) for x in (
            forward, forward - mpf(spot), 1 / growth(base), 1 / growth(quote), held)])
    header = ["pair", "spot_rate", "base_rate", "quote_rate", "time_to_maturity", "notional", "compounding", "contract_rate",
              "forward_rate", "forward_points", "base_discount_factor", "quote_discount_factor", "npv_quote"]
    write("currency_forwards.csv", "mpmath 1.4.1", header, rows)


def main():
    draw = random.Random(20261122)
    swaps(draw)
    agreements(draw)
    deposits(draw)
    currency_forwards(draw)
    quantlib(draw)


main()
