"""The work of further.rs by QuantLib from PyPI, else by numpy. Prints the same lines.

Each call includes what Python adds to it: the row `overhead` is an empty call, and a call into QuantLib that
does nothing is `overhead QuantLib`. A computation that is not here has no peer.
"""

import math

import numpy as np
import QuantLib as ql

from measure import measure

PRICING, CURVES = "/quantlib/pricing/", "/quantlib/curves/"
FINANCE, SCHEDULING = "/quantlib/solver/finance/", "/quantlib/scheduling/"
PREDICTIVE = "/quantlib/analysis/valuation/predictive/"


def quantlib(path, work, value=float):
    measure(path, "QuantLib (Python)", work, value)


def numpy(path, work, value=float):
    measure(path, "numpy", work, value)


def plain(path, work, value=float):
    measure(path, "Python", work, value)


def calculator(kind, forward, strike, volatility, years, discount):
    payoff = ql.PlainVanillaPayoff(kind, strike)
    return ql.BlackCalculator(payoff, forward, volatility * math.sqrt(years), discount)


def options():
    forward, discount = 100 * math.exp(0.03), math.exp(-0.05)
    european = lambda: calculator(ql.Option.Call, forward, 105, 0.25, 1, discount)
    quantlib(PRICING + "bs/greeks", lambda: european().gamma(100.0))
    implied = lambda: ql.blackFormulaImpliedStdDev(ql.Option.Call, 105, forward, 9.0, discount, 0.0, 0.25, 1e-14)
    quantlib(PRICING + "bs/implied-vol", implied)
    digital = lambda kind: ql.BlackCalculator(ql.CashOrNothingPayoff(kind, 105.0, 1.0), forward, 0.25, discount).value()
    quantlib(PRICING + "bs/digital-call", lambda: digital(ql.Option.Call))
    quantlib(PRICING + "bs/digital-put", lambda: digital(ql.Option.Put))
    black = lambda: calculator(ql.Option.Call, 100, 105, 0.2, 1, discount)
    quantlib(PRICING + "black76/price", lambda: ql.blackFormula(ql.Option.Call, 105, 100, 0.2, discount))
    quantlib(PRICING + "black76/greeks", lambda: black().gammaForward())
    implied = lambda: ql.blackFormulaImpliedStdDev(ql.Option.Call, 105, 100, 6.0, discount, 0.0, 0.25, 1e-14)
    quantlib(PRICING + "black76/implied-vol", implied)
    quantlib(PRICING + "bachelier/price", lambda: ql.bachelierBlackFormula(ql.Option.Call, 105, 100, 20, discount))
    implied = lambda: ql.bachelierBlackFormulaImpliedVol(ql.Option.Call, 105, 100, 1, 6.0, discount)
    quantlib(PRICING + "bachelier/implied-vol", implied)
    caplet = lambda kind: 0.25e6 * ql.blackFormula(kind, 0.048, 0.05, 0.2, 0.95)
    quantlib(PRICING + "black76/caplet", lambda: caplet(ql.Option.Call))
    quantlib(PRICING + "black76/floorlet", lambda: caplet(ql.Option.Put))
    deviation = 0.25 * math.sqrt(2)
    quantlib(PRICING + "black76/swaption", lambda: 4.3e6 * ql.blackFormula(ql.Option.Call, 0.042, 0.04, deviation))
    forward, discount, deviation = 1.56 * math.exp(-0.01), math.exp(-0.03), 0.12 * math.sqrt(0.5)
    currency = lambda: ql.blackFormula(ql.Option.Call, 1.6, forward, deviation, discount)
    quantlib("/quantlib/instruments/fx/garman-kohlhagen", currency)
    trees()


def trees():
    today = ql.Date(30, 1, 2026)
    ql.Settings.instance().evaluationDate = today
    act365 = ql.Actual365Fixed()
    flat = lambda rate: ql.YieldTermStructureHandle(ql.FlatForward(today, rate, act365))
    volatility = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), 0.25, act365))
    process = ql.BlackScholesMertonProcess(ql.QuoteHandle(ql.SimpleQuote(100)), flat(0.02), flat(0.05), volatility)
    put = ql.PlainVanillaPayoff(ql.Option.Put, 105)
    option = ql.VanillaOption(put, ql.AmericanExercise(today, today + 365))
    option.setPricingEngine(ql.BinomialVanillaEngine(process, "lr", 501))

    def price():
        option.recalculate()
        return option.NPV()

    quantlib(PRICING + "binomial/american", price)


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
    rule = lambda: ql.Schedule(start, end, half_year, target, following, following, ql.DateGeneration.Backward, False)
    quantlib(SCHEDULING + "schedule/generate", rule, lambda schedule: len(schedule) - 1)


