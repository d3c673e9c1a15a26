//! The efficient frontier, by its corner portfolios.
//!
//! A portfolio is efficient if none has more return at its variance, or less variance at its
//! return. Between two neighbouring corners the efficient portfolios are their mixtures: so the
//! corners are the whole frontier.

use super::active_set::Problem;
use super::assets::{Assets, Checked, Portfolio, accepted, only_portfolio};
use super::cholesky::Cholesky;
use super::covariance::Covariance;
use super::critical_line::{CriticalLine, Step, centred};
use super::first_order::{Optimum, volatility_error};
use super::symmetric::{Symmetric, dot};
use crate::explanation::{Explanation, Method};
use crate::{Error, Result, check};

/// The number of corners at which an explanation measures the first-order gap, at most.
const MEASURED_CORNERS: usize = 16;

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
    /// Smallest weight of each asset, −∞ for an asset without a bound; `None` where no asset has
    /// one.
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

/// The efficient frontier with portfolios at equal distances in return.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FrontierPoints {
    /// The corners, with the ray beyond the last one.
    pub frontier: Frontier,
    /// Portfolios from the one of least variance upwards, the difference of their returns constant.
    pub points: Vec<Portfolio>,
}

impl Frontier {
    /// Returns the weights of the efficient portfolio with this expected return, annual: a mixture
    /// of the two corners beside it, or a portfolio on the ray.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a return that is not finite; [`Error::Infeasible`] for a return below
    /// that of the first corner, or above that of the last one where no ray leads on.
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
    /// let weights = frontier.weights_at_return(0.08)?;
    /// assert!((weights[0] - 0.5).abs() < 1e-15);
    /// assert_eq!(frontier.weights_at_return(0.05).unwrap_err().code(), "infeasible");
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn weights_at_return(&self, target_return: f64) -> Result<Vec<f64>> {
        check::finite("target_return", target_return)?;
        let next = self.corners.partition_point(|corner| corner.expected_return < target_return);
        let beside = [next.checked_sub(1), Some(next)].map(|at| self.corners.get(at?));
        match (beside, &self.ray) {
            ([_, Some(corner)], _) if corner.expected_return == target_return => {
                Ok(corner.weights.clone())
            }
            ([Some(from), Some(to)], _) => Ok(mixture(from, to, target_return)),
            ([Some(from), None], Some(ray)) => {
                let gain = target_return - from.expected_return;
                let moved =
                    from.weights.iter().zip(ray).map(|(weight, change)| weight + gain * change);
                moved.map(|weight| check::result("target_return", weight)).collect()
            }
            ([_, corner], _) => Err(out_of_reach(corner.or(self.corners.last()), target_return)),
        }
    }

    /// Returns the largest return of a list of portfolios along the frontier: that of the last
    /// corner, or on a ray the largest return of an asset.
    ///
    /// Where the last corner returns more than any asset, the list goes on by the range of the
    /// assets' returns.
    fn end(&self, expected_returns: &[f64]) -> f64 {
        let last = self.corners.last().map_or(0.0, |corner| corner.expected_return);
        let most = expected_returns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = expected_returns.iter().copied().fold(f64::INFINITY, f64::min);
        match self.ray {
            None => last,
            Some(_) if most > last => most,
            Some(_) => last + (most - least),
        }
    }
}

/// Returns the mixture of two corners that has a return between theirs.
fn mixture(from: &Portfolio, to: &Portfolio, target_return: f64) -> Vec<f64> {
    let part = (target_return - from.expected_return) / (to.expected_return - from.expected_return);
    let weights = from.weights.iter().zip(&to.weights);
    // The order of the products keeps a weight that both corners have, bit for bit.
    weights.map(|(&a, &b)| (a + part * (b - a)).clamp(a.min(b), a.max(b))).collect()
}

