//! Checks of the arguments and the results of public functions.

use crate::arithmetic::without_negative_zero;
use crate::{Error, Result};

/// Refuses an argument that is infinite or NaN.
pub(crate) fn finite(argument: &'static str, value: f64) -> Result<()> {
    require(value.is_finite(), argument, value, "a finite number")
}

/// The largest size of an annual rate that is quoted by a market: 2 is 200 %.
pub(crate) const MAX_ANNUAL_RATE: f64 = 2.0;

/// The accepted values of an annual rate, for the text of an error.
pub(crate) const ANNUAL_RATE: &str =
    "between -2 and 2: no market quotes a rate beyond 200 % a year, and 5 % is written 0.05";

/// Returns whether a number may be an annual rate, and is not a percentage by mistake.
pub(crate) fn is_annual_rate(value: f64) -> bool {
    value.abs() <= MAX_ANNUAL_RATE
}

/// Refuses NaN and a number too large for an annual rate, as is a percentage for a decimal.
pub(crate) fn annual_rate(argument: &'static str, value: f64) -> Result<()> {
    require(is_annual_rate(value), argument, value, ANNUAL_RATE)
}

/// Refuses any value but a finite number above zero.
pub(crate) fn positive(argument: &'static str, value: f64) -> Result<()> {
    require(value.is_finite() && value > 0.0, argument, value, "a positive finite number")
}

/// Refuses any value but a finite number of zero or more.
pub(crate) fn not_negative(argument: &'static str, value: f64) -> Result<()> {
    require(value.is_finite() && value >= 0.0, argument, value, "zero or a positive finite number")
}

/// Refuses `value` of `argument` with the text `requirement`, unless the condition holds.
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