def company():
    flows = np.array([220.0, 230.0, 238.0, 245.0, 250.0])

    def firm():
        factors = 1.09 ** -np.arange(1, 6)
        return (flows @ factors + flows[-1] * 1.02 / 0.07 * factors[-1] - 700.0) / 50.0

    numpy("/quantlib/analysis/valuation/dcf/fcff", firm)
    ratios, weights = np.array([0.1, 0.2, 0.1, 2000 / 1200, 0.5]), np.array([1.2, 1.4, 3.3, 0.6, 0.999])
    numpy(PREDICTIVE + "altman-z", lambda: weights @ ratios)


TENORS = np.array([0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0])
RATES = 0.03 + 0.0005 * TENORS - 0.01 / (1.0 + TENORS)


def readings():
    rate = lambda tenor: np.interp(tenor, TENORS, RATES)
    numpy(CURVES + "discount-factor", lambda: math.exp(-7.3 * rate(7.3)))
    numpy(CURVES + "zero-rate", lambda: rate(7.3))
    numpy(CURVES + "forward-rate", lambda: (7.3 * rate(7.3) - 2.25 * rate(2.25)) / 5.05)
    tenors = 0.5 * np.arange(1, 51)
    numpy(CURVES + "curve-points", lambda: rate(tenors).sum())
    numpy(CURVES + "parallel-shift", lambda: RATES + 1e-4, lambda rates: np.interp(7.3, TENORS, rates))


def bonds():
    issue, maturity, settlement = ql.Date(15, 1, 2024), ql.Date(15, 1, 2054), ql.Date(7, 3, 2024)
    half_year, none = ql.Period(6, ql.Months), ql.NullCalendar()
    unadjusted = ql.Unadjusted
    schedule = ql.Schedule(issue, maturity, half_year, none, unadjusted, unadjusted, ql.DateGeneration.Backward, False)
    count = ql.ActualActual(ql.ActualActual.ISMA, schedule)
    bond = ql.FixedRateBond(0, 100.0, schedule, [0.04], count)
    rate = ql.InterestRate(0.05, count, ql.Compounded, ql.Semiannual)
    path = "/quantlib/instruments/bond/"
    quantlib(path + "fixed/price", lambda: ql.BondFunctions.cleanPrice(bond, rate, settlement))
    clean = ql.BondPrice(85.0, ql.BondPrice.Clean)
    guess = (count, ql.Compounded, ql.Semiannual, settlement, 1e-12)
    quantlib(path + "fixed/yield", lambda: ql.BondFunctions.bondYield(bond, clean, *guess))
    quantlib(path + "fixed/analytics", lambda: ql.BondFunctions.duration(bond, rate, ql.Duration.Modified, settlement))
    years = ql.Actual365Fixed()
    annual = lambda: 100.0 * ql.InterestRate(0.04, years, ql.Compounded, ql.Annual).discountFactor(settlement, maturity)
    quantlib(path + "zero-coupon/price", annual)


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


def portfolios():
    size = 10
    volatilities = 0.1 + 0.02 * np.arange(size)
    places = np.arange(size)
    sigma = np.outer(volatilities, volatilities) * 0.5 ** abs(places[:, None] - places)
    weights = np.full(size, 0.1)

    def contributions():
        marginal = sigma @ weights
        return weights * marginal / math.sqrt(weights @ marginal)

    path = "/quantlib/portfolio/"
    numpy(path + "risk/contribution", contributions, lambda found: found[0])
    quantile, density = 1.6448536269514722, math.exp(-0.5 * 1.6448536269514722**2) / math.sqrt(2 * math.pi)
    volatility = lambda: math.sqrt(weights @ sigma @ weights)
    numpy(path + "risk/var", lambda: quantile * volatility())
    numpy(path + "risk/cvar", lambda: density / 0.05 * volatility())
    caps = np.arange(1.0, size + 1)
    implied = lambda: 2.5 * sigma @ (caps / caps.sum())
    numpy(path + "black-litterman/equilibrium", implied, lambda found: found[0])
    view = np.zeros(size)
    view[:2] = 1.0, -1.0

    def posterior():
        prior, scaled = implied(), 0.05 * sigma @ view
        return prior + scaled * (0.03 - view @ prior) / (view @ scaled + 0.001)

    numpy(path + "black-litterman/posterior", posterior, lambda found: found[0])
    plain("/quantlib/risk/var/parametric", lambda: 2.3263478740408408 * 0.02 * math.sqrt(10))
    days = np.arange(250)
    returns = lambda seed: 0.0001 * ((days + 1) * (days + 7 * seed + 1) % 509 - 250.0)
    shocks = returns(4)[:100]
    numpy("/quantlib/risk/stress/scenario", lambda: 1e6 * shocks.sum())


measure("overhead", "Python", lambda: 0.0)
measure("overhead QuantLib", "Python", lambda: ql.nullDouble() * 0.0)
for work in (options, scheduling, company, readings, bonds, time_value, money_market, portfolios):
    work()
