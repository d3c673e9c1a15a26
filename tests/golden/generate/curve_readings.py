"""Golden rows for tests/quantlib/curve_readings.rs: rates read off curves, shifts, and Nelson-Siegel fits.

Writes ../curve_readings.csv, ../curve_shifts.csv, ../curve_par_shifts.csv, ../nelson_siegel.csv and ../svensson.csv.

Usage: python curve_readings.py [directory], with mpmath, QuantLib and scipy from PyPI.

Discount factors are those of curves.py at 50 digits; rates follow from them by their definitions, over
years that QuantLib counts. A fit is the best of scipy's differential evolution over the decay times,
completed at 50 digits.
"""

import importlib.util
import pathlib
import random
import sys

import mpmath as mp
import numpy as np
import QuantLib as ql
import scipy
from scipy.optimize import differential_evolution

HERE = pathlib.Path(__file__).parent
DIRECTORY = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent)
TOOLS = f"mpmath {mp.__version__}, QuantLib {ql.__version__} and scipy {scipy.__version__}"
KINDS = ["linear", "log_linear", "cubic", "monotone_convex"]
COUNTS = {"annual": 1, "semiannual": 2, "quarterly": 4, "monthly": 12}
DAY_COUNTS = {
    "ACT/360": (ql.Actual360(), 360),
    "ACT/365": (ql.Actual365Fixed(), 365),
    "30/360": (ql.Thirty360(ql.Thirty360.BondBasis), 360),
    "30E/360": (ql.Thirty360(ql.Thirty360.EurobondBasis), 360),
    "ACT/ACT ISDA": (ql.ActualActual(ql.ActualActual.ISDA), 365 * 366),
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
mp.mp.dps = 50


def write(name, header, rows):
    head = f"# {TOOLS}, date 2026-11-22, python tests/golden/generate/curve_readings.py"
    (DIRECTORY / f"{name}.csv").write_text("\n".join([head, header, *rows]) + "\n")
    print(name, len(rows))


def text(value):
    return mp.nstr(mp.mpf(value), 17, min_fixed=-20, max_fixed=20)


def texts(values):
    return " ".join(text(value) for value in values)


def logs_of(kind, tenors, values):
    """Minus the logarithms of the discount factors at the pillars."""
    t, v = [mp.mpf(x) for x in tenors], [mp.mpf(x) for x in values]
    if kind == "zero":
        return [a * b for a, b in zip(t, v)]
    if kind == "discount":
        return [-mp.log(x) for x in v]
    logs, total, before = [], mp.mpf(0), mp.mpf(0)
    for a, b in zip(t, v):
        total += b * (a - before)
        before = a
        logs.append(total)
    return logs


def rate(compounding, log, years):
    """The rate that grows as the continuous exponent does, by the definition of its compounding."""
    if compounding == "continuous":
        return log / years
    if compounding == "simple":
        return mp.expm1(log) / years
    count = COUNTS[compounding]
    return count * mp.expm1(log / (count * years))


def counted(name, start, end):
    day_count, basis = DAY_COUNTS[name]
    return mp.mpf(round(day_count.yearFraction(start, end) * basis)) / basis


def date_after(start, months, days):
    return start + ql.Period(months, ql.Months) + ql.Period(days, ql.Days)


def par(curve, tenor, count):
    annuity, number = mp.mpf(0), 0
    while True:
        time = tenor - mp.mpf(number) / count
        if time <= 0:
            break
        annuity += min(time, mp.mpf(1) / count) * mp.exp(-curve.log(time))
        number += 1
    return (1 - mp.exp(-curve.log(tenor))) / annuity


def pillars(rng):
    tenors = sorted(rng.sample([0.05, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0], rng.randint(1, 8)))
    level = rng.choice([-0.006, 0.0, 0.02, 0.045, 0.15])
    kind = rng.choice(["zero", "discount", "forward"])
    rates = [round(level + rng.uniform(-0.006, 0.006), rng.choice([4, 12])) for _ in tenors]
    return kind, tenors, [float(mp.exp(-t * r)) for t, r in zip(tenors, rates)] if kind == "discount" else rates


def readings():
    rng, rows = random.Random(31), []
    for number in range(360):
        kind, tenors, values = pillars(rng)
        shape = KINDS[number % 4]
        curve = FIT(shape, [mp.mpf(t) for t in tenors], logs_of(kind, tenors, values))
        reference = ql.Date(rng.randint(1, 31 if number % 3 else 28), rng.choice([1, 3, 5, 7, 8, 10, 12]), rng.randint(2020, 2030))             if number % 3 else ql.Date(rng.randint(1, 28), rng.randint(1, 12), rng.randint(2020, 2030))
        compounding = rng.choice(["simple", "continuous", *COUNTS])
        name = rng.choice(["", *DAY_COUNTS])
        # Whole months, so that a tenor and its date are the same point.
        first, length = rng.randint(1, 240), rng.choice([1, 3, 6, 12, 60])
        start, end = first / 12, (first + length) / 12
        dates = [date_after(reference, months, 0) for months in (first, first + length)]
        # The exponents are those of the tenors as doubles.
        s, e = mp.mpf(start), mp.mpf(end)
        at_start, at_end = curve.log(s), curve.log(e)
        years = counted(name, reference, dates[0]) if name else s
        between = counted(name, dates[0], dates[1]) if name else e - s
        if years <= 0 or between <= 0:
            continue
        count = rng.choice([1, 2, 4])
        found = [mp.exp(-at_start), rate(compounding, at_start, years), rate(compounding, at_end - at_start, between), par(curve, s, count)]
        rows.append(",".join([reference.ISO(), shape, kind, texts(tenors), texts(values), compounding, name, repr(start), repr(end), str(count), *map(text, found)]))
    return rows


def shifts():
    rng, rows = random.Random(32), []
    for number in range(120):
        kind, tenors, values = pillars(rng)
        basis_points = rng.choice([1, -1, 25, -50, 100, round(rng.uniform(-200, 200), 3)])
        shift = mp.mpf(basis_points) / 10000
        space = ["zero_rate", "simple_forward_rate", "discount_factor", "key_rate"][number % 4]
        logs, t = logs_of(kind, tenors, values), [mp.mpf(x) for x in tenors]
        tenor, width = rng.choice([*tenors, 4.0, 8.0]), rng.choice([0.5, 2.0, 3.0, 7.0])
        if space == "discount_factor":
            moved = [-mp.log(mp.exp(-log) + shift) for log in logs]
        elif space == "simple_forward_rate":
            moved, before, start, last = [], mp.mpf(0), mp.mpf(0), mp.mpf(0)
            for time, log in zip(t, logs):
                forward = mp.expm1(log - before) / (time - start) + shift
                last += mp.log1p(forward * (time - start))
                moved.append(last)
                before, start = log, time
        else:
            weights = [max(mp.mpf(0), 1 - abs(time - mp.mpf(tenor)) / mp.mpf(width)) if space == "key_rate" else 1 for time in t]
            moved = [log + weight * shift * time for log, weight, time in zip(logs, weights, t)]
        rates = [log / time for log, time in zip(moved, t)]
        rows.append(",".join([kind, texts(tenors), texts(values), space, repr(basis_points), repr(tenor), repr(width), texts(rates)]))
    return rows


def par_shifts():
    """Curves whose par rates of annual payments are shifted, solved by the secant method of several unknowns."""
    rng, rows = random.Random(34), []
    while len(rows) < 60:
        kind, tenors, values = pillars(rng)
        shape = KINDS[len(rows) % 4]
        t, logs = [mp.mpf(x) for x in tenors], logs_of(kind, tenors, values)
        basis_points = rng.choice([1, -1, 25, -50, 100])
        fitted = FIT(shape, t, logs)
        target = [par(fitted, time, 1) + mp.mpf(basis_points) / 10000 for time in t]

        def misses(*rates):
            moved = FIT(shape, t, [r * time for r, time in zip(rates, t)])
            return [par(moved, time, 1) - wanted for time, wanted in zip(t, target)]

        start = [log / time + mp.mpf(basis_points) / 10000 for log, time in zip(logs, t)]
        found = mp.findroot(misses, start, tol=1e-50) if len(t) > 1 else [mp.findroot(lambda r: misses(r)[0], start[0], tol=1e-50)]
        rows.append(",".join([shape, kind, texts(tenors), texts(values), repr(basis_points), texts(found)]))
    return rows


def linear_part(tau, tenors, rates, exact):
    """The best level, slope and hump for a decay time, and the sum of squared residuals."""
    if not exact:
        x = np.array(tenors) / tau
        s = -np.expm1(-x) / x
        columns = np.column_stack([np.ones_like(x), s, s - np.exp(-x)])
        betas = np.linalg.lstsq(columns, rates, rcond=None)[0]
        return betas, float(np.sum((columns @ betas - rates) ** 2))
    x = [mp.mpf(t) / tau for t in tenors]
    s = [(1 - mp.exp(-v)) / v for v in x]
    columns = mp.matrix([[1, a, a - mp.exp(-v)] for a, v in zip(s, x)])
    right = mp.matrix([mp.mpf(float(r)) for r in rates])
    betas = mp.lu_solve(columns.T * columns, columns.T * right)
    return list(betas), mp.fsum(r**2 for r in columns * betas - right)


def fits():
    rng, rows = np.random.default_rng(33), []
    sets = [[0.25, 0.5, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30], [1, 2, 3, 5, 7, 10, 20, 30], [0.5, 1, 2, 5, 10], [1, 3, 7, 20, 25, 30]]
    while len(rows) < 80:
        tenors = [float(t) for t in sets[len(rows) % 4]]
        tau = float(rng.uniform(0.4, 12))
        x = np.array(tenors) / tau
        s = -np.expm1(-x) / x
        level, slope, hump = rng.uniform([0.0, -0.05, -0.06], [0.06, 0.05, 0.06])
        # From a smooth curve with quotes' roundings to rates that no such curve meets.
        noise = [0, 1e-4, 1e-3, 1e-2][(len(rows) // 4) % 4]
        rates = np.round(level + slope * s + hump * (s - np.exp(-x)) + rng.normal(0, 1, len(tenors)) * noise, 6)
        low, high = np.log(tenors[0] / 2), np.log(tenors[-1] * 2)
        cost = lambda v: linear_part(np.exp(v[0]), tenors, rates * 100, False)[1]
        runs = [differential_evolution(cost, [(low, high)], seed=seed, tol=1e-14, maxiter=400, popsize=40) for seed in (1, 2)]
        best = min(runs, key=lambda run: run.fun)
        exact = lambda v: linear_part(mp.exp(v), tenors, rates, True)[1]
        lower, upper, v = mp.log(tenors[0] / 2), mp.log(tenors[-1] * 2), mp.mpf(float(best.x[0]))
        # Golden sections at 50 digits around the evolution's point, within the bounds.
        a, b, part = max(lower, v - mp.mpf("1e-3")), min(upper, v + mp.mpf("1e-3")), (mp.sqrt(5) - 1) / 2
        for _ in range(110):
            one, other = b - part * (b - a), a + part * (b - a)
            a, b = (a, other) if exact(one) < exact(other) else (one, b)
        tau = mp.exp((a + b) / 2)
        betas, misfit = linear_part(tau, tenors, rates, True)
        mean = mp.fsum(mp.mpf(float(r)) for r in rates) / len(rates)
        total = mp.fsum((mp.mpf(float(r)) - mean) ** 2 for r in rates)
        rows.append(",".join([texts(tenors), texts(float(r) for r in rates), texts([*betas, tau]), text(misfit), text(1 - misfit / total)]))
    return rows



def svensson_fits():
    """Fits with two humps, whose decay times are at least a twentieth apart, in double precision."""
    rng, rows = np.random.default_rng(34), []
    tenors = np.array([0.25, 0.5, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30])
    low, high = np.log(tenors[0] / 2), np.log(tenors[-1] * 2)
    hump = lambda tau: -np.expm1(-tenors / tau) / (tenors / tau)

    def columns(first, second):
        s, other = hump(first), hump(second)
        return np.column_stack([np.ones_like(s), s, s - np.exp(-tenors / first), other - np.exp(-tenors / second)])

    while len(rows) < 32:
        noise = [2e-4, 1e-3, 5e-3, 1e-2][len(rows) % 4]
        betas = rng.uniform([0.0, -0.05, -0.06, -0.06], [0.06, 0.05, 0.06, 0.06])
        taus = rng.uniform(0.4, 3), rng.uniform(3, 15)
        rates = np.round(columns(*taus) @ betas + rng.normal(0, noise, len(tenors)), 6)

        def cost(v):
            if abs(v[0] - v[1]) < 0.05:
                return 1e3
            found = columns(*np.exp(v))
            return float(np.sqrt(np.mean((found @ np.linalg.lstsq(found, rates, rcond=None)[0] - rates) ** 2)))

        runs = [differential_evolution(cost, [(low, high)] * 2, seed=seed, tol=1e-12, maxiter=300, popsize=25) for seed in (1, 2)]
        rows.append(",".join([texts(tenors), texts(float(r) for r in rates), repr(float(min(run.fun for run in runs)))]))
    return rows


write("curve_readings", "reference_date,interpolation,curve_type,tenors,values,compounding,day_count,start,end,par_frequency,discount_factor,zero_rate,forward_rate,par_rate", readings())
write("curve_shifts", "curve_type,tenors,values,space,basis_points,tenor,width,zero_rates", shifts())
write("curve_par_shifts", "interpolation,curve_type,tenors,values,basis_points,zero_rates", par_shifts())
write("nelson_siegel", "tenors,rates,parameters,misfit,r_squared", fits())
write("svensson", "tenors,rates,root_mean_square", svensson_fits())
