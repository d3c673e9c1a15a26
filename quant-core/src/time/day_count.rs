//! Day counts: the fraction of a year between two dates.

use chrono::{Datelike, NaiveDate};

use super::{
    calendar::Calendar,
    dates_are_exact,
    gregorian::{
        date_in_month, days_between, days_in_month, is_leap_year, is_month_end, month_index,
        require_year,
    },
    schedule::Frequency,
};
use crate::explanation::{Explanation, Method};
use crate::named::named;
use crate::{Error, Result};

/// A rule for the fraction of a year between two dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DayCount {
    /// 30/360, the bond basis: months of 30 days; a 31st counts as the 30th at the start, and at
    /// the end where the start is the 30th or 31st.
    Thirty360BondBasis,
    /// 30E/360, the Eurobond basis: months of 30 days; every 31st counts as the 30th.
    ThirtyE360,
    /// 30E/360 ISDA: months of 30 days; every last day of a month counts as the 30th, except a
    /// last of February that is the maturity.
    ThirtyE360Isda,
    /// 30/360 US: the bond basis where also a last of February counts as the 30th, at the start, and at
    /// the end where the start is one.
    Thirty360Us,
    /// Actual days divided by 360.
    Act360,
    /// Actual days divided by 364.
    Act364,
    /// Actual days over 365, in leap years too.
    Act365,
    /// Actual days over 365.25.
    Act36525,
    /// Actual days over 366 where the coupon period holds a 29 February (annual coupons), or ends in a
    /// leap year (others), else over 365.
    Act365L,
    /// Actual days without every 29 February, over 365.
    Nl365,
    /// Actual days over the days of the regular coupon period, over the coupons a year.
    ActActIcma,
    /// Actual days over 366 in leap years and over 365 in others.
    ActActIsda,
    /// Whole years counted back from the end, and actual days of the rest over 366 where the rest holds
    /// a 29 February, else over 365.
    ActActAfb,
    /// Business days divided by 252.
    Bus252,
}

named!(
    DayCount,
    "day_count",
    Thirty360BondBasis = "30/360" | "30A/360" | "bond basis" | "30/360 bond basis" | "thirty 360",
    ThirtyE360 = "30E/360" | "eurobond basis" | "30/360 european" | "30/360 ICMA" | "thirty E 360",
    ThirtyE360Isda = "30E/360 ISDA" | "30/360 german" | "german",
    Thirty360Us = "30/360 US" | "30U/360" | "30US/360" | "30/360 USA" | "30/360 SIA",
    Act360 = "ACT/360" | "actual/360" | "A/360",
    Act364 = "ACT/364" | "actual/364" | "A/364",
    Act365 = "ACT/365"
        | "ACT/365F"
        | "ACT/365 fixed"
        | "actual/365"
        | "actual/365F"
        | "actual/365 fixed"
        | "A/365"
        | "A/365F",
    Act36525 = "ACT/365.25" | "actual/365.25" | "A/365.25",
    Act365L = "ACT/365L" | "actual/365L" | "ACT/365 leap" | "ISMA year" | "A/365L",
    Nl365 = "NL/365" | "ACT/365 NL" | "ACT/365 no leap" | "actual/365 no leap" | "no leap/365",
    ActActIcma = "ACT/ACT ICMA"
        | "ACT/ACT ISMA"
        | "actual/actual ICMA"
        | "actual/actual ISMA"
        | "ACT/ACT bond"
        | "actual/actual bond",
    ActActIsda = "ACT/ACT ISDA" | "ACT/ACT" | "actual/actual ISDA" | "actual/actual" | "A/A",
    ActActAfb = "ACT/ACT AFB" | "actual/actual AFB" | "ACT/ACT euro" | "actual/actual euro",
    Bus252 = "BUS/252" | "business/252" | "B/252"
);

/// Data that some day counts need beside the two dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reference {
    /// Start of the regular coupon period that holds both dates; for ACT/ACT ICMA and
    /// ACT/365L.
    pub period_start: NaiveDate,
    /// End of the regular coupon period that holds both dates; for ACT/ACT ICMA and ACT/365L.
    pub period_end: NaiveDate,
    /// Coupons a year; for ACT/ACT ICMA and ACT/365L.
    pub frequency: Frequency,
    /// Maturity of the instrument; for 30E/360 ISDA.
    pub maturity_date: NaiveDate,
    /// Calendar of business days; for BUS/252.
    pub calendar: Calendar,
}

