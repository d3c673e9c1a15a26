//! Portfolios under bounds: any matrix, and covariances that are one.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use quant_core::portfolio::{
    BlackLitterman, ConstrainedFrontier, Covariance, EfficientFrontier, MarketEquilibrium,
    MaxSharpe, MinVariance, ReturnSeries, RiskParity, TargetReturn,
    black_litterman::{Uncertainty, View},
    constrained::{ConstrainedProblem, Goal, LinearConstraint, TurnoverLimit},
    explain_risk_contributions, risk_contributions,
    risk_parity::RiskParityMethod,
};
use quant_core::risk::{
    Distribution, ParametricRisk, explain_historical, explain_portfolio_risk, historical,
};
use quant_fuzz::{Number, check, numbers};

#[derive(Arbitrary, Debug)]
struct Drawn {
    expected_returns: Vec<Number>,
    entries: Vec<Number>,
    risk_free_rate: Number,
    target_return: Number,
    lower: Option<Vec<Number>>,
    upper: Option<Vec<Number>>,
    is_covariance: bool,
    fits: bool,
    views: Vec<(Vec<Number>, Number, u8, Number)>,
    tau: Number,
    periods_per_year: Number,
}

impl Drawn {
    /// Views with as many weights as there are assets, or the number that was drawn.
    fn views(&self, assets: usize) -> Vec<View> {
        let view = |(weights, expected_return, kind, value): &(Vec<Number>, Number, u8, Number)| {
            let mut weights = numbers(weights);
            if self.fits {
                weights.resize(assets, 0.0);
            }
            let uncertainty = match kind % 3 {
                0 => Uncertainty::Proportional,
                1 => Uncertainty::Variance(value.0),
                _ => Uncertainty::Confidence(value.0),
            };
            View { weights, expected_return: expected_return.0, uncertainty }
        };
        self.views.iter().take(4).map(view).collect()
    }
}

/// Products of the drawn columns: positive semi-definite, and often singular.
fn covariance(entries: &[f64], n: usize) -> Vec<Vec<f64>> {
    let factor = |row: usize, column: usize| entries.get(row * 3 + column).copied().unwrap_or(0.0);
    let product = |i, j| (0..3).map(|k| factor(i, k) * factor(j, k)).sum();
    (0..n).map(|i| (0..n).map(|j| product(i, j)).collect()).collect()
}

fuzz_target!(|drawn: Drawn| {
    let expected_returns: Vec<f64> = numbers(&drawn.expected_returns).into_iter().take(8).collect();
    let n = expected_returns.len();
    let entries = numbers(&drawn.entries);
    let covariance_matrix = if drawn.is_covariance {
        covariance(&entries, n)
    } else {
        entries.chunks(n.max(1)).take(9).map(<[f64]>::to_vec).collect()
    };
    let bounds = |drawn: &Option<Vec<Number>>, fits: bool| {
        drawn.as_ref().map(|bounds| {
            let mut bounds = numbers(bounds);
            if fits {
                bounds.resize(n, bounds.first().copied().unwrap_or(0.5));
            }
            bounds
        })
    };
    let (min_weights, max_weights) =
        (bounds(&drawn.lower, drawn.fits), bounds(&drawn.upper, drawn.fits));
    let Ok(covariance_matrix) = Covariance::from_rows(&covariance_matrix) else { return };
    let risk_free_rate = drawn.risk_free_rate.0;
    let target_return = drawn.target_return.0;
    let least = MinVariance {
        covariance_matrix: covariance_matrix.clone(),
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    };
    check(&least.solve().and_then(|portfolio| least.detail(&portfolio)));
    check(&least.explain());
    check(
        &least
            .solve()
            .and_then(|portfolio| portfolio.with_returns(&expected_returns, risk_free_rate)),
    );
    let steepest = MaxSharpe {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    };
    check(&steepest.solve());
    check(&steepest.explain());
    let target = TargetReturn {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
        target_return,
    };
    check(&target.solve());
    check(&target.explain());
    let views = drawn.views(n);
    let constraint = |view: &View| LinearConstraint {
        coefficients: view.weights.clone(),
        min: None,
        max: Some(view.expected_return),
    };
    let turnover = max_weights
        .clone()
        .map(|current_weights| TurnoverLimit { current_weights, max_turnover: drawn.tau.0 });
    for goal in [Goal::MinVariance, Goal::TargetReturn(target_return), Goal::MaxSharpe] {
        let constrained = ConstrainedProblem {
            expected_returns: expected_returns.clone(),
            covariance_matrix: covariance_matrix.clone(),
            risk_free_rate,
            min_weights: min_weights.clone(),
            max_weights: max_weights.clone(),
            constraints: views.iter().map(constraint).collect(),
            turnover: turnover.clone(),
            goal,
        };
        check(&constrained.solve());
        check(&constrained.explain());
    }
    let frontier = EfficientFrontier {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights,
        max_weights: max_weights.clone(),
    };
    check(&frontier.solve());
    check(&frontier.explain());
    check(&frontier.points(5));
    check(&frontier.at_return(target_return));
    let constrained = ConstrainedFrontier {
        assets: frontier,
        constraints: views.iter().map(constraint).collect(),
        turnover,
    };
    check(&constrained.points(5));
    check(&constrained.at_return(target_return));
    check(&constrained.explain());
    let parts = risk_contributions(&expected_returns, &covariance_matrix);
    check(&parts);
    if let Ok(parts) = parts {
        let position = ParametricRisk {
            mean: 0.0,
            volatility: parts.volatility,
            distribution: Distribution::Normal,
            confidence: drawn.tau.0,
            horizon: drawn.periods_per_year.0,
        };
        check(&position.evaluate());
        check(&explain_portfolio_risk(&position, &expected_returns, &covariance_matrix));
        check(&historical(&expected_returns, drawn.tau.0));
        check(&explain_historical(&expected_returns, drawn.tau.0, drawn.periods_per_year.0));
    }
    check(&explain_risk_contributions(&expected_returns, &covariance_matrix));
    for &method in RiskParityMethod::ALL {
        let (covariance_matrix, budgets) = (covariance_matrix.clone(), max_weights.clone());
        let parity = RiskParity { covariance_matrix, budgets, method };
        check(&parity.solve());
        check(&parity.explain());
    }
    let market_caps = expected_returns.iter().map(|value| value.abs()).collect();
    let market = MarketEquilibrium { covariance_matrix, market_caps, risk_aversion: target_return };
    check(&market.returns());
    check(&market.explain());
    let model = BlackLitterman { market, tau: drawn.tau.0, views };
    check(&model.posterior());
    check(&model.explain());
    let series = ReturnSeries {
        returns: expected_returns,
        benchmark_returns: max_weights,
        risk_free_rate,
        target_return: Some(target_return),
        periods_per_year: drawn.periods_per_year.0,
    };
    check(&series.ratios());
    check(&series.explain());
});
