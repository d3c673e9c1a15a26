//! The portfolio endpoints over HTTP: what they cost, answer and refuse.

use account_core::Tier;
use quant_server::api::openapi::DOCUMENT;
use quant_tests::{Answer, App};
use serde_json::{Value, json};

const PORTFOLIO: &str = "/quantlib/portfolio";

async fn asked(app: &App, key: &str, path: &str, body: &Value) -> Answer {
    app.post(&format!("{PORTFOLIO}{path}"), Some(key), &body.to_string()).await
}

/// Two uncorrelated assets of volatilities 0.1 and 0.2.
fn two_assets() -> Value {
    json!([[0.01, 0.0], [0.0, 0.04]])
}

#[track_caller]
fn assert_near(found: &Value, expected: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found - expected).abs() < 1e-14, "{found}, expected {expected}");
}

#[tokio::test]
async fn the_largest_sharpe_ratio_is_found_and_charged() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let body = json!({ "expected_returns": [0.06, 0.10], "covariance_matrix": two_assets(),
                       "rf_rate": 0.02 });
    let answer = asked(&app, &key, "/optimize/max-sharpe", &body).await;
    let data = &answer.expect(200)["data"];
    assert_near(&data["weights"][0], 2.0 / 3.0);
    assert_near(&data["sharpe_ratio"], 0.32_f64.sqrt());
    assert_eq!(data["volatility"], data["portfolio_volatility"]);
    assert_eq!(data["expected_return"], data["portfolio_return"]);
    assert_eq!(answer.header("x-credits-balance"), Some("0"));
}

#[tokio::test]
async fn an_asset_without_a_bound_has_null_in_its_place() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    // Without bounds the first asset is sold: its weight is −1.
    let covariance = json!([[0.09, 0.05], [0.05, 0.03]]);
    let body = |min: Value| {
        json!({ "expected_returns": [0.06, 0.10], "covariance_matrix": covariance,
                "min_weights": min, "rf_rate": 0.02 })
    };
    for path in ["min-variance", "max-sharpe", "efficient-frontier"] {
        let path = format!("/optimize/{path}");
        let answers = [json!([null, 0]), json!([null, null]), json!([-50, 0])].map(body);
        let mut found = Vec::new();
        for body in &answers {
            found.push(asked(&app, &key, &path, body).await.expect(200)["data"].clone());
        }
        if path.ends_with("min-variance") {
            assert_eq!(found[0]["weights"], found[1]["weights"]);
            assert_near(&found[0]["weights"][0], -1.0);
            let held = asked(&app, &key, &path, &body(json!([0, null]))).await;
            assert_eq!(held.expect(200)["data"]["weights"], json!([0.0, 1.0]));
        }
    }
    let wrong = asked(&app, &key, "/optimize/min-variance", &body(json!([0, "x"]))).await;
    let fault = &wrong.expect(422)["detail"][0];
    assert_eq!(
        (&fault["loc"], &fault["type"]),
        (&json!(["body", "min_weights", 1]), &json!("type_error.float"))
    );
    let items = &DOCUMENT["components"]["schemas"]["MinVarianceRequest"]["properties"]["min_weights"]
        ["items"];
    assert_eq!((&items["nullable"], &items["type"]), (&json!(true), &json!("number")));
}

#[tokio::test]
async fn a_frontier_has_points_corners_and_tangency() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = json!({ "expected_returns": [0.06, 0.10], "covariance_matrix": two_assets(),
                       "n_points": 3, "min_weights": [0, 0], "at_return": 0.08, "rf_rate": 0.02 });
    let answer = asked(&app, &key, "/optimize/efficient-frontier", &body).await;
    let data = &answer.expect(200)["data"];
    assert_eq!(data["frontier"].as_array().map(Vec::len), Some(3));
    assert_eq!(data["corners"].as_array().map(Vec::len), Some(2));
    assert_near(&data["min_volatility"], 0.008_f64.sqrt());
    assert_eq!(data["max_volatility"], json!(0.2));
    assert_near(&data["tangency"]["weights"][0], 2.0 / 3.0);
    assert_near(&data["at_return"]["weights"][0], 0.5);
    assert_eq!(data["is_unbounded"], false);
    let mut high = body.clone();
    high["rf_rate"] = json!(0.2);
    let answer = asked(&app, &key, "/optimize/efficient-frontier", &high).await;
    assert_eq!(answer.expect(200)["data"]["tangency"], Value::Null);
}

#[tokio::test]
async fn a_group_and_a_limit_of_turnover_bind() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let mut body = json!({ "expected_returns": [0.06, 0.10], "covariance_matrix": two_assets(),
                           "rf_rate": 0.02,
                           "constraints": [{ "coefficients": [1, 0], "max": 0.5 }] });
    let answer = asked(&app, &key, "/optimize/max-sharpe", &body).await;
    assert_near(&answer.expect(200)["data"]["weights"][0], 0.5);
    body["current_weights"] = json!([0.25, 0.75]);
    let refused = asked(&app, &key, "/optimize/max-sharpe", &body).await;
    assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["body", "max_turnover"]));
    body["max_turnover"] = json!(0.25);
    let answer = asked(&app, &key, "/optimize/max-sharpe", &body).await;
    assert_near(&answer.expect(200)["data"]["weights"][0], 0.375);
}

