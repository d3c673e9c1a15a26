//! Moments of a series of returns, and its exponentially weighted volatility.

use crate::explanation::STANDARD_ERRORS;
use crate::portfolio::symmetric::{dot, sum};
use crate::{Error, Result, check};

/// The moments of a series of returns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Moments {
    /// Arithmetic mean, per period.
    pub mean: f64,
    /// Standard deviation of the sample, with n − 1 in the denominator; zero for a single return.
    pub volatility: f64,
    /// Third central moment by the third power of the deviation, both with n in the denominator; zero
    /// for a constant series.
    pub skewness: f64,
    /// Fourth central moment by the fourth power of the deviation, less 3; zero for a constant series.
    pub excess_kurtosis: f64,
}

impl Moments {
    /// Returns the moments of a series of returns.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] for an empty series; [`Error::Element`] for a return that is not finite;
    /// [`Error::Overflow`] where a moment exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::risk::Moments;
    ///
    /// let moments = Moments::of(&[1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!((moments.mean, moments.skewness), (2.5, 0.0));
    /// assert!((moments.volatility - (5.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    /// assert!((moments.excess_kurtosis + 1.36).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Joanes and Gill (1998), "Comparing Measures of Sample Skewness and Kurtosis": g₁ and g₂.
    pub fn of(returns: &[f64]) -> Result<Self> {
        checked("returns", returns)?;
        let (mean, deviations) = centred(returns);
        let mean = check::result("returns", mean)?;
        let count = returns.len() as f64;
        let largest = deviations.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        if largest == 0.0 {
            return Ok(Self { mean, volatility: 0.0, skewness: 0.0, excess_kurtosis: 0.0 });
        }
        // Deviations near 1, whose fourth powers are doubles.
        let scaled: Vec<f64> = deviations.iter().map(|value| value / largest).collect();
        let squares: Vec<f64> = scaled.iter().map(|value| value * value).collect();
        let square = sum(squares.iter().copied()) / count;
        let cube = dot(&squares, &scaled) / count;
        let fourth = dot(&squares, &squares) / count;
        let volatility = largest * (square * (count / (count - 1.0))).sqrt();
        Ok(Self {
            mean,
            volatility: check::result("returns", volatility)?,
            skewness: check::result("returns", cube / (square * square.sqrt()))?,
            excess_kurtosis: check::result("returns", fourth / (square * square) - 3.0)?,
        })
    }
}

/// Returns the exponentially weighted volatility of a series of returns, the last of which is the newest.
///
/// ```text
/// σ² = Σᵢ λⁱ r²ₙ₋ᵢ / Σᵢ λⁱ,   i = 0, …, n − 1
/// ```
///
/// The mean is taken as zero. λ = 0.94 is RiskMetrics' for daily returns; λ = 1 weighs all returns alike.
///
/// # Errors
///
/// [`Error::TooFew`] for an empty series; [`Error::Element`] for a return that is not finite;
/// [`Error::Domain`] for a decay factor that is not above 0 and at most 1; [`Error::Overflow`].
///
/// # Examples
///
/// ```
/// use quant_core::risk::ewma_volatility;
///
/// // (0.02² + 0.5·0.01²) / 1.5.
/// let volatility = ewma_volatility(&[0.01, 0.02], 0.5)?;
/// assert!((volatility * volatility - 0.0003).abs() < 1e-18);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// J. P. Morgan and Reuters (1996), *RiskMetrics Technical Document*, 4th edition, section 5.2.
pub fn ewma_volatility(returns: &[f64], decay: f64) -> Result<f64> {
    checked("returns", returns)?;
    check::require(decay > 0.0 && decay <= 1.0, "decay", decay, "above 0 and at most 1")?;
    let largest = returns.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return Ok(0.0);
    }
    let (mut squares, mut weights) = (0.0, 0.0);
    // From the oldest on, as the recursion of a day.
    for value in returns {
        let part = value / largest;
        squares = decay * squares + part * part;
        weights = decay * weights + 1.0;
    }
    check::result("returns", largest * (squares / weights).sqrt())
}

/// Refuses an empty series and a number that is not finite.
pub(super) fn checked(argument: &'static str, series: &[f64]) -> Result<()> {
    if series.is_empty() {
        return Err(Error::TooFew { argument, needed: 1, found: 0 });
    }
    check::each(argument, series, "a finite number", f64::is_finite)
}

/// Returns the mean of a series that is not empty, and the deviations, which are zero for a constant
/// series.
pub(super) fn centred(series: &[f64]) -> (f64, Vec<f64>) {
    if series.iter().all(|value| *value == series[0]) {
        return (series[0], vec![0.0; series.len()]);
    }
    let mean = sum(series.iter().copied()) / series.len() as f64;
    (mean, series.iter().map(|value| value - mean).collect())
}

/// Returns the distance from an estimated volatility, in units of it, within which the true one lies in
/// 95 of 100 samples, for the variance of the estimate by its square.
///
/// The logarithm of the estimate is taken as normal: about a low estimate, 1.96 standard errors of its
/// own size are too short.
pub(super) fn volatility_distance(variance: f64) -> f64 {
    libm::expm1(STANDARD_ERRORS * variance.sqrt()).min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_constant_series_has_no_risk() {
        for series in [vec![0.1], vec![0.1; 7], vec![1e300; 3], vec![0.0; 2]] {
            let moments = Moments::of(&series).unwrap();
            assert_eq!((moments.volatility, moments.skewness), (0.0, 0.0), "{series:?}");
        }
    }

    #[test]
    fn refusals_name_the_argument() {
        assert_eq!(Moments::of(&[]).unwrap_err().code(), "too_few");
        assert_eq!(Moments::of(&[0.1, f64::NAN]).unwrap_err().index(), Some(1));
        assert_eq!(Moments::of(&[1e308, -1e308, 1e308]).map(|m| m.mean.is_finite()), Ok(true));
        assert_eq!(ewma_volatility(&[0.1], 0.0).unwrap_err().argument(), Some("decay"));
        assert_eq!(ewma_volatility(&[0.1], f64::NAN).unwrap_err().argument(), Some("decay"));
    }

    proptest! {
        #[test]
        fn moments_follow_a_change_of_scale(
            series in prop::collection::vec(-0.1..0.1_f64, 2..50), scale in 0.5..2.0_f64,
        ) {
            let scaled: Vec<f64> = series.iter().map(|value| value * scale).collect();
            let (one, other) = (Moments::of(&series).unwrap(), Moments::of(&scaled).unwrap());
            prop_assert!((one.volatility * scale - other.volatility).abs() <= 1e-14);
            prop_assert!((one.skewness - other.skewness).abs() <= 1e-9);
            let all_alike = ewma_volatility(&series, 1.0).unwrap();
            let count = series.len() as f64;
            let expected = one.volatility * one.volatility * (count - 1.0) / count + one.mean * one.mean;
            prop_assert!((all_alike * all_alike - expected).abs() <= 1e-15);
        }
    }
}
