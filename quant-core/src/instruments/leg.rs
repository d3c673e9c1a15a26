//! Legs: the coupons of one side of a swap, fixed or floating, and their values on a curve.
//!
//! A floating coupon pays the simple forward rate of the projection curve, or the compounded
//! overnight rate, which has the same value. Interest accrues from one end of a period to the next,
//! both moved by the business-day convention, and is paid some business days later. Coupons that
//! are paid on or before the reference date of the curve are left out.

use std::borrow::Cow;

use crate::arithmetic::double_double::DoubleDouble;
use crate::curves::{AccrualPeriod, Compounding, Conventions, Curve, ExponentShift};
use crate::named::named;
use crate::time::{
    BusinessDayConvention, Calendar, DayCount, Frequency, NaiveDate, days_between, month_index,
};
use crate::{Error, Result, check};

/// The largest number of coupons of a leg: a hundred years of monthly ones.
const MAX_COUPONS: i64 = 1_200;

/// The largest number of business days from the end of a period to its payment.
const MAX_PAYMENT_LAG: u32 = 31;

/// The conventions of the periods and payments of a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LegTerms {
    /// Frequency of the coupons, counted back from the maturity; see
    /// [`Schedule`](crate::time::Schedule).
    pub frequency: Frequency,
    /// Day-count convention of the interest.
    pub day_count: DayCount,
    /// Calendar of the business days to which dates are moved.
    pub calendar: Calendar,
    /// Adjustment of the ends of periods that fall on no business day.
    pub convention: BusinessDayConvention,
    /// True if coupons fall on month ends where the maturity does.
    pub end_of_month: bool,
    /// Business days from the end of a period to its payment; at most 31.
    pub payment_lag: u32,
}

/// The origin of the rate of a coupon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateSource {
    /// The contract fixes the rate; named `contract`.
    Contract,
    /// The fixing of the running period was given; named `fixing`.
    Fixing,
    /// The fixing of the running period is not known, and is assumed; named `assumed_fixing`.
    AssumedFixing,
    /// The rate is the forward rate of the projection curve; named `forward`.
    Forward,
}

named!(
    RateSource,
    "rate_source",
    Contract = "contract",
    Fixing = "fixing",
    AssumedFixing = "assumed_fixing",
    Forward = "forward"
);

/// One payment of interest by a leg.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Coupon {
    /// First day of the interest.
    pub accrual_start: NaiveDate,
    /// Day on which the interest ends.
    pub accrual_end: NaiveDate,
    /// Day of the payment.
    pub payment_date: NaiveDate,
    /// Length of the period in years, by the day count of the leg.
    pub year_fraction: f64,
    /// Rate of the period, annual, without compounding, the spread included; 0 where the day count
    /// gives the period no length.
    pub rate: f64,
    /// Origin of the rate.
    pub rate_source: RateSource,
    /// Amount of the payment, in the currency of the notional.
    pub amount: f64,
    /// Value today of one unit paid on the payment date.
    pub discount_factor: f64,
    /// Value today of the payment.
    pub present_value: f64,
}

/// The coupons of a leg that are still to be paid, and their value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SwapLeg {
    /// The coupons in the order of their periods.
    pub coupons: Vec<Coupon>,
    /// Sum of the values of the coupons.
    pub present_value: f64,
    /// Value of a rate of 1 on a notional of 1: the sum of year fractions times discount factors.
    pub annuity: f64,
}

/// The curves of a valuation: one that gives forward rates, and one that discounts.
#[derive(Clone, Copy, Debug)]
pub struct SwapCurves<'a> {
    projection: &'a Curve,
    discount: Option<&'a Curve>,
}

impl<'a> SwapCurves<'a> {
    /// Returns a single curve for both purposes.
    #[must_use]
    pub const fn single(curve: &'a Curve) -> Self {
        Self { projection: curve, discount: None }
    }

    /// Returns two curves: one for the forward rates, one for the discount factors.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] where the curves do not start on one reference date.
    pub fn dual(projection: &'a Curve, discount: &'a Curve) -> Result<Self> {
        let value = discount.reference_date();
        if value != projection.reference_date() {
            let requirement = "the reference date of the projection curve";
            return Err(Error::Date { argument: "discount", value, requirement });
        }
        Ok(Self { projection, discount: Some(discount) })
    }

