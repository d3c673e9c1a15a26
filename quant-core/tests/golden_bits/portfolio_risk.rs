//! The bits of risk parity, contributions, Black–Litterman and performance ratios.

use quant_core::portfolio::{
    BlackLitterman, ConstrainedFrontier, Covariance, EfficientFrontier, MarketEquilibrium,
    MinVariance, ReturnSeries, RiskParity,
    black_litterman::{Uncertainty, View},
    constrained::{Goal, LinearConstraint, TurnoverLimit},
    risk_contributions,
    risk_parity::RiskParityMethod,
};
use quant_core::risk::{Distribution, ParametricRisk, historical};

use crate::lines::Lines;

fn covariance() -> Covariance {
    [[0.04, 0.006, -0.002], [0.006, 0.01, 0.001], [-0.002, 0.001, 0.0225]].into()
}

fn frontier() -> EfficientFrontier {
    EfficientFrontier {
        expected_returns: vec![0.09, 0.05, 0.07],
        covariance_matrix: covariance(),
        risk_free_rate: 0.02,
        min_weights: Some(vec![0.0; 3]),
        max_weights: None,
    }
}

pub(super) fn lines(lines: &mut Lines) {
    risk(lines);
    constrained(lines);
    posterior(lines);
    ratios(lines);
    comprehensive(lines);
    least_variance(lines);
}

fn risk(lines: &mut Lines) {
    for method in RiskParityMethod::ALL {
        let budgets = Some(vec![0.5, 0.3, 0.2]);
        let problem = RiskParity { covariance_matrix: covariance(), budgets, method: *method };
        let found = problem.solve().expect("a portfolio");
        lines.add("risk parity", method.name(), &found.weights);
    }
    let found = risk_contributions(&[0.5, 0.75, -0.25], &covariance()).expect("contributions");
    lines.add("risk contributions", "three assets", &found.contributions);
    for point in frontier().points(4).expect("points").points {
        lines.add("frontier point", point.expected_return, &point.weights);
    }
}

fn constrained(lines: &mut Lines) {
    let group =
        LinearConstraint { coefficients: vec![1.0, 0.0, 1.0], min: Some(0.4), max: Some(0.7) };
    let problem = ConstrainedFrontier {
        assets: frontier(),
        constraints: vec![group],
        turnover: Some(TurnoverLimit { current_weights: vec![0.25, 0.5, 0.25], max_turnover: 0.2 }),
    };
    for goal in [Goal::MinVariance, Goal::TargetReturn(0.065), Goal::MaxSharpe] {
        let found = problem.clone().with_goal(goal).solve().expect("a portfolio");
        lines.add("constrained", goal, &found.weights);
    }
    for corner in problem.solve().expect("a frontier").corners {
        lines.add("constrained frontier", corner.expected_return, &corner.weights);
    }
}

fn posterior(lines: &mut Lines) {
    let market = MarketEquilibrium {
        covariance_matrix: covariance(),
        market_caps: vec![500.0, 300.0, 200.0],
        risk_aversion: 2.5,
    };
    let view = |weights: [f64; 3], uncertainty| View {
        weights: weights.to_vec(),
        expected_return: 0.03,
        uncertainty,
    };
    let views = vec![
        view([1.0, -1.0, 0.0], Uncertainty::Confidence(0.4)),
        view([0.0, 0.5, 0.5], Uncertainty::Variance(0.001)),
    ];
    let found = BlackLitterman { market, tau: 0.05, views }.posterior().expect("a posterior");
    lines.add("Black-Litterman", "returns", &found.posterior_returns);
    lines.add("Black-Litterman", "weights", &found.optimal_weights);
}

fn series() -> ReturnSeries {
    ReturnSeries {
        returns: vec![0.021, -0.013, 0.034, 0.008, -0.006, 0.017],
        benchmark_returns: Some(vec![0.015, -0.01, 0.022, 0.011, -0.004, 0.009]),
        risk_free_rate: 0.02,
        target_return: None,
        periods_per_year: 12.0,
    }
}

fn ratios(lines: &mut Lines) {
    let ratios = series().ratios().expect("ratios");
    let against = ratios.benchmark.expect("a benchmark");
    let found = [ratios.sharpe, ratios.sortino, ratios.calmar, ratios.omega, against.beta];
    lines.add("performance", "monthly", &found.map(|ratio| ratio.expect("a ratio")));
}

/// The figures of the risk of a portfolio in one answer.
fn comprehensive(lines: &mut Lines) {
    let parts = risk_contributions(&[0.5, 0.75, -0.25], &covariance()).expect("contributions");
    let position = ParametricRisk {
        mean: 0.0,
        volatility: parts.volatility,
        distribution: Distribution::Normal,
        confidence: 0.95,
        horizon: 1.0,
    };
    let (tail, series) = (position.evaluate().expect("figures"), series());
    let (ratios, past) = (series.ratios(), historical(&series.returns, 0.95));
    let (ratios, past) = (ratios.expect("ratios"), past.expect("figures").risk);
    let against = ratios.benchmark.expect("a benchmark");
    let mut values = vec![
        parts.volatility,
        tail.value_at_risk,
        tail.expected_shortfall,
        past.value_at_risk,
        past.expected_shortfall,
        ratios.volatility,
        ratios.annual_return,
        ratios.max_drawdown,
        against.tracking_error,
    ];
    values.extend(against.information);
    values.extend(parts.shares.expect("a risk"));
    values.extend(parts.marginal);
    lines.add("comprehensive risk", "three assets, monthly", &values);
}

fn least_variance(lines: &mut Lines) {
    let problem = MinVariance {
        covariance_matrix: covariance(),
        min_weights: Some(vec![0.1, 0.0, 0.0]),
        max_weights: Some(vec![1.0, 0.5, 1.0]),
    };
    let detail = problem.detail(&problem.solve().expect("a portfolio")).expect("a detail");
    let mut values = detail.risk_contributions;
    values.extend(detail.budget_multiplier);
    values.extend(detail.bound_multipliers.expect("a weight between its bounds"));
    lines.add("minimum variance in detail", detail.binding_bounds, &values);
}
