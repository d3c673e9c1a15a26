//! Portfolios of least variance among those with a given return.
//!
//! These portfolios lie on the line of [`efficient_frontier`](super::efficient_frontier), or below
//! the least variance on its inefficient counterpart. Weights at a bound are exactly the bound.

use super::active_set::Problem;
use super::assets::{Assets, Checked, Portfolio, accepted, only_portfolio};
use super::covariance::Covariance;
use super::critical_line::{CriticalLine, Step, between, centred, way};
use super::first_order::{Optimum, volatility_error};
use super::symmetric::dot;
use crate::explanation::{Explanation, Method};
use crate::{Error, Result, check};

/// The excess of a return over the possible returns, as a part of the largest, that is rounding.
const ROUNDING: f64 = 8.881_784_197_001_252e-16;

/// The meaning of a target, a convention.
pub(super) const RETURN_IS_MET: &str =
    "The return is met exactly: one below that of the least variance is met inefficiently.";

/// Assets, their risks and returns, the bounds on their weights, and the return to be had.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TargetReturn {
    /// Expected return of each asset, annual.
    pub expected_returns: Vec<f64>,
    /// Covariance of the returns, annual: symmetric, positive semi-definite.
    pub covariance_matrix: Covariance,
    /// Return of the riskless asset, annual; enters only the Sharpe ratio.
    pub risk_free_rate: f64,
    /// Smallest weight of each asset, −∞ for an asset without a bound; `None` where no asset has one.
    pub min_weights: Option<Vec<f64>>,
    /// Largest weight of each asset, ∞ for an asset without a bound; `None` where no asset has one.
    pub max_weights: Option<Vec<f64>>,
    /// Expected return of the portfolio, annual.
    pub target_return: f64,
}

impl TargetReturn {
    /// Returns the portfolio of least variance with the target return, within the bounds.
    ///
    /// ```text
    /// minimise wᵀΣw   subject to   Σwᵢ = 1,   Σμᵢwᵢ = m,   lᵢ ≤ wᵢ ≤ uᵢ
    /// ```
    ///
    /// where Σ is the covariance, μ are the expected returns, m is the target, and l and u are the
    /// bounds.
    ///
    /// - The return is met as an equality, so that a target below the return of the portfolio of
    ///   least variance gives an inefficient one.
    /// - A weight at its bound is the bound, bit for bit.
    /// - Where several portfolios have the least variance, the result is one of them.
    /// - A target that misses the largest or smallest possible return by rounding alone is met.
    ///
    /// # Errors
    ///
    /// Those of [`MinVariance::solve`](crate::portfolio::MinVariance::solve); [`Error::Domain`] for a target that is not finite;
    /// [`Error::Infeasible`] where the bounds allow no such return.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::target_return::TargetReturn;
    ///
    /// let portfolio = TargetReturn {
    ///     expected_returns: vec![0.06, 0.10],
    ///     covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
    ///     risk_free_rate: 0.02,
    ///     min_weights: Some(vec![0.0, 0.0]),
    ///     max_weights: None,
    ///     target_return: 0.09,
    /// }
    /// .solve()?;
    /// assert!((portfolio.weights[0] - 0.25).abs() < 1e-15);
    /// assert!((portfolio.weights[1] - 0.75).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Markowitz (1952), "Portfolio Selection"; Markowitz and Todd (2000), "Mean–Variance Analysis
    /// in Portfolio Choice and Capital Markets", chapter 7.
    pub fn solve(&self) -> Result<Portfolio> {
        let assets = self.assets();
        let Checked { lower, upper, covariance, exponent, factor } = assets.check()?;
        check::finite("target_return", self.target_return)?;
        let weights = if let Some(only) = only_portfolio(&lower, &upper) {
            self.last(only)?
        } else {
            let mut problem = Problem::new(&covariance, lower, upper);
            let vertex = problem.minimise(factor)?;
            let mut returns = centred(&self.expected_returns);
            if self.target_return < dot(&vertex.weights, &self.expected_returns) {
                returns.iter_mut().for_each(|value| *value = -*value);
            }
            problem.returns = Some(returns);
            self.walk(&problem, CriticalLine::from(&problem, vertex))?
        };
        assets.describe(accepted(weights)?, &covariance, exponent)
    }

    /// Explains [`solve`](Self::solve).
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn explain(&self) -> Result<Explanation> {
        let found = self.solve()?;
        let Assets { covariance_matrix, min_weights, max_weights, .. } = self.assets();
        let optimum = Optimum {
            constraints: std::slice::from_ref(&self.expected_returns),
            ..Optimum::new(&found.weights, covariance_matrix, min_weights, max_weights)
        };
        let method = Method::new(
            "Least variance with a given return, by the critical line",
            "Markowitz (1952), Portfolio Selection; Markowitz and Todd (2000), Mean–Variance \
             Analysis in Portfolio Choice and Capital Markets, chapter 7",
        );
        let error = volatility_error(optimum.error_of_volatility(found.volatility));
        Ok(Explanation::new(method, error)
            .of_optimum(min_weights, max_weights)
            .with_conventions([RETURN_IS_MET]))
    }

