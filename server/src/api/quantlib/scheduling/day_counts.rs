//! Year fractions by day-count conventions.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    time::{Accrual, BusinessDayConvention, DayCount, JointCalendar},
};

use super::{texts, weekends, with_holidays};
use crate::{
    api::quantlib::{
        Computation, NoArguments, RequestFor, SharedComputation,
        instruments::{self, frequency},
    },
    http::{
        Answer, Date, JsonString, Metered, Tag,
        json_string::{date, json_string},
    },
};

/// The REST endpoints of day counts.
#[derive(Default)]
pub struct DayCounts;

#[OpenApi(prefix_path = "/quantlib/scheduling/daycount", tag = "Tag::Time")]
impl DayCounts {
    /// Compute the fraction of a year between two dates.
    ///
    /// With the days that the convention counts. ACT/ACT ICMA and ACT/365L also read `frequency`,
    /// `period_start` and `period_end`, 30E/360 ISDA `maturity_date`, and BUS/252 `calendar`.
    #[oai(path = "/year-fraction", method = "post", operation_id = "compute_year_fraction")]
    async fn fraction(&self, call: Metered<YearFraction>) -> Result<Answer<YearFractionValue>> {
        call.run().await
    }

    /// List the day-count conventions.
    ///
    /// The names that `convention` takes, with other spellings, and the adjustments of dates.
    #[oai(path = "/conventions", method = "get", operation_id = "list_day_counts")]
    async fn list(
        &self,
        call: Metered<RequestFor<ConventionList>>,
    ) -> Result<Answer<ConventionNames>> {
        call.run().await
    }
}

/// Two dates and the convention that measures the time between them.
#[derive(Clone, Debug, Object)]
#[oai(rename = "YearFractionRequest", example)]
pub struct YearFraction {
    /// The first day, `YYYY-MM-DD`, years 1 to 9999.
    pub start_date: Date,
    /// The day after the last; on or after the start.
    pub end_date: Date,
    /// One of 30/360, 30E/360, 30E/360 ISDA, 30/360 US, ACT/360, ACT/364, ACT/365, ACT/365.25, ACT/365L,
    /// NL/365, ACT/ACT ICMA, ACT/ACT ISDA, ACT/ACT AFB, BUS/252, or an alias that `daycount/conventions`
    /// names: a text and no enumeration, since case and separators do not matter.
    #[oai(default = "act_365")]
    pub convention: JsonString<DayCount>,
    /// Coupons a year: 1, 2, 3, 4, 6 or 12; for ACT/ACT ICMA and ACT/365L.
    #[oai(default = "one", validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: u32,
    /// Start of the regular coupon period that holds both dates; for ACT/ACT ICMA and ACT/365L. Without
    /// it ICMA counts periods back from the end, and ACT/365L takes the two dates.
    #[oai(nullable)]
    pub period_start: Option<Date>,
    /// End of the regular coupon period that holds both dates; needed with its start.
    #[oai(nullable)]
    pub period_end: Option<Date>,
    /// Maturity of the instrument; for 30E/360 ISDA, which keeps a last of February that is the maturity.
    #[oai(nullable)]
    pub maturity_date: Option<Date>,
    /// Names of calendars joined by `+`, as in `calendar/is-business-day`; for BUS/252.
    #[oai(default = "weekends")]
    pub calendar: JsonString<JointCalendar>,
    /// Days that are closed beside those of the calendars; at most 1,000.
    #[oai(nullable, validator(max_items = 1000))]
    pub holidays: Option<Vec<Date>>,
}

fn act_365() -> JsonString<DayCount> {
    JsonString(DayCount::Act365)
}

fn one() -> u32 {
    1
}

/// The fraction of a year between two dates.
#[derive(Clone, Debug, Object)]
#[oai(rename = "YearFraction")]
pub struct YearFractionValue {
    /// The fraction of a year.
    pub year_fraction: f64,
    /// Days that the convention counts: months of 30 days, business days, or the days of the calendar.
    pub days: i64,
    /// Days of the calendar from the start to the end.
    pub actual_days: i64,
    /// The convention of the request.
    pub convention: instruments::DayCount,
    /// The first day.
    pub start_date: Date,
    /// The day after the last.
    pub end_date: Date,
    /// Coupons a year of the request.
    pub frequency: u32,
    /// The calendars of the request.
    pub calendar: String,
}

