//! Interest rate swaps: fixed payments against the forward rates of a curve.
//!
//! The floating rate of a period is the simple forward rate of the projection curve over the
//! period, fixed on its first day and paid at its end. Not modelled: fixing lags, notionals that
//! change, payments in two currencies, convexity of payments away from the end of a period.

use super::leg::{Interest, LegTerms, RateSource, SwapCurves, assumed_interest};
use super::rate_risk::{OF_RISK, RateRisk};
use super::swap::{SwapFlows, SwapSide, SwapValue, payment_sentences};
use crate::curves::AccrualPeriod;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::time::NaiveDate;
use crate::{Result, check};

/// A swap of fixed against floating payments of interest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InterestRateSwap {
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
    /// Rate added to the floating one, annual; of any sign, at most 2 in size.
    pub floating_spread: f64,
    /// Conventions of the fixed leg.
    pub fixed_terms: LegTerms,
    /// Conventions of the floating leg.
    pub floating_terms: LegTerms,
    /// Floating rate of the period that has begun on the reference date or before, without the
    /// spread. `None`: the period pays interest as the curve gives it for the rest of the period,
    /// in proportion to the days.
    pub current_fixing: Option<f64>,
}

impl InterestRateSwap {
    /// Returns the present value, the par rate and the payments of both legs.
    ///
    /// ```text
    /// V = ± ( Σ N (fⱼ + m) βⱼ D(pⱼ) − Σ N K τᵢ D(pᵢ) ),   fⱼ = (P(sⱼ)/P(eⱼ) − 1) / βⱼ
    /// par rate = Σ (fⱼ + m) βⱼ D(pⱼ) / Σ τᵢ D(pᵢ)
    /// ```
    ///
    /// where N is the notional, K the fixed rate, m the spread, sⱼ, eⱼ and pⱼ the start, the end and
    /// the payment of period j, τ and β year fractions of the fixed and the floating leg, P the
    /// discount factors of the projection curve and D those of the discount curve; + for a payer.
    /// Payments on or before the reference date are left out. A swap without payments is worth 0.
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
    /// use quant_core::instruments::{InterestRateSwap, LegTerms, SwapCurves, SwapSide};
    /// use quant_core::prelude::*;
    ///
    /// let day = |year| NaiveDate::from_ymd_opt(year, 1, 15).expect("a day");
    /// let (tenors, factors) = ([1.0, 2.0], [0.96, 0.92]);
    /// let shape = Interpolation::LogLinear;
    /// let curve = Curve::from_values(day(2026), &tenors, &factors, CurveType::Discount, shape)?;
    /// let annual = LegTerms::unadjusted(Frequency::Annual, DayCount::Thirty360BondBasis);
    /// let swap = InterestRateSwap {
    ///     side: SwapSide::Payer,
    ///     notional: 1e6,
    ///     effective_date: day(2026),
    ///     maturity_date: day(2028),
    ///     fixed_rate: 0.04,
    ///     floating_spread: 0.0,
    ///     fixed_terms: annual,
    ///     floating_terms: annual,
    ///     current_fixing: None,
    /// };
    /// let value = swap.value(&SwapCurves::single(&curve))?;
    /// assert!((value.npv - 1e6 * (1.0 - 0.92 - 0.04 * (0.96 + 0.92))).abs() < 1e-9);
    /// assert!((value.par_rate.expect("a rate") - 0.08 / 1.88).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Brigo and Mercurio (2006), "Interest Rate Models: Theory and Practice", section 1.5; Henrard
    /// (2014), "Interest Rate Modelling in the Multi-Curve Framework", chapter 2.
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
    /// ```
    /// # use quant_core::curves::{Curve, CurveType, Interpolation};
    /// # use quant_core::instruments::{InterestRateSwap, LegTerms, SwapCurves, SwapSide};
    /// # use quant_core::prelude::*;
    /// # let day = |year| NaiveDate::from_ymd_opt(year, 1, 15).expect("a day");
    /// # let annual = LegTerms::unadjusted(Frequency::Annual, DayCount::Thirty360BondBasis);
    /// # let swap = InterestRateSwap {
    /// #     side: SwapSide::Payer, notional: 1e6, effective_date: day(2026),
    /// #     maturity_date: day(2028), fixed_rate: 0.04, floating_spread: 0.0,
    /// #     fixed_terms: annual, floating_terms: annual, current_fixing: None,
    /// # };
    /// let shape = Interpolation::Linear;
    /// let curve = Curve::from_values(day(2026), &[1.0], &[0.04], CurveType::Zero, shape)?;
    /// let risk = swap.dv01(&SwapCurves::single(&curve))?;
    /// let buckets: f64 = risk.buckets.iter().map(|bucket| bucket.dv01).sum();
    /// assert!(risk.dv01 > 190.0 && (risk.dv01 - buckets).abs() < 1e-5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn dv01(&self, curves: &SwapCurves<'_>) -> Result<RateRisk> {
        self.flows(curves)?.risk(curves)
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain_value(&self, curves: &SwapCurves<'_>) -> Result<Explanation> {
        let value = self.value(curves)?;
        Ok(self.explained(curves, value.value_error(self.notional)))
    }

