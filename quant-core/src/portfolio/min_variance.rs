//! Portfolios of least variance under bounds on the weights.
//!
//! The method is an active-set method: weights at a bound are exactly the bound, and the others
//! meet the first-order conditions to rounding. Singular covariances are accepted. Not modelled:
//! transaction costs. [`target_return`](super::target_return) adds a constraint on the return,
//! [`constrained`](super::constrained) others, as those on groups of assets.

use super::active_set::Problem;
use super::assets::{
    Checked, Portfolio, accepted, at_least_one, expected_return, only_portfolio, sharpe_ratio,
    volatility,
};
use super::cholesky::Cholesky;
use super::covariance::Covariance;
use super::first_order::{Optimum, volatility_error};
#[cfg(doc)]
use crate::Error;
use crate::explanation::{Explanation, Method};
use crate::named::named;
use crate::{Result, check};

/// Assets, their covariance, and the bounds on their weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MinVariance {
    /// Covariance of the returns, annual: symmetric, positive semi-definite.
    pub covariance_matrix: Covariance,
    /// Smallest weight of each asset, −∞ for an asset without a bound; `None` where no asset has one.
    pub min_weights: Option<Vec<f64>>,
    /// Largest weight of each asset, ∞ for an asset without a bound; `None` where no asset has one.
    pub max_weights: Option<Vec<f64>>,
}

/// The portfolio of least variance within its bounds.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MinVariancePortfolio {
    /// Weight of each asset, in the order of the input; they sum to 1.
    pub weights: Vec<f64>,
    /// Standard deviation of the return, annual.
    pub volatility: f64,
}

impl MinVariancePortfolio {
    /// Returns the portfolio with its expected return and its Sharpe ratio, given the expected
    /// return of each asset and the riskless rate, annual.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] where there are not as many returns as weights; [`Error::Element`] and
    /// [`Error::Domain`] where a number is not finite; [`Error::Overflow`] where the return or the
    /// ratio exceeds the largest double.
    pub fn with_returns(self, expected_returns: &[f64], risk_free_rate: f64) -> Result<Portfolio> {
        check::length("expected_returns", expected_returns.len(), self.weights.len())?;
        check::each("expected_returns", expected_returns, "a finite number", f64::is_finite)?;
        check::finite("risk_free_rate", risk_free_rate)?;
        let Self { weights, volatility } = self;
        let expected_return = expected_return(&weights, expected_returns)?;
        let sharpe_ratio = sharpe_ratio(expected_return, volatility, risk_free_rate)?;
        Ok(Portfolio { weights, expected_return, volatility, sharpe_ratio })
    }
}

