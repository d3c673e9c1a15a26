"""Golden rows for tests/quantlib/curves.rs: interpolation and bootstrap at 50 digits, by mpmath.

Writes ../curves_values.csv and ../curves_bootstraps.csv.

Usage: python curves.py [directory [scale]], with mpmath, QuantLib and scipy from PyPI. A scale of
10 writes ten times the rows, to be compared once and not kept.

The methods differ from those of quant-core: the spline solves its full linear system, the monotone
convex discount factors are integrals of the forwards by quadrature, and the bootstrap is Newton's
method on all par equations at once. The spline is also compared with QuantLib's.
"""

import pathlib
import random
import sys

import mpmath as mp
import QuantLib as ql
from scipy.optimize import root

DIRECTORY = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
SCALE = int(sys.argv[2]) if len(sys.argv) > 2 else 1
KINDS = ["linear", "log_linear", "cubic", "monotone_convex"]

mp.mp.dps = 50


def write(name, header, rows):
    path = DIRECTORY / f"curves_{name}.csv"
    head = f"# mpmath {mp.__version__}, date 2026-11-20, python tests/golden/generate/curves.py"
    path.write_text("\n".join([head, header, *rows]) + "\n")


def text(value):
    return mp.nstr(value, 17)


class Line:
    """Linear interpolation of a zero rate or of a logarithm."""

    def __init__(self, times, logs, in_zero_rate):
        self.times, self.in_zero_rate = times, in_zero_rate
        self.values = [log / time for log, time in zip(logs, times)] if in_zero_rate else logs

    def log(self, time):
        times, values = self.times, self.values
        if self.in_zero_rate:
            if time <= times[0] or time >= times[-1]:
                return time * (values[0] if time <= times[0] else values[-1])
        else:
            times, values = [mp.mpf(0), *times], [mp.mpf(0), *values]
        i = max(j for j in range(len(times) - 1) if times[j] <= time)
        value = values[i] + (values[i + 1] - values[i]) * (time - times[i]) / (times[i + 1] - times[i])
        return time * value if self.in_zero_rate else value


class Spline:
    """The natural spline of the zero rate, by its polynomials' coefficients."""

    def __init__(self, times, logs):
        self.times, self.values = times, [log / time for log, time in zip(logs, times)]
        count = len(times)
        system, right = mp.zeros(count), mp.zeros(count, 1)
        system[0, 0] = system[count - 1, count - 1] = 1
        for i in range(1, count - 1):
            before, after = times[i] - times[i - 1], times[i + 1] - times[i]
            system[i, i - 1], system[i, i], system[i, i + 1] = before, 2 * (before + after), after
            slopes = [(self.values[j + 1] - self.values[j]) / (times[j + 1] - times[j]) for j in (i - 1, i)]
            right[i] = 3 * (slopes[1] - slopes[0])
        self.squares = list(mp.lu_solve(system, right)) if count > 2 else [mp.mpf(0)] * count

    def log(self, time):
        times, values, squares = self.times, self.values, self.squares
        if time <= times[0] or time >= times[-1]:
            return time * (values[0] if time <= times[0] else values[-1])
        i = max(j for j in range(len(times) - 1) if times[j] <= time)
        width, step = times[i + 1] - times[i], time - times[i]
        cube = (squares[i + 1] - squares[i]) / (3 * width)
        slope = (values[i + 1] - values[i]) / width - width * (2 * squares[i] + squares[i + 1]) / 3
        return time * (values[i] + step * (slope + step * (squares[i] + step * cube)))