    /// Explains [`par_rate`](Self::par_rate).
    ///
    /// # Errors
    ///
    /// The errors of [`par_rate`](Self::par_rate).
    pub fn explain_par_rate(&self, curves: &SwapCurves<'_>) -> Result<Explanation> {
        let value = self.value(curves)?;
        value.require_par_rate()?;
        Ok(self.explained(curves, value.par_rate_error(self.notional)))
    }

    /// Explains [`dv01`](Self::dv01).
    ///
    /// # Errors
    ///
    /// The errors of [`dv01`](Self::dv01).
    pub fn explain_dv01(&self, curves: &SwapCurves<'_>) -> Result<Explanation> {
        let error = self.dv01(curves)?.error();
        Ok(self.explained(curves, error).with_conventions(OF_RISK))
    }

    fn explained(&self, curves: &SwapCurves<'_>, error: ErrorStatement) -> Explanation {
        let method = Method::new(
            "forward rates on one or two curves",
            "Brigo and Mercurio (2006), Interest Rate Models: Theory and Practice, section 1.5; Henrard \
             (2014), Interest Rate Modelling in the Multi-Curve Framework, chapter 2",
        );
        let (today, has_fixing) = (curves.reference_date(), self.current_fixing.is_some());
        Explanation::new(method, error)
            .with_conventions(curves.conventions())
            .with_conventions(payment_sentences(self.effective_date, today, has_fixing))
            .with_conventions([
                self.fixed_terms.sentence("Fixed"),
                self.floating_terms.sentence("Floating"),
            ])
            .with_conventions(["A floating rate is the simple forward rate of its accrual period."])
    }

    fn flows(&self, curves: &SwapCurves<'_>) -> Result<SwapFlows> {
        let Self { side, notional, effective_date, maturity_date, fixed_rate, .. } = *self;
        check::positive("notional", notional)?;
        check::annual_rate("fixed_rate", fixed_rate)?;
        check::annual_rate("floating_spread", self.floating_spread)?;
        self.current_fixing.map_or(Ok(()), |rate| check::annual_rate("current_fixing", rate))?;
        let fixed =
            self.fixed_terms.fixed_flows(fixed_rate, effective_date, maturity_date, curves)?;
        let interest = |period: &AccrualPeriod| self.floating_interest(period, curves);
        let floating =
            self.floating_terms.flows(effective_date, maturity_date, curves, interest)?;
        Ok(SwapFlows { side, notional, fixed, floating })
    }

