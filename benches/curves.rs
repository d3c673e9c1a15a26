//! Curves: the bootstrap of fourteen quotes, readings and shifts of the result, and fits.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::{
    curves::{
        Compounding, Curve, Instrument, InstrumentKind, Interpolation, NelsonSiegel,
        NelsonSiegelSvensson, RateConventions, ShiftSpace,
    },
    time::{DayCount, NaiveDate, schedule::Frequency},
};

const QUOTES: [(InstrumentKind, &str, f64); 14] = [
    (InstrumentKind::Deposit, "1M", 0.0310),
    (InstrumentKind::Deposit, "3M", 0.0315),
    (InstrumentKind::Deposit, "6M", 0.0320),
    (InstrumentKind::Swap, "1Y", 0.0325),
    (InstrumentKind::Swap, "2Y", 0.0330),
    (InstrumentKind::Swap, "3Y", 0.0335),
    (InstrumentKind::Swap, "4Y", 0.0338),
    (InstrumentKind::Swap, "5Y", 0.0340),
    (InstrumentKind::Swap, "6Y", 0.0342),
    (InstrumentKind::Swap, "7Y", 0.0344),
    (InstrumentKind::Swap, "8Y", 0.0346),
    (InstrumentKind::Swap, "9Y", 0.0348),
    (InstrumentKind::Swap, "10Y", 0.0350),
    (InstrumentKind::Swap, "15Y", 0.0355),
];

fn quotes() -> Vec<Instrument> {
    let quote = |&(kind, tenor, rate): &(InstrumentKind, &str, f64)| Instrument {
        kind,
        tenor: tenor.parse().expect("a tenor"),
        rate,
        frequency: Frequency::from_count(1).expect("annual"),
        conventions: None,
    };
    QUOTES.iter().map(quote).collect()
}

/// The bootstrap by interpolation; the last swap has cash flows between pillars.
fn bootstrap(c: &mut Criterion) {
    let start = NaiveDate::from_ymd_opt(2024, 1, 15).expect("a day of the calendar");
    let quotes = quotes();
    let methods = [
        ("linear", Interpolation::Linear),
        ("log_linear", Interpolation::LogLinear),
        ("cubic", Interpolation::Cubic),
        ("monotone_convex", Interpolation::MonotoneConvex),
    ];
    for (name, interpolation) in methods {
        c.bench_function(&format!("bootstrap/14/{name}"), |b| {
            b.iter(|| Curve::bootstrap(start, black_box(&quotes), interpolation));
        });
        let curve = Curve::bootstrap(start, &quotes, interpolation).expect("the quotes fit");
        c.bench_function(&format!("curve/at/{name}"), |b| b.iter(|| curve.at(black_box(7.3))));
        c.bench_function(&format!("curve/between/{name}"), |b| {
            b.iter(|| curve.between(black_box(2.25), black_box(7.3)));
        });
    }
}

/// The fit of the six Nelson–Siegel–Svensson parameters to the zero rates of those quotes.
fn fit(c: &mut Criterion) {
    let start = NaiveDate::from_ymd_opt(2024, 1, 15).expect("a day of the calendar");
    let curve = Curve::bootstrap(start, &quotes(), Interpolation::LogLinear).expect("a curve");
    let (tenors, rates): (Vec<f64>, Vec<f64>) =
        curve.pillars().iter().map(|pillar| (pillar.tenor, pillar.zero_rate)).unzip();
    c.bench_function("nelson_siegel_svensson/fit/14", |b| {
        b.iter(|| NelsonSiegelSvensson::fit(black_box(&tenors), black_box(&rates)));
    });
    c.bench_function("nelson_siegel/fit/14", |b| {
        b.iter(|| NelsonSiegel::fit(black_box(&tenors), black_box(&rates)));
    });
}

/// Rates by conventions, a par rate of thirty payments, shifts, and the bootstrap with repricing.
fn readings(c: &mut Criterion) {
    let start = NaiveDate::from_ymd_opt(2024, 1, 15).expect("a day of the calendar");
    let (quotes, shape) = (quotes(), Interpolation::Linear);
    let curve = Curve::bootstrap(start, &quotes, shape).expect("a curve");
    let conventions = RateConventions {
        compounding: Compounding::Annual,
        day_count: Some(DayCount::Act360),
        ..Default::default()
    };
    c.bench_function("curve/zero_reading", |b| {
        b.iter(|| curve.zero_reading(black_box(7.3), &conventions));
    });
    c.bench_function("curve/forward_reading", |b| {
        b.iter(|| curve.forward_reading(black_box(2.25), black_box(7.3), &conventions));
    });
    c.bench_function("curve/par_rate/30", |b| {
        b.iter(|| curve.par_rate(black_box(15.0), Frequency::Semiannual));
    });
    c.bench_function("curve/parallel_shift/14", |b| {
        b.iter(|| curve.parallel_shift(black_box(1e-4), ShiftSpace::ZeroRate));
    });
    c.bench_function("curve/key_rate_shift/14", |b| {
        b.iter(|| curve.key_rate_shift(black_box(5.0), 1e-4, 2.0));
    });
    c.bench_function("bootstrap_with_report/14", |b| {
        b.iter(|| Curve::bootstrap_with_report(start, black_box(&quotes), shape));
    });
}

criterion_group!(benches, bootstrap, fit, readings);
criterion_main!(benches);
