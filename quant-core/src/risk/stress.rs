//! The profit or loss of a portfolio in a scenario of shocks to its factors.
//!
//! The effect of each shock is linear: exposure times shock. Not modelled: convexity and effects of two
//! shocks together.

use super::factors::{distinct, matched};
use crate::arithmetic::{exact_parts::exact_parts, without_negative_zero};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The effect of the shock to one factor.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FactorImpact {
    /// Name of the factor.
    pub factor: String,
    /// Change of the factor.
    pub shock: f64,
    /// Change of the portfolio's value, as a fraction, per unit of the shock.
    pub exposure: f64,
    /// Profit, or a loss below zero, in money. The parts add up to the total bit for bit.
    pub profit_and_loss: f64,
}

/// The effect of a scenario.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Stress {
    /// Effect of each shock, in the order of the shocks.
    pub impacts: Vec<FactorImpact>,
    /// Profit, or a loss below zero, in money.
    pub profit_and_loss: f64,
    /// Profit or loss as a fraction of the portfolio's value.
    pub portfolio_return: f64,
    /// Value of the portfolio after the shocks, in money.
    pub stressed_value: f64,
    /// Position of the factor with the largest loss; `None` where no factor loses.
    pub worst: Option<usize>,
}

/// Returns the profit or loss of a portfolio under shocks to factors, by name.
///
/// ```text
/// P&L = V · Σᵢ exposureᵢ · shockᵢ
/// ```
///
/// where V is the value of the portfolio. Without `exposures` each is 1: the portfolio moves with the sum of
/// the shocks. An exposure to a factor without a shock has no effect.
///
/// # Errors
///
/// [`Error::TooFew`] without shocks; [`Error::Text`], with the name, for a shock to a factor without exposure,
/// or a name that occurs twice; [`Error::Element`] and [`Error::Domain`] for a number that is not
/// finite, or a negative value; [`Error::Overflow`] where a figure exceeds the largest double.
///
/// # Examples
///
/// ```
/// use quant_core::risk::stress;
///
/// let shocks = [("equity".to_owned(), -0.2), ("rates".to_owned(), 0.01)];
/// let exposures = [("equity".to_owned(), 0.6), ("rates".to_owned(), -4.0)];
/// let found = stress(&shocks, Some(&exposures), 1e6)?;
/// assert!((found.profit_and_loss + 160_000.0).abs() < 1e-9);
/// assert_eq!(found.worst, Some(0));
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Jorion (2007), *Value at Risk*, chapter 14.
pub fn stress(
    factor_shocks: &[(String, f64)],
    exposures: Option<&[(String, f64)]>,
    portfolio_value: f64,
) -> Result<Stress> {
    let names = || factor_shocks.iter().map(|(name, _)| name.as_str());
    if factor_shocks.is_empty() {
        return Err(Error::TooFew { argument: "factor_shocks", needed: 1, found: 0 });
    }
    distinct("factor_shocks", names())?;
    let shocks: Vec<f64> = factor_shocks.iter().map(|(_, shock)| *shock).collect();
    check::each("factor_shocks", &shocks, "a finite number", f64::is_finite)?;
    check::not_negative("portfolio_value", portfolio_value)?;
    let exposures = match exposures {
        None => vec![1.0; shocks.len()],
        Some(exposures) => {
            distinct("exposures", exposures.iter().map(|(name, _)| name.as_str()))?;
            let requirement = "a factor with an exposure in `exposures`";
            matched(names(), exposures, "factor_shocks", requirement)?
        }
    };
    check::each("exposures", &exposures, "a finite number", f64::is_finite)?;
    let effects: Vec<f64> =
        shocks.iter().zip(&exposures).map(|(shock, exposure)| shock * exposure).collect();
    let money: Vec<f64> = effects.iter().map(|effect| effect * portfolio_value).collect();
    let overflow = || Error::Overflow { argument: "factor_shocks" };
    let (_, portfolio_return) = exact_parts(&effects).ok_or_else(overflow)?;
    let (parts, profit_and_loss) = exact_parts(&money).ok_or_else(overflow)?;
    let worst = (0..parts.len())
        .filter(|&at| parts[at] < 0.0)
        .min_by(|&a, &b| parts[a].total_cmp(&parts[b]));
    let impact = |((name, shock), (exposure, part)): (&(String, f64), (f64, f64))| FactorImpact {
        factor: name.clone(),
        shock: without_negative_zero(*shock),
        exposure: without_negative_zero(exposure),
        profit_and_loss: part,
    };
    let impacts = factor_shocks.iter().zip(exposures.into_iter().zip(parts)).map(impact).collect();
    let stressed_value = check::result("factor_shocks", portfolio_value + profit_and_loss)?;
    Ok(Stress { impacts, profit_and_loss, portfolio_return, stressed_value, worst })
}

