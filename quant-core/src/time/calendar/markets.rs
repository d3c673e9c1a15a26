//! The calendars and the adjustments of dates, with their names.

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

    /// Returns the rule or the list that the holidays follow; `None` for a calendar of no market.
    #[must_use]
    pub const fn source(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Weekends => None,
            Self::Target => Some("European Central Bank, TARGET closing days"),
            Self::UnitedStates => Some("5 U.S.C. 6103"),
            Self::Fedwire => Some("Federal Reserve System, Holidays Observed"),
            Self::Sifma => Some("SIFMA, Holiday Schedule"),
            Self::Nyse => Some("New York Stock Exchange, rule 7.2"),
            Self::UnitedKingdom => Some("Banking and Financial Dealings Act 1971, schedule 1"),
            Self::Switzerland => Some("SIX Swiss Exchange, trading calendar"),
            Self::Japan => Some("Act on National Holidays, 1948"),
            Self::Canada => Some("Holidays Act, R.S.C. 1985, and the holidays of Ontario"),
            Self::Australia => Some("Public Holidays Act 2010 of New South Wales"),
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
}
