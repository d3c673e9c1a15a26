//! Schedules by rule: stubs at either end, roll days, and dates adjusted to business days.

use chrono::{Datelike, NaiveDate, Weekday};

use super::{
    calendar::{BusinessDayConvention, JointCalendar},
    day_count::{DayCount, Reference},
    gregorian::{
        add_days, date_in_month, days_between, has_plain_year, month_end, month_index, require_year,
    },
    period_length::PeriodLength,
    schedule::Frequency,
    year_fraction_error,
};
use crate::explanation::{Explanation, Method};
use crate::named::named;
use crate::{Error, Result};

/// The largest number of periods of a schedule.
const MAX_PERIODS: i64 = 12_000;

/// The place and the length of the period that is not regular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stub {
    /// Periods are counted back from the end, and what is left is a short first period.
    ShortFront,
    /// Periods are counted back from the end, and what is left is added to the first of them.
    LongFront,
    /// Periods are counted from the start, and what is left is a short last period.
    ShortBack,
    /// Periods are counted from the start, and what is left is added to the last of them.
    LongBack,
    /// Nothing may be left.
    None,
}

named!(
    Stub,
    "stub",
    ShortFront = "short front" | "short initial" | "short first" | "front" | "backward",
    LongFront = "long front" | "long initial" | "long first",
    ShortBack = "short back" | "short final" | "short last" | "back" | "forward",
    LongBack = "long back" | "long final" | "long last",
    None = "none" | "no stub"
);

impl Stub {
    /// Returns the error of a stub where there may be none.
    pub(crate) fn refusal() -> Error {
        let problem = "is none, but the periods do not divide the time";
        Error::Conflict { argument: "stub", problem }
    }
}

/// The day of the month on which regular periods end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RollConvention {
    /// The day of the date from which the periods are counted, clipped to the end of the month.
    SameDay,
    /// The end of the month where the periods are counted from the last business day of one or a later
    /// day, else the same day.
    EndOfMonth,
    /// The third Wednesday of the month, on which interest-rate futures settle.
    Imm,
}

named!(
    RollConvention,
    "roll",
    SameDay = "same day" | "none" | "unadjusted",
    EndOfMonth = "end of month" | "EOM" | "month end",
    Imm = "IMM" | "third wednesday"
);

/// The rules by which the periods between two dates are laid out.
///
/// Each date is counted from the end, or from the start for a stub at the back, so that a clipped date
/// clips no other. Then all dates are adjusted. Periods that the adjustment leaves without a day are
/// left out.
///
/// # Examples
///
/// ```
/// use quant_core::prelude::*;
/// use quant_core::time::{PeriodKind, PeriodLength, RollConvention, ScheduleRule, Stub};
///
/// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
/// let rule = ScheduleRule {
///     effective_date: date("2026-02-10"),
///     termination_date: date("2027-01-15"),
///     frequency: PeriodLength::Months(6),
///     stub: Stub::LongFront,
///     roll: RollConvention::SameDay,
///     calendar: "US+UK".parse()?,
///     convention: BusinessDayConvention::ModifiedFollowing,
///     termination_convention: BusinessDayConvention::ModifiedFollowing,
///     day_count: DayCount::Act360,
/// };
/// let periods = rule.periods()?;
/// assert_eq!(periods.len(), 1);
/// assert_eq!(periods[0].kind, PeriodKind::LongStub);
/// assert_eq!(periods[0].year_fraction, 339.0 / 360.0);
/// # Ok::<(), quant_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScheduleRule {
    /// First day of the first period.
    pub effective_date: NaiveDate,
    /// End of the last period; after the effective date.
    pub termination_date: NaiveDate,
    /// Length of the regular periods.
    pub frequency: PeriodLength,
    /// Place and length of the period that is not regular.
    pub stub: Stub,
    /// Day of the month on which regular periods end.
    pub roll: RollConvention,
    /// Calendars of the business days.
    pub calendar: JointCalendar,
    /// Adjustment of all dates but the last.
    pub convention: BusinessDayConvention,
    /// Adjustment of the last date.
    pub termination_convention: BusinessDayConvention,
    /// Day count of the year fractions.
    pub day_count: DayCount,
}

/// The regularity of a period of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeriodKind {
    /// A period of the length that the frequency states.
    Regular,
    /// A shorter period.
    ShortStub,
    /// A longer period.
    LongStub,
}