impl DayCount {
    /// Returns the rule in a few words, for people.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Thirty360BondBasis => "Months of 30 days; bond basis",
            Self::ThirtyE360 => "Months of 30 days; Eurobond basis",
            Self::ThirtyE360Isda => "Months of 30 days; every last day of a month is the 30th",
            Self::Thirty360Us => "Months of 30 days; a last of February at the start is the 30th",
            Self::Act360 => "Actual days over 360",
            Self::Act364 => "Actual days over 364",
            Self::Act365 => "Actual days over 365, in leap years too",
            Self::Act36525 => "Actual days over 365.25",
            Self::Act365L => "Actual days over 365, or 366 for a period with a leap day",
            Self::Nl365 => "Actual days without 29 February over 365",
            Self::ActActIcma => "Actual days over those of the coupon period",
            Self::ActActIsda => "Actual days over 366 in leap years and 365 in others",
            Self::ActActAfb => "Whole years, and actual days of the rest over 365 or 366",
            Self::Bus252 => "Business days over 252",
        }
    }

    /// Explains the list of the day counts, [`ALL`](Self::ALL).
    #[must_use]
    pub fn explain_all() -> Explanation {
        let method = Method::new(
            "Day-count conventions",
            "ISDA (2006), 2006 ISDA Definitions, section 4.16, and the sources of the others",
        );
        let rule = |day_count: &Self| format!("{day_count}: {}.", day_count.source());
        Explanation::new(method, dates_are_exact()).with_conventions(Self::ALL.iter().map(rule))
    }

    /// Returns the name of the rule and where it was published.
    pub(crate) fn method(self) -> Method {
        let name = format!("{self}: {}", self.description());
        Method { name: name.into(), source: self.source().into() }
    }

    const fn source(self) -> &'static str {
        match self {
            Self::Thirty360BondBasis => "ISDA (2006), 2006 ISDA Definitions, section 4.16(f)",
            Self::ThirtyE360 => "ISDA (2006), 2006 ISDA Definitions, section 4.16(g)",
            Self::ThirtyE360Isda => "ISDA (2006), 2006 ISDA Definitions, section 4.16(h)",
            Self::Thirty360Us => "Mayle (1993), Standard Securities Calculation Methods, volume 1",
            Self::Act360 => "ISDA (2006), 2006 ISDA Definitions, section 4.16(e)",
            Self::Act365 => "ISDA (2006), 2006 ISDA Definitions, section 4.16(d)",
            Self::Act365L => "International Capital Market Association, rule 251.1",
            Self::ActActIcma => {
                "ISDA (2006), 2006 ISDA Definitions, section 4.16(c); ICMA, rule 251"
            }
            Self::ActActIsda => "ISDA (2006), 2006 ISDA Definitions, section 4.16(b)",
            Self::ActActAfb => "Fédération Bancaire Française, Définitions communes (AFB)",
            Self::Bus252 => "convention of the Brazilian market, by business days",
            Self::Act364 | Self::Act36525 | Self::Nl365 => {
                "market convention, without a definition"
            }
        }
    }

    /// Returns the fraction of a year from `start` to `end`.
    ///
    /// ```text
    /// 30/360 kinds   (360 (Y₂ − Y₁) + 30 (M₂ − M₁) + (D₂ − D₁)) / 360
    /// ACT/n          days / n, with n = 360, 364, 365 or 365.25
    /// ACT/365L       days / 366 or 365      NL/365   days without 29 February / 365
    /// ACT/ACT ICMA   days / (f · days of the regular period)
    /// ACT/ACT ISDA   days in leap years / 366 + days in other years / 365
    /// ACT/ACT AFB    whole years + days of the rest / (366 or 365)
    /// BUS/252        business days / 252
    /// ```
    ///
    /// where days include `start` and exclude `end`, f is the number of coupons a year, and the
    /// days D are changed as each kind says. ICMA's fraction of a period longer than the regular
    /// one is the sum of its parts, one for each regular period they lie in.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date outside the years 1 to 9999 and where `end` is before `start`; for
    /// ACT/ACT ICMA and ACT/365L also where a date is outside the regular period, or that period is empty; [`Error::Conflict`] for BUS/252
    /// without a calendar.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::time::{
    ///     NaiveDate, calendar::Calendar, day_count::{DayCount, Reference}, schedule::Frequency,
    /// };
    ///
    /// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// let (start, end) = (date("2003-11-01"), date("2004-05-01"));
    /// let reference = Reference {
    ///     period_start: start,
    ///     period_end: end,
    ///     frequency: Frequency::Semiannual,
    ///     maturity_date: end,
    ///     calendar: Calendar::None,
    /// };
    /// assert_eq!(DayCount::ActActIcma.year_fraction(start, end, &reference)?, 0.5);
    /// let isda = DayCount::ActActIsda.year_fraction(start, end, &reference)?;
    /// assert!((isda - 0.497724380567).abs() < 1e-12);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// ISDA, "2006 ISDA Definitions", section 4.16; International Capital Market Association,
    /// rule 251; ISDA (1999), "EMU and Market Conventions: Recent Developments", whose first
    /// example is the one above; Fédération Bancaire Française, "Définitions communes à plusieurs
    /// additifs techniques" (AFB); ICMA rule 251.1 (ACT/365L).
    pub fn year_fraction(
        self,
        start: NaiveDate,
        end: NaiveDate,
        reference: &Reference,
    ) -> Result<f64> {
        require_year("start", start)?;
        require_year("end", end)?;
        require_from(start, "end", end, "on or after the start")?;
        self.require_calendar(reference.calendar)?;
        if matches!(self, Self::ActActIcma | Self::Act365L) {
            let Reference { period_start, period_end, .. } = *reference;
            if period_end <= period_start {
                return Err(Error::Date {
                    argument: "period_end",
                    value: period_end,
                    requirement: "after the start of the period",
                });
            }
            require_from(period_start, "start", start, "in the regular period")?;
            require_from(end, "period_end", period_end, "on or after the end")?;
        }
        Ok(self.fraction(start, end, reference))
    }

    /// Returns the number of days that the convention counts from `start` to `end`.
    ///
    /// Those are months of 30 days for the 30/360 kinds, business days for BUS/252, all days but 29
    /// February for NL/365, and actual days for the others.
    ///
    /// # Errors
    ///
    /// Those of [`year_fraction`](Self::year_fraction).
    pub fn days(self, start: NaiveDate, end: NaiveDate, reference: &Reference) -> Result<i64> {
        self.year_fraction(start, end, reference)?;
        let calendar = reference.calendar;
        Ok(self.counted(start, end, reference, || calendar.count_business_days(start, end)))
    }

    /// The fraction of a year between dates that are known to be in order and in the period.
    pub(crate) fn fraction(self, start: NaiveDate, end: NaiveDate, reference: &Reference) -> f64 {
        let business_days = || reference.calendar.count_business_days(start, end);
        self.fraction_by(start, end, reference, business_days)
    }

    /// The fraction of a year, with the business days of another calendar than that of the reference.
    pub(crate) fn fraction_by(
        self,
        start: NaiveDate,
        end: NaiveDate,
        reference: &Reference,
        business_days: impl Fn() -> i64,
    ) -> f64 {
        // 30E/360 ISDA would make −2 days of a last of February at both ends of nothing.
        if start == end {
            return 0.0;
        }
        match self {
            Self::ActActIcma if start == reference.period_start && end == reference.period_end => {
                1.0 / f64::from(reference.frequency.count())
            }
            Self::ActActIsda => actual_by_year(start, end),
            Self::ActActAfb => whole_years_and_rest(start, end),
            _ => {
                let days = self.counted(start, end, reference, business_days);
                days as f64 / self.days_of_year(reference)
            }
        }
    }

    /// The counted days that are a year, for a convention that divides by them.
    fn days_of_year(self, reference: &Reference) -> f64 {
        match self {
            Self::ActActIcma => {
                let regular = days_between(reference.period_start, reference.period_end);
                (i64::from(reference.frequency.count()) * regular) as f64
            }
            Self::Act365L => length_of_year(reference),
            Self::Act364 => 364.0,
            Self::Act365 | Self::Nl365 => 365.0,
            Self::Act36525 => 365.25,
            Self::Bus252 => 252.0,
            // ACT/360 and months of 30 days.
            _ => 360.0,
        }
    }

    /// The days that the convention counts between two dates in order.
    pub(crate) fn counted(
        self,
        start: NaiveDate,
        end: NaiveDate,
        reference: &Reference,
        business_days: impl Fn() -> i64,
    ) -> i64 {
        if start == end {
            return 0;
        }
        match self {
            Self::Thirty360BondBasis => {
                let first = start.day().min(30);
                let last = if first == 30 { end.day().min(30) } else { end.day() };
                months_of_30_days(start, first, end, last)
            }
            Self::ThirtyE360 => {
                months_of_30_days(start, start.day().min(30), end, end.day().min(30))
            }
            Self::ThirtyE360Isda => {
                let is_final_february = end == reference.maturity_date && end.month() == 2;
                let last = if is_final_february { end.day() } else { month_end_as_30th(end) };
                months_of_30_days(start, month_end_as_30th(start), end, last)
            }
            Self::Thirty360Us => {
                let is_february = |date: NaiveDate| date.month() == 2 && is_month_end(date);
                let first = if is_february(start) { 30 } else { start.day().min(30) };
                let last = if is_february(start) && is_february(end) {
                    30
                } else if first == 30 {
                    end.day().min(30)
                } else {
                    end.day()
                };
                months_of_30_days(start, first, end, last)
            }
            Self::Nl365 => days_between(start, end) - leap_days(start, end),
            Self::Bus252 => business_days(),
            _ => days_between(start, end),
        }
    }

    /// Refuses to count business days where every day is one.
    pub(crate) fn require_calendar(self, calendar: Calendar) -> Result<()> {
        if self == Self::Bus252 && calendar == Calendar::None {
            return Err(Error::Conflict {
                argument: "calendar",
                problem: "is needed where the day count is BUS/252",
            });
        }
        Ok(())
    }
}

