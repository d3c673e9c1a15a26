//! Dates: tenors, business days, day counts and coupon schedules.
//!
//! | module | content |
//! |---|---|
//! | [`tenor`] | `3M`, `1Y6M`, `-2W`: a length of time added to a date |
//! | [`calendar`] | weekends and holidays, and the adjustment of dates to business days |
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

pub use calendar::{BusinessDayConvention, Calendar};
pub use chrono::NaiveDate;
pub use day_count::{DayCount, Reference};
pub use schedule::{Frequency, Period, Schedule};
pub use tenor::Tenor;

pub(crate) use gregorian::{
    add_days, add_months, days_between, has_plain_year, month_end, month_index, require_year,
};
