//! Portfolios under linear constraints, as those of groups of assets, and a limit of turnover.
//!
//! With bounds alone [`MinVariance`](super::MinVariance), [`TargetReturn`](super::TargetReturn) and
//! [`MaxSharpe`](super::MaxSharpe) are faster and have fewer limits.

use super::assets::{Assets, Checked, Portfolio, accepted};
use super::covariance::Covariance;
use super::dual_active_set::{ConstraintRow, ConstraintRows, Failure, Minimum, minimise, norm};
use super::first_order::{Optimum, ratio_error, volatility_error};
use super::max_sharpe::{RATIO_AS_GIVEN, excess_returns, refusal, riskless};
use super::symmetric::{dot, sum};
use super::target_return::RETURN_IS_MET;
use crate::explanation::{Explanation, Method};
use crate::{Error, Result, check};

/// The largest number of assets: the method keeps dense rows and rotates dense columns.
const MAX_ASSETS: usize = 250;
/// The distance from a current weight, in units of the largest weight, that is rounding.
const UNTRADED: f64 = 1e-14;
/// The distance from a constraint, in units of its terms, at which the constraint counts as active.
const ACTIVE: f64 = 1e-10;
/// The sum of unscaled weights, as a part of their sizes, below which a ratio grows without end.
const NO_BUDGET: f64 = 1e-9;

/// A condition on a weighted sum of the weights, `min ≤ Σ aᵢwᵢ ≤ max`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinearConstraint {
    /// Coefficient of each asset: 1 for the members of a group and 0 for others limits the group.
    pub coefficients: Vec<f64>,
    /// Smallest sum; `None` for no limit.
    pub min: Option<f64>,
    /// Largest sum; `None` for no limit.
    pub max: Option<f64>,
}

/// A limit of what is traded to get from the current weights to others.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TurnoverLimit {
    /// Weight of each asset today.
    pub current_weights: Vec<f64>,
    /// Largest sum of the sizes of all changes, purchases and sales: 0.2 is 20 % of the portfolio.
    pub max_turnover: f64,
}

/// The goal of a constrained portfolio.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Goal {
    /// The least variance.
    MinVariance,
    /// The least variance with this expected return, annual.
    TargetReturn(f64),
    /// The largest ratio of excess return to volatility.
    MaxSharpe,
}

/// Assets, their risks and returns, and the constraints on their weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ConstrainedProblem {
    /// Expected return of each asset, annual.
    pub expected_returns: Vec<f64>,
    /// Covariance of the returns, annual: symmetric, positive semi-definite; at most 250 assets.
    pub covariance_matrix: Covariance,
    /// Return of the riskless asset, annual.
    pub risk_free_rate: f64,
    /// Smallest weight of each asset, −∞ for an asset without a bound; `None` where no asset has
    /// one.
    pub min_weights: Option<Vec<f64>>,
    /// Largest weight of each asset, ∞ for an asset without a bound; `None` where no asset has one.
    pub max_weights: Option<Vec<f64>>,
    /// Further constraints.
    pub constraints: Vec<LinearConstraint>,
    /// The limit of turnover, where there is one.
    pub turnover: Option<TurnoverLimit>,
    /// The goal.
    pub goal: Goal,
}

