//! Tenors, calendars, day counts and schedules.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quant_core::time::{
    Accrual, PeriodLength, RollConvention, ScheduleRule, Stub,
    calendar::{BusinessDayConvention, Calendar, JointCalendar},
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

type Drawn<'a> = (&'a str, [Date; 5], [u8; 4], bool, [u8; 5], i64, u16);

fuzz_target!(|drawn: Drawn| {
    let (tenor, dates, choices, end_of_month, further, days, step) = drawn;
    let [start, end, period_start, period_end, maturity_date] = dates.map(|date| date.0);
    if let Ok(tenor) = tenor.parse::<Tenor>() {
        check(&tenor.add_to(start));
        check(&tenor.explain_add_to(start));
        assert_eq!(tenor.to_string().parse::<Tenor>(), Ok(tenor), "it is written as it is read");
    }
    let calendar = one(Calendar::ALL, choices[0]);
    let _ = calendar.is_business_day(start);
    check(&calendar.adjust(start, one(&CONVENTIONS, choices[1])));
    check(&calendar.business_days_between(start, end));
    check(&calendar.add_business_days(start, i64::from(choices[1]) - 128));
    let joint = JointCalendar {
        calendars: vec![calendar, one(Calendar::ALL, further[0])],
        holidays: [period_start, period_end, maturity_date].into_iter().collect(),
    };
    check(&joint.advance(start, days));
    check(&joint.explain_advance(start, days));
    check(&joint.advance(start, days % 3_652_059));
    check(&joint.adjust(start, one(&CONVENTIONS, choices[1])));
    check(&joint.explain_adjust(start, one(&CONVENTIONS, choices[1])));
    check(&joint.business_days_between(start, end));
    check(&joint.explain_business_days_between(start, end));
    let length = match further[1] % 3 {
        0 => PeriodLength::Months(u32::from(step)),
        1 => PeriodLength::Days(u32::from(step)),
        _ => tenor.parse().unwrap_or(PeriodLength::Whole),
    };
    let rule = ScheduleRule {
        effective_date: start,
        termination_date: end,
        frequency: length,
        stub: one(Stub::ALL, further[2]),
        roll: one(RollConvention::ALL, further[3]),
        calendar: joint.clone(),
        convention: one(&CONVENTIONS, choices[1]),
        termination_convention: one(&CONVENTIONS, further[4]),
        day_count: one(DayCount::ALL, choices[3]),
    };
    let periods = rule.periods();
    check(&periods);
    check(&rule.explain());
    for period in periods.iter().flatten() {
        assert!(period.start < period.end, "{period:?}");
    }
    let Some(frequency) = Frequency::from_count(u32::from(choices[2] % 13)) else { return };
    let reference = Reference { period_start, period_end, frequency, maturity_date, calendar };
    check(&one(DayCount::ALL, choices[3]).year_fraction(start, end, &reference));
    let accrual = Accrual {
        start_date: start,
        end_date: end,
        day_count: one(DayCount::ALL, choices[3]),
        frequency,
        regular_period: end_of_month.then_some((period_start, period_end)),
        maturity_date: Some(maturity_date),
        calendar: joint,
    };
    check(&accrual.measure());
    check(&accrual.explain());
    if let Ok(schedule) = Schedule::backward(start, end, frequency, end_of_month) {
        // The first few hundred: a thousand years of months add nothing.
        for period in schedule.take(400) {
            assert!(period.start < period.end, "{period:?}");
        }
    }
});
