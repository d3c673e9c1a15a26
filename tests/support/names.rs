//! The names of conventions in the golden files, which are those of `quant-core`.

use quant_core::time::{
    calendar::{BusinessDayConvention, Calendar},
    day_count::DayCount,
};

/// The calendar of a name.
#[must_use]
pub fn calendar(name: &str) -> Calendar {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The business-day convention of a name.
#[must_use]
pub fn convention(name: &str) -> BusinessDayConvention {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The day count of a name.
#[must_use]
pub fn day_count(name: &str) -> DayCount {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}
