//! The efficient frontier under linear constraints and a limit of turnover, by its corners.
//!
//! The weights of least variance are piecewise linear in the required return, as within bounds
//! alone. The corners are followed from the least variance upwards: at each a constraint starts or
//! ends to hold the weights. A weight that leaves its current value or returns to it is a corner
//! too, where turnover is limited.

use super::assets::Portfolio;
use super::constrained::{ConstrainedProblem, Goal};
use super::constraint_rows::Conditions;
use super::critical_line::centred;
use super::dual_active_set::level_path::{LevelPath, PathCorner, PathStep};
use super::dual_active_set::minimise;
use super::efficient_frontier::{
    EfficientFrontier, Frontier, FrontierPoints, Path, Start, critical_line,
};
use super::first_order::Optimum;
use super::limits::{Limits, LinearConstraint, TurnoverLimit};
use super::symmetric::dot;
#[cfg(doc)]
use crate::Error;
use crate::explanation::{Explanation, Method};
use crate::{Result, check};

/// The largest number of assets: there is about a corner for each, and the work for a corner grows
/// with the cube of that number.
const MAX_ASSETS: usize = 100;
/// The distance of a corner from the line between its neighbours, in units of the largest weight,
/// that is rounding.
const STRAIGHT: f64 = 1e-13;

/// Assets with bounds on their weights, and further limits.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ConstrainedFrontier {
    /// The assets, their risks and returns, and the bounds on their weights; at most 100 where
    /// there are further limits.
    pub assets: EfficientFrontier,
    /// Constraints on weighted sums of the weights.
    pub constraints: Vec<LinearConstraint>,
    /// The limit of turnover, where there is one.
    pub turnover: Option<TurnoverLimit>,
}

impl ConstrainedFrontier {
    /// Returns the corner portfolios of the efficient frontier under all limits.
    ///
    /// ```text
    /// minimise wᵀΣw   subject to   Σμᵢwᵢ = m,   Σwᵢ = 1,   lᵢ ≤ wᵢ ≤ uᵢ,
    ///                              bₖ ≤ Σ aₖᵢwᵢ ≤ cₖ,   Σ|wᵢ − vᵢ| ≤ T   for all efficient m
    /// ```
    ///
    /// where Σ is the covariance, μ are the expected returns, l and u are the bounds, and v are the
    /// current weights. The weights are piecewise linear in m; the corners are where the pieces
    /// meet.
    ///
    /// - A weight at its bound is the bound, bit for bit, and so is a weight that is not traded.
    /// - Without constraints and turnover the result is that of [`EfficientFrontier::solve`].
    /// - Where portfolios of equal variance and return differ in their weights, the corners are of
    ///   one such frontier.
    ///
    /// # Errors
    ///
    /// Those of [`EfficientFrontier::solve`] and of [`ConstrainedProblem::solve`].
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::constrained::LinearConstraint;
    /// use quant_core::portfolio::{ConstrainedFrontier, EfficientFrontier};
    ///
    /// let coefficients = vec![0.0, 1.0];
    /// let frontier = ConstrainedFrontier {
    ///     assets: EfficientFrontier {
    ///         expected_returns: vec![0.06, 0.10],
    ///         covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
    ///         risk_free_rate: 0.02,
    ///         min_weights: Some(vec![0.0, 0.0]),
    ///         max_weights: None,
    ///     },
    ///     constraints: vec![LinearConstraint { coefficients, min: None, max: Some(0.5) }],
    ///     turnover: None,
    /// }
    /// .solve()?;
    /// assert_eq!(frontier.corners.len(), 2);
    /// assert!((frontier.corners[0].weights[0] - 0.75).abs() < 1e-15);
    /// assert!((frontier.corners[1].weights[0] - 0.5).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Markowitz (1956), "The optimization of a quadratic function subject to linear
    /// constraints"; Best (1996), "An algorithm for the solution of the parametric quadratic
    /// programming problem"; Goldfarb and Idnani (1983), "A numerically stable dual method for
    /// solving strictly convex quadratic programs".
    pub fn solve(&self) -> Result<Frontier> {
        self.assets.traced(&self.tracer())
    }

