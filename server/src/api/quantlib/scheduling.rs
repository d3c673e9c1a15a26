//! Business days: calendars, the adjustment of dates, and the count of days.

pub mod day_counts;
pub mod schedules;

use chrono::Datelike;
use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    time::{BusinessDayConvention, Calendar, JointCalendar, NaiveDate},
};

use super::{Computation, NoArguments, RequestFor, SharedComputation, instruments};
use crate::http::{
    Answer, Date, JsonString, Metered, Tag,
    json_string::{date, json_string},
};

/// The largest number of business days that are added or counted on an async thread.
const FEW_DAYS: i64 = 100_000;

/// The REST endpoints of business days.
#[derive(Default)]
pub struct Calendars;

#[OpenApi(prefix_path = "/quantlib/scheduling", tag = "Tag::Time")]
impl Calendars {
    /// Tell whether a date is a business day.
    ///
    /// With the calendars that are closed, and the business days before and after. Calendars are joined
    /// by `+`: a business day of `US+UK` is one of both.
    #[oai(path = "/calendar/is-business-day", method = "post", operation_id = "check_business_day")]
    async fn status(&self, call: Metered<RequestFor<DayStatus>>) -> Result<Answer<BusinessDay>> {
        call.run().await
    }

    /// Find the next business day.
    ///
    /// The first business day after the date, also where the date is a business day itself.
    #[oai(
        path = "/calendar/next-business-day",
        method = "post",
        operation_id = "find_next_business_day"
    )]
    async fn next(&self, call: Metered<RequestFor<NextDay>>) -> Result<Answer<NextBusinessDay>> {
        call.run().await
    }

    /// Find the previous business day.
    ///
    /// The last business day before the date, also where the date is a business day itself.
    #[oai(
        path = "/calendar/previous-business-day",
        method = "post",
        operation_id = "find_previous_business_day"
    )]
    async fn previous(
        &self,
        call: Metered<RequestFor<PreviousDay>>,
    ) -> Result<Answer<PreviousBusinessDay>> {
        call.run().await
    }

    /// Add business days to a date.
    ///
    /// Negative days go back. From a date that is no business day, one day leads to the next business
    /// day. No days lead to the date itself, or to the next business day where the date is none.
    #[oai(
        path = "/calendar/add-business-days",
        method = "post",
        operation_id = "add_business_days"
    )]
    async fn add(&self, call: Metered<DayAddition>) -> Result<Answer<DaySum>> {
        call.run().await
    }

    /// Count the business days between two dates.
    ///
    /// The first date counts and the last does not. Where the end comes first, the number is minus that
    /// of the days forward.
    #[oai(
        path = "/calendar/business-days-between",
        method = "post",
        operation_id = "count_business_days"
    )]
    async fn between(&self, call: Metered<DaySpan>) -> Result<Answer<DayCountBetween>> {
        call.run().await
    }

    /// List the calendars.
    ///
    /// The names that `calendar` takes, with other spellings and the market that each describes.
    #[oai(path = "/calendar/list", method = "get", operation_id = "list_calendars")]
    async fn list(&self, call: Metered<RequestFor<CalendarList>>) -> Result<Answer<CalendarNames>> {
        call.run().await
    }

    /// Adjust a date to a business day.
    ///
    /// A business day stays where it is; another date moves as the adjustment says.
    #[oai(path = "/adjustment/adjust-date", method = "post", operation_id = "adjust_date")]
    async fn adjust(&self, call: Metered<Adjustment>) -> Result<Answer<AdjustedDate>> {
        call.run().await
    }
}

/// A date and the calendars by which it may be a business day.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CalendarDateRequest", example)]
pub struct CalendarDate {
    /// The date, `YYYY-MM-DD`, years 1 to 9999.
    pub date: Date,
    /// Names of calendars joined by `+`: none, weekends, TARGET, US, FEDWIRE, SIFMA, NYSE, UK, CHF, JPY,
    /// CAD, AUD, or an alias that `calendar/list` names.
    #[oai(default = "weekends")]
    pub calendar: JsonString<JointCalendar>,
    /// Days that are closed beside those of the calendars; at most 1,000.
    #[oai(nullable, validator(max_items = 1000))]
    pub holidays: Option<Vec<Date>>,
}

/// A date and the number of business days to add.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AddBusinessDaysRequest", example)]
pub struct DayAddition {
    /// The date to start from, `YYYY-MM-DD`, years 1 to 9999.
    pub date: Date,
    /// Business days to add; negative to go back.
    pub days: i64,
    /// Names of calendars joined by `+`, as in `calendar/is-business-day`.
    #[oai(default = "weekends")]
    pub calendar: JsonString<JointCalendar>,
    /// Days that are closed beside those of the calendars; at most 1,000.
    #[oai(nullable, validator(max_items = 1000))]
    pub holidays: Option<Vec<Date>>,
}