impl ConstrainedProblem {
    /// Returns the portfolio that reaches the goal under all constraints.
    ///
    /// ```text
    /// minimise wᵀΣw   or   maximise (Σμᵢwᵢ − r)/√(wᵀΣw)
    /// subject to   Σwᵢ = 1,   lᵢ ≤ wᵢ ≤ uᵢ,   bₖ ≤ Σ aₖᵢwᵢ ≤ cₖ,   Σ|wᵢ − vᵢ| ≤ T
    /// ```
    ///
    /// where Σ is the covariance, μ are the expected returns, r is the riskless rate, l and u are
    /// the bounds, and v are the current weights.
    ///
    /// - A weight at its bound is the bound, bit for bit, and so is a weight that is not traded.
    /// - Where several portfolios have the least variance, the result is one of them.
    ///
    /// # Errors
    ///
    /// Those of [`MinVariance::solve`](super::MinVariance::solve); [`Error::Infeasible`] with the
    /// name of a constraint that contradicts the others; [`Error::Shape`] and [`Error::Element`]
    /// for a constraint or current weights of another length or with a number that is not finite;
    /// [`Error::Domain`] for more than 250 assets and a turnover below zero; [`Error::Conflict`] as
    /// [`MaxSharpe::solve`](super::MaxSharpe::solve); [`Error::NoConvergence`] where rounding
    /// leaves a first-order gap above 1e-12 of its terms.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::constrained::{ConstrainedProblem, Goal, LinearConstraint};
    ///
    /// let coefficients = vec![1.0, 1.0, 0.0];
    /// let group = LinearConstraint { coefficients, min: None, max: Some(0.5) };
    /// let portfolio = ConstrainedProblem {
    ///     expected_returns: vec![0.04, 0.06, 0.10],
    ///     covariance_matrix: [[0.01, 0.0, 0.0], [0.0, 0.01, 0.0], [0.0, 0.0, 0.04]].into(),
    ///     risk_free_rate: 0.02,
    ///     min_weights: Some(vec![0.0; 3]),
    ///     max_weights: None,
    ///     constraints: vec![group],
    ///     turnover: None,
    ///     goal: Goal::MinVariance,
    /// }
    /// .solve()?;
    /// assert!((portfolio.weights[2] - 0.5).abs() < 1e-15);
    /// assert!((portfolio.weights[0] - 0.25).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Goldfarb and Idnani (1983), "A numerically stable dual method for solving strictly convex
    /// quadratic programs"; Cornuejols and Tütüncü (2006), "Optimization Methods in Finance",
    /// chapter 8.
    pub fn solve(&self) -> Result<Portfolio> {
        let assets = self.assets();
        let Checked { lower, upper, covariance, exponent, .. } = assets.check()?;
        self.check()?;
        let mut conditions = Conditions::new(self, &lower, &upper);
        if let Goal::TargetReturn(target) = self.goal {
            check::finite("target_return", target)?;
            let normal = self.expected_returns.clone();
            conditions.equalities.push(ConstraintRow { normal, level: target, id: RETURN });
        }
        let refuse = |failure| self.refusal(failure);
        let mut found = minimise(&covariance, &conditions).map_err(refuse)?;
        if self.goal == Goal::MaxSharpe {
            let scaled =
                conditions.homogeneous(excess_returns(&self.expected_returns, self.risk_free_rate));
            found = minimise(&covariance, &scaled).map_err(|failure| match failure {
                Failure::Infeasible(_) => refusal(NOT_BELOW),
                Failure::NoConvergence(error) => error,
            })?;
        }
        let weights = self.weights(found, &lower, &upper)?;
        let portfolio = assets.describe(accepted(weights)?, &covariance, exponent)?;
        match (self.goal, portfolio.sharpe_ratio) {
            (Goal::MaxSharpe, None) => Err(riskless()),
            _ => Ok(portfolio),
        }
    }

    /// Explains [`solve`](Self::solve).
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn explain(&self) -> Result<Explanation> {
        let found = self.solve()?;
        let optimum = Optimum {
            weights: &found.weights,
            covariance_matrix: &self.covariance_matrix,
            min_weights: self.min_weights.as_deref(),
            max_weights: self.max_weights.as_deref(),
            current_weights: self.turnover.as_ref().map(|limit| &limit.current_weights[..]),
            constraints: &self.active_constraints(&found.weights),
        };
        let (error, rule) = match (self.goal, found.sharpe_ratio) {
            (Goal::MaxSharpe, Some(ratio)) => {
                let excess = excess_returns(&self.expected_returns, self.risk_free_rate);
                (ratio_error(optimum.error_of_ratio(&excess, ratio)), Some(RATIO_AS_GIVEN))
            }
            (goal, _) => {
                let estimate = optimum.error_of_volatility(found.volatility);
                let is_target = matches!(goal, Goal::TargetReturn(_));
                (volatility_error(estimate), is_target.then_some(RETURN_IS_MET))
            }
        };
        let method = Method::new(
            "Convex quadratic programme by the dual active-set method",
            "Goldfarb and Idnani (1983), A numerically stable dual method for solving strictly \
             convex quadratic programs; Cornuejols and Tütüncü (2006), Optimization Methods in \
             Finance, chapter 8",
        );
        let turnover = "Turnover is the sum of purchases and sales, not half of the sum.";
        Ok(Explanation::new(method, error)
            .of_optimum(optimum.min_weights, optimum.max_weights)
            .with_conventions(rule)
            .with_conventions(self.turnover.is_some().then_some(turnover)))
    }

