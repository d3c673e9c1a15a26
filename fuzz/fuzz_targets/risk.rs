//! Market risk: any series, any factors, any parameters.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use quant_core::risk::{
    ComponentRisk, CovarianceEstimator, Distribution, Moments, MonteCarlo, ParametricRisk,
    SeriesMethod, backtest, ewma_volatility, explain_backtest, explain_series_risk, explain_stress,
    historical, ledoit_wolf, series_risk, stress,
};
use quant_fuzz::{Number, check, numbers, one};

#[derive(Arbitrary, Debug)]
struct Drawn {
    series: Vec<Number>,
    others: Vec<Number>,
    weights: Vec<Number>,
    names: Vec<u8>,
    numbers: [Number; 7],
    simulations: u16,
    seed: u64,
    choice: u8,
}

/// The values by name; some names occur twice, some are in one list alone.
fn named<T>(values: Vec<T>, names: &[u8]) -> Vec<(String, T)> {
    let name = |at: usize| format!("f{}", names.get(at).map_or(at as u8, |name| name % 8));
    values.into_iter().enumerate().map(|(at, value)| (name(at), value)).collect()
}

fuzz_target!(|drawn: Drawn| {
    let (series, others) = (numbers(&drawn.series), numbers(&drawn.others));
    let [confidence, volatility, mean, horizon, degrees, skewness, kurtosis] =
        drawn.numbers.map(|number| number.0);
    let distributions = [
        Distribution::Normal,
        Distribution::StudentT { degrees_of_freedom: degrees },
        Distribution::CornishFisher { skewness, excess_kurtosis: kurtosis },
    ];
    let distribution = one(&distributions, drawn.choice);
    let position = ParametricRisk { mean, volatility, distribution, confidence, horizon };
    check(&position.evaluate());
    check(&position.explain());
    check(&position.deviation());
    check(&position.evaluate().and_then(|risk| risk.of_value(volatility)));
    check(&distribution.is_monotone(confidence));
    let simulations = usize::from(drawn.simulations % 1000);
    check(&MonteCarlo { position, simulations, seed: drawn.seed }.evaluate());
    check(&MonteCarlo { position, simulations, seed: drawn.seed }.explain());
    check(&historical(&series, confidence).and_then(|risk| risk.over_horizon(horizon)));
    check(&historical(&series, confidence).and_then(|risk| risk.of_value(volatility)));
    check(&Moments::of(&series));
    check(&ewma_volatility(&series, mean));
    let methods = [
        SeriesMethod::Historical,
        SeriesMethod::Normal,
        SeriesMethod::StudentT { degrees_of_freedom: degrees },
        SeriesMethod::CornishFisher,
        SeriesMethod::Ewma { decay: mean },
    ];
    check(&series_risk(&series, one(&methods, drawn.choice), confidence, horizon));
    check(&explain_series_risk(&series, one(&methods, drawn.choice), confidence, horizon));
    check(&backtest(&series, &others, confidence));
    check(&explain_backtest(&series, &others, confidence));
    let length = usize::from(drawn.choice % 5) + 1;
    let columns: Vec<Vec<f64>> = series.chunks(length).take(8).map(<[f64]>::to_vec).collect();
    check(&ledoit_wolf(&columns));
    let weights = named(numbers(&drawn.weights), &drawn.names);
    check(&stress(&weights, None, volatility));
    check(&explain_stress(&weights, None, volatility));
    check(&stress(&weights, Some(&named(others, &[])), volatility));
    let portfolio = ComponentRisk {
        returns_by_factor: named(columns, &[]),
        weights,
        distribution,
        covariance_estimator: one(CovarianceEstimator::ALL, drawn.choice),
        confidence,
        portfolio_value: volatility,
    };
    check(&portfolio.contributions());
    check(&portfolio.explain());
});
