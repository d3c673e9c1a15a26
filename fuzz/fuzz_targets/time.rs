//! Tenors, calendars, day counts and schedules.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quant_core::time::{
    calendar::{BusinessDayConvention, Calendar},
    day_count::{DayCount, Reference},
    schedule::{Frequency, Schedule},
    tenor::Tenor,
};
use quant_fuzz::{Date, check, one};

const CONVENTIONS: [BusinessDayConvention; 5] = [
    BusinessDayConvention::Unadjusted,
    BusinessDayConvention::Following,
    BusinessDayConvention::ModifiedFollowing,
    BusinessDayConvention::Preceding,
    BusinessDayConvention::ModifiedPreceding,
];
const DAY_COUNTS: [DayCount; 8] = [
    DayCount::Thirty360BondBasis,
    DayCount::ThirtyE360,
    DayCount::ThirtyE360Isda,
    DayCount::Act360,
    DayCount::Act365,
    DayCount::ActActIcma,
    DayCount::ActActIsda,
    DayCount::Bus252,
];

fuzz_target!(|drawn: (&str, [Date; 5], [u8; 4], bool)| {
    let (tenor, dates, choices, end_of_month) = drawn;
    let [start, end, period_start, period_end, maturity_date] = dates.map(|date| date.0);
    if let Ok(tenor) = tenor.parse::<Tenor>() {
        check(&tenor.add_to(start));
        assert_eq!(tenor.to_string().parse::<Tenor>(), Ok(tenor), "it is written as it is read");
    }
    let calendar = one(Calendar::ALL, choices[0]);
    let _ = calendar.is_business_day(start);
    check(&calendar.adjust(start, one(&CONVENTIONS, choices[1])));
    check(&calendar.business_days_between(start, end));
    check(&calendar.add_business_days(start, i64::from(choices[1]) - 128));
    let Some(frequency) = Frequency::from_count(u32::from(choices[2] % 13)) else { return };
    let reference = Reference { period_start, period_end, frequency, maturity_date, calendar };
    check(&one(&DAY_COUNTS, choices[3]).year_fraction(start, end, &reference));
    if let Ok(schedule) = Schedule::backward(start, end, frequency, end_of_month) {
        // The first few hundred: a thousand years of months add nothing.
        for period in schedule.take(400) {
            assert!(period.start < period.end, "{period:?}");
        }
    }
});
