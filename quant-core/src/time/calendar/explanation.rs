//! Explanations of business days.

use chrono::NaiveDate;

use super::{BusinessDayConvention, Calendar, JointCalendar};
use crate::Result;
use crate::explanation::{Explanation, Method};
use crate::time::dates_are_exact;

const RULES: Method = Method::new(
    "Holidays computed from rules, for every year",
    "the law or the list that the conventions name for each calendar",
);
const NO_PROCLAMATIONS: &str = "The rules are those in force today and their known changes; \
                                holidays that will be proclaimed for a single day are not included.";

impl Calendar {
    /// Explains the list of the calendars, [`ALL`](Self::ALL).
    #[must_use]
    pub fn explain_all() -> Explanation {
        Explanation::new(RULES, dates_are_exact())
            .with_conventions([NO_PROCLAMATIONS])
            .with_conventions(Self::ALL.iter().filter_map(|calendar| calendar.rule()))
    }

    fn rule(self) -> Option<String> {
        let source = self.source()?;
        Some(format!("{self}: {}; {source}.", self.description()))
    }
}

impl JointCalendar {
    /// Explains [`is_business_day`](Self::is_business_day).
    #[must_use]
    pub fn explain_is_business_day(&self) -> Explanation {
        self.explanation()
    }

    /// Explains [`adjust`](Self::adjust).
    ///
    /// # Errors
    ///
    /// The errors of [`adjust`](Self::adjust).
    pub fn explain_adjust(
        &self,
        date: NaiveDate,
        convention: BusinessDayConvention,
    ) -> Result<Explanation> {
        self.adjust(date, convention)?;
        let method = Method {
            name: format!("Business-day convention: {convention}").into(),
            source: "ISDA (2006), 2006 ISDA Definitions, section 4.12".into(),
        };
        let rule = format!("{}; a business day stays.", convention.description());
        let explanation = self.explanation().with_conventions([rule]);
        Ok(Explanation { method, ..explanation })
    }

    /// Explains [`advance`](Self::advance).
    ///
    /// # Errors
    ///
    /// The errors of [`advance`](Self::advance).
    pub fn explain_advance(&self, date: NaiveDate, days: i64) -> Result<Explanation> {
        self.advance(date, days)?;
        let start = match (self.is_business_day(date), days) {
            (true, _) => "The start is a business day and is not counted itself.",
            (false, 0) => "The start is no business day, and no days lead to the next one.",
            (false, _) => "The start is no business day: the first business day from it counts 1.",
        };
        Ok(self.explanation().with_conventions([start]))
    }

    /// Explains [`business_days_between`](Self::business_days_between).
    ///
    /// # Errors
    ///
    /// The errors of [`business_days_between`](Self::business_days_between).
    pub fn explain_business_days_between(
        &self,
        start: NaiveDate,
        end: NaiveDate,
    ) -> Result<Explanation> {
        self.business_days_between(start, end)?;
        let sides =
            "The earlier date counts where it is a business day, and the later one does not.";
        let sign = "The end comes first, so that the number is minus that of the days forward.";
        let explanation = self.explanation().with_conventions([sides]);
        Ok(explanation.with_conventions((end < start).then_some(sign)))
    }

    fn explanation(&self) -> Explanation {
        Explanation::new(RULES, dates_are_exact()).with_conventions(self.conventions())
    }

    /// The rules of the calendars, a sentence each.
    pub(crate) fn conventions(&self) -> Vec<String> {
        let mut rules: Vec<String> = match self.is_always_open() {
            true => vec!["Saturdays and Sundays are business days.".to_owned()],
            false => vec!["Saturdays and Sundays are closed.".to_owned()],
        };
        let markets: Vec<String> = self.calendars.iter().filter_map(|one| one.rule()).collect();
        if !markets.is_empty() {
            rules.push(NO_PROCLAMATIONS.to_owned());
        }
        if self.calendars.len() > 1 {
            rules.push("A business day is one in every calendar.".to_owned());
        }
        rules.extend(markets);
        match self.holidays.len() {
            0 => {}
            1 => rules.push("One further day of the request is closed.".to_owned()),
            count => rules.push(format!("{count} further days of the request are closed.")),
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_calendar_of_a_market_states_its_rule() {
        let listed = Calendar::explain_all();
        let markets = Calendar::ALL.iter().filter(|calendar| calendar.currency().is_some());
        assert_eq!(listed.conventions.len(), 1 + markets.count());
        assert_eq!((listed.error.estimate, listed.error.is_bound), (0.0, true));
    }

    #[test]
    fn the_conventions_are_those_of_the_arguments() {
        let date = |text: &str| text.parse::<NaiveDate>().unwrap();
        let mut calendar: JointCalendar = "US+UK".parse().unwrap();
        calendar.holidays.insert(date("2026-11-27"));
        let states = |explanation: &Explanation, part: &str| {
            explanation.conventions.iter().any(|sentence| sentence.contains(part))
        };
        let adjusted = calendar
            .explain_adjust(date("2026-11-28"), BusinessDayConvention::ModifiedFollowing)
            .unwrap();
        assert_eq!(adjusted.method.name, "Business-day convention: modified following");
        for part in ["5 U.S.C. 6103", "every calendar", "One further day"] {
            assert!(states(&adjusted, part), "{part}: {adjusted:?}");
        }
        let advanced = |day: &str| calendar.explain_advance(date(day), 1).unwrap();
        assert!(states(&advanced("2026-11-25"), "is not counted itself"));
        assert!(states(&advanced("2026-11-28"), "counts 1"));
        let between = |start: &str, end: &str| {
            calendar.explain_business_days_between(date(start), date(end)).unwrap()
        };
        assert!(states(&between("2026-11-28", "2026-11-25"), "minus"));
        assert!(!states(&between("2026-11-25", "2026-11-28"), "minus"));
        assert!(calendar.explain_advance(NaiveDate::MAX, 1).is_err());
        let open = JointCalendar::from(Calendar::None).explain_is_business_day();
        assert!(states(&open, "Sundays are business days"));
    }
}
