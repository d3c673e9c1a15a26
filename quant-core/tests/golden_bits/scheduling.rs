//! The bits of calendars, business days, tenors, day counts and schedules with stubs.

use chrono::Datelike;
use quant_core::time::{
    Accrual, BusinessDayConvention, Calendar, DayCount, Frequency, JointCalendar, NaiveDate,
    PeriodLength, RollConvention, ScheduleRule, Stub, Tenor,
};

use crate::lines::{Lines, day};

/// Years of single holidays, of leap days, and of rules that change.
const YEARS: [i32; 6] = [1985, 1999, 2012, 2024, 2026, 2050];

pub(super) fn lines(lines: &mut Lines) {
    spans(lines);
    calendars(lines);
    business_days(lines);
    tenors(lines);
    let names: Vec<&str> = Calendar::ALL.iter().map(|calendar| calendar.name()).collect();
    lines.add("list of calendars", &names, &[names.len() as f64]);
    let names: Vec<&str> = DayCount::ALL.iter().map(|day_count| day_count.name()).collect();
    lines.add("list of day counts", &names, &[names.len() as f64]);
}

/// The day as a number of days of the common era.
fn number(date: NaiveDate) -> f64 {
    f64::from(date.num_days_from_ce())
}

/// The business days of each year: a bit for each day, 64 to a word, the first day the lowest bit.
fn calendars(lines: &mut Lines) {
    for &calendar in Calendar::ALL {
        for year in YEARS {
            let mut words = [0; 6];
            let days = day(year, 1, 1).iter_days().take_while(|date| date.year() == year);
            for (at, date) in days.enumerate() {
                words[at / 64] |= u64::from(calendar.is_business_day(date)) << (at % 64);
            }
            lines.add_words("business days", (calendar.name(), year), &words);
        }
    }
}

/// A Friday before a holiday, holidays, the end of a month on a Sunday, and a leap day.
fn business_days(lines: &mut Lines) {
    let dates =
        [day(2026, 7, 3), day(2026, 12, 25), day(2027, 1, 31), day(2022, 6, 3), day(2024, 2, 29)];
    for names in ["US+UK", "TARGET", "JPY+AUD+CHF", "FEDWIRE+SIFMA+NYSE+CAD", "none"] {
        let calendar: JointCalendar = names.parse().expect("calendars");
        for date in dates {
            let after = |days| number(calendar.advance(date, days).expect("a date"));
            let between = |end| calendar.business_days_between(date, end).expect("days") as f64;
            let values = [
                f64::from(calendar.is_business_day(date)),
                after(1),
                after(-1),
                after(10),
                after(-250),
                between(day(2031, 5, 1)),
                between(day(2001, 1, 1)),
            ];
            lines.add("business days of", (names, date), &values);
            let adjusted = |convention: &BusinessDayConvention| {
                number(calendar.adjust(date, *convention).expect("a date"))
            };
            let values: Vec<f64> = BusinessDayConvention::ALL.iter().map(adjusted).collect();
            lines.add("adjusted dates", (names, date), &values);
        }
    }
}

fn tenors(lines: &mut Lines) {
    for text in ["1D", "2W", "1M", "-3M", "1Y6M", "13M", "-4Y", "30Y", "1Y1M1W1D"] {
        let tenor: Tenor = text.parse().expect("a tenor");
        let starts = [day(2024, 1, 31), day(2024, 2, 29), day(2026, 11, 30)];
        let ends = starts.map(|start| number(tenor.add_to(start).expect("a date")));
        lines.add("tenor", text, &ends);
    }
}

fn spans(lines: &mut Lines) {
    for &day_count in DayCount::ALL {
        let accrual = Accrual {
            start_date: day(2023, 2, 28),
            end_date: day(2028, 2, 29),
            day_count,
            frequency: Frequency::Quarterly,
            regular_period: None,
            maturity_date: None,
            calendar: "US+JPY".parse().expect("calendars"),
        };
        let measured = accrual.measure().expect("a length");
        let values = [measured.year_fraction, measured.days as f64, measured.actual_days as f64];
        lines.add("accrual", day_count, &values);
    }
    for &stub in &Stub::ALL[..4] {
        let rule = ScheduleRule {
            effective_date: day(2026, 1, 29),
            termination_date: day(2028, 8, 31),
            frequency: PeriodLength::Months(6),
            stub,
            roll: RollConvention::EndOfMonth,
            calendar: "TARGET+CHF+CAD+AUD".parse().expect("calendars"),
            convention: BusinessDayConvention::ModifiedFollowing,
            termination_convention: BusinessDayConvention::Unadjusted,
            day_count: DayCount::ActActIcma,
        };
        let periods = rule.periods().expect("periods");
        let values: Vec<f64> =
            periods.iter().flat_map(|period| [period.days as f64, period.year_fraction]).collect();
        lines.add("schedule", stub, &values);
    }
}
