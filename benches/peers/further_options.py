"""The options of further.rs by QuantLib from PyPI, else by the formula in Python."""

import math

import QuantLib as ql
from scipy.integrate import quad
from scipy.special import ndtr

from measure import by, measure, plain, quantlib

PRICING = "/quantlib/pricing/"


def calculator(kind, forward, strike, volatility, years, discount):
    payoff = ql.PlainVanillaPayoff(kind, strike)
    return ql.BlackCalculator(payoff, forward, volatility * math.sqrt(years), discount)


def european():
    forward, discount = 100 * math.exp(0.03), math.exp(-0.05)
    option = lambda: calculator(ql.Option.Call, forward, 105, 0.25, 1, discount)
    quantlib(PRICING + "bs/greeks", lambda: option().gamma(100.0))
    plain(PRICING + "bs/greeks-full", lambda: all_greeks(100, 105, 0.05, 0.02, 0.25, 1.0), lambda found: found["vanna"])
    implied = lambda: ql.blackFormulaImpliedStdDev(ql.Option.Call, 105, forward, 9.0, discount, 0.0, 0.25, 1e-14)
    quantlib(PRICING + "bs/implied-vol", implied)
    digital = lambda kind: ql.BlackCalculator(ql.CashOrNothingPayoff(kind, 105.0, 1.0), forward, 0.25, discount).value()
    quantlib(PRICING + "bs/digital-call", lambda: digital(ql.Option.Call))
    quantlib(PRICING + "bs/digital-put", lambda: digital(ql.Option.Put))


def all_greeks(spot, strike, rate, dividend, volatility, years):
    """The call of Black and Scholes with its derivatives of first and second order."""
    root = math.sqrt(years)
    deviation = volatility * root
    d1 = (math.log(spot / strike) + (rate - dividend) * years) / deviation + deviation / 2
    d2 = d1 - deviation
    carried, paid = spot * math.exp(-dividend * years), strike * math.exp(-rate * years)
    density = carried * math.exp(-d1 * d1 / 2) / math.sqrt(2 * math.pi)
    n1, n2 = (math.erfc(-d / math.sqrt(2)) / 2 for d in (d1, d2))
    drift = (rate - dividend) / deviation
    return {
        "price": carried * n1 - paid * n2,
        "delta": carried * n1 / spot,
        "gamma": density / (spot * spot * deviation),
        "vega": density * root,
        "theta": dividend * carried * n1 - rate * paid * n2 - density * volatility / (2 * root),
        "rho": years * paid * n2,
        "epsilon": -years * carried * n1,
        "dual_delta": -paid * n2 / strike,
        "dual_gamma": density / (strike * strike * deviation),
        "vanna": -density * d2 / (spot * volatility),
        "vomma": density * root * d1 * d2 / volatility,
        "charm": dividend * carried * n1 / spot - density / spot * (drift - d2 / (2 * years)),
        "veta": density * root * (dividend + drift * d1 - (1 + d1 * d2) / (2 * years)),
        "vera": -density * years * d1 / volatility,
    }


def forwards():
    discount = math.exp(-0.05)
    black = lambda: calculator(ql.Option.Call, 100, 105, 0.2, 1, discount)
    quantlib(PRICING + "black76/price", lambda: ql.blackFormula(ql.Option.Call, 105, 100, 0.2, discount))
    quantlib(PRICING + "black76/greeks", lambda: black().gammaForward())
    implied = lambda: ql.blackFormulaImpliedStdDev(ql.Option.Call, 105, 100, 6.0, discount, 0.0, 0.25, 1e-14)
    quantlib(PRICING + "black76/implied-vol", implied)
    quantlib(PRICING + "bachelier/price", lambda: ql.bachelierBlackFormula(ql.Option.Call, 105, 100, 20, discount))
    payoff = lambda: ql.PlainVanillaPayoff(ql.Option.Call, 105)
    normal = lambda: ql.BachelierCalculator(payoff(), 100, 20, discount)
    quantlib(PRICING + "bachelier/greeks", lambda: normal().gammaForward())
    implied = lambda: ql.bachelierBlackFormulaImpliedVol(ql.Option.Call, 105, 100, 1, 6.0, discount)
    quantlib(PRICING + "bachelier/implied-vol", implied)


