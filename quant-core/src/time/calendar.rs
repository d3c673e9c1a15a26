//! Calendars: business days, and the adjustment of dates that fall on holidays.
//!
//! Holidays are computed from rules, for every year. The rules are those in force today, extended
//! back to the changes that a table below names, and forward without end. Future holidays by
//! proclamation are not included.

use std::sync::OnceLock;

use chrono::{Datelike, NaiveDate, Weekday};

use super::gregorian;
use crate::named::named;
use crate::{Error, Result};

/// The days on which a market is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Calendar {
    /// Every day is a business day.
    None,
    /// Saturdays and Sundays are closed.
    Weekends,
    /// The euro payment system: weekends, 1 January and 25 December; from 2000 also Good Friday,
    /// Easter Monday, 1 May and 26 December; and 31 December in 1998, 1999 and 2001.
    Target,
    /// Offices of the United States government: the federal holidays, which move from a Sunday to the
    /// Monday after and from a Saturday to the Friday before. Payments settle on that Friday; their
    /// calendar is [`Fedwire`](Self::Fedwire).
    ///
    /// Martin Luther King Jr Day counts from 1983, Columbus Day from 1971, Juneteenth from 2022;
    /// Washington's Birthday and Memorial Day move to Mondays from 1971, and Veterans Day was on
    /// the fourth Monday of October from 1971 to 1977.
    UnitedStates,
    /// Federal Reserve Banks and the Fedwire payment system: the federal holidays, which move from a
    /// Sunday to the Monday after and from a Saturday to no other day.
    Fedwire,
    /// United States government securities, as SIFMA recommends: the federal holidays and Good Friday.
    ///
    /// New Year's Day and Veterans Day move from a Sunday only. From 1996 the market is open on a Good
    /// Friday that is the first Friday of its month, on which the employment report is published. The
    /// days of single years are those of 2004, 2012 and 2018.
    Sifma,
    /// The New York Stock Exchange: Martin Luther King Jr Day from 1998, Good Friday, and neither
    /// Columbus Day nor Veterans Day. New Year's Day moves from a Sunday only.
    ///
    /// With the unscheduled closings from 1990 on: 1994, 2001, 2004, 2007, 2012, 2018 and 2025.
    Nyse,
    /// Bank holidays of England and Wales: on a weekend they move to the next working day.
    ///
    /// With the days of single years: the eve of 2000, the jubilees of 2002, 2012 and 2022, the
    /// wedding of 2011, the funeral of 2022, the coronation of 2023, and 8 May for the early May
    /// holiday in 1995 and 2020. The Monday holidays of May and August are carried back without end.
    UnitedKingdom,
}

named!(
    Calendar,
    "calendar",
    None = "none",
    Weekends = "weekends",
    Target = "TARGET",
    UnitedStates = "US",
    Fedwire = "FEDWIRE",
    Sifma = "SIFMA",
    Nyse = "NYSE",
    UnitedKingdom = "UK"
);

/// The adjustment of a date that is not a business day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BusinessDayConvention {
    /// Leaves the date where it is.
    Unadjusted,
    /// Moves the date to the next business day.
    Following,
    /// Moves the date to the next business day, or to the one before where the next is in another
    /// month.
    ModifiedFollowing,
    /// Moves the date to the business day before.
    Preceding,
    /// Moves the date to the business day before, or to the next where the one before is in another
    /// month.
    ModifiedPreceding,
}

named!(
    BusinessDayConvention,
    "convention",
    Unadjusted = "unadjusted",
    Following = "following",
    ModifiedFollowing = "modified following",
    Preceding = "preceding",
    ModifiedPreceding = "modified preceding"
);

impl Calendar {
    /// Returns whether the market is open on this date.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::{NaiveDate, calendar::Calendar};
    ///
    /// let good_friday: NaiveDate = "2026-04-03".parse().unwrap();
    /// assert!(!Calendar::Target.is_business_day(good_friday));
    /// assert!(Calendar::UnitedStates.is_business_day(good_friday));
    /// ```
    ///
    /// # References
    ///
    /// European Central Bank, "TARGET closing days"; 5 U.S.C. 6103; Board of Governors of the Federal
    /// Reserve System, "Holidays Observed"; SIFMA, "Holiday Schedule"; NYSE rule 7.2; Banking and
    /// Financial Dealings Act 1971, schedule 1.
    #[must_use]
    pub fn is_business_day(self, date: NaiveDate) -> bool {
        self == Self::None || self.is_open(&Day::from(date))
    }