named!(PeriodKind, "kind", Regular = "regular", ShortStub = "short stub", LongStub = "long stub");

/// A period of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScheduledPeriod {
    /// First day of the period.
    pub start: NaiveDate,
    /// The day after its last, and the first day of the next period.
    pub end: NaiveDate,
    /// First day before it was adjusted.
    pub unadjusted_start: NaiveDate,
    /// End before it was adjusted.
    pub unadjusted_end: NaiveDate,
    /// Length in years between the adjusted dates.
    pub year_fraction: f64,
    /// Days of the calendar between the adjusted dates.
    pub days: i64,
    /// The regularity of the period.
    pub kind: PeriodKind,
}

impl ScheduleRule {
    /// Returns the periods in order of time, with adjusted dates.
    ///
    /// By ACT/ACT ICMA a regular period is exactly one over the frequency, and a stub the sum of its
    /// parts in the regular periods that it lies in.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date that is outside, or would be moved out of, the years 1 to 9999, for a
    /// termination that is not after the effective date or leaves more than 12,000 periods, and for IMM
    /// dates that are counted from another day than a third Wednesday; [`Error::Conflict`] for a stub
    /// where none may be, IMM dates without months, ACT/ACT ICMA where the periods do not divide a year,
    /// and BUS/252 where every day is a business day.
    ///
    /// # References
    ///
    /// ISDA, "2006 ISDA Definitions", sections 4.11 to 4.16.
    pub fn periods(&self) -> Result<Vec<ScheduledPeriod>> {
        self.validate()?;
        let grid = Grid::of(self)?;
        let unadjusted = self.unadjusted(&grid)?;
        let adjusted = self.adjusted(&unadjusted)?;
        let last = adjusted.len() - 1;
        let mut periods = Vec::with_capacity(last);
        for at in 0..last {
            let (start, end) = (adjusted[at], adjusted[at + 1]);
            if end <= start {
                continue;
            }
            let (unadjusted_start, unadjusted_end) = (unadjusted[at], unadjusted[at + 1]);
            let kind = grid.kind(unadjusted_start, unadjusted_end)?;
            periods.push(ScheduledPeriod {
                start,
                end,
                unadjusted_start,
                unadjusted_end,
                year_fraction: self.year_fraction(&grid, start, end, kind, adjusted[last])?,
                days: days_between(start, end),
                kind,
            });
        }
        if periods.is_empty() {
            return Err(self.refused("on a later business day than the effective date"));
        }
        Ok(periods)
    }

    /// Explains [`periods`](Self::periods).
    ///
    /// # Errors
    ///
    /// The errors of [`periods`](Self::periods).
    pub fn explain(&self) -> Result<Explanation> {
        let periods = self.periods()?;
        let longest = periods.iter().map(|period| period.year_fraction).fold(0.0, f64::max);
        let method = Method::new(
            "Schedule from a rule, with a stub, and adjusted dates",
            "ISDA (2006), 2006 ISDA Definitions, sections 4.11 to 4.16",
        );
        let count = match self.stub {
            Stub::ShortBack | Stub::LongBack => "Periods are counted from the effective date.",
            _ => "Periods are counted back from the termination.",
        };
        let roll = match self.roll {
            RollConvention::SameDay => "Each date is counted from that one, so that none drifts.",
            RollConvention::EndOfMonth => {
                "Dates are ends of months where the first counted one is."
            }
            RollConvention::Imm => "Dates are third Wednesdays.",
        };
        let (convention, last) = (self.convention, self.termination_convention);
        let (day_count, rule) = (self.day_count, self.day_count.description());
        Ok(Explanation::new(method, year_fraction_error(longest))
            .with_conventions([count, roll])
            .with_conventions([
                format!("Dates are adjusted by {convention}, the last date by {last}."),
                format!("Year fractions are between adjusted dates, by {day_count}: {rule}."),
            ])
            .with_conventions(self.calendar.conventions()))
    }

