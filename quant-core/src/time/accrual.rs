//! The length in years of a span of time, with what its day count needs.

use std::borrow::Cow;

use chrono::NaiveDate;

use super::{
    calendar::JointCalendar,
    day_count::{DayCount, Reference},
    gregorian::{days_between, require_year},
    schedule::{Frequency, Schedule},
    year_fraction_error,
};
use crate::explanation::Explanation;
use crate::{Error, Result};

/// A span of time and the convention that measures the span.
///
/// Where no regular coupon period is given, ACT/ACT ICMA counts its periods back from the end at the
/// frequency, with a short first one, and ACT/365L takes the span itself as the period.
///
/// # Examples
///
/// ```
/// use quant_core::prelude::*;
/// use quant_core::time::Accrual;
///
/// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
/// let mut accrual = Accrual {
///     start_date: date("2024-01-31"),
///     end_date: date("2024-07-31"),
///     day_count: DayCount::Act360,
///     frequency: Frequency::Semiannual,
///     regular_period: None,
///     maturity_date: None,
///     calendar: Calendar::None.into(),
/// };
/// let measured = accrual.measure()?;
/// assert_eq!((measured.year_fraction, measured.days), (182.0 / 360.0, 182));
/// accrual.day_count = DayCount::ActActIcma;
/// assert_eq!(accrual.measure()?.year_fraction, 0.5);
/// # Ok::<(), quant_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Accrual {
    /// First day of the span.
    pub start_date: NaiveDate,
    /// The day after the last of the span; on or after the start.
    pub end_date: NaiveDate,
    /// The day count.
    pub day_count: DayCount,
    /// Coupons a year; for ACT/ACT ICMA and ACT/365L.
    pub frequency: Frequency,
    /// Start and end of the regular coupon period that holds the span; for ACT/ACT ICMA and ACT/365L.
    pub regular_period: Option<(NaiveDate, NaiveDate)>,
    /// Maturity of the instrument, whose last of February 30E/360 ISDA keeps; none where it is another
    /// day than the end.
    pub maturity_date: Option<NaiveDate>,
    /// Calendars of the business days; for BUS/252.
    pub calendar: JointCalendar,
}

/// The length of a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MeasuredAccrual {
    /// Length in years.
    pub year_fraction: f64,
    /// Days of the calendar from the start to the end.
    pub actual_days: i64,
    /// Days that the day count counts: months of 30 days, business days, or the days of the calendar.
    pub days: i64,
}

impl Accrual {
    /// Returns the length of the span by its day count, as [`DayCount::year_fraction`] states it.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date outside the years 1 to 9999, an end before the start, and a regular
    /// period that is empty or does not hold the span; [`Error::Conflict`] for BUS/252 where every day is
    /// a business day.
    pub fn measure(&self) -> Result<MeasuredAccrual> {
        let Self { start_date: start, end_date: end, .. } = *self;
        require_year("start_date", start)?;
        require_year("end_date", end)?;
        if end < start {
            return Err(Error::Date {
                argument: "end_date",
                value: end,
                requirement: "on or after the start date",
            });
        }
        self.require_regular_period()?;
        if self.day_count == DayCount::Bus252 && self.calendar.is_always_open() {
            return Err(Error::Conflict {
                argument: "calendar",
                problem: "is needed where the day count is BUS/252",
            });
        }
        let (day_count, reference) = (self.day_count, self.reference());
        let business_days = || self.calendar.count_business_days(start, end);
        Ok(MeasuredAccrual {
            year_fraction: if day_count == DayCount::ActActIcma && self.regular_period.is_none() {
                self.periods_back_from_the_end(&reference)?
            } else {
                day_count.fraction_by(start, end, &reference, business_days)
            },
            actual_days: days_between(start, end),
            days: day_count.counted(start, end, &reference, business_days),
        })
    }

