//! Minimum variance, the efficient frontier, risk and views: growth with the number of assets.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use quant_benches::{covariance, numbers};
use quant_core::portfolio::{
    BlackLitterman, ConstrainedFrontier, MarketEquilibrium, ReturnSeries, RiskParity,
    black_litterman::{Uncertainty, View},
    constrained::{Goal, LinearConstraint, TurnoverLimit},
    efficient_frontier::EfficientFrontier,
    max_sharpe::MaxSharpe,
    min_variance::MinVariance,
    risk_contributions,
    risk_parity::RiskParityMethod,
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

/// Both methods of risk parity, which differ in the growth of their work.
fn risk_parity(c: &mut Criterion) {
    let mut group = c.benchmark_group("risk_parity");
    group.sample_size(10);
    for assets in [10, 50, 200] {
        for &method in RiskParityMethod::ALL {
            let problem =
                RiskParity { covariance_matrix: covariance(assets), budgets: None, method };
            let id = BenchmarkId::new(method.name(), assets);
            group.bench_with_input(id, &problem, |b, problem| {
                b.iter(|| black_box(problem).solve());
            });
        }
    }
}

/// Contributions with their sum to the last bit, and returns after two views.
fn risk_and_views(c: &mut Criterion) {
    let mut group = c.benchmark_group("risk");
    for assets in [10, 100] {
        let (weights, matrix) = (numbers(5, assets), covariance(assets));
        group.bench_function(BenchmarkId::new("contributions", assets), |b| {
            b.iter(|| risk_contributions(black_box(&weights), &matrix));
        });
        let market_caps = numbers(7, assets);
        let market =
            MarketEquilibrium { covariance_matrix: matrix, market_caps, risk_aversion: 2.5 };
        group.bench_with_input(BenchmarkId::new("equilibrium", assets), &market, |b, market| {
            b.iter(|| black_box(market).returns());
        });
        let view = |seed| View {
            weights: numbers(seed, assets),
            expected_return: 0.05,
            uncertainty: Uncertainty::Proportional,
        };
        let model = BlackLitterman { market, tau: 0.05, views: vec![view(11), view(13)] };
        group.bench_with_input(BenchmarkId::new("black_litterman", assets), &model, |b, model| {
            b.iter(|| black_box(model).posterior());
        });
    }
}

/// Long only with a group and a limit of turnover.
fn limited(assets: usize) -> ConstrainedFrontier {
    let coefficients = (0..assets).map(|asset| f64::from(u8::from(asset % 2 == 0))).collect();
    ConstrainedFrontier {
        assets: EfficientFrontier {
            expected_returns: numbers(3, assets),
            covariance_matrix: covariance(assets),
            risk_free_rate: 0.02,
            min_weights: Some(vec![0.0; assets]),
            max_weights: None,
        },
        constraints: vec![LinearConstraint { coefficients, min: None, max: Some(0.6) }],
        turnover: Some(TurnoverLimit {
            current_weights: vec![1.0 / assets as f64; assets],
            max_turnover: 0.5,
        }),
    }
}

/// The least variance under limits, by the dual method.
fn constrained(c: &mut Criterion) {
    let mut group = c.benchmark_group("constrained");
    group.sample_size(10);
    for assets in [10, 50, 200] {
        let problem = limited(assets).with_goal(Goal::MinVariance);
        group.bench_with_input(BenchmarkId::from_parameter(assets), &problem, |b, problem| {
            b.iter(|| black_box(problem).solve().expect("a solution"));
        });
    }
}

/// The whole frontier under limits.
fn constrained_frontier(c: &mut Criterion) {
    let mut group = c.benchmark_group("constrained_frontier");
    group.sample_size(10);
    for assets in [10, 50, 100] {
        let problem = limited(assets);
        group.bench_with_input(BenchmarkId::from_parameter(assets), &problem, |b, problem| {
            b.iter(|| black_box(problem).solve().expect("a solution"));
        });
    }
}

/// The ratios of a year and of a century of days, with a benchmark.
fn performance(c: &mut Criterion) {
    let mut group = c.benchmark_group("performance");
    for days in [252, 25_200] {
        let returns = |seed| numbers(seed, days).iter().map(|draw| 0.02 * draw - 0.0095).collect();
        let series = ReturnSeries {
            returns: returns(17),
            benchmark_returns: Some(returns(19)),
            risk_free_rate: 0.02,
            target_return: None,
            periods_per_year: 252.0,
        };
        group.bench_with_input(BenchmarkId::from_parameter(days), &series, |b, series| {
            b.iter(|| black_box(series).ratios());
        });
    }
}

criterion_group!(
    benches,
    long_only,
    frontier,
    constrained,
    constrained_frontier,
    risk_parity,
    risk_and_views,
    performance
);
criterion_main!(benches);