fn out_of_reach(corner: Option<&Portfolio>, target_return: f64) -> Error {
    let found = corner.map_or(0.0, |corner| corner.expected_return);
    let how = if target_return > found { "most" } else { "least" };
    let problem = format!("an efficient portfolio returns at {how} {found}");
    Error::Infeasible { argument: "target_return", index: None, problem }
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
    /// Those of [`MinVariance::solve`](crate::portfolio::MinVariance::solve);
    /// [`Error::NoConvergence`] beyond 20 corners an asset.
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
        self.traced(&critical_line)
    }

    /// Returns the frontier with `count` portfolios on it, equally spaced in return.
    ///
    /// The first point has the least variance, and the last the largest return. On a ray, which has
    /// no largest return, the list ends at the largest expected return of an asset; where the
    /// portfolio of least variance returns as much, it ends a range of the assets' returns above
    /// that portfolio. Where the frontier is one portfolio, so is the list.
    ///
    /// # Errors
    ///
    /// Those of [`solve`](Self::solve); [`Error::TooFew`] for a count below two;
    /// [`Error::Overflow`] where a point is beyond the range of a double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::efficient_frontier::EfficientFrontier;
    ///
    /// let assets = EfficientFrontier {
    ///     expected_returns: vec![0.06, 0.10],
    ///     covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
    ///     risk_free_rate: 0.02,
    ///     min_weights: Some(vec![0.0, 0.0]),
    ///     max_weights: None,
    /// };
    /// let points = assets.points(4)?.points;
    /// assert_eq!(points[0].weights, [0.75, 0.25]);
    /// assert!((points[1].expected_return - 0.08).abs() < 1e-15);
    /// assert_eq!(points[3].weights, [0.0, 1.0]);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn points(&self, count: usize) -> Result<FrontierPoints> {
        self.points_along(count, &critical_line)
    }

    /// Returns the efficient portfolio with this expected return, annual.
    ///
    /// [`TargetReturn`](super::TargetReturn) instead accepts returns below that of the portfolio of
    /// least variance, for which it returns inefficient portfolios.
    ///
    /// # Errors
    ///
    /// Those of [`solve`](Self::solve) and of [`Frontier::weights_at_return`].
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::efficient_frontier::EfficientFrontier;
    ///
    /// let portfolio = EfficientFrontier {
    ///     expected_returns: vec![0.06, 0.10],
    ///     covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
    ///     risk_free_rate: 0.02,
    ///     min_weights: Some(vec![0.0, 0.0]),
    ///     max_weights: None,
    /// }
    /// .at_return(0.08)?;
    /// assert!((portfolio.volatility - 0.1).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn at_return(&self, target_return: f64) -> Result<Portfolio> {
        self.at_return_along(target_return, &critical_line)
    }

    /// Explains [`solve`](Self::solve), [`points`](Self::points) and [`at_return`](Self::at_return).
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn explain(&self) -> Result<Explanation> {
        let method = Method::new(
            "Critical line from the least variance upwards, corner by corner",
            "Markowitz (1956), The optimization of a quadratic function subject to linear \
             constraints; Niedermayer and Niedermayer (2010), Applying Markowitz's Critical Line \
             Algorithm",
        );
        let constraints = std::slice::from_ref(&self.expected_returns);
        let error = |corner: &Portfolio| {
            let optimum = Optimum { constraints, ..self.optimum(&corner.weights) };
            optimum.error_of_volatility(corner.volatility)
        };
        Ok(self.explained(method, &self.solve()?.corners, &error))
    }
}

/// The steps that frontiers with and without further constraints share.
impl EfficientFrontier {
    /// Returns weights on the frontier as an optimum that bounds alone hold.
    pub(super) fn optimum<'a>(&'a self, weights: &'a [f64]) -> Optimum<'a> {
        let Assets { covariance_matrix, min_weights, max_weights, .. } = self.assets();
        Optimum::new(weights, covariance_matrix, min_weights, max_weights)
    }