    /// Returns the curve of the forward rates.
    #[must_use]
    pub const fn projection(&self) -> &'a Curve {
        self.projection
    }

    /// Returns the curve of the discount factors.
    #[must_use]
    pub fn discount(&self) -> &'a Curve {
        self.discount.unwrap_or(self.projection)
    }

    /// Returns whether forward rates and discount factors have curves of their own.
    #[must_use]
    pub const fn is_dual(&self) -> bool {
        self.discount.is_some()
    }

    /// Returns sentences on the curves.
    pub(super) fn conventions(&self) -> Vec<Cow<'static, str>> {
        let [times, rates, shape] = self.projection.conventions();
        let purpose = if self.is_dual() {
            "Forward rates are those of the projection curve, discount factors those of the discount curve."
        } else {
            "One curve gives forward rates and discount factors."
        };
        let mut sentences: Vec<Cow<'static, str>> =
            [times, rates, shape, purpose].map(Cow::Borrowed).into();
        let [.., discount_shape] = self.discount().conventions();
        if discount_shape != shape {
            sentences.push(format!("On the discount curve: {discount_shape}").into());
        }
        sentences
    }

    /// Returns the first date of the curves.
    #[must_use]
    pub fn reference_date(&self) -> NaiveDate {
        self.projection.reference_date()
    }
}

impl LegTerms {
    /// Returns terms that move no date and pay at the end of each period.
    #[must_use]
    pub const fn unadjusted(frequency: Frequency, day_count: DayCount) -> Self {
        Self {
            frequency,
            day_count,
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
            end_of_month: false,
            payment_lag: 0,
        }
    }

    /// Returns the terms of an instrument's conventions, as of a market, paid at the end of each
    /// period.
    #[must_use]
    pub const fn from_conventions(conventions: &Conventions, frequency: Frequency) -> Self {
        Self {
            frequency,
            day_count: conventions.day_count,
            calendar: conventions.calendar,
            convention: conventions.convention,
            end_of_month: conventions.end_of_month,
            payment_lag: 0,
        }
    }

    /// Returns a sentence on the leg that is called so.
    pub(super) fn sentence(&self, leg: &str) -> String {
        format!(
            "{leg} leg: {} payments a year by {}; calendar {}, {}; paid {} business days after the \
             period.",
            self.frequency.count(),
            self.day_count,
            self.calendar,
            self.convention,
            self.payment_lag
        )
    }

