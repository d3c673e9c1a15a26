//! Entropies: cost per number on long series.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quant_benches::numbers;
use quant_core::entropy::{shannon::shannon_entropy, transfer::transfer_entropy};

const POINTS: usize = 1_000_000;

/// A million outcomes: one logarithm and one step of a compensated sum each.
fn shannon(c: &mut Criterion) {
    let draws = numbers(4, POINTS);
    let total: f64 = draws.iter().sum();
    let probabilities: Vec<f64> = draws.iter().map(|draw| draw / total).collect();
    let mut group = c.benchmark_group("shannon");
    group.sample_size(20).throughput(Throughput::Elements(POINTS as u64));
    group.bench_function(BenchmarkId::from_parameter(POINTS), |b| {
        b.iter(|| shannon_entropy(black_box(&probabilities), std::f64::consts::E));
    });
}

/// A million points with few bins, which are counted densely, and with many bins, whose cost must
/// not grow with the cube of the bins.
fn transfer(c: &mut Criterion) {
    let (source, target) = (numbers(5, POINTS), numbers(6, POINTS));
    let mut group = c.benchmark_group("transfer");
    group.sample_size(10).throughput(Throughput::Elements(POINTS as u64));
    for bins in [8, 128, 1_000] {
        group.bench_with_input(BenchmarkId::new("bins", bins), &bins, |b, &bins| {
            b.iter(|| transfer_entropy(black_box(&source), &target, 1, bins));
        });
    }
}

criterion_group!(benches, shannon, transfer);
criterion_main!(benches);