#[tokio::test]
async fn a_frontier_keeps_groups_and_the_limit_of_turnover() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let mut body = json!({ "expected_returns": [0.06, 0.10], "covariance_matrix": two_assets(),
                           "min_weights": [0, 0], "n_points": 3, "rf_rate": 0.02,
                           "constraints": [{ "coefficients": [1, 0], "max": 0.5 }] });
    let answer = asked(&app, &key, "/optimize/efficient-frontier", &body).await;
    let data = &answer.expect(200)["data"];
    assert_near(&data["frontier"][0]["weights"][0], 0.5);
    assert_near(&data["frontier"][1]["weights"][0], 0.25);
    assert_near(&data["frontier"][2]["weights"][0], 0.0);
    assert_near(&data["tangency"]["weights"][0], 0.5);
    body["current_weights"] = json!([0.25, 0.75]);
    body["max_turnover"] = json!(0.25);
    body["at_return"] = json!(0.09);
    let answer = asked(&app, &key, "/optimize/efficient-frontier", &body).await;
    let data = &answer.expect(200)["data"];
    assert_near(&data["corners"][0]["weights"][0], 0.375);
    assert_near(&data["corners"][1]["weights"][0], 0.125);
    assert_near(&data["tangency"]["weights"][0], 0.375);
    assert_near(&data["at_return"]["weights"][0], 0.25);
    body["constraints"][0]["max"] = json!(-0.5);
    let refused = asked(&app, &key, "/optimize/efficient-frontier", &body).await;
    assert_eq!(refused.expect(422)["detail"][0]["type"], json!("value_error.infeasible"));
}

#[tokio::test]
async fn the_least_variance_keeps_to_a_group_and_a_limit_of_turnover() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/optimize/min-variance";
    let mut body = json!({ "expected_returns": [0.06, 0.10], "covariance_matrix": two_assets() });
    let free = asked(&app, &key, path, &body).await;
    assert!(free.number("/data/weights/0") > 0.75, "{free:?}");
    body["constraints"] = json!([{ "coefficients": [1, 0], "max": 0.5 }]);
    let answer = asked(&app, &key, path, &body).await;
    assert_near(&answer.expect(200)["data"]["weights"][0], 0.5);
    body["current_weights"] = json!([0.25, 0.75]);
    body["max_turnover"] = json!(0.25);
    let answer = asked(&app, &key, path, &body).await;
    assert_near(&answer.expect(200)["data"]["weights"][0], 0.375);
}

#[tokio::test]
async fn slsqp_is_answered_by_the_method_that_was_used() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    for (method, used) in [("slsqp", "newton"), ("newton", "newton"), ("ccd", "ccd")] {
        let body = json!({ "covariance_matrix": two_assets(), "method": method });
        let answer = asked(&app, &key, "/risk-parity", &body).await;
        let data = &answer.expect(200)["data"];
        assert_near(&data["weights"][0], 2.0 / 3.0);
        assert_eq!(
            (&data["method"], &data["risk_parity_weights"]),
            (&json!(used), &data["weights"])
        );
        assert!(data["residual"].as_f64().is_some_and(|residual| residual < 1e-15), "{data}");
    }
}

#[tokio::test]
async fn contributions_of_an_answer_add_up_to_the_volatility() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = json!({ "weights": [0.3, 0.3, 0.4],
                       "covariance_matrix": [[0.04, 0.01, 0.02], [0.01, 0.09, 0.03],
                                             [0.02, 0.03, 0.0625]] });
    let answer = asked(&app, &key, "/risk/contribution", &body).await;
    let data = &answer.expect(200)["data"];
    let parts = data["contributions"].as_array().expect("a list");
    let sum: f64 = parts.iter().map(|part| part.as_f64().expect("a number")).sum();
    assert_eq!(Some(sum), data["volatility"].as_f64());
    assert_eq!(data["contributions"], data["risk_contributions"]);
}

#[tokio::test]
async fn a_view_of_half_confidence_goes_half_of_the_way() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let market = json!({ "covariance_matrix": two_assets(), "market_caps": [300, 100] });
    let answer = asked(&app, &key, "/black-litterman/equilibrium", &market).await;
    let data = &answer.expect(200)["data"];
    let implied = &data["implied_returns"];
    assert_eq!(&data["equilibrium_returns"], implied);
    assert_near(&implied[0], 0.01875);
    let plain = asked(&app, &key, "/black-litterman/posterior", &market).await;
    assert_eq!(&plain.expect(200)["data"]["posterior_returns"], implied);
    let mut viewed = market.clone();
    viewed["P"] = json!([[1, 0]]);
    viewed["Q"] = json!([0.04]);
    viewed["confidences"] = json!([0.5]);
    let answer = asked(&app, &key, "/black-litterman/posterior", &viewed).await;
    assert_near(&answer.expect(200)["data"]["posterior_returns"][0], 0.5 * (0.01875 + 0.04));
}