/// Two dates between which business days are counted.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BusinessDaysBetweenRequest", example)]
pub struct DaySpan {
    /// The first date, which counts; years 1 to 9999.
    pub start_date: Date,
    /// The last date, which does not count; years 1 to 9999.
    pub end_date: Date,
    /// Names of calendars joined by `+`, as in `calendar/is-business-day`.
    #[oai(default = "weekends")]
    pub calendar: JsonString<JointCalendar>,
    /// Days that are closed beside those of the calendars; at most 1,000.
    #[oai(nullable, validator(max_items = 1000))]
    pub holidays: Option<Vec<Date>>,
}

/// A date and the rule that moves the date to a business day.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AdjustDateRequest", example)]
pub struct Adjustment {
    /// The date, `YYYY-MM-DD`, years 1 to 9999.
    pub date: Date,
    /// One of unadjusted, following, modified following, preceding, modified preceding, or an alias that
    /// `daycount/conventions` names: a text and no enumeration, since case and separators do not matter.
    #[oai(default = "modified_following")]
    pub adjustment: JsonString<BusinessDayConvention>,
    /// Names of calendars joined by `+`, as in `calendar/is-business-day`.
    #[oai(default = "weekends")]
    pub calendar: JsonString<JointCalendar>,
    /// Days that are closed beside those of the calendars; at most 1,000.
    #[oai(nullable, validator(max_items = 1000))]
    pub holidays: Option<Vec<Date>>,
}

fn weekends() -> JsonString<JointCalendar> {
    JsonString(Calendar::Weekends.into())
}

fn modified_following() -> JsonString<BusinessDayConvention> {
    JsonString(BusinessDayConvention::ModifiedFollowing)
}

/// Returns the calendars of a request with its own holidays.
fn with_holidays(
    calendar: &JsonString<JointCalendar>,
    holidays: Option<&Vec<Date>>,
) -> JointCalendar {
    let mut calendar = calendar.0.clone();
    calendar.holidays.extend(holidays.into_iter().flatten().map(|day| day.0));
    calendar
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(remote = "chrono::Weekday")]
pub enum DayOfWeek {
    /// The first day of the week.
    #[oai(rename = "Monday")]
    Mon,
    /// The second day.
    #[oai(rename = "Tuesday")]
    Tue,
    /// The third day.
    #[oai(rename = "Wednesday")]
    Wed,
    /// The fourth day.
    #[oai(rename = "Thursday")]
    Thu,
    /// The fifth day.
    #[oai(rename = "Friday")]
    Fri,
    /// The first day of the weekend.
    #[oai(rename = "Saturday")]
    Sat,
    /// The second day of the weekend.
    #[oai(rename = "Sunday")]
    Sun,
}

fn day_of_week(date: NaiveDate) -> DayOfWeek {
    date.weekday().into()
}

/// The state of a date in some calendars.
pub struct DayStatus;

/// The answer to whether a date is a business day, with the reason.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BusinessDay")]
pub struct BusinessDay {
    /// The date.
    pub date: Date,
    /// True if the date is a business day of every calendar.
    pub is_business_day: bool,
    /// The day of the week, in English.
    pub day_of_week: DayOfWeek,
    /// True on a Saturday or Sunday.
    pub is_weekend: bool,
    /// True if the date is closed and no Saturday or Sunday.
    pub is_holiday: bool,
    /// The calendars of the request.
    pub calendar: String,
    /// The calendars that are closed on the date.
    pub closed_calendars: Vec<String>,
    /// The first business day after the date; absent at the end of the year 9999.
    #[oai(skip_serializing_if_is_none)]
    pub next_business_day: Option<Date>,
    /// The last business day before the date; absent at the start of the year 1.
    #[oai(skip_serializing_if_is_none)]
    pub previous_business_day: Option<Date>,
}

impl SharedComputation for DayStatus {
    type Request = CalendarDate;
    type Answer = BusinessDay;

    fn compute(request: &CalendarDate) -> quant_core::Result<BusinessDay> {
        let (date, calendar) = (request.date.0, request.days());
        let is_business_day = calendar.is_business_day(date);
        let is_weekend = date.weekday().number_from_monday() > 5;
        let closed = calendar.calendars.iter().filter(|market| !market.is_business_day(date));
        Ok(BusinessDay {
            date: request.date,
            is_business_day,
            day_of_week: day_of_week(date),
            is_weekend,
            is_holiday: !is_business_day && !is_weekend,
            closed_calendars: closed.map(ToString::to_string).collect(),
            next_business_day: calendar.advance(date, 1).ok().map(JsonString),
            previous_business_day: calendar.advance(date, -1).ok().map(JsonString),
            calendar: calendar.to_string(),
        })
    }

