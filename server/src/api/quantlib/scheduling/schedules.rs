//! Schedules of periods.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    time::{
        self, BusinessDayConvention, DayCount, JointCalendar, PeriodLength, RollConvention,
        ScheduleRule, ScheduledPeriod, Stub,
    },
};

use super::{modified_following, weekends, with_holidays};
use crate::{
    api::quantlib::{Computation, instruments},
    http::{
        Answer, Date, JsonString, Metered, Tag,
        json_string::{date, json_string},
    },
};

/// The REST endpoint of schedules.
#[derive(Default)]
pub struct Schedules;

#[OpenApi(prefix_path = "/quantlib/scheduling/schedule", tag = "Tag::Time")]
impl Schedules {
    /// Generate a schedule of periods.
    ///
    /// Dates are counted back from the termination, or from the effective date for a stub at the back,
    /// and then adjusted to business days. Each period has its length by a day count. At most 12,000
    /// periods.
    #[oai(path = "/generate", method = "post", operation_id = "generate_schedule")]
    async fn generate(&self, call: Metered<Schedule>) -> Result<Answer<GeneratedSchedule>> {
        call.run().await
    }
}

/// The rules of a schedule.
///
/// The names of rules are texts and no enumerations, since aliases are read too, and case and separators
/// do not matter.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ScheduleRequest", example)]
pub struct Schedule {
    /// First day of the first period, `YYYY-MM-DD`, years 1 to 9999.
    pub effective_date: Date,
    /// End of the last period; after the effective date.
    pub termination_date: Date,
    /// One of annual, semiannual, every fourth month, quarterly, bimonthly, monthly, every fourth week,
    /// biweekly, weekly, daily, once; a number of periods a year (`4`); or a tenor (`6M`, `28D`).
    #[oai(default = "semiannual")]
    pub frequency: JsonString<PeriodLength>,
    /// Names of calendars joined by `+`, as in `calendar/is-business-day`.
    #[oai(default = "weekends")]
    pub calendar: JsonString<JointCalendar>,
    /// The adjustment of all dates: unadjusted, following, modified following, preceding or modified
    /// preceding.
    #[oai(default = "modified_following")]
    pub adjustment: JsonString<BusinessDayConvention>,
    /// Place and length of the period that is not regular: short front, long front, short back, long
    /// back, or none where it is to be refused.
    #[oai(default = "short_front")]
    pub stub: JsonString<Stub>,
    /// The day on which regular periods end: same day, end of month, or IMM (the third Wednesday).
    #[oai(default = "same_day")]
    pub roll: JsonString<RollConvention>,
    /// The adjustment of the last date; that of the others where absent.
    #[oai(nullable)]
    pub termination_adjustment: Option<JsonString<BusinessDayConvention>>,
    /// The day count of the year fractions, as `convention` of `daycount/year-fraction`.
    #[oai(default = "act_365")]
    pub day_count: JsonString<DayCount>,
    /// Days that are closed beside those of the calendars; at most 1,000.
    #[oai(nullable, validator(max_items = 1000))]
    pub holidays: Option<Vec<Date>>,
}

fn semiannual() -> JsonString<PeriodLength> {
    JsonString(PeriodLength::Months(6))
}

fn short_front() -> JsonString<Stub> {
    JsonString(Stub::ShortFront)
}

fn same_day() -> JsonString<RollConvention> {
    JsonString(RollConvention::SameDay)
}

fn act_365() -> JsonString<DayCount> {
    JsonString(DayCount::Act365)
}

/// The periods between two dates, with every rule that was used.
#[derive(Clone, Debug, Object)]
#[oai(rename = "GeneratedSchedule")]
pub struct GeneratedSchedule {
    /// The adjusted dates in order, the first and the last included.
    pub dates: Vec<Date>,
    /// The periods between neighbouring dates.
    pub periods: Vec<SchedulePeriod>,
    /// The number of periods.
    pub count: usize,
    /// Length of the regular periods: a name of the request's list or, for another length, a tenor as in
    /// `5M` or `10D`.
    pub frequency: String,
    /// The calendars.
    pub calendar: String,
    /// The adjustment of all dates but the last.
    pub adjustment: instruments::BusinessDayConvention,
    /// The adjustment of the last date.
    pub termination_adjustment: instruments::BusinessDayConvention,
    /// The place of a stub.
    pub stub: StubPlace,
    /// The day on which regular periods end.
    pub roll: RollDay,
    /// The day count.
    pub day_count: instruments::DayCount,
}