    fn floating_interest(
        &self,
        period: &AccrualPeriod,
        curves: &SwapCurves<'_>,
    ) -> Result<(Interest, RateSource)> {
        let (today, curve) = (curves.reference_date(), curves.projection());
        let (mut interest, source) = match self.current_fixing {
            Some(rate) if period.start <= today => {
                (Interest::known(rate * period.year_fraction), RateSource::Fixing)
            }
            None if period.start < today => {
                (assumed_interest(period, curve)?, RateSource::AssumedFixing)
            }
            _ => (Interest::forward(period, curve)?, RateSource::Forward),
        };
        interest.known += self.floating_spread * period.year_fraction;
        Ok((interest, source))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{Curve, CurveType, Interpolation};
    use crate::instruments::{CurveRole, SwapLeg};
    use crate::time::{BusinessDayConvention, Calendar, DayCount, Frequency};

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn curve(rates: &[f64], shape: Interpolation) -> Curve {
        let tenors = [0.5, 2.0, 5.0, 10.0];
        Curve::from_values(date("2024-01-15"), &tenors, rates, CurveType::Zero, shape).unwrap()
    }

    const RATES: [f64; 4] = [0.03, 0.035, 0.041, 0.038];

    fn swap() -> InterestRateSwap {
        let terms = LegTerms::unadjusted(Frequency::Semiannual, DayCount::Act365);
        InterestRateSwap {
            side: SwapSide::Payer,
            notional: 1e6,
            effective_date: date("2024-01-15"),
            maturity_date: date("2029-01-15"),
            fixed_rate: 0.04,
            floating_spread: 0.0,
            fixed_terms: terms,
            floating_terms: terms,
            current_fixing: None,
        }
    }

    #[test]
    fn a_leg_on_one_curve_is_worth_the_difference_of_its_ends() {
        for &shape in Interpolation::ALL {
            let curve = curve(&RATES, shape);
            let found = swap().value(&SwapCurves::single(&curve)).unwrap();
            let end = curve.at_date(date("2029-01-15")).unwrap().discount_factor;
            assert!((found.floating_leg.present_value - 1e6 * (1.0 - end)).abs() < 1e-9);
            assert_eq!(found.fixed_leg.coupons.len(), 10);
        }
    }

    #[test]
    fn payer_and_receiver_have_opposite_values() {
        let curve = curve(&RATES, Interpolation::Cubic);
        let curves = SwapCurves::single(&curve);
        let receiver = InterestRateSwap { side: SwapSide::Receiver, ..swap() };
        let [paid, received] = [swap(), receiver].map(|swap| swap.value(&curves).unwrap());
        assert_eq!((paid.npv, paid.par_rate), (-received.npv, received.par_rate));
        let [paid, received] = [swap(), receiver].map(|swap| swap.dv01(&curves).unwrap().dv01);
        assert_eq!(paid, -received);
    }

    #[test]
    fn a_running_swap_pays_what_is_left() {
        let curve = curve(&RATES, Interpolation::Linear);
        let curves = SwapCurves::single(&curve);
        let running = InterestRateSwap {
            effective_date: date("2022-04-15"),
            maturity_date: date("2026-04-15"),
            ..swap()
        };
        let assumed = running.value(&curves).unwrap();
        let first = |leg: &SwapLeg| leg.coupons[0];
        assert_eq!(assumed.fixed_leg.coupons.len(), 5);
        assert_eq!(first(&assumed.floating_leg).accrual_start, date("2023-10-15"));
        assert_eq!(first(&assumed.floating_leg).rate_source, RateSource::AssumedFixing);
        assert_eq!(assumed.floating_leg.coupons[1].rate_source, RateSource::Forward);
        // The assumed rate is the simple rate from today to the end of the period, at 0.03.
        let years = 91.0 / 365.0;
        assert!(
            (first(&assumed.floating_leg).rate - libm::expm1(0.03 * 0.25) / years).abs() < 1e-15
        );

        let fixed =
            InterestRateSwap { current_fixing: Some(0.05), floating_spread: 0.001, ..running };
        let fixed = fixed.value(&curves).unwrap();
        assert!((first(&fixed.floating_leg).rate - 0.051).abs() < 1e-17);
        assert_eq!(first(&fixed.floating_leg).rate_source, RateSource::Fixing);
        let started =
            InterestRateSwap { current_fixing: Some(0.05), ..swap() }.value(&curves).unwrap();
        assert_eq!(first(&started.floating_leg).rate, 0.05);
    }

    #[test]
    fn a_swap_that_is_over_is_worth_nothing() {
        let curve = curve(&RATES, Interpolation::Linear);
        let curves = SwapCurves::single(&curve);
        for maturity_date in [date("2024-01-15"), date("2023-07-01")] {
            let over =
                InterestRateSwap { effective_date: date("2022-01-15"), maturity_date, ..swap() };
            let value = over.value(&curves).unwrap();
            assert_eq!((value.npv, value.par_rate, value.pv01), (0.0, None, 0.0));
            assert_eq!(over.dv01(&curves).unwrap().dv01, 0.0);
            let error = over.par_rate(&curves).unwrap_err();
            assert_eq!((error.code(), error.argument()), ("conflict", Some("maturity_date")));
        }
    }

    #[test]
    fn two_curves_that_are_equal_are_one() {
        let (one, same) =
            (curve(&RATES, Interpolation::LogLinear), curve(&RATES, Interpolation::LogLinear));
        let dual = SwapCurves::dual(&one, &same).unwrap();
        assert_eq!(swap().value(&dual), swap().value(&SwapCurves::single(&one)));
        let [both, single] =
            [dual, SwapCurves::single(&one)].map(|curves| swap().dv01(&curves).unwrap());
        assert_eq!(both.dv01, single.dv01);
        assert_eq!(both.buckets.len(), 8);
        assert_eq!(both.buckets[7].curve, CurveRole::Discount);
        let sum = both.projection_dv01.unwrap() + both.discount_dv01.unwrap();
        assert!((sum - single.dv01).abs() < 1e-5 * single.dv01);
        let later = Curve::from_values(
            date("2024-01-16"),
            &[1.0],
            &[0.03],
            CurveType::Zero,
            Interpolation::Linear,
        );
        let refused = SwapCurves::dual(&one, &later.unwrap()).unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("date", Some("discount")));
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let good = swap();
        let terms = good.fixed_terms;
        let monthly = LegTerms { frequency: Frequency::Monthly, ..terms };
        let steep = curve(&[2.0, 2.0, 2.0, 2.0], Interpolation::Linear);
        #[rustfmt::skip]
        let rows = [
            (InterestRateSwap { notional: 0.0, ..good }, "domain", "notional"),
            (InterestRateSwap { notional: f64::MAX, ..good }, "overflow", "notional"),
            (InterestRateSwap { fixed_rate: 5.0, ..good }, "domain", "fixed_rate"),
            (InterestRateSwap { floating_spread: f64::NAN, ..good }, "domain", "floating_spread"),
            (InterestRateSwap { current_fixing: Some(3.0), ..good }, "domain", "current_fixing"),
            (InterestRateSwap { maturity_date: good.effective_date, ..good }, "date", "maturity_date"),
            (InterestRateSwap { effective_date: NaiveDate::MIN, ..good }, "date", "maturity_date"),
            (InterestRateSwap { effective_date: date("0001-01-01"), maturity_date: date("0002-01-01"), ..good }, "", ""),
            (InterestRateSwap { maturity_date: NaiveDate::MAX, ..good }, "date", "maturity_date"),
            (InterestRateSwap { maturity_date: date("2124-02-16"), floating_terms: monthly, ..good }, "date", "maturity_date"),
            (InterestRateSwap { fixed_terms: LegTerms { payment_lag: 32, ..terms }, ..good }, "domain", "payment_lag"),
            (InterestRateSwap { fixed_terms: LegTerms { day_count: DayCount::Bus252, ..terms }, ..good }, "conflict", "calendar"),
        ];
        for (swap, code, argument) in rows {
            let found = swap.value(&SwapCurves::single(&steep));
            let found = found.map_err(|error| (error.code(), error.argument().unwrap()));
            assert_eq!(found.err().unwrap_or_default(), (code, argument), "{swap:?}");
        }
    }