    /// Returns the frontier with `count` portfolios on it, equally spaced in return.
    ///
    /// The list is that of [`EfficientFrontier::points`] under all limits.
    ///
    /// # Errors
    ///
    /// Those of [`solve`](Self::solve) and of [`EfficientFrontier::points`].
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::constrained::TurnoverLimit;
    /// use quant_core::portfolio::{ConstrainedFrontier, EfficientFrontier};
    ///
    /// let current_weights = vec![0.5, 0.5];
    /// let frontier = ConstrainedFrontier {
    ///     assets: EfficientFrontier {
    ///         expected_returns: vec![0.06, 0.10],
    ///         covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
    ///         risk_free_rate: 0.02,
    ///         min_weights: Some(vec![0.0, 0.0]),
    ///         max_weights: None,
    ///     },
    ///     constraints: Vec::new(),
    ///     turnover: Some(TurnoverLimit { current_weights, max_turnover: 0.25 }),
    /// };
    /// let points = frontier.points(3)?.points;
    /// let weights = points.iter().map(|point| point.weights[1]);
    /// assert!(weights.zip([0.375, 0.5, 0.625]).all(|(found, weight)| (found - weight).abs() < 1e-15));
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn points(&self, count: usize) -> Result<FrontierPoints> {
        self.assets.points_along(count, &self.tracer())
    }

    /// Returns the efficient portfolio with this expected return, annual.
    ///
    /// # Errors
    ///
    /// Those of [`solve`](Self::solve) and of [`Frontier::weights_at_return`].
    pub fn at_return(&self, target_return: f64) -> Result<Portfolio> {
        self.assets.at_return_along(target_return, &self.tracer())
    }

    /// Explains [`solve`](Self::solve), [`points`](Self::points) and [`at_return`](Self::at_return).
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn explain(&self) -> Result<Explanation> {
        let limits = self.limits();
        if limits.are_none() {
            return self.assets.explain();
        }
        let method = Method::new(
            "Parametric quadratic programme by the dual active-set method, corner by corner",
            "Best (1996), An algorithm for the solution of the parametric quadratic programming \
             problem; Goldfarb and Idnani (1983), A numerically stable dual method for solving \
             strictly convex quadratic programs",
        );
        let error = |corner: &Portfolio| {
            let mut constraints = limits.active(&corner.weights);
            constraints.push(self.assets.expected_returns.clone());
            let optimum = Optimum {
                current_weights: limits.current_weights(),
                constraints: &constraints,
                ..self.assets.optimum(&corner.weights)
            };
            optimum.error_of_volatility(corner.volatility)
        };
        let explanation = self.assets.explained(method, &self.solve()?.corners, &error);
        Ok(explanation.with_conventions(limits.convention()))
    }

    /// Returns the problem of one portfolio under the same limits.
    #[must_use]
    pub fn with_goal(self, goal: Goal) -> ConstrainedProblem {
        let EfficientFrontier {
            expected_returns,
            covariance_matrix,
            risk_free_rate,
            min_weights,
            max_weights,
        } = self.assets;
        ConstrainedProblem {
            expected_returns,
            covariance_matrix,
            risk_free_rate,
            min_weights,
            max_weights,
            constraints: self.constraints,
            turnover: self.turnover,
            goal,
        }
    }

    fn limits(&self) -> Limits<'_> {
        Limits { constraints: &self.constraints, turnover: self.turnover.as_ref() }
    }

    /// The method that traces the frontier.
    fn tracer(&self) -> impl Fn(Start<'_>, &[f64]) -> Result<Path> {
        let limits = self.limits();
        move |start, expected_returns| match limits.are_none() {
            true => critical_line(start, expected_returns),
            false => trace(limits, &start, expected_returns),
        }
    }
}

