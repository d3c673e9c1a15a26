//! Time value of money: payments discounted at a rate, the rates of a price, and loans.
//!
//! | module | content |
//! |---|---|
//! | [`net_present_value`](mod@net_present_value) | present values of payments at one rate |
//! | [`internal_rate`] | every internal rate of return of payments, by times or by dates |
//! | [`z_spread`](mod@z_spread) | the spread over zero rates at which payments have a price |
//! | [`loan`] | a loan in equal payments, as a table in whole cents |
//!
//! Rates are annual decimals (0.05 is 5 %), compounded once a period unless stated. Times count periods:
//! years, where the rate is annual. Payments have any sign; what is paid out is negative.

pub mod internal_rate;
pub mod loan;
pub mod net_present_value;
mod roots;
pub mod z_spread;

pub use internal_rate::{
    InternalRates, dated_internal_rates, explain_dated_internal_rates, explain_internal_rates,
    internal_rates,
};
pub use loan::{AmortizationTable, Installment, Loan};
pub use net_present_value::{NetPresentValue, explain_net_present_value, net_present_value};
pub use z_spread::{ZSpread, explain_z_spread, z_spread};

use crate::{Error, Result, check};

/// The largest size of a time, in periods.
const MAX_TIME: f64 = 1e6;

/// Refuses payments that are not finite, and times of another number, not finite or too far away.
fn require_payments(cashflows: &[f64], times: Option<&[f64]>) -> Result<()> {
    if cashflows.is_empty() {
        return Err(Error::TooFew { argument: "cashflows", needed: 1, found: 0 });
    }
    check::each("cashflows", cashflows, "a finite number", f64::is_finite)?;
    let Some(times) = times else { return Ok(()) };
    check::length("times", times.len(), cashflows.len())?;
    let requirement = "a number of periods from -1,000,000 to 1,000,000";
    check::each("times", times, requirement, |time| time.abs() <= MAX_TIME)
}

/// Returns the number that is nearest to another, the first of two at the same distance; `None` of none.
fn nearest(numbers: &[f64], to: f64) -> Option<f64> {
    let distance = |number: &f64| (number - to).abs();
    numbers.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Returns the times of payments: those given, or else 0, 1, 2 and so on.
fn times_of<'a>(
    cashflows: &[f64],
    times: Option<&'a [f64]>,
) -> impl Iterator<Item = f64> + use<'a> {
    let numbers = 0..cashflows.len();
    numbers.map(move |number| times.map_or(number as f64, |times| times[number]))
}
