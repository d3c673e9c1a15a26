//! Dates: tenors, business days, day counts and coupon schedules.
//!
//! | module | content |
//! |---|---|
//! | [`tenor`] | `3M`, `1Y6M`, `-2W`: a length of time added to a date |
//! | [`calendar`] | weekends and holidays, and the adjustment of dates to business days |
//! | [`day_count`] | the fraction of a year between two dates |
//! | [`accrual`] | the length in years of a span, with what its day count needs |
//! | [`period_length`] | `quarterly`, `4`, `3M`: the length of the periods of a schedule |
//! | [`schedule`] | the coupon periods between an issue and a maturity |
//! | [`schedule_rule`] | periods with stubs, roll days and adjusted dates |
//!
//! Dates are [`NaiveDate`]s of the proleptic Gregorian calendar in the years 1 to 9999; others
//! are refused. There are no times of day and no time zones.

use crate::explanation::ErrorStatement;

pub mod accrual;
pub mod calendar;
pub mod day_count;
mod gregorian;
pub mod period_length;
pub mod schedule;
pub mod schedule_rule;
pub mod tenor;

pub use accrual::{Accrual, MeasuredAccrual};
pub use calendar::{BusinessDayConvention, Calendar, JointCalendar};
pub use chrono::NaiveDate;
pub use day_count::{DayCount, Reference};
pub use period_length::PeriodLength;
pub use schedule::{Frequency, Period, Schedule};
pub use schedule_rule::{PeriodKind, RollConvention, ScheduleRule, ScheduledPeriod, Stub};
pub use tenor::Tenor;

pub(crate) use gregorian::{
    add_days, add_months, days_between, has_plain_year, month_end, month_index, require_year,
};

/// States that a date, or a number of days, has no error.
fn dates_are_exact() -> ErrorStatement {
    ErrorStatement::none("every field", "integers of the calendar, without rounding")
}

/// States the rounding of a length in years, as far as it is tested.
fn year_fraction_error(longest: f64) -> ErrorStatement {
    ErrorStatement::rounding_within(
        "year_fraction",
        YEAR_FRACTION_ERROR * longest.abs().max(1.0),
        "largest difference from QuantLib 1.44, in years, and as a part of more than one year",
    )
}

/// The quotient of two integers has half a unit in the last place, and a sum of them a few units.
const YEAR_FRACTION_ERROR: f64 = 4.0 * f64::EPSILON;
