//! The volatility of weights under a covariance matrix, from which the parametric risk follows.

use crate::Result;
use crate::portfolio::{Covariance, volatility_of};

/// Returns the volatility of a portfolio, in the period of the covariance.
///
/// ```text
/// σ = √(wᵀΣw)
/// ```
///
/// The weights may have any sum: they are exposures per unit of the portfolio's value. A variance that is
/// only rounding of its terms is zero.
///
/// # Errors
///
/// [`Error::TooFew`](crate::Error::TooFew) without weights; [`Error::Shape`](crate::Error::Shape),
/// [`Error::Element`](crate::Error::Element), [`Error::Asymmetric`](crate::Error::Asymmetric) and
/// [`Error::NotPositiveSemiDefinite`](crate::Error::NotPositiveSemiDefinite) for weights or a covariance
/// that do not fit; [`Error::Overflow`](crate::Error::Overflow) where it exceeds the largest double.
///
/// # Examples
///
/// ```
/// use quant_core::risk::volatility;
///
/// let covariance = [[0.04, 0.0], [0.0, 0.09]].into();
/// assert_eq!(volatility(&[0.0, 0.5], &covariance)?, 0.15);
/// # Ok::<(), quant_core::Error>(())
/// ```
pub fn volatility(weights: &[f64], covariance_matrix: &Covariance) -> Result<f64> {
    volatility_of(weights, covariance_matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refusals_name_the_argument() {
        let two: Covariance = [[0.04, 0.01], [0.01, 0.09]].into();
        let indefinite: Covariance = [[0.04, 0.1], [0.1, 0.09]].into();
        let skew: Covariance = [[0.04, 0.01], [0.02, 0.09]].into();
        #[rustfmt::skip]
        let rows: [(&[f64], &Covariance, &str); 6] = [
            (&[],              &two,        "too_few"),
            (&[1.0],           &two,        "shape"),
            (&[1.0, f64::NAN], &two,        "domain"),
            (&[0.5, 0.5],      &indefinite, "not_positive_semi_definite"),
            (&[0.5, 0.5],      &skew,       "asymmetric"),
            (&[1e308, 1e308],  &[[1e300, 0.0], [0.0, 1e300]].into(), "overflow"),
        ];
        for (weights, covariance, code) in rows {
            assert_eq!(volatility(weights, covariance).unwrap_err().code(), code, "{weights:?}");
        }
    }

    #[test]
    fn a_perfect_hedge_has_no_volatility_and_vast_weights_have_one() {
        let same: Covariance = [[0.04, 0.04], [0.04, 0.04]].into();
        assert_eq!(volatility(&[0.3, -0.3], &same), Ok(0.0));
        assert_eq!(volatility(&[0.0, 0.0], &same), Ok(0.0));
        let vast = volatility(&[1e200, 0.0], &same).unwrap();
        assert!((vast / 2e199 - 1.0).abs() < 1e-15);
        let tiny = volatility(&[1e-300, 0.0], &same).unwrap();
        assert!((tiny / 2e-301 - 1.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn the_volatility_is_homogeneous(
            weights in prop::array::uniform2(-2.0..2.0_f64), correlation in -1.0..1.0_f64, scale in 0.1..10.0_f64,
        ) {
            let covariance = [[0.04, 0.06 * correlation], [0.06 * correlation, 0.09]].into();
            let one = volatility(&weights, &covariance).unwrap();
            let other = volatility(&weights.map(|weight| scale * weight), &covariance).unwrap();
            prop_assert!((other - scale * one).abs() <= 1e-8 * scale);
        }
    }
}
