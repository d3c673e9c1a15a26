//! The contributions of the assets to the risk of a portfolio.
//!
//! Volatility is homogeneous in the weights, so that it is the sum of the products of each weight
//! and the derivative by it.

use super::covariance::Covariance;
use crate::arithmetic::without_negative_zero;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Result, check};
use parts::Parts;
use rounding::Rounding;

mod parts;
mod rounding;

/// The volatility of a portfolio, divided among its assets.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RiskContributions {
    /// Standard deviation of the portfolio's return, annual.
    pub volatility: f64,
    /// Derivative of the volatility by each weight; zeros where the volatility is zero.
    pub marginal: Vec<f64>,
    /// Weight times derivative of each asset, in the unit of the volatility.
    pub contributions: Vec<f64>,
    /// The contributions added up from first to last, bit for bit.
    pub total: f64,
    /// Parts of the volatility, which add up to 1; `None` where the volatility is zero.
    pub shares: Option<Vec<f64>>,
}

/// Returns the contribution of each asset to the volatility of a portfolio.
///
/// ```text
/// σ = √(wᵀΣw),   mᵢ = (Σw)ᵢ / σ,   cᵢ = wᵢmᵢ,   Σcᵢ = σ
/// ```
///
/// where w are the weights and Σ is the covariance.
///
/// - The contributions, added up in doubles from first to last, are the volatility bit for bit: one
///   of them, the largest where that is enough, absorbs the rounding of the sum. The shares add up
///   to 1 in the same manner.
/// - Contributions that cancel to far less than the largest one cannot add up to every double.
///   `total` is then their sum, nearest to the volatility.
/// - The weights may be of any sign and sum; weights in money give contributions in money.
/// - Where the volatility is zero, the contributions are zero too.
///
/// # Errors
///
/// [`Error::TooFew`](crate::Error::TooFew) without assets; [`Error::Shape`](crate::Error::Shape)
/// for another number of weights than of assets; [`Error::Element`](crate::Error::Element) for a
/// number that is not finite; those of [`MinVariance::solve`](super::MinVariance::solve) for the
/// covariance; [`Error::Overflow`](crate::Error::Overflow) where a result exceeds the largest
/// double.
///
/// # Examples
///
/// ```
/// use quant_core::portfolio::contribution::risk_contributions;
///
/// let found = risk_contributions(&[0.5, 0.5], &[[0.04, 0.0], [0.0, 0.12]].into())?;
/// assert_eq!(found.volatility, 0.2);
/// assert_eq!(found.contributions.iter().sum::<f64>(), 0.2);
/// assert!((found.contributions[0] - 0.05).abs() < 1e-15);
/// assert!((found.shares.unwrap()[1] - 0.75).abs() < 1e-15);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Litterman (1996), "Hot Spots and Hedges"; Tasche (2000), "Risk Contributions and Performance
/// Measurement".
pub fn risk_contributions(
    weights: &[f64],
    covariance_matrix: &Covariance,
) -> Result<RiskContributions> {
    contributions(&Parts::new(weights, covariance_matrix)?)
}

/// Explains [`risk_contributions`].
///
/// # Errors
///
/// The errors of [`risk_contributions`].
pub fn explain_risk_contributions(
    weights: &[f64],
    covariance_matrix: &Covariance,
) -> Result<Explanation> {
    let parts = Parts::new(weights, covariance_matrix)?;
    let found = contributions(&parts)?;
    let rounding = Rounding::of(&parts, covariance_matrix);
    let method = Method::new(
        "Euler's division of the volatility, weight times derivative",
        "Litterman (1996), Hot Spots and Hedges; Tasche (2000), Risk Contributions and Performance \
         Measurement",
    );
    let error = ErrorStatement::rounding_within(
        "contributions",
        parts.unscaled(rounding.contribution) + largest_change(&parts, &found),
        "bound of sums in twice the precision (Ogita, Rump and Oishi 2005): grows with the size of \
         contributions that cancel",
    );
    Ok(Explanation::new(method, error).with_conventions([
        "The period of every figure is that of the covariance; nothing is annualised.",
        "Weights are used as they are, of any sign and sum.",
        "One contribution absorbs the rounding of the sum, so that they add up to the volatility.",
    ]))
}

