//! Dates: tenors, business days, day counts and coupon schedules.
//!
//! | module | what it holds |
//! |---|---|
//! | [`tenor`] | `3M`, `1Y6M`, `-2W`: a length of time added to a date |
//! | [`calendar`] | weekends and holidays, and where a date moves when it falls on one |
//! | [`day_count`] | the fraction of a year between two dates |
//! | [`schedule`] | the coupon periods between an issue and a maturity |
//!
//! Dates are [`NaiveDate`]s of the proleptic Gregorian calendar in the years 1 to 9999; others
//! are refused. There are no times of day and no time zones.

pub mod calendar;
pub mod day_count;
mod gregorian;
pub mod schedule;
pub mod tenor;

pub use chrono::NaiveDate;

pub(crate) use gregorian::{
    add_days, add_months, days_between, has_plain_year, month_index, require_year,
};