/// Explains [`stress`](fn@stress).
///
/// # Errors
///
/// The errors of [`stress`](fn@stress).
pub fn explain_stress(
    factor_shocks: &[(String, f64)],
    exposures: Option<&[(String, f64)]>,
    portfolio_value: f64,
) -> Result<Explanation> {
    let found = stress(factor_shocks, exposures, portfolio_value)?;
    let parts = found.impacts.iter().map(|impact| impact.profit_and_loss.abs());
    let method = Method::new(
        "Linear stress scenario, the sum of exposures times shocks",
        "Jorion (2007), Value at Risk, chapter 14",
    );
    let error = ErrorStatement::rounding_within(
        "profit_and_loss",
        4.0 * f64::EPSILON * parts.sum::<f64>(),
        "of the sum of the sizes of the parts, in money; largest error against exact fractions",
    );
    let exposed = match exposures {
        Some(_) => "An exposure is the change of value, as a fraction, per unit of the shock.",
        None => {
            "No exposures are given: each is 1, so that the value moves with the sum of shocks."
        }
    };
    Ok(Explanation::new(method, error).with_conventions([
        exposed,
        "Effects are linear: there is no convexity and no effect of two shocks together.",
        "All shocks happen at once, and positions do not change.",
        "A loss is below zero.",
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named_list(values: &[f64]) -> Vec<(String, f64)> {
        values.iter().enumerate().map(|(index, &value)| (format!("f{index}"), value)).collect()
    }

    #[test]
    fn a_shock_without_exposure_is_named_and_an_exposure_without_shock_is_none() {
        let shocks = named_list(&[-0.1, 0.2]);
        let refused = stress(&shocks, Some(&named_list(&[1.0])), 1.0).unwrap_err();
        assert!(refused.to_string().contains("\"f1\""), "{refused}");
        let wide = stress(&shocks, Some(&named_list(&[1.0, 1.0, 9.0])), 1.0).unwrap();
        assert_eq!(wide, stress(&shocks, None, 1.0).unwrap());
        assert_eq!(wide.worst, Some(0));
    }

    #[test]
    fn refusals_name_the_argument() {
        #[rustfmt::skip]
        let rows = [
            (vec![], 1.0, "factor_shocks"),
            (named_list(&[f64::NAN]), 1.0, "factor_shocks"),
            (named_list(&[0.1]), -1.0, "portfolio_value"),
            (named_list(&[1e308, 1e308]), 1.0, "factor_shocks"),
            (vec![("a".to_owned(), 0.1), ("a".to_owned(), 0.2)], 1.0, "factor_shocks"),
        ];
        for (shocks, value, argument) in rows {
            assert_eq!(stress(&shocks, None, value).unwrap_err().argument(), Some(argument));
        }
        let nothing = stress(&named_list(&[-0.0]), None, 0.0).unwrap();
        assert_eq!((nothing.profit_and_loss.to_bits(), nothing.impacts[0].shock.to_bits()), (0, 0));
        assert_eq!(nothing.worst, None);
    }

    proptest! {
        #[test]
        fn the_parts_are_the_total_bit_for_bit(
            shocks in prop::collection::vec(-1.0..1.0_f64, 1..30), exposure in -5.0..5.0_f64,
        ) {
            let exposures: Vec<f64> = (0..shocks.len()).map(|i| exposure + 0.3 * i as f64).collect();
            let found = stress(&named_list(&shocks), Some(&named_list(&exposures)), 1e6).unwrap();
            let sum: f64 = found.impacts.iter().map(|impact| impact.profit_and_loss).sum();
            prop_assert_eq!(sum, found.profit_and_loss);
            prop_assert!((found.portfolio_return * 1e6 - sum).abs() <= 1e-6);
        }
    }
}
