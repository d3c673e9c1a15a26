//! Dates: tenors, business days, schedules, and the lists of calendars and day counts.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::time::{
    Accrual, BusinessDayConvention, Calendar, DayCount, Frequency, JointCalendar, NaiveDate,
    PeriodLength, RollConvention, ScheduleRule, Stub, tenor::Tenor,
};

/// Calendar arithmetic with a parsed tenor.
fn add(c: &mut Criterion) {
    let start = NaiveDate::from_ymd_opt(2024, 1, 31).expect("a day of the calendar");
    let tenor: Tenor = "1Y6M".parse().expect("a tenor");
    c.bench_function("tenor/add_to", |b| b.iter(|| black_box(&tenor).add_to(black_box(start))));
}

/// The parsing of a tenor, which every request contains.
fn parse(c: &mut Criterion) {
    c.bench_function("tenor/parse", |b| b.iter(|| black_box("1Y6M").parse::<Tenor>()));
}

/// Business days of two markets: the spot date, a year, and all years that a date may have.
fn business_days(c: &mut Criterion) {
    let calendar: JointCalendar = "US+UK".parse().expect("calendars");
    let date = |text: &str| text.parse::<NaiveDate>().expect("a date");
    let start = date("2026-11-20");
    let mut group = c.benchmark_group("calendar");
    group.bench_function("is_business_day", |b| {
        b.iter(|| black_box(&calendar).is_business_day(start));
    });
    // A Sunday at the end of a month: the following business day is in the next month.
    let sunday = date("2027-01-31");
    group.bench_function("adjust", |b| {
        b.iter(|| black_box(&calendar).adjust(sunday, BusinessDayConvention::ModifiedFollowing));
    });
    group.bench_function("advance/1", |b| b.iter(|| black_box(&calendar).advance(start, 1)));
    group.bench_function("advance/-1", |b| b.iter(|| black_box(&calendar).advance(start, -1)));
    group.bench_function("advance/2", |b| b.iter(|| black_box(&calendar).advance(start, 2)));
    group.bench_function("advance/250", |b| b.iter(|| black_box(&calendar).advance(start, 250)));
    let end = date("2056-11-20");
    group.bench_function("business_days_between/30Y", |b| {
        b.iter(|| black_box(&calendar).business_days_between(start, end));
    });
    let (first, last) = (date("0001-01-01"), date("9999-12-31"));
    group.sample_size(10);
    group.bench_function("business_days_between/9999Y", |b| {
        b.iter(|| black_box(&calendar).business_days_between(first, last));
    });
    group.finish();
}

/// A span by the convention with the most cases, and a schedule of thirty years.
fn schedules(c: &mut Criterion) {
    let date = |text: &str| text.parse::<NaiveDate>().expect("a date");
    let accrual = Accrual {
        start_date: date("2026-01-29"),
        end_date: date("2056-08-31"),
        day_count: DayCount::ActActIcma,
        frequency: Frequency::Semiannual,
        regular_period: None,
        maturity_date: None,
        calendar: JointCalendar::default(),
    };
    c.bench_function("accrual/measure", |b| b.iter(|| black_box(&accrual).measure()));
    let rule = ScheduleRule {
        effective_date: accrual.start_date,
        termination_date: accrual.end_date,
        frequency: PeriodLength::Months(6),
        stub: Stub::LongFront,
        roll: RollConvention::EndOfMonth,
        calendar: "TARGET".parse().expect("a calendar"),
        convention: BusinessDayConvention::ModifiedFollowing,
        termination_convention: BusinessDayConvention::ModifiedFollowing,
        day_count: DayCount::Act360,
    };
    c.bench_function("schedule_rule/periods/30Y", |b| b.iter(|| black_box(&rule).periods()));
}

/// The lists of calendars and day counts, as the text of their names, spellings and rules.
fn lists(c: &mut Criterion) {
    c.bench_function("calendar/list", |b| {
        b.iter(|| {
            let texts = |calendar: &Calendar| {
                let spellings = calendar.aliases().join(" ");
                (calendar.name(), spellings, calendar.description(), calendar.currency())
            };
            black_box(Calendar::ALL).iter().map(texts).collect::<Vec<_>>()
        });
    });
    c.bench_function("day_count/list", |b| {
        b.iter(|| {
            let texts = |day_count: &DayCount| {
                (day_count.name(), day_count.aliases().join(" "), day_count.description())
            };
            black_box(DayCount::ALL).iter().map(texts).collect::<Vec<_>>()
        });
    });
}

criterion_group!(benches, add, parse, business_days, schedules, lists);
criterion_main!(benches);