    /// Returns the coupons of a fixed rate between two dates that are still to be paid.
    ///
    /// ```text
    /// amount = N · r · τ,   value = amount · D(payment)
    /// ```
    ///
    /// where N is the notional, r the rate, τ the year fraction of the period and D the discount
    /// factor.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for an `effective_date` or a `maturity_date` outside the years 1 to 9999, a
    /// maturity that is not after the effective date, or more than 1,200 coupons; [`Error::Domain`]
    /// for a notional that is not positive, a rate beyond ±2 or a payment lag above 31;
    /// [`Error::Conflict`] for BUS/252 without a calendar; [`Error::Overflow`] where a figure is no
    /// double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Curve, CurveType, Interpolation};
    /// use quant_core::instruments::LegTerms;
    /// use quant_core::prelude::*;
    ///
    /// let day = |year| NaiveDate::from_ymd_opt(year, 1, 1).expect("a day");
    /// let shape = Interpolation::Linear;
    /// let curve = Curve::from_values(day(2024), &[1.0], &[0.04], CurveType::Zero, shape)?;
    /// let terms = LegTerms::unadjusted(Frequency::Semiannual, DayCount::Act360);
    /// let leg = terms.fixed_leg(1e6, 0.05, day(2024), day(2026), &curve)?;
    /// let amounts: Vec<String> =
    ///     leg.coupons.iter().map(|coupon| format!("{:.2}", coupon.amount)).collect();
    /// assert_eq!(amounts, ["25277.78", "25555.56", "25138.89", "25555.56"]);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn fixed_leg(
        &self,
        notional: f64,
        rate: f64,
        effective_date: NaiveDate,
        maturity_date: NaiveDate,
        curve: &Curve,
    ) -> Result<SwapLeg> {
        check::positive("notional", notional)?;
        check::annual_rate("fixed_rate", rate)?;
        let curves = SwapCurves::single(curve);
        let flows = self.fixed_flows(rate, effective_date, maturity_date, &curves)?;
        SwapLeg::of(&flows, notional, &curves)
    }

    /// Returns the payments of a fixed rate after the reference date.
    pub(super) fn fixed_flows(
        &self,
        rate: f64,
        effective_date: NaiveDate,
        maturity_date: NaiveDate,
        curves: &SwapCurves<'_>,
    ) -> Result<Vec<CouponFlow>> {
        self.flows(effective_date, maturity_date, curves, |period| {
            Ok((Interest::known(rate * period.year_fraction), RateSource::Contract))
        })
    }

    /// Returns the payments after the reference date, with the interest that `interest` gives for
    /// each period.
    pub(super) fn flows(
        &self,
        effective_date: NaiveDate,
        maturity_date: NaiveDate,
        curves: &SwapCurves<'_>,
        interest: impl Fn(&AccrualPeriod) -> Result<(Interest, RateSource)>,
    ) -> Result<Vec<CouponFlow>> {
        let mut flows = Vec::new();
        for period in self.periods(effective_date, maturity_date)? {
            let payment_date = self.payment_date(&period).map_err(in_swap)?;
            if payment_date <= curves.reference_date() {
                continue;
            }
            let payment_time = curves.discount().tenor(payment_date).map_err(in_swap)?;
            let (interest, rate_source) = interest(&period)?;
            flows.push(CouponFlow { period, payment_date, payment_time, interest, rate_source });
        }
        Ok(flows)
    }

    fn periods(
        &self,
        effective_date: NaiveDate,
        maturity_date: NaiveDate,
    ) -> Result<Vec<AccrualPeriod>> {
        let months = month_index(maturity_date) - month_index(effective_date);
        if months * i64::from(self.frequency.count()) > 12 * MAX_COUPONS {
            return Err(Error::Date {
                argument: "maturity_date",
                value: maturity_date,
                requirement: "near enough to the effective date for at most 1,200 coupons a leg",
            });
        }
        check::require(
            self.payment_lag <= MAX_PAYMENT_LAG,
            "payment_lag",
            f64::from(self.payment_lag),
            "at most 31 business days",
        )?;
        let conventions = Conventions {
            day_count: self.day_count,
            compounding: Compounding::Simple,
            calendar: self.calendar,
            convention: self.convention,
            settlement_days: 0,
            end_of_month: self.end_of_month,
        };
        conventions.periods(effective_date, maturity_date, self.frequency).map_err(in_swap)
    }

    fn payment_date(&self, period: &AccrualPeriod) -> Result<NaiveDate> {
        match self.payment_lag {
            0 => Ok(period.end),
            lag => self.calendar.add_business_days(period.end, i64::from(lag)),
        }
    }
}

/// Gives the dates of a schedule the names that they have in a swap.
fn in_swap(error: Error) -> Error {
    error.renamed(|argument| match argument {
        "issue_date" => "effective_date",
        "date" => "maturity_date",
        other => other,
    })
}

/// A payment of interest, before it is valued.
pub(super) struct CouponFlow {
    period: AccrualPeriod,
    payment_date: NaiveDate,
    /// Time of the payment on the discount curve, in years.
    payment_time: f64,
    interest: Interest,
    rate_source: RateSource,
}

/// The interest on one unit: `known + scale · (D(start)/D(end) − 1)` on the projection curve.
pub(super) struct Interest {
    pub(super) known: f64,
    pub(super) scale: f64,
    /// Start and end on the projection curve, in years.
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Interest {
    pub(super) const fn known(known: f64) -> Self {
        Self { known, scale: 0.0, start: 0.0, end: 0.0 }
    }

    /// Returns the growth of the projection curve over a period that does not begin before the
    /// reference date.
    pub(super) fn forward(period: &AccrualPeriod, curve: &Curve) -> Result<Self> {
        let [start, end] = [curve.tenor(period.start)?, curve.tenor(period.end)?];
        Ok(Self { known: 0.0, scale: 1.0, start, end })
    }

    /// Returns the exponent of the growth from start to end.
    fn exponent(&self, curve: &Curve) -> f64 {
        if self.scale == 0.0 { 0.0 } else { curve.exponent_between(self.start, self.end) }
    }
}

/// Returns the interest of a period that has begun and whose rate is not known: that of the time
/// from the reference date to its end, in proportion to the days.
///
/// Where the period has ended, the curve's first day takes the place of the rest of the period.
pub(super) fn assumed_interest(period: &AccrualPeriod, curve: &Curve) -> Result<Interest> {
    let today = curve.reference_date();
    let tomorrow = today.succ_opt().unwrap_or(today);
    let end = period.end.max(tomorrow);
    let days = days_between(period.start, period.end) as f64;
    let scale = days / days_between(today, end) as f64;
    Ok(Interest { known: 0.0, scale, start: 0.0, end: curve.tenor(end).map_err(in_swap)? })
}

/// The shifts of the two curves; `None` for a curve that stays.
pub(super) struct Shifts<'a> {
    pub(super) projection: Option<&'a ExponentShift<'a>>,
    pub(super) discount: Option<&'a ExponentShift<'a>>,
}