impl Computation for YearFraction {
    type Answer = YearFractionValue;

    fn compute(&self) -> quant_core::Result<YearFractionValue> {
        let measured = self.accrual()?.measure()?;
        Ok(YearFractionValue {
            year_fraction: measured.year_fraction,
            days: measured.days,
            actual_days: measured.actual_days,
            convention: self.convention.0.into(),
            start_date: self.start_date,
            end_date: self.end_date,
            frequency: self.frequency,
            calendar: self.calendar.to_string(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.accrual()?.explain()
    }

    fn is_long(&self) -> bool {
        // Business days of thousands of years.
        self.convention.0 == DayCount::Bus252
    }
}

impl YearFraction {
    fn accrual(&self) -> quant_core::Result<Accrual> {
        Ok(Accrual {
            start_date: self.start_date.0,
            end_date: self.end_date.0,
            day_count: self.convention.0,
            frequency: frequency(self.frequency)?,
            regular_period: self.regular_period()?,
            maturity_date: self.maturity_date.map(|date| date.0),
            calendar: with_holidays(&self.calendar, self.holidays.as_ref()),
        })
    }

    fn regular_period(&self) -> quant_core::Result<Option<(chrono::NaiveDate, chrono::NaiveDate)>> {
        let (argument, problem) = match (self.period_start, self.period_end) {
            (Some(start), Some(end)) => return Ok(Some((start.0, end.0))),
            (None, None) => return Ok(None),
            (Some(_), None) => ("period_end", "is needed where `period_start` is given"),
            (None, Some(_)) => ("period_start", "is needed where `period_end` is given"),
        };
        Err(Error::Conflict { argument, problem })
    }
}

/// The list of all day counts.
pub struct ConventionList;

/// All conventions of dates.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DayCountList")]
pub struct ConventionNames {
    /// The day-count conventions.
    pub conventions: Vec<ConventionName>,
    /// The number of day-count conventions.
    pub count: usize,
    /// The day-count convention of a request that names none.
    pub default: instruments::DayCount,
    /// The adjustments of a date to a business day.
    pub adjustments: Vec<ConventionName>,
}

/// A convention.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ConventionEntry")]
pub struct ConventionName {
    /// The name to send.
    pub name: String,
    /// Other spellings. Upper and lower case, blanks, underscores, hyphens and slashes do not matter.
    pub aliases: Vec<String>,
    /// The rule.
    pub description: String,
}

impl SharedComputation for ConventionList {
    type Request = NoArguments;
    type Answer = ConventionNames;

    fn compute(_: &NoArguments) -> quant_core::Result<ConventionNames> {
        let conventions = DayCount::ALL.iter().map(|day_count| ConventionName {
            name: day_count.to_string(),
            aliases: texts(day_count.aliases()),
            description: day_count.description().to_owned(),
        });
        let adjustments = BusinessDayConvention::ALL.iter().map(|convention| ConventionName {
            name: convention.to_string(),
            aliases: texts(convention.aliases()),
            description: convention.description().to_owned(),
        });
        Ok(ConventionNames {
            conventions: conventions.collect(),
            count: DayCount::ALL.len(),
            default: act_365().0.into(),
            adjustments: adjustments.collect(),
        })
    }

    fn explain(_: &NoArguments) -> quant_core::Result<Explanation> {
        Ok(DayCount::explain_all())
    }
}

impl Example for YearFraction {
    fn example() -> Self {
        Self {
            start_date: date(2026, 1, 31),
            end_date: date(2026, 7, 31),
            convention: json_string("30/360"),
            frequency: 1,
            period_start: None,
            period_end: None,
            maturity_date: None,
            calendar: weekends(),
            holidays: None,
        }
    }
}