    /// Returns the business day to which the convention moves `date`; itself where it is one.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date that is outside, or would be moved out of, the years 1 to 9999.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::{NaiveDate, calendar::{BusinessDayConvention, Calendar}};
    ///
    /// let saturday: NaiveDate = "2026-01-31".parse().unwrap();
    /// let moved = |convention| Calendar::Target.adjust(saturday, convention);
    /// assert_eq!(moved(BusinessDayConvention::Following)?.to_string(), "2026-02-02");
    /// assert_eq!(moved(BusinessDayConvention::ModifiedFollowing)?.to_string(), "2026-01-30");
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn adjust(self, date: NaiveDate, convention: BusinessDayConvention) -> Result<NaiveDate> {
        gregorian::require_year("date", date)?;
        let (step, within_month) = match convention {
            BusinessDayConvention::Unadjusted => return Ok(date),
            BusinessDayConvention::Following => (1, false),
            BusinessDayConvention::ModifiedFollowing => (1, true),
            BusinessDayConvention::Preceding => (-1, false),
            BusinessDayConvention::ModifiedPreceding => (-1, true),
        };
        if self.is_business_day(date) {
            return Ok(date);
        }
        let mut moved = self.seek(date, step);
        if within_month && moved.is_none_or(|moved| moved.month() != date.month()) {
            moved = self.seek(date, -step);
        }
        moved.filter(|&date| gregorian::has_plain_year(date)).ok_or(Error::Date {
            argument: "date",
            value: date,
            requirement: "a date whose business day is in the years 1 to 9999",
        })
    }

    /// Returns the date that lies some business days later, or earlier where `days` is negative.
    ///
    /// The days are counted from `date`, or from the next business day where `date` is none (the one
    /// before for negative `days`).
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date that is outside, or would be moved out of, the years 1 to 9999.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::{NaiveDate, calendar::Calendar};
    ///
    /// let thursday: NaiveDate = "2026-04-02".parse().unwrap();
    /// let spot = Calendar::Target.add_business_days(thursday, 2)?;
    /// assert_eq!(spot.to_string(), "2026-04-08");
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn add_business_days(self, date: NaiveDate, days: i64) -> Result<NaiveDate> {
        gregorian::require_year("date", date)?;
        let out_of_range = Error::Date {
            argument: "date",
            value: date,
            requirement: "a date whose business day is in the years 1 to 9999",
        };
        let step = if days < 0 { -1 } else { 1 };
        if days.unsigned_abs() > MOST_BUSINESS_DAYS {
            return Err(out_of_range);
        }
        let mut moved = Some(date).filter(|&date| self.is_business_day(date));
        moved = moved.or_else(|| self.seek(date, step));
        for _ in 0..days.unsigned_abs() {
            moved = moved.and_then(|date| self.seek(date, step));
        }
        moved.filter(|&date| gregorian::has_plain_year(date)).ok_or(out_of_range)
    }

