//! Market risk against mpmath, numpy, scipy, scikit-learn and exact fractions:
//! `tests/golden/generate/risk.py`.

use quant_core::risk::{
    ComponentRisk, CovarianceEstimator, Distribution, Moments, MonteCarlo, ParametricRisk,
    SeriesMethod, backtest, ewma_volatility, explain_backtest, explain_historical,
    explain_series_risk, explain_stress, historical, ledoit_wolf, series_risk, stress,
};
use quant_tests::golden::{self, Largest, Row, Statements};

/// Of the volatility over the horizon, and relative beyond it.
const PARAMETRIC_TOLERANCE: f64 = 1e-14;

/// Of the largest return; the fourth moment has four times the error.
const HISTORICAL_TOLERANCE: f64 = 5e-16;
const MOMENT_TOLERANCE: f64 = 2e-15;

/// Relative: scipy's inverse distribution has a few units of the last bit.
const SIMULATION_TOLERANCE: f64 = 2e-15;

/// Of 1, for probabilities, and relative for statistics above 1.
const BACKTEST_TOLERANCE: f64 = 2e-14;

/// Of the sum of the standalone figures.
const COMPONENT_TOLERANCE: f64 = 5e-15;

/// Of the largest variance; scikit-learn sums in plain doubles.
const SHRINKAGE_TOLERANCE: f64 = 5e-15;

fn distribution(row: &Row) -> Distribution {
    match row.text("distribution") {
        "normal" => Distribution::Normal,
        "student_t" => Distribution::StudentT { degrees_of_freedom: row.get("degrees") },
        "cornish_fisher" => Distribution::CornishFisher {
            skewness: row.get("skewness"),
            excess_kurtosis: row.get("kurtosis"),
        },
        other => panic!("{row}: {other}"),
    }
}

fn position(row: &Row) -> ParametricRisk {
    ParametricRisk {
        mean: row.get("mean"),
        volatility: row.get("volatility"),
        distribution: distribution(row),
        confidence: row.get("confidence"),
        horizon: row.get("horizon"),
    }
}

#[test]
fn parametric_figures_agree_with_integrals_of_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("parametric_var", 100) {
        let found = position(&row).evaluate().expect("figures");
        let deviation: f64 = row.get("deviation");
        for (name, value) in [("var", found.value_at_risk), ("es", found.expected_shortfall)] {
            let expected: f64 = row.get(name);
            let error = (value - expected).abs() / deviation.max(expected.abs());
            largest.see(&row, error, PARAMETRIC_TOLERANCE, &(name, value));
        }
    }
    println!("parametric risk: largest error {largest}");
}

fn end(row: &Row, name: &str) -> Option<f64> {
    Some(row.text(name)).filter(|text| *text != "none").map(|text| row.parse(text))
}

#[test]
fn historical_figures_agree_with_exact_fractions_and_with_scipy() {
    let (mut largest, mut of_moments) = (Largest::default(), Largest::default());
    for row in golden::rows("historical_var", 60) {
        let returns: Vec<f64> = row.list(row.text("returns"));
        let scale = returns.iter().fold(1e-300_f64, |most, value| most.max(value.abs()));
        let found = historical(&returns, row.get("confidence")).expect("figures");
        assert_eq!(found.tail_count, row.get::<usize>("tail"), "{row}");
        let interval = found.interval;
        assert_eq!(
            (interval.lower, interval.upper),
            (end(&row, "lower"), end(&row, "upper")),
            "{row}"
        );
        for (name, value) in [
            ("var", found.risk.value_at_risk),
            ("es", found.risk.expected_shortfall),
            ("coherent", found.coherent_expected_shortfall),
        ] {
            let error = (value - row.get::<f64>(name)).abs() / scale;
            largest.see(&row, error, HISTORICAL_TOLERANCE, &(name, value));
        }
        let moments = Moments::of(&returns).expect("moments");
        for (name, value, scale) in [
            ("mean", moments.mean, scale),
            ("volatility", moments.volatility, scale),
            ("skewness", moments.skewness, moments.skewness.abs().max(1.0)),
            ("kurtosis", moments.excess_kurtosis, moments.excess_kurtosis.abs().max(3.0)),
            ("ewma", ewma_volatility(&returns, 0.94).expect("a volatility"), scale),
        ] {
            let error = (value - row.get::<f64>(name)).abs() / scale;
            of_moments.see(&row, error, MOMENT_TOLERANCE, &(name, value));
        }
    }
    println!("historical risk: largest error {largest}, of moments {of_moments}");
}

