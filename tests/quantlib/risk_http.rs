//! Market risk over HTTP: what it costs and answers, and what is refused.

use account_core::Tier;
use quant_server::api::openapi::DOCUMENT;
use quant_tests::{App, documented::example_of};
use serde_json::{Value, json};

/// The paths of this part of market risk, with the fields that clients read.
const PATHS: [(&str, &[&str]); 8] = [
    ("/quantlib/portfolio/risk/var", &["VaR", "var"]),
    ("/quantlib/portfolio/risk/cvar", &["cvar", "expected_shortfall"]),
    ("/quantlib/portfolio/risk/comprehensive", &["sharpe_ratio", "sortino_ratio", "volatility"]),
    ("/quantlib/risk/var/historical", &["VaR", "var"]),
    ("/quantlib/risk/var/parametric", &["VaR", "var"]),
    ("/quantlib/risk/var/component", &["VaR", "components"]),
    ("/quantlib/risk/backtest", &["breaches", "exceptions"]),
    ("/quantlib/risk/stress/scenario", &["total_pnl", "impacts"]),
];

#[tokio::test]
async fn every_path_costs_five_credits_and_answers_the_fields_that_clients_read() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5 * PATHS.len() as u64).await;
    for (path, fields) in PATHS {
        let operation = &DOCUMENT["paths"][path]["post"];
        assert_eq!((&operation["x-tier"], &operation["x-credits"]), (&json!("PRO"), &json!(5)));
        let body = example_of(&operation["requestBody"]).to_string();
        let answer = app.post(path, Some(&key), &body).await;
        let data = &answer.expect(200)["data"];
        for field in fields {
            assert!(!data[field].is_null(), "{path} {field}: {data}");
        }
        assert_eq!(answer.header("x-credits-cost"), Some("5"), "{path}");
    }
}

/// The answer to a body, or the place, the type and the text of its first fault.
async fn asked(app: &App, key: &str, path: &str, body: &Value) -> Result<Value, Value> {
    let answer = app.post(path, Some(key), &body.to_string()).await;
    if answer.status == 200 {
        return Ok(answer.expect(200)["data"].clone());
    }
    Err(answer.expect(422)["detail"][0].clone())
}

#[tokio::test]
async fn the_defaults_are_those_of_the_list_and_money_is_the_fraction_times_the_value() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let returns = [0.01, -0.02, 0.015, -0.015, 0.005, 0.02];
    let body = json!({ "returns": returns, "confidence": 0.95 });
    let found = asked(&app, &key, "/quantlib/risk/var/historical", &body).await.expect("figures");
    assert_eq!((&found["VaR"], &found["var"]), (&json!(18750.0), &json!(18750.0)));
    assert_eq!(
        (&found["var_fraction"], &found["expected_shortfall_fraction"]),
        (&json!(0.01875), &json!(0.02))
    );
    let body = json!({ "portfolio_value": 1e7, "volatility": 0.02 });
    let found = asked(&app, &key, "/quantlib/risk/var/parametric", &body).await.expect("figures");
    assert_eq!((&found["confidence"], &found["horizon"]), (&json!(0.99), &json!(1.0)));
    let var = found["VaR"].as_f64().expect("a number");
    assert!((var - 465_269.574_808_168).abs() < 1e-6, "{var}");
    let body = json!({ "weights": [1.0], "covariance_matrix": [[0.0004]] });
    let found = asked(&app, &key, "/quantlib/portfolio/risk/var", &body).await.expect("figures");
    let var = found["VaR"].as_f64().expect("a number");
    assert!((var - 0.032_897_072_539_029_45).abs() < 1e-16, "{var}");
}

#[tokio::test]
async fn a_simulation_is_that_of_its_seed_and_near_the_exact_figure() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/quantlib/portfolio/risk/var";
    let body = |seed: u32| {
        json!({ "weights": [0.6, 0.4], "covariance_matrix": [[0.0004, 0.0001], [0.0001, 0.0009]],
                "method": "monte_carlo", "seed": seed })
    };
    let first = asked(&app, &key, path, &body(42)).await.expect("figures");
    assert_eq!(asked(&app, &key, path, &body(42)).await.expect("figures"), first);
    let other = asked(&app, &key, path, &body(7)).await.expect("figures");
    assert_ne!(other["VaR"], first["VaR"]);
    let number = |name: &str| first[name].as_f64().expect("a number");
    let exact = 1.644_853_626_951_472_7 * number("portfolio_volatility");
    let error = (number("var_upper") - number("var_lower")) / 3.92;
    assert!((number("VaR") - exact).abs() < 5.0 * error, "{first}");
}

