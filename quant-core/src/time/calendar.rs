//! Calendars: business days, and the adjustment of dates that fall on holidays.
//!
//! Holidays are computed from rules, for every year. The rules are those in force today, extended
//! back to the changes that a table below names, and forward without end. Future holidays by
//! proclamation are not included.

mod business_days;
mod japan;
mod joint;
mod rules;

use chrono::NaiveDate;

pub use self::joint::JointCalendar;
use self::{business_days::BusinessDays, rules::Day};
use crate::Result;
use crate::named::named;

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
    /// Swiss franc payments and the Swiss exchange: weekends, 1 and 2 January, Good Friday, Easter
    /// Monday, 1 May, Ascension, Whit Monday, 1 August, 25 and 26 December. No holiday moves.
    Switzerland,
    /// Banks of Japan: the national holidays, those between two others, and 31 December to 3 January.
    ///
    /// A national holiday on a Sunday moves to the next day that is none. The rules are those since
    /// 1986, with the days of single years: 1989, 1990, 1993, 2019, and the Olympic years 2020 and 2021.
    /// The equinoxes are computed, and known to be those of the almanac until 2099.
    Japan,
    /// Canadian dollar payments, with the civic holiday of August.
    ///
    /// Family Day counts from 2008, the day for truth and reconciliation from 2021. Holidays of fixed
    /// date move from a weekend to the next working day.
    Canada,
    /// Australian dollar payments, by the holidays of Sydney with the bank holiday of August.
    ///
    /// New Year's Day, Australia Day and Christmas move from a weekend, Anzac Day does not. With the day
    /// of mourning of 22 September 2022.
    Australia,
}

named!(
    Calendar,
    "calendar",
    None = "none" | "null" | "no holidays",
    Weekends = "weekends" | "weekends only" | "weekdays",
    Target = "TARGET" | "TARGET2" | "T2" | "EUR" | "EU" | "ECB",
    UnitedStates = "US" | "USA" | "united states" | "federal",
    Fedwire = "FEDWIRE" | "USD" | "federal reserve" | "FED",
    Sifma = "SIFMA" | "government bond" | "USGS" | "US government bond",
    Nyse = "NYSE" | "new york stock exchange" | "US NYSE",
    UnitedKingdom = "UK" | "GB" | "GBP" | "GBLO" | "london" | "united kingdom" | "england",
    Switzerland = "CHF" | "CH" | "SIX" | "CHZU" | "zurich" | "switzerland",
    Japan = "JPY" | "JP" | "JPTO" | "tokyo" | "japan",
    Canada = "CAD" | "CA" | "CATO" | "toronto" | "canada",
    Australia = "AUD" | "AU" | "AUSY" | "sydney" | "australia"
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
    Unadjusted = "unadjusted" | "none" | "no adjust" | "actual",
    Following = "following" | "F" | "next" | "following business day",
    ModifiedFollowing = "modified following" | "MF" | "mod following" | "modfollow" | "modified",
    Preceding = "preceding" | "P" | "previous",
    ModifiedPreceding = "modified preceding" | "MP" | "mod preceding" | "modified previous"
);

impl BusinessDayConvention {
    /// Returns the rule in a few words, for people.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Unadjusted => "The date is not moved",
            Self::Following => "The next business day",
            Self::ModifiedFollowing => "The next business day, or the one before in the same month",
            Self::Preceding => "The business day before",
            Self::ModifiedPreceding => "The business day before, or the next in the same month",
        }
    }
}

impl Calendar {
    /// Returns the market or the institution whose days the calendar has, for people.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::None => "Every day is a business day",
            Self::Weekends => "Monday to Friday",
            Self::Target => "The euro payment system",
            Self::UnitedStates => "Offices of the United States government",
            Self::Fedwire => "Federal Reserve Banks and the Fedwire payment system",
            Self::Sifma => "United States government securities, as SIFMA recommends",
            Self::Nyse => "The New York Stock Exchange",
            Self::UnitedKingdom => "Bank holidays of England and Wales",
            Self::Switzerland => "Swiss franc payments and the Swiss exchange",
            Self::Japan => "Banks of Japan",
            Self::Canada => "Canadian dollar payments, by the holidays of Toronto",
            Self::Australia => "Australian dollar payments, by the holidays of Sydney",
        }
    }

    /// Returns the ISO 4217 code of the market's currency; `None` for a calendar of no market.
    #[must_use]
    pub const fn currency(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Weekends => None,
            Self::Target => Some("EUR"),
            Self::UnitedStates | Self::Fedwire | Self::Sifma | Self::Nyse => Some("USD"),
            Self::UnitedKingdom => Some("GBP"),
            Self::Switzerland => Some("CHF"),
            Self::Japan => Some("JPY"),
            Self::Canada => Some("CAD"),
            Self::Australia => Some("AUD"),
        }
    }

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
        self.is_open(&Day::from(date))
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
        BusinessDays::of(&[self]).adjust(date, convention)
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
        BusinessDays::of(&[self]).add(date, days)
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
        BusinessDays::of(&[self]).between(start, end)
    }

    /// Returns the number of business days between two dates that are in order.
    pub(crate) fn count_business_days(self, start: NaiveDate, end: NaiveDate) -> i64 {
        BusinessDays::of(&[self]).count(start, end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::gregorian;

    const CALENDARS: &[Calendar] = Calendar::ALL;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
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
        fn business_days_added_are_those_counted(start in 650_000_i32..830_000, days in 0_i64..300, which in 0_usize..12) {
            let (calendar, date) = (CALENDARS[which], NaiveDate::from_num_days_from_ce_opt(start).unwrap());
            let later = calendar.add_business_days(date, days).unwrap();
            prop_assert!(calendar.is_business_day(later));
            prop_assert_eq!(calendar.business_days_between(date, later), Ok(days));
            let first = calendar.add_business_days(date, 0).unwrap();
            prop_assert_eq!(calendar.add_business_days(later, -days), Ok(first));
        }

        #[test]
        fn an_adjusted_date_is_a_business_day_and_stays_put(day in 1_i32..3_652_000, which in 0_usize..12) {
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
        fn business_days_are_those_counted_one_by_one(start in 650_000_i32..830_000, length in 0_i32..900, which in 0_usize..12) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let calendar = CALENDARS[which];
            let expected = (start..start + length).filter(|&n| calendar.is_business_day(day(n))).count();
            let (start, end) = (day(start), day(start + length));
            prop_assert_eq!(calendar.business_days_between(start, end), Ok(expected as i64));
            prop_assert_eq!(calendar.business_days_between(end, start), Ok(-(expected as i64)));
        }
    }
}
