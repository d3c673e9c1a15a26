//! Business days, day counts and schedules against QuantLib: `tests/golden/generate/scheduling.py`.

use chrono::Datelike;
use quant_core::time::{
    Accrual, BusinessDayConvention, Calendar, DayCount, Frequency, JointCalendar, NaiveDate,
    PeriodLength, RollConvention, ScheduleRule, Stub, Tenor,
};
use quant_tests::golden::{self, Largest, Row, Statements};
use quant_tests::names::calendar;

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

fn accrual(row: &Row) -> Accrual {
    Accrual {
        start_date: row.get("start"),
        end_date: row.get("end"),
        day_count: row.get("day_count"),
        frequency: Frequency::from_count(row.get("frequency")).expect("a frequency"),
        regular_period: None,
        maturity_date: None,
        calendar: JointCalendar::default(),
    }
}

#[test]
fn the_later_day_counts_agree_with_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("scheduling_day_counts", 360) {
        let accrual = accrual(&row);
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

fn schedule(row: &Row) -> ScheduleRule {
    ScheduleRule {
        effective_date: row.get("effective_date"),
        termination_date: row.get("termination_date"),
        frequency: row.get::<PeriodLength>("frequency"),
        stub: row.get::<Stub>("stub"),
        roll: row.get::<RollConvention>("roll"),
        calendar: row.get("calendar"),
        convention: row.get::<BusinessDayConvention>("convention"),
        termination_convention: row.get("termination_convention"),
        day_count: row.get("day_count"),
    }
}

#[test]
fn schedules_with_stubs_have_the_dates_of_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("scheduling_schedules", 200) {
        let periods = schedule(&row).periods().expect("periods");
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

/// The day as a number, so that a date compares with another.
fn number(date: NaiveDate) -> f64 {
    f64::from(date.num_days_from_ce())
}

#[test]
fn the_stated_errors_of_dates_bound_their_errors() {
    let [mut tenors, mut adjustments] = [(); 2].map(|()| Statements::default());
    for row in golden::rows("time_tenors", 100) {
        let (start, tenor): (NaiveDate, Tenor) = (row.get("start_date"), row.get("tenor"));
        let stated = tenor.explain_add_to(start).expect("an explanation").error;
        let found = tenor.add_to(start).expect("a date");
        tenors.see(&row, &stated, number(found), number(row.get("result_date")));
    }
    for row in golden::rows("time_adjustments", 100) {
        let [name, rule, start, expected] = row.texts();
        let calendar: JointCalendar = row.parse(name);
        let (rule, start) = (row.parse::<BusinessDayConvention>(rule), row.parse(start));
        let stated = calendar.explain_adjust(start, rule).expect("an explanation").error;
        let found = calendar.adjust(start, rule).expect("a date");
        adjustments.see(&row, &stated, number(found), number(row.parse(expected)));
    }
    tenors.hold(100);
    adjustments.hold(100);
}

#[test]
fn the_stated_errors_of_business_days_bound_their_errors() {
    let [mut advances, mut counts, mut days_open] = [(); 3].map(|()| Statements::default());
    for row in golden::rows("scheduling_business_days", 300) {
        let (calendar, start): (JointCalendar, NaiveDate) = (row.get("calendar"), row.get("start"));
        let (end, days): (NaiveDate, i64) = (row.get("end"), row.get("days"));
        let stated = calendar.explain_advance(start, days).expect("an explanation").error;
        let found = calendar.advance(start, days).expect("a date");
        advances.see(&row, &stated, number(found), number(end));
        let explanation = calendar.explain_business_days_between(start, end);
        let stated = explanation.expect("an explanation").error;
        let found = calendar.business_days_between(start, end).expect("days");
        counts.see(&row, &stated, found as f64, row.get("between"));
        let stated = calendar.explain_is_business_day().error;
        let [found, expected] = [calendar.is_business_day(start), row.get("is_business_day")];
        days_open.see(&row, &stated, f64::from(found), f64::from(expected));
    }
    for statements in [advances, counts, days_open] {
        statements.hold(300);
    }
}

#[test]
fn the_stated_errors_of_year_fractions_bound_their_errors() {
    let [mut spans, mut schedules] = [(); 2].map(|()| Statements::default());
    for row in golden::rows("scheduling_day_counts", 360) {
        let accrual = accrual(&row);
        let stated = accrual.explain().expect("an explanation").error;
        let found = accrual.measure().expect("a length").year_fraction;
        spans.see(&row, &stated, found, row.get("year_fraction"));
    }
    for row in golden::rows("scheduling_schedules", 200) {
        let rule = schedule(&row);
        let stated = rule.explain().expect("an explanation").error;
        let expected: Vec<f64> = row.list(row.text("year_fractions"));
        for (period, expected) in rule.periods().expect("periods").iter().zip(expected) {
            schedules.see(&row, &stated, period.year_fraction, expected);
        }
    }
    spans.hold(360);
    schedules.hold(200);
}

/// Lists state that they have no error: every name with rows of QuantLib is listed once.
#[test]
fn the_stated_errors_of_the_lists_bound_their_errors() {
    let [mut calendars, mut day_counts] = [(); 2].map(|()| Statements::default());
    let stated = Calendar::explain_all().error;
    for row in golden::rows("time_calendars", 800) {
        let named = calendar(row.text("calendar"));
        let found = Calendar::ALL.iter().filter(|listed| **listed == named).count();
        calendars.see(&row, &stated, found as f64, 1.0);
    }
    let stated = DayCount::explain_all().error;
    for row in golden::rows("scheduling_day_counts", 360) {
        let named: DayCount = row.get("day_count");
        let found = DayCount::ALL.iter().filter(|listed| **listed == named).count();
        day_counts.see(&row, &stated, found as f64, 1.0);
    }
    calendars.hold(800);
    day_counts.hold(360);
}
