//! `detail=full`: the further fields of answers whose fields the interface lists. The answers that it
//! leaves open have them always.

use account_core::Tier;
use quant_tests::App;

const CAPITAL: &str = r#"{"cet1_capital": 4.5, "tier1_capital": 5, "total_capital": 9,
    "risk_weighted_assets": 100, "total_exposure": 200}"#;
const EXCHANGE: &str =
    r#"{"S1": 22, "S2": 20, "sigma1": 0.2, "sigma2": 0.15, "rho": -0.5, "time_to_maturity": 0.1}"#;
const BARRIER: &str = r#"{"spot": 100, "strike": 100, "risk_free_rate": 0.05, "volatility": 0.25,
    "time_to_maturity": 1, "n_steps": 100, "method": "LR", "barrier": 85, "is_knock_in": false, "is_down": true}"#;
const PORTFOLIO: &str = r#"{"expected_returns": [0.05, 0.06], "covariance_matrix": [[0.25, 0], [0, 0.75]],
    "max_weights": [0.5, 1]}"#;

const LIMITED: &str = r#"{"expected_returns": [0.05, 0.06], "covariance_matrix": [[0.25, 0], [0, 0.75]],
    "max_weights": [0.7, null], "constraints": [{"coefficients": [1, 0], "max": 0.5}],
    "current_weights": [0.4, 0.6], "max_turnover": 0.2}"#;
/// Y repeats X one step later, and X has each triple of values once.
const TRANSFER: &str = r#"{"x_history": [0, 0, 0, 1, 0, 1, 1, 1, 0],
    "y_history": [1, 0, 0, 0, 1, 0, 1, 1, 1], "n_bins": 2}"#;
const SHANNON: &str = r#"{"probabilities": [0.5, 0.25, 0.25], "base": 2}"#;
const ROOT: &str = r#"{"func_name": "sqrt", "x": 0.25, "method": "forward", "h": 0.5}"#;

const BILL: &str =
    r#"{"settlement_date": "2023-09-01", "maturity_date": "2024-06-01", "discount_rate": 0.05}"#;
const TENOR: &str = r#"{"start_date": "2024-01-31", "tenor": "2M", "calendar": "TARGET",
    "convention": "modified following"}"#;

#[tokio::test]
async fn further_fields_come_on_request_alone() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    for (path, body, fields) in [
        ("regulatory/basel/capital-ratios", CAPITAL, &["cet1_surplus", "leverage_surplus"][..]),
        ("pricing/margrabe", EXCHANGE, &["call_delta1", "put_delta2", "spread_volatility"][..]),
        ("pricing/binomial/barrier", BARRIER, &["steps_used", "continuous_price"][..]),
        ("portfolio/optimize/min-variance", PORTFOLIO, &["budget_multiplier"][..]),
        ("physics/entropy/transfer", TRANSFER, &["reverse_transfer_entropy", "triples"][..]),
        ("numerical/differentiation/derivative", ROOT, &["h", "analytic_derivative"][..]),
    ] {
        let path = format!("/quantlib/{path}");
        let listed = app.post(&path, Some(&key), body).await;
        let listed = &listed.expect(200)["data"];
        let full = app.post(&format!("{path}?detail=full"), Some(&key), body).await;
        let full = &full.expect(200)["data"];
        for field in fields {
            assert!(listed.get(field).is_none(), "{path} {field}: {listed}");
            assert!(full[field].is_number(), "{path} {field}: {full}");
        }
        for (name, value) in listed.as_object().expect("an object") {
            assert_eq!(&full[name], value, "{path} {name}");
        }
    }
}

#[tokio::test]
async fn the_figures_of_the_further_fields_are_right() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    let path = "/quantlib/pricing/binomial/barrier?detail=full";
    let answer = app.post(path, Some(&key), BARRIER).await;
    assert_eq!(answer.expect(200)["data"]["hit_at_start"], false);
    assert_eq!(answer.number("/data/steps_used"), 101.0);
    let path = "/quantlib/portfolio/optimize/min-variance?detail=full";
    let answer = app.post(path, Some(&key), PORTFOLIO).await;
    assert_eq!(answer.expect(200)["data"]["binding_bounds"], serde_json::json!(["upper", "none"]));
    assert_eq!(answer.number("/data/bound_multipliers/0"), -0.5);
    let path = "/quantlib/regulatory/basel/capital-ratios?detail=full";
    let answer = app.post(path, Some(&key), CAPITAL).await;
    assert_eq!(answer.expect(200)["data"]["leverage_adequate"], false);
    assert_eq!(answer.number("/data/tier1_surplus"), -1.0);
}