impl MinVariance {
    /// Returns the portfolio of least variance within the bounds.
    ///
    /// ```text
    /// minimise wᵀΣw   subject to   Σwᵢ = 1,   lᵢ ≤ wᵢ ≤ uᵢ
    /// ```
    ///
    /// where Σ is the covariance and l and u are the bounds.
    ///
    /// - A weight at its bound is the bound, bit for bit.
    /// - Where the minimum is not unique, as with two copies of one asset, the result is the
    ///   portfolio of least norm `Σwᵢ²` among all of least variance.
    /// - Σ times a constant has the same portfolio; the weights are computed from Σ scaled by a
    ///   power of two to a largest variance near 1.
    /// - A variance that is only rounding of its terms is zero, as is that of an asset whose
    ///   volatility is below 1e-60 of the largest.
    /// - Bounds whose sum misses 1 by rounding alone, as 3 × 0.3333333333333333, are met.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] without assets; [`Error::Shape`] where the number of bounds differs from
    /// that of the assets; [`Error::Element`] where a number is not finite;
    /// [`Error::Asymmetric`] where mirror images differ by more than 1e-12 of the larger;
    /// [`Error::NotPositiveSemiDefinite`] where an eigenvalue is below −1e-10 of the largest
    /// variance; [`Error::Infeasible`] where a lower bound exceeds its upper bound or the bounds
    /// exclude weights that sum to 1; [`Error::Overflow`] where the volatility exceeds the
    /// largest double; [`Error::NoConvergence`] where weights of very different sizes defeat the
    /// rounding, which takes a matrix that is singular to the last bit.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::min_variance::MinVariance;
    ///
    /// let portfolio = MinVariance {
    ///     covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
    ///     min_weights: Some(vec![0.0, 0.0]),
    ///     max_weights: None,
    /// }
    /// .solve()?;
    /// assert_eq!(portfolio.weights, [0.75, 0.25]);
    /// assert!((portfolio.volatility - 0.0075_f64.sqrt()).abs() < 1e-15);
    /// let valued = portfolio.with_returns(&[0.06, 0.10], 0.02)?;
    /// assert!((valued.expected_return - 0.07).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Markowitz (1956), "The optimization of a quadratic function subject to linear
    /// constraints"; Nocedal and Wright (2006), "Numerical Optimization", chapter 16.
    pub fn solve(&self) -> Result<MinVariancePortfolio> {
        at_least_one(&self.covariance_matrix)?;
        let Checked { lower, upper, covariance, exponent, factor } = Checked::new(
            &self.covariance_matrix,
            self.min_weights.as_deref(),
            self.max_weights.as_deref(),
        )?;
        let weights = match only_portfolio(&lower, &upper) {
            Some(weights) => weights,
            None => least_variance(&Problem::new(&covariance, lower, upper), factor)?,
        };
        let volatility = volatility(&weights, &covariance, exponent)?;
        Ok(MinVariancePortfolio { weights, volatility })
    }

    /// Explains [`solve`](Self::solve).
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn explain(&self) -> Result<Explanation> {
        let MinVariancePortfolio { weights, volatility } = self.solve()?;
        let (min_weights, max_weights) = (self.min_weights.as_deref(), self.max_weights.as_deref());
        let optimum = Optimum::new(&weights, &self.covariance_matrix, min_weights, max_weights);
        let method = Method::new(
            "Least variance by active sets: block pivoting, else the primal method",
            "Markowitz (1956), The optimization of a quadratic function subject to linear \
             constraints; Nocedal and Wright (2006), Numerical Optimization, algorithm 16.3",
        );
        let unique = "Where several portfolios have the least variance, it is that of least norm.";
        let error = volatility_error(optimum.error_of_volatility(volatility));
        Ok(Explanation::new(method, error)
            .of_optimum(min_weights, max_weights)
            .with_conventions([unique]))
    }
}

/// A bound at which a weight, or a weighted sum of weights, lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingBound {
    /// None: the weight is between its bounds.
    None,
    /// The lower bound, also where both bounds are the same number.
    Lower,
    /// The upper bound.
    Upper,
}

named!(BindingBound, "binding_bound", None = "none", Lower = "lower", Upper = "upper");

/// The bounds that hold a portfolio of least variance, and the risk of each of its assets.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MinVarianceDetail {
    /// The bound at which each weight lies.
    pub binding_bounds: Vec<BindingBound>,
    /// The part of the volatility of each asset; they add up to the volatility.
    pub risk_contributions: Vec<f64>,
    /// Change of the least variance per unit of the sum of the weights; `None` where every weight is
    /// at a bound.
    pub budget_multiplier: Option<f64>,
    /// Change of the least variance per unit of the bound of each weight: zero or more at a lower bound,
    /// zero or less at an upper one, about zero between; `None` where every weight is at a bound.
    pub bound_multipliers: Option<Vec<f64>>,
}

