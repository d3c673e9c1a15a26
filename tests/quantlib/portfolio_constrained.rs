//! Portfolios under linear constraints and a limit of turnover, against active sets in many digits:
//! `tests/golden/generate/portfolio_constrained.py` and `frontier_constrained.py`.

use quant_core::portfolio::{
    ConstrainedFrontier, Covariance, EfficientFrontier,
    constrained::{ConstrainedProblem, Goal, LinearConstraint, TurnoverLimit},
};
use quant_tests::golden::{self, Largest, Statements};

/// The largest accepted error of a weight, in units of the largest weight.
const TOLERANCE: f64 = 1e-12;
/// The largest stated error, by the volatility, with which a statement still says something.
const WIDEST_ESTIMATE: f64 = 1e-10;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn constrained_portfolios_agree_with_exact_active_sets() {
    let (mut largest, mut largest_in_volatility) = (Largest::default(), Largest::default());
    let (mut statements, mut widest) = (Statements::default(), Largest::default());
    for row in golden::rows("portfolio_constrained", 120) {
        let list = |name| row.list::<f64>(row.text(name));
        let expected_returns = list("expected_returns");
        let covariance = list("covariance row by row");
        let rows: Vec<&[f64]> = covariance.chunks(expected_returns.len()).collect();
        let parameter: f64 = row.get("parameter");
        let (goal, risk_free_rate) = match row.text("goal") {
            "min_variance" => (Goal::MinVariance, 0.0),
            "target_return" => (Goal::TargetReturn(parameter), 0.0),
            "max_sharpe" => (Goal::MaxSharpe, parameter),
            other => panic!("{row}: {other}"),
        };
        let constraint = LinearConstraint {
            coefficients: list("coefficients"),
            min: Some(row.get("min")),
            max: Some(row.get("max")),
        };
        let current_weights = list("current_weights");
        let size = expected_returns.len();
        let problem = ConstrainedProblem {
            expected_returns,
            covariance_matrix: Covariance::from_rows(&rows).expect("a square matrix"),
            risk_free_rate,
            min_weights: Some(vec![0.0; size]),
            max_weights: Some(vec![0.6; size]),
            constraints: vec![constraint],
            turnover: Some(TurnoverLimit {
                current_weights: current_weights.clone(),
                max_turnover: row.get("max_turnover"),
            }),
            goal,
        };
        let found = problem.solve().unwrap_or_else(|error| panic!("{row}: {error}"));
        let expected = list("weights");
        for (asset, (weight, expected)) in found.weights.iter().zip(&expected).enumerate() {
            largest.see(&row, (weight - expected).abs(), TOLERANCE, &(asset, &found, expected));
            // A weight at its bound or left as it was is so here, bit for bit.
            if [0.0, 0.6, current_weights[asset]].contains(expected) {
                assert_eq!(weight, expected, "{row}: {found:?}");
            }
        }
        let volatility: f64 = row.get("volatility");
        let stated = problem.explain().expect("an explanation").error;
        widest.see(&row, stated.estimate / volatility, WIDEST_ESTIMATE, &stated);
        if goal == Goal::MaxSharpe {
            let expected_return = dot(&problem.expected_returns, &expected);
            let ratio = (expected_return - risk_free_rate) / volatility;
            statements.see(&row, &stated, found.sharpe_ratio.expect("a risk"), ratio);
        } else {
            statements.see(&row, &stated, found.volatility, volatility);
        }
        let error = (found.volatility / volatility - 1.0).abs();
        largest_in_volatility.see(&row, error, TOLERANCE, &found);
    }
    statements.hold(120);
    println!("widest estimate {widest}");
    println!("largest error of a weight {largest}, of a volatility {largest_in_volatility}");
}

#[test]
fn constrained_frontiers_agree_with_exact_corners() {
    let (mut largest, mut largest_in_volatility) = (Largest::default(), Largest::default());
    let (mut statements, mut widest) = (Statements::default(), Largest::default());
    for row in golden::rows("frontier_constrained", 80) {
        let list = |name| row.list::<f64>(row.text(name));
        let expected_returns = list("expected_returns");
        let covariance = list("covariance row by row");
        let rows: Vec<&[f64]> = covariance.chunks(expected_returns.len()).collect();
        let (size, current_weights) = (expected_returns.len(), list("current_weights"));
        let problem = ConstrainedFrontier {
            assets: EfficientFrontier {
                expected_returns,
                covariance_matrix: Covariance::from_rows(&rows).expect("a square matrix"),
                risk_free_rate: 0.0,
                min_weights: Some(vec![0.0; size]),
                max_weights: Some(vec![0.6; size]),
            },
            constraints: vec![LinearConstraint {
                coefficients: list("coefficients"),
                min: Some(row.get("min")),
                max: Some(row.get("max")),
            }],
            turnover: Some(TurnoverLimit {
                current_weights: current_weights.clone(),
                max_turnover: row.get("max_turnover"),
            }),
        };
        let stated = problem.explain().expect("an explanation").error;
        let found = problem.solve().unwrap_or_else(|error| panic!("{row}: {error}")).corners;
        let corners: Vec<Vec<f64>> =
            row.text("corners separated by |").split('|').map(|text| row.list(text)).collect();
        assert_eq!(found.len(), corners.len(), "{row}: {found:#?}");
        for ((found, expected), volatility) in found.iter().zip(&corners).zip(list("volatilities"))
        {
            for (weight, expected) in found.weights.iter().zip(expected) {
                largest.see(&row, (weight - expected).abs(), TOLERANCE, &(found, expected));
            }
            for (asset, (weight, expected)) in found.weights.iter().zip(expected).enumerate() {
                // A weight at its bound or left as it was is so here, bit for bit.
                if [0.0, 0.6, current_weights[asset]].contains(expected) {
                    assert_eq!(weight, expected, "{row}: {found:?}");
                }
            }
            widest.see(&row, stated.estimate / volatility, WIDEST_ESTIMATE, &stated);
            statements.see(&row, &stated, found.volatility, volatility);
            let error = (found.volatility / volatility - 1.0).abs();
            largest_in_volatility.see(&row, error, TOLERANCE, found);
        }
        // Half way between two corners the portfolio is their mixture.
        for (pair, exact) in found.windows(2).zip(corners.windows(2)) {
            let middle = 0.5 * pair[0].expected_return + 0.5 * pair[1].expected_return;
            let found = problem.at_return(middle).expect("a portfolio");
            for (weight, (a, b)) in found.weights.iter().zip(exact[0].iter().zip(&exact[1])) {
                largest.see(&row, (weight - 0.5 * (a + b)).abs(), TOLERANCE, &found);
            }
        }
    }
    statements.hold(80);
    println!("widest estimate {widest}");
    println!("largest error of a weight {largest}, of a volatility {largest_in_volatility}");
}