/// Returns a bound of the rounding error of the volatility of a portfolio.
///
/// # Errors
///
/// The errors of [`risk_contributions`].
pub(crate) fn volatility_error(weights: &[f64], covariance_matrix: &Covariance) -> Result<f64> {
    let parts = Parts::new(weights, covariance_matrix)?;
    Ok(parts.unscaled(Rounding::of(&parts, covariance_matrix).volatility))
}

/// Returns the contributions of these parts of the risk.
fn contributions(parts: &Parts) -> Result<RiskContributions> {
    let finite = |value| check::result("weights", value);
    let volatility = finite(parts.unscaled(parts.deviation))?;
    let slope = |slope: &f64| finite(libm::scalbn(*slope, parts.exponent >> 1));
    let marginal = parts.marginal.iter().map(slope).collect::<Result<Vec<f64>>>()?;
    let unscaled = parts.products().map(|part| finite(parts.unscaled(part)));
    let mut contributions = unscaled.collect::<Result<Vec<f64>>>()?;
    let total = finite(add_up_to(&mut contributions, volatility))?;
    let shares = (volatility > 0.0).then(|| {
        let share = |part: f64| without_negative_zero(part / parts.deviation);
        let mut shares: Vec<f64> = parts.products().map(share).collect();
        add_up_to(&mut shares, 1.0);
        shares
    });
    Ok(RiskContributions { volatility, marginal, contributions, total, shares })
}

/// Returns the largest change that adding up to the volatility made to a contribution.
fn largest_change(parts: &Parts, found: &RiskContributions) -> f64 {
    let pairs = parts.products().zip(&found.contributions);
    pairs.fold(0.0, |most, (product, part)| most.max((parts.unscaled(product) - part).abs()))
}

/// The halvings that lead from the sum of all numbers to the last bit of any.
const HALVINGS: u32 = 200;

/// Changes one number in its last bits so that the plain sum from first to last is `total`; returns
/// the sum, which is another one where no change of a single number gives the total.
///
/// The numbers are tried from the largest to the smallest. A sum of doubles is a multiple of the
/// last bit of its largest term, so that a total far below that term may be out of reach.
pub(super) fn add_up_to(values: &mut [f64], total: f64) -> f64 {
    if plain_sum(values) == total {
        return total;
    }
    let mut order: Vec<usize> = (0..values.len()).filter(|&index| values[index] != 0.0).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    for index in order {
        let before = values[index];
        if absorb(values, index, total) {
            return total;
        }
        values[index] = before;
    }
    plain_sum(values)
}

