//! The efficient frontier, by its corner portfolios.
//!
//! A portfolio is efficient if none has more return at its variance, or less variance at its
//! return. Between two neighbouring corners the efficient portfolios are their mixtures: so the
//! corners are the whole frontier.

use super::active_set::Problem;
use super::assets::{Assets, Checked, Portfolio, accepted, only_portfolio};
use super::covariance::Covariance;
use super::critical_line::{CriticalLine, Step, centred};
use super::symmetric::dot;
use crate::{Result, check};

/// Assets, their risks and returns, and the bounds on their weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EfficientFrontier {
    /// Expected return of each asset, annual.
    pub expected_returns: Vec<f64>,
    /// Covariance of the returns, annual: symmetric, positive semi-definite.
    pub covariance_matrix: Covariance,
    /// Return of the riskless asset, annual; enters only the Sharpe ratios.
    pub risk_free_rate: f64,
    /// Smallest weight of each asset, −∞ for an asset without a bound; `None` where no asset has one.
    pub min_weights: Option<Vec<f64>>,
    /// Largest weight of each asset, ∞ for an asset without a bound; `None` where no asset has one.
    pub max_weights: Option<Vec<f64>>,
}

/// The efficient portfolios between their corners.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Frontier {
    /// The corner portfolios, from the one of least variance upwards in return; at least one.
    pub corners: Vec<Portfolio>,
    /// Change of the weights for each unit of return beyond the last corner, where the frontier is
    /// unbounded; the changes sum to 0. `None` where the last corner has the largest return.
    pub ray: Option<Vec<f64>>,
}

impl EfficientFrontier {
    /// Returns the corner portfolios of the efficient frontier within the bounds.
    ///
    /// ```text
    /// minimise wᵀΣw − 2λμᵀw   subject to   Σwᵢ = 1,   lᵢ ≤ wᵢ ≤ uᵢ   for all λ ≥ 0
    /// ```
    ///
    /// where Σ is the covariance, μ are the expected returns, and l and u are the bounds. The
    /// weights are piecewise linear in λ; the corners are where the pieces meet.
    ///
    /// - A weight at its bound is the bound, bit for bit.
    /// - The first corner has the least variance; among several such portfolios it is one of the
    ///   largest return. The last has the largest return, unless a ray leads on.
    /// - With equal returns there is one corner. Without bounds there is one, and a ray.
    /// - Where portfolios of equal variance and return differ in their weights, the corners are of
    ///   one such frontier. Returns within 1e-13 of their range of each other count as equal.
    ///
    /// # Errors
    ///
    /// Those of [`MinVariance::solve`](crate::portfolio::MinVariance::solve); [`Error::NoConvergence`](crate::Error::NoConvergence)
    /// beyond 20 corners an asset.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::efficient_frontier::EfficientFrontier;
    ///
    /// let frontier = EfficientFrontier {
    ///     expected_returns: vec![0.06, 0.10],
    ///     covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
    ///     risk_free_rate: 0.02,
    ///     min_weights: Some(vec![0.0, 0.0]),
    ///     max_weights: None,
    /// }
    /// .solve()?;
    /// assert_eq!(frontier.corners.len(), 2);
    /// assert_eq!(frontier.corners[0].weights, [0.75, 0.25]);
    /// assert_eq!(frontier.corners[1].weights, [0.0, 1.0]);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Markowitz (1956), "The optimization of a quadratic function subject to linear
    /// constraints"; Niedermayer and Niedermayer (2010), "Applying Markowitz's Critical Line
    /// Algorithm".
    pub fn solve(&self) -> Result<Frontier> {
        let assets = Assets {
            expected_returns: &self.expected_returns,
            covariance_matrix: &self.covariance_matrix,
            risk_free_rate: self.risk_free_rate,
            min_weights: self.min_weights.as_deref(),
            max_weights: self.max_weights.as_deref(),
        };
        let Checked { lower, upper, covariance, exponent, factor } = assets.check()?;
        let (corners, ray) = if let Some(only) = only_portfolio(&lower, &upper) {
            (vec![only], None)
        } else {
            let mut problem = Problem::new(&covariance, lower, upper);
            let vertex = problem.minimise(factor)?;
            problem.returns = Some(centred(&self.expected_returns));
            corners(CriticalLine::from(&problem, vertex))?
        };
        let describe = |weights| assets.describe(accepted(weights)?, &covariance, exponent);
        let mut corners: Vec<Portfolio> =
            corners.into_iter().map(describe).collect::<Result<_>>()?;
        // Corners of equal return differ by rounding, or by assets that are copies of others.
        corners.dedup_by(|next, last| next.expected_return <= last.expected_return);
        let ray = ray.map(|way| self.by_return(&way)).transpose()?;
        Ok(Frontier { corners, ray })
    }

    /// A change of the weights divided by the return that it brings.
    fn by_return(&self, way: &[f64]) -> Result<Vec<f64>> {
        let gained = dot(way, &self.expected_returns);
        way.iter().map(|change| check::result("expected_returns", change / gained)).collect()
    }
}

