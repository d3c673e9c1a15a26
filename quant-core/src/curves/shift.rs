//! Shifts of a curve: parallel, and around one tenor.

use super::curve::Curve;
use super::newton;
use super::pillars::pillar_before;
use crate::named::named;
use crate::time::Frequency;
use crate::{Error, Result, check};

/// The largest shift of a rate or a discount factor: 2 is 20,000 basis points.
const LARGEST_SHIFT: f64 = check::MAX_ANNUAL_RATE;

/// The longest tenor of a pillar whose par rate is shifted: each payment is read off the curve.
const LONGEST_PAR_TENOR: f64 = 100.0;

/// The quantity of a curve to which a parallel shift is added at every pillar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShiftSpace {
    /// The zero rate, continuously compounded; named `zero_rate`.
    ZeroRate,
    /// The forward rate from the pillar before, without compounding; named `simple_forward_rate`.
    SimpleForwardRate,
    /// The discount factor; named `discount_factor`.
    DiscountFactor,
    /// The rate of a par swap with annual payments up to the pillar; named `par_rate`.
    ParRate,
}

named!(
    ShiftSpace,
    "space",
    ZeroRate = "zero_rate",
    SimpleForwardRate = "simple_forward_rate",
    DiscountFactor = "discount_factor",
    ParRate = "par_rate",
);

/// A curve whose pillars were shifted.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CurveShift {
    /// The curve through the shifted pillars, with the interpolation of the original.
    pub curve: Curve,
    /// The part of the shift that each pillar has: 1 for all in a parallel shift.
    pub weights: Vec<f64>,
}

