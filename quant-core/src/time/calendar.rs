//! Calendars: business days, and the adjustment of dates that fall on holidays.
//!
//! Holidays are computed from rules, for every year. The rules are those in force today, extended
//! back to the changes that a table below names, and forward without end. Future holidays by
//! proclamation are not included.

mod business_days;
mod day;
mod explanation;
mod japan;
mod joint;
mod markets;
mod rules;
mod year_days;

use chrono::NaiveDate;

use self::business_days::BusinessDays;
pub use self::{
    joint::JointCalendar,
    markets::{BusinessDayConvention, Calendar},
};
use crate::Result;

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
        self.is_open_on(date)
    }

    /// Returns the business day to which the convention moves `date`; itself where it is one.
    ///
    /// # Errors
    ///
    /// [`Error::Date`](crate::Error::Date) for a date that is outside, or would be moved out of, the years 1 to 9999.
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
    /// [`Error::Date`](crate::Error::Date) for a date that is outside, or would be moved out of, the years 1 to 9999.
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
    /// [`Error::Date`](crate::Error::Date) for a date outside the years 1 to 9999.
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