impl MinVariance {
    /// Returns the binding bounds, their multipliers and the risk contributions of a portfolio that
    /// [`solve`](Self::solve) found.
    ///
    /// ```text
    /// contribution = wᵢ (Σw)ᵢ / σ,   λ = mean of 2(Σw)ᵢ over the weights between their bounds
    /// multiplier of a bound = 2(Σw)ᵢ − λ
    /// ```
    ///
    /// Where every weight is at a bound, the multipliers are not unique and are left out.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] where there are not as many weights as assets; [`Error::Overflow`] where a
    /// figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::min_variance::{BindingBound, MinVariance};
    ///
    /// let problem = MinVariance {
    ///     covariance_matrix: [[0.25, 0.0], [0.0, 0.75]].into(),
    ///     min_weights: None,
    ///     max_weights: Some(vec![0.5, 1.0]),
    /// };
    /// let detail = problem.detail(&problem.solve()?)?;
    /// assert_eq!(detail.binding_bounds, [BindingBound::Upper, BindingBound::None]);
    /// assert_eq!(detail.budget_multiplier, Some(0.75));
    /// assert_eq!(detail.bound_multipliers, Some(vec![-0.5, 0.0]));
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Nocedal and Wright (2006), "Numerical Optimization", chapter 12, for the multipliers.
    pub fn detail(&self, portfolio: &MinVariancePortfolio) -> Result<MinVarianceDetail> {
        let weights = &portfolio.weights;
        check::length("weights", weights.len(), self.covariance_matrix.size())?;
        let marginals = marginals(&self.covariance_matrix, weights);
        let result = |value| check::result("covariance_matrix", value);
        let gradient = marginals.iter().map(|marginal| result(2.0 * marginal));
        let gradient = gradient.collect::<Result<Vec<_>>>()?;
        let bounds =
            binding_bounds(weights, self.min_weights.as_deref(), self.max_weights.as_deref());
        let free = gradient.iter().zip(&bounds).filter(|(_, bound)| **bound == BindingBound::None);
        let free: Vec<f64> = free.map(|(slope, _)| *slope).collect();
        let count = free.len() as f64;
        let budget = (!free.is_empty()).then(|| free.iter().map(|slope| slope / count).sum());
        let multipliers = |budget: f64| {
            gradient.iter().map(|slope| result(slope - budget)).collect::<Result<Vec<_>>>()
        };
        Ok(MinVarianceDetail {
            risk_contributions: parts_of(portfolio.volatility, weights, &marginals)?,
            bound_multipliers: budget.map(multipliers).transpose()?,
            budget_multiplier: budget.map(result).transpose()?,
            binding_bounds: bounds,
        })
    }
}

/// Returns the products of the covariance and the weights, which are half the gradient of the variance.
pub(super) fn marginals(covariance: &Covariance, weights: &[f64]) -> Vec<f64> {
    let products = covariance.matrix() * nalgebra::DVector::from_column_slice(weights);
    products.as_slice().to_vec()
}

/// Returns the part of each asset in a volatility; zeros where the volatility is zero.
pub(super) fn parts_of(volatility: f64, weights: &[f64], marginals: &[f64]) -> Result<Vec<f64>> {
    if volatility == 0.0 {
        return Ok(vec![0.0; weights.len()]);
    }
    let part = |(weight, marginal): (&f64, &f64)| {
        check::result("covariance_matrix", weight * (marginal / volatility))
    };
    weights.iter().zip(marginals).map(part).collect()
}

/// Returns the bound at which each weight lies.
pub(super) fn binding_bounds(
    weights: &[f64],
    min_weights: Option<&[f64]>,
    max_weights: Option<&[f64]>,
) -> Vec<BindingBound> {
    let bound = |(index, weight): (usize, &f64)| {
        let is_at = |bounds: Option<&[f64]>| {
            bounds.and_then(|bounds| bounds.get(index)).is_some_and(|bound| bound == weight)
        };
        if is_at(min_weights) {
            BindingBound::Lower
        } else if is_at(max_weights) {
            BindingBound::Upper
        } else {
            BindingBound::None
        }
    };
    weights.iter().enumerate().map(bound).collect()
}