impl Shifts<'_> {
    /// Returns the rise of the exponent of the discount curve.
    pub(super) fn discount_rise(&self, time: f64) -> f64 {
        self.discount.map_or(0.0, |shift| shift.rise(time))
    }

    /// Returns the rise of the exponent of the growth between two times on the projection curve.
    pub(super) fn growth_rise(&self, start: f64, end: f64) -> f64 {
        self.projection.map_or(0.0, |shift| shift.rise(end) - shift.rise(start))
    }
}

impl CouponFlow {
    /// Returns the coupon of the payment on the curves.
    fn coupon(&self, notional: f64, curves: &SwapCurves<'_>) -> Result<Coupon> {
        let Self { period, payment_date, rate_source, .. } = *self;
        let Interest { known, scale, .. } = self.interest;
        let growth = libm::expm1(self.interest.exponent(curves.projection));
        let interest = check::result("curves", known + scale * growth)?;
        let discount_factor = factor(curves.discount(), self.payment_time)?;
        let amount = check::result("notional", notional * interest)?;
        let year_fraction = period.year_fraction;
        let rate = if year_fraction == 0.0 { 0.0 } else { interest / year_fraction };
        Ok(Coupon {
            accrual_start: period.start,
            accrual_end: period.end,
            payment_date,
            year_fraction,
            rate: check::result("curves", rate)?,
            rate_source,
            amount,
            discount_factor,
            present_value: check::result("notional", amount * discount_factor)?,
        })
    }

    /// Returns the change of the payment's value, for a notional of one, where the exponents rise.
    ///
    /// ```text
    /// D · ( (known − scale) · (e^{−δ} − 1) + scale · e^{F} · (e^{φ − δ} − 1) )
    /// ```
    ///
    /// where δ is the rise at the payment, F the exponent of the growth and φ its rise. Small
    /// changes lose no digits, as they would in the difference of two values.
    fn change(&self, curves: &SwapCurves<'_>, shifts: &Shifts<'_>) -> Result<f64> {
        let Interest { known, scale, start, end } = self.interest;
        let discount_rise = shifts.discount_rise(self.payment_time);
        let fall = libm::expm1(-discount_rise);
        let mut change = (known - scale) * fall;
        if scale != 0.0 {
            let growth = libm::exp(self.interest.exponent(curves.projection));
            let rise = shifts.growth_rise(start, end) - discount_rise;
            change += scale * growth * libm::expm1(rise);
        }
        Ok(factor(curves.discount(), self.payment_time)? * change)
    }
}

/// Returns the discount factor at a time.
pub(super) fn factor(curve: &Curve, time: f64) -> Result<f64> {
    Ok(curve.at(time).map_err(|error| error.renamed(|_| "curves"))?.discount_factor)
}

/// Returns the sum of terms without the roundings of the additions.
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(DoubleDouble::ZERO, |sum, term| sum + term.into()).high
}

impl SwapLeg {
    /// Returns the leg of these payments.
    pub(super) fn of(flows: &[CouponFlow], notional: f64, curves: &SwapCurves<'_>) -> Result<Self> {
        let coupons: Vec<Coupon> =
            flows.iter().map(|flow| flow.coupon(notional, curves)).collect::<Result<_>>()?;
        let present_value = sum(coupons.iter().map(|coupon| coupon.present_value));
        let annuity =
            sum(coupons.iter().map(|coupon| coupon.year_fraction * coupon.discount_factor));
        Ok(Self {
            present_value: check::result("notional", present_value)?,
            annuity: check::result("curves", annuity)?,
            coupons,
        })
    }
}

/// Returns the change of the value of payments on a notional of one, where the exponents of the
/// curves rise.
pub(super) fn change(
    flows: &[CouponFlow],
    curves: &SwapCurves<'_>,
    shifts: &Shifts<'_>,
) -> Result<f64> {
    let changes: Vec<f64> =
        flows.iter().map(|flow| flow.change(curves, shifts)).collect::<Result<_>>()?;
    Ok(sum(changes.into_iter()))
}
