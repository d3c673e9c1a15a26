"""Golden rows for tests/quantlib/analysis.rs: company value and scores in exact fractions of the decimals as written.

Writes ../analysis_dcf.csv, ../analysis_dcf_projected.csv, ../analysis_altman.csv, ../analysis_piotroski.csv and
../analysis_beneish.csv.

Usage: python analysis.py [directory], with mpmath from PyPI for the normal distribution.
"""

import pathlib
import platform
import random
import sys
from fractions import Fraction

import mpmath

DIRECTORY = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
mpmath.mp.dps = 40


def write(name, header, rows):
    path = DIRECTORY / f"analysis_{name}.csv"
    tool = f"Python {platform.python_version()} fractions and mpmath {mpmath.__version__}"
    head = f"# {tool}, date 2026-11-22, python tests/golden/generate/analysis.py"
    path.write_text("\n".join([head, header, *rows]) + "\n")


def amounts(rng, *ranges):
    scale, places = rng.choice([1, 1000, 1_000_000]), rng.choice([0, 1, 2, 6])
    return [f"{rng.uniform(low, high) * scale:.{places}f}" for low, high in ranges]


def shown(value):
    """A fraction as the nearest double."""
    return repr(float(value))


def firm_terms(rng):
    """The cost of capital, the growth, the shares and the net debt."""
    growth = f"{rng.uniform(-0.2, 0.05):.4f}"
    wacc = f"{float(growth) + rng.choice([0.001, 0.01, 0.05, 0.2, 1.5]) * rng.uniform(1, 1.3):.4f}"
    return wacc, growth, f"{rng.uniform(1, 5000):.1f}", f"{rng.uniform(-3000, 3000):.2f}"


def dcf(rng):
    for _ in range(120):
        years = rng.choice([1, 2, 5, 5, 10, 40])
        flows = [f"{rng.uniform(-50, 900):.2f}" for _ in range(years)]
        wacc, growth, shares, debt = firm_terms(rng)
        w, g = Fraction(wacc), Fraction(growth)
        if not w > g or w <= -1:
            continue
        present = [Fraction(flow) / (1 + w) ** year for year, flow in enumerate(flows, 1)]
        terminal = Fraction(flows[-1]) * (1 + g) / (w - g)
        discounted = terminal / (1 + w) ** years
        firm = sum(present) + discounted
        share = (firm - Fraction(debt)) / Fraction(shares)
        # What rounding can be measured by: the sum of all sizes.
        size = sum(map(abs, present)) + abs(discounted)
        yield ",".join(
            [" ".join(flows), wacc, growth, shares, debt, shown(firm), shown(terminal), shown(share), shown(size)]
        )


def dcf_projected(rng):
    for _ in range(120):
        years = rng.choice([1, 2, 5, 10, 40])
        flow, rate = f"{rng.uniform(-50, 900):.2f}", f"{rng.choice([0.02, 0.3, 1.5]) * rng.uniform(-0.6, 1.3):.4f}"
        wacc, growth, shares, debt = firm_terms(rng)
        w, g = Fraction(wacc), Fraction(growth)
        if not w > g or w <= -1:
            continue
        flows = [Fraction(flow) * (1 + Fraction(rate)) ** year for year in range(1, years + 1)]
        present = [projected / (1 + w) ** year for year, projected in enumerate(flows, 1)]
        discounted = flows[-1] * (1 + g) / (w - g) / (1 + w) ** years
        share = (sum(present) + discounted - Fraction(debt)) / Fraction(shares)
        yield ",".join([flow, rate, str(years), wacc, growth, shares, debt, shown(share)])


def altman(rng):
    for at in range(200):
        working, assets, retained, ebit, market, liabilities, revenue = amounts(
            rng, (-300, 500), (300, 3000), (-600, 900), (-300, 500), (0, 4000), (100, 2500), (0, 4000)
        )
        if at % 4 == 0:
            # A score at a bound: 0.6 times the market value over the liabilities, and nothing else.
            bound = rng.choice(["2.99", "1.81"])
            liabilities = str(rng.randint(1, 5000) * 3)
            working = retained = ebit = revenue = "0"
            market = str(Fraction(bound) * Fraction(liabilities) / Fraction("0.6"))
            if "/" in market:
                market = repr(float(Fraction(market)))
                if Fraction(market) * Fraction("0.6") != Fraction(bound) * Fraction(liabilities):
                    continue
        terms = [
            Fraction("1.2") * Fraction(working) / Fraction(assets),
            Fraction("1.4") * Fraction(retained) / Fraction(assets),
            Fraction("3.3") * Fraction(ebit) / Fraction(assets),
            Fraction("0.6") * Fraction(market) / Fraction(liabilities),
            Fraction("0.999") * Fraction(revenue) / Fraction(assets),
        ]
        score = sum(terms)
        zone = "safe" if score > Fraction("2.99") else "distress" if score < Fraction("1.81") else "grey"
        yield ",".join(
            [working, assets, retained, ebit, market, liabilities, revenue, shown(score), zone]
            + [shown(term) for term in terms]
        )


