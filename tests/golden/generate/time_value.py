"""Golden rows of the time value of money: net present values, internal rates, loans.

Needs: pip install mpmath. Run from the root of the repository:
    python3 tests/golden/generate/time_value.py
"""

import datetime
import random
from fractions import Fraction
from pathlib import Path

import mpmath
from mpmath import mp, mpf

mp.dps = 50
GOLDEN = Path("tests/golden")
COMMAND = "python3 tests/golden/generate/time_value.py"


def write(name, columns, rows, what):
    with open(GOLDEN / f"{name}.csv", "w", encoding="utf-8") as file:
        today = datetime.date.today()
        file.write(f"# {what}; mpmath {mpmath.__version__} at {mp.dps} digits; {today}; {COMMAND}\n")
        file.write(",".join(columns) + "\n")
        for row in rows:
            file.write(",".join(text(value) for value in row) + "\n")


def text(value):
    if isinstance(value, (list, tuple)):
        return ";".join(text(item) for item in value)
    return mpmath.nstr(value, 25) if isinstance(value, mpf) else str(value)


def growth_logarithms(amounts, times):
    """All x with sum a exp(-t x) = 0, by Rolle: between two roots of the derivative lies one at most."""
    terms = {}
    for amount, time in zip(amounts, times):
        terms[time] = terms.get(time, mpf(0)) + mpf(amount)
    terms = sorted((time, amount) for time, amount in terms.items() if amount != 0)
    return exponential_roots(terms)


def exponential_roots(terms):
    if len(terms) < 2:
        return []
    # Without the first time the derivative has one term less.
    first = terms[0][0]
    signs = [amount > 0 for _, amount in terms]
    changes = sum(a != b for a, b in zip(signs, signs[1:]))
    derivative = [(time - first, -(time - first) * amount) for time, amount in terms[1:]]
    # With one change of sign there is one root, and no derivative is needed.
    extrema = exponential_roots(derivative) if changes > 1 else []
    bounds = [mpf(-45)] + [extremum for extremum in extrema if -45 < extremum < 720] + [mpf(720)]
    value = lambda x: mpmath.fsum(amount * mpmath.exp(-(time - first) * x) for time, amount in terms)
    slope = lambda x: mpmath.fsum(-(time - first) * amount * mpmath.exp(-(time - first) * x) for time, amount in terms)
    pairs = zip(bounds, bounds[1:])
    return [root(value, slope, low, high) for low, high in pairs if value(low) * value(high) < 0]


def root(value, slope, low, high):
    """The root of a function that is monotone between two points: halvings, then Newton's steps."""
    is_positive = value(low) > 0
    while high - low > mpf(10) ** -6 * max(mpf(10) ** -6, abs(low)):
        middle = (low + high) / 2
        low, high = (middle, high) if (value(middle) > 0) == is_positive else (low, middle)
    x = (low + high) / 2
    for _ in range(60):
        step = value(x) / slope(x)
        inside = low <= x - step <= high
        x = x - step if inside else (low + high) / 2
        low, high = (x, high) if (value(x) > 0) == is_positive else (low, x)
        if abs(step) < mpf(10) ** (8 - mp.dps) * max(1, abs(x)):
            break
    return x


def rates_of(amounts, times):
    found = [mpmath.expm1(x) for x in growth_logarithms(amounts, times)]
    return [rate for rate in found if rate >= mpf(2) ** -53 - 1 and rate < mpf(2) ** 1023]


def product(rates):
    """The doubles next to the coefficients of a polynomial with known rates."""
    amounts = [mpf(1)]
    for rate in rates:
        amounts = [a - b * (1 + mpf(rate)) for a, b in zip(amounts + [0], [0] + amounts)]
    return [float(amount) for amount in amounts]


def internal_rates():
    rng = random.Random(20260101)
    cases = []
    for rates in [[0.1], [0.05, 0.3], [-0.5, 0.25], [-0.99, 0.0, 2.0], [-0.9999, 0.1, 0.2],
                  [0.0, 0.1, 0.2, 0.3], [-0.9, -0.5, -0.1, 0.3, 1.0], [1e-9, 0.5], [0.1, 0.11],
                  [0.1, 0.1001], [-0.999999, 100.0], [10.0, 1e5], [0.07, 0.08, 0.09], [-1e-12, 3.0]]:
        amounts = product(rates)
        cases.append((amounts, list(range(len(amounts)))))
    for _ in range(120):
        count = rng.randrange(2, 12)
        cases.append(([round(rng.uniform(-1000, 1000), 2) for _ in range(count)], list(range(count))))
    for _ in range(60):
        count = rng.randrange(3, 16)
        amounts = [-round(rng.uniform(500, 5000), 2)] + [round(rng.uniform(10, 900), 2) for _ in range(count)]
        cases.append((amounts, list(range(count + 1))))
    for _ in range(60):
        count = rng.randrange(2, 8)
        times = [rng.choice([0.25, 0.5, 1.0, 0.1, 1.7]) * k for k in range(count)]
        rng.shuffle(times)
        cases.append(([rng.uniform(-10, 10) for _ in range(count)], times))
    # Nearly all is lost, and more than all is won.
    for loss in [1e-3, 1e-6, 1e-9, 1e-12, 1e-15]:
        cases.append(([-1.0, loss], [0, 1]))
        cases.append(([-loss, 1.0], [0, 1]))
        cases.append(([-1.0, loss, -loss * loss / 8], [0, 1, 2]))
    cases.append(([-100.0] + [5.0] * 29 + [105.0], list(range(31))))
    cases.append(([-300000.0] + [1798.65] * 360, list(range(361))))
    cases.append(([-50.0] + [10.0] * 40 + [-500.0], list(range(42))))
    rows = []
    for amounts, times in cases:
        rates = rates_of(amounts, [mpf(time) for time in times])
        if rates:
            rows.append([amounts, times, rates])
    assert any(len(row[2]) >= 3 for row in rows) and len(rows) > 150
    write("internal_rates", ["cashflows", "times", "rates"], rows, "internal rates of return, all of them")


