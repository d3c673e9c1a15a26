//! Linear constraints and limits of turnover, which requests for portfolios may have.

use poem_openapi::Object;
use quant_core::{
    Error,
    portfolio::constrained::{ConstrainedProblem, LinearConstraint, TurnoverLimit},
};

use crate::http::Numbers;

/// A condition on a weighted sum of the weights.
#[derive(Clone, Debug, Object)]
#[oai(rename = "LinearConstraint")]
pub struct Constraint {
    /// Coefficient of each asset: 1 for the members of a group and 0 for others limits the group.
    #[oai(validator(min_items = 1, max_items = 250))]
    pub coefficients: Numbers,
    /// Smallest sum; absent means no limit.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub min: Option<f64>,
    /// Largest sum; absent means no limit.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub max: Option<f64>,
}

/// Limits of a portfolio beside the bounds on its weights.
#[derive(Clone, Debug, Default, Object)]
pub struct WeightLimits {
    /// Conditions on weighted sums of the weights, as limits of groups; up to 100. With conditions
    /// or a limit of turnover there are at most 250 assets, for an efficient frontier 100.
    #[oai(nullable, validator(max_items = 100))]
    pub constraints: Option<Vec<Constraint>>,
    /// Weight of each asset today; needed where `max_turnover` is present.
    #[oai(nullable, validator(min_items = 1, max_items = 250))]
    pub current_weights: Option<Numbers>,
    /// Largest sum of the sizes of all changes of weights, purchases and sales; zero or more.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub max_turnover: Option<f64>,
}

/// The limits of a request in the types of `quant-core`.
#[derive(Default)]
pub(super) struct ReadLimits {
    constraints: Vec<LinearConstraint>,
    turnover: Option<TurnoverLimit>,
}

impl ReadLimits {
    /// Returns a problem with these limits.
    pub(super) fn added_to(self, problem: ConstrainedProblem) -> ConstrainedProblem {
        let (constraints, turnover) = self.into_parts();
        ConstrainedProblem { constraints, turnover, ..problem }
    }

    pub(super) fn into_parts(self) -> (Vec<LinearConstraint>, Option<TurnoverLimit>) {
        (self.constraints, self.turnover)
    }
}

impl WeightLimits {
    /// Returns the constraints and the limit of turnover; `None` where there is neither.
    pub(super) fn read(&self) -> quant_core::Result<Option<ReadLimits>> {
        let missing = |argument, problem| Err(Error::Conflict { argument, problem });
        let turnover = match (&self.current_weights, self.max_turnover) {
            (None, None) => None,
            (Some(weights), Some(max_turnover)) => {
                Some(TurnoverLimit { current_weights: weights.to_vec(), max_turnover })
            }
            (None, Some(_)) => {
                return missing("current_weights", "is needed where `max_turnover` is present");
            }
            (Some(_), None) => {
                return missing("max_turnover", "is needed where `current_weights` is present");
            }
        };
        let linear = |constraint: &Constraint| LinearConstraint {
            coefficients: constraint.coefficients.to_vec(),
            min: constraint.min,
            max: constraint.max,
        };
        let constraints: Vec<LinearConstraint> =
            self.constraints.as_deref().unwrap_or_default().iter().map(linear).collect();
        let is_limited = turnover.is_some() || !constraints.is_empty();
        Ok(is_limited.then_some(ReadLimits { constraints, turnover }))
    }

    /// Returns whether the limits ask for a method that is slower than that of bounds alone.
    pub(super) fn are_slow(&self) -> bool {
        let has_constraints = self.constraints.as_ref().is_some_and(|some| !some.is_empty());
        self.max_turnover.is_some() || has_constraints
    }
}
