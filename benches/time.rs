//! Dates: the addition of a tenor, and a schedule.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::time::{NaiveDate, tenor::Tenor};

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

criterion_group!(benches, add, parse);
criterion_main!(benches);