impl Curve {
    /// Returns the curve with one number added at every pillar: to its zero rate, to its simple forward
    /// rate from the pillar before, to its discount factor, or to its [par rate](Self::par_rate).
    ///
    /// ```text
    /// z′ = z + s,   F′ = F + s  with  D′ = D′(before) / (1 + F′ Δt),   D′ = D + s,   r′ = r + s
    /// ```
    ///
    /// Tenors, dates and interpolation stay. A parallel shift of the instantaneous forward rates is that
    /// of the zero rates. The curve of the shifted par rates of annual payments is found by Newton's
    /// method for all pillars at once, because payments lie between pillars.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a shift beyond ±2; [`Error::Element`] of the series `values` for the first
    /// pillar without a positive discount factor, or a zero rate within ±2, after the shift. For par rates
    /// also [`Error::Element`] of the series `tenors` for a pillar beyond 100 years, and
    /// [`Error::Domain`] of `shift` where no curve through at most 100 pillars has the shifted rates.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{CurveType, ShiftSpace};
    /// use quant_core::prelude::*;
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let (tenors, rates) = ([1.0, 2.0], [0.03, 0.04]);
    /// let curve =
    ///     Curve::from_values(today, &tenors, &rates, CurveType::Zero, Interpolation::Linear)?;
    /// let shifted = curve.parallel_shift(0.0025, ShiftSpace::ZeroRate)?.curve;
    /// assert_eq!(shifted.pillars()[1].zero_rate, 0.0425);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn parallel_shift(&self, shift: f64, space: ShiftSpace) -> Result<CurveShift> {
        require_shift(shift)?;
        let weights = vec![1.0; self.pillars().len()];
        let curve = match space {
            ShiftSpace::ZeroRate => self.with_shifted_zero_rates(shift, &weights)?,
            ShiftSpace::SimpleForwardRate => {
                self.with_exponents("shift", &self.shifted_forwards(shift)?)?
            }
            ShiftSpace::DiscountFactor => {
                self.with_exponents("shift", &self.shifted_factors(shift)?)?
            }
            ShiftSpace::ParRate => self.with_shifted_par_rates(shift)?,
        };
        Ok(CurveShift { curve, weights })
    }

    /// Returns the curve with zero rates shifted around a tenor, less with the distance of the pillar.
    ///
    /// ```text
    /// z′ᵢ = zᵢ + wᵢ s,   wᵢ = max(0, 1 − |tᵢ − T| / width)
    /// ```
    ///
    /// where tᵢ are the tenors of the pillars, and T and the width are in years. No pillar is added: where
    /// none lies within the width of T, every weight is 0 and the curve the same. Shifts around the
    /// points of an equidistant grid whose step is the width add up to a parallel one between its ends.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a shift beyond ±2, a negative tenor and a width that is not positive;
    /// [`Error::Element`] as in [`parallel_shift`](Self::parallel_shift).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::CurveType;
    /// use quant_core::prelude::*;
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let (tenors, rates) = ([1.0, 4.0, 5.0, 10.0], [0.03, 0.03, 0.03, 0.03]);
    /// let curve =
    ///     Curve::from_values(today, &tenors, &rates, CurveType::Zero, Interpolation::Linear)?;
    /// let shifted = curve.key_rate_shift(5.0, 0.0001, 2.0)?;
    /// assert_eq!(shifted.weights, [0.0, 0.5, 1.0, 0.0]);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Ho (1992), "Key Rate Durations: Measures of Interest Rate Risks", Journal of Fixed Income 2(2).
    pub fn key_rate_shift(&self, tenor: f64, shift: f64, width: f64) -> Result<CurveShift> {
        check::not_negative("tenor", tenor)?;
        require_shift(shift)?;
        check::positive("width", width)?;
        let weight = |time: f64| (1.0 - (time - tenor).abs() / width).max(0.0);
        let weights: Vec<f64> = self.pillars().iter().map(|pillar| weight(pillar.tenor)).collect();
        Ok(CurveShift { curve: self.with_shifted_zero_rates(shift, &weights)?, weights })
    }

    /// Returns the curve with a part of the shift added to the zero rate of each pillar.
    fn with_shifted_zero_rates(&self, shift: f64, weights: &[f64]) -> Result<Self> {
        let pillars = self.pillars().iter().zip(weights);
        let rates: Vec<f64> =
            pillars.map(|(pillar, weight)| pillar.zero_rate + weight * shift).collect();
        check::each("values", &rates, check::ANNUAL_RATE, check::is_annual_rate)?;
        self.with_zero_rates("shift", &rates)
    }

    /// Returns the curve at whose pillars the par rates are higher by the shift.
    fn with_shifted_par_rates(&self, shift: f64) -> Result<Self> {
        let tenors: Vec<f64> = self.pillars().iter().map(|pillar| pillar.tenor).collect();
        let requirement = "at most 100 years where par rates are shifted";
        check::each("tenors", &tenors, requirement, |tenor| tenor <= LONGEST_PAR_TENOR)?;
        let par = |curve: &Self| -> Result<Vec<f64>> {
            tenors.iter().map(|&tenor| curve.par_rate(tenor, Frequency::Annual)).collect()
        };
        let before = par(self)?;
        let start: Vec<f64> =
            self.pillars().iter().map(|pillar| pillar.zero_rate + shift).collect();
        let equations = |rates: &[f64]| {
            let after = self.with_zero_rates("shift", rates).and_then(|curve| par(&curve));
            after.map_or_else(
                |_| vec![f64::NAN; rates.len()],
                |after| after.iter().zip(&before).map(|(r, old)| r - old - shift).collect(),
            )
        };
        let solution = newton::solve(&start, equations);
        let (rates, _) = solution.ok_or(Error::Domain {
            argument: "shift",
            value: shift,
            requirement: "one after which a curve through at most 100 pillars has the par rates",
        })?;
        check::each("values", &rates, check::ANNUAL_RATE, check::is_annual_rate)?;
        self.with_zero_rates("shift", &rates)
    }

    /// Returns the exponents of the pillars with their shifted simple forward rates.
    fn shifted_forwards(&self, shift: f64) -> Result<Vec<f64>> {
        let (mut exponents, mut times) = (Vec::new(), Vec::new());
        for (index, pillar) in self.pillars().iter().enumerate() {
            let (time, exponent) = pillar_before(&times, &exponents, index);
            let interest = (pillar.simple_forward_rate + shift) * (pillar.tenor - time);
            if interest <= -1.0 {
                return Err(no_factor(index, pillar.simple_forward_rate + shift));
            }
            exponents.push(exponent + libm::log1p(interest));
            times.push(pillar.tenor);
        }
        Ok(exponents)
    }

    /// Returns the exponents of the pillars with their shifted discount factors.
    fn shifted_factors(&self, shift: f64) -> Result<Vec<f64>> {
        let factors = self.pillars().iter().map(|pillar| pillar.discount_factor + shift);
        let exponent = |(index, factor): (usize, f64)| {
            if factor > 0.0 { Ok(-libm::log(factor)) } else { Err(no_factor(index, factor)) }
        };
        factors.enumerate().map(exponent).collect()
    }
}

fn require_shift(shift: f64) -> Result<()> {
    let requirement = "between -2 and 2, that is 20,000 basis points";
    check::require(shift.abs() <= LARGEST_SHIFT, "shift", shift, requirement)
}