    fn validate(&self) -> Result<()> {
        require_year("effective_date", self.effective_date)?;
        require_year("termination_date", self.termination_date)?;
        if self.termination_date <= self.effective_date {
            return Err(self.refused("after the effective date"));
        }
        let days = days_between(self.effective_date, self.termination_date);
        let shortest = match self.frequency {
            PeriodLength::Months(months) => 28 * i64::from(months),
            PeriodLength::Days(days) => i64::from(days),
            PeriodLength::Whole => days,
        };
        if shortest == 0 {
            return Err(Error::Conflict { argument: "frequency", problem: "is no time at all" });
        }
        if days / shortest >= MAX_PERIODS {
            return Err(self.refused("near enough to the effective date for 12,000 periods"));
        }
        if self.day_count == DayCount::Bus252 && self.calendar.is_always_open() {
            return Err(Error::Conflict {
                argument: "calendar",
                problem: "is needed where the day count is BUS/252",
            });
        }
        if self.day_count == DayCount::ActActIcma && self.payments_a_year().is_none() {
            return Err(Error::Conflict {
                argument: "day_count",
                problem: "is ACT/ACT ICMA, which needs periods that divide a year into months",
            });
        }
        Ok(())
    }

    fn refused(&self, requirement: &'static str) -> Error {
        Error::Date { argument: "termination_date", value: self.termination_date, requirement }
    }

    fn payments_a_year(&self) -> Option<Frequency> {
        match self.frequency {
            PeriodLength::Months(months) if months > 0 && 12 % months == 0 => {
                Frequency::from_count(12 / months)
            }
            _ => None,
        }
    }

    /// The dates before they are adjusted, with both ends.
    fn unadjusted(&self, grid: &Grid) -> Result<Vec<NaiveDate>> {
        let (first, last) = (self.effective_date, self.termination_date);
        let inner = |index: i64| {
            let date = grid.date(index)?;
            Ok::<_, Error>(Some(date).filter(|&date| first < date && date < last))
        };
        let mut dates = Vec::new();
        let mut count = 1;
        while let Some(date) = inner(count)? {
            dates.push(date);
            count += 1;
        }
        let far_end = if grid.is_forward { last } else { first };
        let is_stub = grid.step != PeriodLength::Whole && grid.date(count)? != far_end;
        if is_stub && self.stub == Stub::None {
            return Err(Stub::refusal());
        }
        if is_stub && matches!(self.stub, Stub::LongFront | Stub::LongBack) {
            dates.pop();
        }
        if !grid.is_forward {
            dates.reverse();
        }
        dates.insert(0, first);
        dates.push(last);
        Ok(dates)
    }

    fn adjusted(&self, dates: &[NaiveDate]) -> Result<Vec<NaiveDate>> {
        let last = dates.len() - 1;
        let adjust = |(at, &date): (usize, &NaiveDate)| {
            let is_last = at == last;
            let rule = if is_last { self.termination_convention } else { self.convention };
            let end = if at == 0 { "effective_date" } else { "termination_date" };
            self.calendar.adjust(date, rule).map_err(|error| error.renamed(|_| end))
        };
        dates.iter().enumerate().map(adjust).collect()
    }

    fn year_fraction(
        &self,
        grid: &Grid,
        start: NaiveDate,
        end: NaiveDate,
        kind: PeriodKind,
        maturity_date: NaiveDate,
    ) -> Result<f64> {
        let reference = Reference {
            period_start: start,
            period_end: end,
            // ACT/365L asks only whether the periods are years.
            frequency: self.payments_a_year().unwrap_or(Frequency::Monthly),
            maturity_date,
            calendar: super::Calendar::None,
        };
        if self.day_count == DayCount::ActActIcma && kind != PeriodKind::Regular {
            return grid.icma_fraction(start, end, &reference);
        }
        let business_days = || self.calendar.count_business_days(start, end);
        Ok(self.day_count.fraction_by(start, end, &reference, business_days))
    }
}

/// The dates on which regular periods start and end, counted from one end of the schedule.
struct Grid {
    /// The date from which the others are counted.
    anchor: NaiveDate,
    /// True if the dates are counted from the start.
    is_forward: bool,
    step: PeriodLength,
    /// The day of the month that every date asks for; none for third Wednesdays.
    day: Option<u32>,
}

impl Grid {
    fn of(rule: &ScheduleRule) -> Result<Self> {
        let is_forward = matches!(rule.stub, Stub::ShortBack | Stub::LongBack);
        let (argument, anchor) = if is_forward {
            ("effective_date", rule.effective_date)
        } else {
            ("termination_date", rule.termination_date)
        };
        let day = match rule.roll {
            RollConvention::SameDay => Some(anchor.day()),
            RollConvention::EndOfMonth => {
                let last =
                    rule.calendar.adjust(month_end(anchor), BusinessDayConvention::Preceding);
                Some(if last.is_ok_and(|last| anchor >= last) { 31 } else { anchor.day() })
            }
            RollConvention::Imm => None,
        };
        if day.is_none() {
            if !matches!(rule.frequency, PeriodLength::Months(_)) {
                return Err(Error::Conflict {
                    argument: "roll",
                    problem: "is IMM, which needs periods of months",
                });
            }
            if third_wednesday(month_index(anchor)) != Some(anchor) {
                return Err(Error::Date {
                    argument,
                    value: anchor,
                    requirement: "a third Wednesday, from which IMM dates are counted",
                });
            }
        }
        Ok(Self { anchor, is_forward, step: rule.frequency, day })
    }