/// The weights at the corners of a line, and how it goes on from the last.
type Path = (Vec<Vec<f64>>, Option<Vec<f64>>);

/// Collects the corners by following the critical line to its end.
fn corners(mut walk: CriticalLine<'_, '_>) -> Result<Path> {
    let mut corners: Vec<Vec<f64>> = Vec::new();
    loop {
        let step = walk.advance()?;
        // All portfolios at the start have the least variance, each more return than the last.
        match step {
            Step::Corner { .. } if walk.is_at_start() => {}
            Step::Corner { from, .. } => corners.push(from),
            Step::Ray { from, way, .. } => {
                corners.push(from);
                return Ok((corners, Some(way)));
            }
            Step::End(last) => {
                corners.push(last);
                return Ok((corners, None));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn solve(
        returns: &[f64],
        covariance: &[Vec<f64>],
        lower: Option<&[f64]>,
        upper: Option<&[f64]>,
    ) -> Frontier {
        EfficientFrontier {
            expected_returns: returns.to_vec(),
            covariance_matrix: Covariance::from_rows(covariance).unwrap(),
            risk_free_rate: 0.0,
            min_weights: lower.map(<[f64]>::to_vec),
            max_weights: upper.map(<[f64]>::to_vec),
        }
        .solve()
        .unwrap()
    }

    fn weights(frontier: &Frontier) -> Vec<&[f64]> {
        frontier.corners.iter().map(|corner| &corner.weights[..]).collect()
    }

    fn identity(size: usize) -> Vec<Vec<f64>> {
        (0..size)
            .map(|row| (0..size).map(|column| f64::from(u8::from(row == column))).collect())
            .collect()
    }

    #[test]
    fn assets_leave_in_the_order_of_their_returns() {
        let frontier = solve(&[0.01, 0.02, 0.04], &identity(3), Some(&[0.0; 3]), None);
        assert_eq!(frontier.ray, None);
        let thirds = 1.0 / 3.0;
        let expected = [[thirds, thirds, thirds], [0.0, 0.3, 0.7], [0.0, 0.0, 1.0]];
        assert_eq!(frontier.corners.len(), 3);
        // The first asset is out where the others have 4 and 1 parts of what it gave up.
        for (corner, expected) in
            frontier.corners.iter().zip([expected[0], [0.0, 0.25, 0.75], expected[2]])
        {
            assert_eq!(corner.weights[0] == 0.0, expected[0] == 0.0);
            assert!((corner.weights[2] - expected[2]).abs() < 1e-15, "{frontier:?}");
        }
    }

    #[test]
    fn without_bounds_there_is_one_corner_and_a_ray() {
        let frontier = solve(&[0.02, 0.06], &identity(2), None, None);
        assert_eq!(weights(&frontier), [[0.5, 0.5]]);
        let ray = frontier.ray.unwrap();
        assert!((ray[0] + 25.0).abs() < 1e-13 && (ray[1] - 25.0).abs() < 1e-13, "{ray:?}");
    }

    #[test]
    fn returns_at_the_end_of_a_double_are_refused_rather_than_a_ray_of_nothing() {
        let frontier = EfficientFrontier {
            expected_returns: vec![f64::MAX, 62.0],
            covariance_matrix: [[0.0; 2]; 2].into(),
            risk_free_rate: 0.0,
            min_weights: None,
            max_weights: None,
        };
        let refused = Error::Overflow { argument: "expected_returns" };
        assert_eq!(frontier.solve(), Err(refused));
    }

    #[test]
    fn equal_returns_leave_one_corner() {
        let frontier = solve(&[0.05; 3], &identity(3), Some(&[0.0; 3]), Some(&[0.5; 3]));
        assert_eq!((frontier.corners.len(), frontier.ray), (1, None));
        let fixed = solve(&[0.01, 0.09], &identity(2), Some(&[0.5; 2]), Some(&[0.5; 2]));
        assert_eq!((weights(&fixed), &fixed.ray), (vec![&[0.5; 2][..]], &None));
    }

    #[test]
    fn among_portfolios_without_risk_the_frontier_starts_at_the_best() {
        let nothing = vec![vec![0.0; 3]; 3];
        let frontier =
            solve(&[0.03, 0.01, 0.02], &nothing, Some(&[0.0; 3]), Some(&[0.5, 1.0, 1.0]));
        assert_eq!(weights(&frontier), [[0.5, 0.0, 0.5]]);
    }

    #[test]
    fn copies_of_an_asset_do_no_harm() {
        let covariance = [vec![0.04, 0.04, 0.0], vec![0.04, 0.04, 0.0], vec![0.0, 0.0, 0.09]];
        let frontier = solve(&[0.02, 0.02, 0.05], &covariance, Some(&[0.0; 3]), None);
        assert_eq!(frontier.corners[frontier.corners.len() - 1].weights, [0.0, 0.0, 1.0]);
        // The copy that returns more is held alone.
        let better = solve(&[0.02, 0.03, 0.05], &covariance, Some(&[0.0; 3]), None);
        assert_eq!(better.corners[0].weights[0], 0.0);
    }
}
