//! The names of conventions in the golden files.

use quant_core::time::{
    calendar::{BusinessDayConvention, Calendar},
    day_count::DayCount,
};

/// The calendar of a name.
#[must_use]
pub fn calendar(name: &str) -> Calendar {
    match name {
        "weekends" => Calendar::Weekends,
        "target" => Calendar::Target,
        "us" => Calendar::UnitedStates,
        "fedwire" => Calendar::Fedwire,
        "sifma" => Calendar::Sifma,
        "nyse" => Calendar::Nyse,
        "uk" => Calendar::UnitedKingdom,
        other => panic!("calendar {other}"),
    }
}

/// The business-day convention of a name.
#[must_use]
pub fn convention(name: &str) -> BusinessDayConvention {
    match name {
        "unadjusted" => BusinessDayConvention::Unadjusted,
        "following" => BusinessDayConvention::Following,
        "modified_following" => BusinessDayConvention::ModifiedFollowing,
        "preceding" => BusinessDayConvention::Preceding,
        "modified_preceding" => BusinessDayConvention::ModifiedPreceding,
        other => panic!("convention {other}"),
    }
}

/// The day count of a name.
#[must_use]
pub fn day_count(name: &str) -> DayCount {
    match name {
        "30/360" => DayCount::Thirty360BondBasis,
        "30E/360" => DayCount::ThirtyE360,
        "30E/360 ISDA" => DayCount::ThirtyE360Isda,
        "ACT/360" => DayCount::Act360,
        "ACT/365" => DayCount::Act365,
        "ACT/ACT ICMA" => DayCount::ActActIcma,
        "ACT/ACT ISDA" => DayCount::ActActIsda,
        "BUS/252" => DayCount::Bus252,
        other => panic!("day count {other}"),
    }
}
