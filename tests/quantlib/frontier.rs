//! Portfolios along the efficient frontier: `tests/golden/generate/frontier.py`.

use quant_core::explanation::ErrorStatement;
use quant_core::portfolio::{Covariance, EfficientFrontier, MaxSharpe, Portfolio, TargetReturn};
use quant_tests::golden::{self, Largest, Statements};

/// The largest accepted error of a weight, in units of the largest weight.
const TOLERANCE: f64 = 1e-13;
/// The accepted error at the largest Sharpe ratio. Without bounds the weights are inverse to the
/// small excess return of the minimum-variance portfolio over the riskless asset.
const SHARPE_TOLERANCE: f64 = 1e-12;
/// The largest stated error, by the volatility, with which a statement still says something.
const WIDEST_ESTIMATE: f64 = 1e-10;
/// The largest accepted relative error of a volatility, in units of a weight's tolerance.
const VOLATILITY_TOLERANCE: f64 = 1.0;

/// Returns the portfolios of a row, with what their explanation states about their error.
fn solve(kind: &str, fields: &[Vec<f64>]) -> (Vec<Portfolio>, ErrorStatement) {
    let [returns, covariance, lower, upper, parameter] = fields else { panic!("five fields") };
    let covariance: Vec<Vec<f64>> = covariance.chunks(returns.len()).map(<[f64]>::to_vec).collect();
    let covariance_matrix = Covariance::from_rows(&covariance).expect("a square matrix");
    let expected_returns = returns.clone();
    let (min_weights, max_weights) = (Some(lower.clone()), Some(upper.clone()));
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
            let explanation = target.explain().expect("an explanation");
            (vec![target.solve().expect("a portfolio")], explanation.error)
        }
        "sharpe" => {
            let sharpe = MaxSharpe {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
            };
            let explanation = sharpe.explain().expect("an explanation");
            (vec![sharpe.solve().expect("a portfolio")], explanation.error)
        }
        "frontier" => {
            let frontier = EfficientFrontier {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
            };
            let explanation = frontier.explain().expect("an explanation");
            let corners = frontier.solve().expect("a frontier").corners;
            assert_eq!(explanation.steps, Some(corners.len() as u32));
            (corners, explanation.error)
        }
        other => panic!("kind {other}"),
    }
}

#[test]
fn portfolios_agree_with_exact_active_sets() {
    let kinds = [("frontier", TOLERANCE), ("target", TOLERANCE), ("sharpe", SHARPE_TOLERANCE)];
    let all = golden::rows("frontier", 200);
    for (kind, tolerance) in kinds {
        let (mut largest, mut largest_in_volatility) = (Largest::default(), Largest::default());
        let (mut rows, mut statements) = (0, Statements::default());
        let mut widest = Largest::default();
        for row in all.iter().filter(|row| row.text("kind") == kind) {
            let [_, inputs @ .., portfolios, volatilities] = row.texts::<8>();
            let inputs = inputs.map(|text| row.list(text));
            let (found, stated) = solve(kind, &inputs);
            let expected: Vec<Vec<f64>> =
                portfolios.split('|').map(|text| row.list(text)).collect();
            assert_eq!(found.len(), expected.len(), "{row}: {found:?}");
            let volatilities = row.list::<f64>(volatilities);
            for ((found, expected), volatility) in found.iter().zip(&expected).zip(volatilities) {
                let size = expected.iter().fold(0.0, |size: f64, weight| size.max(weight.abs()));
                for (asset, (weight, expected)) in found.weights.iter().zip(expected).enumerate() {
                    let error = (weight - expected).abs() / size;
                    largest.see(row, error, tolerance, found);
                    // A weight at its bound in the golden row is the bound here, bit for bit.
                    if [inputs[2][asset], inputs[3][asset]].contains(expected) {
                        assert_eq!(weight, expected, "{row}: {found:?}");
                    }
                }
                widest.see(row, stated.estimate / found.volatility, WIDEST_ESTIMATE, &stated);
                if kind == "sharpe" {
                    let returns = inputs[0].iter().zip(expected);
                    let returned: f64 = returns.map(|(value, weight)| value * weight).sum();
                    let ratio = (returned - inputs[4][0]) / volatility;
                    statements.see(row, &stated, found.sharpe_ratio.expect("a risk"), ratio);
                } else {
                    statements.see(row, &stated, found.volatility, volatility);
                }
                let error = (found.volatility / volatility - 1.0).abs();
                largest_in_volatility.see(row, error, VOLATILITY_TOLERANCE * tolerance, found);
            }
            rows += 1;
        }
        assert!(rows >= 40, "{rows} rows of {kind}");
        statements.hold(40);
        println!("{kind}: widest estimate {widest}");
        println!(
            "{kind}: {rows} rows, largest error of a weight {largest}, of a volatility {largest_in_volatility}"
        );
    }
}

#[test]
fn mixtures_of_corners_agree_with_the_portfolios_of_their_returns() {
    let (mut largest, mut rows) = (Largest::default(), 0);
    for row in golden::rows("frontier", 200).iter().filter(|row| row.text("kind") == "target") {
        let [_, inputs @ .., portfolio, _] = row.texts::<8>();
        let [returns, covariance, lower, upper, target] = inputs.map(|text| row.list::<f64>(text));
        let covariance: Vec<&[f64]> = covariance.chunks(returns.len()).collect();
        let frontier = EfficientFrontier {
            expected_returns: returns,
            covariance_matrix: Covariance::from_rows(&covariance).expect("a square matrix"),
            risk_free_rate: 0.0,
            min_weights: Some(lower),
            max_weights: Some(upper),
        };
        let least = frontier.solve().expect("a frontier").corners[0].expected_return;
        let found = frontier.at_return(target[0]);
        // Below the least variance the target is met by a portfolio that is not efficient.
        if target[0] < least {
            assert_eq!(found.expect_err("refused").argument(), Some("target_return"), "{row}");
            continue;
        }
        let (found, expected) = (found.expect("a portfolio"), row.list::<f64>(portfolio));
        let size = expected.iter().fold(0.0, |size: f64, weight| size.max(weight.abs()));
        for (weight, expected) in found.weights.iter().zip(&expected) {
            largest.see(row, (weight - expected).abs() / size, TOLERANCE, &found);
        }
        rows += 1;
    }
    assert!(rows >= 40, "{rows} rows");
    println!("mixtures: {rows} rows, largest error of a weight {largest}");
}
