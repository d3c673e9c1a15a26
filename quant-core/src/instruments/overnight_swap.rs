//! Overnight indexed swaps: fixed payments against a compounded overnight rate.
//!
//! The overnight rates of a period, each compounded to the next business day, grow one unit as the
//! curve does, so that the leg is worth the ratio of the discount factors of the period's ends. Not
//! modelled: averaged instead of compounded rates, lookbacks, lockouts, rate cut-offs.

use super::leg::{Interest, LegTerms, RateSource, SwapCurves, assumed_interest};
use super::rate_risk::{OF_RISK, RateRisk};
use super::swap::{SwapFlows, SwapSide, SwapValue, payment_sentences};
use crate::curves::AccrualPeriod;
use crate::explanation::{Explanation, Method};
use crate::named::named;
use crate::time::{DayCount, NaiveDate, Reference};
use crate::{Result, check};

/// An overnight rate, which a central bank or its administrator publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OvernightIndex {
    /// Secured Overnight Financing Rate, in dollars: ACT/360.
    Sofr,
    /// Effective Federal Funds Rate, in dollars: ACT/360.
    Effr,
    /// Euro short-term rate: ACT/360.
    Estr,
    /// Sterling Overnight Index Average: ACT/365.
    Sonia,
    /// Swiss Average Rate Overnight: ACT/360.
    Saron,
    /// Tokyo Overnight Average Rate: ACT/365.
    Tona,
    /// Canadian Overnight Repo Rate Average: ACT/365.
    Corra,
    /// AONIA, the cash rate of the Reserve Bank of Australia: ACT/365.
    Aonia,
}

named!(
    OvernightIndex,
    "index",
    Sofr = "SOFR",
    Effr = "EFFR",
    Estr = "ESTR",
    Sonia = "SONIA",
    Saron = "SARON",
    Tona = "TONA",
    Corra = "CORRA",
    Aonia = "AONIA"
);

impl OvernightIndex {
    /// Returns the day-count convention of the rate.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::instruments::OvernightIndex;
    /// use quant_core::prelude::*;
    ///
    /// assert_eq!("SONIA".parse::<OvernightIndex>()?.day_count(), DayCount::Act365);
    /// assert!("EONIA".parse::<OvernightIndex>().is_err());
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    #[must_use]
    pub const fn day_count(self) -> DayCount {
        match self {
            Self::Sofr | Self::Effr | Self::Estr | Self::Saron => DayCount::Act360,
            Self::Sonia | Self::Tona | Self::Corra | Self::Aonia => DayCount::Act365,
        }
    }
}

/// A swap of fixed payments against a compounded overnight rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OvernightSwap {
    /// Side of the holder.
    pub side: SwapSide,
    /// Amount on which interest is counted; positive.
    pub notional: f64,
    /// First day of the interest.
    pub effective_date: NaiveDate,
    /// Last day of the interest; after the effective date.
    pub maturity_date: NaiveDate,
    /// Fixed rate, annual, 0.05 being 5 %; of any sign, at most 2 (200 %) in size.
    pub fixed_rate: f64,
    /// Rate added to the compounded one, annual; of any sign, at most 2 in size.
    pub floating_spread: f64,
    /// The overnight rate, whose day count the floating leg has.
    pub index: OvernightIndex,
    /// Conventions of the fixed leg; its periods and payment dates are those of both legs.
    pub terms: LegTerms,
    /// Compounded rate from the start of the running period to the reference date, annual and
    /// without compounding over that time. `None`: the period pays interest as the curve gives it
    /// for the rest of the period, in proportion to the days.
    pub current_fixing: Option<f64>,
}

impl OvernightSwap {
    /// Returns the present value, the par rate and the payments of both legs.
    ///
    /// ```text
    /// V = ± ( Σ N (P(sⱼ)/P(eⱼ) − 1 + s βⱼ) D(pⱼ) − Σ N K τⱼ D(pⱼ) )
    /// ```
    ///
    /// where N is the notional, K the fixed rate, s the spread, β and τ year fractions, P the
    /// discount factors of the projection curve and D those of the discount curve; + for a payer.
    /// In the running period `P(sⱼ)` is 1 plus the interest earned by the reference date. Payments
    /// on or before the reference date are left out. A swap without payments is worth 0.
    ///
    /// # Errors
    ///
    /// Those of [`LegTerms::fixed_leg`]; [`Error::Domain`](crate::Error::Domain) for a spread or a
    /// fixing beyond ±2; [`Error::Overflow`](crate::Error::Overflow) where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Curve, CurveType, Interpolation};
    /// use quant_core::prelude::*;
    ///
    /// let day = |year| NaiveDate::from_ymd_opt(year, 1, 15).expect("a day");
    /// let (tenors, factors) = ([1.0], [0.96]);
    /// let shape = Interpolation::LogLinear;
    /// let curve = Curve::from_values(day(2026), &tenors, &factors, CurveType::Discount, shape)?;
    /// let swap = OvernightSwap {
    ///     side: SwapSide::Receiver,
    ///     notional: 1e6,
    ///     effective_date: day(2026),
    ///     maturity_date: day(2027),
    ///     fixed_rate: 0.04,
    ///     floating_spread: 0.0,
    ///     index: OvernightIndex::Sofr,
    ///     terms: LegTerms::unadjusted(Frequency::Annual, DayCount::Act360),
    ///     current_fixing: None,
    /// };
    /// let value = swap.value(&SwapCurves::single(&curve))?;
    /// let fixed = 0.04 * 365.0 / 360.0 * 0.96;
    /// assert!((value.npv - 1e6 * (fixed - (1.0 - 0.96))).abs() < 1e-9);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// ISDA, "2021 Interest Rate Derivatives Definitions", section 7: overnight rate compounding.
    pub fn value(&self, curves: &SwapCurves<'_>) -> Result<SwapValue> {
        self.flows(curves)?.value(curves)
    }

