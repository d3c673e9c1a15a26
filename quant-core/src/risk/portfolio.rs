//! The error of a tail risk whose volatility is that of a portfolio.

use super::parametric::ParametricRisk;
use super::tail::{FRACTION, tail};
use crate::Result;
use crate::explanation::{ErrorStatement, Explanation};
use crate::portfolio::{Covariance, contribution::volatility_error};

/// Explains [`ParametricRisk::evaluate`] for a position whose volatility is that of a portfolio, as
/// [`risk_contributions`](crate::portfolio::risk_contributions) finds it.
///
/// ```text
/// |V̂aR − VaR| ≤ ε max(σ̂√h, |V̂aR|) + |k| δ √h
/// ```
///
/// where the hats mark results, ε is the error of the quantile k, h is the horizon, and δ is the bound
/// of the rounding of the volatility: it grows with the size of contributions that cancel.
///
/// # Errors
///
/// The errors of [`ParametricRisk::evaluate`] and of
/// [`risk_contributions`](crate::portfolio::risk_contributions).
///
/// # Examples
///
/// ```
/// use quant_core::portfolio::{Covariance, risk_contributions};
/// use quant_core::risk::{Distribution, ParametricRisk, explain_portfolio_risk};
///
/// // Two contributions of 0.0007 that cancel to a volatility of 0.00000009.
/// let weights = [0.005, -0.002696];
/// let covariance = Covariance::from([[0.0317908901, 0.05896381], [0.05896381, 0.1093624901]]);
/// let position = ParametricRisk {
///     mean: 0.0,
///     volatility: risk_contributions(&weights, &covariance)?.volatility,
///     distribution: Distribution::Normal,
///     confidence: 0.99,
///     horizon: 1.0,
/// };
/// let of_portfolio = explain_portfolio_risk(&position, &weights, &covariance)?.error;
/// assert!(of_portfolio.is_bound && of_portfolio.estimate > 10.0 * position.explain()?.error.estimate);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Ogita, Rump and Oishi (2005), "Accurate Sum and Dot Product", theorem 5.4, for the volatility.
pub fn explain_portfolio_risk(
    position: &ParametricRisk,
    weights: &[f64],
    covariance_matrix: &Covariance,
) -> Result<Explanation> {
    let of_quantile = position.rounding()?;
    let (multiple, _) = position.distribution.multiples(tail(position.confidence)?)?;
    let of_volatility = volatility_error(weights, covariance_matrix)? * position.horizon.sqrt();
    position.explained(ErrorStatement::rounding_within(
        FRACTION,
        of_quantile + multiple.abs() * of_volatility,
        "the largest error of the quantile against integrals of 50 digits, and the quantile times a \
         bound of the volatility's rounding, which grows with contributions that cancel",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portfolio::risk_contributions;
    use crate::risk::Distribution;

    fn position(weights: &[f64], covariance: &Covariance) -> ParametricRisk {
        ParametricRisk {
            mean: 0.0,
            volatility: risk_contributions(weights, covariance).unwrap().volatility,
            distribution: Distribution::Normal,
            confidence: 0.95,
            horizon: 10.0,
        }
    }

    #[test]
    fn the_error_of_contributions_that_cancel_is_within_the_bound() {
        let weights = [0.005, -0.002696];
        let covariance = Covariance::from([[0.0317908901, 0.05896381], [0.05896381, 0.1093624901]]);
        let position = position(&weights, &covariance);
        // By mpmath with 50 digits, of the doubles.
        let exact = 4.576_916_147_769_267e-7;
        let found = position.evaluate().unwrap().value_at_risk;
        let error = (found - exact).abs();
        let alone = position.explain().unwrap().error;
        assert!(error > alone.estimate, "{error:e} is within the error of the quantile alone");
        let stated = explain_portfolio_risk(&position, &weights, &covariance).unwrap().error;
        assert!(stated.is_bound && error <= stated.estimate, "{error:e} {stated:?}");
        assert!(stated.estimate < 100.0 * error, "{error:e} {stated:?}");
    }

    #[test]
    fn a_volatility_that_is_rounding_has_the_error_of_its_terms() {
        let (weights, covariance) = ([3.0, -2.0], Covariance::from([[0.04, 0.06], [0.06, 0.09]]));
        let position = position(&weights, &covariance);
        assert_eq!(position.volatility, 0.0);
        let stated = explain_portfolio_risk(&position, &weights, &covariance).unwrap().error;
        assert!((1e-9..1e-6).contains(&stated.estimate), "{stated:?}");
        let none = explain_portfolio_risk(&position, &[0.0; 2], &covariance).unwrap().error;
        assert_eq!(none.estimate, 0.0);
    }
}
