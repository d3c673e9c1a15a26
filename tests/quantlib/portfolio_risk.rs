//! Risk parity, contributions, Black–Litterman and performance ratios against mpmath:
//! `tests/golden/generate/portfolio_risk.py`.

use quant_core::portfolio::{
    BlackLitterman, Covariance, MarketEquilibrium, ReturnSeries, RiskParity,
    black_litterman::{Uncertainty, View},
    explain_risk_contributions, risk_contributions,
    risk_parity::RiskParityMethod,
};
use quant_tests::golden::{self, Largest, Row, Statements};

/// The largest accepted relative error of a risk-parity weight, and difference of a share of the
/// risk and its budget: in units of the gross terms of the variance, whose last bits are not known.
const PARITY_TOLERANCE: f64 = 4e-15;
/// The largest stated relative error of a weight with which a statement still says something.
const WIDEST_ESTIMATE: f64 = 1e-7;
/// The largest accepted error of a contribution, as a part of the volatility or of its gross terms.
const CONTRIBUTION_TOLERANCE: f64 = 1e-15;
/// The largest accepted error of a Black–Litterman figure, in units of the largest of its list.
const POSTERIOR_TOLERANCE: f64 = 2e-14;
/// The largest accepted error of a ratio, relative or of its terms where these cancel.
const RATIO_TOLERANCE: f64 = 1e-14;

fn square(list: &[f64]) -> Covariance {
    let size = (0..=list.len()).find(|size| size * size == list.len()).expect("a square");
    let rows: Vec<&[f64]> = list.chunks(size.max(1)).collect();
    Covariance::from_rows(&rows).expect("a square matrix")
}

fn largest_of(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// The values of a list that may be empty.
fn list(row: &Row, text: &str) -> Vec<f64> {
    if text == "none" { Vec::new() } else { row.list(text) }
}

/// Returns the sum of the sizes of the terms of the variance, by the variance.
fn gross(covariance: &Covariance, weights: &[f64]) -> f64 {
    let (mut gross, mut net) = (0.0, 0.0);
    for (row, a) in weights.iter().enumerate() {
        for (column, b) in weights.iter().enumerate() {
            let term = a * b * covariance.matrix()[(row, column)];
            gross += term.abs();
            net += term;
        }
    }
    gross / net
}

#[test]
fn risk_parity_weights_agree_with_mpmath() {
    use RiskParityMethod::{CyclicalCoordinateDescent, Newton};
    for method in [Newton, CyclicalCoordinateDescent] {
        let (mut largest, mut residual) = (Largest::default(), Largest::default());
        let (mut statements, mut widest) = (Statements::default(), Largest::default());
        for row in golden::rows("risk_parity", 120) {
            let [covariance, budgets, expected, volatility] =
                row.texts().map(|text| row.list::<f64>(text));
            let covariance_matrix = square(&covariance);
            let condition = gross(&covariance_matrix, &expected);
            let problem = RiskParity { covariance_matrix, budgets: Some(budgets), method };
            let found = problem.solve().expect("a portfolio");
            let explanation = problem.explain().expect("an explanation");
            assert_eq!(explanation.steps, Some(found.iterations), "{row}");
            widest.see(&row, explanation.error.estimate, WIDEST_ESTIMATE, &explanation.error);
            for (found, expected) in found.weights.iter().zip(&expected) {
                statements.see(&row, &explanation.error, *found, *expected);
                let error = (found / expected - 1.0).abs() / condition;
                largest.see(&row, error, PARITY_TOLERANCE, &(found, expected));
            }
            let error = (found.volatility / volatility[0] - 1.0).abs() / condition;
            largest.see(&row, error, PARITY_TOLERANCE, &found.volatility);
            residual.see(&row, found.residual / condition, PARITY_TOLERANCE, &found);
        }
        statements.hold(240);
        println!("{method}: widest estimate {widest}");
        println!("{method}: largest error of a weight {largest}, of a share {residual}");
    }
}

#[test]
fn contributions_agree_with_mpmath_and_add_up_bit_for_bit() {
    let (mut largest, mut exact) = (Largest::default(), 0);
    let mut statements = Statements::default();
    let rows = golden::rows("risk_contributions", 110);
    for row in &rows {
        let [weights, covariance, volatility, marginal, contributions] =
            row.texts().map(|text| row.list::<f64>(text));
        let covariance = square(&covariance);
        let found = risk_contributions(&weights, &covariance).expect("contributions");
        let stated = explain_risk_contributions(&weights, &covariance).expect("an explanation");
        let size = largest_of(&contributions).max(volatility[0]);
        let error = (found.volatility - volatility[0]).abs() / volatility[0];
        largest.see(row, error, CONTRIBUTION_TOLERANCE * size / volatility[0], &found.volatility);
        for (found, expected) in found.contributions.iter().zip(&contributions) {
            statements.see(row, &stated.error, *found, *expected);
            let error = (found - expected).abs() / size;
            largest.see(row, error, CONTRIBUTION_TOLERANCE, &(found, expected));
        }
        for ((found, expected), weight) in found.marginal.iter().zip(&marginal).zip(&weights) {
            let error =
                (found - expected).abs() / expected.abs().max(size / weight.abs().max(1e-9));
            largest.see(row, error, CONTRIBUTION_TOLERANCE, &(found, expected));
        }
        assert_eq!(found.contributions.iter().sum::<f64>(), found.total, "{row}");
        assert_eq!(found.shares.expect("a risk").iter().sum::<f64>(), 1.0, "{row}");
        exact += usize::from(found.total == found.volatility);
    }
    statements.hold(220);
    assert_eq!(exact, rows.len(), "contributions add up to the volatility");
    println!("largest error {largest}; all {exact} add up to the volatility");
}

#[test]
fn posterior_returns_agree_with_mixed_estimation() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("black_litterman", 120) {
        let [
            covariance,
            caps,
            aversion,
            tau,
            views,
            targets,
            kind,
            values,
            implied,
            posterior,
            total,
            weights,
        ] = row.texts();
        let market_caps: Vec<f64> = row.list(caps);
        let (views, values) = (list(&row, views), list(&row, values));
        let uncertainty = |index: usize| match kind {
            "proportional" => Uncertainty::Proportional,
            "variance" => Uncertainty::Variance(values[index]),
            "confidence" => Uncertainty::Confidence(values[index]),
            other => panic!("{row}: {other}"),
        };
        let targets = list(&row, targets);
        let views = views.chunks(market_caps.len()).zip(&targets).enumerate();
        let views: Vec<View> = views
            .map(|(index, (weights, &expected_return))| View {
                weights: weights.to_vec(),
                expected_return,
                uncertainty: uncertainty(index),
            })
            .collect();
        let market = MarketEquilibrium {
            covariance_matrix: square(&row.list::<f64>(covariance)),
            market_caps,
            risk_aversion: row.parse(aversion),
        };
        let model = BlackLitterman { market, tau: row.parse(tau), views };
        let found = model.posterior().expect("a posterior");
        for (explanation, found, expected) in [
            (model.market.explain(), &found.equilibrium.implied_returns, implied),
            (model.explain(), &found.posterior_returns, posterior),
        ] {
            let stated = explanation.expect("an explanation").error;
            for (found, expected) in found.iter().zip(row.list(expected)) {
                statements.see(&row, &stated, *found, expected);
            }
        }
        let found_total: Vec<f64> =
            Vec::<Vec<f64>>::from(found.posterior_covariance.clone()).concat();
        for (found, expected) in [
            (&found.equilibrium.implied_returns, implied),
            (&found.posterior_returns, posterior),
            (&found_total, total),
            (&found.optimal_weights, weights),
        ] {
            let expected: Vec<f64> = row.list(expected);
            let size = largest_of(&expected);
            for (found, expected) in found.iter().zip(&expected) {
                let error = (found - expected).abs() / size;
                largest.see(&row, error, POSTERIOR_TOLERANCE, &(found, expected));
            }
        }
    }
    statements.hold(480);
    println!("largest error of a posterior {largest}");
}