    /// Explains a frontier of these corners, given a method and the error of a corner.
    pub(super) fn explained(
        &self,
        method: Method,
        corners: &[Portfolio],
        error: &dyn Fn(&Portfolio) -> f64,
    ) -> Explanation {
        let some = corners.iter().step_by(corners.len().div_ceil(MEASURED_CORNERS));
        let mut statement = volatility_error(some.map(error).fold(0.0, f64::max));
        statement.how = format!("largest of some corners: {}", statement.how).into();
        Explanation::new(method, statement)
            .of_optimum(self.min_weights.as_deref(), self.max_weights.as_deref())
            .with_conventions([
                "Portfolios between two corners are their mixtures, which is exact.",
                "Points are equally spaced in return, from the least variance upwards.",
            ])
            .with_steps(corners.len() as u32)
    }

    /// Returns the frontier that a method traces.
    pub(super) fn traced(&self, trace: &Trace<'_>) -> Result<Frontier> {
        self.sampled(trace, &|_| Vec::new()).map(|found| found.frontier)
    }

    /// Returns the frontier that a method traces, with portfolios equally spaced in return.
    pub(super) fn points_along(&self, count: usize, trace: &Trace<'_>) -> Result<FrontierPoints> {
        if count < 2 {
            return Err(Error::TooFew { argument: "count", needed: 2, found: count });
        }
        self.sampled(trace, &|frontier: &Frontier| {
            let start = frontier.corners[0].expected_return;
            let end = frontier.end(&self.expected_returns);
            let count = if end > start { count } else { 1 };
            // The two products do not overflow where the ends do not.
            let part = |index: usize| index as f64 / (count.max(2) - 1) as f64;
            let target = |part: f64| (start * (1.0 - part) + end * part).clamp(start, end);
            (0..count).map(|index| target(part(index))).collect()
        })
    }

    /// Returns the portfolio with this return on the frontier that a method traces.
    pub(super) fn at_return_along(
        &self,
        target_return: f64,
        trace: &Trace<'_>,
    ) -> Result<Portfolio> {
        check::finite("target_return", target_return)?;
        let mut found = self.sampled(trace, &|_| vec![target_return])?;
        found.points.pop().ok_or_else(|| out_of_reach(None, target_return))
    }

    /// Returns the frontier and its portfolios at the returns that `targets` chooses.
    fn sampled(
        &self,
        trace: &Trace<'_>,
        targets: &dyn Fn(&Frontier) -> Vec<f64>,
    ) -> Result<FrontierPoints> {
        let assets = self.assets();
        let Checked { lower, upper, covariance, exponent, factor } = assets.check()?;
        let start = Start { lower, upper, covariance: &covariance, factor };
        let (corners, ray) = trace(start, &self.expected_returns)?;
        let describe = |weights| assets.describe(accepted(weights)?, &covariance, exponent);
        let mut corners: Vec<Portfolio> =
            corners.into_iter().map(describe).collect::<Result<_>>()?;
        // Corners of equal return differ by rounding, or by assets that are copies of others.
        corners.dedup_by(|next, last| next.expected_return <= last.expected_return);
        let ray = ray.map(|way| self.by_return(&way)).transpose()?;
        let frontier = Frontier { corners, ray };
        let targets = targets(&frontier).into_iter();
        let point = |target| describe(frontier.weights_at_return(target)?);
        let points = targets.map(point).collect::<Result<_>>()?;
        Ok(FrontierPoints { frontier, points })
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

    /// A change of the weights divided by the return that it brings.
    fn by_return(&self, way: &[f64]) -> Result<Vec<f64>> {
        let gained = dot(way, &self.expected_returns);
        way.iter().map(|change| check::result("expected_returns", change / gained)).collect()
    }
}

/// The weights at the corners of a line, and how it goes on from the last.
pub(super) type Path = (Vec<Vec<f64>>, Option<Vec<f64>>);

/// The checked bounds and covariance from which a frontier is traced.
pub(super) struct Start<'a> {
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) covariance: &'a Symmetric,
    /// The factor of the covariance, where that is clearly definite.
    pub(super) factor: Option<Cholesky>,
}

