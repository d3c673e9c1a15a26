//! The answer 422: every fault at once, named as by FastAPI with pydantic 1, no value coerced.

use account_core::Tier;
use poem::{Request, http::Method};
use quant_tests::{App, requests::PRICE};
use serde_json::{Value, json};

const BARRIER: &str = "/quantlib/pricing/binomial/barrier";
const SHANNON: &str = "/quantlib/physics/entropy/shannon";
const PORTFOLIO: &str = "/quantlib/portfolio/optimize/min-variance";

async fn refused(path: &str, body: &str) -> Vec<(Value, Value, Value)> {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    let answer = app.post(path, Some(&key), body).await;
    let faults = answer.expect(422)["detail"].as_array().expect("a list of faults").clone();
    faults.into_iter().map(|f| (f["loc"].clone(), f["type"].clone(), f["msg"].clone())).collect()
}

fn fault(loc: Value, kind: &str, msg: &str) -> (Value, Value, Value) {
    (loc, json!(kind), json!(msg))
}

#[tokio::test]
async fn all_faults_come_in_the_order_of_the_fields() {
    let body = r#"{"option_type": "straddle", "volatility": -1, "strike": "40", "spot": null,
                   "dividend_yield": true, "time_to_maturity": 1e400}"#;
    let found = refused(PRICE, &body.replace("1e400", "[]")).await;
    let permitted = "value is not a valid enumeration member; permitted: 'call', 'put'";
    let expected = [
        fault(
            json!(["body", "spot"]),
            "type_error.none.not_allowed",
            "none is not an allowed value",
        ),
        fault(json!(["body", "strike"]), "type_error.float", "value is not a valid float"),
        fault(json!(["body", "risk_free_rate"]), "value_error.missing", "field required"),
        fault(json!(["body", "dividend_yield"]), "type_error.float", "value is not a valid float"),
        fault(
            json!(["body", "volatility"]),
            "value_error.number.not_ge",
            "ensure this value is greater than or equal to 0",
        ),
        fault(
            json!(["body", "time_to_maturity"]),
            "type_error.float",
            "value is not a valid float",
        ),
        fault(json!(["body", "option_type"]), "type_error.enum", permitted),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_whole_number_that_its_type_cannot_hold_is_a_fault_of_its_field() {
    let found = refused("/quantlib/instruments/ois/value", r#"{"payment_lag": -1}"#).await;
    let not_negative = "ensure this value is greater than or equal to 0";
    let expected = fault(json!(["body", "payment_lag"]), "value_error.number.not_ge", not_negative);
    assert!(found.contains(&expected), "{found:?}");

    let add = "/quantlib/scheduling/calendar/add-business-days";
    let found = refused(add, r#"{"date": "2026-11-24", "days": -1e308}"#).await;
    let least = format!("ensure this value is greater than or equal to {}", i64::MIN);
    assert_eq!(found, [fault(json!(["body", "days"]), "value_error.number.not_ge", &least)]);
}

#[tokio::test]
async fn a_number_beyond_a_double_is_no_json() {
    for number in ["1e400", "NaN", "Infinity", "-Infinity", "01", "0x10", ".5"] {
        let body = format!(r#"{{"spot": {number}}}"#);
        let found = refused(PRICE, &body).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].1, "value_error.jsondecode", "{number}");
        assert_eq!(found[0].0[0], "body");
    }
}

#[tokio::test]
async fn an_integral_number_is_an_integer_and_a_fraction_is_not() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    let body = |steps: &str| {
        format!(
            r#"{{"spot": 100, "strike": 100, "risk_free_rate": 0.05, "volatility": 0.2,
                "time_to_maturity": 1, "barrier": 90, "is_knock_in": false, "is_down": true,
                "n_steps": {steps}}}"#
        )
    };
    let five = app.post(BARRIER, Some(&key), &body("5")).await;
    for same in ["5.0", "5e0", "50e-1"] {
        let answer = app.post(BARRIER, Some(&key), &body(same)).await;
        assert_eq!(answer.expect(200), five.expect(200), "{same}");
    }
    for (other, kind) in [
        ("5.5", "type_error.integer"),
        ("\"5\"", "type_error.integer"),
        ("true", "type_error.integer"),
        ("0", "value_error.number.not_ge"),
        ("100001", "value_error.number.not_le"),
        ("1e300", "value_error.number.not_le"),
    ] {
        let answer = app.post(BARRIER, Some(&key), &body(other)).await;
        assert_eq!(answer.expect(422)["detail"][0]["type"], kind, "{other}");
    }
}

