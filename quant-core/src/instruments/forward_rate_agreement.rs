//! Forward rate agreements: the difference between a fixed and a floating rate of one period,
//! settled at its start.
//!
//! The payment at the start of the period is discounted by the floating rate itself, as the market
//! settles. Not modelled: fixing lags, fixings that are known.

use super::leg::{Shifts, SwapCurves, factor};
use super::rate_risk::{OF_RISK, RateRisk};
use super::swap::SwapSide;
use crate::curves::{AccrualPeriod, Conventions};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::time::{NaiveDate, Tenor};
use crate::{Error, Result, check};

/// The tested error of values and rates, in units of the interest.
const BOUND: f64 = 32.0 * f64::EPSILON;

/// A forward rate agreement.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ForwardRateAgreement {
    /// Side of the holder; the buyer of the agreement pays the fixed rate.
    pub side: SwapSide,
    /// Amount on which interest is counted; positive.
    pub notional: f64,
    /// Fixed rate, annual, without compounding; of any sign, at most 2 (200 %) in size.
    pub fixed_rate: f64,
    /// Day of the trade, from whose settlement the months are counted.
    pub trade_date: NaiveDate,
    /// Months to the start of the period.
    pub start_months: u32,
    /// Months to the end of the period; more than those to the start.
    pub end_months: u32,
    /// Conventions of dates and interest; the compounding is without effect, and interest is
    /// simple.
    pub conventions: Conventions,
}

/// The value of a forward rate agreement.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ForwardRateAgreementValue {
    /// Present value of the agreement to its holder.
    pub npv: f64,
    /// Fixed rate at which the agreement is worth 0: the forward rate of the period.
    pub break_even_rate: f64,
    /// Amount paid at the start of the period, where the forward rate comes true.
    pub settlement_amount: f64,
    /// First day of the period, on which the agreement is settled.
    pub start_date: NaiveDate,
    /// Last day of the period.
    pub end_date: NaiveDate,
    /// Length of the period in years, by the day count.
    pub year_fraction: f64,
    /// Value today of one unit paid at the start of the period.
    pub discount_factor: f64,
    /// Value of a basis point of the fixed rate on the notional.
    pub pv01: f64,
}

/// A period on the curves.
struct Priced {
    period: AccrualPeriod,
    start: f64,
    end: f64,
    /// The logarithm of the growth over the period on the projection curve.
    exponent: f64,
    discount_factor: f64,
}