/// A method that traces a frontier, given the expected returns.
pub(super) type Trace<'t> = dyn Fn(Start<'_>, &[f64]) -> Result<Path> + 't;

/// Traces a frontier within bounds alone.
pub(super) fn critical_line(start: Start<'_>, expected_returns: &[f64]) -> Result<Path> {
    let Start { lower, upper, covariance, factor } = start;
    if let Some(only) = only_portfolio(&lower, &upper) {
        return Ok((vec![only], None));
    }
    let mut problem = Problem::new(covariance, lower, upper);
    let vertex = problem.minimise(factor)?;
    problem.returns = Some(centred(expected_returns));
    corners(CriticalLine::from(&problem, vertex))
}

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

    fn points(lower: Option<&[f64]>, count: usize) -> Result<Vec<Portfolio>> {
        let assets = EfficientFrontier {
            expected_returns: vec![0.01, 0.02, 0.04],
            covariance_matrix: Covariance::from_rows(&identity(3))?,
            risk_free_rate: 0.0,
            min_weights: lower.map(<[f64]>::to_vec),
            max_weights: None,
        };
        Ok(assets.points(count)?.points)
    }

    #[test]
    fn points_run_from_least_variance_to_the_largest_return() {
        let long_only = points(Some(&[0.0; 3]), 5).unwrap();
        assert_eq!(long_only.len(), 5);
        assert_eq!(long_only[4].weights, [0.0, 0.0, 1.0]);
        assert!((long_only[0].weights[0] - 1.0 / 3.0).abs() < 1e-15);
        assert!(long_only.is_sorted_by(|a, b| a.volatility < b.volatility));
        // Without bounds the list ends at the largest return of an asset, with less risk.
        let free = points(None, 5).unwrap();
        assert!((free[4].expected_return - 0.04).abs() < 1e-16, "{free:?}");
        assert!(free[4].volatility < long_only[4].volatility);
        assert_eq!(points(None, 1).unwrap_err().argument(), Some("count"));
    }

    #[test]
    fn a_frontier_of_one_portfolio_has_one_point() {
        let assets = EfficientFrontier {
            expected_returns: vec![0.05; 2],
            covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
            risk_free_rate: 0.0,
            min_weights: None,
            max_weights: None,
        };
        assert_eq!(assets.points(20).unwrap().points.len(), 1);
        assert_eq!(assets.at_return(0.05).unwrap().weights, [0.75, 0.25]);
        let refused = assets.at_return(0.06).unwrap_err().to_string();
        let text = "`target_return` cannot be met: an efficient portfolio returns at most 0.05";
        assert_eq!(refused, text);
        assert_eq!(assets.at_return(f64::NAN).unwrap_err().code(), "domain");
    }

    #[test]
    fn a_point_between_corners_is_that_of_the_target_return() {
        let covariance = [[0.04, 0.01, 0.02], [0.01, 0.09, 0.03], [0.02, 0.03, 0.0625]];
        for min_weights in [None, Some(vec![0.0; 3])] {
            let assets = EfficientFrontier {
                expected_returns: vec![0.08, 0.12, 0.10],
                covariance_matrix: covariance.into(),
                risk_free_rate: 0.03,
                min_weights: min_weights.clone(),
                max_weights: None,
            };
            for target_return in [0.0925, 0.1, 0.11, 0.119] {
                let found = assets.at_return(target_return).unwrap();
                let expected = super::super::TargetReturn {
                    expected_returns: assets.expected_returns.clone(),
                    covariance_matrix: covariance.into(),
                    risk_free_rate: 0.03,
                    min_weights: min_weights.clone(),
                    max_weights: None,
                    target_return,
                };
                let expected = expected.solve().unwrap();
                for (found, expected) in found.weights.iter().zip(&expected.weights) {
                    assert!((found - expected).abs() < 4e-15, "{found} {expected}");
                }
            }
        }
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