/// Returns the refusal of a shift that leaves a pillar without a positive discount factor.
fn no_factor(index: usize, value: f64) -> Error {
    let requirement = "a value with a positive discount factor after the shift";
    Error::Element { argument: "values", index, value, requirement }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{CurveType, Interpolation};
    use crate::time::NaiveDate;

    fn curve(tenors: &[f64], rates: &[f64], shape: Interpolation) -> Curve {
        let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
        Curve::from_values(today, tenors, rates, CurveType::Zero, shape).unwrap()
    }

    #[test]
    fn a_shift_that_leaves_no_discount_factor_is_refused() {
        let curve = curve(&[1.0, 10.0], &[0.03, 0.04], Interpolation::Linear);
        let refused = |shift, space| {
            let error = curve.parallel_shift(shift, space).unwrap_err();
            (error.argument(), error.index())
        };
        assert_eq!(refused(-0.7, ShiftSpace::DiscountFactor), (Some("values"), Some(1)));
        assert_eq!(refused(-0.2, ShiftSpace::SimpleForwardRate), (Some("values"), Some(1)));
        assert_eq!(refused(1.97, ShiftSpace::ZeroRate), (Some("values"), Some(1)));
        assert_eq!(refused(-1.5, ShiftSpace::ParRate), (Some("shift"), None));
        assert_eq!(refused(f64::NAN, ShiftSpace::ZeroRate), (Some("shift"), None));
        assert_eq!(refused(-3.0, ShiftSpace::ZeroRate), (Some("shift"), None));
        let key = |tenor, width| curve.key_rate_shift(tenor, 1e-4, width).unwrap_err().argument();
        assert_eq!(key(-1.0, 2.0), Some("tenor"));
        assert_eq!(key(1.0, 0.0), Some("width"));
        assert_eq!(key(1.0, f64::INFINITY), Some("width"));
    }

    #[test]
    fn a_key_rate_away_from_every_pillar_shifts_nothing() {
        let curve = curve(&[1.0, 10.0], &[0.03, 0.04], Interpolation::Cubic);
        let shifted = curve.key_rate_shift(5.0, 0.01, 2.0).unwrap();
        assert_eq!(shifted.weights, [0.0, 0.0]);
        assert_eq!(shifted.curve.pillars()[1].zero_rate, 0.04);
    }

    proptest! {
        #[test]
        fn a_parallel_shift_of_zero_rates_shifts_every_reading(
            rates in prop::array::uniform4(-0.02..0.1_f64), shift in -0.03..0.03_f64, which in 0_usize..3, tenor in 0.0..20.0_f64,
        ) {
            // Monotone convex has bounds that do not shift.
            let curve = curve(&[0.5, 2.0, 5.0, 9.0], &rates, Interpolation::ALL[which]);
            let shifted = curve.parallel_shift(shift, ShiftSpace::ZeroRate).unwrap().curve;
            let (before, after) = (curve.at(tenor).unwrap(), shifted.at(tenor).unwrap());
            prop_assert!((after.zero_rate - before.zero_rate - shift).abs() <= 1e-15);
            prop_assert!((after.instantaneous_forward_rate - before.instantaneous_forward_rate - shift).abs() <= 1e-14);
        }

        #[test]
        fn every_space_has_its_shift(rates in prop::array::uniform4(-0.02..0.1_f64), shift in -0.01..0.01_f64) {
            let curve = curve(&[0.5, 2.0, 5.0, 9.0], &rates, Interpolation::LogLinear);
            for &space in ShiftSpace::ALL {
                let shifted = curve.parallel_shift(shift, space).unwrap().curve;
                for (before, after) in curve.pillars().iter().zip(shifted.pillars()) {
                    let par = |curve: &Curve, at: f64| curve.par_rate(at, Frequency::Annual).unwrap();
                    let moved = match space {
                        ShiftSpace::ParRate => par(&shifted, after.tenor) - par(&curve, before.tenor),
                        ShiftSpace::ZeroRate => after.zero_rate - before.zero_rate,
                        ShiftSpace::SimpleForwardRate => after.simple_forward_rate - before.simple_forward_rate,
                        ShiftSpace::DiscountFactor => after.discount_factor - before.discount_factor,
                    };
                    // Newton's method ends where a residual is rounding.
                    let tolerance = if space == ShiftSpace::ParRate { 1e-12 } else { 1e-15 };
                    prop_assert!((moved - shift).abs() <= tolerance, "{space}: {moved} {shift}");
                }
            }
        }

        #[test]
        fn key_rates_on_a_grid_add_up_to_a_parallel_shift(time in 0.0..10.0_f64, width in 0.5..4.0_f64) {
            let curve = curve(&[time.max(0.01)], &[0.03], Interpolation::Linear);
            let weight = |count: u32| curve.key_rate_shift(f64::from(count) * width, 1e-4, width).unwrap().weights[0];
            let sum: f64 = (0..30).map(weight).sum();
            prop_assert!((sum - 1.0).abs() <= 1e-14);
        }
    }
}
