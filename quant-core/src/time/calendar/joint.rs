//! Several calendars together, and further holidays.

use std::{collections::BTreeSet, fmt, str::FromStr};

use chrono::NaiveDate;

use super::{
    business_days::BusinessDays,
    markets::{BusinessDayConvention, Calendar},
};
use crate::{Error, Result};

/// Calendars that are counted together, and holidays beside theirs.
///
/// A day is a business day where it is one in every calendar and none of the holidays: a payment
/// between two markets needs both. Without a calendar every day but a holiday is a business day.
///
/// It is parsed from names joined by `+`, as in `US+UK`, and displayed in the same way; the holidays
/// have no name.
///
/// # Examples
///
/// ```
/// use quant_core::time::{NaiveDate, calendar::{Calendar, JointCalendar}};
///
/// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
/// let mut both: JointCalendar = "US + UK".parse()?;
/// assert_eq!(both.calendars, [Calendar::UnitedStates, Calendar::UnitedKingdom]);
/// // Thanksgiving, and Boxing Day on the Monday after.
/// assert!(!both.is_business_day(date("2026-11-26")) && !both.is_business_day(date("2026-12-28")));
///
/// assert!(both.is_business_day(date("2026-11-27")));
/// both.holidays.insert(date("2026-11-27"));
/// assert_eq!(both.business_days_between(date("2026-11-25"), date("2026-12-01"))?, 2);
/// # Ok::<(), quant_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointCalendar {
    /// The calendars; each of them must be open.
    pub calendars: Vec<Calendar>,
    /// Days that are closed beside those of the calendars.
    pub holidays: BTreeSet<NaiveDate>,
}

impl JointCalendar {
    fn days(&self) -> BusinessDays<'_> {
        BusinessDays { calendars: &self.calendars, holidays: &self.holidays }
    }

    /// Returns whether all markets are open on this date.
    #[must_use]
    pub fn is_business_day(&self, date: NaiveDate) -> bool {
        self.days().is_open(date)
    }

    /// Returns the business day to which the convention moves `date`; itself where it is one.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date that is outside, or would be moved out of, the years 1 to 9999.
    pub fn adjust(&self, date: NaiveDate, convention: BusinessDayConvention) -> Result<NaiveDate> {
        self.days().adjust(date, convention)
    }

    /// Returns the business day that is the `days`-th after `date`, or before `date` for negative
    /// `days`.
    ///
    /// From a date that is no business day the first is the next business day: one business day after
    /// a Saturday is the Monday. For zero days it is the date itself, or the next business day. In
    /// [`Calendar::add_business_days`], which counts the days to a settlement, the count starts on the
    /// next business day.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date that is outside, or would be moved out of, the years 1 to 9999.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::{NaiveDate, calendar::{Calendar, JointCalendar}};
    ///
    /// let target = JointCalendar::from(Calendar::Target);
    /// let saturday: NaiveDate = "2026-11-21".parse().unwrap();
    /// assert_eq!(target.advance(saturday, 1)?.to_string(), "2026-11-23");
    /// assert_eq!(target.advance(saturday, -1)?.to_string(), "2026-11-20");
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn advance(&self, date: NaiveDate, days: i64) -> Result<NaiveDate> {
        self.days().advance(date, days)
    }

    /// Returns the number of business days from `start`, itself included, to `end`, excluded.
    ///
    /// Where `end` comes first it is minus the number from `end` to `start`.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date outside the years 1 to 9999.
    pub fn business_days_between(&self, start: NaiveDate, end: NaiveDate) -> Result<i64> {
        self.days().between(start, end)
    }

    /// Returns the number of business days between two dates that are in order.
    pub(crate) fn count_business_days(&self, start: NaiveDate, end: NaiveDate) -> i64 {
        self.days().count(start, end)
    }

    /// Returns whether every day but the holidays is a business day.
    pub(crate) fn is_always_open(&self) -> bool {
        self.calendars.iter().all(|&calendar| calendar == Calendar::None)
    }
}

impl From<Calendar> for JointCalendar {
    fn from(calendar: Calendar) -> Self {
        Self { calendars: vec![calendar], holidays: BTreeSet::new() }
    }
}