    /// Returns the number of business days from `start`, itself included, to `end`, excluded.
    ///
    /// Where `end` comes first it is minus the number from `end` to `start`.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date outside the years 1 to 9999.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::{NaiveDate, calendar::Calendar};
    ///
    /// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// let days = Calendar::Weekends.business_days_between(date("2026-01-02"), date("2026-01-09"))?;
    /// assert_eq!(days, 5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn business_days_between(self, start: NaiveDate, end: NaiveDate) -> Result<i64> {
        gregorian::require_year("start", start)?;
        gregorian::require_year("end", end)?;
        if end < start {
            Ok(-self.count_business_days(end, start))
        } else {
            Ok(self.count_business_days(start, end))
        }
    }

    /// Returns the number of business days between two dates that are in order.
    pub(crate) fn count_business_days(self, start: NaiveDate, end: NaiveDate) -> i64 {
        match self {
            Self::None => gregorian::days_between(start, end),
            Self::Weekends => weekdays_between(start, end),
            _ => weekdays_between(start, end) - self.holidays_between(start, end),
        }
    }

    /// The number of holidays from Monday to Friday between two dates that are in order.
    fn holidays_between(self, start: NaiveDate, end: NaiveDate) -> i64 {
        let years = start.year()..=end.year();
        let in_year = |year| {
            let from = if year == start.year() { start.ordinal() as u16 } else { 1 };
            let to = if year == end.year() { end.ordinal() as u16 } else { NO_DAY };
            let is_between = |day: u16| u16::from(from <= day && day < to);
            i64::from(self.holidays(year).iter().map(|&day| is_between(day)).sum::<u16>())
        };
        years.map(in_year).sum()
    }

    /// The holidays of a year, computed once for the years that most dates are in.
    fn holidays(self, year: i32) -> Holidays {
        static KNOWN: [[OnceLock<Holidays>; KNOWN_YEARS]; 6] =
            [const { [const { OnceLock::new() }; KNOWN_YEARS] }; 6];
        let calendar = match self {
            Self::None | Self::Weekends => return NO_HOLIDAYS,
            Self::Target => &KNOWN[0],
            Self::UnitedStates => &KNOWN[1],
            Self::UnitedKingdom => &KNOWN[2],
            Self::Fedwire => &KNOWN[3],
            Self::Sifma => &KNOWN[4],
            Self::Nyse => &KNOWN[5],
        };
        let known = usize::try_from(year - FIRST_KNOWN_YEAR).ok().and_then(|i| calendar.get(i));
        match known {
            Some(known) => *known.get_or_init(|| self.find_holidays(year)),
            None => self.find_holidays(year),
        }
    }

    fn find_holidays(self, year: i32) -> Holidays {
        let (mut found, mut count) = (NO_HOLIDAYS, 0);
        let first = NaiveDate::from_ymd_opt(year, 1, 1).expect("a year that a date has");
        let mut day = Day::from(first);
        for ordinal in 1..=366 {
            if day.year == year && !day.is_weekend() && !self.is_open(&day) {
                found[count] = ordinal;
                count += 1;
            }
            day.advance();
        }
        found
    }

    /// Returns the first business day after `date` for a `step` of 1, or before `date` for a `step`
    /// of −1; `None` where no such date can be represented.
    fn seek(self, date: NaiveDate, step: i64) -> Option<NaiveDate> {
        let mut date = gregorian::add_days(date, step)?;
        while !self.is_business_day(date) {
            date = gregorian::add_days(date, step)?;
        }
        Some(date)
    }

    fn is_open(self, day: &Day) -> bool {
        !day.is_weekend()
            && match self {
                Self::None | Self::Weekends => true,
                Self::Target => !is_target_holiday(day),
                Self::UnitedStates => !is_federal_holiday(day, true),
                Self::Fedwire => !is_federal_holiday(day, false),
                Self::Sifma => !is_bond_market_holiday(day),
                Self::Nyse => !is_stock_exchange_holiday(day),
                Self::UnitedKingdom => !is_united_kingdom_holiday(day),
            }
    }
}

/// The weekdays from one date, itself included, to a later one, excluded.
fn weekdays_between(start: NaiveDate, end: NaiveDate) -> i64 {
    // The first of January of the year 1, day 1, was a Monday.
    let before = |date: NaiveDate| {
        let days = i64::from(date.num_days_from_ce()) - 1;
        5 * days.div_euclid(7) + days.rem_euclid(7).min(5)
    };
    before(end) - before(start)
}

/// The holidays of a year that are no Saturdays or Sundays, as days of the year from 1, and `NO_DAY`.
///
/// There is room for more than any calendar here has in a year: the United States keep twelve where the
/// next year begins on a Saturday.
type Holidays = [u16; 16];

const NO_DAY: u16 = u16::MAX;
const NO_HOLIDAYS: Holidays = [NO_DAY; 16];

/// The business days of the years 1 to 9999 are fewer, where every day is one.
const MOST_BUSINESS_DAYS: u64 = 3_652_059;

/// The years whose holidays are kept once they are known.
const FIRST_KNOWN_YEAR: i32 = 1900;
const KNOWN_YEARS: usize = 300;

/// A date as its parts, which can be advanced at little cost.
struct Day {
    year: i32,
    month: u32,
    day: u32,
    weekday: Weekday,
}