    /// The coefficients of the constraints that the weights meet as equalities, to rounding.
    fn active_constraints(&self, weights: &[f64]) -> Vec<Vec<f64>> {
        let is_met = |row: &[f64], level: f64| {
            let size: f64 = row.iter().zip(weights).map(|(a, weight)| (a * weight).abs()).sum();
            (dot(row, weights) - level).abs() <= ACTIVE * (size + level.abs())
        };
        let linear = self.constraints.iter().filter(|constraint| {
            let mut levels = constraint.min.into_iter().chain(constraint.max);
            levels.any(|level| is_met(&constraint.coefficients, level))
        });
        let mut rows: Vec<Vec<f64>> = linear.map(|one| one.coefficients.clone()).collect();
        if let Some(turnover) = &self.turnover {
            let changes = weights.iter().zip(&turnover.current_weights);
            let row: Vec<f64> =
                changes.clone().map(|(weight, current)| (weight - current).signum()).collect();
            let traded: f64 = changes.map(|(weight, current)| (weight - current).abs()).sum();
            if (traded - turnover.max_turnover).abs() <= ACTIVE * (1.0 + traded) {
                rows.push(row);
            }
        }
        if matches!(self.goal, Goal::TargetReturn(_)) {
            rows.push(self.expected_returns.clone());
        }
        rows
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

    /// Checks what only constrained problems have.
    fn check(&self) -> Result<()> {
        let size = self.expected_returns.len();
        let (argument, requirement) = ("expected_returns", "at most 250 assets with constraints");
        check::require(size <= MAX_ASSETS, argument, size as f64, requirement)?;
        for (index, constraint) in self.constraints.iter().enumerate() {
            constraint.check(index, size)?;
        }
        let Some(turnover) = &self.turnover else { return Ok(()) };
        check::length("current_weights", turnover.current_weights.len(), size)?;
        let requirement = "a finite number";
        check::each("current_weights", &turnover.current_weights, requirement, f64::is_finite)?;
        check::not_negative("max_turnover", turnover.max_turnover)
    }

    /// The error of a programme without a solution.
    fn refusal(&self, failure: Failure) -> Error {
        let size = self.expected_returns.len();
        let problem = "it contradicts the other constraints".to_owned();
        let (argument, index) = match failure {
            Failure::NoConvergence(error) => return error,
            Failure::Infeasible(TURNOVER) => ("max_turnover", None),
            Failure::Infeasible(RETURN) => ("target_return", None),
            Failure::Infeasible(BUDGET) => ("constraints", None),
            Failure::Infeasible(id) if id < FIRST + size => ("min_weights", Some(id - FIRST)),
            Failure::Infeasible(id) if id < FIRST + 2 * size => {
                ("max_weights", Some(id - FIRST - size))
            }
            Failure::Infeasible(id) => ("constraints", Some((id - FIRST - 2 * size) / 2)),
        };
        Error::Infeasible { argument, index, problem }
    }

    /// The weights at a minimum, with those at a bound or untraded set to the bound or current
    /// weight.
    fn weights(&self, found: Minimum, lower: &[f64], upper: &[f64]) -> Result<Vec<f64>> {
        let mut weights = found.point;
        if self.goal == Goal::MaxSharpe {
            let total = sum(weights.iter().copied());
            let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
            if total <= NO_BUDGET * size {
                return Err(refusal(WITHOUT_END));
            }
            weights.iter_mut().for_each(|weight| *weight /= total);
        }
        let largest = weights.iter().fold(1.0, |largest: f64, weight| largest.max(weight.abs()));
        if let Some(turnover) = &self.turnover {
            for (weight, current) in weights.iter_mut().zip(&turnover.current_weights) {
                if (*weight - current).abs() <= UNTRADED * largest {
                    *weight = *current;
                }
            }
        }
        let size = weights.len();
        for row in found.active {
            match row.id.checked_sub(FIRST) {
                Some(asset) if asset < size => weights[asset] = lower[asset],
                Some(asset) if asset < 2 * size => weights[asset - size] = upper[asset - size],
                _ => {}
            }
        }
        // What is left of a violation is rounding.
        let bounds = lower.iter().zip(upper);
        let inside =
            |(weight, (low, high)): (&f64, (&f64, &f64))| weight.max(*low).min(*high) + 0.0;
        Ok(weights.iter().zip(bounds).map(inside).collect())
    }
}

/// The texts of refusals that [`MaxSharpe`](super::MaxSharpe) has too.
const NOT_BELOW: &str = "is not below the return of any portfolio within the bounds";
const WITHOUT_END: &str = "leaves the ratio to grow without end, with no bounds to hold it";

impl LinearConstraint {
    fn check(&self, index: usize, size: usize) -> Result<()> {
        let argument = "constraints";
        let refused = |value, requirement| Error::Element { argument, index, value, requirement };
        if self.coefficients.len() != size {
            let requirement = "a constraint with a coefficient for each asset";
            return Err(refused(self.coefficients.len() as f64, requirement));
        }
        let numbers = self.coefficients.iter().chain(&self.min).chain(&self.max);
        if let Some(value) = numbers.copied().find(|value| !value.is_finite()) {
            return Err(refused(value, "a constraint of finite numbers"));
        }
        match (self.min, self.max) {
            (Some(min), Some(max)) if min > max => {
                let problem = format!("min is {min}, but max is {max}");
                Err(Error::Infeasible { argument, index: Some(index), problem })
            }
            _ => Ok(()),
        }
    }
}

/// The names of rows: of these three, then two of each asset and two of each constraint.
const BUDGET: usize = 0;
const RETURN: usize = 1;
const TURNOVER: usize = 2;
const FIRST: usize = 3;

/// The conditions of a problem as rows.
struct Conditions<'a> {
    equalities: Vec<ConstraintRow>,
    rows: Vec<ConstraintRow>,
    turnover: Option<&'a TurnoverLimit>,
    /// True where points stand for their multiples: each level is then times the sum of the point.
    is_homogeneous: bool,
}

