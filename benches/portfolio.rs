//! Minimum variance and the efficient frontier: growth with the number of assets.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use quant_benches::{covariance, numbers};
use quant_core::portfolio::{
    efficient_frontier::EfficientFrontier, max_sharpe::MaxSharpe, min_variance::MinVariance,
    target_return::TargetReturn,
};

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

/// What follows the frontier, long only: to a return, to the largest ratio, and to its end.
fn frontier(c: &mut Criterion) {
    let mut group = c.benchmark_group("frontier");
    group.sample_size(10);
    for assets in [10, 50, 200] {
        let (returns, covariance) = (numbers(3, assets), covariance(assets));
        let zeros = vec![0.0; assets];
        let (expected_returns, covariance_matrix) = (&returns[..], &covariance[..]);
        let (risk_free_rate, min_weights, max_weights) = (0.02, Some(&zeros[..]), None);
        let target = TargetReturn {
            expected_returns,
            covariance_matrix,
            risk_free_rate,
            min_weights,
            max_weights,
            target_return: 0.8,
        };
        group.bench_with_input(BenchmarkId::new("target_return", assets), &target, |b, target| {
            b.iter(|| black_box(target).solve());
        });
        let sharpe = MaxSharpe {
            expected_returns,
            covariance_matrix,
            risk_free_rate,
            min_weights,
            max_weights,
        };
        group.bench_with_input(BenchmarkId::new("max_sharpe", assets), &sharpe, |b, sharpe| {
            b.iter(|| black_box(sharpe).solve());
        });
        let corners = EfficientFrontier {
            expected_returns,
            covariance_matrix,
            risk_free_rate,
            min_weights,
            max_weights,
        };
        group.bench_with_input(BenchmarkId::new("corners", assets), &corners, |b, corners| {
            b.iter(|| black_box(corners).solve());
        });
    }
}

criterion_group!(benches, long_only, frontier);
criterion_main!(benches);
