//! Schedules: the coupon periods between an issue and a maturity.

use std::iter::FusedIterator;

use chrono::{Datelike, NaiveDate};

use super::gregorian;
use crate::named::named;
use crate::{Error, Result};

/// The number of coupons in a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frequency {
    /// One period a year.
    Annual,
    /// Two periods a year, of six months.
    Semiannual,
    /// Three periods a year, of four months.
    EveryFourthMonth,
    /// Four periods a year, of three months.
    Quarterly,
    /// Six periods a year, of two months.
    Bimonthly,
    /// Twelve periods a year, of one month.
    Monthly,
}

named!(
    Frequency,
    "frequency",
    Annual = "annual",
    Semiannual = "semiannual",
    EveryFourthMonth = "every_fourth_month",
    Quarterly = "quarterly",
    Bimonthly = "bimonthly",
    Monthly = "monthly"
);

impl Frequency {
    /// The frequency with this many payments a year: 1, 2, 3, 4, 6 or 12.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::schedule::Frequency;
    ///
    /// assert_eq!(Frequency::from_count(2), Some(Frequency::Semiannual));
    /// assert_eq!(Frequency::from_count(5), None);
    /// ```
    #[must_use]
    pub fn from_count(count: u32) -> Option<Self> {
        match count {
            1 => Some(Self::Annual),
            2 => Some(Self::Semiannual),
            3 => Some(Self::EveryFourthMonth),
            4 => Some(Self::Quarterly),
            6 => Some(Self::Bimonthly),
            12 => Some(Self::Monthly),
            _ => None,
        }
    }

    /// Returns the number of payments a year: 1, 2, 3, 4, 6 or 12.
    #[must_use]
    pub fn count(self) -> u32 {
        match self {
            Self::Annual => 1,
            Self::Semiannual => 2,
            Self::EveryFourthMonth => 3,
            Self::Quarterly => 4,
            Self::Bimonthly => 6,
            Self::Monthly => 12,
        }
    }

    /// Months from one payment to the next.
    pub(crate) fn months(self) -> i64 {
        i64::from(12 / self.count())
    }
}

/// One coupon period, from one coupon date to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Period {
    /// The first day of the period.
    pub start: NaiveDate,
    /// The day after its last: the coupon date, and the first day of the next period.
    pub end: NaiveDate,
    /// Start of a period of full length with the same end; earlier than `start` in a
    /// short first period only, and there possibly before the year 1.
    pub regular_start: NaiveDate,
    /// End of a period of full length with the same start; later than `end` in a short last
    /// period only, and there possibly after the year 9999.
    pub regular_end: NaiveDate,
}

/// The coupon periods between two dates, in order of time.
///
/// [Backward](Self::backward) coupon dates are counted from the maturity: the k-th from the end lies k periods of
/// `12 / frequency` months before it, on the same day of the month, clipped to the month's end.
/// Each is counted from the maturity itself, so that a clipped date clips no other. What is left
/// at the front is a short first period. With `end_of_month`, and a maturity at the end of its
/// month, every coupon date is the end of its month; with another maturity it changes nothing.
/// [Forward](Self::forward) ones are counted from the issue by the same rules, and what is left is
/// a short last period. No date is moved for weekends or holidays.
///
/// # Examples
///
/// ```
/// use quant_core::time::{NaiveDate, schedule::{Frequency, Schedule}};
///
/// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
/// let schedule =
///     Schedule::backward(date("2025-11-01"), date("2027-02-28"), Frequency::Semiannual, true)?;
/// let ends: Vec<String> = schedule.map(|period| period.end.to_string()).collect();
/// assert_eq!(ends, ["2026-02-28", "2026-08-31", "2027-02-28"]);
/// # Ok::<(), quant_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Schedule {
    /// The month of the last regular coupon date, and the day for which every coupon date asks.
    last_month: i64,
    day: u32,
    months: i64,
    /// The end of the last period.
    maturity_date: NaiveDate,
    /// The number of periods that the iterator has still to return.
    remaining: i64,
    /// The first day of the next period.
    start: NaiveDate,
    /// Start of a period of full length with the same end as the next period.
    regular_start: NaiveDate,
}

impl Schedule {
    /// Lays out the periods from `issue_date` to `maturity_date`, as [above](Schedule).
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date outside the years 1 to 9999, or a `maturity_date` that is not
    /// after the `issue_date`.
    pub fn backward(
        issue_date: NaiveDate,
        maturity_date: NaiveDate,
        frequency: Frequency,
        end_of_month: bool,
    ) -> Result<Self> {
        require_order(issue_date, maturity_date)?;
        let last_month = gregorian::month_index(maturity_date);
        let months = frequency.months();
        let whole = (last_month - gregorian::month_index(issue_date)) / months;
        let mut schedule = Self {
            last_month,
            day: day_of_coupons(maturity_date, end_of_month),
            months,
            maturity_date,
            remaining: whole,
            start: issue_date,
            regular_start: issue_date,
        };
        if schedule.coupon_date(whole) > issue_date {
            schedule.remaining += 1;
        }
        schedule.regular_start = schedule.coupon_date(schedule.remaining);
        Ok(schedule)
    }