#[tokio::test]
async fn refusals_name_the_field() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let matrix = json!([[0.0004]]);
    #[rustfmt::skip]
    let rows = [
        ("/quantlib/portfolio/risk/var", json!({ "weights": [1], "covariance_matrix": matrix, "method": "historical" }), json!(["body", "returns"]), "value_error.conflict"),
        ("/quantlib/portfolio/risk/var", json!({ "weights": [1, 2], "covariance_matrix": matrix }), json!(["body", "weights"]), "value_error.shape"),
        ("/quantlib/portfolio/risk/cvar", json!({ "weights": [1], "covariance_matrix": matrix, "confidence": 95 }), json!(["body", "confidence"]), "value_error.number.not_lt"),
        ("/quantlib/portfolio/risk/comprehensive", json!({ "weights": [1], "covariance_matrix": matrix, "benchmark_returns": [0.1, 0.2] }), json!(["body", "returns"]), "value_error.conflict"),
        ("/quantlib/risk/var/historical", json!({ "returns": [] }), json!(["body", "returns"]), "value_error.list.min_items"),
        ("/quantlib/risk/var/parametric", json!({ "portfolio_value": 1, "volatility": -1 }), json!(["body", "volatility"]), "value_error.number.not_ge"),
        ("/quantlib/risk/var/component", json!({ "returns_by_factor": { "a": [0.1, 0.2] }, "weights": { "b": 1 } }), json!(["body", "returns_by_factor"]), "value_error.text"),
        ("/quantlib/risk/var/component", json!({ "returns_by_factor": { "a": [0.1, "x"] }, "weights": { "a": 1 } }), json!(["body", "returns_by_factor", "a", 1]), "type_error.float"),
        ("/quantlib/risk/var/component", json!({ "returns_by_factor": { "a": [0.1, 0.2] }, "weights": {} }), json!(["body", "weights"]), "value_error.dict.min_items"),
        ("/quantlib/risk/var/component", json!({ "returns_by_factor": { "a": [0.1, 0.2] }, "weights": [1] }), json!(["body", "weights"]), "type_error.dict"),
        ("/quantlib/risk/backtest", json!({ "actual_returns": [0.1], "var_estimates": [-0.1] }), json!(["body", "var_estimates"]), "value_error.conflict"),
        ("/quantlib/risk/stress/scenario", json!({ "name": "x", "factor_shocks": { "a": 0.1 }, "exposures": { "b": 1 } }), json!(["body", "factor_shocks"]), "value_error.text"),
        ("/quantlib/risk/stress/scenario", json!({ "name": "", "factor_shocks": { "a": 0.1 } }), json!(["body", "name"]), "value_error.any_str.min_length"),
    ];
    for (path, body, place, kind) in rows {
        let fault = asked(&app, &key, path, &body).await.expect_err(path);
        assert_eq!((&fault["loc"], &fault["type"]), (&place, &json!(kind)), "{path} {body}");
    }
}

#[tokio::test]
async fn components_and_impacts_add_up_to_the_total_bit_for_bit() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let sum = |list: &Value, name: &str| -> f64 {
        list.as_array()
            .expect("a list")
            .iter()
            .map(|part| part[name].as_f64().expect("a number"))
            .sum()
    };
    let body = json!({ "returns_by_factor": { "z": [0.01, -0.02, 0.013], "a": [0.003, 0.001, -0.007] },
                       "weights": { "a": 0.3, "z": 0.7 } });
    let found = asked(&app, &key, "/quantlib/risk/var/component", &body).await.expect("figures");
    assert_eq!(Some(sum(&found["components"], "component_var")), found["VaR"].as_f64());
    // In the order of the request.
    assert_eq!(found["components"][0]["factor"], "z");
    let body =
        json!({ "name": "x", "factor_shocks": { "equity": -0.2, "rates": 0.013, "fx": 0.07 } });
    let found = asked(&app, &key, "/quantlib/risk/stress/scenario", &body).await.expect("a result");
    assert_eq!(Some(sum(&found["impacts"], "pnl")), found["total_pnl"].as_f64());
    assert_eq!((&found["worst_factor"], &found["description"]), (&json!("equity"), &json!("")));
}