    #[test]
    fn the_risk_is_that_of_a_full_revaluation() {
        let (projection, discount) = ([0.03, -0.01, 0.041, 0.038], [0.028, 0.03, 0.035, 0.033]);
        let running = InterestRateSwap {
            effective_date: date("2022-04-15"),
            maturity_date: date("2032-04-15"),
            ..swap()
        };
        for &shape in Interpolation::ALL {
            let npv = |up: &[f64; 4], moved: &[f64; 4]| {
                let (up, moved) = (curve(up, shape), curve(moved, shape));
                running.value(&SwapCurves::dual(&up, &moved).unwrap()).unwrap().npv
            };
            let rise = |rates: &[f64; 4], size: f64| rates.map(|rate| rate + size);
            let (first, second) = (curve(&projection, shape), curve(&discount, shape));
            let found = running.dv01(&SwapCurves::dual(&first, &second).unwrap()).unwrap();
            let up = npv(&rise(&projection, 1e-4), &rise(&discount, 1e-4));
            let down = npv(&rise(&projection, -1e-4), &rise(&discount, -1e-4));
            assert!((found.dv01 - 0.5 * (up - down)).abs() < 1e-8, "{shape:?}");
            assert!(
                (found.change_up - (up - npv(&projection, &discount))).abs() < 1e-8,
                "{shape:?}"
            );
            let alone = npv(&rise(&projection, 1e-4), &discount)
                - npv(&rise(&projection, -1e-4), &discount);
            assert!((found.projection_dv01.unwrap() - 0.5 * alone).abs() < 1e-8, "{shape:?}");
            let mut bucket = [projection; 2];
            bucket[0][1] += 1e-4;
            bucket[1][1] -= 1e-4;
            let expected = 0.5 * (npv(&bucket[0], &discount) - npv(&bucket[1], &discount));
            assert!((found.buckets[1].dv01 - expected).abs() < 1e-8, "{shape:?}");
        }
    }

