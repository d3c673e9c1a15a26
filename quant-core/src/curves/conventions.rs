//! The conventions of an instrument: its settlement, its dates and its interest.

use super::compounding::Compounding;
use crate::time::{
    BusinessDayConvention, Calendar, DayCount, Frequency, NaiveDate, Reference, Schedule, Tenor,
    month_end,
};
use crate::{Error, Result};

/// The rules by which the dates and the interest of an instrument are counted.
///
/// # Examples
///
/// ```
/// use quant_core::curves::{Compounding, Conventions};
/// use quant_core::prelude::*;
///
/// // A 92-day deposit accrues 92/360 of a year.
/// let conventions = Conventions {
///     day_count: DayCount::Act360,
///     compounding: Compounding::Simple,
///     calendar: Calendar::Target,
///     convention: BusinessDayConvention::ModifiedFollowing,
///     settlement_days: 2,
///     end_of_month: true,
/// };
/// let today = NaiveDate::from_ymd_opt(2026, 11, 20).expect("a date");
/// let start = conventions.settlement_date(today)?;
/// let end = conventions.maturity_date(start, "3M".parse()?)?;
/// let [period] = conventions.periods(start, end, Frequency::Annual)?[..] else { panic!("one period") };
/// assert_eq!(period.start.to_string(), "2026-11-24");
/// assert_eq!(period.end.to_string(), "2027-02-24");
/// assert_eq!(period.year_fraction, 92.0 / 360.0);
/// # Ok::<(), quant_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Conventions {
    /// Day-count convention of the interest.
    pub day_count: DayCount,
    /// Compounding of the rate over a period.
    pub compounding: Compounding,
    /// Calendar of the business days to which dates are moved.
    pub calendar: Calendar,
    /// Adjustment of the ends of periods that fall on no business day.
    pub convention: BusinessDayConvention,
    /// Business days from the trade to the settlement, on which the interest starts.
    pub settlement_days: u32,
    /// True if an instrument that starts on the last business day of a month ends on one.
    pub end_of_month: bool,
}

/// A period of a leg, at whose end the interest is paid.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AccrualPeriod {
    /// First day of the period, a business day where the convention adjusts it.
    pub start: NaiveDate,
    /// Day on which the period ends and its interest is paid.
    pub end: NaiveDate,
    /// Length of the period in years, by the day count.
    pub year_fraction: f64,
}

impl Conventions {
    /// Returns the date on which a trade settles.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date that is outside, or would be moved out of, the years 1 to 9999.
    pub fn settlement_date(&self, trade_date: NaiveDate) -> Result<NaiveDate> {
        self.calendar.add_business_days(trade_date, i64::from(self.settlement_days))
    }

    /// Returns the date a tenor after a start, before it is adjusted to a business day.
    ///
    /// With `end_of_month`, a tenor of months and a start on the last business day of its month, it is
    /// the last day of a month.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] or [`Error::Text`] for a start or a tenor that leads out of the years 1 to 9999.
    pub fn maturity_date(&self, start: NaiveDate, tenor: Tenor) -> Result<NaiveDate> {
        let date = tenor.add_to(start)?;
        let sticks = self.end_of_month && tenor.total_days() == 0 && self.is_month_end(start)?;
        Ok(if sticks { month_end(date) } else { date })
    }

    /// Returns whether no later day of the month is a business day.
    fn is_month_end(&self, date: NaiveDate) -> Result<bool> {
        let last = self.calendar.adjust(month_end(date), BusinessDayConvention::Preceding)?;
        Ok(date >= last)
    }

    /// Returns the periods of a leg from its start to its maturity, in order of time.
    ///
    /// They are counted back from `maturity`, before it is adjusted, with a short first period where
    /// they do not divide the time, as in [`Schedule`]. Then all their ends are adjusted, and interest
    /// accrues from one adjusted date to the next. Periods that the adjustment leaves without a day are
    /// left out.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a maturity that is not after the start, or a date that is outside, or would
    /// be moved out of, the years 1 to 9999; [`Error::Conflict`] for BUS/252 without a calendar.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Compounding, Conventions};
    /// use quant_core::prelude::*;
    ///
    /// let conventions = Conventions {
    ///     day_count: DayCount::Act360,
    ///     compounding: Compounding::Simple,
    ///     calendar: Calendar::None,
    ///     convention: BusinessDayConvention::Unadjusted,
    ///     settlement_days: 0,
    ///     end_of_month: false,
    /// };
    /// let date = |year| NaiveDate::from_ymd_opt(year, 1, 1).expect("a date");
    /// let periods = conventions.periods(date(2024), date(2026), Frequency::Semiannual)?;
    /// let interest: Vec<f64> =
    ///     periods.iter().map(|period| 1_000_000.0 * 0.05 * period.year_fraction).collect();
    /// assert!((interest[0] - 25277.78).abs() < 0.005);
    /// assert!((interest[3] - 25555.56).abs() < 0.005);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn periods(
        &self,
        start: NaiveDate,
        maturity: NaiveDate,
        frequency: Frequency,
    ) -> Result<Vec<AccrualPeriod>> {
        self.day_count.require_calendar(self.calendar)?;
        let schedule = Schedule::backward(start, maturity, frequency, self.end_of_month)?;
        let last = self.adjust(maturity)?;
        let mut periods = Vec::with_capacity(schedule.len());
        let mut start = self.adjust(start)?;
        for period in schedule {
            let end = self.adjust(period.end)?;
            if end <= start {
                continue;
            }
            // The regular period of ACT/ACT ICMA moves with its adjusted ends.
            let is_regular = period.regular_start == period.start;
            let reference = Reference {
                period_start: if is_regular { start } else { period.regular_start },
                period_end: end,
                frequency,
                maturity_date: last,
                calendar: self.calendar,
            };
            let year_fraction = self.day_count.fraction(start, end, &reference);
            periods.push(AccrualPeriod { start, end, year_fraction });
            start = end;
        }
        if periods.is_empty() {
            return Err(Error::Date {
                argument: "maturity_date",
                value: maturity,
                requirement: "on a later business day than the start",
            });
        }
        Ok(periods)
    }

    /// Returns the single period from a start to a maturity, in which interest is paid once.
    ///
    /// # Errors
    ///
    /// Those of [`periods`](Self::periods).
    pub fn period(&self, start: NaiveDate, maturity: NaiveDate) -> Result<AccrualPeriod> {
        self.day_count.require_calendar(self.calendar)?;
        let (start, end) = (self.adjust(start)?, self.adjust(maturity)?);
        if end <= start {
            return Err(Error::Date {
                argument: "maturity_date",
                value: maturity,
                requirement: "on a later business day than the start",
            });
        }
        let reference = Reference {
            period_start: start,
            period_end: end,
            frequency: Frequency::Annual,
            maturity_date: end,
            calendar: self.calendar,
        };
        let year_fraction = match self.day_count {
            // Without coupons ICMA has no regular period; its year is that of ISDA.
            DayCount::ActActIcma => DayCount::ActActIsda.fraction(start, end, &reference),
            other => other.fraction(start, end, &reference),
        };
        Ok(AccrualPeriod { start, end, year_fraction })
    }

    fn adjust(&self, date: NaiveDate) -> Result<NaiveDate> {
        self.calendar.adjust(date, self.convention)
    }
}
