//! The holidays of the banks of Japan.

use chrono::Weekday::Mon;

use super::day::Day;

/// Returns whether the banks of Japan are closed on a day from Monday to Friday.
///
/// The rules are those of the Act on National Holidays with its amendments, from 1986 on.
pub(super) fn is_holiday(day: &Day) -> bool {
    match day.month {
        1 => day.day <= 3 || is_coming_of_age(day),
        2 => day.is_or_follows(2, 11) || is_emperors_birthday(day),
        3 => day.is_or_follows(3, equinox(day.year, VERNAL)),
        4 => day.is_or_follows(4, 29) || day.year == 2019 && day.day == 30,
        5 => is_in_golden_week(day),
        6 => day.year == 1993 && day.day == 9,
        7 => is_in_july(day),
        8 => is_mountain_day(day),
        9 => is_in_september(day),
        10 => is_in_october(day),
        11 => {
            day.is_or_follows(11, 3)
                || day.is_or_follows(11, 23)
                || day.year == 1990 && day.day == 12
        }
        _ => day.day == 31 || is_emperors_birthday(day),
    }
}

fn is_coming_of_age(day: &Day) -> bool {
    if day.year >= 2000 { day.is_nth(2, Mon, 1) } else { day.is_or_follows(1, 15) }
}

fn is_emperors_birthday(day: &Day) -> bool {
    match day.year {
        2020.. => day.is_or_follows(2, 23),
        1989..=2018 => day.is_or_follows(12, 23) || day.year == 1989 && day.is(2, 24),
        _ => false,
    }
}

/// The days from 3 to 5 May. From 2007 on the day after them is closed where one of them is a Sunday,
/// before only where the last of them is.
fn is_in_golden_week(day: &Day) -> bool {
    let moved = match day.year {
        2007.. => matches!(day.weekday.num_days_from_monday(), 0..=2),
        _ => day.weekday == Mon,
    };
    (3..=5).contains(&day.day)
        || day.day == 6 && moved
        || day.year == 2019 && matches!(day.day, 1 | 2)
}

fn is_in_july(day: &Day) -> bool {
    match day.year {
        2020 => matches!(day.day, 23 | 24),
        2021 => matches!(day.day, 22 | 23),
        2003.. => day.is_nth(3, Mon, 7),
        1996.. => day.is_or_follows(7, 20),
        _ => false,
    }
}

fn is_mountain_day(day: &Day) -> bool {
    match day.year {
        2020 => day.day == 10,
        2021 => day.day == 9,
        2016.. => day.is_or_follows(8, 11),
        _ => false,
    }
}

/// Respect for the Aged Day, the autumnal equinox, and the day between where there is one alone.
fn is_in_september(day: &Day) -> bool {
    let equinox = equinox(day.year, AUTUMNAL);
    let respect = if day.year >= 2003 { day.is_nth(3, Mon, 9) } else { day.is_or_follows(9, 15) };
    let is_between = day.year >= 2003
        && day.weekday == Mon.succ()
        && day.day + 1 == equinox
        && (16..=22).contains(&day.day);
    respect || is_between || day.is_or_follows(9, equinox)
}

fn is_in_october(day: &Day) -> bool {
    match day.year {
        2020 | 2021 => false,
        2000.. => day.is_nth(2, Mon, 10) || day.year == 2019 && day.day == 22,
        _ => day.is_or_follows(10, 10),
    }
}

/// The equinoxes of 1980 in millionths of a day of March and of September, in the time of Japan.
const VERNAL: i64 = 20_843_100;
const AUTUMNAL: i64 = 23_248_800;

/// Returns the day of March or September on which an equinox falls.
///
/// The year of the seasons is 365.242194 days long, and the calendar skips what its leap years add: the
/// formula of the hydrographic department of Japan, extended by the leap years of the centuries.
fn equinox(year: i32, of_1980: i64) -> u32 {
    let years = i64::from(year) - 1980;
    let leap_years = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let leaps = leap_years(i64::from(year)) - leap_years(1980);
    let day = (of_1980 + 242_194 * years).div_euclid(1_000_000) - leaps;
    u32::try_from(day).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    #[test]
    fn equinoxes_are_those_of_the_almanac() {
        // National Astronomical Observatory of Japan, calendar of each year.
        for (year, march, september) in [
            (1980, 20, 23),
            (1992, 20, 23),
            (2000, 20, 23),
            (2012, 20, 22),
            (2023, 21, 23),
            (2024, 20, 22),
            (2027, 21, 23),
        ] {
            assert_eq!(
                (equinox(year, VERNAL), equinox(year, AUTUMNAL)),
                (march, september),
                "{year}"
            );
        }
    }

    #[test]
    fn a_day_between_two_holidays_is_closed() {
        for date in ["2009-09-22", "2015-09-22", "2026-09-22", "2032-09-21"] {
            let date: NaiveDate = date.parse().expect("a date");
            assert!(is_holiday(&Day::from(date)), "{date}");
        }
    }
}
