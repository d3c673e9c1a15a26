//! The curve of four parameters by Nelson and Siegel, and its fit to given zero rates.

use super::fit::Rates;
use super::least_squares::{first_order_gap, least_squares, squares};
use super::loading::Loading;
use super::model::NelsonSiegelSvensson;
use super::quality::{FitQuality, explain_fit};
use crate::curves::curve::Point;
use crate::explanation::{Explanation, Method};
use crate::{Result, check};

/// The number of parameters. Fewer points do not determine a curve.
const PARAMETERS: usize = 4;

/// The number of intervals of decay times, equal in the logarithm, of which every minimum is refined.
const INTERVALS: usize = 256;

/// The number of golden sections that leave a thousandth of an interval, and their part.
const SECTIONS: u32 = 16;
const GOLDEN_PART: f64 = 0.381_966_011_250_105_15;

/// The number of bisections of an interval, after which its ends are neighbours.
const BISECTIONS: u32 = 50;

/// A curve of zero rates with a level, a slope and one hump.
///
/// It is the [`NelsonSiegelSvensson`] curve without a second hump.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NelsonSiegel {
    /// β₀: the rate that long tenors tend to.
    pub level: f64,
    /// β₁: the rate at tenor 0 less the level.
    pub slope: f64,
    /// β₂: the size of the hump.
    pub curvature: f64,
    /// τ: decay time of the slope and of the hump, in years; positive.
    pub decay_time: f64,
}

impl From<NelsonSiegel> for NelsonSiegelSvensson {
    fn from(curve: NelsonSiegel) -> Self {
        Self {
            level: curve.level,
            slope: curve.slope,
            curvature: curve.curvature,
            second_curvature: 0.0,
            decay_time: curve.decay_time,
            second_decay_time: curve.decay_time,
        }
    }
}

impl NelsonSiegel {
    /// Returns the distance of the curve from given zero rates.
    ///
    /// # Errors
    ///
    /// Those of [`NelsonSiegelSvensson::quality`].
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegel;
    ///
    /// let curve = NelsonSiegel { level: 0.03, slope: 0.0, curvature: 0.0, decay_time: 1.0 };
    /// let quality = curve.quality(&[1.0, 2.0], &[0.02, 0.04])?;
    /// assert!(quality.r_squared.abs() < 1e-15 && (quality.largest_residual - 0.01).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn quality(&self, tenors: &[f64], zero_rates: &[f64]) -> Result<FitQuality> {
        NelsonSiegelSvensson::from(*self).quality(tenors, zero_rates)
    }

    /// Returns the zero rate, the discount factor and the forward rate at a tenor, in years, zero or
    /// positive.
    ///
    /// ```text
    /// z(t) = β₀ + β₁ s(t/τ) + β₂ h(t/τ),   s(x) = (1 − e⁻ˣ)/x,   h(x) = s(x) − e⁻ˣ
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`NelsonSiegelSvensson::at`].
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegel;
    ///
    /// let curve = NelsonSiegel { level: 0.04, slope: -0.02, curvature: 0.01, decay_time: 1.5 };
    /// assert_eq!(curve.at(0.0)?.zero_rate, 0.02);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn at(&self, tenor: f64) -> Result<Point> {
        NelsonSiegelSvensson::from(*self).at(tenor)
    }

    /// Returns the curve that is nearest to given zero rates, by the sum of the squared distances.
    ///
    /// `tenors` are years, positive and increasing; `zero_rates` are continuously compounded, one
    /// for each tenor.
    ///
    /// ```text
    /// minimise Σᵢ (z(tᵢ) − zᵢ)²   over   β₀, β₁, β₂, τ
    /// ```
    ///
    /// For a given decay time τ the other parameters solve a linear problem. τ is sought between half
    /// the first tenor and twice the last: every minimum on a grid of 257 is refined by golden sections
    /// and by bisection of the derivative, and the lowest is the answer. Where fewer parameters would do, as for equal rates,
    /// the fit is as good and the others are any.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`](crate::Error::TooFew) below four points, and else those of
    /// [`NelsonSiegelSvensson::fit`].
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegel;
    ///
    /// let truth = NelsonSiegel { level: 0.04, slope: -0.02, curvature: 0.015, decay_time: 1.5 };
    /// let tenors = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0];
    /// let rates = tenors.map(|tenor| truth.at(tenor).unwrap().zero_rate);
    /// let found = NelsonSiegel::fit(&tenors, &rates)?;
    /// assert!((found.level - 0.04).abs() < 1e-12);
    /// assert!((found.decay_time - 1.5).abs() < 1e-10);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Nelson and Siegel (1987), "Parsimonious Modeling of Yield Curves", Journal of Business 60(4).
    pub fn fit(tenors: &[f64], zero_rates: &[f64]) -> Result<Self> {
        let Rates { scaled, exponent } = Rates::new(tenors, zero_rates, PARAMETERS)?;
        let sample = ScaledRates { tenors, rates: scaled };
        let decay_time = libm::exp(sample.search());
        let loadings = sample.loadings(decay_time);
        let (betas, _) = sample.solve(&loadings);
        let beta = |index: usize| check::result("zero_rates", libm::scalbn(betas[index], exponent));
        Ok(Self {
            level: beta(0)?,
            slope: beta(1)?,
            curvature: beta(2)?,
            decay_time: check::result("tenors", decay_time)?,
        })
    }

    /// Explains [`fit`](Self::fit).
    ///
    /// # Errors
    ///
    /// The errors of [`fit`](Self::fit).
    pub fn explain_fit(tenors: &[f64], zero_rates: &[f64]) -> Result<Explanation> {
        let curve = Self::fit(tenors, zero_rates)?;
        let Rates { scaled, exponent } = Rates::new(tenors, zero_rates, PARAMETERS)?;
        let sample = ScaledRates { tenors, rates: scaled };
        let gap = libm::scalbn(sample.gap(libm::log(curve.decay_time)), exponent);
        let method = Method::new(
            "Nelson–Siegel curve by separable least squares",
            "Nelson and Siegel (1987), Parsimonious Modeling of Yield Curves, Journal of Business 60(4)",
        );
        Ok(explain_fit(method, zero_rates, &curve.into(), gap, INTERVALS as u32 + 1))
    }
}