class MonotoneConvex:
    """Hagan and West's forwards, with the bound on their signs mirrored for negative ones."""

    def __init__(self, times, logs):
        self.times, self.logs = [mp.mpf(0), *times], [mp.mpf(0), *logs]
        count = len(times)
        steps = [self.times[i + 1] - self.times[i] for i in range(count)]
        self.averages = [(self.logs[i + 1] - self.logs[i]) / steps[i] for i in range(count)]
        means = self.averages
        nodes = [means[0]] * (count + 1)
        for i in range(1, count):
            share = steps[i - 1] / (steps[i - 1] + steps[i])
            nodes[i] = share * means[i] + (1 - share) * means[i - 1]
        if count > 1:
            nodes[0] = (3 * means[0] - nodes[1]) / 2
            nodes[-1] = (3 * means[-1] - nodes[-2]) / 2
        # The published order: the bounds come after all forwards.
        nodes = [self.bound(node, means[max(i - 1, 0)], means[min(i, count - 1)]) for i, node in enumerate(nodes)]
        self.nodes = nodes

    @staticmethod
    def bound(value, one, other):
        if one * other < 0:
            return mp.mpf(0)
        limit = 2 * min(abs(one), abs(other))
        sign = mp.sign(one + other)
        return sign * min(max(sign * value, 0), limit)

    def pieces(self, i):
        """Returns the points where the formula changes within an interval, and the forward's distance from its mean."""
        g0, g1 = self.nodes[i] - self.averages[i], self.nodes[i + 1] - self.averages[i]
        if g0 == 0 and g1 == 0:
            return [], lambda x: mp.mpf(0)
        if g0 * g1 < 0 and abs(g0) / 2 <= abs(g1) <= 2 * abs(g0):
            return [], lambda x: g0 * (1 - 4 * x + 3 * x**2) + g1 * (-2 * x + 3 * x**2)
        if g0 * g1 < 0 and abs(g1) > 2 * abs(g0):
            vertex = (g1 + 2 * g0) / (g1 - g0)
            return [vertex], lambda x: g0 if x <= vertex else g0 + (g1 - g0) * ((x - vertex) / (1 - vertex)) ** 2
        if g0 * g1 < 0:
            vertex = 3 * g1 / (g1 - g0)
            return [vertex], lambda x: g1 + (g0 - g1) * ((vertex - x) / vertex) ** 2 if x < vertex else g1
        vertex, floor = g1 / (g0 + g1), -g0 * g1 / (g0 + g1)
        return [vertex], lambda x: (
            floor + (g0 - floor) * ((vertex - x) / vertex) ** 2
            if x < vertex
            else floor + ((g1 - floor) * ((x - vertex) / (1 - vertex)) ** 2 if x > vertex else 0)
        )

    def log(self, time):
        if time >= self.times[-1]:
            return self.logs[-1] + self.nodes[-1] * (time - self.times[-1])
        i = max(j for j in range(len(self.times) - 1) if self.times[j] <= time)
        width = self.times[i + 1] - self.times[i]
        part = (time - self.times[i]) / width
        vertices, deviation = self.pieces(i)
        ends = [mp.mpf(0), *[vertex for vertex in vertices if 0 < vertex < part], part]
        # Gauss's rule of two points is exact for the parabolas between these points.
        half = [(b - a) / 2 for a, b in zip(ends, ends[1:])]
        middle = [(a + b) / 2 for a, b in zip(ends, ends[1:])]
        root3 = 1 / mp.sqrt(3)
        integral = sum(
            h * (deviation(m - h * root3) + deviation(m + h * root3)) for h, m in zip(half, middle)
        )
        return self.logs[i] + width * (self.averages[i] * part + integral)


def fit(kind, times, logs):
    if kind in ("linear", "log_linear"):
        return Line(times, logs, kind == "linear")
    return Spline(times, logs) if kind == "cubic" else MonotoneConvex(times, logs)


def forward(curve, time):
    """The derivative of the logarithm, by central differences with a width that 50 digits allow."""
    step = mp.mpf(10) ** -16
    if time < step:
        return curve.log(step) / step
    return (curve.log(time + step) - curve.log(time - step)) / (2 * step)