    proptest! {
        #[test]
        fn a_swap_at_its_own_par_rate_is_worth_nothing(
            start in -2000_i64..2000, length in 1_i64..10_000, fixed in 0_usize..6, floating in 0_usize..6,
            rates in prop::array::uniform4(-0.02..0.12), spread in -0.01..0.01, which in 0_usize..4, is_dual: bool,
        ) {
            let day = |days| crate::time::add_days(date("2024-01-15"), days).unwrap();
            let terms = |which: usize| LegTerms {
                calendar: Calendar::Target, convention: BusinessDayConvention::ModifiedFollowing, end_of_month: true,
                ..LegTerms::unadjusted(Frequency::ALL[which], DayCount::Act360)
            };
            let shape = Interpolation::ALL[which];
            let (projection, discount) = (curve(&rates, shape), curve(&RATES, shape));
            let dual = SwapCurves::dual(&projection, &discount).unwrap();
            let curves = if is_dual { dual } else { SwapCurves::single(&projection) };
            let swap = InterestRateSwap {
                effective_date: day(start), maturity_date: day(start + length), floating_spread: spread,
                fixed_terms: terms(fixed), floating_terms: terms(floating), ..swap()
            };
            if let Ok(value) = swap.value(&curves)
                && let Some(fixed_rate) = value.par_rate.filter(|rate| rate.abs() <= 2.0)
            {
                let at_par = InterestRateSwap { fixed_rate, ..swap }.value(&curves).unwrap();
                let size = at_par.floating_leg.coupons.iter().map(|coupon| coupon.present_value.abs()).fold(1e6, f64::max);
                prop_assert!(at_par.npv.abs() <= 1e-14 * size, "{}", at_par.npv);
            }
        }
    }
}
