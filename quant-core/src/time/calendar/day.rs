//! A date as its parts, and the holidays of fixed and of moving date.

use chrono::{Datelike, NaiveDate, Weekday};

use crate::time::gregorian;

/// A date as its parts, which can be advanced at little cost.
pub(super) struct Day {
    pub(super) year: i32,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) weekday: Weekday,
}

impl From<NaiveDate> for Day {
    fn from(date: NaiveDate) -> Self {
        Self { year: date.year(), month: date.month(), day: date.day(), weekday: date.weekday() }
    }
}

impl Day {
    pub(super) fn is_weekend(&self) -> bool {
        matches!(self.weekday, Weekday::Sat | Weekday::Sun)
    }

    pub(super) fn advance(&mut self) {
        self.weekday = self.weekday.succ();
        self.day += 1;
        if self.day > gregorian::days_in_month(self.year, self.month) {
            self.day = 1;
            self.month += 1;
        }
        if self.month > 12 {
            self.month = 1;
            self.year += 1;
        }
    }

    pub(super) fn is(&self, month: u32, day: u32) -> bool {
        self.month == month && self.day == day
    }

    /// The `n`th of its weekday in the month.
    pub(super) fn is_nth(&self, n: u32, weekday: Weekday, month: u32) -> bool {
        self.month == month && self.weekday == weekday && (self.day - 1) / 7 + 1 == n
    }

    /// The last Monday of a month of 31 days.
    pub(super) fn is_last_monday(&self, month: u32) -> bool {
        self.month == month && self.weekday == Weekday::Mon && self.day > 24
    }

    /// A holiday of fixed date that moves from a Sunday to the Monday after.
    pub(super) fn is_or_follows(&self, month: u32, day: u32) -> bool {
        let follows = self.day == day + 1 && self.weekday == Weekday::Mon;
        self.month == month && (self.day == day || follows)
    }

    /// A holiday on this day of the month that moves from a weekend to the Monday after.
    pub(super) fn is_or_moves(&self, day: u32) -> bool {
        self.day == day || self.weekday == Weekday::Mon && (day + 1..=day + 2).contains(&self.day)
    }

    /// A holiday of fixed date that moves to the Friday before or the Monday after a weekend.
    pub(super) fn is_nearest(&self, month: u32, day: u32) -> bool {
        let precedes = self.day + 1 == day && self.weekday == Weekday::Fri;
        self.is_or_follows(month, day) || (self.month == month && precedes)
    }

    /// Returns the days since Easter Sunday, negative before Easter; `None` outside March to June.
    pub(super) fn days_after_easter(&self) -> Option<i32> {
        // Easter Sunday lies between 22 March and 25 April.
        let before_month = match self.month {
            3 => 0,
            4 => 31,
            5 => 61,
            6 => 92,
            _ => return None,
        };
        Some(self.day as i32 + before_month - easter_sunday(self.year))
    }

    pub(super) fn is_good_friday(&self) -> bool {
        self.weekday == Weekday::Fri && self.days_after_easter() == Some(-2)
    }

    pub(super) fn is_good_friday_or_easter_monday(&self) -> bool {
        matches!(self.weekday, Weekday::Fri | Weekday::Mon)
            && matches!(self.days_after_easter(), Some(-2 | 1))
    }
}

/// Easter Sunday as a day of March, 32 being 1 April.
///
/// The Gregorian computus: the golden number and the epact give the paschal full moon, and
/// Easter is the Sunday after it (Knuth 1968, "The Art of Computer Programming", 1.3.2, ex. 14).
fn easter_sunday(year: i32) -> i32 {
    let golden = year.rem_euclid(19) + 1;
    let century = year.div_euclid(100) + 1;
    let dropped_leap_years = 3 * century / 4 - 12;
    let moon_correction = (8 * century + 5) / 25 - 5;
    let sunday = 5 * year / 4 - dropped_leap_years - 10;
    let epact = (11 * golden + 20 + moon_correction - dropped_leap_years).rem_euclid(30);
    let skips = epact == 24 || (epact == 25 && golden > 11);
    let full_moon = 44 - epact - i32::from(skips);
    let full_moon = if full_moon < 21 { full_moon + 30 } else { full_moon };
    full_moon + 7 - (sunday + full_moon).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn easter_sunday_is_that_of_the_almanacs() {
        // Astronomical Almanac; 22 March 1818 and 25 April 1943 and 2038 are the extremes.
        #[rustfmt::skip]
        let rows = [
            (1818, 22), (1886, 56), (1943, 56), (1954, 49), (1981, 50), (2000, 54), (2008, 23), (2024, 31),
            (2025, 51), (2026, 36), (2038, 56), (2049, 49), (2076, 50), (2285, 22),
        ];
        for (year, day_of_march) in rows {
            assert_eq!(easter_sunday(year), day_of_march, "{year}");
        }
    }
}