/// Portfolios of 1 to 6 assets, each with twenty returns of its own and of a benchmark.
fn portfolios() -> impl Iterator<Item = (Vec<f64>, Vec<Vec<f64>>, Vec<f64>, Vec<f64>)> {
    let draw = |seed: usize| ((seed * 7919 + 104_729) % 10_007) as f64 / 10_007.0 - 0.5;
    (1..=6).map(move |size| {
        let load = |asset: usize, factor: usize| 0.4 * draw(100 * size + 10 * asset + factor);
        let entry = |a: usize, b: usize| {
            let common: f64 = (0..3).map(|factor| load(a, factor) * load(b, factor)).sum();
            if a == b { common + 0.01 } else { common }
        };
        let rows = (0..size).map(|a| (0..size).map(|b| entry(a, b)).collect()).collect();
        let series = |start: usize| (0..20).map(|day| 0.05 * draw(start + 37 * day)).collect();
        (
            (0..size).map(|asset| draw(5000 + asset * size)).collect(),
            rows,
            series(size),
            series(90 + size),
        )
    })
}

#[tokio::test]
async fn the_figures_of_the_report_are_those_of_the_single_computations_bit_for_bit() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1000).await;
    for (weights, matrix, returns, benchmark) in portfolios() {
        let holding = json!({ "weights": weights, "covariance_matrix": matrix });
        let tail = json!({ "weights": weights, "covariance_matrix": matrix, "confidence": 0.9 });
        let series = json!({ "returns": returns, "benchmark_returns": benchmark, "rf_rate": 0.01, "periods_per_year": 12.0 });
        let past = json!({ "returns": returns, "confidence": 0.9 });
        let mut report = tail.clone();
        for (name, value) in series.as_object().expect("an object") {
            report[name] = value.clone();
        }
        let mut found = Vec::new();
        for (path, body) in [
            ("portfolio/risk/comprehensive", &report),
            ("portfolio/risk/contribution", &holding),
            ("portfolio/risk/var", &tail),
            ("portfolio/risk/ratios", &series),
            ("risk/var/historical", &past),
        ] {
            let answer = asked(&app, &key, &format!("/quantlib/{path}"), body).await;
            found.push(answer.unwrap_or_else(|fault| panic!("{path} {fault} {body}")));
        }
        let [report, parts, tail, ratios, past] = &found[..] else { panic!("five answers") };
        for (name, single, of) in [
            ("volatility", parts, "volatility"),
            ("risk_contributions", parts, "risk_contributions"),
            ("percentages", parts, "percentages"),
            ("VaR", tail, "VaR"),
            ("var", tail, "var"),
            ("expected_shortfall", tail, "expected_shortfall"),
            ("cvar", tail, "cvar"),
            ("sharpe_ratio", ratios, "sharpe"),
            ("sortino_ratio", ratios, "sortino"),
            ("calmar_ratio", ratios, "calmar"),
            ("realised_volatility", ratios, "volatility"),
            ("annual_return", ratios, "annual_return"),
            ("max_drawdown", ratios, "max_drawdown"),
            ("beta", ratios, "beta"),
            ("tracking_error", ratios, "tracking_error"),
            ("information_ratio", ratios, "information"),
            ("historical_var", past, "var_fraction"),
            ("historical_expected_shortfall", past, "expected_shortfall_fraction"),
        ] {
            assert!(!single[of].is_null(), "{of}");
            assert_eq!(report[name], single[of], "{name} of {weights:?}");
        }
        let sum: f64 = report["risk_contributions"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|part| part.as_f64().expect("a number"))
            .sum();
        let volatility = report["volatility"].as_f64().expect("a number");
        assert!((sum / volatility - 1.0).abs() < 1e-14, "{sum} {volatility}");
    }
}
