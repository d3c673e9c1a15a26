//! Company value and scores over HTTP, in the forms that clients send.

use account_core::Tier;
use quant_tests::App;
use serde_json::{Value, json};

const VALUATION: &str = "/quantlib/analysis/valuation";

async fn app_with_key() -> (App, String) {
    let app = App::start().await;
    let key = app.account("ada", Tier::Standard, 100).await;
    (app, key)
}

async fn data(app: &App, key: &str, path: &str, body: &Value) -> Value {
    let answer = app.post(&format!("{VALUATION}{path}"), Some(key), &body.to_string()).await;
    answer.expect(200)["data"].clone()
}

async fn faults(app: &App, key: &str, path: &str, body: &Value) -> Vec<(Value, Value)> {
    let answer = app.post(&format!("{VALUATION}{path}"), Some(key), &body.to_string()).await;
    let faults = answer.expect(422)["detail"].as_array().expect("faults").clone();
    faults.into_iter().map(|fault| (fault["loc"].clone(), fault["type"].clone())).collect()
}

fn missing(path: &[&str]) -> (Value, Value) {
    let mut loc = vec!["body"];
    loc.extend(path);
    (json!(loc), json!("value_error.missing"))
}

#[tokio::test]
async fn a_firm_is_valued_by_its_flows_or_by_their_growth() {
    let (app, key) = app_with_key().await;
    let listed = json!({ "fcff": [110, 121], "wacc": 0.1, "terminal_growth": 0.0, "shares_outstanding": 10 });
    let projected = json!({
        "free_cash_flow": 100, "growth_rate": 0.1, "projection_years": 2, "discount_rate": 0.1,
        "terminal_growth_rate": 0.0, "shares_outstanding": 10,
    });
    for body in [listed, projected] {
        let value = data(&app, &key, "/dcf/fcff", &body).await;
        for field in ["intrinsic_value_per_share", "intrinsic_value", "value_per_share"] {
            assert!(
                value[field].as_f64().is_some_and(|value| (value - 120.0).abs() < 1e-9),
                "{value}"
            );
        }
    }
    assert_eq!(
        faults(&app, &key, "/dcf/fcff", &json!({})).await,
        [missing(&["fcff"]), missing(&["wacc"])]
    );
    let found = faults(&app, &key, "/dcf/fcff", &json!({ "discount_rate": 0.1 })).await;
    assert_eq!(found, [missing(&["free_cash_flow"]), missing(&["growth_rate"])]);
    let found = faults(&app, &key, "/dcf/fcff", &json!({ "fcff": [1], "wacc": 0.02 })).await;
    assert_eq!(found, [(json!(["body", "wacc"]), json!("value_error.domain"))]);
}

#[tokio::test]
async fn statements_and_fields_have_the_same_score() {
    let (app, key) = app_with_key().await;
    let statements = json!({
        "income": { "net_income": 150, "gross_profit": 400, "revenue": 1000 },
        "balance": { "total_assets": 2000, "long_term_debt": 600, "current_ratio": 1.8, "shares_outstanding": 50 },
        "cash_flow": { "operating_cash_flow": 220 },
        "prior_income": { "net_income": 100, "gross_profit": 300, "revenue": 900 },
        "prior_balance": {
            "total_assets": 2000, "long_term_debt": 700, "current_assets": 450, "current_liabilities": 300,
            "shares_outstanding": 50,
        },
    });
    let fields = json!({
        "net_income": 150, "total_assets": 2000, "operating_cashflow": 220, "long_term_debt": 600,
        "current_ratio": 1.8, "shares_outstanding": 50, "gross_profit": 400, "revenue": 1000,
        "prev_net_income": 100, "prev_total_assets": 2000, "prev_long_term_debt": 700,
        "prev_current_assets": 450, "prev_current_liabilities": 300, "prev_shares_outstanding": 50,
        "prev_gross_profit": 300, "prev_revenue": 900,
    });
    let score = data(&app, &key, "/predictive/piotroski-f", &statements).await;
    assert_eq!((&score["f_score"], &score["signals_judged"]), (&json!(9), &json!(9)));
    assert_eq!(data(&app, &key, "/predictive/piotroski-f", &fields).await, score);
    let mut least = fields.clone();
    least.as_object_mut().expect("fields").remove("prev_net_income");
    let without = data(&app, &key, "/predictive/piotroski-f", &least).await;
    assert_eq!((&without["f_score"], &without["signals_judged"]), (&json!(8), &json!(8)));
    least.as_object_mut().expect("fields").remove("prev_revenue");
    let found = faults(&app, &key, "/predictive/piotroski-f", &least).await;
    assert_eq!(found, [missing(&["prev_revenue"])]);
}

