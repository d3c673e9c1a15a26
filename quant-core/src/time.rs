//! Dates: tenors, business days, day counts and coupon schedules.
//!
//! | module | content |
//! |---|---|
//! | [`tenor`] | `3M`, `1Y6M`, `-2W`: a length of time added to a date |
//! | [`calendar`] | weekends and holidays, and the adjustment of dates to business days |
//! | [`day_count`] | the fraction of a year between two dates |
//! | [`accrual`] | the length in years of a span, with what its day count needs |
//! | [`schedule`] | the coupon periods between an issue and a maturity |
//! | [`schedule_rule`] | periods with stubs, roll days and adjusted dates |
//!
//! Dates are [`NaiveDate`]s of the proleptic Gregorian calendar in the years 1 to 9999; others
//! are refused. There are no times of day and no time zones.

pub mod accrual;
pub mod calendar;
pub mod day_count;
mod gregorian;
pub mod schedule;
pub mod schedule_rule;
pub mod tenor;

pub use accrual::{Accrual, MeasuredAccrual};
pub use calendar::{BusinessDayConvention, Calendar, JointCalendar};
pub use chrono::NaiveDate;
pub use day_count::{DayCount, Reference};
pub use schedule::{Frequency, Period, Schedule};
pub use schedule_rule::{
    PeriodKind, PeriodLength, RollConvention, ScheduleRule, ScheduledPeriod, Stub,
};
pub use tenor::Tenor;

pub(crate) use gregorian::{
    add_days, add_months, days_between, has_plain_year, month_end, month_index, require_year,
};
