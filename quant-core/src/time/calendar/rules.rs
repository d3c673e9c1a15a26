//! The rules of the holidays, one function for each calendar.

use std::sync::OnceLock;

use chrono::{Datelike as _, NaiveDate, Weekday};

use super::{day::Day, japan, markets::Calendar, year_days::YearDays};

/// The years whose holidays are kept once they are known.
const FIRST_KNOWN_YEAR: i32 = 1900;
const KNOWN_YEARS: usize = 300;

impl Calendar {
    /// Returns whether the market is open on a date.
    pub(super) fn is_open_on(self, date: NaiveDate) -> bool {
        if self == Self::None {
            return true;
        }
        let is_weekend = matches!(date.weekday(), Weekday::Sat | Weekday::Sun);
        !is_weekend
            && match self.known_holidays(date.year()) {
                Some(holidays) => !holidays.contains(date.ordinal0()),
                None => self.is_open(&Day::from(date)),
            }
    }

    /// Returns whether the market is open on a day, by its rules.
    fn is_open(self, day: &Day) -> bool {
        self == Self::None
            || !day.is_weekend()
                && match self {
                    Self::None | Self::Weekends => true,
                    Self::Target => !is_target_holiday(day),
                    Self::UnitedStates => !is_federal_holiday(day, true),
                    Self::Fedwire => !is_federal_holiday(day, false),
                    Self::Sifma => !is_bond_market_holiday(day),
                    Self::Nyse => !is_stock_exchange_holiday(day),
                    Self::UnitedKingdom => !is_united_kingdom_holiday(day),
                    Self::Switzerland => !is_swiss_holiday(day),
                    Self::Japan => !japan::is_holiday(day),
                    Self::Canada => !is_canadian_holiday(day),
                    Self::Australia => !is_australian_holiday(day),
                }
    }

    /// The holidays of a year from Monday to Friday.
    pub(super) fn holidays(self, year: i32) -> YearDays {
        self.known_holidays(year).copied().unwrap_or_else(|| self.find_holidays(year))
    }

    /// The holidays from Monday to Friday of a year that most dates are in, found once by the rules;
    /// `None` for any other year.
    fn known_holidays(self, year: i32) -> Option<&'static YearDays> {
        const MARKETS: usize = Calendar::ALL.len();
        static KNOWN: [[OnceLock<YearDays>; KNOWN_YEARS]; MARKETS] =
            [const { [const { OnceLock::new() }; KNOWN_YEARS] }; MARKETS];
        static NONE: YearDays = YearDays::NONE;
        if matches!(self, Self::None | Self::Weekends) {
            return Some(&NONE);
        }
        let known = usize::try_from(year - FIRST_KNOWN_YEAR).ok();
        let known = known.and_then(|index| KNOWN[self as usize].get(index))?;
        Some(known.get_or_init(|| self.find_holidays(year)))
    }

    fn find_holidays(self, year: i32) -> YearDays {
        let mut found = YearDays::NONE;
        let first = NaiveDate::from_ymd_opt(year, 1, 1).expect("a year that a date has");
        let mut day = Day::from(first);
        for ordinal in 0..366 {
            if day.year == year && !day.is_weekend() && !self.is_open(&day) {
                found.insert(ordinal);
            }
            day.advance();
        }
        found
    }
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
    match day.month {
        1 => day.is_or_moves(1),
        3 | 4 => day.is_good_friday_or_easter_monday() || (day.year == 2011 && day.is(4, 29)),
        5 => is_united_kingdom_holiday_in_may(day),
        6 => matches!((day.year, day.day), (2002, 3 | 4) | (2012, 4 | 5) | (2022, 2 | 3)),
        8 => day.is_last_monday(8),
        9 => day.year == 2022 && day.day == 19,
        12 => is_christmas(day) || day.year == 1999 && day.day == 31,
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

fn is_swiss_holiday(day: &Day) -> bool {
    match day.month {
        1 => day.day <= 2,
        3..=6 => day.is(5, 1) || matches!(day.days_after_easter(), Some(-2 | 1 | 39 | 50)),
        8 => day.day == 1,
        12 => matches!(day.day, 25 | 26),
        _ => false,
    }
}

/// Returns whether a day is 25 or 26 December, or the Monday or Tuesday to which these days move from
/// a weekend.
fn is_christmas(day: &Day) -> bool {
    let moves = matches!(day.weekday, Weekday::Mon | Weekday::Tue);
    day.month == 12 && (matches!(day.day, 25 | 26) || moves && matches!(day.day, 27 | 28))
}

fn is_canadian_holiday(day: &Day) -> bool {
    use Weekday::Mon;
    let is_monday = day.weekday == Mon;
    match day.month {
        1 => day.is_or_moves(1),
        2 => day.year >= 2008 && day.is_nth(3, Mon, 2),
        3 | 4 => day.is_good_friday(),
        // The Monday before 25 May.
        5 => is_monday && (18..=24).contains(&day.day),
        7 => day.is_or_moves(1),
        8 => day.is_nth(1, Mon, 8),
        9 => day.is_nth(1, Mon, 9) || day.year >= 2021 && day.day == 30,
        10 => day.is_nth(2, Mon, 10) || day.year >= 2021 && is_monday && day.day <= 2,
        11 => day.is_or_moves(11),
        12 => is_christmas(day),
        _ => false,
    }
}

fn is_australian_holiday(day: &Day) -> bool {
    use Weekday::Mon;
    match day.month {
        1 => day.is_or_moves(1) || day.is_or_moves(26),
        3 | 4 => day.is_good_friday_or_easter_monday() || day.is(4, 25),
        6 => day.is_nth(2, Mon, 6),
        8 => day.is_nth(1, Mon, 8),
        9 => day.year == 2022 && day.day == 22,
        10 => day.is_nth(1, Mon, 10),
        12 => is_christmas(day),
        _ => false,
    }
}