def dated_rates():
    rng = random.Random(20260202)
    rows = []
    for index in range(80):
        count = rng.randrange(2, 9)
        start = datetime.date(rng.randrange(1950, 2050), rng.randrange(1, 13), rng.randrange(1, 29))
        dates = [start] + [start + datetime.timedelta(days=rng.randrange(-200 if index % 5 == 0 else 1, 4000)) for _ in range(count)]
        if index % 2:
            amounts = [-round(rng.uniform(100, 10000), 2)] + [round(rng.uniform(1, 5000), 2) for _ in range(count)]
        else:
            amounts = [round(rng.uniform(-1000, 1000), 2) for _ in range(count + 1)]
        rates = rates_of(amounts, [mpf((date - start).days) / 365 for date in dates])
        if rates:
            rows.append([amounts, dates, rates])
    assert len(rows) > 50
    write("dated_internal_rates", ["cashflows", "dates", "rates"], rows, "internal rates of return of dated payments, all of them")


def present_values():
    rng = random.Random(20260303)
    rows = []
    for index in range(200):
        count = rng.randrange(1, 40)
        amounts = [rng.uniform(-1000, 1000) for _ in range(count)]
        times = list(range(count)) if index % 2 else [rng.uniform(-2, 60) for _ in range(count)]
        rate = rng.choice([rng.uniform(-0.2, 0.5), 0.0, -0.999, 1e-10, 50.0, rng.uniform(0, 0.1)])
        values = [mpf(a) * (1 + mpf(rate)) ** -mpf(t) for a, t in zip(amounts, times)]
        slope = mpmath.fsum(mpf(t) * value for t, value in zip(times, values)) / (1 + mpf(rate))
        if max(abs(value) for value in values) < mpf(10) ** 290:
            size = mpmath.fsum(abs(value) for value in values)
            rows.append([amounts, times, rate, mpmath.fsum(values), slope, size])
    write("net_present_values", ["cashflows", "times", "rate", "npv", "sensitivity", "size"], rows, "net present values")


def rounded(value):
    """A fraction rounded to a whole number, halves away from zero."""
    sign = -1 if value < 0 else 1
    return sign * ((2 * abs(value) + 1) // 2)


def loans():
    rng = random.Random(20260404)
    cases = [("200000", "0.06", 360, 12), ("10000", "0.08", 10, 12), ("0.05", "0", 7, 12), ("1000", "0.05", 1, 1),
             ("0.10", "0.05", 1, 1), ("250000.55", "0.0375", 780, 26), ("5000", "0.199", 156, 52),
             ("100000", "-0.005", 240, 12), ("1000000", "1.5", 40, 4), ("99.99", "1e-12", 9, 3), ("500", "0.0", 365, 365),
             ("123456789.01", "0.0431", 600, 12), ("1", "0.3", 100, 12), ("7", "0.00001", 11, 366)]
    for _ in range(150):
        cases.append((f"{rng.uniform(1, 10 ** rng.randrange(2, 8)):.2f}", f"{rng.uniform(-0.02, 0.3):.{rng.randrange(2, 7)}f}",
                      rng.randrange(1, 400), rng.choice([1, 2, 4, 12, 24, 26, 52, 365])))
    rows = []
    for principal, rate, count, frequency in cases:
        period = Fraction(rate) / frequency
        exact = mpf(Fraction(principal).numerator) / Fraction(principal).denominator
        i = mpf(period.numerator) / period.denominator
        exact = exact * i / (1 - (1 + i) ** -count) if period else exact / count
        level = int(mpmath.floor(100 * exact + mpf(1) / 2))
        balance = first = int(Fraction(principal) * 100)
        interests, weighted = 0, 0
        for number in range(1, count + 1):
            interest = int(rounded(balance * period))
            payment = balance + interest if number == count else min(level, balance + interest)
            balance += interest - payment
            interests += interest
            weighted += number * balance
        assert balance == 0
        rows.append([principal, rate, count, frequency, exact, level, payment, interests, weighted])
    write("loans", ["principal", "annual_rate", "n_periods", "frequency", "exact_payment", "payment_cents",
                    "last_payment_cents", "interest_cents", "weighted_balance_cents"], rows, "loans in whole cents, by fractions")


internal_rates()
dated_rates()
present_values()
loans()