/// Place and length of the period that is not regular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(remote = "Stub")]
pub enum StubPlace {
    /// A shorter first period.
    #[oai(rename = "short front")]
    ShortFront,
    /// A longer first period.
    #[oai(rename = "long front")]
    LongFront,
    /// A shorter last period.
    #[oai(rename = "short back")]
    ShortBack,
    /// A longer last period.
    #[oai(rename = "long back")]
    LongBack,
    /// No such period.
    #[oai(rename = "none")]
    None,
}

/// The day on which regular periods end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(remote = "RollConvention")]
pub enum RollDay {
    /// The day of the date from which the periods are counted.
    #[oai(rename = "same day")]
    SameDay,
    /// The end of the month.
    #[oai(rename = "end of month")]
    EndOfMonth,
    /// The third Wednesday of the month.
    #[oai(rename = "IMM")]
    Imm,
}

/// A period of a schedule.
#[derive(Clone, Debug, Object)]
#[oai(rename = "SchedulePeriod")]
pub struct SchedulePeriod {
    /// First day of the period, adjusted.
    pub start_date: Date,
    /// The day after its last, adjusted; the first day of the next period.
    pub end_date: Date,
    /// First day before it was adjusted.
    pub unadjusted_start_date: Date,
    /// End before it was adjusted.
    pub unadjusted_end_date: Date,
    /// Days of the calendar between the adjusted dates.
    pub days: i64,
    /// Length in years between the adjusted dates.
    pub year_fraction: f64,
    /// The regularity of the period.
    pub kind: PeriodKind,
    /// True if the period is not regular.
    pub is_stub: bool,
}

/// The regularity of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(remote = "time::PeriodKind")]
pub enum PeriodKind {
    /// A period of the length that the frequency states.
    #[oai(rename = "regular")]
    Regular,
    /// A shorter period.
    #[oai(rename = "short stub")]
    ShortStub,
    /// A longer period.
    #[oai(rename = "long stub")]
    LongStub,
}

impl From<&ScheduledPeriod> for SchedulePeriod {
    fn from(period: &ScheduledPeriod) -> Self {
        Self {
            start_date: JsonString(period.start),
            end_date: JsonString(period.end),
            unadjusted_start_date: JsonString(period.unadjusted_start),
            unadjusted_end_date: JsonString(period.unadjusted_end),
            days: period.days,
            year_fraction: period.year_fraction,
            kind: period.kind.into(),
            is_stub: period.kind != time::PeriodKind::Regular,
        }
    }
}

impl Schedule {
    fn rule(&self) -> ScheduleRule {
        ScheduleRule {
            effective_date: self.effective_date.0,
            termination_date: self.termination_date.0,
            frequency: self.frequency.0,
            stub: self.stub.0,
            roll: self.roll.0,
            calendar: with_holidays(&self.calendar, self.holidays.as_ref()),
            convention: self.adjustment.0,
            termination_convention: self.termination_adjustment.unwrap_or(self.adjustment).0,
            day_count: self.day_count.0,
        }
    }
}

impl Computation for Schedule {
    type Answer = GeneratedSchedule;

    fn compute(&self) -> quant_core::Result<GeneratedSchedule> {
        let rule = self.rule();
        let periods = rule.periods()?;
        let first = periods.first().map(|period| period.start);
        let dates = first.into_iter().chain(periods.iter().map(|period| period.end));
        Ok(GeneratedSchedule {
            dates: dates.map(JsonString).collect(),
            count: periods.len(),
            periods: periods.iter().map(SchedulePeriod::from).collect(),
            frequency: self.frequency.to_string(),
            calendar: self.calendar.to_string(),
            adjustment: self.adjustment.0.into(),
            termination_adjustment: rule.termination_convention.into(),
            stub: self.stub.0.into(),
            roll: self.roll.0.into(),
            day_count: self.day_count.0.into(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.rule().explain()
    }

    fn is_long(&self) -> bool {
        // Twelve thousand periods are a valid request.
        true
    }
}

impl Example for Schedule {
    fn example() -> Self {
        Self {
            effective_date: date(2026, 2, 10),
            termination_date: date(2027, 8, 15),
            frequency: semiannual(),
            calendar: json_string("TARGET"),
            adjustment: modified_following(),
            stub: short_front(),
            roll: same_day(),
            termination_adjustment: None,
            day_count: json_string("ACT/360"),
            holidays: None,
        }
    }
}
