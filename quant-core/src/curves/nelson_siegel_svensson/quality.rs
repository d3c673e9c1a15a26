//! The distance of a fitted curve from the rates that it was fitted to.

use super::model::NelsonSiegelSvensson;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The tested excess of the residual of a fit over the least one at a gap of zero, in units of the
/// largest rate or parameter.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The distance of a fitted curve from given zero rates.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FitQuality {
    /// The zero rate of the curve at each tenor.
    pub fitted_rates: Vec<f64>,
    /// Each given rate less the rate of the curve.
    pub residuals: Vec<f64>,
    /// Square root of the mean of the squared residuals.
    pub root_mean_square: f64,
    /// The largest absolute residual.
    pub largest_residual: f64,
    /// 1 less the sum of the squared residuals over that of the rates' distances from their mean; 1
    /// where the rates are equal.
    pub r_squared: f64,
}

impl NelsonSiegelSvensson {
    /// Returns the distance of the curve from given zero rates.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] without tenors, [`Error::Shape`] where there are not as many rates as tenors,
    /// those of [`at`](Self::at), [`Error::Overflow`] where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegelSvensson;
    ///
    /// let (tenors, rates) = ([1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0], [0.02, 0.022, 0.025, 0.03, 0.031, 0.032, 0.033]);
    /// let curve = NelsonSiegelSvensson::fit(&tenors, &rates)?;
    /// let quality = curve.quality(&tenors, &rates)?;
    /// assert!(quality.r_squared > 0.99 && quality.largest_residual < 1e-3);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn quality(&self, tenors: &[f64], zero_rates: &[f64]) -> Result<FitQuality> {
        if tenors.is_empty() {
            return Err(Error::TooFew { argument: "tenors", needed: 1, found: 0 });
        }
        check::length("zero_rates", zero_rates.len(), tenors.len())?;
        let fitted = tenors.iter().map(|&tenor| Ok(self.at(tenor)?.zero_rate));
        quality(fitted.collect::<Result<_>>()?, zero_rates)
    }
}

/// Explains a fit whose residual promises to fall by `gap`, from a grid of so many decay times.
pub(super) fn explain_fit(
    method: Method,
    zero_rates: &[f64],
    curve: &NelsonSiegelSvensson,
    gap: f64,
    grid: u32,
) -> Explanation {
    let parameters = [curve.level, curve.slope, curve.curvature, curve.second_curvature];
    let size = largest(&parameters).max(largest(zero_rates));
    let error = ErrorStatement::solved(
        "rmse",
        (gap, 1.0),
        ROUNDING * size,
        "the fall of the residual that a further Gauss–Newton step promises, and eight roundings of the \
         largest rate or parameter; a lower minimum elsewhere is not excluded",
    );
    Explanation::new(method, error).with_steps(grid).with_conventions([
        "Squared distances of continuously compounded zero rates are added up, all of the same weight.",
        "Decay times lie between half the first tenor and twice the last.",
        "The search starts from every point of a grid of decay times, whose number is that of the steps.",
    ])
}

fn quality(fitted_rates: Vec<f64>, zero_rates: &[f64]) -> Result<FitQuality> {
    let result = |value| check::result("zero_rates", value);
    let residuals =
        zero_rates.iter().zip(&fitted_rates).map(|(rate, fitted)| result(rate - fitted));
    let residuals = residuals.collect::<Result<Vec<_>>>()?;
    let largest_residual = largest(&residuals);
    let count = zero_rates.len() as f64;
    let mean = zero_rates.iter().map(|rate| rate / count).sum::<f64>();
    let spread: Vec<f64> = zero_rates.iter().map(|rate| rate - mean).collect();
    // Squares are taken of numbers up to 1, so that none overflows or vanishes.
    let root = scaled_squares(&residuals, largest_residual).sqrt() * largest_residual;
    let size = largest(&spread);
    let total = scaled_squares(&spread, size).sqrt() * size;
    let is_flat = zero_rates.windows(2).all(|pair| pair[0] == pair[1]);
    let ratio = if is_flat { 0.0 } else { root / total };
    Ok(FitQuality {
        root_mean_square: result(root / count.sqrt())?,
        r_squared: result(1.0 - ratio * ratio)?,
        fitted_rates,
        residuals,
        largest_residual,
    })
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

fn scaled_squares(values: &[f64], size: f64) -> f64 {
    if size == 0.0 {
        return 0.0;
    }
    values.iter().map(|value| (value / size) * (value / size)).sum()
}

#[cfg(test)]
mod tests {
    use crate::curves::NelsonSiegel;

    #[test]
    fn the_figures_are_those_of_their_definitions() {
        let curve = NelsonSiegel { level: 0.02, slope: 0.0, curvature: 0.0, decay_time: 1.0 };
        let quality = curve.quality(&[1.0, 2.0, 3.0], &[0.01, 0.02, 0.05]).unwrap();
        assert_eq!(quality.fitted_rates, [0.02; 3]);
        assert!((quality.root_mean_square - (1e-3_f64 / 3.0).sqrt()).abs() < 1e-17);
        assert!((quality.largest_residual - 0.03).abs() < 1e-17);
        let total = [0.05 / 3.0, 0.02 / 3.0, 0.07 / 3.0_f64].map(|apart| apart * apart);
        let expected = 1.0 - 1e-3 / total.iter().sum::<f64>();
        assert!((quality.r_squared - expected).abs() < 1e-14, "{quality:?}");
    }

    #[test]
    fn equal_rates_are_fitted_wholly() {
        let curve = NelsonSiegel { level: 0.02, slope: 0.0, curvature: 0.0, decay_time: 1.0 };
        assert_eq!(curve.quality(&[1.0, 2.0], &[0.02, 0.02]).unwrap().r_squared, 1.0);
        assert_eq!(curve.quality(&[1.0], &[0.02, 0.02]).unwrap_err().code(), "shape");
        let far = NelsonSiegel { level: -1e308, ..curve };
        assert_eq!(far.quality(&[1.0, 2.0], &[1e308, 0.0]).unwrap_err().code(), "overflow");
    }

    #[test]
    fn no_rates_have_no_distance() {
        let curve = NelsonSiegel { level: 0.02, slope: 0.0, curvature: 0.0, decay_time: 1.0 };
        let refused = curve.quality(&[], &[]).unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("too_few", Some("tenors")));
    }
}
