//! The interest periods of a bond's coupons, with a stub at either end.

use chrono::NaiveDate;

use crate::Result;
use crate::time::schedule::{Period, Schedule};
use crate::time::schedule_rule::Stub;

/// The interest period of one coupon: a period of the schedule, or two where the stub is long.
#[derive(Clone, Copy)]
pub(super) struct CouponPeriod {
    /// The first part of a long stub; `None` for every other period.
    pub(super) earlier: Option<Period>,
    /// The period itself, or the last part of a long stub.
    pub(super) later: Period,
}

impl CouponPeriod {
    /// Returns the first day of the period.
    pub(super) fn start(&self) -> NaiveDate {
        self.earlier.unwrap_or(self.later).start
    }

    /// Returns the day after the last of the period.
    pub(super) fn end(&self) -> NaiveDate {
        self.later.end
    }

    /// Returns the periods of the schedule, in order of time.
    pub(super) fn parts(&self) -> impl Iterator<Item = Period> {
        self.earlier.into_iter().chain([self.later])
    }
}

/// The interest periods of a bond, in order of time.
#[derive(Clone)]
pub(super) struct CouponPeriods {
    schedule: Schedule,
    stub: Stub,
}

impl CouponPeriods {
    /// Returns the periods of a schedule whose stub is of this kind, at the end to which the schedule
    /// is counted.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`](crate::Error::Conflict) for a stub where none may be.
    pub(super) fn new(schedule: Schedule, stub: Stub) -> Result<Self> {
        let has_stub = || schedule.clone().next().is_some_and(is_short_front);
        if stub == Stub::None && has_stub() {
            Err(Stub::refusal())
        } else {
            Ok(Self { schedule, stub })
        }
    }

    /// Returns whether a period and the one after it are one long stub.
    fn joins_next(&self, period: Period) -> bool {
        match self.stub {
            Stub::LongFront => is_short_front(period) && self.schedule.len() > 0,
            Stub::LongBack if self.schedule.len() == 1 => {
                self.schedule.clone().next().is_some_and(is_short_back)
            }
            _ => false,
        }
    }

    /// Returns the number of periods of the schedule, of which a long stub has two.
    pub(super) fn parts(&self) -> usize {
        self.schedule.len()
    }
}

impl Iterator for CouponPeriods {
    type Item = CouponPeriod;

    // Inlined, so that the periods of a loop are not moved through memory.
    #[inline(always)]
    fn next(&mut self) -> Option<CouponPeriod> {
        let period = self.schedule.next()?;
        let next = if self.joins_next(period) { self.schedule.next() } else { None };
        Some(match next {
            Some(later) => CouponPeriod { earlier: Some(period), later },
            None => CouponPeriod { earlier: None, later: period },
        })
    }
}

fn is_short_front(period: Period) -> bool {
    period.start != period.regular_start
}

fn is_short_back(period: Period) -> bool {
    period.end != period.regular_end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::schedule::Frequency;

    /// The bounds of the periods with a stub of this kind, which each are joined by a slash.
    fn bounds(issue: &str, maturity: &str, stub: Stub) -> Result<String> {
        let [issue, maturity] = [issue, maturity].map(|text| text.parse::<NaiveDate>().unwrap());
        let count = match stub {
            Stub::ShortBack | Stub::LongBack => Schedule::forward,
            _ => Schedule::backward,
        };
        let schedule = count(issue, maturity, Frequency::Semiannual, false)?;
        let periods = CouponPeriods::new(schedule, stub)?;
        let texts = periods.map(|period| format!("{}/{}", period.start(), period.end()));
        Ok(texts.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_long_stub_takes_the_regular_period_beside_it() {
        #[rustfmt::skip]
        let rows = [
            (Stub::ShortFront, "2024-05-15/2024-07-15 2024-07-15/2025-01-15 2025-01-15/2025-07-15"),
            (Stub::LongFront,  "2024-05-15/2025-01-15 2025-01-15/2025-07-15"),
            (Stub::ShortBack,  "2024-05-15/2024-11-15 2024-11-15/2025-05-15 2025-05-15/2025-07-15"),
            (Stub::LongBack,   "2024-05-15/2024-11-15 2024-11-15/2025-07-15"),
        ];
        for (stub, expected) in rows {
            assert_eq!(bounds("2024-05-15", "2025-07-15", stub).unwrap(), expected, "{stub}");
        }
        let error = bounds("2024-05-15", "2025-07-15", Stub::None).unwrap_err();
        assert_eq!((error.code(), error.argument()), ("conflict", Some("stub")));
    }

    #[test]
    fn periods_that_divide_the_life_have_no_stub() {
        for &stub in Stub::ALL {
            let found = bounds("2024-01-15", "2025-01-15", stub).unwrap();
            assert_eq!(found, "2024-01-15/2024-07-15 2024-07-15/2025-01-15", "{stub}");
        }
    }

    #[test]
    fn a_life_below_one_period_is_one_short_stub() {
        for stub in [Stub::ShortFront, Stub::LongFront, Stub::ShortBack, Stub::LongBack] {
            let found = bounds("2024-05-15", "2024-07-15", stub).unwrap();
            assert_eq!(found, "2024-05-15/2024-07-15", "{stub}");
        }
    }
}