impl<'a> Conditions<'a> {
    fn new(problem: &'a ConstrainedProblem, lower: &[f64], upper: &[f64]) -> Self {
        let size = lower.len();
        let unit = |asset: usize, sign: f64| {
            (0..size).map(|index| if index == asset { sign } else { 0.0 }).collect::<Vec<f64>>()
        };
        let at_least = (0..size).map(|asset| (unit(asset, 1.0), lower[asset]));
        let at_most = (0..size).map(|asset| (unit(asset, -1.0), -upper[asset]));
        let linear = problem.constraints.iter().flat_map(|constraint| {
            let opposite = constraint.coefficients.iter().map(|value| -value).collect();
            let max = constraint.max.map_or(f64::NEG_INFINITY, |max| -max);
            let min = constraint.min.unwrap_or(f64::NEG_INFINITY);
            [(constraint.coefficients.clone(), min), (opposite, max)]
        });
        let all = at_least.chain(at_most).chain(linear).enumerate();
        let finite = all.filter(|(_, (_, level))| level.is_finite());
        let rows =
            finite.map(|(id, (normal, level))| ConstraintRow { normal, level, id: id + FIRST });
        Self {
            equalities: vec![ConstraintRow { normal: vec![1.0; size], level: 1.0, id: BUDGET }],
            rows: rows.collect(),
            turnover: problem.turnover.as_ref(),
            is_homogeneous: false,
        }
    }

    /// Returns the conditions on multiples of a portfolio whose excess return is 1.
    fn homogeneous(&self, excess_returns: Vec<f64>) -> Self {
        let size = excess_returns.len();
        let mut rows: Vec<ConstraintRow> = self.rows.iter().map(homogeneous).collect();
        rows.push(ConstraintRow { normal: vec![1.0; size], level: 0.0, id: BUDGET });
        let equalities = vec![ConstraintRow { normal: excess_returns, level: 1.0, id: RETURN }];
        Self { equalities, rows, turnover: self.turnover, is_homogeneous: true }
    }

