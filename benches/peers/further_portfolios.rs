//! The portfolios and their risks, under the paths of their endpoints.

use std::hint::black_box;

use quant_core::{
    portfolio::{
        BlackLitterman, Covariance, EfficientFrontier, MarketEquilibrium, MaxSharpe, Portfolio,
        ReturnSeries, RiskParity, TargetReturn,
        black_litterman::{Uncertainty, View},
        risk_contributions,
        risk_parity::RiskParityMethod,
    },
    risk::{
        ComponentRisk, CovarianceEstimator, Distribution, ParametricRisk, SeriesMethod, backtest,
        historical, series_risk, stress,
    },
};

use crate::ours;

/// Measures every one of them.
pub fn portfolios() {
    of_assets();
    risk_of_portfolios();
    risk_of_series();
}

/// The number of assets of the portfolios.
const ASSETS: usize = 10;

/// A covariance with volatilities from 10 % to 28 % and correlations that fall with the distance.
fn covariance() -> Covariance {
    let volatility = |asset: usize| 0.1 + 0.02 * asset as f64;
    let entry =
        |a: usize, b: usize| volatility(a) * volatility(b) * 0.5_f64.powi(a.abs_diff(b) as i32);
    let rows: Vec<Vec<f64>> =
        (0..ASSETS).map(|a| (0..ASSETS).map(|b| entry(a, b)).collect()).collect();
    Covariance::from_rows(&rows).expect("a square matrix")
}

fn expected_returns() -> Vec<f64> {
    (0..ASSETS).map(|asset| 0.04 + 0.01 * ((7 * asset) % ASSETS) as f64).collect()
}

fn of_assets() {
    let (expected_returns, covariance_matrix) = (expected_returns(), covariance());
    let (risk_free_rate, min_weights) = (0.02, Some(vec![0.0; ASSETS]));
    let path = |name: &str| format!("/quantlib/portfolio/{name}");
    let steepest = MaxSharpe {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: None,
    };
    let solve = || black_box(&steepest).solve().expect("a portfolio");
    ours(&path("optimize/max-sharpe"), solve, |found| found.volatility);
    let target = TargetReturn {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: None,
        target_return: 0.1,
    };
    let solve = || black_box(&target).solve().expect("a portfolio");
    ours(&path("optimize/target-return"), solve, |found| found.volatility);
    let max_weights = None;
    let covariance = covariance_matrix.clone();
    let frontier = EfficientFrontier {
        expected_returns,
        covariance_matrix,
        risk_free_rate,
        min_weights,
        max_weights,
    };
    let solve = || black_box(&frontier).points(50).expect("a frontier").points;
    let all = |points: &Vec<Portfolio>| points.iter().map(|point| point.volatility).sum();
    ours(&path("optimize/efficient-frontier"), solve, all);
    let budgets = None;
    let method = RiskParityMethod::Newton;
    let parity = RiskParity { covariance_matrix: covariance.clone(), budgets, method };
    let solve = || black_box(&parity).solve().expect("a portfolio");
    ours(&path("risk-parity"), solve, |found| found.volatility);
    let market_caps: Vec<f64> = (1..=ASSETS).map(|asset| asset as f64).collect();
    let market =
        MarketEquilibrium { covariance_matrix: covariance, market_caps, risk_aversion: 2.5 };
    let implied = || black_box(&market).returns().expect("returns");
    ours(&path("black-litterman/equilibrium"), implied, |found| found.implied_returns[0]);
    let mut weights = vec![0.0; ASSETS];
    (weights[0], weights[1]) = (1.0, -1.0);
    let uncertainty = Uncertainty::Variance(0.001);
    let view = View { weights, expected_return: 0.03, uncertainty };
    let model = BlackLitterman { market, tau: 0.05, views: vec![view] };
    let posterior = || black_box(&model).posterior().expect("returns");
    ours(&path("black-litterman/posterior"), posterior, |found| found.posterior_returns[0]);
}

