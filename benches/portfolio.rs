//! Minimum variance: growth with the number of assets.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use quant_benches::{covariance, numbers};
use quant_core::portfolio::min_variance::MinVariance;

/// Long only: some weights end at their bound, which is where solvers spend their time.
fn long_only(c: &mut Criterion) {
    let mut group = c.benchmark_group("min_variance/long_only");
    group.sample_size(10);
    for assets in [10, 50, 200, 500] {
        let (returns, covariance) = (numbers(3, assets), covariance(assets));
        let zeros = vec![0.0; assets];
        let problem = MinVariance {
            expected_returns: &returns,
            covariance_matrix: &covariance,
            risk_free_rate: 0.02,
            min_weights: Some(&zeros),
            max_weights: None,
        };
        group.bench_with_input(BenchmarkId::from_parameter(assets), &problem, |b, problem| {
            b.iter(|| black_box(problem).solve());
        });
    }
}

criterion_group!(benches, long_only);
criterion_main!(benches);