def random_times(rng, count):
    times, time = [], 0.0
    for _ in range(count):
        time += rng.choice([1 / 12, 0.25, 0.5, 1.0, rng.uniform(0.01, 8.0)])
        times.append(time)
    return times


def values(rng):
    for number in range(80 * SCALE):
        kind = KINDS[number % 4]
        times = random_times(rng, rng.choice([1, 2, 3, 5, 9]))
        level = rng.choice([0.03, -0.01, 0.0, 0.1])
        rates = [level + rng.uniform(-0.01, 0.01) for _ in times]
        curve_type = rng.choice(["zero", "discount", "forward"])
        exact = [mp.mpf(time) for time in times]
        given = rates
        if curve_type == "zero":
            logs = [time * mp.mpf(rate) for time, rate in zip(exact, rates)]
        elif curve_type == "discount":
            given = [float(mp.exp(-time * mp.mpf(rate))) for time, rate in zip(exact, rates)]
            logs = [-mp.log(mp.mpf(factor)) for factor in given]
        else:
            steps = [b - a for a, b in zip([mp.mpf(0), *exact], exact)]
            logs = [sum(mp.mpf(r) * s for r, s in zip(rates[: i + 1], steps)) for i in range(len(times))]
        curve = fit(kind, exact, logs)
        if kind == "cubic" and len(times) > 2:
            check_spline(curve, times)
        for query in [rng.uniform(0, times[0]), rng.uniform(0, times[-1]), times[-1] * 1.5]:
            time = mp.mpf(query)
            log = curve.log(time)
            yield ",".join(
                [kind, curve_type, " ".join(map(repr, times)), " ".join(map(repr, given)), repr(query)]
                + [text(log / time), text(mp.exp(-log)), text(forward(curve, time))]
            )


def bounds_beside_the_ends():
    """Forwards of which the inner ones are bounded, and those at the ends computed before that."""
    for times, rates in [
        ([0.1068, 4.5122, 12.3603], [0.0617, 0.00696, 0.0153]),
        ([2.0, 3.0, 3.25], [0.002, 0.05, -0.01]),
        ([1.0, 9.0], [0.08, 0.01]),
        ([0.5, 5.0, 6.0, 6.1], [-0.02, -0.001, -0.03, -0.0005]),
    ]:
        exact = [mp.mpf(time) for time in times]
        steps = [b - a for a, b in zip([mp.mpf(0), *exact], exact)]
        logs = [sum(mp.mpf(r) * s for r, s in zip(rates[: i + 1], steps)) for i in range(len(times))]
        curve = fit("monotone_convex", exact, logs)
        for query in [1e-3 * times[0], 0.5 * times[0], times[-1] - 1e-3, times[-1] * 1.5]:
            time = mp.mpf(query)
            log = curve.log(time)
            yield ",".join(
                ["monotone_convex", "forward", " ".join(map(repr, times)), " ".join(map(repr, rates)), repr(query)]
                + [text(log / time), text(mp.exp(-log)), text(forward(curve, time))]
            )


def check_spline(curve, times):
    theirs = ql.CubicNaturalSpline(times, [float(value) for value in curve.values])
    for part in (0.1, 0.5, 0.9):
        time = times[0] + part * (times[-1] - times[0])
        ours = curve.log(mp.mpf(time)) / mp.mpf(time)
        assert abs(ours - theirs(time)) < 1e-13, (times, time)


def flows(kind, months, frequency):
    """Returns times and accruals of the payments, as fractions of a year."""
    if kind == "deposit":
        return [(mp.mpf(months) / 12, mp.mpf(months) / 12)]
    period = 12 // frequency
    ends = list(range(months, 0, -period))[::-1]
    return [(mp.mpf(end) / 12, mp.mpf(min(period, end)) / 12) for end in ends]


