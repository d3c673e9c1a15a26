//! Internal rates, net present values and loans over HTTP.

use account_core::Tier;
use quant_tests::App;
use serde_json::json;

const FINANCE: &str = "/quantlib/solver/finance";

#[tokio::test]
async fn every_internal_rate_is_told_and_charged() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Basic, 2).await;
    let path = format!("{FINANCE}/irr");
    let body = r#"{"cashflows": [-1600, 10000, -10000], "guess": 3}"#;
    let answer = app.post(&path, Some(&key), body).await;
    let data = &answer.expect(200)["data"];
    assert_eq!((&data["irr"], &data["is_unique"]), (&json!(4.0), &json!(false)), "{answer:?}");
    assert_eq!(data["all_rates"], json!([0.25, 4.0]), "{answer:?}");
    assert_eq!(answer.header("x-credits-balance"), Some("1"));
}

#[tokio::test]
async fn dated_payments_have_their_annual_rate() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Basic, 10).await;
    let path = format!("{FINANCE}/xirr");
    let body = r#"{"cashflows": [-100, 110], "dates": ["2025-01-01", "2026-01-01"]}"#;
    let answer = app.post(&path, Some(&key), body).await;
    answer.expect(200);
    assert!((answer.number("/data/xirr") - 0.1).abs() < 1e-15, "{answer:?}");
    let body = r#"{"cashflows": [-100, 110], "dates": ["2025-01-01"]}"#;
    let answer = app.post(&path, Some(&key), body).await;
    assert_eq!(answer.expect(422)["detail"][0]["loc"], json!(["body", "dates"]));
}

#[tokio::test]
async fn payments_without_a_rate_and_times_of_another_number_are_refused() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Basic, 10).await;
    for (name, body, field) in [
        ("irr", r#"{"cashflows": [1, 2]}"#, "cashflows"),
        ("irr", r#"{"cashflows": [1, -2, 2]}"#, "cashflows"),
        ("irr", r#"{"cashflows": [-1, 2], "times": [0]}"#, "times"),
        ("irr", r#"{"cashflows": [-1, 2], "guess": -1}"#, "guess"),
        ("npv", r#"{"cashflows": [1], "rate": -1}"#, "rate"),
        (
            "loan-amortization",
            r#"{"principal": 0.001, "annual_rate": 0, "n_periods": 1}"#,
            "principal",
        ),
        (
            "loan-amortization",
            r#"{"principal": 1, "annual_rate": 5, "n_periods": 1}"#,
            "annual_rate",
        ),
        (
            "loan-amortization",
            r#"{"principal": 1, "annual_rate": 0, "n_periods": 12001}"#,
            "n_periods",
        ),
    ] {
        let answer = app.post(&format!("{FINANCE}/{name}"), Some(&key), body).await;
        let faults = &answer.expect(422)["detail"];
        assert_eq!(faults[0]["loc"][1], json!(field), "{name} {body}: {faults}");
    }
}

#[tokio::test]
async fn a_loan_adds_up_to_the_cent_and_payments_to_their_value() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Basic, 10).await;
    let body = r#"{"principal": 10000, "annual_rate": 0.08, "n_periods": 10}"#;
    let answer = app.post(&format!("{FINANCE}/loan-amortization"), Some(&key), body).await;
    let data = &answer.expect(200)["data"];
    assert_eq!((&data["payment"], &data["schedule"][9]["balance"]), (&json!(1037.03), &json!(0.0)));
    let rows = data["schedule"].as_array().expect("rows");
    let cents = |value: &serde_json::Value| (value.as_f64().expect("an amount") * 100.0).round();
    let paid: f64 = rows.iter().map(|row| cents(&row["principal"])).sum();
    assert_eq!(paid, 1_000_000.0);
    let body = r#"{"cashflows": [-100, 110, 121], "rate": 0.1}"#;
    let answer = app.post(&format!("{FINANCE}/npv"), Some(&key), body).await;
    answer.expect(200);
    assert!((answer.number("/data/npv") - 100.0).abs() < 1e-13, "{answer:?}");
}