/// The weights of least variance, of least norm where they are not unique.
fn least_variance(problem: &Problem<'_>, factor: Option<Cholesky>) -> Result<Vec<f64>> {
    let is_definite = factor.is_some();
    let mut vertex = problem.minimise(factor)?;
    if !is_definite {
        problem.shorten(&mut vertex);
    }
    accepted(vertex.weights)
}

#[cfg(test)]
mod tests {
    use super::super::symmetric::{dot, sum};
    use super::*;
    use crate::Error;
    use proptest::prelude::*;

    fn solve(
        covariance: &[Vec<f64>],
        min: Option<&[f64]>,
        max: Option<&[f64]>,
    ) -> Result<Portfolio> {
        MinVariance {
            covariance_matrix: Covariance::from_rows(covariance)?,
            min_weights: min.map(<[f64]>::to_vec),
            max_weights: max.map(<[f64]>::to_vec),
        }
        .solve()?
        .with_returns(&vec![0.05; covariance.len()], 0.01)
    }

    fn weights(covariance: &[Vec<f64>], min: Option<&[f64]>, max: Option<&[f64]>) -> Vec<f64> {
        solve(covariance, min, max).expect("a portfolio").weights
    }

    fn identity(size: usize) -> Vec<Vec<f64>> {
        (0..size)
            .map(|row| (0..size).map(|column| f64::from(u8::from(row == column))).collect())
            .collect()
    }

    #[test]
    fn copies_of_an_asset_share_its_weight() {
        let covariance = [vec![0.04, 0.04, 0.0], vec![0.04, 0.04, 0.0], vec![0.0, 0.0, 0.04]];
        for min in [None, Some(&[0.0; 3][..])] {
            let found = weights(&covariance, min, None);
            for (weight, expected) in found.iter().zip([0.25, 0.25, 0.5]) {
                assert!((weight - expected).abs() < 1e-15, "{found:?}");
            }
        }
    }

    #[test]
    fn without_any_risk_the_weights_are_equal_as_far_as_bounds_allow() {
        let nothing = vec![vec![0.0; 4]; 4];
        assert_eq!(weights(&nothing, None, None), [0.25; 4]);
        let (min, max) = ([0.5, 0.0, 0.0, 0.0], [1.0, 0.125, 1.0, 1.0]);
        assert_eq!(weights(&nothing, Some(&min), Some(&max)), [0.5, 0.125, 0.1875, 0.1875]);
    }

    #[test]
    fn a_riskless_hedge_has_no_volatility_and_no_sharpe_ratio() {
        // Deviations 0.2 and 0.3, perfectly correlated: three of one against two of the other.
        // In binary the variance of that is 1e-18, which is rounding.
        let portfolio =
            solve(&[vec![0.04, 0.06], vec![0.06, 0.09]], None, None).expect("a portfolio");
        assert!((portfolio.weights[0] - 3.0).abs() < 1e-13, "{portfolio:?}");
        assert_eq!((portfolio.volatility, portfolio.sharpe_ratio), (0.0, None));
        assert!((portfolio.expected_return - 0.05).abs() < 1e-15);
    }

    #[test]
    fn one_asset_holds_everything() {
        assert_eq!(weights(&[vec![0.04]], None, None), [1.0]);
        assert_eq!(weights(&[vec![0.0]], Some(&[0.0]), Some(&[1.0])), [1.0]);
        let error = solve(&[vec![0.04]], None, Some(&[0.5])).expect_err("refused");
        assert_eq!(error.to_string(), "`max_weights` cannot be met: their sum is 0.5, less than 1");
    }

    #[test]
    fn equal_bounds_fix_a_weight() {
        let found = weights(&identity(3), Some(&[-0.5, -1.0, -1.0]), Some(&[-0.5, 2.0, 2.0]));
        assert_eq!(found, [-0.5, 0.75, 0.75]);
    }

