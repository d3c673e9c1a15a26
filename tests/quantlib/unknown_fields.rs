//! Fields of a body that the schema does not have: told in a header, or refused by preference.

use account_core::Tier;
use poem::{Request, http::Method};
use quant_tests::{
    Answer, App,
    requests::{DATE, OPTION, PRICE, TENOR},
};
use serde_json::{Value, json};

const CURVE: &str = "/quantlib/curves/build";

async fn post(app: &App, path: &str, key: &str, body: &str, prefer: &str) -> Answer {
    let request = Request::builder().method(Method::POST).uri_str(path).header("X-API-Key", key);
    let request = request.header("Prefer", prefer).content_type("application/json");
    app.send(request.body(body.to_owned())).await
}

fn with_field(body: &str, name: &str, value: Value) -> String {
    let mut body: Value = serde_json::from_str(body).expect("an object");
    body[name] = value;
    body.to_string()
}

#[tokio::test]
async fn a_misspelt_optional_field_is_ignored_and_told() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let plain = app.post(PRICE, Some(&key), OPTION).await;
    assert_eq!((plain.expect(200), plain.header("x-ignored-fields")), (&plain.body, None));
    let misspelt = with_field(OPTION, "dividend_yeild", json!(0.05));
    let told = app.post(PRICE, Some(&key), &misspelt).await;
    assert_eq!(told.expect(200), &plain.body);
    assert_eq!(told.header("x-ignored-fields"), Some("dividend_yeild"));
    assert_eq!(told.header("preference-applied"), None);
}

#[tokio::test]
async fn a_refused_body_has_its_unknown_fields_told_too() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let answer = app.post(PRICE, Some(&key), r#"{"spott": 100, "b": {"c": [1]}}"#).await;
    assert_eq!(answer.expect(422)["detail"][0]["type"], "value_error.missing");
    assert_eq!(answer.header("x-ignored-fields"), Some("spott, b"));
}

#[tokio::test]
async fn who_prefers_strict_handling_gets_a_refusal_with_the_nearest_field() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let misspelt = with_field(OPTION, "dividend_yeild", json!([[0.05]]));
    let misspelt = with_field(&misspelt, "junk", Value::Null);
    let refused = post(&app, PRICE, &key, &misspelt, "handling=strict").await;
    let extra = |name: &str, msg: &str| json!({ "loc": ["body", name], "msg": msg, "type": "value_error.extra" });
    let near = "extra fields not permitted; the nearest name is dividend_yield";
    let expected = [extra("dividend_yeild", near), extra("junk", "extra fields not permitted")];
    assert_eq!(refused.expect(422)["detail"], json!(expected));
    assert_eq!(refused.header("preference-applied"), Some("handling=strict"));
    assert_eq!(refused.header("x-ignored-fields"), None);
    let charged = post(&app, PRICE, &key, OPTION, "handling=strict").await;
    charged.expect(200);
    assert_eq!(charged.header("preference-applied"), Some("handling=strict"));
    assert_eq!(charged.header("x-credits-balance"), Some("5"), "the refused call was free");
    let misspelt = with_field(DATE, "junk", json!(1));
    let lenient = post(&app, TENOR, &key, &misspelt, "handling=lenient").await;
    assert_eq!(lenient.header("x-ignored-fields"), Some("junk"));
}

#[tokio::test]
async fn faults_of_unknown_fields_follow_those_of_the_known_ones() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let body = r#"{"junk": 1, "tenor": 5}"#;
    let answer = post(&app, TENOR, &key, body, "handling=strict").await;
    let faults = answer.expect(422)["detail"].as_array().expect("faults").clone();
    let fields: Vec<_> = faults.iter().map(|fault| &fault["loc"][1]).collect();
    assert_eq!(fields, ["start_date", "tenor", "junk"]);
}

#[tokio::test]
async fn an_unknown_field_of_a_nested_object_is_told_by_its_place() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Standard, 10).await;
    let instruments = json!([
        { "type": "deposit", "tenor": "6M", "rate": 0.03 },
        { "type": "deposit", "tenor": "1Y", "rate": 0.03, "ratte": 0.04, "rate\r\n,": 1 },
    ]);
    let body = json!({ "reference_date": "2024-01-31", "instruments": instruments }).to_string();
    let told = app.post(CURVE, Some(&key), &body).await;
    assert_eq!(
        told.header("x-ignored-fields"),
        Some("instruments[1].ratte, instruments[1].rate%0D%0A%2C"),
        "{told:?}"
    );
    let refused = post(&app, CURVE, &key, &body, "handling=strict").await;
    let faults = refused.expect(422)["detail"].as_array().expect("faults").clone();
    let extra = faults.iter().filter(|fault| fault["type"] == "value_error.extra");
    let places: Vec<_> = extra.map(|fault| fault["loc"].clone()).collect();
    let place = |name: &str| json!(["body", "instruments", 1, name]);
    assert_eq!(places, [place("ratte"), place("rate\r\n,")], "{refused:?}");
}

#[tokio::test]
async fn a_body_of_unknown_fields_has_a_bounded_answer() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let name = |number: usize| format!(r#""{number}{}": 1"#, "€".repeat(200));
    let fields: Vec<_> = (0..300).map(name).collect();
    let body = format!("{{{}}}", fields.join(","));
    let told = app.post(TENOR, Some(&key), &body).await;
    told.expect(422);
    let header = told.header("x-ignored-fields").expect("names");
    assert!(header.len() <= 1024 && header.ends_with(", ..."), "{header}");
    let refused = post(&app, TENOR, &key, &body, "handling=strict").await;
    assert_eq!(refused.expect(422)["detail"].as_array().map(Vec::len), Some(100));
    assert!(refused.body_text.len() < 40_000, "{} bytes", refused.body_text.len());
}

#[tokio::test]
async fn account_calls_tell_and_refuse_unknown_fields_as_computations_do() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let put = |prefer: &'static str| {
        let request = Request::builder().method(Method::PUT).uri_str("/user/profile");
        let request = request.header("X-API-Key", &key).header("Prefer", prefer);
        let body = r#"{"phone": "1", "credit_balance": 1000000}"#;
        app.send(request.content_type("application/json").body(body))
    };
    let told = put("return=minimal").await;
    told.expect(200);
    assert_eq!(told.header("x-ignored-fields"), Some("credit_balance"));
    let refused = put("handling=strict").await;
    assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["body", "credit_balance"]));
}