impl ForwardRateAgreement {
    /// Returns the present value, the break-even rate and the payment at settlement.
    ///
    /// ```text
    /// V = ± D(s) · N (f − K) τ / (1 + f τ),   f = (P(s)/P(e) − 1) / τ
    /// ```
    ///
    /// where N is the notional, K the fixed rate, τ the year fraction of the period from s to e, P
    /// the discount factors of the projection curve and D those of the discount curve; + for a
    /// payer.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a notional that is not positive, a rate beyond ±2, or `end_months`
    /// that are not more than `start_months`; [`Error::Date`] for a date outside the years 1 to
    /// 9999, and for a start before the reference date; [`Error::Conflict`] for BUS/252 without a
    /// calendar; [`Error::Overflow`] where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Curve, CurveType, Interpolation, InstrumentKind, Market};
    /// use quant_core::instruments::{ForwardRateAgreement, SwapCurves, SwapSide};
    /// use quant_core::prelude::*;
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).expect("a day");
    /// let shape = Interpolation::Linear;
    /// let curve = Curve::from_values(today, &[1.0], &[0.03], CurveType::Zero, shape)?;
    /// let agreement = ForwardRateAgreement {
    ///     side: SwapSide::Payer,
    ///     notional: 1e6,
    ///     fixed_rate: 0.03,
    ///     trade_date: today,
    ///     start_months: 3,
    ///     end_months: 6,
    ///     conventions: Market::Euro.conventions(InstrumentKind::Deposit),
    /// };
    /// let value = agreement.value(&SwapCurves::single(&curve))?;
    /// assert_eq!(value.start_date.to_string(), "2027-02-24");
    /// assert!((value.break_even_rate - 0.030_451).abs() < 5e-7 && value.npv > 0.0);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// ISDA, "2006 ISDA Definitions", section 8.4: FRA discounting; Henrard (2014), "Interest Rate
    /// Modelling in the Multi-Curve Framework", section 6.1.
    pub fn value(&self, curves: &SwapCurves<'_>) -> Result<ForwardRateAgreementValue> {
        let Priced { period, exponent, discount_factor, .. } = self.priced(curves)?;
        let (year_fraction, holding) = (period.year_fraction, self.side.sign() * self.notional);
        let growth = libm::expm1(exponent);
        let settled = (growth - self.fixed_rate * year_fraction) * libm::exp(-exponent);
        let settlement_amount = check::result("notional", holding * settled)?;
        let end_value = self.notional * discount_factor * libm::exp(-exponent);
        Ok(ForwardRateAgreementValue {
            npv: check::result("notional", settlement_amount * discount_factor)?,
            break_even_rate: check::result("curves", growth / year_fraction)?,
            settlement_amount,
            start_date: period.start,
            end_date: period.end,
            year_fraction,
            discount_factor,
            pv01: check::result("notional", end_value * year_fraction / 10_000.0)?,
        })
    }

    /// Returns the change of the value for a rise of zero rates by a basis point, in parallel and
    /// by pillar.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value).
    ///
    /// # Examples
    ///
    /// See [`InterestRateSwap::dv01`](super::InterestRateSwap::dv01).
    pub fn dv01(&self, curves: &SwapCurves<'_>) -> Result<RateRisk> {
        let priced = self.priced(curves)?;
        let Priced { start, end, exponent, discount_factor, .. } = priced;
        let holding = self.side.sign() * self.notional * discount_factor;
        let fixed = 1.0 + self.fixed_rate * priced.period.year_fraction;
        RateRisk::of(curves, |shifts: &Shifts<'_>| {
            let fall = -shifts.discount_rise(start);
            let at_end = libm::exp(-exponent) * libm::expm1(fall - shifts.growth_rise(start, end));
            Ok(holding * (libm::expm1(fall) - fixed * at_end))
        })
    }

    /// Explains the present value of [`value`](Self::value), with the conventions of
    /// [`dv01`](Self::dv01).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain_value(&self, curves: &SwapCurves<'_>) -> Result<Explanation> {
        let value = self.value(curves)?;
        let factor = value.discount_factor.max(1.0);
        let error = ErrorStatement::rounding_within(
            "npv",
            BOUND * self.interest(&value) * self.notional * factor,
            "largest error against 50 digits in units of the interest on the notional, a thousandth \
             at least",
        );
        Ok(self.explained(curves, error).with_conventions(OF_RISK))
    }

    /// Explains the break-even rate of [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain_break_even(&self, curves: &SwapCurves<'_>) -> Result<Explanation> {
        let value = self.value(curves)?;
        let error = ErrorStatement::rounding_within(
            "break_even_rate",
            BOUND * (self.interest(&value) / value.year_fraction),
            "largest error against 50 digits in units of the rates, or of a thousandth of the \
             notional over the year fraction",
        );
        Ok(self.explained(curves, error))
    }

    /// Returns the size of the interest on one unit, at both rates.
    fn interest(&self, value: &ForwardRateAgreementValue) -> f64 {
        let rates = value.break_even_rate.abs() + self.fixed_rate.abs();
        (value.year_fraction * rates).max(1e-3)
    }

    fn explained(&self, curves: &SwapCurves<'_>, error: ErrorStatement) -> Explanation {
        let method = Method::new(
            "forward rate of the period, discounted from its start by that rate",
            "ISDA (2006), ISDA Definitions, section 8.4: FRA discounting; Henrard (2014), Interest Rate \
             Modelling in the Multi-Curve Framework, section 6.1",
        );
        Explanation::new(method, error)
            .with_conventions(curves.conventions())
            .with_conventions([self.conventions.sentence("Period")])
            .with_conventions([
                "Months are counted from the settlement of the trade.",
                "The difference of the rates is paid at the start of the period, which is simple interest.",
                "The payer is the buyer, who gains where rates rise.",
            ])
    }

    fn priced(&self, curves: &SwapCurves<'_>) -> Result<Priced> {
        check::positive("notional", self.notional)?;
        check::annual_rate("fixed_rate", self.fixed_rate)?;
        let requirement = "more than the months to the start";
        let months = f64::from(self.end_months);
        check::require(self.end_months > self.start_months, "end_months", months, requirement)?;
        let period = self.period()?;
        if period.start < curves.reference_date() {
            return Err(Error::Date {
                argument: "start_months",
                value: period.start,
                requirement: "on or after the reference date, as the day of the settlement",
            });
        }
        let curve = curves.projection();
        let [start, end] = [curve.tenor(period.start)?, curve.tenor(period.end)?];
        let discount_factor = factor(curves.discount(), start)?;
        Ok(Priced {
            period,
            start,
            end,
            exponent: curve.exponent_between(start, end),
            discount_factor,
        })
    }

    /// Returns the period of the interest.
    fn period(&self) -> Result<AccrualPeriod> {
        let conventions = &self.conventions;
        let settlement = conventions.settlement_date(self.trade_date).map_err(in_agreement)?;
        let date =
            |months| conventions.maturity_date(settlement, Tenor::of_months_and_days(months, 0));
        let start = date(self.start_months).map_err(|error| error.renamed(|_| "start_months"))?;
        let end = date(self.end_months).map_err(|error| error.renamed(|_| "end_months"))?;
        let period = conventions.period(start, end).map_err(in_agreement)?;
        if period.year_fraction > 0.0 {
            return Ok(period);
        }
        let requirement = "late enough for a period of some length by the day count";
        Err(Error::Date { argument: "end_months", value: period.end, requirement })
    }
}

