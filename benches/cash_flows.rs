//! The time value of money.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::{
    cash_flows::{Loan, dated_internal_rates, internal_rates, net_present_value, z_spread},
    curves::Compounding,
    time::NaiveDate,
};

/// Thirty years of a bond's payments: one rate, the usual case.
fn bond() -> Vec<f64> {
    let mut payments = vec![5.0; 31];
    (payments[0], payments[30]) = (-93.0, 105.0);
    payments
}

/// Rates of payments with one change of sign, and with many.
fn rates(c: &mut Criterion) {
    let bond = bond();
    c.bench_function("internal_rate/one", |b| {
        b.iter(|| internal_rates(black_box(&bond), None));
    });
    let several = [-1.0, 6.2, -15.37, 19.046, -11.798, 2.9223];
    c.bench_function("internal_rate/several", |b| {
        b.iter(|| internal_rates(black_box(&several), None));
    });
    let start = NaiveDate::from_ymd_opt(2026, 1, 15).expect("a date");
    let dates: Vec<NaiveDate> = start.iter_days().step_by(365).take(31).collect();
    c.bench_function("internal_rate/dated", |b| {
        b.iter(|| dated_internal_rates(black_box(&bond), &dates));
    });
}

/// The value of the same payments, and their spread over a curve.
fn values(c: &mut Criterion) {
    let bond = bond();
    c.bench_function("net_present_value", |b| {
        b.iter(|| net_present_value(black_box(&bond), None, black_box(0.04)));
    });
    let times: Vec<f64> = (1..31).map(f64::from).collect();
    let rates: Vec<f64> = times.iter().map(|time| 0.03 + 0.0005 * time).collect();
    for (name, compounding) in
        [("continuous", Compounding::Continuous), ("semiannual", Compounding::Semiannual)]
    {
        c.bench_function(&format!("z_spread/{name}"), |b| {
            b.iter(|| z_spread(black_box(93.0), &bond[1..], &times, &rates, compounding));
        });
    }
}

/// The table of a mortgage of thirty years.
fn loan(c: &mut Criterion) {
    let loan = Loan { principal: 200_000.0, annual_rate: 0.06, n_periods: 360, frequency: 12 };
    c.bench_function("loan/360", |b| b.iter(|| black_box(&loan).amortization()));
}

criterion_group!(benches, rates, values, loan);
criterion_main!(benches);
