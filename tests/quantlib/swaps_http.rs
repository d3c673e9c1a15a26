//! Swaps, forward rate agreements, deposits and currency forwards over HTTP.

use account_core::Tier;
use quant_server::api::openapi::DOCUMENT;
use quant_tests::App;
use serde_json::{Map, Value, json};

/// The paths of this module in the list of further computations.
const PATHS: [&str; 8] = [
    "/quantlib/instruments/swap/irs/value",
    "/quantlib/instruments/swap/irs/par-rate",
    "/quantlib/instruments/swap/irs/dv01",
    "/quantlib/instruments/ois/value",
    "/quantlib/instruments/fra/value",
    "/quantlib/instruments/fra/break-even",
    "/quantlib/instruments/money-market/deposit",
    "/quantlib/instruments/fx/forward",
];

const SWAP: &str = r#""reference_date": "2024-01-15", "effective_date": "2024-01-15",
    "maturity_date": "2026-01-15", "notional": 1000000, "fixed_rate": 0.03,
    "curve_tenors": [1, 5], "curve_rates": [0.03, 0.04]"#;

const AGREEMENT: &str = r#""trade_date": "2024-01-15", "reference_date": "2024-01-15",
    "start_months": 3, "end_months": 6, "notional": 1000000, "fixed_rate": 0.03,
    "curve_tenors": [1], "curve_rates": [0.03]"#;

/// The entry of a path in the list.
fn listed(path: &str) -> Value {
    let list: Value =
        serde_json::from_str(include_str!("../interface/further.json")).expect("a list");
    let groups = list["groups"].as_object().expect("groups").values();
    let found = groups.filter_map(|group| group.get(path)).next();
    found.unwrap_or_else(|| panic!("{path} is not listed")).clone()
}

/// The example of a path in the document, without the fields that the list does not require.
fn least(path: &str, entry: &Value) -> Map<String, Value> {
    let content = &DOCUMENT["paths"][path]["post"]["requestBody"];
    let example = quant_tests::documented::example_of(content).as_object().expect("an example");
    let required = entry["required"].as_array().expect("names");
    let fields = required.iter().map(|name| name.as_str().expect("a name"));
    fields.map(|name| (name.to_owned(), example[name].clone())).collect()
}

#[tokio::test]
async fn the_listed_fields_are_enough_and_each_of_them_is_needed() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5_000).await;
    for path in PATHS {
        let entry = listed(path);
        let body = least(path, &entry);
        let answer = app.post(path, Some(&key), &Value::Object(body.clone()).to_string()).await;
        let data = &answer.expect(200)["data"];
        for field in entry["answer_fields_read"].as_array().expect("names") {
            let field = field.as_str().expect("a name");
            assert!(data[field].is_number(), "{path} {field}: {data}");
        }
        for name in body.keys() {
            let mut body = body.clone();
            body.remove(name);
            let answer = app.post(path, Some(&key), &Value::Object(body).to_string()).await;
            let expected = json!([{ "loc": ["body", name], "msg": "field required", "type": "value_error.missing" }]);
            assert_eq!(answer.expect(422)["detail"], expected, "{path} {name}");
        }
    }
}