/// Gives dates the names of the arguments that they come from.
fn in_agreement(error: Error) -> Error {
    error.renamed(|argument| match argument {
        "date" => "trade_date",
        "maturity_date" => "end_months",
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{Compounding, Curve, CurveType, Interpolation};
    use crate::time::{BusinessDayConvention, Calendar, DayCount};

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn curve(rates: [f64; 3], shape: Interpolation) -> Curve {
        Curve::from_values(date("2024-01-15"), &[0.3, 1.0, 2.0], &rates, CurveType::Zero, shape)
            .unwrap()
    }

    fn agreement() -> ForwardRateAgreement {
        ForwardRateAgreement {
            side: SwapSide::Payer,
            notional: 1e6,
            fixed_rate: 0.035,
            trade_date: date("2024-01-15"),
            start_months: 3,
            end_months: 6,
            conventions: Conventions {
                day_count: DayCount::Act360,
                compounding: Compounding::Simple,
                calendar: Calendar::None,
                convention: BusinessDayConvention::Unadjusted,
                settlement_days: 0,
                end_of_month: false,
            },
        }
    }

    #[test]
    fn the_value_is_that_of_the_two_payments_on_one_curve() {
        let curve = curve([0.03, 0.034, 0.04], Interpolation::LogLinear);
        let value = agreement().value(&SwapCurves::single(&curve)).unwrap();
        let [start, end] = [value.start_date, value.end_date]
            .map(|date| curve.at_date(date).unwrap().discount_factor);
        let years = 91.0 / 360.0;
        assert_eq!((value.year_fraction, value.discount_factor), (years, start));
        assert!((value.npv - 1e6 * (start - (1.0 + 0.035 * years) * end)).abs() < 1e-9);
        assert!((value.break_even_rate - (start / end - 1.0) / years).abs() < 1e-14);
        assert!((value.settlement_amount * start - value.npv).abs() < 1e-9);
    }

    #[test]
    fn an_agreement_that_starts_today_has_a_value_and_an_earlier_one_has_none() {
        let curve = curve([0.03, 0.034, 0.04], Interpolation::Linear);
        let curves = SwapCurves::single(&curve);
        let today = ForwardRateAgreement { start_months: 0, ..agreement() };
        assert_eq!(today.value(&curves).unwrap().discount_factor, 1.0);
        let earlier = ForwardRateAgreement { trade_date: date("2023-10-14"), ..agreement() };
        let error = earlier.value(&curves).unwrap_err();
        assert_eq!((error.code(), error.argument()), ("date", Some("start_months")));
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let good = agreement();
        let conventions = |day_count| Conventions { day_count, ..good.conventions };
        let curve = curve([0.03, 0.034, 0.04], Interpolation::Linear);
        #[rustfmt::skip]
        let rows = [
            (ForwardRateAgreement { notional: -1.0, ..good }, "domain", "notional"),
            (ForwardRateAgreement { fixed_rate: 3.5, ..good }, "domain", "fixed_rate"),
            (ForwardRateAgreement { end_months: 3, ..good }, "domain", "end_months"),
            (ForwardRateAgreement { end_months: u32::MAX, ..good }, "text", "end_months"),
            (ForwardRateAgreement { start_months: u32::MAX - 1, end_months: u32::MAX, ..good }, "text", "start_months"),
            (ForwardRateAgreement { trade_date: NaiveDate::MAX, ..good }, "date", "trade_date"),
            (ForwardRateAgreement { conventions: conventions(DayCount::Bus252), ..good }, "conflict", "calendar"),
        ];
        for (agreement, code, argument) in rows {
            let error = agreement.value(&SwapCurves::single(&curve)).unwrap_err();
            assert_eq!((error.code(), error.argument()), (code, Some(argument)), "{agreement:?}");
        }
    }

    proptest! {
        #[test]
        fn at_the_break_even_rate_it_is_worth_nothing_and_the_risk_is_a_revaluation(
            rates in prop::array::uniform3(-0.02..0.12), start in 0_u32..18, length in 1_u32..12, which in 0_usize..4, is_dual: bool,
        ) {
            let shape = Interpolation::ALL[which];
            let discount = curve([0.02, 0.03, 0.025], shape);
            let value = |size: f64| {
                let projection = curve(rates.map(|rate| rate + size), shape);
                let moved = curve([0.02, 0.03, 0.025].map(|rate| rate + size), shape);
                let dual = SwapCurves::dual(&projection, &moved).unwrap();
                let curves = if is_dual { dual } else { SwapCurves::single(&projection) };
                ForwardRateAgreement { start_months: start, end_months: start + length, ..agreement() }.value(&curves).unwrap()
            };
            let projection = curve(rates, shape);
            let dual = SwapCurves::dual(&projection, &discount).unwrap();
            let curves = if is_dual { dual } else { SwapCurves::single(&projection) };
            let held = ForwardRateAgreement {
                start_months: start, end_months: start + length, fixed_rate: value(0.0).break_even_rate, ..agreement()
            };
            prop_assert!(held.value(&curves).unwrap().npv.abs() <= 1e6 * 1e-15);
            let held = ForwardRateAgreement { fixed_rate: agreement().fixed_rate, ..held };
            let expected = 0.5 * (value(1e-4).npv - value(-1e-4).npv);
            prop_assert!((held.dv01(&curves).unwrap().dv01 - expected).abs() < 1e-9);
        }
    }
}