    /// The date with so many periods between it and the anchor, away from the anchor; behind the anchor
    /// for a negative number.
    fn date(&self, periods: i64) -> Result<NaiveDate> {
        let steps = if self.is_forward { periods } else { -periods };
        let date = match self.step {
            _ if steps == 0 => Some(self.anchor),
            PeriodLength::Months(months) => {
                let index = month_index(self.anchor) + steps * i64::from(months);
                match self.day {
                    Some(day) => date_in_month(index, day),
                    None => third_wednesday(index),
                }
            }
            PeriodLength::Days(days) => add_days(self.anchor, steps * i64::from(days)),
            // Beyond every schedule.
            PeriodLength::Whole => Some(if steps > 0 { NaiveDate::MAX } else { NaiveDate::MIN }),
        };
        // A length of many years leads beyond the dates that can be represented.
        Ok(date.unwrap_or(if steps > 0 { NaiveDate::MAX } else { NaiveDate::MIN }))
    }

    /// Returns whether the period between two dates is one between neighbours of the grid.
    fn kind(&self, start: NaiveDate, end: NaiveDate) -> Result<PeriodKind> {
        if self.step == PeriodLength::Whole {
            return Ok(PeriodKind::Regular);
        }
        let (near, far) = if self.is_forward { (start, end) } else { (end, start) };
        let regular_far = self.date(self.index_of(near)? + 1)?;
        let (found, regular) =
            (days_between(near, far).abs(), days_between(near, regular_far).abs());
        Ok(match found.cmp(&regular) {
            std::cmp::Ordering::Equal => PeriodKind::Regular,
            std::cmp::Ordering::Less => PeriodKind::ShortStub,
            std::cmp::Ordering::Greater => PeriodKind::LongStub,
        })
    }

    /// The number of periods between the anchor and the last date of the grid that is no further from
    /// the anchor than `date`; negative where `date` is behind the anchor.
    fn index_of(&self, date: NaiveDate) -> Result<i64> {
        let away = if self.is_forward { 1 } else { -1 } * days_between(self.anchor, date);
        let mut index = match self.step {
            PeriodLength::Months(months) => {
                let apart = month_index(date) - month_index(self.anchor);
                (if self.is_forward { apart } else { -apart }).div_euclid(i64::from(months))
            }
            PeriodLength::Days(days) => away.div_euclid(i64::from(days)),
            PeriodLength::Whole => 0,
        };
        let is_beyond = |grid: NaiveDate| {
            if self.is_forward { grid > date } else { grid < date }
        };
        while is_beyond(self.date(index)?) {
            index -= 1;
        }
        while !is_beyond(self.date(index + 1)?) {
            index += 1;
        }
        Ok(index)
    }

    /// ICMA's fraction of a stub: the sum over the regular periods that it lies in.
    fn icma_fraction(
        &self,
        start: NaiveDate,
        end: NaiveDate,
        reference: &Reference,
    ) -> Result<f64> {
        let (near, far) = if self.is_forward { (start, end) } else { (end, start) };
        let mut index = self.index_of(near)?;
        let mut sum = 0.0;
        loop {
            let (one, other) = (self.date(index)?, self.date(index + 1)?);
            let (from, to) = (one.min(other), one.max(other));
            let (first, last) = (from.max(start), to.min(end));
            if first < last {
                let regular = Reference { period_start: from, period_end: to, ..*reference };
                sum += DayCount::ActActIcma.fraction(first, last, &regular);
            }
            let is_whole = if self.is_forward { other >= far } else { other <= far };
            if is_whole || !has_plain_year(other) {
                return Ok(sum);
            }
            index += 1;
        }
    }
}

