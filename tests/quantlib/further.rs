//! The further computations of the interface, as `tests/interface/further.json` lists them: each group
//! that is built has every path, takes every example, and answers every field that clients read.

use account_core::Tier;
use quant_server::api::openapi::DOCUMENT;
use quant_tests::{Answer, App, documented::example_of};
use serde_json::{Map, Value, json};

/// The groups that are built, by the start of their names: all of the list.
const BUILT: &[&str] = &["1a ", "1b ", "1c ", "1d ", "1e ", "2a ", "2b ", "2c ", "2d ", "2e "];

/// The modules whose endpoints the interface document marks PRO, whatever the list says.
const MARKED_PRO: [&str; 2] = ["/quantlib/pricing/", "/quantlib/instruments/"];

/// The paths of the groups that are built, with their entries.
fn listed() -> Vec<(String, Value)> {
    let text = include_str!("../interface/further.json");
    let list: Value = serde_json::from_str(text).expect("a list");
    let groups = list["groups"].as_object().expect("groups").clone();
    let built = |name: &str| BUILT.iter().any(|start| name.starts_with(start));
    let found = groups.into_iter().filter(|(name, _)| built(name));
    let entries = found.filter_map(|(_, group)| match group {
        Value::Object(entries) => Some(entries),
        _ => None,
    });
    entries.flatten().collect()
}

/// The method of an entry in the document; `post` where the list has none.
fn method_of(entry: &Value) -> String {
    entry["method"].as_str().unwrap_or("POST").to_lowercase()
}

/// The operation of an entry in the document.
fn operation_of(path: &str, entry: &Value) -> &'static Value {
    &DOCUMENT["paths"][path][method_of(entry)]
}

/// The body that the list shows, or else that of the document; empty for a `GET`.
///
/// The example of a score that requires statements is one dictionary of accounts, which is the content of
/// a statement: the list's client keeps one such dictionary for all its calls, and none of the required
/// statements is in it. Each required statement then holds the dictionary.
fn body_of(path: &str, entry: &Value) -> Map<String, Value> {
    if method_of(entry) == "get" {
        return Map::new();
    }
    let shown = entry.get("example");
    let body = shown.unwrap_or_else(|| example_of(&operation_of(path, entry)["requestBody"]));
    let body = body.as_object().unwrap_or_else(|| panic!("{path} has no example")).clone();
    let required = required(entry);
    if required.is_empty() || required.iter().any(|name| body.contains_key(*name)) {
        return body;
    }
    let statement = Value::Object(body);
    required.iter().map(|name| ((*name).to_owned(), statement.clone())).collect()
}

/// The names of the fields that the list requires.
fn required(entry: &Value) -> Vec<&str> {
    let fields = entry["request"].as_object().expect("fields");
    let is_optional = |kind: &Value| kind.as_str().is_none_or(|kind| kind.contains('?'));
    let typed = fields.iter().filter(|(_, kind)| !is_optional(kind)).map(|(name, _)| name.as_str());
    let named = entry["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut required: Vec<_> = typed.collect();
    required.extend(named.filter(|name| !fields.contains_key(*name)));
    required
}

/// Calls an operation by its method.
async fn call(app: &App, path: &str, entry: &Value, key: &str, body: Map<String, Value>) -> Answer {
    match method_of(entry).as_str() {
        "get" => app.get(path, Some(key)).await,
        _ => app.post(path, Some(key), &Value::Object(body).to_string()).await,
    }
}

#[test]
fn every_listed_path_has_the_marker_of_its_module_or_else_the_listed_tier() {
    let listed = listed();
    assert_eq!(listed.len(), 80);
    for (path, entry) in listed {
        let operation = operation_of(&path, &entry);
        let marker = MARKED_PRO.iter().any(|module| path.starts_with(module));
        let (tier, credits) = (&json!("PRO"), &json!(5));
        let (tier, credits) =
            if marker { (tier, credits) } else { (&entry["tier"], &entry["credits"]) };
        assert_eq!((&operation["x-tier"], &operation["x-credits"]), (tier, credits), "{path}");
    }
}

#[test]
fn every_listed_default_is_the_documented_one() {
    let mut held = 0;
    for (path, entry) in listed() {
        let fields = entry["request"].as_object().expect("fields");
        if !fields.values().any(|kind| kind.as_str().is_some_and(|kind| kind.contains(" = "))) {
            continue;
        }
        let body = &operation_of(&path, &entry)["requestBody"]["content"]["application/json"];
        let name = body["schema"]["$ref"].as_str().and_then(|text| text.rsplit('/').next());
        let schemas = &DOCUMENT["components"]["schemas"];
        let properties = &schemas[name.expect("a schema")]["properties"];
        for (field, kind) in fields {
            let text = kind.as_str().expect("a type");
            let Some((_, default)) = text.split_once(" = ") else { continue };
            // What is permitted follows the default.
            let default = default.split(" in ").next().expect("a default");
            let expected: Value = serde_json::from_str(default).expect("a default is JSON");
            let property = &properties[field];
            let referred = property["$ref"].as_str().and_then(|text| text.rsplit('/').next());
            let found = referred.map_or(property, |name| &schemas[name]);
            // Where two fields say the same, neither has a default of its own.
            if found["default"].is_null() && field == "is_payer" {
                continue;
            }
            let same = found["default"] == expected
                || found["default"].as_f64().is_some_and(|found| Some(found) == expected.as_f64());
            assert!(same, "{path} {field}: {found}, expected {expected}");
            held += 1;
        }
    }
    assert!(held >= 14, "{held}");
}

#[tokio::test]
async fn every_listed_example_is_answered_with_the_fields_that_clients_read() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 10_000).await;
    for (path, entry) in listed() {
        let answer = call(&app, &path, &entry, &key, body_of(&path, &entry)).await;
        let data = &answer.expect(200)["data"];
        for field in entry["answer_fields_read"].as_array().into_iter().flatten() {
            let field = field.as_str().expect("a name");
            assert!(
                data.get(field).is_some_and(|value| !value.is_null()),
                "{path} {field}: {data}"
            );
        }
        assert!(!data.as_object().expect("an object").is_empty(), "{path}");
    }
}

#[tokio::test]
async fn a_listed_example_is_answered_as_it_is_too() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 10_000).await;
    for (path, entry) in listed() {
        let Some(example) = entry.get("example") else { continue };
        let answer = app.post(&path, Some(&key), &example.to_string()).await;
        let data = &answer.expect(200)["data"];
        for field in entry["answer_fields_read"].as_array().into_iter().flatten() {
            assert!(!data[field.as_str().expect("a name")].is_null(), "{path} {field}: {data}");
        }
    }
}

#[tokio::test]
async fn every_listed_field_without_a_question_mark_is_required_and_every_other_is_not() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 10_000).await;
    for (path, entry) in listed() {
        let (body, required) = (body_of(&path, &entry), required(&entry));
        for name in &required {
            let mut body = body.clone();
            body.remove(*name);
            let answer = call(&app, &path, &entry, &key, body).await;
            let expected = json!([{ "loc": ["body", name], "msg": "field required", "type": "value_error.missing" }]);
            assert_eq!(answer.expect(422)["detail"], expected, "{path} {name}");
        }
        if required.is_empty() {
            continue;
        }
        let least = body.into_iter().filter(|(name, _)| required.contains(&name.as_str()));
        call(&app, &path, &entry, &key, least.collect()).await.expect(200);
    }
}
