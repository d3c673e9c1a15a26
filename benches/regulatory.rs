//! Capital ratios: an exact decimal comparison beside three divisions.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::regulatory::capital_ratios::Capital;

/// A bank exactly at a minimum, which takes the longest comparison.
fn ratios(c: &mut Criterion) {
    let capital = Capital {
        cet1_capital: 45.0,
        tier1_capital: 62.5,
        total_capital: 95.0,
        risk_weighted_assets: 1000.0,
        total_exposure: Some(1500.0),
    };
    c.bench_function("capital_ratios/ratios", |b| b.iter(|| black_box(&capital).ratios()));
}

criterion_group!(benches, ratios);
criterion_main!(benches);
