//! `explain=true`: method, conventions, defaults and error of an answer, beside its data.

use account_core::Tier;
use quant_core::NUMERIC_VERSION;
use quant_server::api::openapi::DOCUMENT;
use quant_tests::{
    App,
    documented::example_of,
    mcp::{Era, Host},
    requests::{OPTION, PRICE},
};
use serde_json::{Value, json};

fn explained(path: &str) -> String {
    format!("{path}?explain=true")
}

#[tokio::test]
async fn an_explanation_stands_beside_the_same_data_and_only_on_request() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 20).await;
    let plain = app.post(PRICE, Some(&key), OPTION).await;
    let unasked = app.post(&format!("{PRICE}?explain=false"), Some(&key), OPTION).await;
    assert_eq!(plain.expect(200), unasked.expect(200));
    let members: Vec<&String> = plain.expect(200).as_object().expect("an object").keys().collect();
    assert_eq!(members, ["success", "data"]);
    let answer = app.post(&explained(PRICE), Some(&key), OPTION).await;
    assert_eq!(answer.expect(200)["data"], plain.expect(200)["data"]);
    assert_eq!(answer.header("x-credits-cost"), Some("5"), "the price stays");
    let meta = &answer.expect(200)["meta"];
    assert_eq!(meta["defaults"], json!({ "dividend_yield": 0.0, "option_type": "call" }));
    assert_eq!(meta["numeric_version"], NUMERIC_VERSION);
    assert_eq!(meta["error"]["kind"], "rounding");
    assert_eq!(
        (&meta["error"]["scale"], &meta["error"]["is_bound"]),
        (&json!("relative"), &json!(true))
    );
    assert!(meta["error"]["estimate"].as_f64().is_some_and(|bound| bound > 0.0), "{meta}");
    assert!(meta.get("steps").is_none(), "a closed form has none: {meta}");
    for text in ["/method/name", "/method/source", "/conventions/0", "/error/how"] {
        assert!(meta.pointer(text).is_some_and(Value::is_string), "{text}: {meta}");
    }
}

/// Returns true if a value has a member of this name, at any depth.
fn has_member(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(members) => {
            members.contains_key(name) || members.values().any(|member| has_member(member, name))
        }
        Value::Array(elements) => elements.iter().any(|element| has_member(element, name)),
        _ => false,
    }
}

/// The explained answers to the examples of the metered operations below some paths.
async fn explained_examples(modules: &[&str]) -> Vec<(String, Value)> {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 10_000).await;
    let mut answers = Vec::new();
    for (path, methods) in DOCUMENT["paths"].as_object().expect("paths") {
        let operation = &methods["post"];
        let is_metered = !operation["x-credits"].is_null();
        if !is_metered || !modules.iter().any(|module| path.starts_with(module)) {
            continue;
        }
        let example = example_of(&operation["requestBody"]).to_string();
        let answer = app.post(&explained(path), Some(&key), &example).await;
        let meta = &answer.expect(200)["meta"];
        assert!(
            meta["conventions"].as_array().is_some_and(|all| !all.is_empty()),
            "{path}: {meta}"
        );
        answers.push((path.clone(), answer.expect(200).clone()));
    }
    answers
}

#[tokio::test]
async fn curves_bonds_and_cash_flows_state_the_error_of_a_field_of_their_answer() {
    let modules = ["/quantlib/curves/", "/quantlib/instruments/", "/quantlib/solver/"];
    let mut seen = 0;
    for (path, answer) in explained_examples(&modules).await {
        // A currency option is one of the options, which state the error of all fields at once.
        if path.ends_with("/garman-kohlhagen") {
            continue;
        }
        let (data, error) = (&answer["data"], &answer["meta"]["error"]);
        assert!(error["estimate"].as_f64().is_some_and(|size| size < 1.0), "{path}: {error}");
        let quantity = error["quantity"].as_str().expect("a name");
        assert!(has_member(data, quantity), "{path}: no {quantity} in {data}");
        seen += 1;
    }
    assert!(seen >= 35, "{seen}");
}

#[tokio::test]
async fn options_demand_entropies_and_ratios_state_the_error_of_fields_of_their_answer() {
    let modules = [
        "/quantlib/pricing/",
        "/quantlib/instruments/fx/garman-kohlhagen",
        "/quantlib/numerical/",
        "/quantlib/economics/",
        "/quantlib/physics/entropy/",
        "/quantlib/regulatory/",
    ];
    let answers = explained_examples(&modules).await;
    assert_eq!(answers.len(), 27);
    for (path, answer) in answers {
        let (data, error) = (&answer["data"], &answer["meta"]["error"]);
        // The largest is that of a plain tree of 200 steps, beside a price of 8.
        assert!(error["estimate"].as_f64().is_some_and(|size| size < 1.0), "{path}: {error}");
        let quantity = error["quantity"].as_str().expect("a name");
        let is_named = |name: &str| has_member(data, name);
        assert!(
            quantity.starts_with("every ") || quantity.split(" and ").all(is_named),
            "{path}: no {quantity} in {data}"
        );
    }
}

