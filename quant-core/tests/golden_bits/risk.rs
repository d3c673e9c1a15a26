//! The bits of market risk.

use quant_core::risk::{
    ComponentRisk, CovarianceEstimator, Distribution, MonteCarlo, ParametricRisk, SeriesMethod,
    backtest, historical, ledoit_wolf, series_risk, stress,
};

use crate::lines::Lines;

/// Twelve returns of one factor, and of another.
const RETURNS: [[f64; 12]; 2] = [
    [0.012, -0.021, 0.008, -0.004, 0.015, -0.033, 0.002, 0.019, -0.011, 0.006, -0.017, 0.009],
    [-0.002, 0.004, -0.001, 0.001, -0.003, 0.007, 0.0, -0.004, 0.002, -0.001, 0.003, -0.002],
];

pub(super) fn lines(lines: &mut Lines) {
    parametric(lines);
    of_series(lines);
    components(lines);
    backtests(lines);
}

fn parametric(lines: &mut Lines) {
    let distributions = [
        Distribution::Normal,
        Distribution::StudentT { degrees_of_freedom: 2.5 },
        Distribution::StudentT { degrees_of_freedom: 1000.0 },
        Distribution::CornishFisher { skewness: -0.7, excess_kurtosis: 2.0 },
    ];
    for distribution in distributions {
        for confidence in [0.51, 0.95, 0.99, 0.999_999_9] {
            let (mean, volatility, horizon) = (0.0005, 0.02, 10.0);
            let position = ParametricRisk { mean, volatility, distribution, confidence, horizon };
            let found = position.evaluate().expect("figures");
            let simulated = MonteCarlo { position, simulations: 500, seed: 42 };
            let simulated = simulated.evaluate().expect("figures").risk;
            let values = [
                found.value_at_risk,
                found.expected_shortfall,
                simulated.value_at_risk,
                simulated.expected_shortfall,
            ];
            lines.add("parametric risk", (distribution, confidence), &values);
        }
    }
}

fn of_series(lines: &mut Lines) {
    let methods = [
        SeriesMethod::Historical,
        SeriesMethod::Normal,
        SeriesMethod::StudentT { degrees_of_freedom: 5.0 },
        SeriesMethod::CornishFisher,
        SeriesMethod::Ewma { decay: 0.94 },
    ];
    for method in methods {
        let found = series_risk(&RETURNS[0], method, 0.95, 10.0).expect("figures");
        let values = [found.risk.value_at_risk, found.risk.expected_shortfall, found.volatility];
        lines.add("series risk", method, &values);
    }
    let found = historical(&RETURNS[0], 0.9).expect("figures");
    let values = [
        found.coherent_expected_shortfall,
        found.interval.coverage,
        found.expected_shortfall_error,
    ];
    lines.add("historical risk", 0.9, &values);
}

fn components(lines: &mut Lines) {
    let name = |index: usize| format!("f{index}");
    for covariance_estimator in CovarianceEstimator::ALL {
        let portfolio = ComponentRisk {
            returns_by_factor: (0..2).map(|i| (name(i), RETURNS[i].to_vec())).collect(),
            weights: vec![(name(0), 0.6), (name(1), 0.7)],
            distribution: Distribution::StudentT { degrees_of_freedom: 4.0 },
            covariance_estimator: *covariance_estimator,
            confidence: 0.99,
            portfolio_value: 1e6,
        };
        let found = portfolio.contributions().expect("contributions");
        let parts: Vec<f64> =
            found.components.iter().flat_map(|part| [part.component, part.incremental]).collect();
        lines.add("component risk", covariance_estimator, &parts);
    }
    let found = ledoit_wolf(&RETURNS.map(|series| series.to_vec())).expect("a covariance");
    lines.add("shrunk covariance", found.intensity, found.covariance.matrix().as_slice());
    let shocks = [(name(0), -0.2), (name(1), 0.013), (name(2), 0.07)];
    let found = stress(&shocks, None, 1e6).expect("a result");
    let parts: Vec<f64> = found.impacts.iter().map(|impact| impact.profit_and_loss).collect();
    lines.add("stress", found.profit_and_loss, &parts);
}

fn backtests(lines: &mut Lines) {
    for (count, every) in [(250, 50), (250, 20), (1000, 7)] {
        let returns: Vec<f64> =
            (0..count).map(|at| if at % every < 2 { -0.03 } else { 0.01 }).collect();
        let found = backtest(&returns, &vec![0.02; count], 0.99).expect("tests");
        let values = [
            found.kupiec.statistic,
            found.kupiec.p_value,
            found.independence.statistic,
            found.conditional_coverage.p_value,
            found.probability_of_at_most,
            found.probability_of_at_least,
        ];
        lines.add("backtest", (count, every), &values);
    }
}
