//! Market risk: quantiles of series and simulations, contributions, backtests.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use quant_benches::{covariance, numbers};
use quant_core::portfolio::{ReturnSeries, risk_contributions};
use quant_core::risk::{
    ComponentRisk, CovarianceEstimator, Distribution, MonteCarlo, ParametricRisk, SeriesMethod,
    backtest, historical, ledoit_wolf, series_risk, stress,
};

fn position(distribution: Distribution) -> ParametricRisk {
    ParametricRisk { mean: 0.0, volatility: 0.02, distribution, confidence: 0.99, horizon: 10.0 }
}

/// One call each; the quantile of Student's t is a root search.
fn parametric(c: &mut Criterion) {
    for (name, distribution) in [
        ("normal", Distribution::Normal),
        ("student_t", Distribution::StudentT { degrees_of_freedom: 5.0 }),
        ("cornish_fisher", Distribution::CornishFisher { skewness: -0.5, excess_kurtosis: 2.0 }),
    ] {
        let position = position(distribution);
        c.bench_function(&format!("risk/parametric/{name}"), |b| {
            b.iter(|| black_box(&position).evaluate());
        });
    }
}

/// Returns around zero, the same each time.
fn returns(seed: u64, count: usize) -> Vec<f64> {
    numbers(seed, count).into_iter().map(|number| 0.02 * (number - 0.5)).collect()
}

/// A year, and the largest series over HTTP: a selection, not a whole sort.
fn of_series(c: &mut Criterion) {
    let mut group = c.benchmark_group("risk/historical");
    for count in [250, 100_000] {
        let series = returns(1, count);
        group.bench_with_input(BenchmarkId::from_parameter(count), &series, |b, series| {
            b.iter(|| historical(black_box(series), 0.99));
        });
    }
}

/// Moments and tail of a year of returns by the methods of the endpoint.
fn by_method(c: &mut Criterion) {
    let series = returns(2, 250);
    let methods =
        [("historical", SeriesMethod::Historical), ("ewma", SeriesMethod::Ewma { decay: 0.94 })];
    for (name, method) in methods {
        c.bench_function(&format!("risk/series/{name}"), |b| {
            b.iter(|| series_risk(black_box(&series), method, 0.95, 1.0));
        });
    }
}

/// The tail of a portfolio from weights and covariance: its volatility, then the normal quantile.
fn of_portfolio(c: &mut Criterion) {
    let mut group = c.benchmark_group("risk/portfolio");
    for assets in [10, 100] {
        let (weights, matrix) = (vec![1.0 / assets as f64; assets], covariance(assets));
        group.bench_function(BenchmarkId::from_parameter(assets), |b| {
            b.iter(|| {
                let volatility = risk_contributions(black_box(&weights), &matrix)?.volatility;
                ParametricRisk { volatility, ..position(Distribution::Normal) }.evaluate()
            });
        });
    }
}

/// The risk of ten assets in one answer: contributions, tail, and the ratios of a year of returns.
fn comprehensive(c: &mut Criterion) {
    let (weights, matrix) = (vec![0.1; 10], covariance(10));
    let series = ReturnSeries {
        returns: returns(5, 250),
        benchmark_returns: Some(returns(6, 250)),
        risk_free_rate: 0.02,
        target_return: None,
        periods_per_year: 252.0,
    };
    c.bench_function("risk/comprehensive/10", |b| {
        b.iter(|| {
            let parts = risk_contributions(black_box(&weights), &matrix)?;
            let tail =
                ParametricRisk { volatility: parts.volatility, ..position(Distribution::Normal) };
            let past = historical(&series.returns, 0.95)?;
            Ok::<_, quant_core::Error>((parts, tail.evaluate()?, series.ratios()?, past))
        });
    });
}

/// The default number of simulations.
fn simulated(c: &mut Criterion) {
    let run =
        MonteCarlo { position: position(Distribution::Normal), simulations: 100_000, seed: 42 };
    c.bench_function("risk/monte_carlo/100000", |b| b.iter(|| black_box(&run).evaluate()));
}

/// Twenty factors over a year, by both estimates of the covariance.
fn contributions(c: &mut Criterion) {
    for estimator in CovarianceEstimator::ALL {
        let named = |index: u64| (format!("f{index}"), returns(index, 250));
        let portfolio = ComponentRisk {
            returns_by_factor: (0..20).map(named).collect(),
            weights: (0..20).map(|index| (format!("f{index}"), 0.05)).collect(),
            distribution: Distribution::Normal,
            covariance_estimator: *estimator,
            confidence: 0.99,
            portfolio_value: 1e6,
        };
        c.bench_function(&format!("risk/component/{estimator}"), |b| {
            b.iter(|| black_box(&portfolio).contributions());
        });
    }
}

/// Growth with the square of the assets.
fn shrinkage(c: &mut Criterion) {
    let mut group = c.benchmark_group("risk/ledoit_wolf");
    group.sample_size(10);
    for assets in [10, 100] {
        let series: Vec<Vec<f64>> = (0..assets).map(|asset| returns(asset, 250)).collect();
        group.bench_with_input(BenchmarkId::from_parameter(assets), &series, |b, series| {
            b.iter(|| ledoit_wolf(black_box(series)));
        });
    }
}

/// The tests of a year of estimates, and a scenario of a hundred factors.
fn tests(c: &mut Criterion) {
    let (series, estimates) = (returns(3, 250), vec![0.009; 250]);
    c.bench_function("risk/backtest/250", |b| {
        b.iter(|| backtest(black_box(&series), black_box(&estimates), 0.99));
    });
    let shocks: Vec<(String, f64)> = returns(4, 100)
        .into_iter()
        .enumerate()
        .map(|(at, shock)| (format!("f{at}"), shock))
        .collect();
    c.bench_function("risk/stress/100", |b| b.iter(|| stress(black_box(&shocks), None, 1e6)));
}

criterion_group!(
    benches,
    parametric,
    of_series,
    by_method,
    of_portfolio,
    comprehensive,
    simulated,
    contributions,
    shrinkage,
    tests
);
criterion_main!(benches);