#[test]
fn the_recorded_answer_of_the_interface_is_met() {
    let found = historical(&[0.01, -0.02, 0.015, -0.015, 0.005, 0.02], 0.95).expect("figures");
    assert_eq!((found.risk.value_at_risk, found.risk.expected_shortfall), (0.01875, 0.02));
}

fn simulation(row: &Row) -> MonteCarlo {
    let position = ParametricRisk {
        mean: 0.0,
        volatility: 0.02,
        distribution: Distribution::Normal,
        confidence: row.get("confidence"),
        horizon: 1.0,
    };
    MonteCarlo { position, simulations: row.get("count"), seed: row.get("seed") }
}

#[test]
fn simulated_figures_agree_with_numpy_and_scipy() {
    let mut largest = Largest::default();
    for row in golden::rows("monte_carlo_var", 12) {
        let found = simulation(&row).evaluate().expect("figures");
        assert_eq!(found.tail_count, row.get::<usize>("tail"), "{row}");
        for (name, value) in
            [("var", found.risk.value_at_risk), ("es", found.risk.expected_shortfall)]
        {
            let error = (value / row.get::<f64>(name) - 1.0).abs();
            largest.see(&row, error, SIMULATION_TOLERANCE, &(name, value));
        }
    }
    println!("simulated risk: largest relative error {largest}");
}

/// The positions of the exceptions, with returns and estimates that have them.
fn exceptions(row: &Row) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
    let positions: Vec<usize> = match row.text("positions") {
        "none" => Vec::new(),
        text => row.list(text),
    };
    let count: usize = row.get("count");
    let mut returns = vec![0.01; count];
    positions.iter().for_each(|&position| returns[position] = -0.03);
    (positions, returns, vec![0.02; count])
}

#[test]
fn backtests_agree_with_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("backtest", 44) {
        let (positions, returns, estimates) = exceptions(&row);
        let found = backtest(&returns, &estimates, row.get("confidence")).expect("tests");
        assert_eq!(found.exceptions, positions, "{row}");
        for (name, value) in [
            ("pof", found.kupiec.statistic),
            ("pof_p", found.kupiec.p_value),
            ("ind", found.independence.statistic),
            ("ind_p", found.independence.p_value),
            ("cc", found.conditional_coverage.statistic),
            ("cc_p", found.conditional_coverage.p_value),
            ("at_most", found.probability_of_at_most),
            ("at_least", found.probability_of_at_least),
        ] {
            let expected: f64 = row.get(name);
            let error = (value - expected).abs() / expected.max(1.0);
            largest.see(&row, error, BACKTEST_TOLERANCE, &(name, value));
        }
    }
    println!("backtests: largest error {largest}");
}

fn named<T>(values: impl IntoIterator<Item = T>) -> Vec<(String, T)> {
    values.into_iter().enumerate().map(|(index, value)| (format!("f{index}"), value)).collect()
}

/// The series of a column, between blanks.
fn columns(row: &Row) -> Vec<Vec<f64>> {
    row.text("returns").split(' ').map(|text| row.list(text)).collect()
}