#[test]
fn each_costs_what_the_instruments_cost() {
    for path in PATHS {
        let operation = &DOCUMENT["paths"][path]["post"];
        assert_eq!(
            (&operation["x-tier"], &operation["x-credits"]),
            (&json!("PRO"), &json!(5)),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_swap_is_valued_leg_by_leg() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = format!("{{{SWAP}}}");
    let path = "/quantlib/instruments/swap/irs";
    let answer = app.post(&format!("{path}/value"), Some(&key), &body).await;
    let data = &answer.expect(200)["data"];
    let legs = [&data["fixed_leg"], &data["floating_leg"]];
    assert_eq!(legs.map(|leg| leg.as_array().map(Vec::len)), [Some(4), Some(4)]);
    assert_eq!(data["floating_leg"][0]["rate_source"], "forward");
    let value = |data: &Value, name: &str| data[name].as_f64().expect("a number");
    let difference = value(data, "floating_leg_value") - value(data, "fixed_leg_value");
    assert!((value(data, "npv") - difference).abs() < 1e-9);

    let par = app.post(&format!("{path}/par-rate"), Some(&key), &body).await;
    let par = value(&par.expect(200)["data"], "par_rate");
    assert!((par - value(data, "par_rate")).abs() < 1e-17);
    let risk = app.post(&format!("{path}/dv01"), Some(&key), &body).await;
    let risk = &risk.expect(200)["data"];
    assert!(value(risk, "dv01") > 180.0);
    assert_eq!(risk["buckets"].as_array().map(Vec::len), Some(2));
    let fourth = app.post(&format!("{path}/value"), Some(&key), &body).await;
    assert_eq!(fourth.header("x-credits-cost"), Some("5"));
    assert_eq!(fourth.header("x-credits-balance"), Some("80"));
}

#[tokio::test]
async fn what_a_swap_cannot_have_is_refused_under_its_name() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 500).await;
    let rows = [
        (r#""maturity_date": "2024-01-15""#, "maturity_date"),
        (r#""fixed_rate": 3.0"#, "fixed_rate"),
        (r#""frequency": 5"#, "frequency"),
        (r#""floating_frequency": 7"#, "floating_frequency"),
        (r#""curve_rates": [0.03]"#, "curve_rates"),
        (r#""curve_tenors": [5, 1]"#, "curve_tenors"),
        (r#""discount_tenors": [1, 2]"#, "discount_rates"),
        (r#""discount_tenors": [2, 1], "discount_rates": [0.03, 0.03]"#, "discount_tenors"),
        (r#""discount_tenors": [2], "discount_rates": [3.0]"#, "discount_rates"),
        (r#""swap_type": "buyer""#, "swap_type"),
    ];
    for (field, name) in rows {
        // Of two fields of one name the last counts.
        let body = format!("{{{SWAP}, {field}}}");
        let answer = app.post("/quantlib/instruments/swap/irs/value", Some(&key), &body).await;
        assert_eq!(answer.expect(422)["detail"][0]["loc"][1], name, "{field}");
    }
    let over =
        format!(r#"{{{SWAP}, "effective_date": "2022-01-15", "maturity_date": "2023-01-15"}}"#);
    let answer = app.post("/quantlib/instruments/swap/irs/value", Some(&key), &over).await;
    assert_eq!(answer.expect(200)["data"]["npv"], 0.0);
    let answer = app.post("/quantlib/instruments/swap/irs/par-rate", Some(&key), &over).await;
    assert_eq!(answer.expect(422)["detail"][0]["loc"][1], "maturity_date");
}

#[tokio::test]
async fn an_unknown_overnight_index_is_refused_with_the_known_ones() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/quantlib/instruments/ois/value";
    let body = format!(r#"{{{SWAP}, "index": "SONIA", "payment_lag": 1}}"#);
    let answer = app.post(path, Some(&key), &body).await;
    assert_eq!(answer.expect(200)["data"]["index_day_count"], "ACT/365");
    let answer = app.post(path, Some(&key), &format!(r#"{{{SWAP}, "index": "EONIA"}}"#)).await;
    let fault = &answer.expect(422)["detail"][0];
    assert_eq!((&fault["loc"][1], &fault["type"]), (&json!("index"), &json!("type_error.enum")));
    assert!(fault["msg"].as_str().is_some_and(|text| text.contains("'SOFR'")), "{fault}");
}

#[tokio::test]
async fn an_agreement_is_settled_at_its_start() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/quantlib/instruments/fra";
    let answer = app.post(&format!("{path}/value"), Some(&key), &format!("{{{AGREEMENT}}}")).await;
    let data = answer.expect(200)["data"].clone();
    assert_eq!(
        (&data["start_date"], &data["end_date"]),
        (&json!("2024-04-15"), &json!("2024-07-15"))
    );
    let number = |name: &str| data[name].as_f64().expect("a number");
    assert!((number("npv") - number("settlement_amount") * number("discount_factor")).abs() < 1e-9);
    let rows = [
        (r#""end_months": 3"#, "end_months"),
        (r#""trade_date": "2023-01-15""#, "start_months"),
        (r#""curve_rates": [7]"#, "curve_rates"),
    ];
    for (field, name) in rows {
        let body = format!("{{{AGREEMENT}, {field}}}");
        let answer = app.post(&format!("{path}/break-even"), Some(&key), &body).await;
        assert_eq!(answer.expect(422)["detail"][0]["loc"][1], name, "{field}");
    }
}

#[tokio::test]
async fn a_deposit_earns_simple_interest() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/quantlib/instruments/money-market/deposit";
    let deposit = |maturity: &str| {
        format!(
            r#"{{"start_date": "2024-01-15", "maturity_date": "{maturity}", "notional": 1000000, "rate": 0.05}}"#
        )
    };
    let answer = app.post(path, Some(&key), &deposit("2024-04-15")).await;
    let value = answer.expect(200)["data"]["maturity_value"].as_f64().expect("a number");
    assert!((value - 1_012_638.888_888_889).abs() < 1e-8);
    let answer = app.post(path, Some(&key), &deposit("2024-01-15")).await;
    assert_eq!(answer.expect(422)["detail"][0]["loc"][1], "maturity_date");
}

#[tokio::test]
async fn a_currency_forward_counts_pips_by_its_pair() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/quantlib/instruments/fx/forward";
    let forward = |pair: &str| {
        format!(
            r#"{{"spot_rate": 150, "base_rate": 0.05, "quote_rate": 0.01, "time_to_maturity": 1,
                "notional": 1000000, "pair": "{pair}"}}"#
        )
    };
    let answer = app.post(path, Some(&key), &forward("usd/jpy")).await;
    let data = answer.expect(200)["data"].clone();
    assert_eq!((&data["pair"], &data["pip_size"]), (&json!("USDJPY"), &json!(0.01)));
    let points = data["forward_points"].as_f64().expect("a number");
    // mpmath: 150 (e^{-0.04} - 1).
    assert!((points + 5.881_584_127_151_524).abs() < 1e-13, "{points}");
    for pair in ["USDUSD", "USD", "US1JPY"] {
        let answer = app.post(path, Some(&key), &forward(pair)).await;
        assert_eq!(answer.expect(422)["detail"][0]["loc"][1], "pair", "{pair}");
    }
}
