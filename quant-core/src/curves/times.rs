//! The time axis of a curve: tenors as dates, and dates as tenors.
//!
//! Pillars, payments and queries are all placed by the same rule: a whole month counts a twelfth of a
//! year, and a day of the rest a 365th. The time rises with every date, since the rest of a month has
//! at most 30 days, and 30/365 is less than 1/12.

use crate::{
    Error, Result,
    time::{NaiveDate, Tenor, add_days, add_months, days_between, has_plain_year, month_index},
};

/// Returns the years of whole months and days.
pub(super) fn years(months: i64, days: i64) -> f64 {
    months as f64 / 12.0 + days as f64 / 365.0
}

/// Returns the years from one date to another that is not before it.
pub(super) fn years_until(reference_date: NaiveDate, date: NaiveDate) -> f64 {
    let mut months = month_index(date) - month_index(reference_date);
    let mut whole = months_after(reference_date, months);
    if whole > date {
        months -= 1;
        whole = months_after(reference_date, months);
    }
    years(months, days_between(whole, date))
}

fn months_after(reference_date: NaiveDate, months: i64) -> NaiveDate {
    add_months(reference_date, months).expect("at most a month beyond the year 9999")
}

/// Returns the dates of pillars at these tenors.
pub(super) fn dates(reference_date: NaiveDate, tenors: &[f64]) -> Result<Vec<NaiveDate>> {
    let date = |(index, &tenor): (usize, &f64)| {
        date_of(reference_date, tenor).ok_or(Error::Element {
            argument: "tenors",
            index,
            value: tenor,
            requirement: "short enough for a date in the years 1 to 9999",
        })
    };
    tenors.iter().enumerate().map(date).collect()
}

/// Returns the date whose time is nearest to a positive one, if the year has four digits.
pub(super) fn date_of(reference_date: NaiveDate, tenor: f64) -> Option<NaiveDate> {
    let months = (12.0 * tenor).floor();
    if months > 120_000.0 {
        return None;
    }
    let start = add_months(reference_date, months as i64)?;
    let end = add_months(reference_date, months as i64 + 1)?;
    let rest = tenor - months / 12.0;
    let last = (days_between(start, end) - 1) as f64;
    let days = (365.0 * rest + 0.5).floor().clamp(0.0, last);
    // After the last day of the month the next month may be nearer.
    let is_next_nearer = 1.0 / 12.0 - rest < rest - days / 365.0;
    let date = if is_next_nearer { Some(end) } else { add_days(start, days as i64) };
    date.filter(|&date| has_plain_year(date))
}

/// Returns the months and days whose time is nearest to a number of years; `None` for less than a day
/// and beyond 10,000 years.
pub(super) fn tenor_of(time: f64) -> Option<Tenor> {
    let months = (12.0 * time).floor();
    if !(0.0..120_000.0).contains(&months) {
        return None;
    }
    let rest = time - months / 12.0;
    let days = (365.0 * rest + 0.5).floor();
    let is_next_nearer = 1.0 / 12.0 - rest < (rest - days / 365.0).abs();
    let (months, days) = if is_next_nearer { (months + 1.0, 0.0) } else { (months, days) };
    let is_positive = months > 0.0 || days > 0.0;
    is_positive.then(|| Tenor::of_months_and_days(months as u32, days as u32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_part_of_a_year_becomes_months_and_days() {
        #[rustfmt::skip]
        let rows = [
            ("2024-01-31", 1.0 / 12.0, "2024-02-29"), ("2024-01-31", 0.25, "2024-04-30"),
            ("2024-01-31", 1.0, "2025-01-31"), ("2024-01-31", 30.0, "2054-01-31"),
            ("2024-01-31", 1.0 / 365.0, "2024-02-01"), ("2024-01-31", 7.0 / 365.0, "2024-02-07"),
            ("2024-01-31", 0.5 + 14.0 / 365.0, "2024-08-14"), ("2024-01-31", 1e-9, "2024-01-31"),
            // A month of 29 days, and one of 31, written with six decimals.
            ("2024-01-31", 0.083_333, "2024-02-29"), ("2024-01-15", 0.083_333, "2024-02-15"),
            // The 30th day of a month of 31 is 0.0822, the end of the month 0.0833.
            ("2024-01-15", 0.0825, "2024-02-14"), ("2024-01-15", 0.0829, "2024-02-15"),
        ];
        for (today, tenor, date) in rows {
            let today = today.parse().unwrap();
            assert_eq!(date_of(today, tenor).unwrap().to_string(), date, "{today} {tenor}");
        }
        let today = "2024-01-31".parse().unwrap();
        assert_eq!(date_of(today, 7976.0), None);
        assert_eq!(date_of(today, f64::MAX), None);
    }

    #[test]
    fn a_week_is_as_long_to_its_date_as_in_the_tenor() {
        let today: NaiveDate = "2024-01-15".parse().unwrap();
        for days in 1..=30 {
            let date = add_days(today, days).unwrap();
            assert_eq!(years_until(today, date), days as f64 / 365.0);
        }
        assert_eq!(years_until(today, "2024-02-15".parse().unwrap()), 1.0 / 12.0);
    }

    proptest! {
        #[test]
        fn the_tenor_of_a_date_leads_back_to_it(start in 1_i32..3_600_000, days in 1_i32..40_000) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let (start, end) = (day(start), day(start + days));
            prop_assert_eq!(date_of(start, years_until(start, end)), Some(end));
        }

        #[test]
        fn time_rises_with_every_day(start in 1_i32..3_600_000, days in 0_i32..40_000) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let until = |days| years_until(day(start), day(start + days));
            prop_assert!(until(days) < until(days + 1));
        }
    }
}
