"""Writes ../numerical.csv: difference quotients by their definition.

The closed forms of quant-core are not used: both values of the function are computed to 3,000 digits,
more than any cancellation of doubles can remove, and subtracted.
`python numerical.py random COUNT SEED` prints random rows instead, for a longer comparison.
"""

import math
import random
import sys
from pathlib import Path

import mpmath
from mpmath import mp, mpf

mp.dps = 3000

FUNCTIONS = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sqrt": mpmath.sqrt,
    "tan": mpmath.tan,
    "x2": lambda x: x * x,
    "x3": lambda x: x * x * x,
}
SCHEMES = {"central": (-1, 1), "forward": (0, 1), "backward": (-1, 0)}
HALF_PI = math.pi / 2
REST_OF_HALF_PI = 6.123233995736766e-17


def points(x, h, scheme):
    below, above = SCHEMES[scheme]
    return mpf(x) + below * mpf(h), mpf(x) + above * mpf(h)


def has_values(function, x, h, scheme):
    lower, _ = points(x, h, scheme)
    return not (function == "log" and lower <= 0 or function == "sqrt" and lower < 0)


def quotient(function, x, h, scheme):
    """Returns the nearest double; infinite or zero where the number is out of range."""
    lower, upper = points(x, h, scheme)
    f = FUNCTIONS[function]
    value = (f(upper) - f(lower)) / (upper - lower)
    # A double has no bits below 2^-1074: mpmath's float() would round twice there.
    if value != 0 and abs(value) < mpf(2) ** -1022:
        return float(mpmath.nint(value * mpf(2) ** 1074)) * 5e-324
    return float(value)


def grid():
    steps = [1e-300, 1e-20, 1e-8, 1e-5, 0.1, 1.0, 30.0, 1e3]
    everywhere = {"exp": [-745.0, -700.0, -1.0, 0.0, 1e-10, 1.0, 700.0],
                  "log": [1e-300, 1e-5, 0.7, 1.0, 31.0, 1001.0, 1e300],
                  "sin": [0.0, 1e-300, 1.0, HALF_PI, -HALF_PI, 3 * HALF_PI, 355.0, 1e22, 1.7e308],
                  "cos": [0.0, 1e-300, 1.0, HALF_PI, math.pi, -2 * math.pi, 355.0, 1e22, 1.7e308],
                  "sqrt": [0.0, 5e-324, 1e-5, 1.0, 2.0, 1e3, 1e300],
                  "tan": [0.0, 1e-300, 0.7, HALF_PI, -HALF_PI, 3 * HALF_PI, 355.0, 1e22],
                  "x2": [0.0, 5e-324, -1.0, 0.1, 1e3, -1e300],
                  "x3": [0.0, -1e-160, -1.0, 0.1, 1e3, 1e100]}
    for function, xs in everywhere.items():
        for x in xs:
            for index, h in enumerate(steps):
                for scheme in SCHEMES if function in ("x2", "x3") or index % 3 == 1 else ["central"]:
                    yield function, x, h, scheme


def edges():
    # The middle of the interval is pi/2, or pi, to 106 bits: the derivative is almost zero.
    yield "sin", HALF_PI, 2 * REST_OF_HALF_PI, "forward"
    yield "sin", -HALF_PI, 2 * REST_OF_HALF_PI, "backward"
    yield "cos", math.pi, 4 * REST_OF_HALF_PI, "forward"
    yield "tan", HALF_PI, REST_OF_HALF_PI, "forward"
    yield "cos", -0.5, 1.0, "forward"
    yield "cos", 0.5, 1.0, "backward"
    # The sum of the points or the numerator exceeds a double, and the quotient does not.
    yield "exp", 1400.0, 1e308, "backward"
    yield "exp", -1e300, 1e300, "forward"
    yield "sin", 1.7e308, 1.7e308, "forward"
    yield "log", 1.7e308, 1.6e308, "central"
    yield "log", 5e-324, 1e-300, "forward"
    yield "log", 1.0, math.nextafter(1.0, 0.0), "central"
    yield "sqrt", 1.7e308, 1.7e308, "central"
    yield "x2", -1e308, 1.5e308, "forward"
    yield "x3", 1.0, 1.5, "backward"
    # Both sides of the bounds at which quant-core changes its series.
    for h in [0.25, 0.2500001, 100.0, 100.0001]:
        yield "exp", 0.5, h, "central"
    for h in [0.12499, 0.125, 0.12501]:
        yield "log", 1.0, h, "central"
    for h in [0.784, 0.785, 0.786, 1.57, 1.58]:
        yield "sin", 0.785, h, "central"
        yield "tan", 0.1, h, "forward"


def at_random(count, seed):
    source = random.Random(seed)
    while count:
        function = source.choice(list(FUNCTIONS))
        scheme = source.choice(list(SCHEMES))
        x = source.choice([-1, 1]) * 10 ** source.choice([source.uniform(-3, 3), source.uniform(-300, 300)])
        h = 10 ** source.choice([source.uniform(-12, 2), source.uniform(-300, 300)])
        if source.random() < 0.3:
            h = abs(x) * 10 ** source.uniform(-17, 1)
        if function == "exp" and abs(x) + h > 1e5:
            continue
        if h < 5e-324 or not has_values(function, x, h, scheme):
            continue
        value = quotient(function, x, h, scheme)
        if math.isfinite(value):
            count -= 1
            yield function, x, h, scheme, value


def main():
    header = "function,x,h,scheme,quotient"
    if sys.argv[1:2] == ["random"]:
        print(f"# mpmath {mpmath.__version__}\n{header}")
        for row in at_random(int(sys.argv[2]), int(sys.argv[3])):
            print(*row, sep=",")
        return
    lines = [f"# mpmath {mpmath.__version__}, date 2026-11-20, python tests/golden/generate/numerical.py", header]
    for row in [*grid(), *edges()]:
        if has_values(*row):
            value = quotient(*row)
            if math.isfinite(value):
                lines.append(",".join(map(str, [*row, value])))
    target = Path(__file__).parent.parent / "numerical.csv"
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