fn portfolio(row: &Row) -> ComponentRisk {
    ComponentRisk {
        returns_by_factor: named(columns(row)),
        weights: named(row.list::<f64>(row.text("weights"))),
        distribution: distribution(row),
        covariance_estimator: row.get::<CovarianceEstimator>("estimator"),
        confidence: row.get("confidence"),
        portfolio_value: 1e6,
    }
}

#[test]
fn components_agree_with_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("component_var", 40) {
        let found = portfolio(&row).contributions().expect("contributions");
        let sum: f64 = found.components.iter().map(|part| part.component).sum();
        assert_eq!(sum, found.risk.value_at_risk, "{row}");
        let mut see = |name: &str, value: f64, expected: f64| {
            let error = (value - expected).abs() / found.undiversified;
            largest.see(&row, error, COMPONENT_TOLERANCE, &(name, value));
        };
        see("var", found.risk.value_at_risk, row.get("var"));
        see("es", found.risk.expected_shortfall, row.get("es"));
        for (index, part) in found.components.iter().enumerate() {
            for (name, value) in [
                ("components", part.component),
                ("standalone", part.standalone),
                ("incremental", part.incremental),
            ] {
                see(name, value, row.list::<f64>(row.text(name))[index]);
            }
        }
    }
    println!("component risk: largest error {largest} of the undiversified risk");
}

#[test]
fn shrunk_covariances_agree_with_scikit_learn() {
    let mut largest = Largest::default();
    for row in golden::rows("ledoit_wolf", 16) {
        let returns = columns(&row);
        let found = ledoit_wolf(&returns).expect("a covariance");
        let error = (found.intensity - row.get::<f64>("shrinkage")).abs();
        largest.see(&row, error, SHRINKAGE_TOLERANCE, &found.intensity);
        let expected: Vec<f64> = row.list(row.text("covariance"));
        let matrix = found.covariance.matrix();
        let scale = matrix.diagonal().iter().copied().fold(0.0, f64::max);
        for (value, expected) in matrix.iter().zip(expected) {
            largest.see(&row, (value - expected).abs() / scale, SHRINKAGE_TOLERANCE, value);
        }
    }
    println!("shrunk covariances: largest error {largest}");
}

#[test]
fn scenarios_agree_with_exact_fractions() {
    let mut largest = Largest::default();
    for row in golden::rows("stress", 30) {
        let shocks = named(row.list::<f64>(row.text("shocks")));
        let exposures = named(row.list::<f64>(row.text("exposures")));
        let found = stress(&shocks, Some(&exposures), row.get("value")).expect("a result");
        let parts: Vec<f64> = row.list(row.text("parts"));
        let size: f64 = parts.iter().map(|part| part.abs()).sum();
        let found_parts = found.impacts.iter().map(|impact| impact.profit_and_loss);
        let pairs = found_parts.zip(parts).chain([(found.profit_and_loss, row.get("total"))]);
        for (value, expected) in pairs {
            largest.see(&row, (value - expected).abs() / size, 4.0 * f64::EPSILON, &value);
        }
    }
    println!("scenarios: largest error {largest} of the sum of the sizes");
}

#[test]
fn the_stated_error_of_parametric_risk_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("parametric_var", 100) {
        let position = position(&row);
        let stated = position.explain().expect("an explanation").error;
        let found = position.evaluate().expect("figures").value_at_risk;
        statements.see(&row, &stated, found, row.get("var"));
    }
    statements.hold(100);
}