/// The sum in doubles from first to last, as a reader of the numbers adds them up.
fn plain_sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// Searches for the value of one number with which the plain sum is `total`; returns whether there
/// is one. The sum never falls where the number rises, so that bisection finds it.
fn absorb(values: &mut [f64], index: usize, total: f64) -> bool {
    let before = values[index];
    let reach = 4.0 * (total - plain_sum(values)).abs();
    let (mut low, mut high) = (before - reach, before + reach);
    for _ in 0..HALVINGS {
        let middle = 0.5 * low + 0.5 * high;
        values[index] = middle;
        let sum = plain_sum(values);
        if sum == total {
            return true;
        }
        let end = if sum < total { &mut low } else { &mut high };
        if *end == middle {
            return false;
        }
        *end = middle;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(rows: &[Vec<f64>]) -> Covariance {
        Covariance::from_rows(rows).unwrap()
    }

    #[test]
    fn a_hedge_contributes_negatively() {
        let covariance = Covariance::from([[0.04, 0.03], [0.03, 0.04]]);
        let found = risk_contributions(&[1.0, -0.5], &covariance).unwrap();
        // 0.04 − 0.015 and −0.015 + 0.01 of a variance of 0.02.
        let shares = found.shares.unwrap();
        assert!((shares[0] - 1.25).abs() < 1e-15 && (shares[1] + 0.25).abs() < 1e-15);
        assert!((found.volatility - 0.02_f64.sqrt()).abs() < 1e-16);
        assert!((found.marginal[0] - 0.025 / 0.02_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn without_risk_nothing_contributes() {
        let hedged = Covariance::from([[0.04, 0.06], [0.06, 0.09]]);
        for weights in [[3.0, -2.0], [0.0, 0.0]] {
            let found = risk_contributions(&weights, &hedged).unwrap();
            assert_eq!((found.volatility, found.total, found.shares), (0.0, 0.0, None));
            assert_eq!((found.marginal, found.contributions), (vec![0.0; 2], vec![0.0; 2]));
        }
    }

    #[test]
    fn contributions_that_cancel_have_a_total_of_their_own() {
        // Two contributions near 5 · 10⁵ of a volatility near 0.001 have no bits for its last
        // digits.
        let covariance = Covariance::from([[1.0, 1.0 - 1e-12], [1.0 - 1e-12, 1.0]]);
        let found = risk_contributions(&[1000.0, -1000.0], &covariance).unwrap();
        assert_eq!(found.contributions.iter().sum::<f64>(), found.total);
        assert!((found.total / found.volatility - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_ends_of_the_range_of_a_double_are_no_obstacle() {
        let covariance = Covariance::from([[1e300, 0.0], [0.0, 1e300]]);
        let found = risk_contributions(&[1e150, 0.0], &covariance).unwrap();
        assert!((found.volatility / 1e300 - 1.0).abs() < 1e-15);
        let refused = risk_contributions(&[1e200, 0.0], &covariance).unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("overflow", Some("weights")));
        let small = Covariance::from([[5e-324, 0.0], [0.0, 5e-324]]);
        assert!(risk_contributions(&[1e-5, 1e-5], &small).unwrap().volatility > 0.0);
    }

    #[test]
    fn shapes_and_numbers_are_checked() {
        let argument = |weights: &[f64], covariance| {
            risk_contributions(weights, &covariance).unwrap_err().argument()
        };
        assert_eq!(argument(&[], rows(&[])), Some("covariance_matrix"));
        assert_eq!(argument(&[1.0], [[0.04, 0.0], [0.0, 0.04]].into()), Some("weights"));
        assert_eq!(argument(&[f64::NAN], [[0.04]].into()), Some("weights"));
        assert_eq!(argument(&[1.0], [[-0.04]].into()), Some("covariance_matrix"));
    }

    proptest! {
        /// Contributions add up to the volatility, and shares to 1, bit for bit, for long
        /// portfolios of assets that are not negatively correlated, and for most others.
        #[test]
        fn contributions_add_up_bit_for_bit(
            size in 1_usize..=12,
            loads in prop::collection::vec(0.0..0.5, 36),
            weights in prop::collection::vec(0.01..1.0, 12),
            scale in prop_oneof![Just(1.0), 1e-3..1e3],
        ) {
            let element = |a: usize, b: usize| {
                let common: f64 = (0..3).map(|k| loads[3 * a + k] * loads[3 * b + k]).sum();
                common + if a == b { 0.01 } else { 0.0 }
            };
            let matrix: Vec<Vec<f64>> =
                (0..size).map(|a| (0..size).map(|b| element(a, b)).collect()).collect();
            let weights: Vec<f64> = weights[..size].iter().map(|weight| weight * scale).collect();
            let found = risk_contributions(&weights, &rows(&matrix)).unwrap();
            prop_assert_eq!(found.contributions.iter().sum::<f64>(), found.volatility);
            prop_assert_eq!(found.total, found.volatility);
            let shares = found.shares.unwrap();
            prop_assert_eq!(shares.iter().sum::<f64>(), 1.0);
            for ((weight, slope), part) in weights.iter().zip(&found.marginal).zip(&found.contributions) {
                prop_assert!((weight * slope - part).abs() <= 1e-14 * found.volatility);
            }
        }
    }
}