    #[test]
    fn bounds_may_be_infinite_or_leave_a_single_portfolio() {
        let (min, max) = ([f64::NEG_INFINITY, 0.875], [f64::INFINITY; 2]);
        assert_eq!(weights(&identity(2), Some(&min), Some(&max)), [0.125, 0.875]);
        let thirds = [1.0 / 3.0; 3];
        assert_eq!(weights(&identity(3), Some(&thirds), None), thirds);
        assert_eq!(weights(&identity(3), None, Some(&thirds)), thirds);
        assert_eq!(weights(&identity(10), Some(&[0.1; 10]), Some(&[0.1; 10])), [0.1; 10]);
    }

    #[test]
    fn bounds_of_fifteen_digits_that_are_meant_to_sum_to_1_are_met() {
        let caps = [0.111_111_111_111_111; 9];
        assert_eq!(weights(&identity(9), None, Some(&caps)), caps);
        assert_eq!(weights(&identity(9), Some(&[0.0; 9]), Some(&caps)), caps);
        let floors = [0.142_857_142_857_143; 7];
        assert_eq!(weights(&identity(7), Some(&floors), Some(&[1.0; 7])), floors);
        // Four digits are another sum.
        let error = solve(&identity(9), None, Some(&[0.1111; 9])).expect_err("refused");
        assert_eq!(error.argument(), Some("max_weights"));
        let error = solve(&identity(2), None, Some(&[0.5, 0.499_999_999_99])).expect_err("refused");
        assert_eq!(error.code(), "infeasible");
    }

    #[test]
    fn a_bound_of_minus_zero_leaves_as_zero() {
        let covariance = [vec![0.01, 0.02], vec![0.02, 0.09]];
        let found = weights(&covariance, Some(&[-0.0, -0.0]), None);
        assert_eq!(found, [1.0, 0.0]);
        assert!(found[1].is_sign_positive());
    }

    #[test]
    fn infeasible_bounds_are_refused_by_name_and_figure() {
        let refused = |min: Option<&[f64]>, max: Option<&[f64]>| {
            solve(&identity(2), min, max).expect_err("refused")
        };
        let crossed = refused(Some(&[0.0, 0.6]), Some(&[1.0, 0.5]));
        assert_eq!((crossed.argument(), crossed.index()), (Some("min_weights"), Some(1)));
        assert_eq!(
            crossed.to_string(),
            "`min_weights` cannot be met: element 1 is 0.6, but `max_weights` allows at most 0.5"
        );
        let heavy = refused(Some(&[0.5, 0.75]), None);
        assert_eq!(
            heavy.to_string(),
            "`min_weights` cannot be met: their sum is 1.25, more than 1"
        );
        let light = refused(None, Some(&[0.25, 0.5]));
        assert_eq!(
            light.to_string(),
            "`max_weights` cannot be met: their sum is 0.75, less than 1"
        );
    }

    #[test]
    fn shapes_and_numbers_are_checked() {
        let argument = |result: Result<Portfolio>| result.expect_err("refused").argument();
        assert_eq!(argument(solve(&[], None, None)), Some("covariance_matrix"));
        assert_eq!(
            argument(solve(&[vec![1.0, 0.0], vec![0.0]], None, None)),
            Some("covariance_matrix")
        );
        assert_eq!(argument(solve(&[vec![f64::NAN]], None, None)), Some("covariance_matrix"));
        assert_eq!(argument(solve(&[vec![1.0]], Some(&[]), None)), Some("min_weights"));
        assert_eq!(argument(solve(&[vec![1.0]], None, Some(&[f64::NAN]))), Some("max_weights"));
        assert_eq!(
            argument(solve(&[vec![1.0]], Some(&[f64::INFINITY]), None)),
            Some("min_weights")
        );
    }