#[test]
fn ratios_agree_with_their_definitions() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("performance", 80) {
        let [returns, benchmark, rate, target, periods, expected] = row.texts();
        let series = ReturnSeries {
            returns: row.list(returns),
            benchmark_returns: Some(row.list(benchmark)),
            risk_free_rate: row.parse(rate),
            target_return: Some(row.parse(target)),
            periods_per_year: row.parse(periods),
        };
        let ratios = series.ratios().expect("ratios");
        let against = ratios.benchmark.expect("a benchmark");
        let ratio = |ratio: Option<f64>| ratio.expect("a ratio");
        let found = [
            ratios.total_return,
            ratios.annual_return,
            ratios.mean_return,
            ratios.volatility,
            ratios.downside_deviation,
            ratios.max_drawdown,
            ratio(ratios.sharpe),
            ratio(ratios.sharpe_standard_error),
            ratio(ratios.sortino),
            ratio(ratios.calmar),
            ratio(ratios.omega),
            against.active_return,
            against.tracking_error,
            ratio(against.information),
            ratio(against.beta),
            ratio(against.jensen_alpha),
            ratio(against.treynor),
            ratio(against.correlation),
        ];
        let expected: Vec<f64> = row.list(expected);
        assert_eq!(expected.len(), found.len(), "{row}");
        let stated = series.explain().expect("an explanation").error;
        assert_eq!(&stated.quantity[..], "sharpe", "{row}");
        assert!((stated.estimate / found[7] - 1.96).abs() < 1e-4, "{row}: {stated:?}");
        statements.see(&row, &stated, found[6], expected[6]);
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            // A mean that cancels has the rounding of its terms, and compounding that of its
            // exponent.
            let error = (found - expected).abs() / expected.abs().max(0.01);
            largest.see(&row, error, RATIO_TOLERANCE, &(index, found, expected));
        }
    }
    statements.hold(80);
    println!("largest error of a ratio {largest}");
}
