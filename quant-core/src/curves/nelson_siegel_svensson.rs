//! Curves of six parameters, as central banks publish them: Nelson and Siegel's, with Svensson's
//! second hump.

use super::curve::{Point, require_increasing};
use crate::{Error, Result, check};
use loading::Loading;
use search::Sample;

mod least_squares;
mod loading;
mod search;

/// Fewer points than parameters fit many curves.
const PARAMETERS: usize = 6;

/// A curve of zero rates with a level, a slope and two humps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NelsonSiegelSvensson {
    /// β₀: the rate that long tenors tend to.
    pub level: f64,
    /// β₁: the rate at tenor 0 less the level.
    pub slope: f64,
    /// β₂: the size of the hump of the first decay time.
    pub curvature: f64,
    /// β₃: the size of the hump of the second decay time.
    pub second_curvature: f64,
    /// τ₁: decay time of the slope and of the first hump, in years; positive.
    pub decay_time: f64,
    /// τ₂: decay time of the second hump, in years; positive.
    pub second_decay_time: f64,
}

impl NelsonSiegelSvensson {
    /// Returns the curve that is nearest to given zero rates, by the sum of the squared distances.
    ///
    /// `tenors` are years, positive and increasing; `zero_rates` are continuously compounded, one
    /// for each tenor.
    ///
    /// ```text
    /// minimise Σᵢ (z(tᵢ) − zᵢ)²   over   β₀, β₁, β₂, β₃, τ₁, τ₂
    /// ```
    ///
    /// where z is the curve's [zero rate](Self::at). The decay times are sought between half the
    /// first tenor and twice the last, the two at least a twentieth apart. Rates that are those of
    /// such a curve give its parameters back, as far as rates rounded to doubles tell them. Where
    /// fewer parameters would do, as for a flat curve, the fit is as good and the others are any.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] below six points, [`Error::Shape`] where there are not as many rates as
    /// tenors, [`Error::Element`] for the first tenor that is not positive or not after the one
    /// before, and for a rate that is not finite, [`Error::Overflow`] where a parameter is no
    /// double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegelSvensson;
    ///
    /// let truth = NelsonSiegelSvensson {
    ///     level: 0.04, slope: -0.02, curvature: 0.015, second_curvature: -0.01,
    ///     decay_time: 1.5, second_decay_time: 8.0,
    /// };
    /// let tenors = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0];
    /// let rates = tenors.map(|tenor| truth.at(tenor).unwrap().zero_rate);
    /// let found = NelsonSiegelSvensson::fit(&tenors, &rates)?;
    /// assert!((found.level - 0.04).abs() < 1e-10);
    /// assert!((found.decay_time - 1.5).abs() < 1e-8);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Nelson and Siegel (1987), "Parsimonious Modeling of Yield Curves"; Svensson (1994),
    /// "Estimating and Interpreting Forward Interest Rates: Sweden 1992–1994"; Golub and Pereyra
    /// (1973), "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose
    /// Variables Separate".
    pub fn fit(tenors: &[f64], zero_rates: &[f64]) -> Result<Self> {
        if tenors.len() < PARAMETERS {
            let found = tenors.len();
            return Err(Error::TooFew { argument: "tenors", needed: PARAMETERS, found });
        }
        require_increasing("tenors", tenors)?;
        check::length("zero_rates", zero_rates.len(), tenors.len())?;
        check::each("zero_rates", zero_rates, "a finite number", f64::is_finite)?;
        let largest = zero_rates.iter().fold(0.0, |largest: f64, rate| largest.max(rate.abs()));
        let (_, exponent) = libm::frexp(largest);
        let rates = zero_rates.iter().map(|rate| libm::scalbn(*rate, -exponent)).collect();
        let sample = Sample::new(tenors, rates);
        let decays = sample.search();
        sample.curve(decays, exponent)
    }

