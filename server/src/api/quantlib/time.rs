//! Dates and tenors.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    time::{BusinessDayConvention, Calendar, JointCalendar, tenor::Tenor},
};

use super::{Computation, example_answer, instruments};
use crate::http::{
    Answer, Date, JsonString, Metered, Tag,
    json_string::{date, json_string},
};

/// The REST endpoints of dates and tenors.
#[derive(Default)]
pub struct Time;

#[OpenApi(prefix_path = "/quantlib/core/types/tenor", tag = "Tag::Time")]
impl Time {
    /// Add a tenor to a date.
    ///
    /// Calendar arithmetic: years and months first, the day clipped to the month's end, then weeks
    /// and days. The result is moved to a business day where `convention` asks for it.
    #[oai(path = "/add-to-date", method = "post", operation_id = "add_tenor_to_date")]
    async fn add_to_date(&self, call: Metered<TenorAddition>) -> Result<Answer<TenorSum>> {
        call.run().await
    }
}

/// A date and what to add to it.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AddTenorRequest", example)]
pub struct TenorAddition {
    /// The date to start from, `YYYY-MM-DD`, years 1 to 9999.
    pub start_date: Date,
    /// Counts and units D, W, M or Y in any case, as in `3M`, `1Y6M` or `-2W`.
    pub tenor: JsonString<Tenor>,
    /// Names of calendars joined by `+`, as in `calendar/is-business-day`.
    #[oai(default = "every_day")]
    pub calendar: JsonString<JointCalendar>,
    /// One of unadjusted, following, modified following, preceding, modified preceding, or an alias that
    /// `daycount/conventions` names: a text and no enumeration, since case and separators do not matter.
    #[oai(default = "unadjusted")]
    pub convention: JsonString<BusinessDayConvention>,
}

fn every_day() -> JsonString<JointCalendar> {
    JsonString(Calendar::None.into())
}

fn unadjusted() -> JsonString<BusinessDayConvention> {
    JsonString(BusinessDayConvention::Unadjusted)
}

/// The date that the tenor leads to.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AddTenorResult", example)]
pub struct TenorSum {
    /// The date reached, `YYYY-MM-DD`.
    pub result_date: Date,
    /// The tenor in upper case, each unit once, the larger first: `6m1y` is `1Y6M`.
    pub tenor: String,
    /// The date that was started from.
    pub start_date: Date,
    /// The date before it is moved to a business day.
    pub unadjusted_date: Date,
    /// True if the result is a business day of the calendar.
    pub is_business_day: bool,
    /// The calendar that was used.
    pub calendar: String,
    /// The convention that was used.
    pub convention: instruments::BusinessDayConvention,
}

impl Computation for TenorAddition {
    type Answer = TenorSum;

    fn compute(&self) -> quant_core::Result<TenorSum> {
        let unadjusted = self.tenor.add_to(self.start_date.0)?;
        let result = self.calendar.adjust(unadjusted, self.convention.0)?;
        Ok(TenorSum {
            result_date: JsonString(result),
            tenor: self.tenor.to_string(),
            start_date: self.start_date,
            unadjusted_date: JsonString(unadjusted),
            is_business_day: self.calendar.is_business_day(result),
            calendar: self.calendar.to_string(),
            convention: self.convention.0.into(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let sum = self.tenor.add_to(self.start_date.0)?;
        let adjustment = self.calendar.explain_adjust(sum, self.convention.0)?;
        let addition = self.tenor.explain_add_to(self.start_date.0)?;
        Ok(addition.with_conventions(adjustment.conventions))
    }
}

impl Example for TenorAddition {
    fn example() -> Self {
        Self {
            start_date: date(2024, 1, 31),
            tenor: json_string("1M"),
            calendar: every_day(),
            convention: unadjusted(),
        }
    }
}

impl Example for TenorSum {
    fn example() -> Self {
        example_answer::<TenorAddition>()
    }
}
