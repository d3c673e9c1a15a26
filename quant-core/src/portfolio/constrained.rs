//! Portfolios under linear constraints, as those of groups of assets, and a limit of turnover.
//!
//! With bounds alone [`MinVariance`](super::MinVariance), [`TargetReturn`](super::TargetReturn) and
//! [`MaxSharpe`](super::MaxSharpe) are faster and have fewer limits.

use super::assets::{Assets, Checked, Portfolio, accepted};
use super::constraint_rows::Conditions;
use super::covariance::Covariance;
use super::dual_active_set::{Failure, Minimum, minimise};
use super::first_order::{Optimum, ratio_error, volatility_error};
use super::limits::Limits;
use super::max_sharpe::{RATIO_AS_GIVEN, excess_returns, refusal, riskless};
use super::min_variance::{BindingBound, binding_bounds, marginals, parts_of};
use super::symmetric::sum;
use super::target_return::RETURN_IS_MET;
#[cfg(doc)]
use crate::Error;
use crate::explanation::{Explanation, Method};
use crate::{Result, check};

pub use super::limits::{LinearConstraint, TurnoverLimit};

/// The sum of unscaled weights, as a part of their sizes, below which a ratio grows without end.
const NO_BUDGET: f64 = 1e-9;

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

/// The limits that hold a portfolio, and the risk of each of its assets.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ConstrainedDetail {
    /// The bound at which each weight lies.
    pub binding_bounds: Vec<BindingBound>,
    /// The limit at which the weighted sum of each constraint lies, in the order of the constraints.
    pub binding_constraints: Vec<BindingBound>,
    /// Whether the turnover is as large as it may be; `None` where it is not limited.
    pub is_turnover_binding: Option<bool>,
    /// The part of the volatility of each asset; they add up to the volatility.
    pub risk_contributions: Vec<f64>,
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
        self.limits().check(self.expected_returns.len())?;
        let mut conditions = Conditions::new(self.limits(), &lower, &upper);
        if let Goal::TargetReturn(target) = self.goal {
            check::finite("target_return", target)?;
            conditions.require_return(self.expected_returns.clone(), target);
        }
        let refuse = |failure| conditions.refusal(failure);
        let mut found = minimise(&covariance, &conditions).map_err(refuse)?;
        if self.goal == Goal::MaxSharpe {
            let scaled =
                conditions.homogeneous(excess_returns(&self.expected_returns, self.risk_free_rate));
            found = minimise(&covariance, &scaled).map_err(|failure| match failure {
                Failure::Infeasible(_) => refusal(NOT_BELOW),
                Failure::NoConvergence(error) => error,
            })?;
        }
        let weights = self.weights(found, &conditions)?;
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
        let Assets { covariance_matrix, min_weights, max_weights, .. } = self.assets();
        let optimum = Optimum {
            current_weights: self.limits().current_weights(),
            constraints: &self.active_constraints(&found.weights),
            ..Optimum::new(&found.weights, covariance_matrix, min_weights, max_weights)
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
        Ok(Explanation::new(method, error)
            .of_optimum(min_weights, max_weights)
            .with_conventions(rule)
            .with_conventions(self.limits().convention()))
    }

    /// Returns the binding limits and the risk contributions of a portfolio that
    /// [`solve`](Self::solve) found.
    ///
    /// A weight is at its bound where it equals the bound. A weighted sum and the turnover are at
    /// their limits within 1e-10 of the sizes of their terms. The contribution of an asset is
    /// `wᵢ (Σw)ᵢ / σ`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] where there are not as many weights as assets; [`Error::Overflow`] where a
    /// contribution is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::constrained::{ConstrainedProblem, Goal, LinearConstraint};
    /// use quant_core::portfolio::min_variance::BindingBound;
    ///
    /// let coefficients = vec![1.0, 0.0];
    /// let problem = ConstrainedProblem {
    ///     expected_returns: vec![0.04, 0.06],
    ///     covariance_matrix: [[0.01, 0.0], [0.0, 0.01]].into(),
    ///     risk_free_rate: 0.02,
    ///     min_weights: None,
    ///     max_weights: None,
    ///     constraints: vec![LinearConstraint { coefficients, min: None, max: Some(0.25) }],
    ///     turnover: None,
    ///     goal: Goal::MinVariance,
    /// };
    /// let detail = problem.detail(&problem.solve()?)?;
    /// assert_eq!(detail.binding_constraints, [BindingBound::Upper]);
    /// assert_eq!(detail.binding_bounds, [BindingBound::None; 2]);
    /// assert!((detail.risk_contributions[1] / detail.risk_contributions[0] - 9.0).abs() < 1e-12);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Tasche (2000), "Risk Contributions and Performance Measurement".
    pub fn detail(&self, portfolio: &Portfolio) -> Result<ConstrainedDetail> {
        let weights = &portfolio.weights;
        check::length("weights", weights.len(), self.covariance_matrix.size())?;
        let marginals = marginals(&self.covariance_matrix, weights);
        let Assets { min_weights, max_weights, .. } = self.assets();
        let constraints = self.constraints.iter();
        Ok(ConstrainedDetail {
            binding_bounds: binding_bounds(weights, min_weights, max_weights),
            binding_constraints: constraints.map(|one| one.binding_bound(weights)).collect(),
            is_turnover_binding: self.turnover.as_ref().map(|limit| limit.is_binding(weights)),
            risk_contributions: parts_of(portfolio.volatility, weights, &marginals)?,
        })
    }

    /// The coefficients of the constraints that the weights meet as equalities, to rounding.
    fn active_constraints(&self, weights: &[f64]) -> Vec<Vec<f64>> {
        let mut rows = self.limits().active(weights);
        if matches!(self.goal, Goal::TargetReturn(_)) {
            rows.push(self.expected_returns.clone());
        }
        rows
    }

    fn limits(&self) -> Limits<'_> {
        Limits { constraints: &self.constraints, turnover: self.turnover.as_ref() }
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

    /// The weights at a minimum, with those at a bound or untraded set to the bound or current
    /// weight.
    fn weights(&self, found: Minimum, conditions: &Conditions<'_>) -> Result<Vec<f64>> {
        let mut weights = found.point;
        if self.goal == Goal::MaxSharpe {
            let total = sum(weights.iter().copied());
            let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
            if total <= NO_BUDGET * size {
                return Err(refusal(WITHOUT_END));
            }
            weights.iter_mut().for_each(|weight| *weight /= total);
        }
        Ok(conditions.settled(weights, found.active.iter().map(|row| row.id)))
    }
}