#[tokio::test]
async fn monthly_returns_have_annual_ratios() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = json!({ "returns": [0.02, -0.01, 0.03, 0.0], "periods_per_year": 4 });
    let answer = asked(&app, &key, "/risk/ratios", &body).await;
    let data = &answer.expect(200)["data"];
    assert_near(&data["sortino"], 4.0);
    assert_near(&data["max_drawdown"], 0.01);
    assert_eq!((&data["beta"], &data["rf_rate"]), (&Value::Null, &json!(0.0)));
}

#[tokio::test]
async fn each_listed_field_of_risk_and_views_is_required() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let market = json!({ "covariance_matrix": two_assets(), "market_caps": [1, 1] });
    let weighed = json!({ "covariance_matrix": two_assets(), "weights": [1, 1] });
    for (path, body) in [
        ("/risk/contribution", &weighed),
        ("/black-litterman/equilibrium", &market),
        ("/black-litterman/posterior", &market),
    ] {
        asked(&app, &key, path, body).await.expect(200);
        for name in body.as_object().expect("an object").keys() {
            let mut less = body.clone();
            less.as_object_mut().expect("an object").remove(name);
            let refused = asked(&app, &key, path, &less).await;
            let fault = &refused.expect(422)["detail"][0];
            let expected = (&json!(["body", name]), &json!("value_error.missing"));
            assert_eq!((&fault["loc"], &fault["type"]), expected, "{path}");
        }
    }
}

#[tokio::test]
async fn a_portfolio_has_400_assets_and_a_frontier_300_and_no_more() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let request = |size: usize| {
        let row = |asset| (0..size).map(|other| f64::from(u8::from(asset == other))).collect();
        let rows: Vec<Vec<f64>> = (0..size).map(row).collect();
        let returns = vec![0.1; size];
        json!({ "expected_returns": returns, "covariance_matrix": rows, "target_return": 0.1 })
    };
    for (path, most) in [("max-sharpe", 400), ("target-return", 400), ("efficient-frontier", 300)] {
        let path = format!("/optimize/{path}");
        asked(&app, &key, &path, &request(most)).await.expect(200);
        let refused = asked(&app, &key, &path, &request(most + 1)).await;
        let fault = &refused.expect(422)["detail"][0];
        assert_eq!(fault["loc"], json!(["body", "expected_returns"]), "{fault}");
        assert!(
            fault["msg"].as_str().expect("a text").contains(&format!("at most {most} assets")),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn what_is_undefined_is_refused_with_its_field() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1000).await;
    let assets = json!({ "expected_returns": [0.06, 0.10], "covariance_matrix": two_assets() });
    let with = |name: &str, value: Value| {
        let mut body = assets.clone();
        body[name] = value;
        body
    };
    let market = json!({ "covariance_matrix": two_assets(), "market_caps": [0, 0] });
    let lone = json!({ "covariance_matrix": two_assets(), "market_caps": [1, 1], "P": [[1, 0]] });
    let blank = json!({ "covariance_matrix": two_assets(), "market_caps": [1, 1],
                        "P": [[0, 0]], "Q": [0.1] });
    let mut long_only = with("target_return", json!(0.2));
    long_only["min_weights"] = json!([0, 0]);
    for (path, body, loc, code) in [
        (
            "/optimize/max-sharpe",
            with("rf_rate", json!(0.2)),
            json!(["body", "rf_rate"]),
            "conflict",
        ),
        ("/optimize/target-return", long_only, json!(["body", "target_return"]), "infeasible"),
        (
            "/optimize/efficient-frontier",
            with("at_return", json!(0.01)),
            json!(["body", "at_return"]),
            "infeasible",
        ),
        (
            "/risk-parity",
            json!({ "covariance_matrix": [[0.04, -0.06], [-0.06, 0.09]] }),
            json!(["body", "covariance_matrix"]),
            "conflict",
        ),
        (
            "/risk/contribution",
            json!({ "covariance_matrix": two_assets(), "weights": [1] }),
            json!(["body", "weights"]),
            "shape",
        ),
        (
            "/risk/ratios",
            json!({ "returns": [0.01, 0.02] }),
            json!(["body", "returns"]),
            "conflict",
        ),
        ("/black-litterman/equilibrium", market, json!(["body", "market_caps"]), "sum"),
        ("/black-litterman/posterior", lone, json!(["body", "Q"]), "conflict"),
        ("/black-litterman/posterior", blank, json!(["body", "P", 0]), "domain"),
    ] {
        let refused = asked(&app, &key, path, &body).await;
        let fault = &refused.expect(422)["detail"][0];
        assert_eq!((&fault["loc"], &fault["type"]), (&loc, &json!(format!("value_error.{code}"))));
    }
}
