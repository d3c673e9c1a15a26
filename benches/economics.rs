//! Demand and utility: two goods, closed forms.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::economics::{ces::Ces, cobb_douglas::CobbDouglas};

/// A bundle in the usual range.
fn cobb_douglas(c: &mut Criterion) {
    let consumer = CobbDouglas { alpha: 0.3, income: 100.0, prices: [2.0, 5.0] };
    c.bench_function("cobb_douglas/optimum", |b| b.iter(|| black_box(&consumer).optimum()));
}

/// The usual range, and parameters close to Cobb–Douglas, where the plain formula loses digits.
fn ces(c: &mut Criterion) {
    for (name, rho) in [("half", 0.5), ("near_zero", 1e-9), ("leontief", -1e300)] {
        let consumer = Ces { rho, weights: [0.4, 0.6], income: 100.0, prices: [2.0, 5.0] };
        c.bench_function(&format!("ces/optimum/{name}"), |b| {
            b.iter(|| black_box(&consumer).optimum());
        });
    }
}

criterion_group!(benches, cobb_douglas, ces);
criterion_main!(benches);