    /// Lays out the periods from `issue_date` to `maturity_date`, counted from the issue, as
    /// [above](Schedule).
    ///
    /// # Errors
    ///
    /// Those of [`backward`](Self::backward).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::{NaiveDate, schedule::{Frequency, Schedule}};
    ///
    /// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// let schedule =
    ///     Schedule::forward(date("2025-11-01"), date("2026-06-01"), Frequency::Semiannual, false)?;
    /// let ends: Vec<String> = schedule.map(|period| period.end.to_string()).collect();
    /// assert_eq!(ends, ["2026-05-01", "2026-06-01"]);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn forward(
        issue_date: NaiveDate,
        maturity_date: NaiveDate,
        frequency: Frequency,
        end_of_month: bool,
    ) -> Result<Self> {
        require_order(issue_date, maturity_date)?;
        let first_month = gregorian::month_index(issue_date);
        let months = frequency.months();
        let whole = (gregorian::month_index(maturity_date) - first_month) / months;
        let mut schedule = Self {
            last_month: first_month + whole * months,
            day: day_of_coupons(issue_date, end_of_month),
            months,
            maturity_date,
            remaining: whole,
            start: issue_date,
            regular_start: issue_date,
        };
        if schedule.coupon_date(0) < maturity_date {
            schedule.last_month += months;
            schedule.remaining += 1;
        }
        Ok(schedule)
    }

    /// The coupon date with `periods` periods between it and the last regular one.
    fn coupon_date(&self, periods: i64) -> NaiveDate {
        gregorian::date_in_month(self.last_month - periods * self.months, self.day)
            .expect("a coupon date is at most one period before the year 1 or after the year 9999")
    }
}

/// Refuses dates outside the years 1 to 9999, and a maturity that is not after the issue.
fn require_order(issue_date: NaiveDate, maturity_date: NaiveDate) -> Result<()> {
    gregorian::require_year("issue_date", issue_date)?;
    gregorian::require_year("maturity_date", maturity_date)?;
    if maturity_date > issue_date {
        return Ok(());
    }
    Err(Error::Date {
        argument: "maturity_date",
        value: maturity_date,
        requirement: "after the issue date",
    })
}

/// Returns the day of the month for which coupon dates ask that are counted from `anchor`.
fn day_of_coupons(anchor: NaiveDate, end_of_month: bool) -> u32 {
    // Asking for the 31st of every month and clipping gives its end.
    if end_of_month && gregorian::is_month_end(anchor) { 31 } else { anchor.day() }
}

impl Iterator for Schedule {
    type Item = Period;

    fn next(&mut self) -> Option<Period> {
        if self.remaining == 0 {
            return None;
        }
        self.remaining -= 1;
        let regular_end = self.coupon_date(self.remaining);
        let (start, regular_start) = (self.start, self.regular_start);
        let end = regular_end.min(self.maturity_date);
        (self.start, self.regular_start) = (end, end);
        let period = Period { start, end, regular_start, regular_end };
        Some(period)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = usize::try_from(self.remaining).unwrap_or(usize::MAX);
        (remaining, Some(remaining))
    }
}

impl ExactSizeIterator for Schedule {}

impl FusedIterator for Schedule {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    /// The dates of a schedule, the first being the issue, joined by spaces.
    fn dates(issue: &str, maturity: &str, count: u32, end_of_month: bool) -> String {
        let frequency = Frequency::from_count(count).unwrap();
        let schedule = Schedule::backward(date(issue), date(maturity), frequency, end_of_month);
        let ends = schedule.unwrap().map(|period| format!(" {}", period.end));
        std::iter::once(issue.to_owned()).chain(ends).collect()
    }