    #[test]
    fn symmetry_is_required_within_1e_12() {
        let skewed = |part: f64| [vec![0.04, 0.01], vec![0.01 * (1.0 + part), 0.09]];
        assert!(solve(&skewed(9e-13), None, None).is_ok());
        assert_eq!(
            solve(&skewed(2e-12), None, None),
            Err(Error::Asymmetric { argument: "covariance_matrix", row: 0, column: 1 })
        );
    }

    #[test]
    fn negative_eigenvalues_are_refused_beyond_1e_10_of_the_largest_variance() {
        // Eigenvalues 2 and the excess.
        let with_excess = |excess: f64| [vec![1.0, 1.0 - excess], vec![1.0 - excess, 1.0]];
        assert!(solve(&with_excess(-0.9e-10), Some(&[0.0; 2]), None).is_ok());
        assert!(matches!(
            solve(&with_excess(-1.1e-10), Some(&[0.0; 2]), None),
            Err(Error::NotPositiveSemiDefinite { argument: "covariance_matrix", pivot: 1 })
        ));
        assert!(solve(&[vec![0.0, 1e-30], vec![1e-30, 0.0]], None, None).is_err());
        assert!(solve(&[vec![-1.0]], None, None).is_err());
    }

    #[test]
    fn scaling_the_covariance_changes_no_weight() {
        let base = [vec![0.04, 0.012, -0.003], vec![0.012, 0.09, 0.02], vec![-0.003, 0.02, 0.0625]];
        let scaled = |factor: f64| base.clone().map(|row| row.iter().map(|x| x * factor).collect());
        let min = [0.0, 0.1, 0.0];
        let expected = solve(&base, Some(&min), None).expect("a portfolio");
        for exponent in [-900, -301, -1, 1, 2, 7, 1000] {
            let found =
                solve(&scaled(libm::scalbn(1.0, exponent)), Some(&min), None).expect("a portfolio");
            assert_eq!(found.weights, expected.weights, "2^{exponent}");
        }
        for factor in [1e200, 1e-200, 3.7] {
            let found = solve(&scaled(factor), Some(&min), None).expect("a portfolio");
            for (found, expected) in found.weights.iter().zip(&expected.weights) {
                assert!((found - expected).abs() < 4e-16, "{factor:e}");
            }
        }
    }

    #[test]
    fn the_smallest_and_largest_doubles_are_variances_too() {
        for variance in [5e-324, 1e-310, 1.7e308] {
            let portfolio = solve(&[vec![variance, 0.0], vec![0.0, variance]], None, None)
                .expect("a portfolio");
            assert_eq!(portfolio.weights, [0.5, 0.5]);
            assert!(
                (portfolio.volatility / (0.5 * variance).sqrt() - 1.0).abs() < 1e-15
                    || variance < 1e-300
            );
            assert!(portfolio.volatility > 0.0);
        }
    }

    /// A covariance of assets driven by a few factors, and the diagonal to make it definite.
    fn factor_model(size: usize, factors: &[f64], specific: f64) -> Vec<Vec<f64>> {
        let count = factors.len() / size;
        let load = |asset: usize, factor: usize| factors[asset * count + factor];
        let element = |a: usize, b: usize| {
            (0..count).map(|k| load(a, k) * load(b, k)).sum::<f64>()
                + if a == b { specific } else { 0.0 }
        };
        (0..size).map(|a| (0..size).map(|b| element(a, b)).collect()).collect()
    }

    fn variance_of(covariance: &[Vec<f64>], weights: &[f64]) -> f64 {
        covariance
            .iter()
            .zip(weights)
            .map(|(row, weight)| weight * row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>())
            .sum()
    }