    fn assets(&self) -> Assets<'_> {
        Assets {
            expected_returns: &self.expected_returns,
            covariance_matrix: &self.covariance_matrix,
            risk_free_rate: self.risk_free_rate,
            min_weights: self.min_weights.as_deref(),
            max_weights: self.max_weights.as_deref(),
        }
    }

    /// Follows the line until it has the target return.
    fn walk(&self, problem: &Problem<'_>, mut walk: CriticalLine<'_, '_>) -> Result<Vec<f64>> {
        loop {
            let (from, change, most) = match walk.advance()? {
                Step::Corner { from, to } => {
                    let change = way(&from, &to);
                    (from, change, 1.0)
                }
                Step::Ray { from, way, .. } => (from, way, f64::INFINITY),
                Step::End(last) => return self.last(last),
            };
            let missing = self.target_return - dot(&from, &self.expected_returns);
            let part = missing / dot(&change, &self.expected_returns);
            if self.is_met_by(&from) {
                return Ok(from);
            }
            if 0.0 < part && part <= most {
                return Ok(between(problem, &from, &change, part));
            }
            if most == f64::INFINITY {
                return self.last(from);
            }
        }
    }

    /// Returns whether a portfolio has the target return to rounding.
    fn is_met_by(&self, weights: &[f64]) -> bool {
        let sizes = weights.iter().zip(&self.expected_returns).map(|(w, r)| (w * r).abs());
        let missing = self.target_return - dot(weights, &self.expected_returns);
        missing.abs() <= ROUNDING * sizes.sum::<f64>()
    }

    /// The last portfolio of the line, if it has the target return to rounding.
    fn last(&self, weights: Vec<f64>) -> Result<Vec<f64>> {
        if self.is_met_by(&weights) {
            return Ok(weights);
        }
        let found = dot(&weights, &self.expected_returns);
        let how = if self.target_return > found { "most" } else { "least" };
        let problem = format!("the bounds allow at {how} {found}");
        Err(Error::Infeasible { argument: "target_return", index: None, problem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(target_return: f64, bounds: Option<(&[f64], &[f64])>) -> Result<Portfolio> {
        TargetReturn {
            expected_returns: vec![0.02, 0.04, 0.08],
            covariance_matrix: [[0.01, 0.0, 0.0], [0.0, 0.02, 0.0], [0.0, 0.0, 0.04]].into(),
            risk_free_rate: 0.01,
            min_weights: bounds.map(|(lower, _)| lower.to_vec()),
            max_weights: bounds.map(|(_, upper)| upper.to_vec()),
            target_return,
        }
        .solve()
    }

    const LONG_ONLY: Option<(&[f64], &[f64])> = Some((&[0.0; 3], &[1.0; 3]));

    #[test]
    fn the_ends_of_what_is_possible_are_met() {
        assert_eq!(solve(0.08, LONG_ONLY).unwrap().weights, [0.0, 0.0, 1.0]);
        assert_eq!(solve(0.02, LONG_ONLY).unwrap().weights, [1.0, 0.0, 0.0]);
        let capped: Option<(&[f64], &[f64])> = Some((&[0.0; 3], &[0.5; 3]));
        // The double above 0.06, which half of 0.04 and half of 0.08 do not quite give.
        assert_eq!(solve(0.06_f64.next_up(), capped).unwrap().weights, [0.0, 0.5, 0.5]);
    }

    #[test]
    fn a_return_out_of_reach_is_refused_with_the_nearest_one() {
        let text = |target, bounds| solve(target, bounds).unwrap_err().to_string();
        assert_eq!(
            text(0.09, LONG_ONLY),
            "`target_return` cannot be met: the bounds allow at most 0.08"
        );
        assert_eq!(
            text(0.01, LONG_ONLY),
            "`target_return` cannot be met: the bounds allow at least 0.02"
        );
        let fixed: Option<(&[f64], &[f64])> = Some((&[0.25, 0.5, 0.25], &[0.25, 0.5, 0.25]));
        assert_eq!(solve(0.05, fixed).unwrap_err().code(), "infeasible");
        assert!(solve(0.045, fixed).is_ok());
        assert_eq!(solve(f64::NAN, None).unwrap_err().argument(), Some("target_return"));
    }

    #[test]
    fn without_bounds_every_return_is_possible() {
        for target in [-3.0, 0.0, 0.03, 0.5, 20.0] {
            let found = solve(target, None).unwrap();
            assert!((found.expected_return - target).abs() <= 1e-15 * (1.0 + 100.0 * target.abs()));
        }
    }

    #[test]
    fn equal_returns_leave_one_return() {
        let covariance = [[0.01, 0.0], [0.0, 0.03]];
        let target = |target_return| TargetReturn {
            expected_returns: vec![0.05, 0.05],
            covariance_matrix: covariance.into(),
            risk_free_rate: 0.0,
            min_weights: None,
            max_weights: None,
            target_return,
        };
        assert_eq!(target(0.05).solve().unwrap().weights, [0.75, 0.25]);
        assert_eq!(target(0.06).solve().unwrap_err().argument(), Some("target_return"));
    }
}
