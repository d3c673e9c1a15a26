//! Bonds at a yield or a price, and their spreads, over HTTP.

use account_core::Tier;
use quant_tests::App;
use serde_json::json;

const BOND: &str = "/quantlib/instruments/bond";
const FINANCE: &str = "/quantlib/solver/finance";

/// The 5¾ % bond to November 2017 of Microsoft's example of PRICE, with `rest` beside.
fn bond(rest: &str) -> String {
    format!(
        r#"{{"issue_date": "2007-11-15", "maturity_date": "2017-11-15", "coupon_rate": 0.0575,
            "day_count": "30/360", {rest}}}"#
    )
}

#[tokio::test]
async fn a_bond_is_priced_at_a_yield_and_the_price_has_that_yield() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let settlement = r#""settlement_date": "2008-02-15""#;
    let body = bond(&format!(r#""yield_rate": 0.065, {settlement}"#));
    let answer = app.post(&format!("{BOND}/fixed/price"), Some(&key), &body).await;
    answer.expect(200);
    let clean = answer.number("/data/clean_price");
    assert!((clean - 94.634_361_62).abs() < 5e-9, "{answer:?}");
    assert_eq!(answer.header("x-credits-balance"), Some("5"));
    let body = bond(&format!(r#""clean_price": {clean:?}, {settlement}"#));
    let answer = app.post(&format!("{BOND}/fixed/yield"), Some(&key), &body).await;
    answer.expect(200);
    assert!((answer.number("/data/yield") - 0.065).abs() < 1e-14, "{answer:?}");
}

#[tokio::test]
async fn cash_flows_are_valued_where_a_yield_or_a_price_is_sent() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let (path, at) = (format!("{BOND}/fixed/cashflows"), r#""settlement_date": "2008-02-15""#);
    let plain = app.post(&path, Some(&key), &bond(at)).await;
    let plain = plain.expect(200)["data"].clone();
    let names: Vec<&String> = plain.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["cashflows", "count", "accrued_interest"]);
    let answer = app.post(&path, Some(&key), &bond(&format!(r#""yield_rate": 0.065, {at}"#))).await;
    let data = &answer.expect(200)["data"];
    assert_eq!(data["cashflows"], plain["cashflows"]);
    let clean = answer.number("/data/valuation/clean_price");
    assert!((clean - 94.634_361_62).abs() < 5e-9, "{answer:?}");
    assert_eq!(data["valuation"]["accrued_interest"], plain["accrued_interest"]);
    let analytics = bond(&format!(r#""yield_rate": 0.065, {at}"#));
    let analytics = app.post(&format!("{BOND}/fixed/analytics"), Some(&key), &analytics).await;
    for name in ["dirty_price", "macaulay_duration", "modified_duration", "convexity", "dv01"] {
        assert_eq!(data["valuation"][name], analytics.expect(200)["data"][name], "{name}");
    }
    let body = bond(&format!(r#""clean_price": {clean:?}, {at}"#));
    let answer = app.post(&path, Some(&key), &body).await;
    assert!((answer.number("/data/valuation/yield_rate") - 0.065).abs() < 1e-14, "{answer:?}");
    assert_eq!(answer.number("/data/valuation/clean_price"), clean);
    let both = bond(&format!(r#""clean_price": 95, "yield_rate": 0.06, {at}"#));
    let refused = app.post(&path, Some(&key), &both).await;
    assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["body", "clean_price"]));
    let low = app.post(&path, Some(&key), &bond(r#""yield_rate": -2"#)).await;
    assert_eq!(low.expect(422)["detail"][0]["loc"], json!(["body", "yield_rate"]));
}

#[tokio::test]
async fn a_bond_may_have_a_long_stub_at_either_end() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = format!("{BOND}/fixed/cashflows");
    // 31 CFR 356, appendix B, section II.C: 8½ % of March 1990 to May 1995, at 8.53 %.
    let note = |stub: &str| {
        format!(
            r#"{{"issue_date": "1990-03-01", "maturity_date": "1995-05-15", "coupon_rate": 0.085,
                "day_count": "ACT/ACT ICMA", "yield_rate": 0.0853, "yield_convention": "treasury",
                "stub": "{stub}"}}"#
        )
    };
    let answer = app.post(&path, Some(&key), &note("long_front")).await;
    answer.expect(200);
    assert!((answer.number("/data/valuation/dirty_price") - 99.805_118).abs() < 5e-7, "{answer:?}");
    assert_eq!(answer.text("/data/cashflows/0/period_end"), "1990-11-15");
    let answer = app.post(&path, Some(&key), &note("long back")).await;
    assert_eq!(answer.text("/data/cashflows/0/period_end"), "1990-09-01");
    let refused = app.post(&path, Some(&key), &note("none")).await;
    assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["body", "stub"]));
    let unknown = app.post(&path, Some(&key), &note("long middle")).await;
    assert_eq!(unknown.expect(422)["detail"][0]["loc"], json!(["body", "stub"]));
}

#[tokio::test]
async fn key_rates_add_up_and_settlement_is_the_issue_where_none_is_sent() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let answer = app
        .post(&format!("{BOND}/fixed/analytics"), Some(&key), &bond(r#""yield_rate": 0.05"#))
        .await;
    let data = &answer.expect(200)["data"];
    assert_eq!(data["settlement_date"], json!("2007-11-15"));
    assert_eq!(data["duration"], data["macaulay_duration"]);
    let parts = data["key_rate_dv01"].as_array().expect("parts");
    let sum: f64 = parts.iter().map(|part| part["dv01"].as_f64().expect("a number")).sum();
    assert!((sum - answer.number("/data/dv01")).abs() < 1e-15, "{answer:?}");
}

#[tokio::test]
async fn a_zero_coupon_bond_without_a_yield_is_not_discounted() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let path = format!("{BOND}/zero-coupon/price");
    let body = r#"{"issue_date": "2025-01-01", "maturity_date": "2027-01-01"}"#;
    let answer = app.post(&path, Some(&key), body).await;
    let data = &answer.expect(200)["data"];
    assert_eq!((&data["price"], &data["yield_rate"]), (&json!(100.0), &json!(0.0)));
    let body = r#"{"issue_date": "2025-01-01", "maturity_date": "2027-01-01", "yield_rate": 0.05}"#;
    let answer = app.post(&path, Some(&key), body).await;
    answer.expect(200);
    assert!((answer.number("/data/price") - 100.0 / 1.1025).abs() < 1e-13, "{answer:?}");
}

#[tokio::test]
async fn spreads_are_told_in_basis_points_too() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Basic, 10).await;
    let answer = app
        .post(
            &format!("{FINANCE}/g-spread"),
            Some(&key),
            r#"{"bond_yield": 0.0525, "govt_yield": 0.04}"#,
        )
        .await;
    assert_eq!(answer.expect(200)["data"], json!({ "g_spread": 0.0125, "g_spread_bps": 125.0 }));
    let body = r#"{"price": 100, "cashflows": [121], "times": [2], "base_rates": [0.04],
        "compounding": "annual"}"#;
    let answer = app.post(&format!("{FINANCE}/z-spread"), Some(&key), body).await;
    answer.expect(200);
    assert!((answer.number("/data/z_spread") - 0.06).abs() < 1e-15, "{answer:?}");
    let body = r#"{"bond_price": 99, "coupon": 0.05, "maturity": 1, "base_rates": [0.0],
        "base_times": [1], "frequency": 1}"#;
    let answer = app.post(&format!("{FINANCE}/asw-spread"), Some(&key), body).await;
    answer.expect(200);
    assert!((answer.number("/data/asw_spread") - 0.06).abs() < 1e-15, "{answer:?}");
}

#[tokio::test]
async fn a_bond_by_years_has_one_answer_on_three_paths() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Basic, 10).await;
    let body = r#"{"coupon": 0.08, "maturity": 8, "ytm": 0.09}"#;
    let mut answers = Vec::new();
    for name in ["duration", "convexity", "dv01"] {
        let answer = app.post(&format!("{FINANCE}/{name}"), Some(&key), body).await;
        answers.push(answer.expect(200)["data"].clone());
    }
    assert!((answers[0]["duration"].as_f64().expect("years") - 5.993_77).abs() < 5e-6);
    assert!((answers[0]["modified_duration"].as_f64().expect("years") - 5.735_67).abs() < 5e-6);
    assert!(answers[0] == answers[1] && answers[1] == answers[2], "{answers:?}");
}