    /// The least variance over all sets of active bounds, each solved by elimination.
    fn least_by_enumeration(covariance: &[Vec<f64>], lower: &[f64], upper: &[f64]) -> f64 {
        let size = lower.len();
        let mut least = f64::INFINITY;
        for code in 0..3_usize.pow(size as u32) {
            let place: Vec<usize> =
                (0..size).map(|asset| code / 3_usize.pow(asset as u32) % 3).collect();
            let mut system = vec![vec![0.0; size + 2]; size + 1];
            for asset in 0..size {
                match place[asset] {
                    0 => {
                        system[asset][..size].copy_from_slice(&covariance[asset]);
                        system[asset][size] = -1.0;
                    }
                    side => {
                        system[asset][asset] = 1.0;
                        system[asset][size + 1] =
                            if side == 1 { lower[asset] } else { upper[asset] };
                    }
                }
                system[size][asset] = 1.0;
            }
            system[size][size + 1] = 1.0;
            let Some(point) = eliminate(system) else { continue };
            let inside = |asset: usize| {
                point[asset] >= lower[asset] - 1e-12 && point[asset] <= upper[asset] + 1e-12
            };
            if (0..size).all(inside) {
                least = least.min(variance_of(covariance, &point[..size]));
            }
        }
        least
    }

    /// Gauss's elimination with row pivoting; `None` where the system is singular.
    fn eliminate(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
        let size = system.len();
        for column in 0..size {
            let pivot = (column..size)
                .max_by(|&a, &b| system[a][column].abs().total_cmp(&system[b][column].abs()))?;
            system.swap(column, pivot);
            if system[column][column].abs() < 1e-9 {
                return None;
            }
            let row = system[column].clone();
            for index in (0..size).filter(|&index| index != column) {
                let factor = system[index][column] / row[column];
                for (element, above) in system[index].iter_mut().zip(&row) {
                    *element -= factor * above;
                }
            }
        }
        Some((0..size).map(|row| system[row][size] / system[row][row]).collect())
    }

    /// Bounds that some portfolio meets, from 0 to 1 in every asset.
    fn feasible_bounds(size: usize, numbers: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let lower: Vec<f64> =
            (0..size).map(|asset| 1.2 * numbers[asset] / size as f64 - 0.2).collect();
        let upper = (0..size)
            .map(|asset| lower[asset].max(1.0 / size as f64) + numbers[size + asset])
            .collect();
        (lower, upper)
    }

    #[test]
    fn a_portfolio_wholly_at_its_bounds_has_no_multipliers() {
        let problem = MinVariance {
            covariance_matrix: Covariance::from_rows(&identity(2)).unwrap(),
            min_weights: Some(vec![0.5, 0.5]),
            max_weights: Some(vec![0.5, 0.5]),
        };
        let detail = problem.detail(&problem.solve().unwrap()).unwrap();
        assert_eq!(detail.binding_bounds, [BindingBound::Lower; 2]);
        assert_eq!((detail.budget_multiplier, detail.bound_multipliers), (None, None));
        let other = MinVariancePortfolio { weights: vec![1.0], volatility: 1.0 };
        assert_eq!(problem.detail(&other).unwrap_err().code(), "shape");
    }

    proptest! {
        #[test]
        fn contributions_add_up_and_multipliers_have_their_signs(
            deviations in prop::collection::vec(0.05..0.5_f64, 2..8), correlation in 0.0..0.8_f64, cap in 0.5..1.0_f64,
        ) {
            let count = deviations.len();
            let rows: Vec<Vec<f64>> = (0..count).map(|row| (0..count).map(|column| {
                let related = if row == column { 1.0 } else { correlation };
                related * deviations[row] * deviations[column]
            }).collect()).collect();
            let problem = MinVariance {
                covariance_matrix: Covariance::from_rows(&rows).unwrap(),
                min_weights: Some(vec![0.0; count]),
                max_weights: Some(vec![cap; count]),
            };
            let portfolio = problem.solve().unwrap();
            let detail = problem.detail(&portfolio).unwrap();
            let total: f64 = detail.risk_contributions.iter().sum();
            prop_assert!((total - portfolio.volatility).abs() <= 1e-14);
            for (bound, multiplier) in detail.binding_bounds.iter().zip(detail.bound_multipliers.iter().flatten()) {
                match bound {
                    BindingBound::None => prop_assert!(multiplier.abs() <= 1e-14, "{:?}", detail),
                    BindingBound::Lower => prop_assert!(*multiplier >= -1e-14, "{:?}", detail),
                    BindingBound::Upper => prop_assert!(*multiplier <= 1e-14, "{:?}", detail),
                }
            }
        }
    }

