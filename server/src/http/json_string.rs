//! Values that are JSON strings of a specified format: dates, times, tenors, e-mail addresses, user
//! names, codes, passwords, plain text.

use std::{borrow::Cow, ops::Deref};

use account_core::{Code, Email, Error, Password, Timestamp, Username};
use chrono::SecondsFormat;
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use quant_core::time::{
    BusinessDayConvention, DayCount, JointCalendar, NaiveDate, PeriodLength, RollConvention, Stub,
    tenor::Tenor,
};
use serde_json::Value;

use super::{echo, fault_types};

/// A value whose JSON form is a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonString<F>(pub F);

/// A calendar date, `YYYY-MM-DD`, years 1 to 9999.
pub type Date = JsonString<NaiveDate>;
/// A time in UTC with microseconds, as in `2026-01-31T12:00:00.000000Z`.
pub type Moment = JsonString<Timestamp>;
/// A plain text. A bare `String` would also accept a number or a boolean.
pub type Text = JsonString<String>;

/// The conversion between a value and its JSON string.
pub(crate) trait StringFormat: Sized + Send + Sync {
    /// The `format` of the string in the schema, as in `date`; `None` for a plain string.
    const FORMAT: Option<&'static str>;
    /// A pattern that every accepted text matches, for the schema; `None` where the format says all.
    const PATTERN: Option<&'static str> = None;

    /// Reads the value from its text.
    ///
    /// # Errors
    ///
    /// The type and the text of the fault.
    fn read(text: &str) -> Result<Self, FormatFault>;

    /// Returns the text of the value.
    fn write(&self) -> String;
}

/// A fault of the format, as the fault's type and text.
pub(crate) type FormatFault = (String, String);

/// Checks a text by the `format` of its schema; an unknown format is not checked.
///
/// # Errors
///
/// The type and the text of the fault.
pub(super) fn check(format: &str, text: &str) -> Result<(), FormatFault> {
    match Some(format) {
        NaiveDate::FORMAT => NaiveDate::read(text).map(drop),
        Timestamp::FORMAT => Timestamp::read(text).map(drop),
        Tenor::FORMAT => Tenor::read(text).map(drop),
        JointCalendar::FORMAT => JointCalendar::read(text).map(drop),
        DayCount::FORMAT => DayCount::read(text).map(drop),
        BusinessDayConvention::FORMAT => BusinessDayConvention::read(text).map(drop),
        PeriodLength::FORMAT => PeriodLength::read(text).map(drop),
        Stub::FORMAT => Stub::read(text).map(drop),
        RollConvention::FORMAT => RollConvention::read(text).map(drop),
        Email::FORMAT => Email::read(text).map(drop),
        Username::FORMAT => Username::read(text).map(drop),
        Code::FORMAT => Code::read(text).map(drop),
        Password::FORMAT => Password::read(text).map(drop),
        _ => Ok(()),
    }
}

impl StringFormat for NaiveDate {
    const FORMAT: Option<&'static str> = Some("date");