#[tokio::test]
async fn a_field_that_was_sent_is_no_default() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let mut body: Value = serde_json::from_str(OPTION).expect("an object");
    // The documented default itself, but sent.
    body["dividend_yield"] = json!(0.0);
    let answer = app.post(&explained(PRICE), Some(&key), &body.to_string()).await;
    assert_eq!(answer.expect(200)["meta"]["defaults"], json!({ "option_type": "call" }));
}

#[tokio::test]
async fn a_parameter_that_is_no_boolean_is_refused_and_nothing_charged() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    for name in ["explain", "receipt"] {
        let refused = app.post(&format!("{PRICE}?{name}=yes"), Some(&key), OPTION).await;
        let fault = &refused.expect(422)["detail"][0];
        assert_eq!(
            (&fault["loc"], &fault["type"]),
            (&json!(["query", name]), &json!("type_error.bool"))
        );
    }
    app.post(PRICE, Some(&key), OPTION).await.expect(200);
}

#[tokio::test]
async fn over_mcp_an_explanation_is_in_the_result_and_in_the_stored_envelope() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let arguments: Value = serde_json::from_str(OPTION).expect("an object");
    for era in [Era::Legacy, Era::Current] {
        let host = Host::new(&app, &token, era);
        let plain = host.call("price_european_option", arguments.clone()).await;
        assert!(plain["_meta"].get("meta").is_none(), "{plain}");
        let call = async |meta: Value| {
            let params = json!({
                "name": "price_european_option", "arguments": arguments, "_meta": meta,
            });
            host.ask("tools/call", params).await.expect(200)["result"].clone()
        };
        let result = call(json!({ "explain": true })).await;
        assert_eq!(result["structuredContent"], plain["structuredContent"]);
        assert_eq!(result["content"][0], plain["content"][0], "the data alone");
        let meta = &result["_meta"]["meta"];
        assert_eq!(meta["defaults"], json!({ "dividend_yield": 0.0, "option_type": "call" }));
        let text = result["content"][1]["text"].as_str().expect("the same for a model");
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), json!({ "meta": meta }));
        let read = json!({ "uri": result["_meta"]["result"] });
        let stored = host.ask("resources/read", read).await;
        let stored = stored.text("/result/contents/0/text");
        let stored: Value = serde_json::from_str(&stored).expect("an envelope");
        assert_eq!(stored["data"], plain["structuredContent"]);
        for (name, value) in meta.as_object().expect("an object") {
            assert_eq!(&stored["meta"][name], value, "{name}");
        }
        assert!(stored["meta"]["uri"].is_string(), "beside the facts of the call: {stored}");
        let refused = call(json!({ "explain": "yes" })).await;
        assert_eq!(refused["isError"], true, "{refused}");
        // A model has no `_meta`, but arguments.
        let by_name = json!({
            "name": "price_european_option", "arguments": arguments, "explain": true,
        });
        let by_name = host.call("call_tool", by_name).await;
        assert_eq!(&by_name["_meta"]["meta"], meta);
    }
}

#[tokio::test]
async fn an_explained_call_is_another_request_under_one_idempotency_key() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 20).await;
    let send = async |path: &str| {
        let request = poem::Request::builder().method(poem::http::Method::POST).uri_str(path);
        let request = request.header("X-API-Key", &key).header("Idempotency-Key", "one");
        app.send(request.content_type("application/json").body(OPTION.to_owned())).await
    };
    let path = format!("{PRICE}?explain=true&receipt=true");
    let first = send(&path).await;
    assert!(first.expect(200)["meta"].is_object() && first.expect(200)["receipt"].is_object());
    let again = send(&path).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.body, first.body, "with the same explanation and the same receipt");
    for other in [PRICE.to_owned(), explained(PRICE)] {
        send(&other).await.expect(422);
    }
}

#[tokio::test]
async fn the_numeric_version_is_told_in_readiness_and_document() {
    let app = App::start().await;
    let ready = app.get("/ready", None).await;
    assert_eq!(ready.expect(200)["data"]["numeric_version"], NUMERIC_VERSION);
    let document = app.get("/openapi.json", None).await;
    assert_eq!(document.expect(200)["info"]["x-numeric-version"], NUMERIC_VERSION);
    let answer = &document.expect(200)["components"]["schemas"]["EuropeanOptionPriceAnswer"];
    for part in ["meta", "receipt"] {
        assert!(answer["properties"][part]["$ref"].is_string(), "{part}: {answer}");
    }
}