    /// Returns what the curve says at a tenor, in years, zero or positive.
    ///
    /// ```text
    /// z(t) = β₀ + β₁ s(t/τ₁) + β₂ h(t/τ₁) + β₃ h(t/τ₂)
    /// f(t) = β₀ + β₁ e^{−t/τ₁} + β₂ (t/τ₁) e^{−t/τ₁} + β₃ (t/τ₂) e^{−t/τ₂}
    /// s(x) = (1 − e⁻ˣ)/x,   h(x) = s(x) − e⁻ˣ
    /// ```
    ///
    /// where z is the zero rate, continuously compounded, f the instantaneous forward rate, and
    /// the Greek letters are those of the fields. At 0 both are β₀ + β₁.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a negative tenor, a parameter that is not finite or a decay time that
    /// is not positive; [`Error::Overflow`] where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegelSvensson;
    ///
    /// let curve = NelsonSiegelSvensson {
    ///     level: 0.04, slope: -0.02, curvature: 0.0, second_curvature: 0.0,
    ///     decay_time: 1.0, second_decay_time: 5.0,
    /// };
    /// assert_eq!(curve.at(0.0)?.zero_rate, 0.02);
    /// assert!((curve.at(1.0)?.forward_rate - (0.04 - 0.02 * 0.36787944117144233)).abs() < 1e-17);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn at(&self, tenor: f64) -> Result<Point> {
        check::not_negative("tenor", tenor)?;
        check::finite("level", self.level)?;
        check::finite("slope", self.slope)?;
        check::finite("curvature", self.curvature)?;
        check::finite("second_curvature", self.second_curvature)?;
        check::positive("decay_time", self.decay_time)?;
        check::positive("second_decay_time", self.second_decay_time)?;
        let (first, second) =
            (Loading::at(tenor / self.decay_time), Loading::at(tenor / self.second_decay_time));
        let zero_rate = self.level
            + self.slope * first.slope
            + self.curvature * first.hump
            + self.second_curvature * second.hump;
        let forward_rate = self.level
            + self.slope * first.decay
            + self.curvature * first.forward_hump
            + self.second_curvature * second.forward_hump;
        Ok(Point {
            tenor: tenor + 0.0,
            zero_rate: check::result("tenor", zero_rate)?,
            discount_factor: check::result("tenor", libm::exp(-zero_rate * tenor))?,
            forward_rate: check::result("tenor", forward_rate)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TENORS: [f64; 12] = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0];

    fn curve(betas: [f64; 4], decays: [f64; 2]) -> NelsonSiegelSvensson {
        let [level, slope, curvature, second_curvature] = betas;
        let [decay_time, second_decay_time] = decays;
        NelsonSiegelSvensson {
            level,
            slope,
            curvature,
            second_curvature,
            decay_time,
            second_decay_time,
        }
    }

    fn rates(curve: &NelsonSiegelSvensson) -> Vec<f64> {
        TENORS.iter().map(|&tenor| curve.at(tenor).unwrap().zero_rate).collect()
    }

    fn misfit(curve: &NelsonSiegelSvensson, expected: &[f64]) -> f64 {
        rates(curve).iter().zip(expected).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    #[test]
    fn both_ends_are_the_limits() {
        let curve = curve([0.04, -0.02, 0.015, -0.01], [1.5, 8.0]);
        let point = curve.at(0.0).unwrap();
        assert_eq!((point.zero_rate, point.forward_rate, point.discount_factor), (0.02, 0.02, 1.0));
        let far = curve.at(1e18).unwrap();
        assert!((far.zero_rate - 0.04).abs() < 1e-17);
        assert_eq!(far.forward_rate, 0.04);
        assert!((curve.at(1e-9).unwrap().zero_rate - 0.02).abs() < 1e-10);
    }

    #[test]
    fn flat_rates_are_their_level() {
        for rate in [0.03, 0.0, -0.005, 1e-300] {
            let found = NelsonSiegelSvensson::fit(&TENORS, &[rate; 12]).unwrap();
            for tenor in [0.0, 0.3, 8.0, 100.0] {
                let error = (found.at(tenor).unwrap().zero_rate - rate).abs();
                assert!(error <= 1e-14 * rate.abs(), "{rate} {found:?}");
            }
        }
    }

    #[test]
    fn a_curve_with_one_hump_is_fitted_as_well() {
        let truth = curve([0.05, -0.03, 0.02, 0.0], [2.0, 7.0]);
        let found = NelsonSiegelSvensson::fit(&TENORS, &rates(&truth)).unwrap();
        assert!(misfit(&found, &rates(&truth)) < 1e-28, "{found:?}");
    }

    #[test]
    fn what_makes_no_curve_is_refused_by_name() {
        let refused = |tenors: &[f64], rates: &[f64]| {
            let error = NelsonSiegelSvensson::fit(tenors, rates).unwrap_err();
            (error.code(), error.argument().unwrap(), error.index())
        };
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(refused(&six[..5], &six[..5]), ("too_few", "tenors", None));
        assert_eq!(refused(&six, &six[..5]), ("shape", "zero_rates", None));
        assert_eq!(refused(&[1.0, 2.0, 2.0, 4.0, 5.0, 6.0], &six), ("domain", "tenors", Some(2)));
        assert_eq!(refused(&[0.0, 2.0, 3.0, 4.0, 5.0, 6.0], &six), ("domain", "tenors", Some(0)));
        let mut rates = six;
        rates[3] = f64::INFINITY;
        assert_eq!(refused(&six, &rates), ("domain", "zero_rates", Some(3)));
        let odd = curve([0.04, 0.0, 0.0, 0.0], [0.0, 1.0]);
        assert_eq!(odd.at(1.0).unwrap_err().argument(), Some("decay_time"));
        let good = curve([0.04, 0.0, 0.0, 0.0], [1.0, 1.0]);
        assert_eq!(good.at(-1.0).unwrap_err().argument(), Some("tenor"));
    }

    #[test]
    fn scaled_rates_have_scaled_parameters() {
        let base: Vec<f64> =
            TENORS.iter().map(|t| 0.03 + 0.01 * libm::sin(*t) / (1.0 + t)).collect();
        let scaled: Vec<f64> = base.iter().map(|rate| libm::scalbn(*rate, -700)).collect();
        let (base, scaled) = (
            NelsonSiegelSvensson::fit(&TENORS, &base).unwrap(),
            NelsonSiegelSvensson::fit(&TENORS, &scaled).unwrap(),
        );
        assert_eq!(scaled.decay_time, base.decay_time);
        assert_eq!(libm::scalbn(scaled.level, 700), base.level);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn known_parameters_are_found_again(
            betas in prop::array::uniform4(-0.05_f64..0.05), first in 0.7_f64..2.5, ratio in 2.5_f64..6.0,
        ) {
            prop_assume!(betas[1].abs() > 0.005 && betas[2].abs() > 0.005 && betas[3].abs() > 0.005);
            let truth = curve(betas, [first, first * ratio]);
            let found = NelsonSiegelSvensson::fit(&TENORS, &rates(&truth)).unwrap();
            prop_assert!(misfit(&found, &rates(&truth)) < 1e-27, "{truth:?} {found:?}");
            prop_assert!((found.decay_time / first - 1.0).abs() < 1e-6, "{truth:?} {found:?}");
            prop_assert!((found.second_decay_time / (first * ratio) - 1.0).abs() < 1e-6);
            prop_assert!((found.level - betas[0]).abs() < 1e-7);
        }

        #[test]
        fn the_forward_is_the_slope_of_the_exponent(
            betas in prop::array::uniform4(-0.1..0.1), decays in prop::array::uniform2(0.1..10.0), tenor in 0.0..40.0,
        ) {
            let curve = curve(betas, decays);
            let exponent = |tenor: f64| curve.at(tenor).unwrap().zero_rate * tenor;
            let slope = (exponent(tenor + 1e-4) - exponent(tenor)) / 1e-4;
            let middle = curve.at(tenor + 5e-5).unwrap().forward_rate;
            prop_assert!((slope - middle).abs() < 1e-8, "{slope} {middle}");
        }

        #[test]
        fn no_rates_make_it_panic(rates in prop::collection::vec(any::<f64>(), 6..9), gaps in prop::collection::vec(any::<f64>(), 9)) {
            let mut time = 0.0;
            let tenors: Vec<f64> = gaps.iter().map(|gap| { time += gap.abs().min(1e300); time }).collect();
            if let Ok(found) = NelsonSiegelSvensson::fit(&tenors[..rates.len()], &rates) {
                prop_assert!(found.level.is_finite() && found.decay_time > 0.0);
                let _ = found.at(1.0);
            }
        }
    }
}
