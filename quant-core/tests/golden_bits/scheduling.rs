//! The bits of day counts and of schedules with stubs.

use quant_core::time::{
    Accrual, BusinessDayConvention, DayCount, Frequency, NaiveDate, PeriodLength, RollConvention,
    ScheduleRule, Stub,
};

use crate::lines::Lines;

fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).expect("a date")
}

pub(super) fn lines(lines: &mut Lines) {
    for &day_count in DayCount::ALL {
        let accrual = Accrual {
            start_date: day(2023, 2, 28),
            end_date: day(2028, 2, 29),
            day_count,
            frequency: Frequency::Quarterly,
            regular_period: None,
            maturity_date: None,
            calendar: "US+JPY".parse().expect("calendars"),
        };
        let measured = accrual.measure().expect("a length");
        let values = [measured.year_fraction, measured.days as f64, measured.actual_days as f64];
        lines.add("accrual", day_count, &values);
    }
    for &stub in &Stub::ALL[..4] {
        let rule = ScheduleRule {
            effective_date: day(2026, 1, 29),
            termination_date: day(2028, 8, 31),
            frequency: PeriodLength::Months(6),
            stub,
            roll: RollConvention::EndOfMonth,
            calendar: "TARGET+CHF+CAD+AUD".parse().expect("calendars"),
            convention: BusinessDayConvention::ModifiedFollowing,
            termination_convention: BusinessDayConvention::Unadjusted,
            day_count: DayCount::ActActIcma,
        };
        let periods = rule.periods().expect("periods");
        let values: Vec<f64> =
            periods.iter().flat_map(|period| [period.days as f64, period.year_fraction]).collect();
        lines.add("schedule", stub, &values);
    }
}
