//! The bounds on the weights.

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

/// Refuses bounds whose sum fails by more than their own rounding.
fn refuse_sum(
    argument: &'static str,
    bounds: &[f64],
    fails: impl Fn(f64) -> bool,
    how: &str,
) -> Result<()> {
    if !sums_to_one(bounds) && bounds.iter().all(|bound| bound.is_finite()) {
        let total = sum(bounds.iter().copied());
        if fails(total) {
            let problem = format!("their sum is {total}, {how}");
            return Err(Error::Infeasible { argument, index: None, problem });
        }
    }
    Ok(())
}

/// Returns whether bounds sum to 1 within the rounding of each bound.
fn sums_to_one(bounds: &[f64]) -> bool {
    let size: f64 = bounds.iter().map(|bound| bound.abs()).sum();
    size.is_finite() && (sum(bounds.iter().copied()) - 1.0).abs() <= f64::EPSILON * (size + 1.0)
}

/// Returns the portfolio that the bounds determine, if they allow only one.
pub(in crate::portfolio) fn only_portfolio(lower: &[f64], upper: &[f64]) -> Option<Vec<f64>> {
    [lower, upper].into_iter().find(|bounds| sums_to_one(bounds)).map(<[f64]>::to_vec)
}
