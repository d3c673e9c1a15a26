"""The curves, bonds and swaps of further.rs by QuantLib from PyPI, else by numpy or scipy.

The schedules of bonds and swaps are made before the measured call. A new curve makes QuantLib price again.
"""

import math
from itertools import cycle

import numpy as np
import QuantLib as ql
from scipy.optimize import least_squares

from measure import numpy, quantlib, scipy

CURVES, FINANCE = "/quantlib/curves/", "/quantlib/solver/finance/"
INSTRUMENTS = "/quantlib/instruments/"
TENORS = np.array([0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0])
RATES = 0.03 + 0.0005 * TENORS - 0.01 / (1.0 + TENORS)
START = ql.Date(15, 1, 2024)
# 30/360 counts a whole month as a twelfth of a year, as the curves of quant-core do.
MONTHS = ql.Thirty360(ql.Thirty360.BondBasis)
NONE, UNADJUSTED = ql.NullCalendar(), ql.Unadjusted
YEARS_365 = ql.Actual365Fixed()
BASIS_POINT = 1e-4


def after(months):
    return START + ql.Period(int(months), ql.Months)


def schedule(months, every, start=START):
    end = start + ql.Period(months, ql.Months)
    rule = ql.DateGeneration.Backward
    return ql.Schedule(start, end, ql.Period(every, ql.Months), NONE, UNADJUSTED, UNADJUSTED, rule, False)


PILLARS = [START] + [after(12 * tenor) for tenor in TENORS]


def zero_curve(rates):
    """The curve of these zero rates, linear between the pillars and flat before the first."""
    return ql.ZeroCurve(PILLARS, [float(rates[0]), *map(float, rates)], MONTHS, NONE)


def readings():
    rate = lambda tenor: np.interp(tenor, TENORS, RATES)
    numpy(CURVES + "discount-factor", lambda: math.exp(-7.3 * rate(7.3)))
    numpy(CURVES + "zero-rate", lambda: rate(7.3))
    numpy(CURVES + "forward-rate", lambda: (7.3 * rate(7.3) - 2.25 * rate(2.25)) / 5.05)
    tenors = 0.5 * np.arange(1, 51)
    numpy(CURVES + "curve-points", lambda: rate(tenors).sum())
    numpy(CURVES + "parallel-shift", lambda: RATES + BASIS_POINT, lambda rates: np.interp(7.3, TENORS, rates))
    weights = lambda: np.maximum(0.0, 1.0 - abs(TENORS - 5.0) / 2.0)
    numpy(CURVES + "key-rate-shift", lambda: RATES + BASIS_POINT * weights(), lambda rates: np.interp(5, TENORS, rates))


def loadings(decays):
    """The loadings of level, slope and curvature, and of a second curvature where there are two decay times."""
    parts = [TENORS / decay for decay in decays]
    slopes = [-np.expm1(-part) / part for part in parts]
    curvatures = [slope - np.exp(-part) for slope, part in zip(slopes, parts)]
    return np.column_stack([np.ones(len(TENORS)), slopes[0], *curvatures])


def residuals(decays):
    """The distance of the rates from the best curve with these logarithms of decay times."""
    matrix = loadings(np.exp(decays))
    return matrix @ np.linalg.lstsq(matrix, RATES, rcond=None)[0] - RATES


def fits():
    """A local search for the decay times from one start; two of them need the bounds of quant-core."""
    misfit = lambda found: math.sqrt(np.mean(found.fun**2))
    one = lambda: least_squares(residuals, [math.log(2.0)], method="lm")
    scipy(CURVES + "nelson-siegel/fit", one, misfit)
    bounds = (math.log(TENORS[0] / 2), math.log(TENORS[-1] * 2))
    two = lambda: least_squares(residuals, np.log([1.0, 20.0]), bounds=bounds, ftol=1e-12, xtol=1e-12, gtol=1e-14)
    scipy(CURVES + "nss/fit", two, misfit)


def bootstraps():
    ql.Settings.instance().evaluationDate = START
    quote = lambda rate: ql.QuoteHandle(ql.SimpleQuote(rate))
    period = lambda months: ql.Period(int(months), ql.Months)
    annual = ql.IborIndex("annual", period(12), 0, ql.USDCurrency(), NONE, UNADJUSTED, False, MONTHS)
    helpers = [ql.DepositRateHelper(quote(0.032), period(6), 0, NONE, UNADJUSTED, False, MONTHS)]
    for years, rate in ((1, 0.0325), (2, 0.033), (3, 0.0335), (5, 0.034)):
        terms = (NONE, ql.Annual, UNADJUSTED, MONTHS, annual)
        helpers.append(ql.SwapRateHelper(quote(rate), period(12 * years), *terms))
    three = lambda curve: curve.discount(after(36))

    def solved(helpers):
        curve = ql.PiecewiseLogLinearDiscount(START, helpers, MONTHS)
        curve.nodes()
        return curve

    quantlib("/quantlib/solver/bootstrap/curve", lambda: solved(helpers), three)
    overnight = ql.OvernightIndex("overnight", 0, ql.USDCurrency(), NONE, MONTHS)
    terms = {"telescopicValueDates": True, "paymentFrequency": ql.Annual, "paymentConvention": UNADJUSTED}
    swaps = [
        ql.OISRateHelper(0, period(12 * years), quote(0.03 + 0.0005 * at), overnight, **terms)
        for at, years in enumerate((0.25, 0.5, 1, 2, 3, 5, 7, 10))
    ]
    quantlib(INSTRUMENTS + "ois/build-curve", lambda: solved(swaps), three)