impl FromStr for JointCalendar {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut joint = Self::default();
        for name in text.split('+') {
            let calendar = name.parse()?;
            if !joint.calendars.contains(&calendar) {
                joint.calendars.push(calendar);
            }
        }
        Ok(joint)
    }
}

impl fmt::Display for JointCalendar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, calendar) in self.calendars.iter().enumerate() {
            let plus = if index == 0 { "" } else { "+" };
            write!(formatter, "{plus}{calendar}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn day(n: i32) -> NaiveDate {
        NaiveDate::from_num_days_from_ce_opt(n).unwrap()
    }

    #[test]
    fn names_are_joined_in_any_spelling() {
        for (text, name) in [
            ("target", "TARGET"),
            ("us+uk", "US+UK"),
            (" London + new_york_stock_exchange", "UK+NYSE"),
            ("UK+GBP+uk", "UK"),
            ("eur+chf+jpy+cad+aud", "TARGET+CHF+JPY+CAD+AUD"),
            ("Weekends-Only", "weekends"),
        ] {
            assert_eq!(text.parse::<JointCalendar>().unwrap().to_string(), name, "{text}");
        }
        for text in ["", "+", "US+", "US,UK", "Mars"] {
            let error = text.parse::<JointCalendar>().unwrap_err();
            assert_eq!((error.code(), error.argument()), ("text", Some("calendar")), "{text}");
        }
    }

    #[test]
    fn weekends_are_closed_where_one_of_the_calendars_closes_them() {
        let saturday = date("2026-11-21");
        let mut open: JointCalendar = "none".parse().unwrap();
        assert!(open.is_business_day(saturday) && open.is_always_open());
        open.holidays.insert(saturday);
        assert!(!open.is_business_day(saturday));
        assert_eq!(open.business_days_between(date("2026-11-20"), date("2026-11-27")), Ok(6));
        let both: JointCalendar = "none+weekends".parse().unwrap();
        assert!(!both.is_business_day(saturday) && !both.is_always_open());
        assert!(JointCalendar::default().is_business_day(saturday));
    }

    #[test]
    fn a_calendar_without_a_business_day_left_is_refused() {
        let holidays = (0..30).map(|n| day(3_652_059 - n)).collect();
        let closed = JointCalendar { calendars: vec![Calendar::None], holidays };
        let last = date("9999-12-31");
        assert!(closed.adjust(last, BusinessDayConvention::Following).is_err());
        assert!(closed.advance(last, 1).is_err());
        assert_eq!(closed.advance(last, -1), Ok(date("9999-12-01")));
    }

    #[test]
    fn thousands_of_years_of_business_days_are_added_at_once() {
        for calendar in [Calendar::None, Calendar::Weekends, Calendar::Target] {
            let joint = JointCalendar::from(calendar);
            let (first, last) = (date("7000-01-10"), date("9999-12-20"));
            let days = joint.business_days_between(first, last).unwrap();
            let start = joint.advance(first, 0).unwrap();
            let end = joint.advance(start, days).unwrap();
            assert_eq!(joint.business_days_between(start, end), Ok(days), "{calendar}");
            assert_eq!(joint.advance(end, -days), Ok(start), "{calendar}");
            assert!(
                joint.advance(first, 3_652_060).is_err() && joint.advance(first, i64::MIN).is_err()
            );
        }
    }

    proptest! {
        #[test]
        fn days_are_those_counted_one_by_one(
            start in 600_000_i32..830_000, length in 0_i32..1200, which in prop::array::uniform2(0_usize..12),
            further in prop::collection::btree_set(0_i32..1200, 0..40),
        ) {
            let holidays = further.into_iter().map(|n| day(start + n)).collect();
            let joint = JointCalendar { calendars: which.map(|at| Calendar::ALL[at]).to_vec(), holidays };
            let open: Vec<i32> = (start..start + length).filter(|&n| joint.is_business_day(day(n))).collect();
            prop_assert_eq!(joint.business_days_between(day(start), day(start + length)), Ok(open.len() as i64));
            for (index, &n) in open.iter().enumerate().skip(1).step_by(97) {
                prop_assert_eq!(joint.advance(day(open[0]), index as i64), Ok(day(n)));
                prop_assert_eq!(joint.advance(day(n), -(index as i64)), Ok(day(open[0])));
            }
        }
    }
}
