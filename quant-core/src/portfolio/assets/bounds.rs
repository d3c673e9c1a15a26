//! The bounds on the weights of a portfolio: their defaults and checks.

use crate::arithmetic::without_negative_zero;
use crate::portfolio::symmetric::sum;
use crate::{Error, Result, check};

/// Returns the bounds, infinite where there is none; refuses bounds that no portfolio meets.
pub(super) fn bounds(
    size: usize,
    min_weights: Option<&[f64]>,
    max_weights: Option<&[f64]>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let read = |argument, bounds: Option<&[f64]>, none: f64| {
        let Some(bounds) = bounds else { return Ok(vec![none; size]) };
        check::length(argument, bounds.len(), size)?;
        check::each(argument, bounds, "a finite number", |bound| {
            bound.is_finite() || bound == none
        })?;
        Ok(bounds.iter().map(|&bound| without_negative_zero(bound)).collect())
    };
    let lower: Vec<f64> = read("min_weights", min_weights, f64::NEG_INFINITY)?;
    let upper: Vec<f64> = read("max_weights", max_weights, f64::INFINITY)?;
    for (index, (low, high)) in lower.iter().zip(&upper).enumerate() {
        if low > high {
            let problem =
                format!("element {index} is {low}, but `max_weights` allows at most {high}");
            return Err(Error::Infeasible { argument: "min_weights", index: Some(index), problem });
        }
    }
    refuse_sum("min_weights", &lower, |least| least > 1.0, "more than 1")?;
    refuse_sum("max_weights", &upper, |most| most < 1.0, "less than 1")?;
    Ok((lower, upper))
}

/// The distance from 1 by which a sum of bounds may fail, times the sum of their sizes and 1.
///
/// Bounds are written with 15 digits or so: nine caps of 0.111111111111111 are meant to sum to 1 and fall
/// short by 1e-15, a thousand such caps by 5e-13.
const FEASIBILITY: f64 = 1e-12;

/// Refuses bounds whose sum fails by more than the tolerance.
fn refuse_sum(
    argument: &'static str,
    bounds: &[f64],
    fails: impl Fn(f64) -> bool,
    how: &str,
) -> Result<()> {
    if bounds.iter().all(|bound| bound.is_finite()) {
        let excess = excess(bounds);
        if excess.abs() > tolerance(bounds, FEASIBILITY) && fails(1.0 + excess) {
            let total = sum(bounds.iter().copied());
            let problem = format!("their sum is {total}, {how}");
            return Err(Error::Infeasible { argument, index: None, problem });
        }
    }
    Ok(())
}

/// Returns the sum of bounds less 1; NaN or infinite where a bound is infinite.
fn excess(bounds: &[f64]) -> f64 {
    sum(bounds.iter().copied()) - 1.0
}

/// Returns this part of the sum of the sizes of the bounds and 1.
fn tolerance(bounds: &[f64], part: f64) -> f64 {
    part * (bounds.iter().map(|bound| bound.abs()).sum::<f64>() + 1.0)
}

/// Returns the portfolio that the bounds determine, if they allow only one.
///
/// It is that of the lower bounds where these reach 1, and that of the upper ones where these do not
/// exceed 1, each within the rounding of the bounds. Bounds that fail within the tolerance are met as
/// they are written.
pub(in crate::portfolio) fn only_portfolio(lower: &[f64], upper: &[f64]) -> Option<Vec<f64>> {
    let is_only = |bounds: &[f64], missing: f64| {
        bounds.iter().all(|bound| bound.is_finite()) && missing <= tolerance(bounds, f64::EPSILON)
    };
    if is_only(lower, -excess(lower)) {
        Some(lower.to_vec())
    } else if is_only(upper, excess(upper)) {
        Some(upper.to_vec())
    } else {
        None
    }
}