    proptest! {
        /// No set of active bounds gives less variance, for definite and singular matrices.
        #[test]
        fn the_variance_is_the_least_of_all_active_sets(
            size in 1_usize..=5,
            count in 1_usize..=5,
            specific in prop_oneof![Just(0.0), 0.001..0.1],
            loads in prop::collection::vec(-0.3..0.3, 25),
            numbers in prop::collection::vec(0.0..1.0, 10),
        ) {
            let covariance = factor_model(size, &loads[..size * count], specific);
            let (lower, upper) = feasible_bounds(size, &numbers);
            let found = weights(&covariance, Some(&lower), Some(&upper));
            let least = least_by_enumeration(&covariance, &lower, &upper);
            prop_assert!(variance_of(&covariance, &found) <= least + 1e-14, "{found:?}");
            prop_assert!(found.iter().zip(lower.iter().zip(&upper)).all(|(w, (l, u))| l <= w && w <= u));
            prop_assert!((sum(found.iter().copied()) - 1.0).abs() <= 1e-15 * size as f64);
        }

        /// The derivatives of the variance by the weights are equal among free weights, not smaller at
        /// lower bounds and not larger at upper bounds.
        #[test]
        fn the_first_order_gap_is_below_1e_13(
            size in 2_usize..=30,
            count in 1_usize..=8,
            specific in prop_oneof![Just(0.0), 0.001..0.1],
            loads in prop::collection::vec(-0.3..0.3, 240),
            numbers in prop::collection::vec(0.0..1.0, 60),
        ) {
            let covariance = factor_model(size, &loads[..size * count], specific);
            let (lower, upper) = feasible_bounds(size, &numbers);
            let found = weights(&covariance, Some(&lower), Some(&upper));
            let slopes: Vec<f64> = covariance.iter().map(|row| dot(row, &found)).collect();
            let extreme = |from: f64, pick: fn(f64, f64) -> f64, holds: &dyn Fn(usize) -> bool| {
                (0..size).filter(|&asset| holds(asset)).map(|asset| slopes[asset]).fold(from, pick)
            };
            // What could still be bought must not be steeper than what could be sold.
            let cheapest = extreme(f64::INFINITY, f64::min, &|asset| found[asset] < upper[asset]);
            let dearest = extreme(f64::NEG_INFINITY, f64::max, &|asset| found[asset] > lower[asset]);
            prop_assert!(dearest - cheapest <= 1e-13, "{:e}", dearest - cheapest);
        }

        /// The portfolio of least norm is also the minimum after a small ridge is added to the
        /// covariance, up to an error of first order in the ridge.
        #[test]
        fn the_least_norm_is_the_limit_of_a_ridge(
            size in 2_usize..=8,
            loads in prop::collection::vec(-3_i8..=3, 8),
            numbers in prop::collection::vec(0.0..1.0, 16),
        ) {
            let loads: Vec<f64> = loads[..size].iter().copied().map(f64::from).collect();
            let (lower, upper) = feasible_bounds(size, &numbers);
            let limit = weights(&factor_model(size, &loads, 0.0), Some(&lower), Some(&upper));
            let ridge = weights(&factor_model(size, &loads, 1e-8), Some(&lower), Some(&upper));
            for (limit, ridge) in limit.iter().zip(&ridge) {
                prop_assert!((limit - ridge).abs() <= 1e-6);
            }
        }
    }
}