/// Traces a frontier under limits.
fn trace(limits: Limits<'_>, start: &Start<'_>, expected_returns: &[f64]) -> Result<Path> {
    let (argument, size) = ("expected_returns", expected_returns.len());
    let requirement = "at most 100 assets on a frontier with constraints";
    check::require(size <= MAX_ASSETS, argument, size as f64, requirement)?;
    limits.check(size)?;
    let Start { lower, upper, covariance, .. } = start;
    let mut conditions = Conditions::new(limits, lower, upper);
    let least = minimise(covariance, &conditions).map_err(|failure| conditions.refusal(failure))?;
    let returns = centred(expected_returns);
    let held: Vec<usize> = least.active.iter().map(|row| row.id).collect();
    let only = conditions.settled(least.point, held);
    let level = dot(&returns, &only);
    conditions.require_return(returns.clone(), level);
    let refuse = |failure| conditions.refusal(failure);
    let Some(mut path) = LevelPath::from(covariance, &conditions).map_err(refuse)? else {
        return Ok((vec![only], None));
    };
    let settled = |corner: PathCorner| conditions.settled(corner.point, corner.held);
    let mut corners = Corners { returns: &returns, weights: vec![settled(path.corner())] };
    loop {
        match path.advance(&conditions).map_err(refuse)? {
            // All portfolios at the start have the least variance, each more return than the last.
            PathStep::Corner(corner) if corner.is_at_start => {
                corners.weights = vec![settled(corner)];
            }
            PathStep::Corner(corner) => corners.push(settled(corner)),
            PathStep::Ray(way) => return Ok((corners.before_ray(&way), Some(way))),
            PathStep::End => return Ok((corners.weights, None)),
        }
    }
}

/// Corners in the order of their returns, without those on the line between their neighbours.
struct Corners<'a> {
    returns: &'a [f64],
    weights: Vec<Vec<f64>>,
}

