//! The tail risk of weights under a covariance against mpmath: `tests/golden/generate/portfolio_tail.py`.

use quant_core::portfolio::{Covariance, explain_risk_contributions, risk_contributions};
use quant_core::risk::{Distribution, ParametricRisk, explain_portfolio_risk};
use quant_tests::golden::{self, Row, Statements};

/// The fewest rows whose error exceeds that of the quantile alone, as contributions cancel.
const CANCELLING: usize = 20;

fn portfolio(row: &Row) -> (Vec<f64>, Covariance) {
    let weights: Vec<f64> = row.list(row.text("weights"));
    let covariance: Vec<f64> = row.list(row.text("covariance"));
    let rows: Vec<&[f64]> = covariance.chunks(weights.len()).collect();
    (weights, Covariance::from_rows(&rows).expect("a square matrix"))
}

fn position(row: &Row, volatility: f64) -> ParametricRisk {
    let degrees_of_freedom: f64 = row.get("degrees");
    let distribution = match degrees_of_freedom {
        0.0 => Distribution::Normal,
        _ => Distribution::StudentT { degrees_of_freedom },
    };
    let (confidence, horizon) = (row.get("confidence"), row.get("horizon"));
    ParametricRisk { mean: 0.0, volatility, distribution, confidence, horizon }
}

#[test]
fn the_stated_error_of_a_portfolio_s_value_at_risk_bounds_its_error() {
    let (mut of_request, mut of_overview) = (Statements::default(), Statements::default());
    let mut cancelling = 0;
    for row in golden::rows("portfolio_tail", 160) {
        let (weights, covariance) = portfolio(&row);
        let volatility = risk_contributions(&weights, &covariance).expect("parts").volatility;
        let of_period = ParametricRisk {
            distribution: Distribution::Normal,
            horizon: 1.0,
            ..position(&row, volatility)
        };
        for (statements, position, name) in [
            (&mut of_request, position(&row, volatility), "var"),
            (&mut of_overview, of_period, "normal_var_of_period"),
        ] {
            let stated = explain_portfolio_risk(&position, &weights, &covariance);
            let stated = stated.expect("an explanation").error;
            let found = position.evaluate().expect("figures").value_at_risk;
            assert!(stated.is_bound, "{row}");
            statements.see(&row, &stated, found, row.get(name));
            let of_quantile = position.explain().expect("an explanation").error.estimate;
            let error = (found - row.get::<f64>(name)).abs();
            cancelling += usize::from(error > of_quantile);
        }
    }
    of_request.hold(160);
    of_overview.hold(160);
    assert!(cancelling >= CANCELLING, "{cancelling} figures beyond the error of the quantile");
    println!("{cancelling} figures have more than the error of the quantile");
}

#[test]
fn the_stated_error_of_contributions_that_cancel_bounds_their_errors() {
    let mut statements = Statements::default();
    for row in golden::rows("portfolio_tail", 160) {
        let (weights, covariance) = portfolio(&row);
        let found = risk_contributions(&weights, &covariance).expect("parts").contributions;
        let stated = explain_risk_contributions(&weights, &covariance).expect("an explanation");
        let expected: Vec<f64> = row.list(row.text("contributions"));
        for (found, expected) in found.into_iter().zip(expected) {
            statements.see(&row, &stated.error, found, expected);
        }
    }
    statements.hold(600);
}