def piotroski(rng):
    ranges = [(-50, 200), (300, 3000), (-60, 250), (0, 900), (50, 900), (50, 700), (1, 90), (-20, 600), (100, 2000)]
    for _ in range(200):
        now, then = amounts(rng, *ranges), amounts(rng, *ranges)
        if rng.random() < 0.5:
            # Many ties: the same year, in another unit where that is exact.
            factor = rng.choice([1, 2, 3, 7])
            ties = rng.sample(range(9), 5)
            then = [value for value in now] if rng.random() < 0.5 else then
            if factor > 1:
                then = [repr(round(float(Fraction(value) * factor), 6)) for value in now]
            for at in range(9):
                if at not in ties and factor == 1:
                    then[at] = amounts(rng, ranges[at])[0]
        a, b = [Fraction(value) for value in now], [Fraction(value) for value in then]
        if min(a[1], a[5], a[8], b[1], b[5], b[8]) <= 0 or min(a[3], a[4], a[6], b[3], b[4], b[6]) < 0:
            continue
        signals = [
            a[0] > 0, a[2] > 0, a[0] / a[1] > b[0] / b[1], a[2] > a[0], a[3] / a[1] < b[3] / b[1],
            a[4] / a[5] > b[4] / b[5], a[6] <= b[6], a[7] / a[8] > b[7] / b[8], a[8] / a[1] > b[8] / b[1],
        ]
        yield ",".join([" ".join(now), " ".join(then), "".join("1" if s else "0" for s in signals), str(sum(signals))])


def beneish(rng):
    # revenue receivables gross_profit current_assets ppe total_assets depreciation sga long_term_debt
    # current_liabilities net_income operating_cash_flow
    ranges = [
        (100, 3000), (5, 400), (20, 900), (50, 700), (50, 900), (1700, 3000), (5, 100), (10, 400), (10, 900), (20, 700),
        (-100, 300), (-100, 300),
    ]
    weights = ["0.920", "0.528", "0.404", "0.892", "0.115", "-0.172", "-0.327", "4.679"]
    for _ in range(200):
        now, then = amounts(rng, *ranges), amounts(rng, *ranges)
        s, rec, gp, ca, ppe, ta, dep, sga, debt, cl, ni, cfo = map(Fraction, now)
        s1, rec1, gp1, ca1, ppe1, ta1, dep1, sga1, debt1, cl1, _, _ = map(Fraction, then)
        indices = [
            (rec / s) / (rec1 / s1),
            (gp1 / s1) / (gp / s),
            (1 - (ca + ppe) / ta) / (1 - (ca1 + ppe1) / ta1),
            s / s1,
            (dep1 / (dep1 + ppe1)) / (dep / (dep + ppe)),
            (sga / s) / (sga1 / s1),
            ((debt + cl) / ta) / ((debt1 + cl1) / ta1),
            (ni - cfo) / ta,
        ]
        score = Fraction("-4.84") + sum(Fraction(w) * index for w, index in zip(weights, indices))
        exact = mpmath.mpf(score.numerator) / score.denominator
        yield ",".join(
            [" ".join(now), " ".join(then), shown(score), repr(float(mpmath.ncdf(exact)))]
            + [shown(index) for index in indices]
        )


def main():
    tables = [
        (dcf, "fcff,wacc,terminal_growth,shares_outstanding,net_debt,enterprise_value,terminal_value,per_share,size"),
        (
            altman,
            "working_capital,total_assets,retained_earnings,ebit,market_cap,total_liabilities,revenue,z_score,zone,"
            "t1,t2,t3,t4,t5",
        ),
        (piotroski, "current,prior,signals,f_score"),
        (beneish, "current,prior,m_score,probability,dsri,gmi,aqi,sgi,depi,sgai,lvgi,tata"),
        (
            dcf_projected,
            "free_cash_flow,growth_rate,years,wacc,terminal_growth,shares_outstanding,net_debt,per_share",
        ),
    ]
    for seed, (table, header) in enumerate(tables):
        write(table.__name__, header, table(random.Random(seed)))


main()