#[tokio::test]
async fn a_fault_in_an_array_names_its_place() {
    let body = r#"{"expected_returns": [0.1, "x"], "covariance_matrix": [[1, 0], [0, null]]}"#;
    let found = refused(PORTFOLIO, body).await;
    let expected = [
        fault(
            json!(["body", "expected_returns", 1]),
            "type_error.float",
            "value is not a valid float",
        ),
        fault(
            json!(["body", "covariance_matrix", 1, 1]),
            "type_error.none.not_allowed",
            "none is not an allowed value",
        ),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn an_error_of_the_mathematics_names_its_field() {
    let body = r#"{"expected_returns": [0.1, 0.2], "covariance_matrix": [[1, 0], [0, 1]],
                   "max_weights": [0.4, 0.4]}"#;
    let found = refused(PORTFOLIO, body).await;
    assert_eq!(found[0].0, json!(["body", "max_weights"]));
    assert_eq!(found[0].1, "value_error.infeasible");
}

#[tokio::test]
async fn a_body_that_is_no_object_is_one_fault() {
    #[rustfmt::skip]
    let rows = [
        ("",       "value_error.missing", "field required"),
        ("null",   "value_error.missing", "field required"),
        ("[]",     "type_error.dict",     "value is not a valid dict"),
        ("7",      "type_error.dict",     "value is not a valid dict"),
        ("\"x\"",  "type_error.dict",     "value is not a valid dict"),
    ];
    for (body, kind, msg) in rows {
        assert_eq!(refused(PRICE, body).await, [fault(json!(["body"]), kind, msg)], "{body:?}");
    }
    let blank = refused(PRICE, " ").await;
    assert_eq!((blank.len(), &blank[0].1), (1, &json!("value_error.jsondecode")));
}

#[tokio::test]
async fn the_last_of_two_equal_names_holds() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let body = r#"{"start_date": "nonsense", "tenor": "1M", "start_date": "2024-01-31"}"#;
    let answer = app.post("/quantlib/core/types/tenor/add-to-date", Some(&key), body).await;
    assert_eq!(answer.expect(200)["data"]["result_date"], "2024-02-29");
}