    fn read(text: &str) -> Result<Self, FormatFault> {
        read_date(text)
            .ok_or_else(|| ("value_error.date".to_owned(), "invalid date format".to_owned()))
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

/// Reads a date of exactly ten characters; the computations have no year 0.
fn read_date(text: &str) -> Option<NaiveDate> {
    let is_shaped = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_shaped || text.starts_with("0000") {
        return None;
    }
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()
}

impl StringFormat for Timestamp {
    const FORMAT: Option<&'static str> = Some("date-time");

    fn read(text: &str) -> Result<Self, FormatFault> {
        text.parse()
            .map_err(|_| ("value_error.datetime".to_owned(), "invalid datetime format".to_owned()))
    }

    fn write(&self) -> String {
        self.to_rfc3339_opts(SecondsFormat::Micros, true)
    }
}

/// Implements the format of values that `quant-core` reads from a text and displays.
///
/// A macro, since one implementation for all types that have both would exclude dates.
macro_rules! formats_of_core {
    ($($type:ty = $format:literal $(matches $pattern:literal)?),+ $(,)?) => {$(
        impl StringFormat for $type {
            const FORMAT: Option<&'static str> = Some($format);
            $(const PATTERN: Option<&'static str> = Some($pattern);)?

            fn read(text: &str) -> Result<Self, FormatFault> {
                text.parse().map_err(|error: quant_core::Error| {
                    (fault_types::of_code(error.code()), echo::unread(&error))
                })
            }

            fn write(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

formats_of_core!(
    Tenor = "tenor" matches "^[+-]?([0-9]+[DWMYdwmy])+$",
    JointCalendar = "calendar",
    DayCount = "day-count",
    BusinessDayConvention = "business-day-convention",
    PeriodLength = "period-length",
    Stub = "stub",
    RollConvention = "roll-convention",
);

impl StringFormat for Email {
    const FORMAT: Option<&'static str> = Some("email");

    fn read(text: &str) -> Result<Self, FormatFault> {
        Self::parse(text).map_err(|_| {
            ("value_error.email".to_owned(), "value is not a valid email address".to_owned())
        })
    }

    fn write(&self) -> String {
        self.as_str().to_owned()
    }
}

impl StringFormat for Username {
    const FORMAT: Option<&'static str> = Some("username");
    const PATTERN: Option<&'static str> = Some("^[A-Za-z0-9][A-Za-z0-9._-]{2,31}$");

    fn read(text: &str) -> Result<Self, FormatFault> {
        Self::parse(text).map_err(|error| rule_fault(&error))
    }

    fn write(&self) -> String {
        self.as_str().to_owned()
    }
}

impl StringFormat for Code {
    const FORMAT: Option<&'static str> = Some("otp");
    const PATTERN: Option<&'static str> = Some("^[0-9]{6}$");

    fn read(text: &str) -> Result<Self, FormatFault> {
        Self::parse(text).map_err(|error| rule_fault(&error))
    }

    fn write(&self) -> String {
        self.expose().to_owned()
    }
}

/// The format of a new password. A password that is only compared is plain text.
impl StringFormat for Password {
    const FORMAT: Option<&'static str> = Some("new-password");

    fn read(text: &str) -> Result<Self, FormatFault> {
        Self::choose(text).map_err(|error| rule_fault(&error))
    }

    fn write(&self) -> String {
        self.expose().to_owned()
    }
}

/// Returns the type and the text of the fault for a refusal by `account-core`.
pub(crate) fn rule_fault(error: &Error) -> FormatFault {
    match error {
        Error::Invalid { requirement, code, .. } => {
            (fault_types::of_code(code), format!("ensure this value is {requirement}"))
        }
        other => ("value_error".to_owned(), other.to_string()),
    }
}

impl StringFormat for String {
    const FORMAT: Option<&'static str> = None;

    fn read(text: &str) -> Result<Self, FormatFault> {
        Ok(text.to_owned())
    }

    fn write(&self) -> String {
        self.clone()
    }
}

impl<F> Deref for JsonString<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.0
    }
}

// The validators of a text's length require this conversion.
impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// Returns the value of `text`, for examples in the document.
pub(crate) fn json_string<F: StringFormat>(text: &str) -> JsonString<F> {
    JsonString(F::read(text).unwrap_or_else(|(_, msg)| panic!("{text:?}: {msg}")))
}

/// Returns the date of a valid year, month and day, for examples in the document.
pub(crate) fn date(year: i32, month: u32, day: u32) -> Date {
    JsonString(NaiveDate::from_ymd_opt(year, month, day).expect("a day of the calendar"))
}

/// Returns the time that is so many seconds after 1970, for examples in the document.
pub(crate) fn moment(second: i64) -> Moment {
    JsonString(Timestamp::from_timestamp(second, 0).expect("a second of this century"))
}

impl<F: StringFormat> Type for JsonString<F> {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        F::FORMAT.map_or("string".into(), |format| format!("string_{format}").into())
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            format: F::FORMAT,
            pattern: F::PATTERN.map(str::to_owned),
            ..MetaSchema::new("string")
        }))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::once(self))
    }
}

impl<F: StringFormat> ParseFromJSON for JsonString<F> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value.as_ref().and_then(Value::as_str) {
            Some(text) => F::read(text).map(Self).map_err(|(_, msg)| ParseError::custom(msg)),
            None => Err(ParseError::expected_type(value.unwrap_or_default())),
        }
    }
}

impl<F: StringFormat> ToJSON for JsonString<F> {
    fn to_json(&self) -> Option<Value> {
        Some(Value::String(self.0.write()))
    }
}

#[cfg(test)]
mod tests {
    use super::read_date;

    #[test]
    fn only_ten_characters_of_a_real_day_are_a_date() {
        assert!(read_date("2024-02-29").is_some());
        #[rustfmt::skip]
        let refused = [
            "2023-02-29", "2024-2-9", "0000-01-01", "2024-01-01T00:00:00", " 024-01-01", "",
            "２024-01-01", "+024-01-01",
        ];
        for text in refused {
            assert_eq!(read_date(text), None, "{text:?}");
        }
    }
}