def rates():
    caplet = lambda kind: 0.25e6 * ql.blackFormula(kind, 0.048, 0.05, 0.2, 0.95)
    quantlib(PRICING + "black76/caplet", lambda: caplet(ql.Option.Call))
    quantlib(PRICING + "black76/floorlet", lambda: caplet(ql.Option.Put))
    deviation = 0.25 * math.sqrt(2)
    quantlib(PRICING + "black76/swaption", lambda: 4.3e6 * ql.blackFormula(ql.Option.Call, 0.042, 0.04, deviation))
    forward, discount, deviation = 1.56 * math.exp(-0.01), math.exp(-0.03), 0.12 * math.sqrt(0.5)
    currency = lambda: ql.blackFormula(ql.Option.Call, 1.6, forward, deviation, discount)
    quantlib("/quantlib/instruments/fx/garman-kohlhagen", currency)


def process(today, forward, rate, dividend, volatility):
    # 30/360 counts a whole month as a twelfth of a year.
    count = ql.Thirty360(ql.Thirty360.BondBasis)
    flat = lambda rate: ql.YieldTermStructureHandle(ql.FlatForward(today, rate, count))
    deviation = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), volatility, count))
    quote = ql.QuoteHandle(ql.SimpleQuote(forward))
    return ql.GeneralizedBlackScholesProcess(quote, flat(dividend), flat(rate), deviation)


def repriced(option):
    option.recalculate()
    return option.NPV()


def trees():
    today = ql.Date(30, 1, 2026)
    ql.Settings.instance().evaluationDate = today
    of_put = process(today, 100, 0.05, 0.02, 0.25)
    put = ql.PlainVanillaPayoff(ql.Option.Put, 105)
    after = lambda months: today + ql.Period(months, ql.Months)
    american = ql.VanillaOption(put, ql.AmericanExercise(today, after(12)))
    bermudan = ql.VanillaOption(put, ql.BermudanExercise([after(months) for months in (2, 5, 8, 12)]))
    for option, name in ((american, "american"), (bermudan, "bermudan")):
        option.setPricingEngine(ql.BinomialVanillaEngine(of_put, "lr", 601))
        quantlib(PRICING + "binomial/" + name, lambda: repriced(option))


def spread():
    """Kirk's approximation by QuantLib, and the value that it approximates as an integral by scipy."""
    today = ql.Date(30, 1, 2026)
    ql.Settings.instance().evaluationDate = today
    # A forward is an asset whose dividend yield is the riskless rate.
    first, second = process(today, 100, 0.05, 0.05, 0.2), process(today, 95, 0.05, 0.05, 0.18)
    payoff = ql.SpreadBasketPayoff(ql.PlainVanillaPayoff(ql.Option.Call, 5))
    option = ql.BasketOption(payoff, ql.EuropeanExercise(today + ql.Period(1, ql.Years)))
    option.setPricingEngine(ql.KirkEngine(first, second, 0.7))
    measure("Kirk's approximation alone", "QuantLib (Python)", lambda: repriced(option))
    shared, unshared, discount = 0.7 * 0.2, 0.2 * math.sqrt(1 - 0.7**2), math.exp(-0.05)

    def expected(z):
        forward = 100 * math.exp(shared * z - shared * shared / 2)
        strike = 95 * math.exp(0.18 * z - 0.18**2 / 2) + 5
        d1 = math.log(forward / strike) / unshared + unshared / 2
        payoff = forward * ndtr(d1) - strike * ndtr(d1 - unshared)
        return payoff * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    def both():
        return repriced(option), discount * quad(expected, -9, 9, epsabs=1e-12, epsrel=1e-12)[0]

    by("QuantLib (Python) and scipy")(PRICING + "kirk/spread-price", both, sum)


def options():
    european()
    forwards()
    rates()
    trees()
    spread()