    fn explain(request: &CalendarDate) -> quant_core::Result<Explanation> {
        Ok(request.days().explain_is_business_day())
    }
}

impl CalendarDate {
    fn days(&self) -> JointCalendar {
        with_holidays(&self.calendar, self.holidays.as_ref())
    }
}

/// The business day after a date.
pub struct NextDay;

/// The business day after a date.
#[derive(Clone, Debug, Object)]
#[oai(rename = "NextBusinessDay")]
pub struct NextBusinessDay {
    /// The first business day after the date.
    pub next_business_day: Date,
    /// The date of the request.
    pub date: Date,
    /// True if the date of the request is a business day itself.
    pub is_business_day: bool,
    /// The day of the week of the next business day, in English.
    pub day_of_week: DayOfWeek,
    /// Days of the calendar from the date to the next business day.
    pub calendar_days: i64,
    /// The calendars of the request.
    pub calendar: String,
}

impl SharedComputation for NextDay {
    type Request = CalendarDate;
    type Answer = NextBusinessDay;

    fn compute(request: &CalendarDate) -> quant_core::Result<NextBusinessDay> {
        let (date, calendar) = (request.date.0, request.days());
        let next = calendar.advance(date, 1)?;
        Ok(NextBusinessDay {
            next_business_day: JsonString(next),
            date: request.date,
            is_business_day: calendar.is_business_day(date),
            day_of_week: day_of_week(next),
            calendar_days: (next - date).num_days(),
            calendar: calendar.to_string(),
        })
    }

    fn explain(request: &CalendarDate) -> quant_core::Result<Explanation> {
        request.days().explain_advance(request.date.0, 1)
    }
}

/// The business day before a date.
pub struct PreviousDay;

/// The business day before a date.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PreviousBusinessDay")]
pub struct PreviousBusinessDay {
    /// The last business day before the date.
    pub previous_business_day: Date,
    /// The date of the request.
    pub date: Date,
    /// True if the date of the request is a business day itself.
    pub is_business_day: bool,
    /// The day of the week of the previous business day, in English.
    pub day_of_week: DayOfWeek,
    /// Days of the calendar from the previous business day to the date.
    pub calendar_days: i64,
    /// The calendars of the request.
    pub calendar: String,
}

impl SharedComputation for PreviousDay {
    type Request = CalendarDate;
    type Answer = PreviousBusinessDay;

    fn compute(request: &CalendarDate) -> quant_core::Result<PreviousBusinessDay> {
        let (date, calendar) = (request.date.0, request.days());
        let previous = calendar.advance(date, -1)?;
        Ok(PreviousBusinessDay {
            previous_business_day: JsonString(previous),
            date: request.date,
            is_business_day: calendar.is_business_day(date),
            day_of_week: day_of_week(previous),
            calendar_days: (date - previous).num_days(),
            calendar: calendar.to_string(),
        })
    }

    fn explain(request: &CalendarDate) -> quant_core::Result<Explanation> {
        request.days().explain_advance(request.date.0, -1)
    }
}

/// The date that some business days lead to.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AddBusinessDaysResult")]
pub struct DaySum {
    /// The business day reached.
    pub result_date: Date,
    /// The date of the request.
    pub date: Date,
    /// The business days that were added.
    pub days: i64,
    /// The day of the week of the date reached, in English.
    pub day_of_week: DayOfWeek,
    /// Days of the calendar from the date to the date reached; negative where it is earlier.
    pub calendar_days: i64,
    /// The calendars of the request.
    pub calendar: String,
}

impl Computation for DayAddition {
    type Answer = DaySum;

