//! Portfolios along the efficient frontier: `tests/golden/generate/frontier.py`.

use quant_core::portfolio::{
    efficient_frontier::EfficientFrontier, max_sharpe::MaxSharpe, min_variance::Portfolio,
    target_return::TargetReturn,
};

/// Largest error accepted in a weight, in units of the largest weight.
const TOLERANCE: f64 = 1e-13;
/// The same at the largest ratio: without bounds the weights go with the inverse of the little by
/// which the portfolio of least variance returns more than the riskless asset.
const SHARPE_TOLERANCE: f64 = 1e-12;
/// Largest relative error accepted in a volatility, in units of a weight's tolerance.
const VOLATILITY_TOLERANCE: f64 = 1.0;

fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').map(|number| number.parse().expect("a number")).collect()
}

fn solve(kind: &str, fields: &[Vec<f64>]) -> Vec<Portfolio> {
    let [returns, covariance, lower, upper, parameter] = fields else { panic!("five fields") };
    let covariance: Vec<Vec<f64>> = covariance.chunks(returns.len()).map(<[f64]>::to_vec).collect();
    let (expected_returns, covariance_matrix) = (&returns[..], &covariance[..]);
    let (min_weights, max_weights) = (Some(&lower[..]), Some(&upper[..]));
    let (risk_free_rate, target_return) = (parameter[0], parameter[0]);
    match kind {
        "target" => {
            let target = TargetReturn {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
                target_return,
            };
            vec![target.solve().expect("a portfolio")]
        }
        "sharpe" => {
            let sharpe = MaxSharpe {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
            };
            vec![sharpe.solve().expect("a portfolio")]
        }
        "frontier" => {
            let frontier = EfficientFrontier {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
            };
            frontier.solve().expect("a frontier").corners
        }
        other => panic!("kind {other}"),
    }
}

#[test]
fn portfolios_agree_with_exact_active_sets() {
    let kinds = [("frontier", TOLERANCE), ("target", TOLERANCE), ("sharpe", SHARPE_TOLERANCE)];
    for (kind, tolerance) in kinds {
        let (mut largest, mut largest_in_volatility, mut rows) = (0.0_f64, 0.0_f64, 0);
        for line in include_str!("golden/frontier.csv").lines().skip(2) {
            let fields: Vec<&str> = line.split(',').collect();
            if fields[0] != kind {
                continue;
            }
            let inputs: Vec<Vec<f64>> = fields[1..6].iter().map(|field| numbers(field)).collect();
            let found = solve(kind, &inputs);
            let expected: Vec<Vec<f64>> = fields[6].split('|').map(numbers).collect();
            assert_eq!(found.len(), expected.len(), "{line}: {found:?}");
            for ((found, expected), volatility) in
                found.iter().zip(&expected).zip(numbers(fields[7]))
            {
                let size = expected.iter().fold(0.0, |size: f64, weight| size.max(weight.abs()));
                for (asset, (weight, expected)) in found.weights.iter().zip(expected).enumerate() {
                    let error = (weight - expected).abs() / size;
                    assert!(error <= tolerance, "{line}: {found:?}");
                    largest = largest.max(error);
                    // What is at a bound there is at the bound here, bit for bit.
                    if [inputs[2][asset], inputs[3][asset]].contains(expected) {
                        assert_eq!(weight, expected, "{line}: {found:?}");
                    }
                }
                let error = (found.volatility / volatility - 1.0).abs();
                assert!(error <= VOLATILITY_TOLERANCE * tolerance, "{line}: {found:?}");
                largest_in_volatility = largest_in_volatility.max(error);
            }
            rows += 1;
        }
        assert!(rows >= 40, "{rows} rows of {kind}");
        println!(
            "{kind}: {rows} rows, largest error of a weight {largest:e}, of a volatility {largest_in_volatility:e}"
        );
    }
}