    /// The side of the limit of turnover that a point violates most: the one of the signs of its
    /// changes.
    fn turnover_row(&self, point: &[f64]) -> Option<ConstraintRow> {
        let turnover = self.turnover?;
        let total = if self.is_homogeneous { point.iter().sum() } else { 1.0 };
        let changes = point.iter().zip(&turnover.current_weights);
        let sign =
            |(value, current): (&f64, &f64)| if *value >= total * current { -1.0 } else { 1.0 };
        let normal: Vec<f64> = changes.map(sign).collect();
        let level = dot(&normal, &turnover.current_weights) - turnover.max_turnover;
        let row = ConstraintRow { normal, level, id: TURNOVER };
        Some(if self.is_homogeneous { homogeneous(&row) } else { row })
    }
}

/// Returns the condition `(a − b1)ᵀy ≥ 0` on multiples of the weights that `aᵀw ≥ b` allows.
fn homogeneous(row: &ConstraintRow) -> ConstraintRow {
    let normal = row.normal.iter().map(|normal| normal - row.level).collect();
    ConstraintRow { normal, level: 0.0, id: row.id }
}

impl ConstraintRows for Conditions<'_> {
    fn equalities(&self) -> Vec<ConstraintRow> {
        self.equalities.clone()
    }

    fn worst(&self, point: &[f64]) -> Option<ConstraintRow> {
        let turnover = self.turnover_row(point);
        let size = norm(point);
        let all = self.rows.iter().chain(&turnover);
        let violations = all.map(|row| (row.violation(point, size), row));
        let worst = violations.filter(|(violation, _)| *violation > 0.0);
        worst.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, row)| row.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portfolio::{MaxSharpe, MinVariance, TargetReturn};
    use proptest::prelude::*;

    fn problem(size: usize, goal: Goal) -> ConstrainedProblem {
        let variance = |index: usize| 0.01 * (index + 1) as f64;
        let row = |a: usize| (0..size).map(move |b| if a == b { variance(a) } else { 0.002 });
        let rows: Vec<Vec<f64>> = (0..size).map(|a| row(a).collect()).collect();
        ConstrainedProblem {
            expected_returns: (0..size).map(|index| 0.03 + 0.01 * index as f64).collect(),
            covariance_matrix: Covariance::from_rows(&rows).unwrap(),
            risk_free_rate: 0.01,
            min_weights: Some(vec![0.0; size]),
            max_weights: None,
            constraints: vec![],
            turnover: None,
            goal,
        }
    }

    fn turnover(current_weights: &[f64], max_turnover: f64) -> Option<TurnoverLimit> {
        Some(TurnoverLimit { current_weights: current_weights.to_vec(), max_turnover })
    }

    #[test]
    fn a_limit_of_turnover_is_met_and_leaves_some_weights_as_they_are() {
        for goal in [Goal::MinVariance, Goal::MaxSharpe, Goal::TargetReturn(0.051)] {
            let mut problem = problem(4, goal);
            let current = [0.1, 0.2, 0.3, 0.4];
            problem.turnover = turnover(&current, 0.2);
            let found = problem.solve().unwrap();
            let traded: f64 =
                found.weights.iter().zip(current).map(|(weight, now)| (weight - now).abs()).sum();
            assert!((traded - 0.2).abs() < 1e-14, "{found:?}");
            problem.turnover = turnover(&current, 0.0);
            match problem.solve() {
                Ok(found) => assert_eq!(found.weights, current),
                Err(error) => {
                    assert_eq!((goal, error.code()), (Goal::TargetReturn(0.051), "infeasible"));
                }
            }
        }
    }

    #[test]
    fn a_constraint_that_contradicts_the_others_is_named() {
        let group = |min, max| LinearConstraint { coefficients: vec![1.0, 1.0, 0.0], min, max };
        let mut problem = problem(3, Goal::MinVariance);
        problem.constraints = vec![group(None, Some(0.5)), group(Some(0.6), None)];
        let error = problem.solve().unwrap_err();
        assert_eq!((error.code(), error.argument()), ("infeasible", Some("constraints")));
        problem.constraints = vec![group(Some(1.5), None)];
        assert_eq!(problem.solve().unwrap_err().code(), "infeasible");
        problem.constraints = vec![group(Some(0.5), Some(0.4))];
        assert_eq!(problem.solve().unwrap_err().index(), Some(0));
        problem.constraints =
            vec![LinearConstraint { coefficients: vec![1.0], min: None, max: None }];
        assert_eq!(problem.solve().unwrap_err().code(), "domain");
        problem.constraints = vec![group(Some(f64::NAN), None)];
        assert_eq!(problem.solve().unwrap_err().argument(), Some("constraints"));
        problem.constraints = vec![];
        problem.turnover = turnover(&[0.5; 2], 0.1);
        assert_eq!(problem.solve().unwrap_err().argument(), Some("current_weights"));
        problem.turnover = turnover(&[0.5; 3], -0.1);
        assert_eq!(problem.solve().unwrap_err().argument(), Some("max_turnover"));
        // From a sum of 1.5 to 1 takes a turnover of 0.5.
        problem.turnover = turnover(&[0.5; 3], 0.1);
        assert_eq!(problem.solve().unwrap_err().code(), "infeasible");
    }

    #[test]
    fn what_has_no_largest_ratio_is_refused() {
        let mut problem = problem(3, Goal::MaxSharpe);
        problem.risk_free_rate = 0.2;
        let text = "`risk_free_rate` is not below the return of any portfolio within the bounds";
        assert_eq!(problem.solve().unwrap_err().to_string(), text);
        problem.min_weights = None;
        assert_eq!(problem.solve().unwrap_err().argument(), Some("risk_free_rate"));
    }

    /// Assets driven by three factors, definite or singular, and bounds that some portfolio meets.
    #[derive(Clone, Debug)]
    struct Market {
        problem: ConstrainedProblem,
        size: usize,
    }

    fn market() -> impl Strategy<Value = Market> {
        let loads = prop::collection::vec(-0.3..0.3, 36);
        let returns = prop::collection::vec(-0.05..0.2, 12);
        (2_usize..=12, prop_oneof![Just(0.0), 0.001..0.1], loads, returns, any::<bool>()).prop_map(
            |(size, specific, loads, returns, is_long)| {
                let element = |a: usize, b: usize| {
                    let common: f64 = (0..3).map(|k| loads[3 * a + k] * loads[3 * b + k]).sum();
                    common + if a == b { specific } else { 0.0 }
                };
                let rows: Vec<Vec<f64>> =
                    (0..size).map(|a| (0..size).map(|b| element(a, b)).collect()).collect();
                let lower = if is_long { 0.0 } else { -0.5 };
                let problem = ConstrainedProblem {
                    expected_returns: returns[..size].to_vec(),
                    covariance_matrix: Covariance::from_rows(&rows).unwrap(),
                    risk_free_rate: 0.0,
                    min_weights: Some(vec![lower; size]),
                    max_weights: Some(vec![0.75; size]),
                    constraints: vec![],
                    turnover: None,
                    goal: Goal::MinVariance,
                };
                Market { problem, size }
            },
        )
    }

    fn variance_of(problem: &ConstrainedProblem, weights: &[f64]) -> f64 {
        let matrix = problem.covariance_matrix.matrix();
        let row = |a: usize| {
            weights[a] * (0..weights.len()).map(|b| matrix[(a, b)] * weights[b]).sum::<f64>()
        };
        (0..weights.len()).map(row).sum()
    }

    proptest! {
        /// With bounds alone the portfolios are those of the other methods, to the last bits of
        /// their risk.
        #[test]
        fn bounds_alone_give_the_portfolios_of_the_other_methods(market in market(), part in 0.1..0.9) {
            let Market { mut problem, .. } = market;
            let least = MinVariance {
                covariance_matrix: problem.covariance_matrix.clone(),
                min_weights: problem.min_weights.clone(),
                max_weights: problem.max_weights.clone(),
            };
            let expected = least.solve().unwrap().with_returns(&problem.expected_returns, 0.0).unwrap();
            let found = problem.solve().unwrap();
            prop_assert!((found.volatility - expected.volatility).abs() <= 1e-8);
            prop_assert!(variance_of(&problem, &found.weights) <= variance_of(&problem, &expected.weights) + 1e-14);
            let most = problem.expected_returns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let target_return = expected.expected_return + part * 0.5 * (most - expected.expected_return);
            let target = TargetReturn {
                expected_returns: problem.expected_returns.clone(),
                covariance_matrix: problem.covariance_matrix.clone(),
                risk_free_rate: 0.0,
                min_weights: problem.min_weights.clone(),
                max_weights: problem.max_weights.clone(),
                target_return,
            };
            problem.goal = Goal::TargetReturn(target_return);
            match (target.solve(), problem.solve()) {
                (Ok(expected), Ok(found)) => {
                    prop_assert!((found.expected_return - target_return).abs() <= 1e-13);
                    let [found, expected] =
                        [found, expected].map(|found| variance_of(&problem, &found.weights));
                    prop_assert!(found <= expected + 1e-14, "{found} {expected}");
                }
                (Err(expected), Err(found)) => prop_assert_eq!(found.code(), expected.code()),
                (expected, found) => prop_assert!(false, "{expected:?} {found:?}"),
            }
            let sharpe = MaxSharpe {
                expected_returns: problem.expected_returns.clone(),
                covariance_matrix: problem.covariance_matrix.clone(),
                risk_free_rate: 0.0,
                min_weights: problem.min_weights.clone(),
                max_weights: problem.max_weights.clone(),
            };
            problem.goal = Goal::MaxSharpe;
            match (sharpe.solve(), problem.solve()) {
                (Ok(expected), Ok(found)) => {
                    let (found, expected) = (found.sharpe_ratio.unwrap(), expected.sharpe_ratio.unwrap());
                    prop_assert!(found >= expected * (1.0 - 1e-10), "{found} {expected}");
                }
                (Err(expected), Err(found)) => prop_assert_eq!(found.argument(), expected.argument()),
                (expected, found) => prop_assert!(false, "{expected:?} {found:?}"),
            }
        }

        /// All constraints hold, and no mixture with another portfolio that meets them has less
        /// risk.
        #[test]
        fn no_other_portfolio_within_the_constraints_has_less_risk(
            market in market(),
            current in prop::collection::vec(0.1..1.0, 12),
            other in prop::collection::vec(0.1..1.0, 12),
            max_turnover in 0.05..0.8,
            limit in 0.3..0.6,
        ) {
            let Market { mut problem, size } = market;
            let of_one = |values: &[f64]| {
                let total: f64 = values[..size].iter().sum();
                values[..size].iter().map(|value| value / total).collect::<Vec<f64>>()
            };
            let (current, other) = (of_one(&current), of_one(&other));
            let coefficients: Vec<f64> = (0..size).map(|asset| f64::from(u8::from(asset % 2 == 0))).collect();
            let group: f64 = (0..size).step_by(2).map(|asset| current[asset]).sum();
            let (min, max) = (Some(group - 0.1 * limit), Some(group + 0.1 * limit));
            problem.constraints = vec![LinearConstraint { coefficients: coefficients.clone(), min, max }];
            problem.turnover = turnover(&current, max_turnover);
            problem.max_weights = Some(vec![1.0; size]);
            let found = problem.solve().unwrap();
            let held: f64 = found.weights.iter().zip(&coefficients).map(|(w, a)| w * a).sum();
            prop_assert!(held >= min.unwrap() - 1e-13 && held <= max.unwrap() + 1e-13);
            let traded: f64 = found.weights.iter().zip(&current).map(|(w, v)| (w - v).abs()).sum();
            prop_assert!(traded <= max_turnover + 1e-12, "{traded} {max_turnover}");
            // A step towards another portfolio, as far as the constraints allow, has no less
            // variance.
            let change: Vec<f64> = other.iter().zip(&current).map(|(a, b)| a - b).collect();
            let size: f64 = change.iter().map(|value| value.abs()).sum();
            let moved: f64 = change.iter().zip(&coefficients).map(|(x, a)| x * a).sum();
            let scale = (max_turnover / size).min(0.1 * limit / moved.abs().max(1e-12)).min(1.0);
            let tried: Vec<f64> = current.iter().zip(&change).map(|(w, x)| w + scale * x).collect();
            let gradient: f64 = (0..tried.len())
                .map(|a| {
                    let row = problem.covariance_matrix.matrix().row(a);
                    let slope: f64 = row.iter().zip(&found.weights).map(|(x, w)| x * w).sum();
                    slope * (tried[a] - found.weights[a])
                })
                .sum();
            prop_assert!(gradient >= -1e-12, "{gradient:e}");
        }
    }
}
