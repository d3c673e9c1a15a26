//! The arithmetic of business days, for one calendar and for several together.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};

use super::{
    markets::{BusinessDayConvention, Calendar},
    year_days::YearDays,
};
use crate::time::gregorian;
use crate::{Error, Result};

/// The calendars and the further holidays by which business days are counted. A day is a business day
/// where it is one in every calendar and none of the holidays.
#[derive(Clone, Copy)]
pub(super) struct BusinessDays<'a> {
    pub(super) calendars: &'a [Calendar],
    pub(super) holidays: &'a BTreeSet<NaiveDate>,
}

/// The business days of the years 1 to 9999 are fewer, where every day is one.
const MOST_BUSINESS_DAYS: u64 = 3_652_059;

/// A count up to which days are walked one by one, since a year has no more.
const DAYS_OF_A_YEAR: i64 = 366;

impl<'a> BusinessDays<'a> {
    /// Returns the business days of some calendars.
    pub(super) fn of(calendars: &'a [Calendar]) -> Self {
        static NONE: BTreeSet<NaiveDate> = BTreeSet::new();
        Self { calendars, holidays: &NONE }
    }

    pub(super) fn is_open(self, date: NaiveDate) -> bool {
        self.is_open_in_calendars(date) && !self.holidays.contains(&date)
    }

    fn is_open_in_calendars(self, date: NaiveDate) -> bool {
        self.calendars.iter().all(|calendar| calendar.is_open_on(date))
    }

    /// Moves a date to a business day by the convention.
    pub(super) fn adjust(
        self,
        date: NaiveDate,
        convention: BusinessDayConvention,
    ) -> Result<NaiveDate> {
        gregorian::require_year("date", date)?;
        let (step, within_month) = match convention {
            BusinessDayConvention::Unadjusted => return Ok(date),
            BusinessDayConvention::Following => (1, false),
            BusinessDayConvention::ModifiedFollowing => (1, true),
            BusinessDayConvention::Preceding => (-1, false),
            BusinessDayConvention::ModifiedPreceding => (-1, true),
        };
        if self.is_open(date) {
            return Ok(date);
        }
        let mut moved = self.seek(date, step);
        if within_month && moved.is_none_or(|moved| moved.month() != date.month()) {
            moved = self.seek(date, -step);
        }
        in_range(date, moved)
    }

    /// Adds business days, counted from the next business day where `date` is none; from the one before
    /// for negative `days`.
    pub(super) fn add(self, date: NaiveDate, days: i64) -> Result<NaiveDate> {
        gregorian::require_year("date", date)?;
        let step = if days < 0 { -1 } else { 1 };
        let first = if self.is_open(date) { Some(date) } else { self.seek(date, step) };
        in_range(date, first.and_then(|first| self.walk(first, days)))
    }

    /// Returns the business day with so many business days after `date` up to itself, or before `date`
    /// for negative `days`; for zero days the date itself, or the next business day where it is none.
    pub(super) fn advance(self, date: NaiveDate, days: i64) -> Result<NaiveDate> {
        if days == 0 {
            return self.add(date, 0);
        }
        gregorian::require_year("date", date)?;
        in_range(date, self.walk(date, days))
    }

    /// Returns the number of business days from `start`, itself included, to `end`, excluded; negative
    /// where `end` comes first.
    pub(super) fn between(self, start: NaiveDate, end: NaiveDate) -> Result<i64> {
        gregorian::require_year("start", start)?;
        gregorian::require_year("end", end)?;
        let in_order = end >= start;
        Ok(if in_order { self.count(start, end) } else { -self.count(end, start) })
    }

    /// The number of business days between two dates that are in order.
    pub(super) fn count(self, start: NaiveDate, end: NaiveDate) -> i64 {
        let has_weekends = self.calendars.iter().any(|&calendar| calendar != Calendar::None);
        let open = if has_weekends {
            weekdays_between(start, end) - self.holidays_between(start, end)
        } else {
            gregorian::days_between(start, end)
        };
        let further = self.holidays.range(start..end);
        open - further.filter(|&&date| self.is_open_in_calendars(date)).count() as i64
    }

    /// The number of holidays of the calendars from Monday to Friday between two dates in order.
    fn holidays_between(self, start: NaiveDate, end: NaiveDate) -> i64 {
        let in_year = |year| {
            let mut closed = YearDays::NONE;
            for calendar in self.calendars {
                closed.add(calendar.holidays(year));
            }
            let from = if year == start.year() { start.ordinal0() } else { 0 };
            let to = if year == end.year() { end.ordinal0() } else { 366 };
            closed.count(from, to)
        };
        (start.year()..=end.year()).map(in_year).sum()
    }

    /// Returns the `days`-th business day after `date`, or before it for negative `days`; `None` beyond
    /// the years 1 to 9999. Whole years are counted at once.
    fn walk(self, mut date: NaiveDate, days: i64) -> Option<NaiveDate> {
        if days.unsigned_abs() > MOST_BUSINESS_DAYS {
            return None;
        }
        let (step, mut left) = (days.signum(), days.abs());
        while left > DAYS_OF_A_YEAR {
            let year = gregorian::add_days(date, step)?.year();
            if !(1..=9999).contains(&year) {
                return None;
            }
            let first = NaiveDate::from_yo_opt(year, 1)?;
            if step > 0 {
                let next = NaiveDate::from_yo_opt(year + 1, 1)?;
                left -= self.count(gregorian::add_days(date, 1)?, next);
                date = gregorian::add_days(next, -1)?;
            } else {
                left -= self.count(first, date);
                date = first;
            }
        }
        (0..left).try_fold(date, |date, _| self.seek(date, step))
    }

    /// Returns the first business day after `date` for a `step` of 1, or before `date` for a `step`
    /// of −1; `None` beyond the years 1 to 9999.
    pub(super) fn seek(self, date: NaiveDate, step: i64) -> Option<NaiveDate> {
        let mut date = gregorian::add_days(date, step)?;
        while !self.is_open(date) && gregorian::has_plain_year(date) {
            date = gregorian::add_days(date, step)?;
        }
        Some(date).filter(|&date| gregorian::has_plain_year(date))
    }
}

/// Returns the date to which `date` was moved, or the refusal where there is none.
fn in_range(date: NaiveDate, moved: Option<NaiveDate>) -> Result<NaiveDate> {
    moved.ok_or(Error::Date {
        argument: "date",
        value: date,
        requirement: "a date whose business day is in the years 1 to 9999",
    })
}

/// The weekdays from one date, itself included, to a later one, excluded.
fn weekdays_between(start: NaiveDate, end: NaiveDate) -> i64 {
    // The first of January of the year 1, day 1, was a Monday.
    let before = |date: NaiveDate| {
        let days = i64::from(date.num_days_from_ce()) - 1;
        5 * days.div_euclid(7) + days.rem_euclid(7).min(5)
    };
    before(end) - before(start)
}