def bonds():
    settlement = ql.Date(7, 3, 2024)
    dates = schedule(360, 6)
    count = ql.ActualActual(ql.ActualActual.ISMA, dates)
    bond = ql.FixedRateBond(0, 100.0, dates, [0.04], count)
    rate = ql.InterestRate(0.05, count, ql.Compounded, ql.Semiannual)
    path = INSTRUMENTS + "bond/"
    quantlib(path + "fixed/price", lambda: ql.BondFunctions.cleanPrice(bond, rate, settlement))
    clean = ql.BondPrice(85.0, ql.BondPrice.Clean)
    guess = (count, ql.Compounded, ql.Semiannual, settlement, 1e-12)
    quantlib(path + "fixed/yield", lambda: ql.BondFunctions.bondYield(bond, clean, *guess))
    quantlib(path + "fixed/analytics", lambda: ql.BondFunctions.duration(bond, rate, ql.Duration.Modified, settlement))
    annual = lambda: ql.InterestRate(0.04, YEARS_365, ql.Compounded, ql.Annual)
    years = lambda: annual().discountFactor(settlement, after(360))
    quantlib(path + "zero-coupon/price", lambda: 100.0 * years())


def spreads():
    ql.Settings.instance().evaluationDate = START
    years = np.arange(31)
    rates = [0.03 + 0.0005 * max(int(year), 1) for year in years]
    curve = ql.ZeroCurve([after(12 * year) for year in years], rates, MONTHS, NONE)
    bond = ql.FixedRateBond(0, 100.0, schedule(360, 12), [0.05], MONTHS)
    clean = ql.BondPrice(93.0, ql.BondPrice.Clean)
    terms = (MONTHS, ql.Continuous, ql.Annual, START, 1e-12)
    quantlib(FINANCE + "z-spread", lambda: ql.BondFunctions.zSpread(bond, clean, curve, *terms))
    level = ql.FixedRateBond(0, 100.0, schedule(120, 6), [0.04], MONTHS)
    handle = ql.RelinkableYieldTermStructureHandle(zero_curve(RATES))
    quarterly = ibor(3, handle, MONTHS)
    swap = ql.AssetSwap(False, level, 95.0, quarterly, 0.0, schedule(120, 3), MONTHS, True)
    # The difference of the price to the face value is paid today, and counts.
    swap.setPricingEngine(ql.DiscountingSwapEngine(handle, True))
    quantlib(FINANCE + "asw-spread", repriced(handle, zero_curve(RATES), swap.fairSpread))


def ibor(months, handle, count):
    period = ql.Period(months, ql.Months)
    return ql.IborIndex("rate", period, 0, ql.USDCurrency(), NONE, UNADJUSTED, False, count, handle)


def repriced(handle, curve, figure):
    """The figure on a curve that replaces another, so that nothing is kept from the call before."""
    replacing = cycle([curve, type(curve)(curve.dates(), curve.data(), curve.dayCounter())])

    def work():
        handle.linkTo(next(replacing))
        return figure()

    return work


def swaps():
    ql.Settings.instance().evaluationDate = START
    curve = zero_curve(RATES)
    handle = ql.RelinkableYieldTermStructureHandle(curve)
    engine = ql.DiscountingSwapEngine(handle)
    dates = schedule(120, 6)
    legs = (dates, 0.035, YEARS_365, dates, ibor(6, handle, YEARS_365), 0.0, YEARS_365)
    swap = ql.VanillaSwap(ql.Swap.Payer, 1e6, *legs)
    swap.setPricingEngine(engine)
    path = INSTRUMENTS + "swap/irs/"
    quantlib(path + "value", repriced(handle, curve, swap.NPV))
    quantlib(path + "par-rate", repriced(handle, curve, swap.fairRate))

    def value(rates):
        handle.linkTo(zero_curve(rates))
        return swap.NPV()

    def risk():
        shifts = BASIS_POINT * np.vstack([np.ones(len(TENORS)), np.eye(len(TENORS))])
        return [(value(RATES + shift) - value(RATES - shift)) / 2 for shift in shifts]

    quantlib(path + "dv01", risk, lambda found: found[0])
    index = ql.OvernightIndex("overnight", 0, ql.USDCurrency(), NONE, ql.Actual360(), handle)
    telescopic = (0.0, 0, UNADJUSTED, NONE, True)
    legs = (schedule(120, 12), 0.035, ql.Actual360(), index, *telescopic)
    overnight = ql.OvernightIndexedSwap(ql.Swap.Payer, 1e6, *legs)
    overnight.setPricingEngine(engine)
    quantlib(INSTRUMENTS + "ois/value", repriced(handle, curve, overnight.NPV))
    agreements()


def agreements():
    """A forward rate agreement on a curve with pillars at both its dates, which no day count moves."""
    start, end = ql.Date(17, 4, 2024), ql.Date(17, 7, 2024)
    times = np.array([0.25, 0.5]) + 2 / 365
    factors = np.exp(-times * np.interp(times, TENORS, RATES))
    curve = ql.DiscountCurve([START, start, end], [1.0, *map(float, factors)], YEARS_365)
    handle = ql.RelinkableYieldTermStructureHandle(curve)
    index = ibor(3, handle, ql.Actual360())
    agreement = ql.ForwardRateAgreement(index, start, end, ql.Position.Long, 0.03, 1e6, handle)
    path = INSTRUMENTS + "fra/"
    quantlib(path + "value", repriced(handle, curve, agreement.NPV))
    quantlib(path + "break-even", repriced(handle, curve, agreement.forwardRate), lambda found: found.rate())


def rates():
    for work in (readings, fits, bootstraps, bonds, spreads, swaps):
        work()