#[tokio::test]
async fn a_body_of_many_faults_is_answered_with_a_hundred() {
    let row = vec![r#""x""#; 1000].join(",");
    let body = format!(r#"{{"expected_returns": [0.1], "covariance_matrix": [[{row}]]}}"#);
    assert_eq!(refused(PORTFOLIO, &body).await.len(), 100);
}

#[tokio::test]
async fn a_list_that_is_too_long_is_one_fault() {
    let zeros = vec!["0"; 1_000_001].join(",");
    let found = refused(SHANNON, &format!(r#"{{"probabilities": [{zeros}], "base": 1}}"#)).await;
    let too_long = "ensure this value has at most 1000000 items";
    let place = json!(["body", "probabilities"]);
    assert_eq!(found, [fault(place, "value_error.list.max_items", too_long)]);
    // A wrong item is not told where there are too many.
    let found = refused(SHANNON, &format!(r#"{{"probabilities": ["x",{zeros}]}}"#)).await;
    let place = json!(["body", "probabilities"]);
    assert_eq!(found, [fault(place, "value_error.list.max_items", too_long)]);
    // A row of a matrix has at most as many items as there may be rows.
    let row = vec!["0"; 1001].join(",");
    let body = format!(r#"{{"expected_returns": [0.1], "covariance_matrix": [[0], [{row}]]}}"#);
    let too_long = "ensure this value has at most 1000 items";
    let place = json!(["body", "covariance_matrix", 1]);
    let expected = fault(place, "value_error.list.max_items", too_long);
    assert_eq!(refused(PORTFOLIO, &body).await, [expected]);
}

#[tokio::test]
async fn faults_in_a_list_of_numbers_are_told_as_in_any_list() {
    let body = r#"{"probabilities": [0.5, 2, null, "x", [1], -1e-3], "base": 0}"#;
    let greater = "ensure this value is greater than or equal to 0";
    let less = "ensure this value is less than or equal to 1";
    let place = |index: usize| json!(["body", "probabilities", index]);
    let null = "none is not an allowed value";
    let expected = [
        fault(place(1), "value_error.number.not_le", less),
        fault(place(2), "type_error.none.not_allowed", null),
        fault(place(3), "type_error.float", "value is not a valid float"),
        fault(place(4), "type_error.float", "value is not a valid float"),
        fault(place(5), "value_error.number.not_ge", greater),
        fault(
            json!(["body", "base"]),
            "value_error.number.not_gt",
            "ensure this value is greater than 0",
        ),
    ];
    assert_eq!(refused(SHANNON, body).await, expected);
    for (list, kind) in [
        ("\"[0.5,0.5]\"", "type_error.list"),
        ("{}", "type_error.list"),
        ("1", "type_error.list"),
        ("1e400", "value_error.jsondecode"),
        ("null", "type_error.none.not_allowed"),
        ("[]", "value_error.list.min_items"),
        ("[0.5, 1e400]", "value_error.jsondecode"),
        ("[0.5, 1e400, \"x\"]", "value_error.jsondecode"),
        ("[0.5, 01]", "value_error.jsondecode"),
    ] {
        let found = refused(SHANNON, &format!(r#"{{"probabilities": {list}}}"#)).await;
        assert_eq!((found.len(), &found[0].1), (1, &json!(kind)), "{list}: {found:?}");
    }
    let position = refused(SHANNON, r#"{"probabilities": [0.5, 1e400]}"#).await[0].0.clone();
    assert_eq!(position, json!(["body", 24]));
}

#[tokio::test]
async fn the_faults_of_a_field_that_comes_twice_are_those_of_the_last() {
    let body = r#"{"probabilities": ["x"], "base": 0, "probabilities": [0.5, 0.5]}"#;
    let found = refused(SHANNON, body).await;
    assert_eq!((found.len(), &found[0].0), (1, &json!(["body", "base"])));
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    let body = r#"{"probabilities": ["x"], "base": 2, "probabilities": [0.5, 0.5]}"#;
    let answer = app.post(SHANNON, Some(&key), body).await;
    assert_eq!(answer.expect(200)["data"]["shannon_entropy"], 1.0);
}

#[tokio::test]
async fn a_field_that_no_operation_reads_is_skipped_whatever_it_holds() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let nested = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let zeros = vec!["0"; 50_000].join(",");
    for junk in [nested.as_str(), &format!("[{zeros}]"), r#"{"a": {"b": null}}"#] {
        let body = format!(r#"{{"junk": {junk}, "start_date": "2024-01-31", "tenor": "1M"}}"#);
        let answer = app.post("/quantlib/core/types/tenor/add-to-date", Some(&key), &body).await;
        assert_eq!(answer.expect(200)["data"]["result_date"], "2024-02-29");
    }
}

#[tokio::test]
async fn a_refusal_repeats_at_most_a_hundred_characters_of_a_value() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let tenor = "7".repeat(200_000);
    let body = format!(r#"{{"start_date": "2024-01-31", "tenor": "{tenor}"}}"#);
    let answer = app.post("/quantlib/core/types/tenor/add-to-date", Some(&key), &body).await;
    let told = answer.expect(422)["detail"][0]["msg"].as_str().expect("a text").to_owned();
    assert!(told.contains(&format!("{}…", &tenor[..100])), "{told}");
    assert!(answer.body_text.len() < 1000, "{} bytes", answer.body_text.len());
    let query = format!("/user/usage?days={}", &tenor[..30_000]);
    let answer = app.get(&query, Some(&key)).await;
    answer.expect(422);
    assert!(answer.body_text.len() < 2000, "{} bytes", answer.body_text.len());
}

#[tokio::test]
async fn ten_faults_have_at_most_4_kilobytes_in_any_script() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let send = async |body: String| {
        let request = Request::builder().method(Method::POST).uri_str("/quantlib/curves/build");
        let request = request.content_type("application/json").header("X-API-Key", &key);
        app.send(request.header("Prefer", "handling=strict").body(body)).await
    };
    for character in ["x", "\u{1f600}", "\"", "\\", "\u{1}"] {
        let long = character.repeat(2_000);
        let instruments: Vec<_> =
            (0..10).map(|_| json!({ "type": "deposit", "tenor": long, "rate": 0.03 })).collect();
        let mut fields = json!({ "reference_date": "2024-01-15", "instruments": instruments });
        let answers = [send(fields.to_string()).await, {
            fields["instruments"] = json!([{ "type": "deposit", "tenor": "1M", "rate": 0.03 }]);
            for at in 0..10 {
                fields[format!("{at}{long}")] = json!(1);
            }
            send(fields.to_string()).await
        }];
        for answer in answers {
            let faults = answer.expect(422)["detail"].as_array().expect("a list").len();
            assert_eq!(faults, 10, "{answer:?}");
            let bytes = answer.body_text.len();
            assert!(bytes <= 4096, "{bytes} bytes of {character:?}: {}", answer.body_text);
        }
    }
}

#[tokio::test]
async fn a_list_of_numbers_with_other_items_has_the_fault_of_each() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 100).await;
    let faults = async |list: &str| {
        let body = format!(r#"{{"probabilities": {list}}}"#);
        let answer = app.post("/quantlib/physics/entropy/shannon", Some(&key), &body).await;
        let faults = answer.expect(422)["detail"].as_array().expect("a list").clone();
        let told = faults.iter().map(|fault| {
            let last = fault["loc"].as_array().expect("a path").last().expect("a step").clone();
            format!("{last} {}", fault["type"].as_str().expect("a text"))
        });
        told.collect::<Vec<_>>()
    };
    let mixed = r#"[0.5, "a,b]", null, [1, [2]], {"c": "}"}, true, -1, 0.25]"#;
    let expected = [
        "1 type_error.float",
        "2 type_error.none.not_allowed",
        "3 type_error.float",
        "4 type_error.float",
        "5 type_error.float",
        "6 value_error.number.not_ge",
    ];
    assert_eq!(faults(mixed).await, expected);
    let beyond = faults(r#"[0.5, "a", 1e999]"#).await;
    assert_eq!(beyond, ["29 value_error.jsondecode"], "the place of the number in the body");
    let long = format!(r#"["x"{}]"#, ",0".repeat(1_000_000));
    assert_eq!(faults(&long).await, [r#""probabilities" value_error.list.max_items"#]);
    assert_eq!(faults("[]").await, [r#""probabilities" value_error.list.min_items"#]);
}

#[tokio::test]
async fn no_answer_holds_a_negative_zero() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    let body = r#"{"func_name": "x2", "x": -0.0}"#;
    let path = "/quantlib/numerical/differentiation/derivative";
    let answer = app.post(path, Some(&key), body).await;
    assert!(!answer.expect(200).to_string().contains("-0.0"), "{answer:?}");
}
