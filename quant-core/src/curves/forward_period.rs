//! The forward rates of a curve over a period.

use super::curve::Curve;
use crate::arithmetic::without_negative_zero;
use crate::{Result, check};

/// The discount factor and the forward rates of a period that starts in the future.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ForwardPeriod {
    /// Start of the period, in years from the reference date.
    pub start: f64,
    /// End of the period, in years from the reference date.
    pub end: f64,
    /// Value at the start of one unit paid at the end.
    pub discount_factor: f64,
    /// Forward rate without compounding: the interest on one unit by the length of the period.
    pub simple_forward_rate: f64,
    /// Forward rate, continuously compounded: the mean of the instantaneous forward rates.
    pub continuous_forward_rate: f64,
}

impl Curve {
    /// Returns the discount factor and the forward rates between two tenors.
    ///
    /// ```text
    /// D(s, e) = D(e) / D(s),   continuous rate = −ln D(s, e) / (e − s)
    /// simple rate = (1 / D(s, e) − 1) / (e − s)
    /// ```
    ///
    /// where s is the start, e the end and D the discount factor. Neither is computed from the
    /// discount factors, whose difference loses the digits of short periods, but from the mean of
    /// the instantaneous forward rates, which within each piece of a curve are a polynomial.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a start that is negative and an end that is not after it,
    /// [`Error::Overflow`](crate::Error::Overflow) where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::{curves::{Curve, CurveType, Interpolation}, time::NaiveDate};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let (tenors, factors) = ([1.0, 1.5], [0.96, 0.94]);
    /// let curve =
    ///     Curve::from_values(today, &tenors, &factors, CurveType::Discount, Interpolation::Linear)?;
    /// let period = curve.between(1.0, 1.5)?;
    /// assert!((period.discount_factor - 0.94 / 0.96).abs() < 1e-15);
    /// assert!((period.simple_forward_rate - (0.96 / 0.94 - 1.0) / 0.5).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn between(&self, start: f64, end: f64) -> Result<ForwardPeriod> {
        check::not_negative("start", start)?;
        check::finite("end", end)?;
        check::require(end > start, "end", end, "after the start")?;
        let length = end - start;
        let exponent = self.interpolant.exponent_between(start, end);
        let discount_factor =
            if start == 0.0 { self.at(end)?.discount_factor } else { libm::exp(-exponent) };
        Ok(ForwardPeriod {
            // A start of −0 is 0.
            start: without_negative_zero(start),
            end,
            discount_factor: check::result("end", discount_factor)?,
            simple_forward_rate: check::result("end", libm::expm1(exponent) / length)?,
            continuous_forward_rate: check::result("end", exponent / length)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{CurveType, Interpolation};
    use crate::time::NaiveDate;

    fn zero_curve(tenors: &[f64], rates: &[f64], shape: Interpolation) -> Curve {
        let today = NaiveDate::from_ymd_opt(2024, 1, 31).unwrap();
        Curve::from_values(today, tenors, rates, CurveType::Zero, shape).unwrap()
    }

    #[test]
    fn a_period_of_a_moment_has_the_instantaneous_forward() {
        let (tenors, rates) = ([0.5, 2.0, 5.0, 9.0], [0.01, 0.03, 0.025, 0.04]);
        for &shape in Interpolation::ALL {
            let curve = zero_curve(&tenors, &rates, shape);
            for start in [0.0, 0.3, 1.0, 3.5, 7.7, 30.0] {
                let period = curve.between(start, start + 1e-9).unwrap();
                let forward = curve.at(start).unwrap().instantaneous_forward_rate;
                assert!(
                    (period.continuous_forward_rate - forward).abs() < 1e-10,
                    "{shape:?} {period:?}"
                );
                assert!(
                    (period.simple_forward_rate - forward).abs() < 1e-10,
                    "{shape:?} {period:?}"
                );
            }
        }
    }

    #[test]
    fn a_period_that_does_not_go_forward_is_refused() {
        let curve = zero_curve(&[1.0], &[0.03], Interpolation::Linear);
        let refused = |start, end| curve.between(start, end).unwrap_err().argument();
        for (start, end, argument) in
            [(-1.0, 1.0, "start"), (1.0, 1.0, "end"), (2.0, 1.0, "end"), (1.0, f64::NAN, "end")]
        {
            assert_eq!(refused(start, end), Some(argument), "{start} {end}");
        }
        assert_eq!(curve.between(-0.0, 1.0).unwrap().start.to_bits(), 0);
    }

    proptest! {
        #[test]
        fn a_period_discounts_what_the_curve_discounts_more_at_its_end(
            gaps in prop::collection::vec(0.1..5.0, 1..8), which in 0_usize..4, parts in prop::array::uniform2(0.0_f64..1.3), rates in prop::collection::vec(-0.02..0.08, 8),
        ) {
            let mut time = 0.0;
            let tenors: Vec<f64> = gaps.iter().map(|gap| { time += gap; time }).collect();
            let curve = zero_curve(&tenors, &rates[..tenors.len()], Interpolation::ALL[which]);
            let (start, end) = (parts[0].min(parts[1]) * time, parts[0].max(parts[1]) * time);
            prop_assume!(start < end);
            let period = curve.between(start, end).unwrap();
            let ratio = curve.at(end).unwrap().discount_factor / curve.at(start).unwrap().discount_factor;
            // A spline over gaps of 0.2 beside 4 years swings: its terms are hundreds of times the
            // rate that they add up to, and so is what rounding leaves.
            let rounding = if Interpolation::ALL[which] == Interpolation::Cubic { 1e-12 } else { 1e-14 };
            let per_year = 1.0 + 1.0 / (end - start);
            prop_assert!((period.discount_factor / ratio - 1.0).abs() <= rounding, "{period:?} {ratio}");
            prop_assert!((period.simple_forward_rate - (1.0 / ratio - 1.0) / (end - start)).abs() <= 2.0 * rounding / ratio.min(1.0) * per_year);
            prop_assert!((period.continuous_forward_rate + libm::log(ratio) / (end - start)).abs() <= rounding * per_year);
        }
    }
}