/// Refuses `date` where it is before `earliest`.
fn require_from(
    earliest: NaiveDate,
    argument: &'static str,
    date: NaiveDate,
    requirement: &'static str,
) -> Result<()> {
    if date < earliest { Err(Error::Date { argument, value: date, requirement }) } else { Ok(()) }
}

fn months_of_30_days(start: NaiveDate, first: u32, end: NaiveDate, last: u32) -> i64 {
    let years = i64::from(end.year()) - i64::from(start.year());
    let months = i64::from(end.month()) - i64::from(start.month());
    360 * years + 30 * months + i64::from(last) - i64::from(first)
}

/// The number of days 29 February after `start`, up to `end`, itself included.
fn leap_days(start: NaiveDate, end: NaiveDate) -> i64 {
    let up_to = |date: NaiveDate| {
        let years = i64::from(date.year()) - 1;
        let is_past = is_leap_year(date.year()) && (date.month(), date.day()) >= (2, 29);
        years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400) + i64::from(is_past)
    };
    up_to(end) - up_to(start)
}

/// The days of the year of ACT/365L.
fn length_of_year(reference: &Reference) -> f64 {
    let Reference { period_start, period_end, frequency, .. } = *reference;
    let is_leap = match frequency {
        Frequency::Annual => leap_days(period_start, period_end) > 0,
        _ => is_leap_year(period_end.year()),
    };
    if is_leap { 366.0 } else { 365.0 }
}