/// The third Wednesday of the month with this index.
fn third_wednesday(month_index: i64) -> Option<NaiveDate> {
    let first = date_in_month(month_index, 1)?;
    NaiveDate::from_weekday_of_month_opt(first.year(), first.month(), Weekday::Wed, 3)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::Calendar;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn rule(effective: &str, termination: &str, frequency: &str, stub: Stub) -> ScheduleRule {
        ScheduleRule {
            effective_date: date(effective),
            termination_date: date(termination),
            frequency: frequency.parse().unwrap(),
            stub,
            roll: RollConvention::SameDay,
            calendar: Calendar::None.into(),
            convention: BusinessDayConvention::Unadjusted,
            termination_convention: BusinessDayConvention::Unadjusted,
            day_count: DayCount::ActActIsda,
        }
    }

    /// The ends of the periods with their kinds, as in `2026-01-15 regular`.
    fn ends(rule: &ScheduleRule) -> Vec<String> {
        let periods = rule.periods().unwrap();
        periods.iter().map(|period| format!("{} {}", period.end, period.kind)).collect()
    }

    #[test]
    fn a_stub_is_where_and_as_long_as_it_is_asked_for() {
        let at = |stub| ends(&rule("2026-01-10", "2026-11-20", "3M", stub));
        assert_eq!(
            at(Stub::ShortFront),
            [
                "2026-02-20 short stub",
                "2026-05-20 regular",
                "2026-08-20 regular",
                "2026-11-20 regular"
            ]
        );
        assert_eq!(
            at(Stub::LongFront),
            ["2026-05-20 long stub", "2026-08-20 regular", "2026-11-20 regular"]
        );
        assert_eq!(
            at(Stub::ShortBack),
            [
                "2026-04-10 regular",
                "2026-07-10 regular",
                "2026-10-10 regular",
                "2026-11-20 short stub"
            ]
        );
        assert_eq!(
            at(Stub::LongBack),
            ["2026-04-10 regular", "2026-07-10 regular", "2026-11-20 long stub"]
        );
        // A single period is short, wherever the stub is.
        for &stub in &Stub::ALL[..4] {
            let rule = rule("2026-01-10", "2026-02-20", "quarterly", stub);
            assert_eq!(ends(&rule), ["2026-02-20 short stub"]);
        }
    }

    #[test]
    fn no_stub_is_refused_only_where_there_is_one() {
        assert_eq!(
            ends(&rule("2026-01-30", "2026-04-30", "3M", Stub::None)),
            ["2026-04-30 regular"]
        );
        let error = rule("2026-01-10", "2026-11-20", "3M", Stub::None).periods().unwrap_err();
        assert_eq!((error.code(), error.argument()), ("conflict", Some("stub")));
    }

    #[test]
    fn months_end_where_the_roll_says() {
        let mut rule = rule("2026-02-28", "2026-11-30", "3M", Stub::ShortFront);
        rule.roll = RollConvention::EndOfMonth;
        assert_eq!(ends(&rule), ["2026-05-31 regular", "2026-08-31 regular", "2026-11-30 regular"]);
        // Friday 29 May is the last business day of its month.
        (rule.effective_date, rule.termination_date) = (date("2026-05-29"), date("2026-09-02"));
        (rule.stub, rule.frequency) = (Stub::ShortBack, PeriodLength::Months(1));
        rule.calendar = Calendar::Weekends.into();
        assert_eq!(
            ends(&rule),
            [
                "2026-06-30 regular",
                "2026-07-31 regular",
                "2026-08-31 regular",
                "2026-09-02 short stub"
            ]
        );
        rule.roll = RollConvention::SameDay;
        assert_eq!(ends(&rule)[2], "2026-08-29 regular");
        rule.roll = RollConvention::Imm;
        assert_eq!(rule.periods().unwrap_err().argument(), Some("effective_date"));
        rule.effective_date = date("2026-06-17");
        assert_eq!(
            ends(&rule),
            ["2026-07-15 regular", "2026-08-19 regular", "2026-09-02 short stub"]
        );
        rule.frequency = PeriodLength::Days(7);
        assert_eq!(rule.periods().unwrap_err().argument(), Some("roll"));
    }

    #[test]
    fn adjusted_dates_join_and_empty_periods_are_left_out() {
        let mut rule = rule("2026-11-14", "2026-11-30", "weekly", Stub::ShortBack);
        rule.calendar = Calendar::Weekends.into();
        rule.convention = BusinessDayConvention::Following;
        rule.termination_convention = BusinessDayConvention::Unadjusted;
        // Saturdays move to Mondays, and the last two days lie on one Monday.
        assert_eq!(ends(&rule), ["2026-11-23 regular", "2026-11-30 regular"]);
        rule.frequency = PeriodLength::Days(1);
        rule.termination_date = date("2026-11-17");
        assert_eq!(ends(&rule), ["2026-11-17 regular"]);
        rule.termination_date = date("2026-11-16");
        assert_eq!(rule.periods().unwrap_err().argument(), Some("termination_date"));
    }

    #[test]
    fn icma_adds_the_parts_of_a_stub() {
        // ISDA (1999), "EMU and Market Conventions": a long first period of 15 August 2002, and a long
        // last one to 30 April 2000, quarterly at the end of the month.
        let mut first = rule("2002-08-15", "2003-07-15", "semiannual", Stub::LongFront);
        first.day_count = DayCount::ActActIcma;
        let periods = first.periods().unwrap();
        assert!((periods[0].year_fraction - 0.915760869565).abs() < 1e-12);
        let mut last = rule("1999-08-31", "2000-04-30", "quarterly", Stub::LongBack);
        (last.roll, last.day_count) = (RollConvention::EndOfMonth, DayCount::ActActIcma);
        let periods = last.periods().unwrap();
        assert_eq!(periods[0].year_fraction, 0.25);
        assert!((periods[1].year_fraction - 0.415760869565).abs() < 1e-12);
        last.frequency = PeriodLength::Months(5);
        assert_eq!(last.periods().unwrap_err().argument(), Some("day_count"));
    }

    #[test]
    fn more_periods_than_a_person_reads_are_refused() {
        let refused = |rule: &ScheduleRule| rule.periods().unwrap_err().argument().unwrap();
        assert_eq!(
            refused(&rule("0001-01-01", "9999-12-31", "daily", Stub::ShortFront)),
            "termination_date"
        );
        let mut never = rule("2026-01-01", "2027-01-01", "1M", Stub::ShortFront);
        never.frequency = PeriodLength::Days(0);
        assert_eq!(refused(&never), "frequency");
        let whole = rule("0001-01-01", "9999-12-31", "once", Stub::None);
        assert_eq!(ends(&whole), ["9999-12-31 regular"]);
        let long = rule("0001-01-01", "9999-12-31", "4000Y", Stub::ShortBack);
        assert_eq!(
            ends(&long),
            ["4001-01-01 regular", "8001-01-01 regular", "9999-12-31 short stub"]
        );
        let mut longest = rule("0001-01-01", "9999-12-31", "4294967295M", Stub::ShortBack);
        assert_eq!(ends(&longest), ["9999-12-31 short stub"]);
        longest.frequency = PeriodLength::Days(u32::MAX);
        assert_eq!(ends(&longest), ["9999-12-31 short stub"]);
        longest.day_count = DayCount::Bus252;
        assert_eq!(refused(&longest), "calendar");
    }

    proptest! {
        #[test]
        fn periods_join_from_end_to_end(
            start in 2_i32..3_640_000, length in 1_i32..9000, months in 1_u32..26, days: bool, which in 0_usize..4,
            roll in 0_usize..2, calendar in 0_usize..12, day_count in 0..DayCount::ALL.len(),
        ) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let frequency = if days { PeriodLength::Days(7 * months) } else { PeriodLength::Months(months) };
            let mut rule = rule("2026-01-01", "2027-01-01", "1M", Stub::ALL[which]);
            (rule.effective_date, rule.termination_date) = (day(start), day(start + length));
            (rule.frequency, rule.roll) = (frequency, RollConvention::ALL[roll]);
            rule.calendar = Calendar::ALL[calendar].into();
            rule.day_count = DayCount::ALL[day_count];
            let Ok(periods) = rule.periods() else {
                prop_assert!(matches!(rule.day_count, DayCount::ActActIcma | DayCount::Bus252));
                return Ok(());
            };
            prop_assert_eq!((periods[0].start, periods[periods.len() - 1].end), (day(start), day(start + length)));
            prop_assert!(periods.windows(2).all(|pair| pair[0].end == pair[1].start));
            let stubs = periods.iter().filter(|period| period.kind != PeriodKind::Regular).count();
            prop_assert!(stubs <= 1);
            for period in &periods {
                let years = period.days as f64 / 365.25;
                prop_assert!((period.year_fraction - years).abs() <= 0.06 * years + 0.02, "{period:?}");
            }
        }
    }
}
