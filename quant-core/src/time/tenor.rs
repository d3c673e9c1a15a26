//! Tenors: a length of time such as `3M` or `1Y6M`, to be added to a date.
//!
//! A tenor counts calendar days, not business days, and has no end-of-month rule:
//! 28 February and one month is 28 March.

use std::{fmt, str::FromStr};

use chrono::{Datelike, NaiveDate};

use super::{dates_are_exact, gregorian};
use crate::explanation::{Explanation, Method};
use crate::{Error, Result};

const SYNTAX: &str =
    "counts and units of D, W, M or Y with an optional sign in front, as in 3M, 1Y6M or -2W";

/// A length of time in years, months, weeks and days, forwards or backwards.
///
/// A tenor is parsed from pairs of a count and a unit (`D`, `W`, `M`, `Y`, of any case) in any order,
/// with an optional sign in front of all pairs. Repeated units are added. Spaces are refused, as are
/// a unit without a count and a count beyond 4,294,967,295.
///
/// A tenor is displayed in capitals, the largest unit first, with a sign only if negative.
///
/// # Examples
///
/// ```
/// use quant_core::time::tenor::Tenor;
///
/// let tenor: Tenor = "6m1y".parse()?;
/// assert_eq!(tenor.to_string(), "1Y6M");
/// assert_eq!("-3m".parse::<Tenor>()?.to_string(), "-3M");
/// assert!("M3".parse::<Tenor>().is_err());
/// # Ok::<(), quant_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Tenor {
    negative: bool,
    // A unit that was not written is `None`, so that `0M` is written again as `0M`.
    years: Option<u32>,
    months: Option<u32>,
    weeks: Option<u32>,
    days: Option<u32>,
}

impl Tenor {
    /// Returns the date that lies this tenor after (or, where negative, before) `start_date`.
    ///
    /// Years and months are added first, together as one number of months, and where the month
    /// so reached is too short the day becomes its last; then weeks and days are added together
    /// as days. So 31 January and `1M1D` is the day after the last of February.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a `start_date`, [`Error::Text`] for a `tenor` that leads to a date,
    /// outside the years 1 to 9999.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::{NaiveDate, tenor::Tenor};
    ///
    /// let date: NaiveDate = "2024-01-31".parse().unwrap();
    /// let add = |tenor: &str| tenor.parse::<Tenor>()?.add_to(date);
    /// assert_eq!(add("1M")?.to_string(), "2024-02-29");
    /// assert_eq!(add("1M1D")?.to_string(), "2024-03-01");
    /// assert_eq!(add("-11M")?.to_string(), "2023-02-28");
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn add_to(&self, start_date: NaiveDate) -> Result<NaiveDate> {
        gregorian::require_year("start_date", start_date)?;
        // Both steps go the same way, so a sum in range was never out of it in between.
        gregorian::add_months(start_date, self.total_months())
            .and_then(|date| gregorian::add_days(date, self.total_days()))
            .filter(|&date| gregorian::has_plain_year(date))
            .ok_or_else(|| self.refusal("a tenor that leads to a date in the years 1 to 9999"))
    }

    /// Explains [`add_to`](Self::add_to).
    ///
    /// # Errors
    ///
    /// The errors of [`add_to`](Self::add_to).
    pub fn explain_add_to(&self, start_date: NaiveDate) -> Result<Explanation> {
        self.add_to(start_date)?;
        let method = Method::new(
            "Calendar arithmetic by months, then by days",
            "ISO (2019), ISO 8601-1, the proleptic Gregorian calendar",
        );
        let of_months = gregorian::add_months(start_date, self.total_months());
        let is_clipped = of_months.is_some_and(|date| date.day() != start_date.day());
        let clipped = "The day of the start was clipped to the last day of a shorter month.";
        let conventions = [
            "Years and months are added first, together; weeks and days are added after them.",
            "A day that the month reached does not have becomes the last day of that month.",
            "The end of a month is not kept: 28 February and 1M is 28 March.",
            "A tenor counts calendar days, and holidays play no part in the addition.",
        ];
        Ok(Explanation::new(method, dates_are_exact())
            .with_conventions(conventions)
            .with_conventions(is_clipped.then_some(clipped)))
    }

