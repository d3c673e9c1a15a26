//! Minimum-variance weights against mpmath and quadprog: `tests/golden/generate/portfolio.py`.

use quant_core::portfolio::{Covariance, MinVariance};
use quant_tests::golden::{self, Largest, Statements};

/// The largest accepted error of a weight, in units of the largest weight.
const TOLERANCE: f64 = 1e-13;
/// The largest accepted relative error of a volatility that is not zero.
const VOLATILITY_TOLERANCE: f64 = 1e-13;
/// The largest stated error, relative, with which a statement still says something.
const WIDEST_ESTIMATE: f64 = 1e-10;

#[test]
fn weights_agree_with_exact_active_sets() {
    let (mut largest, mut largest_in_volatility) = (Largest::default(), Largest::default());
    let (mut statements, mut widest) = (Statements::default(), Largest::default());
    for row in golden::rows("portfolio", 280) {
        let [covariance, lower, upper, expected, variance] =
            row.texts().map(|text| row.list::<f64>(text));
        let rows: Vec<Vec<f64>> = covariance.chunks(expected.len()).map(<[f64]>::to_vec).collect();
        let problem = MinVariance {
            covariance_matrix: Covariance::from_rows(&rows).expect("a square matrix"),
            min_weights: Some(lower.clone()),
            max_weights: Some(upper.clone()),
        };
        let portfolio = problem
            .solve()
            .and_then(|portfolio| portfolio.with_returns(&vec![0.0; expected.len()], 0.0))
            .expect("a portfolio");

        let scale = expected.iter().fold(0.0_f64, |scale, weight| scale.max(weight.abs()));
        for (asset, (&weight, &expected)) in portfolio.weights.iter().zip(&expected).enumerate() {
            let error = (weight - expected).abs() / scale;
            largest.see(&row, error, TOLERANCE, &(asset, weight));
            if expected == lower[asset] || expected == upper[asset] {
                assert_eq!(weight, expected, "{row}: asset {asset} is at its bound");
            }
        }
        let volatility = variance[0].sqrt();
        let error = (portfolio.volatility - volatility).abs() / volatility.max(f64::MIN_POSITIVE);
        let stated = problem.explain().expect("an explanation").error;
        statements.see(&row, &stated, portfolio.volatility, volatility);
        if volatility > 0.0 {
            widest.see(&row, stated.estimate / volatility, WIDEST_ESTIMATE, &stated);
        }
        let found = (portfolio.volatility, volatility);
        largest_in_volatility.see(&row, error, VOLATILITY_TOLERANCE, &found);
        assert_eq!(portfolio.sharpe_ratio.is_none(), portfolio.volatility == 0.0, "{row}");
    }
    statements.hold(280);
    println!("widest estimate {widest}");
    println!("largest error in a weight {largest}, in a volatility {largest_in_volatility}");
}
