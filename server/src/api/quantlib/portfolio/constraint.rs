//! Linear constraints and limits of turnover, which requests for portfolios may have.

use poem_openapi::Object;
use quant_core::{
    Error,
    portfolio::constrained::{LinearConstraint, TurnoverLimit},
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

/// Returns the constraints and the limit of turnover of a request; `None` where the request has
/// neither.
pub(super) fn limits(
    constraints: Option<&[Constraint]>,
    current_weights: Option<&Numbers>,
    max_turnover: Option<f64>,
) -> quant_core::Result<Option<(Vec<LinearConstraint>, Option<TurnoverLimit>)>> {
    let missing = |argument, problem| Err(Error::Conflict { argument, problem });
    let turnover = match (current_weights, max_turnover) {
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
        constraints.unwrap_or_default().iter().map(linear).collect();
    let is_limited = turnover.is_some() || !constraints.is_empty();
    Ok(is_limited.then_some((constraints, turnover)))
}
