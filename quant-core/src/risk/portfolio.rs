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
    use proptest::prelude::*;

    use super::*;
    use crate::portfolio::{RiskContributions, risk_contributions};
    use crate::risk::{Distribution, TailRisk};

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

    /// The contributions and the tail of a portfolio, as a report of its risk has them.
    fn report(weights: &[f64], covariance: &Covariance) -> (RiskContributions, TailRisk) {
        let parts = risk_contributions(weights, covariance).unwrap();
        (parts, position(weights, covariance).evaluate().unwrap())
    }

    const ASSETS: usize = 5;

    /// A covariance of three common factors and a risk of each asset's own, times a number.
    fn covariance(loads: &[f64], scale: f64) -> Covariance {
        let entry = |a: usize, b: usize| {
            let common: f64 = (0..3).map(|k| loads[3 * a + k] * loads[3 * b + k]).sum();
            scale * if a == b { common + 0.01 } else { common }
        };
        let row = |a| (0..ASSETS).map(|b| entry(a, b)).collect();
        Covariance::from_rows(&(0..ASSETS).map(row).collect::<Vec<Vec<f64>>>()).unwrap()
    }

    fn times(values: &[f64], factor: f64) -> Vec<f64> {
        values.iter().map(|value| value * factor).collect()
    }

    proptest! {
        #[test]
        fn the_tail_is_the_sum_of_what_the_assets_contribute_to_it(
            loads in prop::collection::vec(-0.5..0.5_f64, 3 * ASSETS),
            weights in prop::collection::vec(0.01..1.0_f64, ASSETS),
        ) {
            let covariance = covariance(&loads, 1.0);
            let (parts, tail) = report(&weights, &covariance);
            prop_assert_eq!(parts.contributions.iter().sum::<f64>(), parts.total);
            let matrix = covariance.matrix();
            let product = |a: usize| (0..ASSETS).map(|b| matrix[(a, b)] * weights[b]).sum::<f64>();
            let variance: f64 = (0..ASSETS).map(|a| weights[a] * product(a)).sum();
            prop_assert!((parts.volatility * parts.volatility / variance - 1.0).abs() < 1e-12);
            let alone = |volatility| {
                ParametricRisk { volatility, ..position(&weights, &covariance) }.evaluate().unwrap()
            };
            // A volatility is no sign; the tail of a hedge is that of its size, taken off.
            let of_part = |part: &f64| alone(part.abs()).value_at_risk.copysign(*part);
            let sum: f64 = parts.contributions.iter().map(of_part).sum();
            prop_assert!((sum / tail.value_at_risk - 1.0).abs() < 1e-12, "{sum} {tail:?}");
            for (asset, part) in parts.contributions.iter().enumerate() {
                let expected = weights[asset] * product(asset) / variance.sqrt();
                prop_assert!((part - expected).abs() < 1e-12 * parts.volatility);
            }
        }

        #[test]
        fn weights_and_covariances_of_another_unit_have_the_same_parts(
            loads in prop::collection::vec(-0.5..0.5_f64, 3 * ASSETS),
            weights in prop::collection::vec(-1.0..1.0_f64, ASSETS), power in -20..20,
        ) {
            prop_assume!(weights.iter().any(|weight| weight.abs() > 0.1));
            let (unit, plain) = (libm::scalbn(1.0, power), covariance(&loads, 1.0));
            let (parts, tail) = report(&weights, &plain);
            let of_weights = report(&times(&weights, unit), &plain);
            let of_covariance = report(&weights, &covariance(&loads, unit * unit));
            for (found, risk) in [&of_weights, &of_covariance] {
                prop_assert_eq!(found.volatility, parts.volatility * unit);
                prop_assert_eq!(&found.contributions, &times(&parts.contributions, unit));
                prop_assert_eq!(&found.shares, &parts.shares);
                prop_assert_eq!(*risk, tail.of_value(unit).unwrap());
            }
        }

        #[test]
        fn a_report_does_not_depend_on_the_order_of_the_assets(
            loads in prop::collection::vec(-0.5..0.5_f64, 3 * ASSETS),
            weights in prop::collection::vec(0.01..1.0_f64, ASSETS),
        ) {
            let (parts, tail) = report(&weights, &covariance(&loads, 1.0));
            let turned: Vec<f64> = weights.iter().rev().copied().collect();
            let loads: Vec<f64> = loads.chunks(3).rev().flatten().copied().collect();
            let (found, risk) = report(&turned, &covariance(&loads, 1.0));
            prop_assert!((risk.value_at_risk / tail.value_at_risk - 1.0).abs() < 1e-13);
            prop_assert!((risk.expected_shortfall / tail.expected_shortfall - 1.0).abs() < 1e-13);
            for (one, other) in found.contributions.iter().rev().zip(&parts.contributions) {
                prop_assert!((one - other).abs() < 1e-13 * parts.volatility, "{one} {other}");
            }
        }
    }
}
