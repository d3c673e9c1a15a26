//! Limits of a portfolio beside the bounds on its weights.

use super::min_variance::BindingBound;
use super::symmetric::dot;
use crate::{Error, Result, check};

/// The largest number of assets: the method keeps dense rows and rotates dense columns.
const MAX_ASSETS: usize = 250;
/// The distance from a constraint, in units of its terms, at which the constraint counts as active.
const ACTIVE: f64 = 1e-10;

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

impl LinearConstraint {
    /// Returns the limit that the weights meet as an equality, to rounding; the lower one where both
    /// limits are one number.
    pub(super) fn binding_bound(&self, weights: &[f64]) -> BindingBound {
        let terms = self.coefficients.iter().zip(weights).map(|(a, weight)| (a * weight).abs());
        let size: f64 = terms.sum();
        let is_at = |level: f64| {
            (dot(&self.coefficients, weights) - level).abs() <= ACTIVE * (size + level.abs())
        };
        if self.min.is_some_and(is_at) {
            BindingBound::Lower
        } else if self.max.is_some_and(is_at) {
            BindingBound::Upper
        } else {
            BindingBound::None
        }
    }
}

impl TurnoverLimit {
    /// Returns whether the weights use the whole limit, to rounding.
    pub(super) fn is_binding(&self, weights: &[f64]) -> bool {
        let changes = weights.iter().zip(&self.current_weights);
        let traded: f64 = changes.map(|(weight, current)| (weight - current).abs()).sum();
        (traded - self.max_turnover).abs() <= ACTIVE * (1.0 + traded)
    }
}

/// Linear constraints with a limit of turnover.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub(super) constraints: &'a [LinearConstraint],
    pub(super) turnover: Option<&'a TurnoverLimit>,
}

impl<'a> Limits<'a> {
    pub(super) fn are_none(self) -> bool {
        self.constraints.is_empty() && self.turnover.is_none()
    }

    /// Checks the limits of a portfolio of this many assets.
    pub(super) fn check(self, size: usize) -> Result<()> {
        let (argument, requirement) = ("expected_returns", "at most 250 assets with constraints");
        check::require(size <= MAX_ASSETS, argument, size as f64, requirement)?;
        for (index, constraint) in self.constraints.iter().enumerate() {
            constraint.check(index, size)?;
        }
        let Some(turnover) = self.turnover else { return Ok(()) };
        check::length("current_weights", turnover.current_weights.len(), size)?;
        let requirement = "a finite number";
        check::each("current_weights", &turnover.current_weights, requirement, f64::is_finite)?;
        check::not_negative("max_turnover", turnover.max_turnover)
    }

    /// Returns the weights at which the turnover has a kink.
    pub(super) fn current_weights(self) -> Option<&'a [f64]> {
        self.turnover.map(|limit| &limit.current_weights[..])
    }

    /// Returns the convention of turnover, where it is limited.
    pub(super) fn convention(self) -> Option<&'static str> {
        let rule = "Turnover is the sum of purchases and sales, not half of the sum.";
        self.turnover.is_some().then_some(rule)
    }

    /// Returns the coefficients of the limits that the weights meet as equalities, to rounding.
    pub(super) fn active(self, weights: &[f64]) -> Vec<Vec<f64>> {
        let is_active = |one: &&LinearConstraint| one.binding_bound(weights) != BindingBound::None;
        let linear = self.constraints.iter().filter(is_active);
        let mut rows: Vec<Vec<f64>> = linear.map(|one| one.coefficients.clone()).collect();
        if let Some(turnover) = self.turnover.filter(|limit| limit.is_binding(weights)) {
            let changes = weights.iter().zip(&turnover.current_weights);
            rows.push(changes.map(|(weight, current)| (weight - current).signum()).collect());
        }
        rows
    }
}