#[test]
fn the_stated_errors_of_historical_and_fitted_risk_hold() {
    let mut historical_risk = Statements::default();
    let mut fitted_risk = [(); 4].map(|()| Statements::default());
    for row in golden::rows("historical_var", 60) {
        let (returns, confidence): (Vec<f64>, f64) =
            (row.list(row.text("returns")), row.get("confidence"));
        let stated = explain_historical(&returns, confidence, 1.0).expect("an explanation").error;
        let found = historical(&returns, confidence).expect("figures").risk.value_at_risk;
        historical_risk.see(&row, &stated, found, row.get("var"));
        for (fit, statements) in fits(&row).into_iter().zip(&mut fitted_risk) {
            let (method, mean, volatility, distribution) = fit;
            let position =
                ParametricRisk { mean, volatility, distribution, confidence, horizon: 1.0 };
            let expected = position.evaluate().expect("figures").value_at_risk;
            let found = series_risk(&returns, method, confidence, 1.0).expect("figures");
            let stated = explain_series_risk(&returns, method, confidence, 1.0);
            let stated = stated.expect("an explanation").error;
            statements.see(&row, &stated, found.risk.value_at_risk, expected);
        }
    }
    historical_risk.hold(60);
    fitted_risk.iter().for_each(|statements| statements.hold(60));
}

#[test]
fn the_stated_error_of_simulated_risk_holds() {
    let mut statements = Statements::default();
    for row in golden::rows("monte_carlo_var", 12) {
        let run = simulation(&row);
        let stated = run.explain().expect("an explanation").error;
        let found = run.evaluate().expect("figures").risk.value_at_risk;
        let exact = run.position.evaluate().expect("figures").value_at_risk;
        statements.see(&row, &stated, found, exact);
    }
    statements.hold(12);
}

#[test]
fn the_stated_error_of_a_backtest_bounds_its_errors() {
    let mut statements = Statements::default();
    for row in golden::rows("backtest", 44) {
        let (_, returns, estimates) = exceptions(&row);
        let confidence = row.get("confidence");
        let found = backtest(&returns, &estimates, confidence).expect("tests");
        let stated = explain_backtest(&returns, &estimates, confidence).expect("an explanation");
        for (name, value) in [
            ("pof", found.kupiec.statistic),
            ("ind", found.independence.statistic),
            ("cc", found.conditional_coverage.statistic),
            ("cc_p", found.conditional_coverage.p_value),
            ("at_most", found.probability_of_at_most),
        ] {
            statements.see(&row, &stated.error, value, row.get(name));
        }
    }
    statements.hold(220);
}

#[test]
fn the_stated_error_of_component_risk_holds() {
    let mut statements = Statements::default();
    for row in golden::rows("component_var", 40) {
        let portfolio = portfolio(&row);
        let stated = portfolio.explain().expect("an explanation").error;
        let found = portfolio.contributions().expect("contributions").risk.value_at_risk;
        statements.see(&row, &stated, found, row.get("var"));
    }
    statements.hold(40);
}

#[test]
fn the_stated_error_of_a_scenario_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("stress", 30) {
        let shocks = named(row.list::<f64>(row.text("shocks")));
        let exposures = named(row.list::<f64>(row.text("exposures")));
        let value = row.get("value");
        let found = stress(&shocks, Some(&exposures), value).expect("a result").profit_and_loss;
        let stated = explain_stress(&shocks, Some(&exposures), value).expect("an explanation");
        statements.see(&row, &stated.error, found, row.get("total"));
    }
    statements.hold(30);
}

/// The methods that fit a distribution, with the fit to the moments of a row.
fn fits(row: &Row) -> [(SeriesMethod, f64, f64, Distribution); 4] {
    let [mean, volatility, skewness, excess_kurtosis, ewma] =
        ["mean", "volatility", "skewness", "kurtosis", "ewma"].map(|name| row.get(name));
    let t = Distribution::StudentT { degrees_of_freedom: 5.0 };
    let expansion = Distribution::CornishFisher { skewness, excess_kurtosis };
    [
        (SeriesMethod::Normal, mean, volatility, Distribution::Normal),
        (SeriesMethod::StudentT { degrees_of_freedom: 5.0 }, mean, volatility, t),
        (SeriesMethod::CornishFisher, mean, volatility, expansion),
        (SeriesMethod::Ewma { decay: 0.94 }, 0.0, ewma, Distribution::Normal),
    ]
}
