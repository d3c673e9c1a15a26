//! Minimum variance and the efficient frontier: growth with the number of assets.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use quant_benches::{covariance, numbers};
use quant_core::portfolio::{
    efficient_frontier::EfficientFrontier, max_sharpe::MaxSharpe, min_variance::MinVariance,
    target_return::TargetReturn,
};

/// Long only: some weights are at their bound, which is where solvers spend their time.
fn long_only(c: &mut Criterion) {
    let mut group = c.benchmark_group("min_variance/long_only");
    group.sample_size(10);
    for assets in [10, 50, 200, 500] {
        let problem = MinVariance {
            covariance_matrix: covariance(assets),
            min_weights: Some(vec![0.0; assets]),
            max_weights: None,
        };
        group.bench_with_input(BenchmarkId::from_parameter(assets), &problem, |b, problem| {
            b.iter(|| black_box(problem).solve());
        });
    }
}

/// The long-only frontier to a return, to the largest Sharpe ratio, and to its end.
fn frontier(c: &mut Criterion) {
    let mut group = c.benchmark_group("frontier");
    group.sample_size(10);
    for assets in [10, 50, 200] {
        let (expected_returns, covariance_matrix) = (numbers(3, assets), covariance(assets));
        let (risk_free_rate, min_weights, max_weights) = (0.02, Some(vec![0.0; assets]), None);
        let target = TargetReturn {
            expected_returns: expected_returns.clone(),
            covariance_matrix: covariance_matrix.clone(),
            risk_free_rate,
            min_weights: min_weights.clone(),
            max_weights: max_weights.clone(),
            target_return: 0.8,
        };
        group.bench_with_input(BenchmarkId::new("target_return", assets), &target, |b, target| {
            b.iter(|| black_box(target).solve());
        });
        let sharpe = MaxSharpe {
            expected_returns: expected_returns.clone(),
            covariance_matrix: covariance_matrix.clone(),
            risk_free_rate,
            min_weights: min_weights.clone(),
            max_weights: max_weights.clone(),
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
