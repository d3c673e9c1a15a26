//! Checks of the arguments and the results of public functions.

use crate::arithmetic::without_negative_zero;
use crate::{Error, Result};

/// Refuses infinities and NaN.
pub(crate) fn finite(argument: &'static str, value: f64) -> Result<()> {
    require(value.is_finite(), argument, value, "a finite number")
}

/// Refuses any value but a finite number above zero.
pub(crate) fn positive(argument: &'static str, value: f64) -> Result<()> {
    require(value.is_finite() && value > 0.0, argument, value, "a positive finite number")
}

/// Refuses any value but a finite number of zero or more.
pub(crate) fn not_negative(argument: &'static str, value: f64) -> Result<()> {
    require(value.is_finite() && value >= 0.0, argument, value, "zero or a positive finite number")
}

/// Refuses `value` with `requirement` unless it holds.
pub(crate) fn require(
    holds: bool,
    argument: &'static str,
    value: f64,
    requirement: &'static str,
) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Domain { argument, value, requirement }) }
}

/// Refuses `series` at its first element for which `holds` is false.
pub(crate) fn each(
    argument: &'static str,
    series: &[f64],
    requirement: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Result<()> {
    match series.iter().position(|&value| !holds(value)) {
        None => Ok(()),
        Some(index) => Err(Error::Element { argument, index, value: series[index], requirement }),
    }
}

/// Refuses a series that does not have `expected` elements.
pub(crate) fn length(argument: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Shape { argument, expected, found }) }
}

/// Returns a finite result with −0 made 0; refuses any other as an overflow.
pub(crate) fn result(argument: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() {
        Ok(without_negative_zero(value))
    } else {
        Err(Error::Overflow { argument })
    }
}
