//! The pillars of a curve: their order, and the interval before each of them.

use crate::{Error, Result, check};

/// Returns the time and the exponent of the pillar before a given one; both are zero, those of the
/// reference date, before the first.
pub(super) fn pillar_before(times: &[f64], exponents: &[f64], index: usize) -> (f64, f64) {
    if index == 0 { (0.0, 0.0) } else { (times[index - 1], exponents[index - 1]) }
}

/// Refuses a series that is empty, or at its first element that is not positive or not above the
/// one before.
pub(super) fn require_increasing(argument: &'static str, tenors: &[f64]) -> Result<()> {
    if tenors.is_empty() {
        return Err(Error::TooFew { argument, needed: 1, found: 0 });
    }
    check::each(argument, tenors, "a positive finite number of years", |tenor| {
        tenor.is_finite() && tenor > 0.0
    })?;
    match tenors.windows(2).position(|pair| pair[1] <= pair[0]) {
        None => Ok(()),
        Some(before) => Err(Error::Element {
            argument,
            index: before + 1,
            value: tenors[before + 1],
            requirement: "longer than the one before",
        }),
    }
}