/// Rates to be fitted, scaled to a size near 1.
struct ScaledRates<'a> {
    tenors: &'a [f64],
    rates: Vec<f64>,
}

impl ScaledRates<'_> {
    fn loadings(&self, decay_time: f64) -> Vec<Loading> {
        self.tenors.iter().map(|tenor| Loading::at(tenor / decay_time)).collect()
    }

    /// Returns the three linear parameters at given loadings, and the residuals.
    fn solve(&self, loadings: &[Loading]) -> ([f64; 3], Vec<f64>) {
        least_squares(columns(loadings), &self.rates)
    }

    /// Returns the sum of the squared residuals at the logarithm of a decay time, and a number of the
    /// sign of its derivative.
    fn misfit(&self, logarithm: f64) -> (f64, f64) {
        let (moves, rest) = self.linearised(&self.loadings(libm::exp(logarithm)));
        let derivative: f64 = moves.iter().zip(&rest).map(|(moved, rest)| -rest * moved).sum();
        let misfit = squares(&rest);
        (if misfit.is_nan() { f64::INFINITY } else { misfit }, derivative)
    }

    /// Returns the derivatives of the rates by the logarithm of the decay time, and the residuals.
    fn linearised(&self, loadings: &[Loading]) -> (Vec<f64>, Vec<f64>) {
        let ([_, slope, curvature], rest) = self.solve(loadings);
        let moved = |loading: &Loading| {
            slope * loading.hump + curvature * (loading.hump - loading.forward_hump)
        };
        (loadings.iter().map(moved).collect(), rest)
    }

    /// Returns the fall of the root of the mean squared residual that a further step promises; none at
    /// an end of the range.
    fn gap(&self, logarithm: f64) -> f64 {
        let [first, last] = self.bounds();
        // The decay time has passed through an exponential: an end is met to some roundings.
        let margin = 1e-12 * (1.0 + logarithm.abs());
        if logarithm <= first + margin || logarithm >= last - margin {
            return 0.0;
        }
        let loadings = self.loadings(libm::exp(logarithm));
        let (moves, rest) = self.linearised(&loadings);
        let [level, slope, hump] = columns(&loadings);
        first_order_gap([level, slope, hump, moves], &rest)
    }

    /// Returns the logarithms of the least and the largest decay time.
    fn bounds(&self) -> [f64; 2] {
        let first = libm::log(self.tenors[0]) - std::f64::consts::LN_2;
        [first, libm::log(self.tenors[self.tenors.len() - 1]) + std::f64::consts::LN_2]
    }

    /// Returns the logarithm of the decay time with the least sum of squared residuals.
    fn search(&self) -> f64 {
        let [first, last] = self.bounds();
        let side = (last - first) / INTERVALS as f64;
        let place =
            |index: usize| if index == INTERVALS { last } else { first + side * index as f64 };
        let misfits: Vec<f64> = (0..=INTERVALS).map(|index| self.misfit(place(index)).0).collect();
        let mut best = (f64::INFINITY, first);
        for index in 0..=INTERVALS {
            let (before, after) = (index.saturating_sub(1), (index + 1).min(INTERVALS));
            if misfits[index] > misfits[before] || misfits[index] > misfits[after] {
                continue;
            }
            let near = [before, index, after].map(place);
            let [low, middle, high] = self.narrow(near, misfits[index]);
            for found in [middle, self.descend(low, high)] {
                let (misfit, _) = self.misfit(found);
                if misfit <= best.0 {
                    best = (misfit, found);
                }
            }
        }
        best.1
    }

    /// Shortens the interval around a point below both of its ends, by golden sections of the longer
    /// side. The interval may hold a maximum too, so that the derivative alone would mislead.
    fn narrow(&self, [mut low, mut middle, mut high]: [f64; 3], mut least: f64) -> [f64; 3] {
        for _ in 0..SECTIONS {
            let is_left = middle - low > high - middle;
            let end = if is_left { low } else { high };
            let point = middle + GOLDEN_PART * (end - middle);
            let (misfit, _) = self.misfit(point);
            let is_lower = misfit < least;
            match (is_left, is_lower) {
                (true, true) => (middle, high) = (point, middle),
                (true, false) => low = point,
                (false, true) => (low, middle) = (middle, point),
                (false, false) => high = point,
            }
            least = least.min(misfit);
        }
        [low, middle, high]
    }

    /// Returns a minimum between two logarithms, which is an end where the misfit rises from there.
    fn descend(&self, mut low: f64, mut high: f64) -> f64 {
        if self.misfit(low).1 >= 0.0 {
            return low;
        }
        if self.misfit(high).1 <= 0.0 {
            return high;
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if self.misfit(middle).1 < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

/// Returns the derivatives of the rates by the three linear parameters.
fn columns(loadings: &[Loading]) -> [Vec<f64>; 3] {
    [
        vec![1.0; loadings.len()],
        loadings.iter().map(|loading| loading.slope).collect(),
        loadings.iter().map(|loading| loading.hump).collect(),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TENORS: [f64; 10] = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0];

    fn misfit(curve: &NelsonSiegel, tenors: &[f64], rates: &[f64]) -> f64 {
        let apart = |(tenor, rate): (&f64, &f64)| curve.at(*tenor).unwrap().zero_rate - rate;
        tenors.iter().zip(rates).map(apart).map(|rest| rest * rest).sum()
    }

    #[test]
    fn equal_rates_are_their_level() {
        for rate in [0.03, 0.0, -0.005, 1e-300, 1e300] {
            let found = NelsonSiegel::fit(&TENORS, &[rate; 10]).unwrap();
            for tenor in [0.0, 0.3, 8.0, 100.0] {
                let error = found.level + found.slope * Loading::at(tenor).slope - rate;
                assert!(error.abs() <= 1e-13 * rate.abs(), "{rate} {found:?}");
            }
        }
    }

    #[test]
    fn as_many_points_as_parameters_are_met() {
        let (tenors, rates) = ([1.0, 2.0, 5.0, 10.0], [0.02, 0.025, 0.03, 0.031]);
        let found = NelsonSiegel::fit(&tenors, &rates).unwrap();
        assert!(misfit(&found, &tenors, &rates) < 1e-28, "{found:?}");
    }

    #[test]
    fn what_makes_no_curve_is_refused_by_name() {
        let refused = |tenors: &[f64], rates: &[f64]| {
            let error = NelsonSiegel::fit(tenors, rates).unwrap_err();
            (error.code(), error.argument().unwrap(), error.index())
        };
        let four = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(refused(&four[..3], &four[..3]), ("too_few", "tenors", None));
        assert_eq!(refused(&four, &four[..3]), ("shape", "zero_rates", None));
        assert_eq!(refused(&[1.0, 3.0, 2.0, 4.0], &four), ("domain", "tenors", Some(2)));
        assert_eq!(refused(&[1.0, 2.0, 2.0, 4.0], &four), ("domain", "tenors", Some(2)));
        assert_eq!(refused(&four, &[0.0, f64::NAN, 0.0, 0.0]), ("domain", "zero_rates", Some(1)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn known_parameters_are_found_again(
            level in -0.05_f64..0.05, slope in 0.005_f64..0.05, curvature in -0.05_f64..0.05, decay_time in 0.5_f64..10.0,
        ) {
            let truth = NelsonSiegel { level, slope, curvature, decay_time };
            let rates = TENORS.map(|tenor| truth.at(tenor).unwrap().zero_rate);
            let found = NelsonSiegel::fit(&TENORS, &rates).unwrap();
            prop_assert!(misfit(&found, &TENORS, &rates) < 1e-29, "{truth:?} {found:?}");
        }

        #[test]
        fn no_decay_time_fits_better(rates in prop::array::uniform10(-0.02..0.08_f64), logarithm in -2.0..4.0_f64) {
            let found = NelsonSiegel::fit(&TENORS, &rates).unwrap();
            let (other, _) = ScaledRates { tenors: &TENORS, rates: rates.to_vec() }.misfit(logarithm);
            prop_assert!(misfit(&found, &TENORS, &rates) <= other * (1.0 + 1e-12));
        }

        #[test]
        fn no_rates_make_it_panic(rates in prop::collection::vec(any::<f64>(), 4..7), gaps in prop::collection::vec(any::<f64>(), 7)) {
            let mut time = 0.0;
            let tenors: Vec<f64> = gaps.iter().map(|gap| { time += gap.abs().min(1e300); time }).collect();
            if let Ok(found) = NelsonSiegel::fit(&tenors[..rates.len()], &rates) {
                prop_assert!(found.level.is_finite() && found.decay_time > 0.0);
                let _ = found.at(1.0);
            }
        }
    }
}