    /// Returns the fixed rate at which the swap is worth 0.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value); [`Error::Conflict`](crate::Error::Conflict) where no fixed
    /// payment is left.
    ///
    /// # Examples
    ///
    /// See [`value`](Self::value).
    pub fn par_rate(&self, curves: &SwapCurves<'_>) -> Result<f64> {
        self.value(curves)?.require_par_rate()
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
        self.flows(curves)?.risk(curves)
    }

    /// Explains [`value`](Self::value), with the conventions of [`dv01`](Self::dv01).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain_value(&self, curves: &SwapCurves<'_>) -> Result<Explanation> {
        let error = self.value(curves)?.value_error(self.notional);
        let method = Method::new(
            "compounded overnight rates on one or two curves",
            "ISDA (2021), Interest Rate Derivatives Definitions, section 7; Henrard (2014), Interest \
             Rate Modelling in the Multi-Curve Framework, chapter 2",
        );
        let (today, has_fixing) = (curves.reference_date(), self.current_fixing.is_some());
        let overnight = LegTerms { day_count: self.index.day_count(), ..self.terms };
        Ok(Explanation::new(method, error)
            .with_conventions(curves.conventions())
            .with_conventions(payment_sentences(self.effective_date, today, has_fixing))
            .with_conventions([self.terms.sentence("Fixed"), overnight.sentence("Overnight")])
            .with_conventions([
                "Overnight rates are compounded over the period, without lookback, lockout or cut-off.",
            ])
            .with_conventions(OF_RISK))
    }

    fn flows(&self, curves: &SwapCurves<'_>) -> Result<SwapFlows> {
        let Self { side, notional, effective_date, maturity_date, fixed_rate, terms, .. } = *self;
        check::positive("notional", notional)?;
        check::annual_rate("fixed_rate", fixed_rate)?;
        check::annual_rate("floating_spread", self.floating_spread)?;
        self.current_fixing.map_or(Ok(()), |rate| check::annual_rate("current_fixing", rate))?;
        let fixed = terms.fixed_flows(fixed_rate, effective_date, maturity_date, curves)?;
        let overnight = LegTerms { day_count: self.index.day_count(), ..terms };
        let interest = |period: &AccrualPeriod| self.overnight_interest(period, curves);
        let floating = overnight.flows(effective_date, maturity_date, curves, interest)?;
        Ok(SwapFlows { side, notional, fixed, floating })
    }

    fn overnight_interest(
        &self,
        period: &AccrualPeriod,
        curves: &SwapCurves<'_>,
    ) -> Result<(Interest, RateSource)> {
        let (today, curve) = (curves.reference_date(), curves.projection());
        let (mut interest, source) = if period.start >= today {
            (Interest::forward(period, curve)?, RateSource::Forward)
        } else if let Some(rate) = self.current_fixing {
            (self.running_interest(period, rate, curves)?, RateSource::Fixing)
        } else {
            (assumed_interest(period, curve)?, RateSource::AssumedFixing)
        };
        interest.known += self.floating_spread * period.year_fraction;
        Ok((interest, source))
    }

    /// Returns the interest of a period that has begun: that earned so far, and its growth to the
    /// end.
    fn running_interest(
        &self,
        period: &AccrualPeriod,
        rate: f64,
        curves: &SwapCurves<'_>,
    ) -> Result<Interest> {
        let today = curves.reference_date();
        let earned = rate * self.elapsed(period, today.min(period.end));
        if period.end <= today {
            return Ok(Interest::known(earned));
        }
        let end = curves.projection().tenor(period.end)?;
        Ok(Interest { known: earned, scale: 1.0 + earned, start: 0.0, end })
    }

    /// Returns the years from the start of a period to a day in it, by the day count of the index.
    fn elapsed(&self, period: &AccrualPeriod, day: NaiveDate) -> f64 {
        let reference = Reference {
            period_start: period.start,
            period_end: period.end,
            frequency: self.terms.frequency,
            maturity_date: self.maturity_date,
            calendar: self.terms.calendar,
        };
        self.index.day_count().fraction(period.start, day, &reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::{Curve, CurveType, Interpolation};
    use crate::time::{BusinessDayConvention, Calendar, Frequency, add_days};

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn curve(today: &str) -> Curve {
        let (tenors, rates) = ([0.5, 2.0, 5.0], [0.03, 0.035, 0.041]);
        Curve::from_values(date(today), &tenors, &rates, CurveType::Zero, Interpolation::Linear)
            .unwrap()
    }

    fn swap() -> OvernightSwap {
        OvernightSwap {
            side: SwapSide::Payer,
            notional: 1.0,
            effective_date: date("2024-01-15"),
            maturity_date: date("2026-01-15"),
            fixed_rate: 0.04,
            floating_spread: 0.0,
            index: OvernightIndex::Sofr,
            terms: LegTerms::unadjusted(Frequency::Annual, DayCount::Act360),
            current_fixing: None,
        }
    }

    #[test]
    fn rates_compounded_day_by_day_telescope() {
        let curve = curve("2024-01-15");
        let mut growth = 1.0;
        for day in 0..366 {
            let days = [day, day + 1].map(|days| add_days(date("2024-01-15"), days).unwrap());
            let [start, end] = days.map(|day| curve.at_date(day).unwrap().discount_factor);
            let overnight = (start / end - 1.0) * 360.0;
            growth *= 1.0 + overnight / 360.0;
        }
        let value = swap().value(&SwapCurves::single(&curve)).unwrap();
        let first = value.floating_leg.coupons[0];
        assert!((first.amount - (growth - 1.0)).abs() < 1e-13);
        assert!((first.rate - (growth - 1.0) / (366.0 / 360.0)).abs() < 1e-13);
    }

    #[test]
    fn a_payment_lag_moves_the_payment_and_not_the_interest() {
        let curve = curve("2024-01-12");
        let terms = LegTerms {
            calendar: Calendar::Sifma,
            convention: BusinessDayConvention::ModifiedFollowing,
            payment_lag: 2,
            ..swap().terms
        };
        let value = OvernightSwap { terms, ..swap() }.value(&SwapCurves::single(&curve)).unwrap();
        let [coupon, _] = value.floating_leg.coupons[..] else { panic!("two coupons") };
        // 15 January 2024 is a holiday, and so is 20 January 2025.
        assert_eq!(coupon.accrual_start, date("2024-01-16"));
        assert_eq!(
            (coupon.accrual_end, coupon.payment_date),
            (date("2025-01-15"), date("2025-01-17"))
        );
        let paid = curve.at_date(coupon.payment_date).unwrap().discount_factor;
        assert_eq!(coupon.discount_factor, paid);
    }

    #[test]
    fn a_running_period_compounds_from_what_is_earned() {
        let curve = curve("2024-07-15");
        let curves = SwapCurves::single(&curve);
        let known = OvernightSwap { current_fixing: Some(0.05), ..swap() }.value(&curves).unwrap();
        let (earned, growth) = (0.05 * 182.0 / 360.0, libm::exp(0.03 * 0.5));
        let expected = (1.0 + earned) * growth - 1.0;
        assert!((known.floating_leg.coupons[0].amount - expected).abs() < 1e-15);
        assert_eq!(known.floating_leg.coupons[0].rate_source, RateSource::Fixing);

        let assumed = swap().value(&curves).unwrap().floating_leg.coupons[0];
        let expected = libm::expm1(0.03 * 0.5) * 366.0 / 184.0;
        assert!((assumed.amount - expected).abs() < 1e-15);
        assert_eq!(assumed.rate_source, RateSource::AssumedFixing);
    }

    #[test]
    fn a_period_that_is_over_and_not_paid_keeps_its_interest() {
        let curve = curve("2025-01-16");
        let curves = SwapCurves::single(&curve);
        let terms = LegTerms { payment_lag: 5, ..swap().terms };
        let known = OvernightSwap { terms, current_fixing: Some(0.05), ..swap() };
        let first = known.value(&curves).unwrap().floating_leg.coupons[0];
        assert!((first.amount - 0.05 * 366.0 / 360.0).abs() < 1e-17);
        let assumed =
            OvernightSwap { terms, ..swap() }.value(&curves).unwrap().floating_leg.coupons[0];
        // The curve's first day stands for every day of the period.
        assert!((assumed.amount - 366.0 * libm::expm1(0.03 / 365.0)).abs() < 1e-15);
        assert!(known.dv01(&curves).unwrap().dv01 > 0.0);
    }

    #[test]
    fn an_unknown_index_is_refused_with_the_known_ones() {
        let error = "EONIA".parse::<OvernightIndex>().unwrap_err();
        assert_eq!((error.code(), error.argument()), ("text", Some("index")));
        assert!(error.to_string().contains("SOFR, EFFR, ESTR, SONIA"));
    }
}