def solve(kind, quotes):
    """Returns the logarithms at the pillars, by Newton's method in doubles and then at 50 digits."""
    times = [mp.mpf(quote[1]) / 12 for quote in quotes]
    legs = [flows(quote[0], quote[1], quote[3]) for quote in quotes]

    def residuals(logs):
        curve = fit(kind, times, list(logs))
        found = []
        for (_, _, rate, _), leg, log in zip(quotes, legs, logs):
            annuity = sum(accrual * mp.exp(-curve.log(time)) for time, accrual in leg[:-1])
            found.append(mp.mpf(rate) * (annuity + leg[-1][1] * mp.exp(-log)) + mp.exp(-log) - 1)
        return found

    start = [float(time) * quote[2] for time, quote in zip(times, quotes)]
    mp.mp.dps = 17
    rough = root(lambda x: [float(r) for r in residuals([mp.mpf(v) for v in x])], start, tol=1e-12)
    mp.mp.dps = 50
    assert max(abs(rough.fun)) < 1e-9, (kind, quotes, rough.message)
    logs = [mp.mpf(value) for value in rough.x]
    for _ in range(6):
        base, step = residuals(logs), mp.mpf(10) ** -25
        if max(abs(value) for value in base) < mp.mpf(10) ** -40:
            return times, logs
        jacobian = mp.zeros(len(logs))
        for j in range(len(logs)):
            moved = residuals([log + (step if i == j else 0) for i, log in enumerate(logs)])
            for i in range(len(logs)):
                jacobian[i, j] = (moved[i] - base[i]) / step
        logs = [log - change for log, change in zip(logs, mp.lu_solve(jacobian, mp.matrix(base)))]
    assert max(abs(value) for value in residuals(logs)) < mp.mpf(10) ** -30
    return times, logs


MARKET = [
    ("deposit", 1), ("deposit", 3), ("deposit", 6), ("deposit", 12), ("swap", 24), ("swap", 36), ("swap", 48),
    ("swap", 60), ("swap", 84), ("swap", 120), ("swap", 180), ("swap", 240), ("swap", 300), ("swap", 360),
]


def bootstraps(rng):
    cases = [[(*quote, 0.03 + 0.001 * i, 1) for i, quote in enumerate(MARKET)]]
    cases.append([(*quote, -0.006 + 0.0007 * i, 2) for i, quote in enumerate(MARKET)])
    # Every payment on a pillar; two pillars only; a short first period; high rates; a humped curve.
    cases.append([("swap", 12 * i, 0.02 + 0.002 * i, 1) for i in range(1, 8)])
    cases.append([("swap", 24, 0.04, 2), ("swap", 360, 0.035, 1)])
    cases.append([("deposit", 5, 0.01, 1), ("swap", 17, 0.015, 2), ("swap", 31, 0.02, 1), ("swap", 95, 0.01, 4)])
    cases.append([("deposit", 6, 0.3, 1), ("swap", 36, 0.28, 2), ("swap", 120, 0.25, 1)])
    cases.append([("swap", 120, -0.008, 1)])
    for _ in range(5 * SCALE):
        picked = sorted(rng.sample(MARKET, rng.randint(3, 9)), key=lambda quote: quote[1])
        level = rng.uniform(-0.01, 0.06)
        cases.append([(*q, level + rng.uniform(-0.004, 0.004), rng.choice([1, 2, 4])) for q in picked])
    for quotes in cases:
        for kind in KINDS:
            times, logs = solve(kind, quotes)
            spelled = " ".join(f"{k}:{months}M:{rate!r}:{frequency}" for k, months, rate, frequency in quotes)
            zeros = " ".join(text(log / time) for log, time in zip(logs, times))
            yield f"{kind},{spelled},{zeros}"


def main():
    write(
        "values", "interpolation,curve_type,tenors,values,query_tenor,zero_rate,discount_factor,forward_rate",
        [*values(random.Random(1)), *bounds_beside_the_ends()],
    )
    write("bootstraps", "interpolation,instruments,zero_rates", bootstraps(random.Random(2)))


main()