#[tokio::test]
async fn entropies_have_their_unit_and_both_directions() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    let path = "/quantlib/physics/entropy/transfer?detail=full";
    let answer = app.post(path, Some(&key), TRANSFER).await;
    assert_eq!(answer.expect(200)["data"]["unit"], "nats");
    assert_eq!(answer.number("/data/triples"), 8.0);
    let reversed = TRANSFER.replace("x_history", "z").replace("y_history", "x_history");
    let reversed = reversed.replace("\"z\"", "\"y_history\"");
    let back = app.post("/quantlib/physics/entropy/transfer", Some(&key), &reversed).await;
    assert_eq!(answer.number("/data/transfer_entropy"), std::f64::consts::LN_2);
    assert_eq!(answer.number("/data/reverse_transfer_entropy"), 0.0);
    assert_eq!(back.number("/data/transfer_entropy"), 0.0);
    let path = "/quantlib/physics/entropy/shannon";
    let full = format!("{path}?detail=full");
    let named = [("2", "bits"), ("3", "trits"), ("10", "hartleys"), ("7", "units of the base")];
    for (base, unit) in named {
        let body = SHANNON.replace("\"base\": 2", &format!("\"base\": {base}"));
        assert!(app.post(path, Some(&key), &body).await.expect(200)["data"]["unit"].is_null());
        assert_eq!(app.post(&full, Some(&key), &body).await.expect(200)["data"]["unit"], unit);
    }
    let answer = app.post(&full, Some(&key), r#"{"probabilities": [1]}"#).await;
    assert_eq!(answer.expect(200)["data"]["unit"], "nats");
}

#[tokio::test]
async fn a_derivative_that_does_not_exist_is_null() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Basic, 100).await;
    let path = "/quantlib/numerical/differentiation/derivative?detail=full";
    let answer = app.post(path, Some(&key), ROOT).await;
    assert_eq!((answer.number("/data/h"), answer.number("/data/analytic_derivative")), (0.5, 1.0));
    // The root at 0 has none, and that of a logarithm near 0 is no double.
    for body in [
        r#"{"func_name": "sqrt", "x": 0, "method": "forward"}"#,
        r#"{"func_name": "log", "x": 5e-324, "method": "forward", "h": 1}"#,
    ] {
        let answer = app.post(path, Some(&key), body).await;
        let data = answer.expect(200)["data"].as_object().expect("an object");
        assert!(data["derivative"].is_number(), "{data:?}");
        assert_eq!(data.get("analytic_derivative"), Some(&serde_json::Value::Null));
    }
}

#[tokio::test]
async fn limits_that_hold_a_portfolio_are_told() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/quantlib/portfolio/optimize/min-variance";
    let listed = app.post(path, Some(&key), LIMITED).await;
    let listed = listed.expect(200)["data"].clone();
    let answer = app.post(&format!("{path}?detail=full"), Some(&key), LIMITED).await;
    let data = &answer.expect(200)["data"];
    assert!(listed.get("binding_constraints").is_none(), "{listed}");
    assert_eq!(data["weights"], listed["weights"]);
    assert_eq!(data["binding_bounds"], serde_json::json!(["none", "none"]));
    assert_eq!(data["binding_constraints"], serde_json::json!(["upper"]));
    // Both weights move by a tenth.
    assert_eq!(data["is_turnover_binding"], true);
    let parts = [0, 1].map(|index| answer.number(&format!("/data/risk_contributions/{index}")));
    assert!((parts[0] + parts[1] - answer.number("/data/volatility")).abs() < 1e-15, "{parts:?}");
    assert!(data.get("budget_multiplier").is_none());
}

#[tokio::test]
async fn a_bill_has_its_day_counts_always() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/quantlib/instruments/money-market/tbill";
    let answer = app.post(path, Some(&key), BILL).await;
    assert_eq!(answer.expect(200)["data"]["basis"], "ACT/360");
    // The year that follows the settlement holds 29 February 2024; the bill runs 274 days of it.
    assert_eq!(answer.number("/data/days_in_year"), 366.0);
    assert_eq!(answer.expect(200)["data"]["is_beyond_half_year"], true);
}

#[tokio::test]
async fn a_tenor_leads_to_a_business_day_where_a_convention_asks_for_it() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let path = "/quantlib/core/types/tenor/add-to-date";
    let answer = app.post(path, Some(&key), TENOR).await;
    // 31 March 2024 is Easter Sunday, and 29 March Good Friday.
    let expected = serde_json::json!({
        "result_date": "2024-03-28", "tenor": "2M", "start_date": "2024-01-31",
        "unadjusted_date": "2024-03-31", "is_business_day": true, "calendar": "TARGET",
        "convention": "modified following",
    });
    assert_eq!(answer.expect(200)["data"], expected);
}

#[tokio::test]
async fn another_detail_is_refused_and_nothing_charged() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let path = "/quantlib/pricing/margrabe?detail=some";
    let answer = app.post(path, Some(&key), EXCHANGE).await;
    assert_eq!(answer.expect(422)["detail"][0]["loc"], serde_json::json!(["query", "detail"]));
    let answer = app.post("/quantlib/pricing/margrabe", Some(&key), EXCHANGE).await;
    answer.expect(200);
    assert_eq!(answer.header("x-credits-balance"), Some("0"));
}
