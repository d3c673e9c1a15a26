"""Writes ../capital_ratios.csv: ratios as fractions of doubles, adequacy as decimals as written.

Needs only Python: fractions.Fraction is exact on both readings of a number.
"""
import platform
from fractions import Fraction
from pathlib import Path

PATH = Path(__file__).parent.parent / "capital_ratios.csv"
STAMP = f"# Python {platform.python_version()} fractions, 2026-11-20, python tests/golden/generate/capital_ratios.py\n"
MINIMUMS = [Fraction(45, 1000), Fraction(6, 100), Fraction(8, 100)]


def row(capital, assets, exposure):
    ratio = float(Fraction(capital) / Fraction(assets))
    leverage = float(Fraction(capital) / Fraction(exposure))
    adequate = [Fraction(repr(capital)) >= m * Fraction(repr(assets)) for m in MINIMUMS]
    return [repr(x) for x in (capital, assets, exposure, ratio, leverage)] + [str(int(a)) for a in adequate]


def rows():
    # Capital at each minimum, and one last digit below and above, for assets of several sizes and
    # decimal places.
    for units in [1, 7, 23, 98, 997, 12345, 7654321]:
        for places in [0, 1, 2, 5]:
            assets = float(f"{units}e-{places}")
            for thousandths in (45, 60, 80):
                for tie in (-1, 0, 1):
                    capital = float(f"{thousandths * units + tie}e-{places + 3}")
                    yield row(capital, assets, 3.0 * assets)
    # Ties whose quotient of doubles is on the wrong side of the minimum.
    for thousandths, m in zip((45, 60, 80), MINIMUMS):
        found = 0
        for units in range(1, 100_000, 7):
            capital, assets = float(f"{thousandths * units}e-5"), float(f"{units}e-2")
            if capital / assets < thousandths / 1000 and found < 40:
                found += 1
                yield row(capital, assets, 2.0 * assets)
    for capital, assets in [
        (0.0, 1.0), (-5.0, 3.0), (1e-300, 1e-299), (4.5e-310, 1e-308), (5e-324, 1e300),
        (8e306, 1e308), (1.7e308, 2e307), (0.1, 1.25), (1e22, 1.25e23), (4.5e21, 1e23),
    ]:
        yield row(capital, assets, 7.0)


HEADER = "capital,assets,exposure,ratio,leverage,cet1_adequate,tier1_adequate,total_adequate\n"
lines = [",".join(fields) + "\n" for fields in rows()]
PATH.write_text(STAMP + HEADER + "".join(lines))
print(PATH.name, len(lines))