impl Corners<'_> {
    fn push(&mut self, next: Vec<f64>) {
        if self.goes_straight_to(&next) {
            self.weights.pop();
        }
        self.weights.push(next);
    }

    /// Returns the corners from which a ray goes on.
    fn before_ray(mut self, way: &[f64]) -> Vec<Vec<f64>> {
        let last = self.weights.last().map_or(&[][..], |last| last);
        let far: Vec<f64> = last.iter().zip(way).map(|(weight, change)| weight + change).collect();
        if self.goes_straight_to(&far) {
            self.weights.pop();
        }
        self.weights
    }

    /// Returns whether the last corner is between the previous one and a next one.
    fn goes_straight_to(&self, next: &[f64]) -> bool {
        let [.., from, last] = &self.weights[..] else { return false };
        let level = |weights: &[f64]| dot(weights, self.returns);
        let part = (level(last) - level(from)) / (level(next) - level(from));
        let largest = last.iter().fold(1.0, |largest: f64, weight| largest.max(weight.abs()));
        let mut weights = last.iter().zip(from.iter().zip(next));
        weights.all(|(last, (a, b))| (a + part * (b - a) - last).abs() <= STRAIGHT * largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portfolio::Covariance;
    use crate::portfolio::symmetric::sum;
    use proptest::prelude::*;

    fn frontier(assets: EfficientFrontier) -> ConstrainedFrontier {
        ConstrainedFrontier { assets, constraints: Vec::new(), turnover: None }
    }

    fn three_assets(min_weights: Option<Vec<f64>>) -> EfficientFrontier {
        EfficientFrontier {
            expected_returns: vec![0.02, 0.04, 0.08],
            covariance_matrix: [[0.01, 0.0, 0.0], [0.0, 0.02, 0.0], [0.0, 0.0, 0.04]].into(),
            risk_free_rate: 0.01,
            min_weights,
            max_weights: None,
        }
    }

    fn group(coefficients: Vec<f64>, max: f64) -> LinearConstraint {
        LinearConstraint { coefficients, min: None, max: Some(max) }
    }

    #[test]
    fn a_limit_of_a_group_ends_the_frontier_at_the_limit() {
        let mut problem = frontier(three_assets(Some(vec![0.0; 3])));
        problem.constraints = vec![group(vec![0.0, 0.0, 1.0], 0.5)];
        let corners = problem.solve().unwrap().corners;
        let last = &corners[corners.len() - 1].weights;
        assert_eq!((last[0], last[2]), (0.0, 0.5));
        assert!((last[1] - 0.5).abs() < 1e-15, "{last:?}");
        let text = problem.at_return(0.061).unwrap_err().to_string();
        assert!(text.starts_with("`target_return` cannot be met"), "{text}");
    }

    #[test]
    fn without_bounds_a_ray_goes_on_within_the_limits_of_a_group() {
        let mut problem = frontier(three_assets(None));
        problem.constraints = vec![group(vec![1.0, 0.0, 0.0], 0.25)];
        let found = problem.solve().unwrap();
        let ray = found.ray.unwrap();
        let gained: f64 = ray.iter().zip([0.02, 0.04, 0.08]).map(|(a, b)| a * b).sum();
        assert!((gained - 1.0).abs() < 1e-13, "{ray:?}");
        assert!(found.corners[0].weights[0] <= 0.25);
        assert!(problem.points(5).unwrap().points[4].expected_return >= 0.08 - 1e-15);
    }

    #[test]
    fn a_portfolio_that_may_not_be_traded_is_the_whole_frontier() {
        let mut problem = frontier(three_assets(Some(vec![0.0; 3])));
        let current_weights = vec![0.25, 0.5, 0.25];
        problem.turnover =
            Some(TurnoverLimit { current_weights: current_weights.clone(), max_turnover: 0.0 });
        let found = problem.points(4).unwrap();
        assert_eq!((found.points.len(), found.frontier.corners.len()), (1, 1));
        assert_eq!(found.points[0].weights, current_weights);
    }

    #[test]
    fn equal_returns_leave_one_portfolio() {
        let assets = EfficientFrontier { expected_returns: vec![0.05; 3], ..three_assets(None) };
        let mut problem = frontier(assets);
        problem.constraints = vec![group(vec![1.0, 0.0, 0.0], 0.25)];
        let corners = problem.solve().unwrap().corners;
        assert_eq!((corners.len(), corners[0].weights[0]), (1, 0.25));
    }

    #[test]
    fn limits_are_checked_and_contradictions_named() {
        let mut problem = frontier(three_assets(Some(vec![0.0; 3])));
        problem.constraints = vec![group(vec![1.0, 1.0, 1.0], 0.5)];
        assert_eq!(problem.solve().unwrap_err().code(), "infeasible");
        problem.constraints = vec![group(vec![1.0; 2], 0.5)];
        assert_eq!(problem.solve().unwrap_err().argument(), Some("constraints"));
        problem.constraints = vec![];
        problem.turnover = Some(TurnoverLimit { current_weights: vec![0.5], max_turnover: 0.1 });
        assert_eq!(problem.solve().unwrap_err().argument(), Some("current_weights"));
    }

    #[test]
    fn more_assets_than_a_call_can_pay_for_are_refused() {
        let market = |size: usize| {
            let row = |a: usize| (0..size).map(|b| f64::from(a == b) * 0.04).collect::<Vec<f64>>();
            let rows: Vec<Vec<f64>> = (0..size).map(row).collect();
            let assets = EfficientFrontier {
                expected_returns: vec![0.05; size],
                covariance_matrix: Covariance::from_rows(&rows).unwrap(),
                min_weights: Some(vec![0.0; size]),
                ..three_assets(None)
            };
            ConstrainedFrontier {
                constraints: vec![group(vec![1.0; size], 1.0)],
                ..frontier(assets)
            }
        };
        assert!(market(MAX_ASSETS).solve().is_ok());
        let refused = market(MAX_ASSETS + 1).solve().unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("domain", Some("expected_returns")));
    }

    #[test]
    fn a_path_along_a_row_ends_without_a_number_that_is_not_finite() {
        let mut rows = vec![vec![0.0; 8]; 8];
        rows[0][0] = 190_586.0;
        (rows[0][1], rows[1][0]) = (66_312.628_906_25, 66_312.628_906_25);
        rows[1][1] = 83_440.905_914_306_64;
        let expected_returns = vec![1e-300, 256.0, 256.0, 256.0, 256.0, 256.0, 256.0, 63.0];
        let of_first = vec![170.667_968_75, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let of_all = vec![256.0, 0.238_281_25, 256.0, f64::MIN, f64::MIN, 0.0, 0.0, 0.0];
        let problem = ConstrainedFrontier {
            constraints: vec![group(of_first, 44_739_242.0), group(of_all, 2.656e-198)],
            ..frontier(EfficientFrontier {
                expected_returns,
                covariance_matrix: Covariance::from_rows(&rows).unwrap(),
                risk_free_rate: 0.0,
                min_weights: Some(vec![0.0; 8]),
                max_weights: None,
            })
        };
        if let Ok(found) = problem.points(5) {
            let mut weights = found.points.iter().flat_map(|point| &point.weights);
            assert!(weights.all(|weight| weight.is_finite()), "{found:?}");
        }
    }

    /// Numbers in [0, 1) without a visible pattern.
    fn draws(first: usize, count: usize) -> Vec<f64> {
        let draw = |index: usize| {
            let value = 43_758.545_3 * libm::sin(12.989_8 * (index + 1) as f64);
            value - value.floor()
        };
        (first..first + count).map(draw).collect()
    }

    /// Assets of equal weights, driven by five factors, that may be traded up to a limit.
    fn traded(size: usize, max_turnover: f64) -> ConstrainedFrontier {
        let loads: Vec<f64> = draws(0, 5 * size).iter().map(|draw| draw - 0.3).collect();
        let noise = draws(5 * size, size);
        let element = |a: usize, b: usize| {
            let common = dot(&loads[5 * a..5 * (a + 1)], &loads[5 * b..5 * (b + 1)]);
            0.04 * common + if a == b { 0.01 + 0.02 * noise[a] } else { 0.0 }
        };
        let row = |a: usize| (0..size).map(|b| element(a, b)).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = (0..size).map(row).collect();
        ConstrainedFrontier {
            turnover: Some(TurnoverLimit {
                current_weights: vec![1.0 / size as f64; size],
                max_turnover,
            }),
            ..frontier(EfficientFrontier {
                expected_returns: draws(6 * size, size),
                covariance_matrix: Covariance::from_rows(&rows).unwrap(),
                risk_free_rate: 0.02,
                min_weights: Some(vec![0.0; size]),
                max_weights: None,
            })
        }
    }

    #[test]
    fn many_assets_may_be_left_untraded() {
        let (size, max_turnover) = (MAX_ASSETS, 0.5);
        let problem = traded(size, max_turnover);
        let current = 1.0 / size as f64;
        let corners = problem.solve().unwrap().corners;
        for corner in &corners {
            let changes = corner.weights.iter().map(|weight| (weight - current).abs());
            assert!(sum(changes) <= max_turnover + 1e-14);
        }
        let middle = &corners[corners.len() / 2];
        let untraded = middle.weights.iter().filter(|weight| **weight == current).count();
        assert!(untraded > 10, "{untraded} of {size}");
        let goal = Goal::TargetReturn(middle.expected_return);
        let least = problem.clone().with_goal(goal).solve().unwrap();
        let [own, least] =
            [&middle.weights, &least.weights].map(|weights| variance_of(&problem, weights));
        assert!((own / least - 1.0).abs() <= 1e-12, "{own} {least}");
    }

    /// The largest difference of two least variances of one return. Near the largest return the
    /// variance rises by up to 1e6 for each unit of return, and so magnifies its rounding.
    const SLOPE: f64 = 1e-9;

    /// Assets driven by three factors, definite or singular, with bounds, a group and a turnover
    /// that some portfolio meets.
    fn market() -> impl Strategy<Value = ConstrainedFrontier> {
        let loads = prop::collection::vec(-0.3..0.3, 36);
        let returns = prop::collection::vec(-0.05..0.2, 12);
        let held = prop::collection::vec(0.1..1.0, 12);
        let specific = prop_oneof![Just(0.0), 0.001..0.1];
        let limits = (0.05..0.8, 0.0..0.2, any::<bool>(), any::<bool>());
        (2_usize..=12, specific, loads, returns, held, limits).prop_map(
            |(size, specific, loads, returns, held, limits)| {
                let element = |a: usize, b: usize| {
                    let common: f64 = (0..3).map(|k| loads[3 * a + k] * loads[3 * b + k]).sum();
                    common + if a == b { specific } else { 0.0 }
                };
                let rows: Vec<Vec<f64>> =
                    (0..size).map(|a| (0..size).map(|b| element(a, b)).collect()).collect();
                let total: f64 = held[..size].iter().sum();
                let current_weights: Vec<f64> =
                    held[..size].iter().map(|value| value / total).collect();
                let (max_turnover, room, is_long, has_turnover) = limits;
                let coefficients: Vec<f64> =
                    (0..size).map(|asset| f64::from(u8::from(asset % 2 == 0))).collect();
                let group = dot(&coefficients, &current_weights);
                ConstrainedFrontier {
                    assets: EfficientFrontier {
                        expected_returns: returns[..size].to_vec(),
                        covariance_matrix: Covariance::from_rows(&rows).unwrap(),
                        risk_free_rate: 0.0,
                        min_weights: Some(vec![if is_long { 0.0 } else { -0.5 }; size]),
                        max_weights: Some(vec![1.0; size]),
                    },
                    constraints: vec![LinearConstraint {
                        coefficients,
                        min: Some(group - room),
                        max: Some(group + 0.5 * room),
                    }],
                    turnover: has_turnover
                        .then_some(TurnoverLimit { current_weights, max_turnover }),
                }
            },
        )
    }

    fn variance_of(problem: &ConstrainedFrontier, weights: &[f64]) -> f64 {
        let matrix = problem.assets.covariance_matrix.matrix();
        let row = |a: usize| weights[a] * dot(matrix.column(a).as_slice(), weights);
        sum((0..weights.len()).map(row))
    }

    proptest! {
        /// Every portfolio of the frontier keeps all limits, and none with its return has less risk.
        #[test]
        fn each_point_has_the_least_variance_of_its_return(problem in market()) {
            let found = problem.points(9).unwrap();
            for (index, point) in found.points.iter().enumerate() {
                let ConstrainedFrontier { constraints, turnover, .. } = &problem;
                let held = dot(&constraints[0].coefficients, &point.weights);
                prop_assert!(held >= constraints[0].min.unwrap() - 1e-13);
                prop_assert!(held <= constraints[0].max.unwrap() + 1e-13);
                if let Some(limit) = turnover {
                    let changes = point.weights.iter().zip(&limit.current_weights);
                    let traded: f64 = changes.map(|(weight, current)| (weight - current).abs()).sum();
                    prop_assert!(traded <= limit.max_turnover + 1e-12, "{traded}");
                }
                let goal = Goal::TargetReturn(point.expected_return);
                match problem.clone().with_goal(goal).solve() {
                    Ok(least) => {
                        let [own, least] =
                            [&point.weights, &least.weights].map(|weights| variance_of(&problem, weights));
                        prop_assert!((own - least).abs() <= SLOPE, "{own} {least}");
                    }
                    // Rounding may leave no portfolio with the largest return itself.
                    Err(error) => prop_assert_eq!(index + 1, found.points.len(), "{}", error),
                }
            }
            let corners = &found.frontier.corners;
            let least = problem.clone().with_goal(Goal::MinVariance).solve().unwrap();
            let [first, least] = [&corners[0].weights, &least.weights].map(|weights| variance_of(&problem, weights));
            prop_assert!((first - least).abs() <= 1e-13, "{first} {least}");
            let beyond = Goal::TargetReturn(corners[corners.len() - 1].expected_return + 1e-6);
            prop_assert_eq!(problem.clone().with_goal(beyond).solve().unwrap_err().code(), "infeasible");
            let stated = problem.explain().unwrap().error;
            // Rounding of a variance near zero is as large as the variance.
            let gap = (first.max(0.0).sqrt() - least.max(0.0).sqrt()).abs();
            prop_assert!(gap <= stated.estimate.max(1e-6), "{gap:e} {stated:?}");
        }

        /// A limit that never binds leaves the frontier of the critical line.
        #[test]
        fn a_limit_out_of_reach_changes_nothing(problem in market()) {
            let size = problem.assets.expected_returns.len();
            let problem = ConstrainedFrontier {
                constraints: vec![group(vec![1.0; size], 2.0)],
                turnover: None,
                ..problem
            };
            let expected = problem.assets.points(9).unwrap();
            let found = problem.points(9).unwrap();
            let ends = |corners: &[Portfolio]| [corners[0].expected_return, corners[corners.len() - 1].expected_return];
            let (found_ends, expected_ends) = (ends(&found.frontier.corners), ends(&expected.frontier.corners));
            prop_assert!((found_ends[1] - expected_ends[1]).abs() <= 1e-13);
            // Without specific risk, equal variances differ by rounding along a line of returns.
            for point in &found.points {
                if point.expected_return < expected_ends[0] || point.expected_return > expected_ends[1] {
                    continue;
                }
                let least = problem.assets.at_return(point.expected_return).unwrap();
                let [own, least] = [&point.weights, &least.weights].map(|weights| variance_of(&problem, weights));
                prop_assert!((own - least).abs() <= SLOPE, "{own} {least}");
            }
        }
    }
}
