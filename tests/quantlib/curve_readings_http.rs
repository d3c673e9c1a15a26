//! Readings, shifts, fits and bootstraps of a curve over HTTP.

use account_core::Tier;
use quant_server::api::openapi::DOCUMENT;
use quant_tests::{App, documented::example_of};
use serde_json::{Value, json};

const CURVE: &str =
    r#""reference_date": "2024-01-15", "tenors": [1, 2, 5], "values": [0.03, 0.032, 0.036]"#;

/// The listed paths of curves in the group that also lists swaps.
const CURVES: [&str; 6] = [
    "/quantlib/solver/bootstrap/curve",
    "/quantlib/instruments/ois/build-curve",
    "/quantlib/curves/parallel-shift",
    "/quantlib/curves/key-rate-shift",
    "/quantlib/curves/nelson-siegel/fit",
    "/quantlib/curves/nss/fit",
];

#[tokio::test]
async fn a_curve_is_read_at_a_tenor_and_charged() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Standard, 2).await;
    let body = format!(r#"{{{CURVE}, "query_tenor": 1.5}}"#);
    let answer = app.post("/quantlib/curves/zero-rate", Some(&key), &body).await;
    answer.expect(200);
    assert!((answer.number("/data/zero_rate") - 0.031).abs() < 1e-16, "{answer:?}");
    let factor = answer.number("/data/discount_factor");
    // e^-0.0465
    assert!((factor - 0.954_564_560_569_970_3).abs() < 1e-15, "{answer:?}");
    assert_eq!(answer.text("/data/compounding"), "continuous");
    assert_eq!(answer.header("x-credits-balance"), Some("0"));
}

#[tokio::test]
async fn a_date_a_compounding_and_a_day_count_are_used_where_they_are_sent() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Standard, 100).await;
    let body = format!(
        r#"{{{CURVE}, "query_tenor": 9, "query_date": "2025-01-15", "compounding": "simple", "day_count": "ACT/360"}}"#
    );
    let answer = app.post("/quantlib/curves/discount-factor", Some(&key), &body).await;
    answer.expect(200);
    let [factor, rate] =
        ["discount_factor", "zero_rate"].map(|name| answer.number(&format!("/data/{name}")));
    // e^-0.03
    assert!((factor - 0.970_445_533_548_508_2).abs() < 1e-15, "{answer:?}");
    assert!(((1.0 + rate * 366.0 / 360.0) * factor - 1.0).abs() < 1e-15, "{answer:?}");
    let body = format!(r#"{{{CURVE}, "start_tenor": 1, "end_tenor": 2}}"#);
    let answer = app.post("/quantlib/curves/forward-rate", Some(&key), &body).await;
    answer.expect(200);
    assert!((answer.number("/data/forward_rate") - 0.034).abs() < 1e-16, "{answer:?}");
    let body = format!(r#"{{{CURVE}, "query_tenors": [0, 1], "query_dates": ["2026-01-15"]}}"#);
    let answer = app.post("/quantlib/curves/curve-points", Some(&key), &body).await;
    answer.expect(200);
    assert_eq!(answer.number("/data/points/2/tenor"), 2.0);
    assert_eq!(answer.text("/data/points/2/date"), "2026-01-15");
}

#[tokio::test]
async fn what_cannot_be_read_shifted_or_fitted_is_refused_by_name() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    for (path, fields, name) in [
        ("curves/zero-rate", r#""query_tenor": 1, "query_date": "2023-01-01""#, "query_date"),
        ("curves/zero-rate", r#""query_tenor": 1, "day_count": "BUS/252""#, "calendar"),
        ("curves/forward-rate", r#""start_tenor": 2, "end_tenor": 2"#, "end_tenor"),
        (
            "curves/curve-points",
            r#""query_tenors": [], "query_dates": ["2023-01-01"]"#,
            "query_dates",
        ),
        ("curves/parallel-shift", r#""shift_bps": -9000, "space": "discount_factor""#, "values"),
        (
            "curves/key-rate-shift",
            r#""tenor_years": 1, "shift_bps": 1, "width_years": 0"#,
            "width_years",
        ),
        ("curves/nelson-siegel/fit", r#""rates": [0.03, 0.03, 0.03]"#, "tenors"),
        ("curves/nss/fit", r#""rates": [0.03, 0.03, 0.03]"#, "tenors"),
        ("instruments/ois/build-curve", r#""ois_rates": [0.03]"#, "tenors"),
        ("solver/bootstrap/curve", r#""market": "EUR""#, "instruments"),
    ] {
        let body = format!("{{{CURVE}, {fields}}}");
        let answer = app.post(&format!("/quantlib/{path}"), Some(&key), &body).await;
        assert_eq!(answer.expect(422)["detail"][0]["loc"][1], name, "{path} {answer:?}");
    }
}

#[tokio::test]
async fn shifts_answer_the_values_before_and_after() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Standard, 100).await;
    let body = format!(r#"{{{CURVE}, "shift_bps": 25}}"#);
    let answer = app.post("/quantlib/curves/parallel-shift", Some(&key), &body).await;
    assert_eq!(answer.expect(200)["data"]["values"], json!([0.03, 0.032, 0.036]));
    assert_eq!(answer.number("/data/shifted_values/1"), 0.032 + 0.0025);
    let body = format!(r#"{{{CURVE}, "shift_bps": 10, "tenor_years": 2}}"#);
    let answer = app.post("/quantlib/curves/key-rate-shift", Some(&key), &body).await;
    assert_eq!(answer.expect(200)["data"]["weights"], json!([0.5, 1.0, 0.0]));
    assert_eq!(answer.number("/data/shifted_values/2"), 0.036);
}

#[tokio::test]
async fn overnight_rates_without_tenors_are_those_of_the_standard_ones() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = r#"{"reference_date": "2024-01-15", "ois_rates": [0.05, 0.049, 0.048, 0.045]}"#;
    let answer = app.post("/quantlib/instruments/ois/build-curve", Some(&key), body).await;
    answer.expect(200);
    assert_eq!(answer.number("/data/pillars/3/tenor"), 1.0);
    assert!((answer.number("/data/pillars/3/discount_factor") - 1.0 / 1.045).abs() < 1e-15);
    assert!(answer.number("/data/residual") < 1e-14, "{answer:?}");
}

#[tokio::test]
async fn the_listed_curves_answer_their_example_and_every_field_that_clients_read() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let list: Value =
        serde_json::from_str(include_str!("../interface/further.json")).expect("a list");
    let groups = list["groups"].as_object().expect("groups");
    let (_, group) = groups.iter().find(|(name, _)| name.starts_with("2b ")).expect("the group");
    for path in CURVES {
        let example = example_of(&DOCUMENT["paths"][path]["post"]["requestBody"]);
        let answer = app.post(path, Some(&key), &example.to_string()).await;
        let data = &answer.expect(200)["data"];
        for field in group[path]["answer_fields_read"].as_array().into_iter().flatten() {
            let name = field.as_str().expect("a name");
            assert!(data[name].is_number(), "{path} {name}: {data}");
        }
        for (name, kind) in group[path]["request"].as_object().expect("fields") {
            let Some(kind) = kind.as_str().filter(|kind| !kind.contains('?')) else { continue };
            let mut body = example.clone();
            body.as_object_mut().expect("an object").remove(name);
            let answer = app.post(path, Some(&key), &body.to_string()).await;
            let detail = &answer.expect(422)["detail"][0];
            assert_eq!(detail["loc"], json!(["body", name]), "{path} {kind}");
            assert_eq!(detail["msg"], "field required", "{path}");
        }
    }
}