    fn compute(&self) -> quant_core::Result<DaySum> {
        let calendar = with_holidays(&self.calendar, self.holidays.as_ref());
        let result = calendar.advance(self.date.0, self.days)?;
        Ok(DaySum {
            result_date: JsonString(result),
            date: self.date,
            days: self.days,
            day_of_week: day_of_week(result),
            calendar_days: (result - self.date.0).num_days(),
            calendar: calendar.to_string(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        with_holidays(&self.calendar, self.holidays.as_ref())
            .explain_advance(self.date.0, self.days)
    }

    fn is_long(&self) -> bool {
        self.days.unsigned_abs() > FEW_DAYS.unsigned_abs()
    }
}

/// The business days between two dates.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BusinessDaysBetween")]
pub struct DayCountBetween {
    /// Business days from the start, itself included, to the end, excluded; negative where the end comes
    /// first.
    pub business_days: i64,
    /// The same with both dates included.
    pub business_days_inclusive: i64,
    /// Days of the calendar from the start to the end.
    pub calendar_days: i64,
    /// The first date.
    pub start_date: Date,
    /// The last date.
    pub end_date: Date,
    /// The calendars of the request.
    pub calendar: String,
}

impl Computation for DaySpan {
    type Answer = DayCountBetween;

    fn compute(&self) -> quant_core::Result<DayCountBetween> {
        let calendar = with_holidays(&self.calendar, self.holidays.as_ref());
        let (start, end) = (self.start_date.0, self.end_date.0);
        let business_days = calendar.business_days_between(start, end)?;
        let last = i64::from(calendar.is_business_day(start.max(end)));
        Ok(DayCountBetween {
            business_days,
            business_days_inclusive: if end < start {
                business_days - last
            } else {
                business_days + last
            },
            calendar_days: (end - start).num_days(),
            start_date: self.start_date,
            end_date: self.end_date,
            calendar: calendar.to_string(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        with_holidays(&self.calendar, self.holidays.as_ref())
            .explain_business_days_between(self.start_date.0, self.end_date.0)
    }

    fn is_long(&self) -> bool {
        (self.end_date.0 - self.start_date.0).num_days().abs() > FEW_DAYS
    }
}

/// A date moved to a business day.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AdjustedDate")]
pub struct AdjustedDate {
    /// The business day to which the date moves; the date itself where it is one.
    pub adjusted_date: Date,
    /// The date of the request.
    pub date: Date,
    /// True if the date was moved.
    pub is_adjusted: bool,
    /// The day of the week of the adjusted date, in English.
    pub day_of_week: DayOfWeek,
    /// Days of the calendar from the date to the adjusted date; negative where it is earlier.
    pub calendar_days: i64,
    /// The adjustment of the request.
    pub adjustment: instruments::BusinessDayConvention,
    /// The calendars of the request.
    pub calendar: String,
}

impl Computation for Adjustment {
    type Answer = AdjustedDate;

    fn compute(&self) -> quant_core::Result<AdjustedDate> {
        let calendar = with_holidays(&self.calendar, self.holidays.as_ref());
        let adjusted = calendar.adjust(self.date.0, self.adjustment.0)?;
        Ok(AdjustedDate {
            adjusted_date: JsonString(adjusted),
            date: self.date,
            is_adjusted: adjusted != self.date.0,
            day_of_week: day_of_week(adjusted),
            calendar_days: (adjusted - self.date.0).num_days(),
            adjustment: self.adjustment.0.into(),
            calendar: calendar.to_string(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        with_holidays(&self.calendar, self.holidays.as_ref())
            .explain_adjust(self.date.0, self.adjustment.0)
    }
}

/// The list of all calendars.
pub struct CalendarList;

/// All calendars.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CalendarList")]
pub struct CalendarNames {
    /// The calendars.
    pub calendars: Vec<CalendarName>,
    /// The number of calendars.
    pub count: usize,
    /// The calendar of a request that names none.
    pub default: String,
}

/// A calendar and the market that it describes.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CalendarEntry")]
pub struct CalendarName {
    /// The name to send.
    pub name: String,
    /// Other spellings. Upper and lower case, blanks, underscores and hyphens do not matter.
    pub aliases: Vec<String>,
    /// The market or the institution.
    pub description: String,
    /// The ISO 4217 code of the market's currency; absent for a calendar of no market.
    #[oai(skip_serializing_if_is_none)]
    pub currency: Option<String>,
}

impl SharedComputation for CalendarList {
    type Request = NoArguments;
    type Answer = CalendarNames;

    fn compute(_: &NoArguments) -> quant_core::Result<CalendarNames> {
        let calendars = Calendar::ALL.iter().map(|calendar| CalendarName {
            name: calendar.to_string(),
            aliases: texts(calendar.aliases()),
            description: calendar.description().to_owned(),
            currency: calendar.currency().map(str::to_owned),
        });
        Ok(CalendarNames {
            calendars: calendars.collect(),
            count: Calendar::ALL.len(),
            default: weekends().to_string(),
        })
    }

    fn explain(_: &NoArguments) -> quant_core::Result<Explanation> {
        Ok(Calendar::explain_all())
    }
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

impl Example for CalendarDate {
    fn example() -> Self {
        Self { date: date(2026, 12, 25), calendar: json_string("US+UK"), holidays: None }
    }
}

impl Example for DayAddition {
    fn example() -> Self {
        Self {
            date: date(2026, 12, 24),
            days: 2,
            calendar: json_string("TARGET"),
            holidays: Some(vec![date(2026, 12, 31)]),
        }
    }
}

impl Example for DaySpan {
    fn example() -> Self {
        Self {
            start_date: date(2026, 12, 21),
            end_date: date(2027, 1, 4),
            calendar: json_string("TARGET"),
            holidays: None,
        }
    }
}

impl Example for Adjustment {
    fn example() -> Self {
        Self {
            date: date(2026, 1, 31),
            adjustment: modified_following(),
            calendar: json_string("TARGET"),
            holidays: None,
        }
    }
}
