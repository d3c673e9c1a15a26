//! The arithmetic of the calendar: months, month ends, and the years that dates may have.

use chrono::{Datelike, NaiveDate};

use crate::{Error, Result};

/// Refuses a date outside the years 1 to 9999.
pub(crate) fn require_year(argument: &'static str, date: NaiveDate) -> Result<()> {
    if has_plain_year(date) {
        Ok(())
    } else {
        Err(Error::Date { argument, value: date, requirement: "a date in the years 1 to 9999" })
    }
}

/// Returns whether ISO 8601 writes the date's year in four digits and without a sign.
pub(crate) fn has_plain_year(date: NaiveDate) -> bool {
    (1..=9999).contains(&date.year())
}

/// Returns the days from `start` to `end`; negative where `end` comes first.
pub(crate) fn days_between(start: NaiveDate, end: NaiveDate) -> i64 {
    i64::from(end.num_days_from_ce()) - i64::from(start.num_days_from_ce())
}

/// Moves a date by days; `None` where no such date can be represented.
pub(crate) fn add_days(date: NaiveDate, days: i64) -> Option<NaiveDate> {
    if days == 0 {
        return Some(date);
    }
    let day = i64::from(date.num_days_from_ce()).checked_add(days)?;
    NaiveDate::from_num_days_from_ce_opt(i32::try_from(day).ok()?)
}

/// Moves a date by months, the day clipped to the month's end; `None` where no such date can be
/// represented.
pub(crate) fn add_months(date: NaiveDate, months: i64) -> Option<NaiveDate> {
    if months == 0 {
        return Some(date);
    }
    date_in_month(month_index(date).checked_add(months)?, date.day())
}

/// Returns the months since January of the year 0.
pub(crate) fn month_index(date: NaiveDate) -> i64 {
    12 * i64::from(date.year()) + i64::from(date.month0())
}

/// Returns the date on `day` of the month with this index, or the month's last where it is shorter.
pub(crate) fn date_in_month(index: i64, day: u32) -> Option<NaiveDate> {
    let year = i32::try_from(index.div_euclid(12)).ok()?;
    let month = index.rem_euclid(12) as u32 + 1;
    NaiveDate::from_ymd_opt(year, month, day.min(days_in_month(year, month)))
}

/// Returns whether the date is the last of its month.
pub(crate) fn is_month_end(date: NaiveDate) -> bool {
    date.day() == days_in_month(date.year(), date.month())
}

/// Returns the last date of the month.
pub(crate) fn month_end(date: NaiveDate) -> NaiveDate {
    date.with_day(days_in_month(date.year(), date.month())).expect("a month has its last day")
}

/// Returns the number of days of a month, 1 being January.
pub(crate) fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns whether the year has a 29 February.
pub(crate) fn is_leap_year(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}
