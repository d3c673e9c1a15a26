//! Nelson–Siegel–Svensson curves: `tests/golden/generate/nelson_siegel_svensson.py`.

use quant_core::curves::NelsonSiegelSvensson;
use quant_tests::golden::{self, Largest, Row};

/// The accepted error against 50 digits: a few roundings, in units of the largest parameter, and of
/// the logarithm for a discount factor.
const VALUE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The accepted distance of a fit's rates from the best fit's, in units of the largest rate.
const FIT_TOLERANCE: f64 = 1e-9;

/// The accepted relative excess of the residual over the least one.
const MISFIT_TOLERANCE: f64 = 1e-12;

/// The accepted relative error of a parameter against the one that made the rounded rates.
const EXACT_TOLERANCE: f64 = 1e-6;

/// The rows of one kind.
fn rows(kind: &str, at_least: usize) -> Vec<Row> {
    let mut rows = golden::rows("nelson_siegel_svensson", 100);
    rows.retain(|row| row.text("kind") == kind);
    assert!(rows.len() >= at_least, "{} rows of {kind}", rows.len());
    rows
}

fn curve(row: &Row, parameters: &str) -> NelsonSiegelSvensson {
    let [level, slope, curvature, second_curvature, decay_time, second_decay_time] =
        row.list(parameters)[..]
    else {
        panic!("{row}: six parameters: {parameters}")
    };
    NelsonSiegelSvensson {
        level,
        slope,
        curvature,
        second_curvature,
        decay_time,
        second_decay_time,
    }
}

fn rates(curve: &NelsonSiegelSvensson, tenors: &[f64]) -> Vec<f64> {
    tenors.iter().map(|&tenor| curve.at(tenor).expect("a point").zero_rate).collect()
}

#[test]
fn values_agree_with_fifty_digits() {
    let mut largest = Largest::default();
    let rows = rows("value", 50);
    for row in &rows {
        let [_, parameters, tenor, zero, forward, factor] = row.texts();
        let [tenor, zero, forward, factor] =
            [tenor, zero, forward, factor].map(|text| row.parse::<f64>(text));
        let betas = &row.list::<f64>(parameters)[..4];
        let size = betas.iter().fold(0.0, |size: f64, beta| size.max(beta.abs()));
        let found = curve(row, parameters).at(tenor).expect("a point");
        let error =
            (found.zero_rate - zero).abs().max((found.instantaneous_forward_rate - forward).abs())
                / size;
        let of_factor = (found.discount_factor / factor - 1.0).abs() / (1.0 + size * tenor);
        largest.see(row, error.max(of_factor), VALUE_TOLERANCE, &found);
    }
    println!("{} values, largest error {largest}", rows.len());
}

#[test]
fn noisy_rates_are_fitted_as_well_as_by_a_search_from_many_starts() {
    let (mut largest, mut largest_excess) = (Largest::default(), Largest::default());
    let rows = rows("fit", 20);
    for row in &rows {
        let [_, tenors, given, parameters, least, _] = row.texts();
        let [tenors, given] = [tenors, given].map(|text| row.list::<f64>(text));
        let found = NelsonSiegelSvensson::fit(&tenors, &given).expect("a fit");
        let fitted = rates(&found, &tenors);
        let misfit: f64 = fitted.iter().zip(&given).map(|(a, b)| (a - b) * (a - b)).sum();
        let excess = misfit / row.parse::<f64>(least) - 1.0;
        largest_excess.see(row, excess, MISFIT_TOLERANCE, &found);
        // A lower minimum than the multi-start search found belongs to another curve.
        if excess >= -1e-9 {
            let size = given.iter().fold(0.0, |size: f64, rate| size.max(rate.abs()));
            let best = rates(&curve(row, parameters), &tenors);
            let apart = fitted.iter().zip(&best).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            largest.see(row, apart / size, FIT_TOLERANCE, &found);
        }
    }
    println!("{} fits, largest distance {largest}, largest excess {largest_excess}", rows.len());
}

#[test]
fn a_fit_recovers_the_curve_that_made_its_rates() {
    let mut largest = Largest::default();
    let rows = rows("exact", 20);
    for row in &rows {
        let [_, tenors, given, parameters, _, _] = row.texts();
        let truth = curve(row, parameters);
        let found = NelsonSiegelSvensson::fit(&row.list(tenors), &row.list(given));
        let found = found.expect("a fit");
        let error = [
            (found.decay_time / truth.decay_time - 1.0).abs(),
            (found.second_decay_time / truth.second_decay_time - 1.0).abs(),
            (found.level - truth.level).abs(),
            (found.slope - truth.slope).abs(),
        ];
        let error = error.into_iter().fold(0.0, f64::max);
        largest.see(row, error, EXACT_TOLERANCE, &(&truth, &found));
    }
    println!("{} curves, largest error of a parameter {largest}", rows.len());
}
