//! Difference quotients: the exact quotient beside the one with cancellation.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::numerical::derivative::{Function, Scheme, derivative};

/// Each function once, with the central scheme at the default step.
fn central(c: &mut Criterion) {
    let functions = [
        ("exp", Function::Exp),
        ("log", Function::Log),
        ("sin", Function::Sin),
        ("sqrt", Function::Sqrt),
        ("tan", Function::Tan),
        ("x2", Function::Square),
        ("x3", Function::Cube),
    ];
    for (name, function) in functions {
        c.bench_function(&format!("derivative/central/{name}"), |b| {
            b.iter(|| derivative(function, black_box(1.25), black_box(1e-5), Scheme::Central));
        });
    }
}

criterion_group!(benches, central);
criterion_main!(benches);
