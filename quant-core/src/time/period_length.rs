//! The length of the periods of a schedule: a name, a number a year, or a tenor.

use std::{fmt, str::FromStr};

use super::tenor::Tenor;
use crate::named::spells;
use crate::{Error, Result};

/// The length of the regular periods of a schedule.
///
/// It is parsed from the name of a frequency, a number of periods a year (1, 2, 3, 4, 6 or 12), or a
/// tenor of months or of days, as `6M` or `28D`.
///
/// # Examples
///
/// ```
/// use quant_core::time::PeriodLength;
///
/// assert_eq!("Semi-Annual".parse(), Ok(PeriodLength::Months(6)));
/// assert_eq!("4".parse(), Ok(PeriodLength::Months(3)));
/// assert_eq!("2W".parse::<PeriodLength>()?.to_string(), "biweekly");
/// assert!("0M".parse::<PeriodLength>().is_err());
/// # Ok::<(), quant_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub enum PeriodLength {
    /// So many months; at least one.
    Months(u32),
    /// So many days; at least one.
    Days(u32),
    /// The whole time, in a single period.
    Whole,
}

/// Lengths with their names, the first of which is displayed.
const LENGTHS: [(PeriodLength, &[&str]); 11] = [
    (PeriodLength::Months(12), &["annual", "annually", "yearly", "1"]),
    (PeriodLength::Months(6), &["semiannual", "semiannually", "half yearly", "2"]),
    (PeriodLength::Months(4), &["every fourth month", "3"]),
    (PeriodLength::Months(3), &["quarterly", "quarter", "4"]),
    (PeriodLength::Months(2), &["bimonthly", "6"]),
    (PeriodLength::Months(1), &["monthly", "month", "12"]),
    (PeriodLength::Days(28), &["every fourth week", "lunar month"]),
    (PeriodLength::Days(14), &["biweekly", "fortnightly"]),
    (PeriodLength::Days(7), &["weekly", "week"]),
    (PeriodLength::Days(1), &["daily", "day"]),
    (PeriodLength::Whole, &["once", "zero", "term", "at maturity", "bullet"]),
];

const LENGTH_SYNTAX: &str = "one of annual, semiannual, every fourth month, quarterly, bimonthly, \
                             monthly, every fourth week, biweekly, weekly, daily, once, or a tenor \
                             of months or of days, as 6M or 28D";

impl FromStr for PeriodLength {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let named = LENGTHS.iter().find(|(_, names)| names.iter().any(|name| spells(text, name)));
        if let Some((length, _)) = named {
            return Ok(*length);
        }
        let tenor = text.parse::<Tenor>().ok();
        let parts = tenor.map(|tenor| (tenor.total_months(), tenor.total_days()));
        let length = match parts {
            Some((months, 0)) if months > 0 => u32::try_from(months).ok().map(Self::Months),
            Some((0, days)) if days > 0 => u32::try_from(days).ok().map(Self::Days),
            _ => None,
        };
        length.ok_or_else(|| Error::Text {
            argument: "frequency",
            value: text.to_owned(),
            requirement: LENGTH_SYNTAX,
        })
    }
}

impl fmt::Display for PeriodLength {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (LENGTHS.iter().find(|(length, _)| length == self), self) {
            (Some((_, names)), _) => formatter.write_str(names[0]),
            (None, Self::Months(months)) => write!(formatter, "{months}M"),
            (None, Self::Days(days)) => write!(formatter, "{days}D"),
            (None, Self::Whole) => formatter.write_str("once"),
        }
    }
}

impl TryFrom<String> for PeriodLength {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<PeriodLength> for String {
    fn from(length: PeriodLength) -> Self {
        length.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_they_are_displayed() {
        for (text, shown) in [
            ("Semi-Annual", "semiannual"),
            ("1Y", "annual"),
            ("12", "monthly"),
            ("4", "quarterly"),
            ("5m", "5M"),
            ("10D", "10D"),
            ("4W", "every fourth week"),
            ("ONCE", "once"),
            ("EveryFourthMonth", "every fourth month"),
            ("1y6m", "18M"),
        ] {
            let length: PeriodLength = text.parse().unwrap();
            assert_eq!(length.to_string(), shown);
            assert_eq!(shown.parse(), Ok(length));
        }
        for text in ["", "5", "0D", "-3M", "1M1D", "sometimes", "4294967295Y"] {
            assert_eq!(
                text.parse::<PeriodLength>().unwrap_err().argument(),
                Some("frequency"),
                "{text}"
            );
        }
    }
}
