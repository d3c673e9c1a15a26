//! Tenors as dates, and dates as tenors.

use crate::{
    Error, Result,
    time::{NaiveDate, add_days, add_months, days_between, has_plain_year, month_index},
};

/// The dates of pillars at these tenors.
pub(super) fn dates(reference_date: NaiveDate, tenors: &[f64]) -> Result<Vec<NaiveDate>> {
    let date = |(index, &tenor): (usize, &f64)| {
        date_after(reference_date, tenor).ok_or(Error::Element {
            argument: "tenors",
            index,
            value: tenor,
            requirement: "short enough for a date in the years 1 to 9999",
        })
    };
    tenors.iter().enumerate().map(date).collect()
}

/// The date a positive number of years later, if it has a year of four digits.
fn date_after(reference_date: NaiveDate, tenor: f64) -> Option<NaiveDate> {
    let months = (12.0 * tenor).floor();
    if months > 120_000.0 {
        return None;
    }
    let start = add_months(reference_date, months as i64)?;
    let end = add_months(reference_date, months as i64 + 1)?;
    let part = 12.0 * tenor - months;
    // The part is below 1 and the days are at most 31.
    let days = (part * days_between(start, end) as f64 + 0.5).floor() as i64;
    add_days(start, days).filter(|&date| has_plain_year(date))
}

/// The years from one date to a later one; [`date_after`] turns them into the date again.
pub(super) fn years_until(reference_date: NaiveDate, date: NaiveDate) -> f64 {
    let months_later =
        |months| add_months(reference_date, months).expect("at most a month beyond the year 9999");
    let apart = month_index(date) - month_index(reference_date);
    let months = if months_later(apart) > date { apart - 1 } else { apart };
    let (start, end) = (months_later(months), months_later(months + 1));
    (months as f64 + days_between(start, date) as f64 / days_between(start, end) as f64) / 12.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_part_of_a_year_becomes_months_and_a_part_of_a_month() {
        let today: NaiveDate = "2024-01-31".parse().unwrap();
        #[rustfmt::skip]
        let rows = [
            (1.0 / 12.0, "2024-02-29"), (0.25, "2024-04-30"), (1.0, "2025-01-31"), (30.0, "2054-01-31"),
            (1.0 / 365.0, "2024-02-01"), (7.0 / 365.0, "2024-02-07"), (0.5 + 14.0 / 365.0, "2024-08-14"),
            (0.083333, "2024-02-29"), (1e-9, "2024-01-31"),
        ];
        for (tenor, date) in rows {
            assert_eq!(date_after(today, tenor).unwrap().to_string(), date, "{tenor}");
        }
        assert_eq!(date_after(today, 7976.0), None);
        assert_eq!(date_after(today, f64::MAX), None);
    }

    proptest! {
        #[test]
        fn the_tenor_of_a_date_leads_back_to_it(start in 1_i32..3_600_000, days in 0_i32..40_000) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let (start, end) = (day(start), day(start + days));
            prop_assume!(days > 0);
            prop_assert_eq!(date_after(start, years_until(start, end)), Some(end));
        }
    }
}