#[tokio::test]
async fn what_a_bond_cannot_have_is_refused_by_its_field() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let dated = |rest: &str| bond(rest);
    for (path, body, field) in [
        (format!("{BOND}/fixed/price"), dated(r#""yield_rate": -2"#), "yield_rate"),
        (format!("{BOND}/fixed/yield"), dated(r#""clean_price": -1"#), "clean_price"),
        (
            format!("{BOND}/fixed/price"),
            dated(r#""yield_rate": 0.05, "settlement_date": "2017-11-15""#),
            "settlement_date",
        ),
        (
            format!("{FINANCE}/duration"),
            r#"{"coupon": 8, "maturity": 8, "ytm": 0.09}"#.to_owned(),
            "coupon",
        ),
        (
            format!("{FINANCE}/dv01"),
            r#"{"coupon": 0.08, "maturity": 8, "ytm": -2}"#.to_owned(),
            "ytm",
        ),
        (
            format!("{FINANCE}/asw-spread"),
            r#"{"bond_price": 99, "coupon": 0.05, "maturity": 1, "base_rates": [0.0, 0.1],
                "base_times": [1, 1]}"#
                .to_owned(),
            "base_times",
        ),
        // The spread is a double, and in basis points it is none.
        (
            format!("{FINANCE}/asw-spread"),
            r#"{"bond_price": 1.28e308, "coupon": 0.05, "maturity": 9, "base_rates": [0.4],
                "base_times": [3]}"#
                .to_owned(),
            "bond_price",
        ),
    ] {
        let answer = app.post(&path, Some(&key), &body).await;
        let faults = &answer.expect(422)["detail"];
        assert_eq!(faults[0]["loc"][1], json!(field), "{path} {body}: {faults}");
    }
}