/// Daily returns of a year.
fn returns(seed: u32) -> Vec<f64> {
    // A quadratic residue is a simple sequence that Python repeats to the bit.
    let draw = |day: u32| (u64::from(day + 1) * u64::from(day + 7 * seed + 1) % 509) as f64;
    (0..250).map(|day| 0.0001 * (draw(day) - 250.0)).collect()
}

fn risk_of_portfolios() {
    let covariance = covariance();
    let weights = vec![1.0 / ASSETS as f64; ASSETS];
    let path = |name: &str| format!("/quantlib/portfolio/risk/{name}");
    let contributions = || risk_contributions(black_box(&weights), &covariance).expect("valid");
    ours(&path("contribution"), contributions, |found| found.contributions[0]);
    let tail_of = |volatility| {
        let (mean, confidence, horizon) = (0.0, 0.95, 1.0);
        let distribution = Distribution::Normal;
        let position = ParametricRisk { mean, volatility, distribution, confidence, horizon };
        position.evaluate().expect("valid")
    };
    let tail = || tail_of(contributions().volatility);
    ours(&path("var"), tail, |found| found.value_at_risk);
    ours(&path("cvar"), tail, |found| found.expected_shortfall);
    let series = ReturnSeries {
        returns: returns(1),
        benchmark_returns: None,
        risk_free_rate: 0.02,
        target_return: None,
        periods_per_year: 252.0,
    };
    let ratios = || black_box(&series).ratios().expect("ratios");
    ours(&path("ratios"), ratios, |found| found.sharpe.expect("a ratio"));
    let comprehensive = || {
        let parts = contributions();
        let diagonal = covariance.matrix().diagonal();
        let sizes = weights.iter().zip(diagonal.iter()).map(|(weight, v)| weight.abs() * v.sqrt());
        let diversification = sizes.sum::<f64>() / parts.volatility;
        let of_series = historical(&series.returns, 0.95).expect("valid");
        (ratios(), tail_of(parts.volatility), parts, diversification, of_series)
    };
    ours(&path("comprehensive"), comprehensive, |(found, tail, parts, diversification, past)| {
        let [sortino, first] = [found.sortino.expect("a ratio"), parts.contributions[0]];
        sortino + tail.value_at_risk + first + diversification + past.risk.value_at_risk
    });
}

fn risk_of_series() {
    let series = returns(1);
    let path = |name: &str| format!("/quantlib/risk/{name}");
    let method = SeriesMethod::Historical;
    let risk = || series_risk(black_box(&series), method, 0.99, 1.0).expect("valid");
    ours(&path("var/historical"), risk, |found| found.risk.expected_shortfall);
    let distribution = Distribution::Normal;
    let (mean, volatility, confidence, horizon) = (0.0, 0.02, 0.99, 10.0);
    let position = ParametricRisk { mean, volatility, distribution, confidence, horizon };
    let risk = || black_box(&position).evaluate().expect("valid");
    ours(&path("var/parametric"), risk, |found| found.value_at_risk);
    let named = |index: u32| (format!("f{index}"), returns(index));
    let portfolio = ComponentRisk {
        returns_by_factor: (0..20).map(named).collect(),
        weights: (0..20).map(|index| (format!("f{index}"), 0.05)).collect(),
        distribution: Distribution::Normal,
        covariance_estimator: CovarianceEstimator::Sample,
        confidence: 0.99,
        portfolio_value: 1e6,
    };
    let components = || black_box(&portfolio).contributions().expect("valid");
    ours(&path("var/component"), components, |found| found.risk.value_at_risk);
    let estimates = vec![0.02; 250];
    let tested = || backtest(black_box(&series), &estimates, 0.99).expect("valid");
    ours(&path("backtest"), tested, |found| found.kupiec.statistic);
    let shocks: Vec<(String, f64)> = returns(4)
        .into_iter()
        .take(100)
        .enumerate()
        .map(|(at, shock)| (format!("f{at}"), shock))
        .collect();
    let scenario = || stress(black_box(&shocks), None, 1e6).expect("valid");
    ours(&path("stress/scenario"), scenario, |found| found.profit_and_loss);
}