    /// Explains [`measure`](Self::measure).
    ///
    /// # Errors
    ///
    /// The errors of [`measure`](Self::measure).
    pub fn explain(&self) -> Result<Explanation> {
        let measured = self.measure()?;
        let error = year_fraction_error(measured.year_fraction);
        Ok(Explanation::new(self.day_count.method(), error)
            .with_conventions(["The first day counts and the last does not."])
            .with_conventions(self.rule())
            .with_conventions(match self.day_count {
                DayCount::Bus252 => self.calendar.conventions(),
                _ => Vec::new(),
            }))
    }

    /// The rule of the day count for arguments that are given or absent.
    fn rule(&self) -> Option<Cow<'static, str>> {
        let count = self.frequency.count();
        Some(match (self.day_count, self.regular_period, self.maturity_date) {
            (DayCount::ActActIcma, None, _) => {
                format!("Periods are counted back from the end, {count} a year, a short one first.")
                    .into()
            }
            (DayCount::Act365L, None, _) => {
                format!("The span is taken as the coupon period, of which a year has {count}.")
                    .into()
            }
            (DayCount::ActActIcma | DayCount::Act365L, Some((start, end)), _) => {
                format!("The coupon period is that from {start} to {end}, {count} a year.").into()
            }
            (DayCount::ThirtyE360Isda, _, Some(maturity)) if maturity == self.end_date => {
                "The end is the maturity, whose last of February is kept.".into()
            }
            (DayCount::ThirtyE360Isda, ..) => {
                "The end is not the maturity: its last of February counts as the 30th.".into()
            }
            _ => return None,
        })
    }

    fn require_regular_period(&self) -> Result<()> {
        let Some((start, end)) = self.regular_period else { return Ok(()) };
        let refuse =
            |argument, value, requirement| Err(Error::Date { argument, value, requirement });
        require_year("period_start", start)?;
        require_year("period_end", end)?;
        if end <= start {
            return refuse("period_end", end, "after the start of the period");
        }
        if start > self.start_date {
            return refuse("period_start", start, "on or before the start date");
        }
        if end < self.end_date {
            return refuse("period_end", end, "on or after the end date");
        }
        Ok(())
    }

    fn reference(&self) -> Reference {
        let (period_start, period_end) =
            self.regular_period.unwrap_or((self.start_date, self.end_date));
        Reference {
            period_start,
            period_end,
            frequency: self.frequency,
            // The start is never the maturity, whose rule is that of the end.
            maturity_date: self.maturity_date.unwrap_or(self.start_date),
            calendar: super::Calendar::None,
        }
    }

    /// ICMA's fraction of whole periods before the end and of what is left before them.
    fn periods_back_from_the_end(&self, reference: &Reference) -> Result<f64> {
        if self.start_date == self.end_date {
            return Ok(0.0);
        }
        let Self { start_date, end_date, frequency, .. } = *self;
        let mut schedule = Schedule::backward(start_date, end_date, frequency, false)?;
        let whole = schedule.len().saturating_sub(1) as f64 / f64::from(frequency.count());
        let first = schedule.next().map_or(0.0, |first| {
            let reference = Reference {
                period_start: first.regular_start,
                period_end: first.end,
                ..*reference
            };
            DayCount::ActActIcma.fraction(first.start, first.end, &reference)
        });
        Ok(whole + first)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::Calendar;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn span(start: &str, end: &str, day_count: DayCount) -> Accrual {
        Accrual {
            start_date: date(start),
            end_date: date(end),
            day_count,
            frequency: Frequency::Annual,
            regular_period: None,
            maturity_date: None,
            calendar: Calendar::Weekends.into(),
        }
    }

    #[test]
    fn icma_counts_periods_back_from_the_end() {
        // ISDA (1999), "EMU and Market Conventions": the short first period of 15 August 2002, and the
        // long one of 1 February 1999, each with the period after it.
        let mut accrual = span("1999-02-01", "2000-07-01", DayCount::ActActIcma);
        assert_eq!(accrual.measure().unwrap().year_fraction, 1.0 + 150.0 / 365.0);
        accrual = span("2002-08-15", "2003-07-15", DayCount::ActActIcma);
        accrual.frequency = Frequency::Semiannual;
        assert_eq!(accrual.measure().unwrap().year_fraction, 0.5 + 153.0 / 368.0);
        accrual = span("0001-01-01", "9999-12-31", DayCount::ActActIcma);
        assert!((accrual.measure().unwrap().year_fraction - 9998.997).abs() < 1e-3);
    }

    #[test]
    fn the_year_of_act_365l_is_that_of_its_period() {
        #[rustfmt::skip]
        let rows = [
            // start        end          coupons days  year
            ("2011-12-28", "2012-02-28", 1,      62.0, 365.0), ("2011-12-28", "2012-02-29", 1, 63.0, 366.0),
            ("2011-12-28", "2012-02-28", 2,      62.0, 366.0), ("2012-02-29", "2012-08-31", 1, 184.0, 365.0),
            ("2012-02-28", "2012-08-31", 1,     185.0, 366.0), ("2012-12-31", "2013-06-30", 2, 181.0, 365.0),
        ];
        for (start, end, count, days, year) in rows {
            let mut accrual = span(start, end, DayCount::Act365L);
            accrual.frequency = Frequency::from_count(count).unwrap();
            assert_eq!(
                accrual.measure().unwrap().year_fraction,
                days / year,
                "{start} {end} {count}"
            );
        }
        let mut accrual = span("2011-12-28", "2012-01-28", DayCount::Act365L);
        accrual.regular_period = Some((date("2011-12-28"), date("2012-12-28")));
        assert_eq!(accrual.measure().unwrap().year_fraction, 31.0 / 366.0);
    }

    #[test]
    fn the_last_of_february_is_kept_where_it_is_said_to_be_the_maturity() {
        let mut accrual = span("2006-08-31", "2007-02-28", DayCount::ThirtyE360Isda);
        assert_eq!(accrual.measure().unwrap().days, 180);
        accrual.maturity_date = Some(accrual.end_date);
        assert_eq!(accrual.measure().unwrap().days, 178);
    }

    #[test]
    fn what_cannot_be_measured_is_refused_by_name() {
        let refused = |accrual: &Accrual| accrual.measure().unwrap_err().argument().unwrap();
        let mut accrual = span("2026-01-15", "2026-07-15", DayCount::Bus252);
        accrual.calendar = Calendar::None.into();
        assert_eq!(refused(&accrual), "calendar");
        assert_eq!(refused(&span("2026-02-01", "2026-01-31", DayCount::Act365)), "end_date");
        accrual.start_date = NaiveDate::MIN;
        assert_eq!(refused(&accrual), "start_date");
        accrual = span("2026-01-15", "2026-07-15", DayCount::ActActIcma);
        for (start, end, argument) in [
            ("2026-01-16", "2026-07-15", "period_start"),
            ("2026-01-15", "2026-07-14", "period_end"),
            ("2026-01-15", "2026-01-15", "period_end"),
        ] {
            accrual.regular_period = Some((date(start), date(end)));
            assert_eq!(refused(&accrual), argument, "{start} {end}");
        }
    }

    proptest! {
        #[test]
        fn a_longer_span_is_no_shorter_and_no_span_is_none(
            first in 1_i32..3_600_000, length in 0_i32..50_000, which in 0..DayCount::ALL.len(),
        ) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let mut accrual = span("2026-01-01", "2026-01-01", DayCount::ALL[which]);
            (accrual.start_date, accrual.end_date) = (day(first), day(first + length));
            let measured = accrual.measure().unwrap();
            let years = f64::from(length) / 365.25;
            // Business days of 252 a year and the months of 30 days differ most.
            prop_assert!((measured.year_fraction - years).abs() <= 0.05 * years + 0.02, "{measured:?}");
            prop_assert_eq!(measured.actual_days, i64::from(length));
            accrual.end_date = accrual.start_date;
            prop_assert_eq!(accrual.measure().unwrap().year_fraction, 0.0);
        }
    }
}