    /// Returns the tenor of so many months and days; parts of zero are left out, unless both are.
    pub(crate) fn of_months_and_days(months: u32, days: u32) -> Self {
        let part = |count: u32| (count > 0).then_some(count);
        let days = if months == 0 { Some(days) } else { part(days) };
        Self { negative: false, years: None, months: part(months), weeks: None, days }
    }

    /// Years and months as months, with the sign.
    pub(crate) fn total_months(&self) -> i64 {
        self.sign() * (12 * count(self.years) + count(self.months))
    }

    /// Weeks and days as days, with the sign.
    pub(crate) fn total_days(&self) -> i64 {
        self.sign() * (7 * count(self.weeks) + count(self.days))
    }

    fn sign(&self) -> i64 {
        if self.negative { -1 } else { 1 }
    }

    fn refusal(&self, requirement: &'static str) -> Error {
        Error::Text { argument: "tenor", value: self.to_string(), requirement }
    }
}

impl FromStr for Tenor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text).ok_or_else(|| Error::Text {
            argument: "tenor",
            value: text.to_owned(),
            requirement: SYNTAX,
        })
    }
}

impl TryFrom<String> for Tenor {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Tenor> for String {
    fn from(tenor: Tenor) -> Self {
        tenor.to_string()
    }
}

impl fmt::Display for Tenor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            f.write_str("-")?;
        }
        let parts = [(self.years, 'Y'), (self.months, 'M'), (self.weeks, 'W'), (self.days, 'D')];
        for (count, unit) in parts {
            if let Some(count) = count {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

fn count(count: Option<u32>) -> i64 {
    count.map_or(0, i64::from)
}

/// Reads a tenor; `None` where the text is none.
fn parse(text: &str) -> Option<Tenor> {
    let (negative, parts) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let mut tenor = Tenor { negative, years: None, months: None, weeks: None, days: None };
    let mut written = None;
    for &byte in parts {
        if byte.is_ascii_digit() {
            written = Some(append(written.unwrap_or(0), byte)?);
        } else {
            let total = tenor.unit(byte)?;
            *total = Some(total.unwrap_or(0).checked_add(written.take()?)?);
        }
    }
    // A count without a unit at the end is as wrong as no text at all.
    (written.is_none() && !parts.is_empty()).then_some(tenor)
}

impl Tenor {
    fn unit(&mut self, letter: u8) -> Option<&mut Option<u32>> {
        match letter.to_ascii_uppercase() {
            b'Y' => Some(&mut self.years),
            b'M' => Some(&mut self.months),
            b'W' => Some(&mut self.weeks),
            b'D' => Some(&mut self.days),
            _ => None,
        }
    }
}

fn append(count: u32, digit: u8) -> Option<u32> {
    count.checked_mul(10)?.checked_add(u32::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn tenor(text: &str) -> Tenor {
        text.parse().unwrap()
    }

    #[test]
    fn units_of_any_case_in_any_order_are_written_in_capitals() {
        #[rustfmt::skip]
        let rows = [
            ("3m", "3M"), ("+3M", "3M"), ("-3M", "-3M"), ("1y6m", "1Y6M"), ("6M1Y", "1Y6M"),
            ("2W3d", "2W3D"), ("1M1M", "2M"), ("0M", "0M"), ("0d", "0D"), ("007D", "7D"),
            ("-1Y2M3W4D", "-1Y2M3W4D"), ("4294967295D", "4294967295D"),
        ];
        for (text, written) in rows {
            assert_eq!(tenor(text).to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_tenor_is_refused_by_name() {
        #[rustfmt::skip]
        let texts = [
            "", "-", "+", "M", "3", "M3", "3X", "1Y-6M", "--3M", "-+3M", "3 M", " 3M", "3M ", "1.5Y",
            "1Y6", "３M", "3\u{fe4f}", "4294967296D", "4294967295D1D", "99999999999999999999Y", "1B",
        ];
        for text in texts {
            let error = text.parse::<Tenor>().unwrap_err();
            assert_eq!((error.code(), error.argument()), ("text", Some("tenor")), "{text}");
        }
    }

    #[test]
    fn the_day_is_clipped_to_the_end_of_the_month() {
        #[rustfmt::skip]
        let rows = [
            ("2023-01-31", "1M", "2023-02-28"), ("2024-01-31", "1M", "2024-02-29"),
            ("2024-02-29", "1Y", "2025-02-28"), ("2024-02-29", "4Y", "2028-02-29"),
            ("2024-02-29", "-1Y", "2023-02-28"), ("1896-02-29", "4Y", "1900-02-28"),
            ("2024-02-28", "1M", "2024-03-28"), ("2023-02-28", "1M", "2023-03-28"),
            ("2024-03-31", "-1M", "2024-02-29"), ("2024-10-31", "13M", "2025-11-30"),
            // Months first, then days: were the day clipped last, this would be 29 February.
            ("2024-01-31", "1M1D", "2024-03-01"), ("2024-03-31", "-1M1D", "2024-02-28"),
            // Years and months as one: 29 February plus a year and then a month would be 28 March.
            ("2024-02-29", "1Y1M", "2025-03-29"),
            ("2024-12-31", "1W", "2025-01-07"), ("2024-06-30", "0D", "2024-06-30"),
        ];
        for (start, text, end) in rows {
            assert_eq!(tenor(text).add_to(date(start)), Ok(date(end)), "{start} + {text}");
        }
    }

    #[test]
    fn the_years_one_and_9999_are_reached_and_not_left() {
        assert_eq!(tenor("9998Y").add_to(date("0001-12-31")), Ok(date("9999-12-31")));
        assert_eq!(tenor("-3652058D").add_to(date("9999-12-31")), Ok(date("0001-01-01")));
        for text in ["1D", "1M", "4294967295Y4294967295M4294967295W4294967295D"] {
            let error = tenor(text).add_to(date("9999-12-31")).unwrap_err();
            assert_eq!((error.code(), error.argument()), ("text", Some("tenor")), "{text}");
        }
        assert!(tenor("-1D").add_to(date("0001-01-01")).is_err());
        assert!(tenor("-4294967295Y4294967295D").add_to(date("0001-01-01")).is_err());
    }

    #[test]
    fn a_start_date_outside_the_years_is_refused() {
        for start in [NaiveDate::MIN, NaiveDate::MAX, NaiveDate::from_ymd_opt(0, 12, 31).unwrap()] {
            let error = tenor("1D").add_to(start).unwrap_err();
            assert_eq!((error.code(), error.argument()), ("date", Some("start_date")));
        }
    }

    proptest! {
        #[test]
        fn no_text_and_no_date_make_it_panic(text in "[-+]?([0-9]{0,11}[YMWDymwdX ]?){0,4}", day in any::<i32>()) {
            if let (Ok(tenor), Some(start)) = (text.parse::<Tenor>(), NaiveDate::from_num_days_from_ce_opt(day)) {
                let _ = tenor.add_to(start);
            }
        }

        #[test]
        fn what_is_written_is_read_again(years: u32, months: Option<u32>, weeks: Option<u32>, days: Option<u32>, negative: bool) {
            let years = Some(years);
            let tenor = Tenor { negative, years, months, weeks, days };
            prop_assert_eq!(tenor.to_string().parse(), Ok(tenor));
        }

        #[test]
        fn months_added_one_by_one_from_the_first_are_months_added_at_once(months in 0_i64..600) {
            let start = date("1999-12-01");
            let stepped = (0..months).try_fold(start, |date, _| tenor("1M").add_to(date));
            prop_assert_eq!(tenor(&format!("{months}M")).add_to(start), stepped);
        }
    }
}
