//! Dates against QuantLib: `tests/golden/generate/time.py`.

use quant_core::time::{
    NaiveDate,
    calendar::{BusinessDayConvention, Calendar},
    day_count::{DayCount, Reference},
    schedule::{Frequency, Schedule},
    tenor::Tenor,
};

/// Half a unit in the last place of a quotient, and as much for QuantLib's own rounding.
const YEAR_FRACTION_TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// The rows of a golden file, taken apart at the commas.
fn rows<const N: usize>(name: &str) -> Vec<[String; N]> {
    let path = format!("{}/golden/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a golden file");
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<[String; N]> =
        text.lines().skip(2).map(|line| fields(line).try_into().expect("fields")).collect();
    assert!(rows.len() >= 100, "{name} has {} rows", rows.len());
    rows
}

fn date(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

fn calendar(name: &str) -> Calendar {
    match name {
        "weekends" => Calendar::Weekends,
        "target" => Calendar::Target,
        "us" => Calendar::UnitedStates,
        "uk" => Calendar::UnitedKingdom,
        other => panic!("calendar {other}"),
    }
}

fn convention(name: &str) -> BusinessDayConvention {
    match name {
        "unadjusted" => BusinessDayConvention::Unadjusted,
        "following" => BusinessDayConvention::Following,
        "modified_following" => BusinessDayConvention::ModifiedFollowing,
        "preceding" => BusinessDayConvention::Preceding,
        "modified_preceding" => BusinessDayConvention::ModifiedPreceding,
        other => panic!("convention {other}"),
    }
}

fn day_count(name: &str) -> DayCount {
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

fn frequency(count: &str) -> Frequency {
    Frequency::from_count(count.parse().expect("a count")).expect("a frequency")
}

#[test]
fn tenors_lead_to_the_dates_of_quantlib() {
    for [start, tenor, result] in rows("time_tenors") {
        let tenor: Tenor = tenor.parse().expect("a tenor");
        assert_eq!(tenor.add_to(date(&start)), Ok(date(&result)), "{start} + {tenor}");
    }
}

#[test]
fn every_day_of_the_years_is_open_or_closed_as_in_quantlib() {
    for [name, year, holidays] in rows("time_calendars") {
        let year: i32 = year.parse().expect("a year");
        let first = NaiveDate::from_ymd_opt(year, 1, 1).expect("a year's first day");
        let closed: Vec<String> = first
            .iter_days()
            .take_while(|day| day.to_string().starts_with(&year.to_string()))
            .filter(|&day| Calendar::Weekends.is_business_day(day))
            .filter(|&day| !calendar(&name).is_business_day(day))
            .map(|day| day.to_string()[5..].to_owned())
            .collect();
        assert_eq!(closed.join(" "), holidays, "{name} {year}");
    }
}

#[test]
fn dates_move_as_in_quantlib() {
    for [name, rule, start, adjusted] in rows("time_adjustments") {
        let moved = calendar(&name).adjust(date(&start), convention(&rule));
        assert_eq!(moved, Ok(date(&adjusted)), "{name} {rule} {start}");
    }
}

#[test]
fn year_fractions_agree_with_quantlib() {
    let mut largest: f64 = 0.0;
    for row in rows("time_day_counts") {
        let [kind, start, end, period_start, period_end, count, maturity, name, expected] = &row;
        let reference = Reference {
            period_start: date(period_start),
            period_end: date(period_end),
            frequency: frequency(count),
            maturity_date: date(maturity),
            calendar: calendar(name),
        };
        let found = day_count(kind).year_fraction(date(start), date(end), &reference);
        let expected: f64 = expected.parse().expect("a number");
        let error = (found.expect("a fraction") - expected).abs() / expected.abs().max(1.0);
        assert!(error <= YEAR_FRACTION_TOLERANCE, "{row:?}: {error:e}");
        largest = largest.max(error);
    }
    println!("largest error of a year fraction: {largest:e}");
}

#[test]
fn schedules_have_the_dates_of_quantlib() {
    for [issue, maturity, count, end_of_month, dates] in rows("time_schedules") {
        let sticky = end_of_month == "true";
        let schedule = Schedule::backward(date(&issue), date(&maturity), frequency(&count), sticky);
        let ends = schedule.expect("a schedule").map(|period| format!(" {}", period.end));
        let found: String = std::iter::once(issue.clone()).chain(ends).collect();
        assert_eq!(found, dates, "{issue} {maturity} {count} {end_of_month}");
    }
}