/// The fraction by ACT/ACT AFB.
fn whole_years_and_rest(start: NaiveDate, end: NaiveDate) -> f64 {
    // A year before the 28 February of a year without a 29th is the last of February.
    let day = if end.month() == 2 && end.day() >= 28 { 29 } else { end.day() };
    let before = |years: i64| match years {
        0 => end,
        _ => date_in_month(month_index(end) - 12 * years, day).expect("a date after the start"),
    };
    let mut years = i64::from(end.year()) - i64::from(start.year());
    if before(years) < start {
        years -= 1;
    }
    let rest_end = before(years);
    // From the start, itself included, to the end of the rest, excluded.
    let eve = |date: NaiveDate| date.pred_opt().expect("a day before the year 1 to 9999");
    let is_leap = rest_end > start && leap_days(eve(start), eve(rest_end)) > 0;
    let length = if is_leap { 366.0 } else { 365.0 };
    years as f64 + days_between(start, rest_end) as f64 / length
}

fn month_end_as_30th(date: NaiveDate) -> u32 {
    let is_last = date.day() == days_in_month(date.year(), date.month());
    if is_last { 30 } else { date.day() }
}

fn actual_by_year(start: NaiveDate, end: NaiveDate) -> f64 {
    let length = |year| if is_leap_year(year) { 366.0 } else { 365.0 };
    let (first, last) = (start.year(), end.year());
    if first == last {
        return days_between(start, end) as f64 / length(first);
    }
    let head = (length(first) - f64::from(start.ordinal0())) / length(first);
    let tail = f64::from(end.ordinal0()) / length(last);
    f64::from(last - first - 1) + (head + tail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    /// A reference whose regular period runs between the two dates.
    fn reference(start: NaiveDate, end: NaiveDate, count: u32) -> Reference {
        Reference {
            period_start: start,
            period_end: end,
            frequency: Frequency::from_count(count).unwrap(),
            maturity_date: end,
            calendar: Calendar::Target,
        }
    }

    #[test]
    fn icma_and_isda_agree_with_the_published_comparison() {
        // ISDA (1999), "EMU and Market Conventions: Recent Developments", with the regular period
        // that ICMA's rule 251 refers to. The last two are the halves of its long final period,
        // whose sums it prints as 0.41576087 and 0.41554009.
        #[rustfmt::skip]
        let rows = [
            // start       end           regular period              f  icma            isda
            ("2003-11-01", "2004-05-01", "2003-11-01", "2004-05-01", 2, 0.5,            0.497724380567),
            ("1999-02-01", "1999-07-01", "1998-07-01", "1999-07-01", 1, 0.410958904110, 0.410958904110),
            ("1999-07-01", "2000-07-01", "1999-07-01", "2000-07-01", 1, 1.0,            1.001377348600),
            ("2003-01-15", "2003-07-15", "2003-01-15", "2003-07-15", 2, 0.5,            0.495890410959),
            ("2002-08-15", "2003-01-15", "2002-07-15", "2003-01-15", 2, 0.415760869565, 0.419178082192),
            ("1999-07-30", "2000-01-30", "1999-07-30", "2000-01-30", 2, 0.5,            0.503892506924),
            ("2000-01-30", "2000-06-30", "2000-01-30", "2000-07-30", 2, 0.417582417582, 0.415300546448),
            ("1999-11-30", "2000-02-29", "1999-11-30", "2000-02-29", 4, 0.25,           0.248873418669),
            ("2000-02-29", "2000-04-30", "2000-02-29", "2000-05-31", 4, 0.165760869565, 0.166666666667),
        ];
        for (start, end, period_start, period_end, count, icma, isda) in rows {
            let (start, end) = (date(start), date(end));
            let reference = reference(date(period_start), date(period_end), count);
            let fraction = |kind: DayCount| kind.year_fraction(start, end, &reference).unwrap();
            assert!((fraction(DayCount::ActActIcma) - icma).abs() < 1e-12, "{start} {end}");
            assert!((fraction(DayCount::ActActIsda) - isda).abs() < 1e-11, "{start} {end}");
        }
    }

    #[test]
    fn months_of_30_days_differ_at_their_ends() {
        use DayCount::{Thirty360BondBasis, ThirtyE360, ThirtyE360Isda};
        // ISDA, "30/360 day count conventions", 2008: days by bond basis, Eurobond and ISDA.
        #[rustfmt::skip]
        let rows = [
            ("2007-01-15", "2007-01-30",  15,  15,  15), ("2007-01-15", "2007-02-15",  30,  30,  30),
            ("2007-09-30", "2008-03-31", 180, 180, 180), ("2007-09-30", "2007-10-31",  30,  30,  30),
            ("2007-09-30", "2008-09-30", 360, 360, 360), ("2007-01-15", "2007-01-31",  16,  15,  15),
            ("2007-01-31", "2007-02-28",  28,  28,  30), ("2007-02-28", "2007-03-31",  33,  32,  30),
            ("2006-08-31", "2007-02-28", 178, 178, 180), ("2007-02-28", "2007-08-31", 183, 182, 180),
            ("2007-02-14", "2007-02-28",  14,  14,  16), ("2007-02-26", "2008-02-29", 363, 363, 364),
            ("2008-02-29", "2009-02-28", 359, 359, 360), ("2008-02-29", "2008-03-30",  31,  31,  30),
            ("2008-02-29", "2008-03-31",  32,  31,  30), ("2007-03-31", "2007-04-30",  30,  30,  30),
        ];
        for (start, end, bond, euro, isda) in rows {
            let (start, end) = (date(start), date(end));
            let mut reference = reference(start, end, 1);
            reference.maturity_date = date("2020-01-01");
            for (kind, days) in
                [(Thirty360BondBasis, bond), (ThirtyE360, euro), (ThirtyE360Isda, isda)]
            {
                let fraction = kind.year_fraction(start, end, &reference).unwrap();
                assert_eq!(fraction, f64::from(days) / 360.0, "{kind:?} {start} {end}");
            }
        }
    }

    #[test]
    fn the_last_of_february_is_kept_by_isda_where_it_is_the_maturity() {
        let (start, end) = (date("2006-08-31"), date("2007-02-28"));
        let fraction =
            |start| DayCount::ThirtyE360Isda.year_fraction(start, end, &reference(start, end, 2));
        assert_eq!(fraction(start), Ok(178.0 / 360.0));
        assert_eq!(fraction(end), Ok(0.0));
    }

    #[test]
    fn business_days_need_a_calendar() {
        let (start, end) = (date("2026-04-01"), date("2026-04-08"));
        let mut reference = reference(start, end, 2);
        // Good Friday and Easter Monday fall in this week.
        assert_eq!(DayCount::Bus252.year_fraction(start, end, &reference), Ok(3.0 / 252.0));
        reference.calendar = Calendar::None;
        let error = DayCount::Bus252.year_fraction(start, end, &reference).unwrap_err();
        assert_eq!((error.code(), error.argument()), ("conflict", Some("calendar")));
    }

    #[test]
    fn dates_out_of_order_or_out_of_the_period_are_refused() {
        let (start, end) = (date("2026-01-15"), date("2026-07-15"));
        let reference = reference(start, end, 2);
        let refused = |kind: DayCount, start, end| {
            kind.year_fraction(date(start), date(end), &reference).unwrap_err().argument().unwrap()
        };
        assert_eq!(refused(DayCount::Act365, "2026-02-01", "2026-01-31"), "end");
        assert_eq!(refused(DayCount::ActActIcma, "2026-01-14", "2026-07-15"), "start");
        assert_eq!(refused(DayCount::ActActIcma, "2026-01-15", "2026-07-16"), "period_end");
        let empty = Reference { period_end: start, ..reference };
        let error = DayCount::ActActIcma.year_fraction(start, start, &empty).unwrap_err();
        assert_eq!(error.argument(), Some("period_end"));
    }

    #[test]
    fn dates_outside_the_years_are_refused() {
        let (first, last) = (date("0001-01-01"), date("9999-12-31"));
        for &kind in DayCount::ALL {
            let fraction =
                |start, end| kind.year_fraction(start, end, &reference(start, end, 2)).unwrap_err();
            assert_eq!(fraction(NaiveDate::MIN, last).argument(), Some("start"), "{kind}");
            assert_eq!(fraction(first, NaiveDate::MAX).argument(), Some("end"), "{kind}");
        }
    }

    proptest! {
        #[test]
        fn actual_counts_add_up(first in 1_i32..3_000_000, head in 0_i32..40_000, tail in 0_i32..40_000) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let (start, middle, end) = (day(first), day(first + head), day(first + head + tail));
            let reference = reference(start, day(first + head + tail + 1), 1);
            for kind in [DayCount::Act360, DayCount::Act365, DayCount::ActActIcma, DayCount::ActActIsda] {
                let fraction = |start, end| kind.year_fraction(start, end, &reference).unwrap();
                let sum = fraction(start, middle) + fraction(middle, end);
                prop_assert!((fraction(start, end) - sum).abs() <= 1e-15 * sum.max(1.0) * 4.0, "{kind:?}");
            }
        }
    }
}
