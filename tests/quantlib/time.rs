//! Dates against QuantLib: `tests/golden/generate/time.py`.

use quant_core::time::{
    NaiveDate,
    calendar::Calendar,
    day_count::Reference,
    schedule::{Frequency, Schedule},
    tenor::Tenor,
};
use quant_tests::golden::{self, Largest, Row};
use quant_tests::names::{calendar, convention, day_count};

/// The accepted error: half a unit in the last place of a quotient, and the same for QuantLib's own.
const YEAR_FRACTION_TOLERANCE: f64 = 4.0 * f64::EPSILON;

fn frequency(row: &Row) -> Frequency {
    Frequency::from_count(row.get("frequency")).expect("a frequency")
}

#[test]
fn tenors_lead_to_the_dates_of_quantlib() {
    for row in golden::rows("time_tenors", 100) {
        let (start, tenor): (NaiveDate, Tenor) = (row.get("start_date"), row.get("tenor"));
        assert_eq!(tenor.add_to(start), Ok(row.get("result_date")), "{row}");
    }
}

#[test]
fn every_day_of_the_years_is_open_or_closed_as_in_quantlib() {
    for row in golden::rows("time_calendars", 100) {
        let (calendar, year) = (calendar(row.text("calendar")), row.get("year"));
        let first = NaiveDate::from_ymd_opt(year, 1, 1).expect("a year's first day");
        let closed: Vec<String> = first
            .iter_days()
            .take_while(|day| day.to_string().starts_with(&year.to_string()))
            .filter(|&day| Calendar::Weekends.is_business_day(day))
            .filter(|&day| !calendar.is_business_day(day))
            .map(|day| day.to_string()[5..].to_owned())
            .collect();
        assert_eq!(closed.join(" "), row.text("holidays"), "{row}");
    }
}

#[test]
fn dates_move_as_in_quantlib() {
    for row in golden::rows("time_adjustments", 100) {
        let [name, rule, start, adjusted] = row.texts();
        let moved = calendar(name).adjust(row.parse(start), convention(rule));
        assert_eq!(moved, Ok(row.parse(adjusted)), "{row}");
    }
}

#[test]
fn year_fractions_agree_with_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("time_day_counts", 100) {
        let reference = Reference {
            period_start: row.get("period_start"),
            period_end: row.get("period_end"),
            frequency: frequency(&row),
            maturity_date: row.get("maturity_date"),
            calendar: calendar(row.text("calendar")),
        };
        let (start, end) = (row.get("start"), row.get("end"));
        let found = day_count(row.text("day_count")).year_fraction(start, end, &reference);
        let (found, expected): (f64, f64) = (found.expect("a fraction"), row.get("year_fraction"));
        let error = (found - expected).abs() / expected.abs().max(1.0);
        largest.see(&row, error, YEAR_FRACTION_TOLERANCE, &found);
    }
    println!("largest error of a year fraction: {largest}");
}

#[test]
fn schedules_have_the_dates_of_quantlib() {
    for row in golden::rows("time_schedules", 100) {
        let (issue, maturity) = (row.get("issue_date"), row.get("maturity_date"));
        let schedule =
            Schedule::backward(issue, maturity, frequency(&row), row.get("end_of_month"));
        let ends = schedule.expect("a schedule").map(|period| format!(" {}", period.end));
        let found: String = std::iter::once(issue.to_string()).chain(ends).collect();
        assert_eq!(found, row.text("dates"), "{row}");
    }
}
