"""The work of further.rs by QuantLib from PyPI, else by a library or a formula. Prints the same lines.

Each call includes what Python adds to it: the row `overhead` is an empty call, and a call into QuantLib that
does nothing is `overhead QuantLib`. A computation that is not here has no peer.
"""

import math

import numpy as np
import QuantLib as ql

from further_options import options
from further_portfolios import portfolios
from further_rates import rates
from measure import measure, numpy, plain, quantlib

FINANCE, SCHEDULING = "/quantlib/solver/finance/", "/quantlib/scheduling/"
PREDICTIVE = "/quantlib/analysis/valuation/predictive/"


def scheduling():
    target, start, end = ql.TARGET(), ql.Date(2, 4, 2026), ql.Date(2, 4, 2036)
    origin = ql.Date(1, 1, 1970)
    days = lambda date: date - origin
    path = SCHEDULING + "calendar/"
    quantlib(path + "is-business-day", lambda: target.isBusinessDay(start))
    quantlib(path + "next-business-day", lambda: target.advance(start, 1, ql.Days), days)
    quantlib(path + "previous-business-day", lambda: target.advance(start, -1, ql.Days), days)
    quantlib(path + "add-business-days", lambda: target.advance(start, 250, ql.Days), days)
    quantlib(path + "business-days-between", lambda: target.businessDaysBetween(start, end))
    last = ql.Date(31, 5, 2026)
    quantlib(SCHEDULING + "adjustment/adjust-date", lambda: target.adjust(last, ql.ModifiedFollowing), days)
    count, until = ql.ActualActual(ql.ActualActual.ISDA), ql.Date(17, 10, 2027)
    quantlib(SCHEDULING + "daycount/year-fraction", lambda: count.yearFraction(start, until))
    following = ql.ModifiedFollowing
    half_year = ql.Period(6, ql.Months)
    rule = lambda start, way: ql.Schedule(start, end, half_year, target, following, following, way, False)
    dates = lambda schedule: sum(map(days, schedule))
    path, back, on = SCHEDULING + "schedule/generate", ql.DateGeneration.Backward, ql.DateGeneration.Forward
    quantlib(path, lambda: rule(start, back), dates)
    uneven = ql.Date(29, 5, 2026)
    quantlib(path + " (short front stub)", lambda: rule(uneven, back), dates)
    quantlib(path + " (short back stub)", lambda: rule(uneven, on), dates)


def company():
    flows = np.array([220.0, 230.0, 238.0, 245.0, 250.0])

    def firm():
        factors = 1.09 ** -np.arange(1, 6)
        return (flows @ factors + flows[-1] * 1.02 / 0.07 * factors[-1] - 700.0) / 50.0

    numpy("/quantlib/analysis/valuation/dcf/fcff", firm)
    ratios, weights = np.array([0.1, 0.2, 0.1, 2000 / 1200, 0.5]), np.array([1.2, 1.4, 3.3, 0.6, 0.999])
    numpy(PREDICTIVE + "altman-z", lambda: weights @ ratios)
    plain(PREDICTIVE + "piotroski-f", piotroski)
    plain(PREDICTIVE + "beneish-m", beneish)


# The accounts of two years: net income, assets, cash flow, debt, current assets and liabilities, shares,
# gross profit, revenue.
PIOTROSKI = (
    (190.0, 2000.0, 220.0, 600.0, 500.0, 300.0, 50.0, 480.0, 1150.0),
    (150.0, 2000.0, 220.0, 600.0, 500.0, 300.0, 50.0, 400.0, 1000.0),
)


def piotroski():
    figures = []
    for income, assets, cash, debt, current, owed, shares, profit, sales in PIOTROSKI:
        figures.append((income / assets, -debt / assets, current / owed, -shares, profit / sales, sales / assets))
    income, cash = PIOTROSKI[0][0], PIOTROSKI[0][2]
    (returns, debt, liquidity, shares, margin, turnover), prior = figures
    rises = (returns > prior[0], debt > prior[1], liquidity > prior[2], shares >= prior[3])
    return sum((income > 0, cash > 0, cash > income, *rises, margin > prior[4], turnover > prior[5]))


# Revenue, receivables, gross profit, current assets, plant, assets, depreciation, expenses, debt, owed.
BENEISH = (
    (1150.0, 140.0, 400.0, 500.0, 1200.0, 2000.0, 50.0, 180.0, 600.0, 300.0),
    (1000.0, 100.0, 400.0, 500.0, 1200.0, 2000.0, 50.0, 180.0, 600.0, 300.0),
)


def beneish():
    figures = []
    for sales, receivables, profit, current, plant, assets, worn, expenses, debt, owed in BENEISH:
        quality, wear = 1 - (current + plant) / assets, worn / (worn + plant)
        shares = (receivables / sales, profit / sales, quality, sales, wear, expenses / sales)
        figures.append((*shares, (debt + owed) / assets))
    (dsr, margin, quality, sales, wear, expenses, leverage), prior = figures
    growing = 0.920 * dsr / prior[0] + 0.404 * quality / prior[2] + 0.892 * sales / prior[3]
    falling = 0.528 * prior[1] / margin + 0.115 * prior[4] / wear
    accruals = (150.0 - 220.0) / 2000.0
    rest = 4.679 * accruals - 0.172 * expenses / prior[5] - 0.327 * leverage / prior[6]
    return -4.84 + growing + falling + rest


def time_value():
    payments = np.full(31, 5.0)
    payments[0], payments[30] = -93.0, 105.0
    times = np.arange(31)
    numpy(FINANCE + "npv", lambda: payments @ 1.04 ** -times)

    def rate(power):
        found = 0.05
        for _ in range(50):
            factors = (1.0 + found) ** -power
            step = (payments @ factors) / ((payments * power) @ factors) * (1.0 + found)
            found += step
            if abs(step) < 1e-15:
                break
        return found

    numpy(FINANCE + "irr", lambda: rate(times))
    numpy(FINANCE + "xirr", lambda: rate(times * 1.0))
    plain(FINANCE + "loan-amortization", lambda: 200_000 * 0.005 / (1 - 1.005**-360))
    plain(FINANCE + "g-spread", lambda: (0.0525 - 0.04) * 1e4)
    months = np.arange(1, 21)
    flows = np.full(20, 2.0)
    flows[-1] += 100.0

    def measures():
        values = flows * 1.025**-months
        price = values.sum()
        duration = (months * values).sum() / 2 / price / 1.025
        return duration, (months * (months + 1) * values).sum() / 4 / price / 1.025**2, duration * price * 1e-4

    for at, name in enumerate(("duration", "convexity", "dv01")):
        numpy(FINANCE + name, measures, lambda found, at=at: found[at])


def money_market():
    plain("/quantlib/instruments/money-market/deposit", lambda: 1e6 * (1 + 0.05 * 91 / 360))
    plain("/quantlib/instruments/fx/forward", lambda: 1.1 * math.exp(0.02))


measure("overhead", "Python", lambda: 0.0)
measure("overhead QuantLib", "Python", lambda: ql.nullDouble() * 0.0)
for work in (options, scheduling, company, rates, time_value, money_market, portfolios):
    work()
