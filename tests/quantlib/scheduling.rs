//! Business days, day counts and schedules against QuantLib: `tests/golden/generate/scheduling.py`.

use quant_core::time::{
    Accrual, BusinessDayConvention, DayCount, Frequency, JointCalendar, NaiveDate, PeriodLength,
    RollConvention, ScheduleRule, Stub,
};
use quant_tests::golden::{self, Largest};

/// The accepted error: half a unit in the last place of a quotient, and the same for QuantLib's own.
const YEAR_FRACTION_TOLERANCE: f64 = 4.0 * f64::EPSILON;

#[test]
fn business_days_are_added_and_counted_as_in_quantlib() {
    for row in golden::rows("scheduling_business_days", 300) {
        let (calendar, start): (JointCalendar, NaiveDate) = (row.get("calendar"), row.get("start"));
        let (end, days): (NaiveDate, i64) = (row.get("end"), row.get("days"));
        assert_eq!(calendar.is_business_day(start), row.get::<bool>("is_business_day"), "{row}");
        assert_eq!(calendar.advance(start, days), Ok(end), "{row}");
        assert_eq!(calendar.business_days_between(start, end), Ok(row.get("between")), "{row}");
        let (first, last) = (start.min(end), start.max(end));
        let inclusive = calendar.business_days_between(first, last).expect("days")
            + i64::from(calendar.is_business_day(last));
        let sign = if end < start { -1 } else { 1 };
        assert_eq!(sign * inclusive, row.get::<i64>("inclusive"), "{row}");
    }
}

#[test]
fn the_later_day_counts_agree_with_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("scheduling_day_counts", 360) {
        let accrual = Accrual {
            start_date: row.get("start"),
            end_date: row.get("end"),
            day_count: row.get("day_count"),
            frequency: Frequency::from_count(row.get("frequency")).expect("a frequency"),
            regular_period: None,
            maturity_date: None,
            calendar: JointCalendar::default(),
        };
        let measured = accrual.measure().expect("a length");
        let expected: f64 = row.get("year_fraction");
        let error = (measured.year_fraction - expected).abs() / expected.abs().max(1.0);
        largest.see(&row, error, YEAR_FRACTION_TOLERANCE, &measured);
        if accrual.day_count != DayCount::ActActAfb {
            assert_eq!(measured.days, row.get::<i64>("days"), "{row}");
        }
    }
    println!("largest error of a year fraction: {largest}");
}

#[test]
fn schedules_with_stubs_have_the_dates_of_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("scheduling_schedules", 200) {
        let rule = ScheduleRule {
            effective_date: row.get("effective_date"),
            termination_date: row.get("termination_date"),
            frequency: row.get::<PeriodLength>("frequency"),
            stub: row.get::<Stub>("stub"),
            roll: row.get::<RollConvention>("roll"),
            calendar: row.get("calendar"),
            convention: row.get::<BusinessDayConvention>("convention"),
            termination_convention: row.get("termination_convention"),
            day_count: row.get("day_count"),
        };
        let periods = rule.periods().expect("periods");
        let ends = periods.iter().map(|period| format!(" {}", period.end));
        let found: String = std::iter::once(periods[0].start.to_string()).chain(ends).collect();
        assert_eq!(found, row.text("dates"), "{row}");
        let expected: Vec<f64> = row.list(row.text("year_fractions"));
        for (period, expected) in periods.iter().zip(expected) {
            let error = (period.year_fraction - expected).abs();
            largest.see(&row, error, YEAR_FRACTION_TOLERANCE, period);
        }
    }
    println!("largest error of a year fraction: {largest}");
}