/// The texts of refusals that [`MaxSharpe`](super::MaxSharpe) has too.
const NOT_BELOW: &str = "is not below the return of any portfolio within the bounds";
const WITHOUT_END: &str = "leaves the ratio to grow without end, with no bounds to hold it";

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
    fn the_limits_that_hold_a_portfolio_are_told() {
        let mut problem = problem(3, Goal::MinVariance);
        problem.max_weights = Some(vec![f64::INFINITY, 0.2, f64::INFINITY]);
        let group = |min, max| LinearConstraint { coefficients: vec![0.0, 1.0, 1.0], min, max };
        problem.constraints = vec![group(None, Some(0.9)), group(Some(0.5), None)];
        problem.turnover = turnover(&[0.5, 0.2, 0.3], 1.0);
        let found = problem.solve().unwrap();
        let detail = problem.detail(&found).unwrap();
        let [free, low, high] = [BindingBound::None, BindingBound::Lower, BindingBound::Upper];
        assert_eq!(detail.binding_bounds, [free, high, free]);
        assert_eq!(detail.binding_constraints, [free, low]);
        assert_eq!(detail.is_turnover_binding, Some(false));
        let total: f64 = detail.risk_contributions.iter().sum();
        assert!((total - found.volatility).abs() < 1e-15, "{total}");
        problem.constraints.clear();
        problem.max_weights = None;
        problem.turnover = turnover(&[0.1, 0.2, 0.7], 0.2);
        let detail = problem.detail(&problem.solve().unwrap()).unwrap();
        assert_eq!(detail.is_turnover_binding, Some(true));
        assert_eq!(detail.binding_bounds, [free; 3]);
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