    #[test]
    fn coupon_dates_are_counted_back_from_the_maturity() {
        #[rustfmt::skip]
        let rows = [
            ("2024-01-15", "2025-01-15", 2, false, "2024-01-15 2024-07-15 2025-01-15"),
            // A short first period.
            ("2024-03-01", "2025-01-15", 2, false, "2024-03-01 2024-07-15 2025-01-15"),
            ("2024-07-14", "2025-01-15", 2, false, "2024-07-14 2024-07-15 2025-01-15"),
            ("2025-01-14", "2025-01-15", 1, false, "2025-01-14 2025-01-15"),
            // February clips the 30th, and the months after it are on the 30th again.
            ("2023-11-30", "2024-08-30", 4, false, "2023-11-30 2024-02-29 2024-05-30 2024-08-30"),
            // The issue lies on the clipped date: no stub.
            ("2024-02-29", "2024-08-31", 2, false, "2024-02-29 2024-08-31"),
            // Without end_of_month the 28th of February leads to the 28th.
            ("2024-08-28", "2026-02-28", 2, false, "2024-08-28 2025-02-28 2025-08-28 2026-02-28"),
            ("2024-08-31", "2026-02-28", 2, true, "2024-08-31 2025-02-28 2025-08-31 2026-02-28"),
            // end_of_month says nothing of a maturity within its month.
            ("2024-10-30", "2025-04-29", 4, true, "2024-10-30 2025-01-29 2025-04-29"),
            ("0001-01-01", "0001-03-15", 12, false, "0001-01-01 0001-01-15 0001-02-15 0001-03-15"),
        ];
        for (issue, maturity, count, end_of_month, expected) in rows {
            assert_eq!(dates(issue, maturity, count, end_of_month), expected);
        }
    }

    #[test]
    fn coupon_dates_are_counted_from_the_issue_too() {
        #[rustfmt::skip]
        let rows = [
            ("2024-01-15", "2025-01-15", 2, false, "2024-07-15 2025-01-15"),
            // A short last period.
            ("2024-01-15", "2025-03-01", 2, false, "2024-07-15 2025-01-15 2025-03-01"),
            ("2024-01-15", "2024-01-16", 1, false, "2024-01-16"),
            ("2024-01-31", "2024-08-15", 4, false, "2024-04-30 2024-07-31 2024-08-15"),
            // The maturity lies on the clipped date: no stub.
            ("2024-08-31", "2025-02-28", 2, false, "2025-02-28"),
            ("2024-02-29", "2025-08-31", 2, true,  "2024-08-31 2025-02-28 2025-08-31"),
            ("9999-01-15", "9999-12-31", 2, false, "9999-07-15 9999-12-31"),
        ];
        for (issue, maturity, count, end_of_month, expected) in rows {
            let frequency = Frequency::from_count(count).unwrap();
            let schedule = Schedule::forward(date(issue), date(maturity), frequency, end_of_month);
            let periods: Vec<Period> = schedule.unwrap().collect();
            let ends: Vec<String> = periods.iter().map(|period| period.end.to_string()).collect();
            assert_eq!(ends.join(" "), expected);
            for period in &periods[..periods.len() - 1] {
                assert_eq!((period.regular_start, period.regular_end), (period.start, period.end));
            }
            assert!(periods[periods.len() - 1].regular_end >= date(maturity));
        }
    }

    #[test]
    fn only_a_short_first_period_has_an_earlier_regular_start() {
        let periods: Vec<Period> = Schedule::backward(
            date("2024-03-01"),
            date("2025-01-15"),
            Frequency::Semiannual,
            false,
        )
        .unwrap()
        .collect();
        assert_eq!(periods[0].regular_start, date("2024-01-15"));
        assert_eq!(periods[1].regular_start, periods[1].start);
    }

    #[test]
    fn a_maturity_not_after_the_issue_is_refused() {
        for maturity in ["2024-01-15", "2024-01-14"] {
            let error =
                Schedule::backward(date("2024-01-15"), date(maturity), Frequency::Annual, false);
            assert_eq!(error.unwrap_err().argument(), Some("maturity_date"));
        }
        let error = Schedule::backward(NaiveDate::MIN, NaiveDate::MAX, Frequency::Monthly, false);
        assert_eq!(error.unwrap_err().argument(), Some("issue_date"));
    }

    #[test]
    fn a_count_that_divides_a_year_into_months_is_a_frequency() {
        for count in 0..=13 {
            let frequency = Frequency::from_count(count);
            assert_eq!(frequency.is_some(), [1, 2, 3, 4, 6, 12].contains(&count), "{count}");
            assert!(frequency.is_none_or(|frequency| frequency.count() == count));
        }
    }

    proptest! {
        #[test]
        fn periods_join_from_issue_to_maturity(
            issue in 1_i32..3_600_000, length in 1_i32..20_000, which in 0_usize..6, end_of_month: bool,
        ) {
            let count = [1, 2, 3, 4, 6, 12][which];
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let (issue, maturity) = (day(issue), day(issue + length));
            let frequency = Frequency::from_count(count).unwrap();
            let schedule = Schedule::backward(issue, maturity, frequency, end_of_month).unwrap();
            let expected = schedule.len();
            let periods: Vec<Period> = schedule.collect();
            prop_assert_eq!(periods.len(), expected);
            prop_assert_eq!(periods[0].start, issue);
            prop_assert_eq!(periods.last().unwrap().end, maturity);
            prop_assert!(periods.windows(2).all(|pair| pair[0].end == pair[1].start));
            for period in periods {
                prop_assert!(period.regular_start <= period.start && period.start < period.end);
            }
        }
    }
}