#[tokio::test]
async fn what_a_score_needs_is_named_where_it_is_missing() {
    let (app, key) = app_with_key().await;
    let statements = ["income", "balance", "cash_flow", "prior_income", "prior_balance"];
    let expected: Vec<_> = statements.iter().map(|name| missing(&[name])).collect();
    assert_eq!(faults(&app, &key, "/predictive/piotroski-f", &json!({})).await, expected);
    let empty = json!({
        "income": {}, "balance": { "total_assets": 1 }, "prior_income": { "revenue": 1 }, "prior_balance": {},
    });
    let found = faults(&app, &key, "/predictive/beneish-m", &empty).await;
    assert_eq!(
        found,
        [missing(&["income", "revenue"]), missing(&["prior_balance", "total_assets"])]
    );
    let zero = json!({
        "revenue": 1200, "prev_revenue": 1000, "receivables": 100, "prev_receivables": 0, "gross_profit": 400,
        "prev_gross_profit": 300, "total_assets": 2000, "prev_total_assets": 2000, "long_term_debt": 1,
        "prev_long_term_debt": 1, "current_assets": 500, "prev_current_assets": 500, "ppe": 900,
        "prev_ppe": 900, "net_income": 10, "operating_cashflow": 10,
    });
    let found = faults(&app, &key, "/predictive/beneish-m", &zero).await;
    assert_eq!(found, [(json!(["body", "prev_receivables"]), json!("value_error.domain"))]);
    let mut sound = zero;
    sound["prev_receivables"] = json!(100);
    let score = data(&app, &key, "/predictive/beneish-m", &sound).await;
    assert_eq!(score["neutral"], json!(["depi", "sgai"]));
    assert_eq!(score["sgi"], 1.2);
}

#[tokio::test]
async fn a_dictionary_of_one_year_stands_for_both_and_says_so() {
    let (app, key) = app_with_key().await;
    let body = json!({
        "net_income": 150000, "total_assets": 2000000, "operating_cash_flow": 220000, "revenue": 1000000,
    });
    let score = data(&app, &key, "/predictive/beneish-m", &body).await;
    assert_eq!((&score["has_prior_year"], &score["sgi"]), (&json!(false), &json!(1.0)));
    assert_eq!(score["tata"], -0.035);
    let score = data(&app, &key, "/predictive/piotroski-f", &body).await;
    assert_eq!((&score["has_prior_year"], &score["f_score"]), (&json!(false), &json!(3)));
}

#[tokio::test]
async fn distress_is_charged_and_refused() {
    let (app, key) = app_with_key().await;
    let body = json!({
        "working_capital": 200, "total_assets": 2000, "retained_earnings": 400, "ebit": 200,
        "market_cap": 2000, "total_liabilities": 1200, "revenue": 1000,
    });
    let path = format!("{VALUATION}/predictive/altman-z");
    let answer = app.post(&path, Some(&key), &body.to_string()).await;
    assert_eq!(answer.expect(200)["data"]["zone"], "grey");
    assert!((answer.number("/data/altman_z_score") - 2.2295).abs() < 1e-12);
    assert_eq!(answer.header("x-credits-cost"), Some("2"));
    let mut without = body;
    without["total_liabilities"] = json!(0);
    let found = faults(&app, &key, "/predictive/altman-z", &without).await;
    assert_eq!(found, [(json!(["body", "total_liabilities"]), json!("value_error.number.not_gt"))]);
}