impl From<NaiveDate> for Day {
    fn from(date: NaiveDate) -> Self {
        Self { year: date.year(), month: date.month(), day: date.day(), weekday: date.weekday() }
    }
}

impl Day {
    fn is_weekend(&self) -> bool {
        matches!(self.weekday, Weekday::Sat | Weekday::Sun)
    }

    fn advance(&mut self) {
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

    fn is(&self, month: u32, day: u32) -> bool {
        self.month == month && self.day == day
    }

    /// The `n`th of its weekday in the month.
    fn is_nth(&self, n: u32, weekday: Weekday, month: u32) -> bool {
        self.month == month && self.weekday == weekday && (self.day - 1) / 7 + 1 == n
    }

    /// The last Monday of a month of 31 days.
    fn is_last_monday(&self, month: u32) -> bool {
        self.month == month && self.weekday == Weekday::Mon && self.day > 24
    }

    /// A holiday of fixed date that moves from a Sunday to the Monday after.
    fn is_or_follows(&self, month: u32, day: u32) -> bool {
        let follows = self.day == day + 1 && self.weekday == Weekday::Mon;
        self.month == month && (self.day == day || follows)
    }

    /// A holiday of fixed date that moves to the Friday before or the Monday after a weekend.
    fn is_nearest(&self, month: u32, day: u32) -> bool {
        let precedes = self.day + 1 == day && self.weekday == Weekday::Fri;
        self.is_or_follows(month, day) || (self.month == month && precedes)
    }

    /// Returns the days since Easter Sunday, negative before Easter; `None` outside March and
    /// April.
    fn days_after_easter(&self) -> Option<i32> {
        // Easter Sunday lies between 22 March and 25 April.
        matches!(self.month, 3 | 4).then(|| {
            let days_since_march = self.day as i32 + if self.month == 4 { 31 } else { 0 };
            days_since_march - easter_sunday(self.year)
        })
    }

    fn is_good_friday(&self) -> bool {
        self.weekday == Weekday::Fri && self.days_after_easter() == Some(-2)
    }

    fn is_good_friday_or_easter_monday(&self) -> bool {
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

fn is_target_holiday(day: &Day) -> bool {
    let since_2000 = day.year >= 2000
        && (day.is(5, 1) || day.is(12, 26) || day.is_good_friday_or_easter_monday());
    let last_of_year = day.is(12, 31) && matches!(day.year, 1998 | 1999 | 2001);
    day.is(1, 1) || day.is(12, 25) || since_2000 || last_of_year
}

/// Returns whether a day is a federal holiday of the United States, which moves from a Sunday to the
/// Monday after, and from a Saturday to the Friday before where `saturdays_move`.
fn is_federal_holiday(day: &Day, saturdays_move: bool) -> bool {
    use Weekday::{Mon, Thu};
    let is_kept = |month, date| {
        if saturdays_move { day.is_nearest(month, date) } else { day.is_or_follows(month, date) }
    };
    let uniform_mondays = day.year >= 1971;
    match day.month {
        1 => day.is_or_follows(1, 1) || day.year >= 1983 && day.is_nth(3, Mon, 1),
        2 if uniform_mondays => day.is_nth(3, Mon, 2),
        2 => is_kept(2, 22),
        5 if uniform_mondays => day.is_last_monday(5),
        5 => is_kept(5, 30),
        6 => day.year >= 2022 && is_kept(6, 19),
        7 => is_kept(7, 4),
        9 => day.is_nth(1, Mon, 9),
        10 => uniform_mondays && (day.is_nth(2, Mon, 10) || veterans_in_october(day)),
        11 => day.is_nth(4, Thu, 11) || !(1971..1978).contains(&day.year) && is_kept(11, 11),
        // New Year's Day on a Saturday is kept on the last of December.
        12 => is_kept(12, 25) || saturdays_move && day.day == 31 && day.weekday == Weekday::Fri,
        _ => false,
    }
}

/// Returns whether the market of United States government securities is closed.
fn is_bond_market_holiday(day: &Day) -> bool {
    let is_first_friday = day.month == 4 && day.day <= 7;
    match day.month {
        3 | 4 => day.is_good_friday() && (day.year < 1996 || !is_first_friday),
        // Neither Veterans Day nor New Year's Day moves to a Friday.
        11 => is_federal_holiday(day, false),
        12 => day.is_nearest(12, 25) || day.year == 2018 && day.day == 5,
        6 if day.year == 2004 && day.day == 11 => true,
        10 if day.year == 2012 && day.day == 30 => true,
        _ => is_federal_holiday(day, true),
    }
}

/// Returns whether the New York Stock Exchange is closed.
fn is_stock_exchange_holiday(day: &Day) -> bool {
    let is_scheduled = match day.month {
        1 => day.is_or_follows(1, 1) || day.year >= 1998 && day.is_nth(3, Weekday::Mon, 1),
        3 | 4 => day.is_good_friday(),
        10 => false,
        11 => day.is_nth(4, Weekday::Thu, 11),
        12 => day.is_nearest(12, 25),
        _ => is_federal_holiday(day, true),
    };
    is_scheduled
        || matches!(
            (day.year, day.month, day.day),
            // Funerals of presidents, the attacks of 2001, and a hurricane.
            (1994, 4, 27)
                | (2001, 9, 11..=14)
                | (2004, 6, 11)
                | (2007, 1, 2)
                | (2012, 10, 29 | 30)
                | (2018, 12, 5)
                | (2025, 1, 9)
        )
}

fn veterans_in_october(day: &Day) -> bool {
    day.year < 1978 && day.is_nth(4, Weekday::Mon, 10)
}

fn is_united_kingdom_holiday(day: &Day) -> bool {
    use Weekday::{Mon, Tue};
    match day.month {
        1 => day.day == 1 || day.day <= 3 && day.weekday == Mon,
        3 | 4 => day.is_good_friday_or_easter_monday() || (day.year == 2011 && day.is(4, 29)),
        5 => is_united_kingdom_holiday_in_may(day),
        6 => matches!((day.year, day.day), (2002, 3 | 4) | (2012, 4 | 5) | (2022, 2 | 3)),
        8 => day.is_last_monday(8),
        9 => day.year == 2022 && day.day == 19,
        12 => {
            matches!(day.day, 25 | 26)
                || matches!(day.day, 27 | 28) && matches!(day.weekday, Mon | Tue)
                || day.year == 1999 && day.day == 31
        }
        _ => false,
    }
}

fn is_united_kingdom_holiday_in_may(day: &Day) -> bool {
    let early = match day.year {
        1995 | 2020 => day.day == 8,
        _ => day.is_nth(1, Weekday::Mon, 5),
    };
    let moved_to_june = matches!(day.year, 2002 | 2012 | 2022);
    let coronation = day.year == 2023 && day.day == 8;
    early || coronation || (!moved_to_june && day.is_last_monday(5))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CALENDARS: &[Calendar] = Calendar::ALL;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

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

    #[test]
    fn the_next_business_day_may_be_days_away() {
        use BusinessDayConvention::{Following, Preceding};
        // Good Friday to Easter Monday; Christmas 2021 in the United Kingdom.
        assert_eq!(Calendar::Target.adjust(date("2026-04-03"), Following), Ok(date("2026-04-07")));
        assert_eq!(Calendar::Target.adjust(date("2026-04-06"), Preceding), Ok(date("2026-04-02")));
        assert_eq!(
            Calendar::UnitedKingdom.adjust(date("2021-12-25"), Following),
            Ok(date("2021-12-29"))
        );
    }

    #[test]
    fn modified_conventions_stay_in_the_month() {
        use BusinessDayConvention::{ModifiedFollowing, ModifiedPreceding};
        let adjust = |text, convention| Calendar::Weekends.adjust(date(text), convention);
        assert_eq!(adjust("2026-01-31", ModifiedFollowing), Ok(date("2026-01-30")));
        assert_eq!(adjust("2026-02-01", ModifiedPreceding), Ok(date("2026-02-02")));
        assert_eq!(adjust("2026-01-10", ModifiedFollowing), Ok(date("2026-01-12")));
        assert_eq!(adjust("2026-01-10", ModifiedPreceding), Ok(date("2026-01-09")));
    }

    #[test]
    fn a_date_moved_beyond_the_last_year_is_refused() {
        use BusinessDayConvention::{Following, Preceding};
        // Kept on the Friday because 1 January 10000 is a Saturday.
        let last = date("9999-12-31");
        let error = Calendar::UnitedStates.adjust(last, Following).unwrap_err();
        assert_eq!((error.code(), error.argument()), ("date", Some("date")));
        assert_eq!(Calendar::UnitedStates.adjust(last, Preceding), Ok(date("9999-12-30")));
        assert!(Calendar::Target.adjust(date("0001-01-01"), Preceding).is_err());
        assert!(Calendar::None.adjust(NaiveDate::MAX, Following).is_err());
    }

    #[test]
    fn a_saturday_holiday_closes_the_offices_on_friday_and_the_banks_on_no_day() {
        // 4 July 2026 is a Saturday, 25 December 2027 and 1 January 2028 as well.
        for (calendar, days) in [
            (Calendar::UnitedStates, [false, false, false]),
            (Calendar::Fedwire, [true, true, true]),
            (Calendar::Sifma, [false, false, true]),
            (Calendar::Nyse, [false, false, true]),
        ] {
            let fridays = ["2026-07-03", "2027-12-24", "2027-12-31"];
            let open = fridays.map(|friday| calendar.is_business_day(date(friday)));
            assert_eq!(open, days, "{calendar}");
        }
    }

    #[test]
    fn good_friday_closes_the_markets_but_not_the_banks() {
        let good_friday = date("2027-03-26");
        assert!(Calendar::Fedwire.is_business_day(good_friday));
        assert!(!Calendar::Sifma.is_business_day(good_friday));
        assert!(!Calendar::Nyse.is_business_day(good_friday));
        // The employment report of 3 April 2026 was published on Good Friday.
        assert!(Calendar::Sifma.is_business_day(date("2026-04-03")));
        assert!(!Calendar::Nyse.is_business_day(date("2026-04-03")));
    }

    #[test]
    fn dates_outside_the_years_are_not_counted() {
        let last = date("9999-12-31");
        for calendar in CALENDARS {
            for (start, end, argument) in
                [(NaiveDate::MIN, NaiveDate::MAX, "start"), (last, NaiveDate::MAX, "end")]
            {
                let refused = calendar.business_days_between(start, end).unwrap_err();
                assert_eq!((refused.code(), refused.argument()), ("date", Some(argument)));
            }
            assert!(calendar.add_business_days(last, i64::MIN).is_err());
            assert!(calendar.add_business_days(last, 1).is_err());
        }
    }

    proptest! {
        #[test]
        fn business_days_added_are_those_counted(start in 650_000_i32..830_000, days in 0_i64..300, which in 0_usize..8) {
            let (calendar, date) = (CALENDARS[which], NaiveDate::from_num_days_from_ce_opt(start).unwrap());
            let later = calendar.add_business_days(date, days).unwrap();
            prop_assert!(calendar.is_business_day(later));
            prop_assert_eq!(calendar.business_days_between(date, later), Ok(days));
            let first = calendar.add_business_days(date, 0).unwrap();
            prop_assert_eq!(calendar.add_business_days(later, -days), Ok(first));
        }

        #[test]
        fn an_adjusted_date_is_a_business_day_and_stays_put(day in 1_i32..3_652_000, which in 0_usize..8) {
            use BusinessDayConvention::*;
            let (calendar, date) = (CALENDARS[which], NaiveDate::from_num_days_from_ce_opt(day).unwrap());
            for convention in [Following, ModifiedFollowing, Preceding, ModifiedPreceding] {
                if let Ok(moved) = calendar.adjust(date, convention) {
                    prop_assert!(calendar.is_business_day(moved));
                    prop_assert_eq!(calendar.adjust(moved, convention), Ok(moved));
                    prop_assert!(gregorian::days_between(date, moved).abs() <= 6);
                }
            }
        }

        #[test]
        fn business_days_are_those_counted_one_by_one(start in 650_000_i32..830_000, length in 0_i32..900, which in 0_usize..8) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let calendar = CALENDARS[which];
            let expected = (start..start + length).filter(|&n| calendar.is_business_day(day(n))).count();
            let (start, end) = (day(start), day(start + length));
            prop_assert_eq!(calendar.business_days_between(start, end), Ok(expected as i64));
            prop_assert_eq!(calendar.business_days_between(end, start), Ok(-(expected as i64)));
        }
    }
}
