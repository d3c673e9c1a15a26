//! The generated files are current: the document, the table of operations, the list of computations.

use std::{collections::HashMap, fmt::Write as _};

use account_core::Tier;
use poem::http::Method;
use quant_server::api::{openapi, operations::METERED, site::errors};
use quant_tests::{
    App,
    documented::{example_of, metered},
};
use serde_json::{Map, Value, json};

/// The text of a file of the repository.
fn file(path: &str) -> String {
    let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_committed_document_is_the_generated_one() {
    assert!(
        file("openapi/openapi.json") == *openapi::TEXT,
        "openapi/openapi.json is stale; run: cargo run -q -- openapi > openapi/openapi.json"
    );
}

#[test]
fn the_committed_table_of_operations_is_the_generated_one() {
    assert!(
        file("openapi/operations.txt") == openapi::operations_table(),
        "openapi/operations.txt is stale; run: cargo run -q -- openapi --operations > openapi/operations.txt"
    );
}

#[test]
fn the_committed_catalogue_of_errors_is_the_generated_one() {
    assert!(
        file("docs/errors.md") == errors::text(),
        "docs/errors.md is stale; run: cargo run -q -- openapi --errors > docs/errors.md"
    );
}

#[test]
fn the_list_of_computations_has_every_metered_endpoint_with_its_tier_and_cost() {
    let list = file("docs/computations.md");
    let table = table_of_computations();
    assert!(list.ends_with(&table), "docs/computations.md should end with this table:\n{table}");
}

/// The table of docs/computations.md, made from the table of tiers and costs.
fn table_of_computations() -> String {
    let mut table =
        "| endpoint (`POST` where no method is named) | tier | credits |\n|---|---|---:|\n"
            .to_owned();
    for operation in METERED {
        let (path, method) = route_of(operation.id);
        let path = if method == "get" { format!("GET {path}") } else { path.to_owned() };
        let (tier, cost) = (operation.tier.name().to_uppercase(), operation.cost);
        writeln!(table, "| `{path}` | {tier} | {cost} |").expect("a string takes every line");
    }
    table
}

/// The path and the method of an operation.
fn route_of(id: &str) -> (&'static str, &'static str) {
    let found = metered().into_iter().find(|operation| operation.id == id);
    let found =
        found.unwrap_or_else(|| panic!("{id} is in the table of costs but has no endpoint"));
    (found.path, if found.method == Method::GET { "get" } else { "post" })
}

#[test]
fn every_metered_operation_documents_the_fault_of_a_reused_idempotency_key() {
    for operation in metered() {
        let faults = &openapi::DOCUMENT["paths"][operation.path]
            [operation.method.as_str().to_lowercase()]["responses"]["422"];
        let examples = &faults["content"]["application/json"]["examples"];
        assert!(examples["reused_idempotency_key"].is_object(), "{}", operation.id);
    }
}

#[test]
fn every_operation_has_the_fields_that_generators_and_readers_need() {
    let paths = openapi::DOCUMENT["paths"].as_object().expect("paths");
    for (path, methods) in paths {
        for operation in methods.as_object().expect("methods").values() {
            for field in ["operationId", "summary", "description", "tags", "security"] {
                assert!(!operation[field].is_null(), "{path} has no {field}");
            }
            let body = &operation["requestBody"];
            if !body.is_null() {
                assert!(!example_of(body).is_null(), "{path} has no example of a request");
            }
            // A redirect has no body, so it has no example.
            let answer = &operation["responses"]["200"];
            let redirects = operation["responses"].get("302").is_some();
            assert!(
                redirects || !example_of(answer).is_null(),
                "{path} has no example of an answer"
            );
        }
    }
}

#[test]
fn every_operation_has_a_summary_of_its_own() {
    let paths = openapi::DOCUMENT["paths"].as_object().expect("paths").values();
    let operations = paths.flat_map(|methods| methods.as_object().expect("methods").values());
    let mut known = HashMap::new();
    for operation in operations {
        let (summary, id) = (&operation["summary"], &operation["operationId"]);
        assert_eq!(known.insert(summary.to_string(), id), None, "{id} repeats {summary}");
    }
}

#[tokio::test]
async fn every_documented_answer_is_what_the_documented_request_gets() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    for operation in METERED {
        let (path, method) = route_of(operation.id);
        let documented = &openapi::DOCUMENT["paths"][path][method];
        let request = example_of(&documented["requestBody"]).to_string();
        let answer = match method {
            "get" => app.get(path, Some(&key)).await,
            _ => app.post(path, Some(&key), &request).await,
        };
        assert_eq!(answer.expect(200), example_of(&documented["responses"]["200"]), "{path}");
    }
}

#[test]
fn every_metered_operation_is_in_the_table_and_every_other_is_not() {
    let paths = openapi::DOCUMENT["paths"].as_object().expect("paths");
    let operations = paths.values().filter_map(Value::as_object).flat_map(|m| m.values());
    let (mut metered, mut others) = (0, 0);
    for operation in operations {
        let cost = operation["x-credits"].as_u64();
        let charges = !operation["responses"]["402"].is_null();
        // Columns cost by rows, and a batch costs what its calls do.
        let marker = cost.or_else(|| operation["x-columns"]["credits"].as_u64());
        let costs = marker.is_some_and(|cost| cost > 0) || operation["operationId"] == "run_batch";
        assert_eq!(costs, charges, "{}", operation["operationId"]);
        if cost.is_some() { metered += 1 } else { others += 1 }
    }
    assert_eq!(metered, METERED.len());
    assert!(others > 0);
}

/// Visits each object of the document with its place, except those in examples and defaults.
fn each_object(value: &Value, place: &str, visit: &mut impl FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            visit(place, fields);
            for (name, field) in fields {
                let is_data = ["example", "examples", "default", "enum"].contains(&name.as_str());
                if place.ends_with("/properties") || !is_data {
                    each_object(field, &format!("{place}/{name}"), visit);
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                each_object(item, &format!("{place}/{at}"), visit);
            }
        }
        _ => {}
    }
}

fn is_number(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|kind| kind == "number" || kind == "integer")
}

#[test]
fn every_number_has_a_unit() {
    let mut missing = Vec::new();
    each_object(&openapi::DOCUMENT, "", &mut |place, schema| {
        if is_number(schema) && !schema.contains_key("x-unit") {
            missing.push(place.replace("/components/schemas/", "").replace("/properties/", "."));
        }
    });
    let missing = missing.join("\n");
    assert!(missing.is_empty(), "no unit in server/src/api/openapi/units.rs for:\n{missing}");
}

/// Visits each numeric field of the schemas, with the name of its schema, its own, its description and
/// its unit.
fn each_numeric_field(visit: &mut impl FnMut(&str, &str, &str, &str)) {
    let schemas = openapi::DOCUMENT["components"]["schemas"].as_object().expect("schemas");
    for (schema, described) in schemas {
        for (field, described) in described["properties"].as_object().into_iter().flatten() {
            if let Some(unit) = unit_of(described) {
                let description = described["description"].as_str().unwrap_or_default();
                visit(schema, field, description, &unit);
            }
        }
    }
}

/// The unit of the first number in a field, its items or its alternatives.
fn unit_of(field: &Value) -> Option<String> {
    let mut unit = None;
    each_object(field, "", &mut |_, schema| {
        if unit.is_none() && is_number(schema) {
            unit = schema.get("x-unit").and_then(Value::as_str).map(str::to_owned);
        }
    });
    unit
}

/// Whether a text has one of the words, whole or with an `s` at the end.
fn names(text: &str, words: &[&str]) -> bool {
    let mut found = text.split(|c: char| !c.is_ascii_alphabetic());
    found.any(|word| words.contains(&word.strip_suffix('s').unwrap_or(word)))
}

#[test]
fn a_number_of_a_day_or_a_period_has_no_unit_of_a_year() {
    let mut faults = Vec::new();
    each_numeric_field(&mut |schema, field, description, unit| {
        let description = description.to_lowercase();
        // A day count gives the length of a period in years.
        let is_annual = names(&description, &["year", "annual", "annually"])
            || description.contains("day count");
        let is_shorter = names(&description, &["day", "daily", "period"]);
        if names(unit, &["year"]) && is_shorter && !is_annual {
            faults.push(format!("{schema}.{field} ({unit}): {description}"));
        }
    });
    assert!(faults.is_empty(), "a unit of server/src/api/openapi/units.rs is wrong:\n{faults:#?}");
}

#[test]
fn a_number_in_another_unit_than_a_year_does_not_call_itself_annual() {
    let mut faults = Vec::new();
    each_numeric_field(&mut |schema, field, description, unit| {
        let of_a_rate = ["an annual decimal", "annual decimals"];
        if of_a_rate.iter().any(|words| description.contains(words)) && !names(unit, &["year"]) {
            faults.push(format!("{schema}.{field} ({unit}): {description}"));
        }
    });
    assert!(faults.is_empty(), "a unit of server/src/api/openapi/units.rs is wrong:\n{faults:#?}");
}

#[test]
fn a_second_name_of_a_number_has_the_same_unit() {
    let schemas = &openapi::DOCUMENT["components"]["schemas"];
    let mut compared = 0;
    each_numeric_field(&mut |schema, field, description, unit| {
        let rest = ["The same as `", "Another name of `"]
            .iter()
            .find_map(|words| description.strip_prefix(words));
        let Some((first, _)) = rest.and_then(|rest| rest.split_once('`')) else { return };
        let expected = unit_of(&schemas[schema]["properties"][first]);
        assert_eq!(Some(unit), expected.as_deref(), "{schema}.{field} and {first}");
        compared += 1;
    });
    assert!(compared > 10, "{compared}");
}

#[test]
fn bounds_of_integers_are_integers() {
    each_object(&openapi::DOCUMENT, "", &mut |place, schema| {
        if schema.get("type").is_some_and(|kind| kind == "integer") {
            for bound in ["minimum", "maximum", "multipleOf"] {
                assert!(!schema.get(bound).is_some_and(Value::is_f64), "{place}/{bound}");
            }
        }
    });
}

#[test]
fn no_example_holds_null() {
    fn nulls(value: &Value, place: &str, found: &mut Vec<String>) {
        match value {
            Value::Null => found.push(place.to_owned()),
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(name, value)| nulls(value, &format!("{place}/{name}"), found));
            }
            Value::Array(items) => items.iter().for_each(|value| nulls(value, place, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    nulls(&openapi::DOCUMENT, "", &mut found);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_reference_leads_to_a_component() {
    each_object(&openapi::DOCUMENT, "", &mut |place, object| {
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').expect("a reference within the document");
            assert!(openapi::DOCUMENT.pointer(pointer).is_some(), "{place}: {reference}");
        }
    });
}

#[test]
fn named_enum_values_have_no_default() {
    // The Python client of openapi-generator 7 takes the default under a name that it does not
    // define, and cannot be imported.
    each_object(&openapi::DOCUMENT, "", &mut |place, schema| {
        let has = |word| schema.contains_key(word);
        assert!(!(has("x-enum-varnames") && has("default")), "{place}");
    });
}

#[test]
fn no_object_has_a_format() {
    // progenitor cannot generate a client from a document with such an object.
    each_object(&openapi::DOCUMENT, "", &mut |place, schema| {
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        assert!(!(is_object && schema.contains_key("format")), "{place}");
    });
}

#[test]
fn headers_are_written_in_their_usual_case() {
    each_object(&openapi::DOCUMENT, "", &mut |place, headers| {
        if place.ends_with("/headers") {
            for name in headers.keys() {
                assert!(name.contains(|c: char| c.is_ascii_lowercase()), "{place}: {name}");
            }
        }
    });
}

/// The parameter of an operation in a header; null where there is none.
fn header_of(path: &str, method: &str, name: &str) -> Value {
    let parameters = &openapi::DOCUMENT["paths"][path][method]["parameters"];
    let mut parameters = parameters.as_array().into_iter().flatten();
    parameters.find(|one| one["name"] == name && one["in"] == "header").cloned().unwrap_or_default()
}

#[tokio::test]
async fn calls_that_read_the_session_declare_its_token() {
    let name = "X-Session-Token";
    assert_eq!(header_of("/user/session-pulse", "get", name)["required"], true);
    for (path, method) in [
        ("/user/logout", "post"),
        ("/user/validate-session", "post"),
        ("/user/sessions", "get"),
        ("/user/sessions", "delete"),
        ("/user/confirm-email", "post"),
    ] {
        assert_eq!(header_of(path, method, name)["required"], false, "{path}");
    }
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.get("/user/session-pulse", Some(&key)).await.expect(401);
    app.post("/user/logout", Some(&key), "").await.expect(200);
}

#[test]
fn calls_with_a_body_declare_the_preference_and_what_they_ignored() {
    let path = "/quantlib/pricing/bs/price";
    for quoted in [path, "/quantlib/pricing/bs/price/columns", "/quantlib/batch"] {
        let preference = header_of(quoted, "post", "Prefer");
        let described = preference["description"].as_str();
        assert!(described.is_some_and(|text| text.contains("With `quote`")), "{quoted}");
    }
    assert!(header_of(path, "post", "Idempotency-Key").is_object());
    let headers = &openapi::DOCUMENT["paths"][path]["post"]["responses"]["200"]["headers"];
    for name in ["X-Ignored-Fields", "Preference-Applied", "X-Request-Id", "Idempotent-Replayed"] {
        assert!(headers[name].is_object(), "{name}");
    }
    let busy = &openapi::DOCUMENT["paths"][path]["post"]["responses"]["503"]["headers"];
    assert!(busy["Retry-After"].is_object());
}

#[test]
fn closed_sets_are_enumerations_and_checked_texts_have_patterns() {
    let schemas = &openapi::DOCUMENT["components"]["schemas"];
    let values = |schema: &str, field: &str| {
        let reference = schemas[schema]["properties"][field]["$ref"].as_str().expect("a reference");
        let name = reference.rsplit('/').next().expect("a name");
        schemas[name]["enum"].as_array().map_or(0, Vec::len)
    };
    for (schema, field, count) in [
        ("Transaction", "kind", 5),
        ("LoginTry", "status", 3),
        ("LoginTry", "method", 3),
        ("KeyOwner", "user_type", 2),
        ("KeyAccount", "account_type", 5),
        ("Profile", "api_key_status", 3),
        ("ServiceState", "status", 2),
        ("BusinessDay", "day_of_week", 7),
        ("NextBusinessDay", "day_of_week", 7),
        ("PreviousBusinessDay", "day_of_week", 7),
        ("AddBusinessDaysResult", "day_of_week", 7),
        ("AdjustedDate", "day_of_week", 7),
        ("AdjustedDate", "adjustment", 5),
        ("AddTenorResult", "convention", 5),
        ("YearFraction", "convention", 14),
        ("GeneratedSchedule", "adjustment", 5),
        ("GeneratedSchedule", "termination_adjustment", 5),
        ("GeneratedSchedule", "stub", 5),
        ("GeneratedSchedule", "roll", 3),
        ("GeneratedSchedule", "day_count", 14),
        ("BeneishScore", "accruals", 3),
        ("Receipt", "format", 1),
        ("Receipt", "detail", 1),
    ] {
        assert_eq!(values(schema, field), count, "{schema}.{field}");
    }
    for (schema, field) in [
        ("RegistrationRequest", "username"),
        ("CodeRequest", "otp"),
        ("AddTenorRequest", "tenor"),
        ("BroadcastRequest", "title"),
        ("CurrencyForwardRequest", "pair"),
    ] {
        assert!(schemas[schema]["properties"][field]["pattern"].is_string(), "{schema}.{field}");
    }
    for (schema, field) in [
        ("RegistrationRequest", "password"),
        ("PasswordChangeRequest", "new_password"),
        ("PasswordResetRequest", "new_password"),
    ] {
        assert_eq!(schemas[schema]["properties"][field]["minLength"], 8, "{schema}.{field}");
    }
    assert_eq!(schemas["RateLimit"]["properties"]["reset_at"]["x-unit"], "Unix seconds");
}

#[test]
fn the_methods_of_recorded_requests_are_those_of_the_operations() {
    let method =
        &openapi::DOCUMENT["components"]["schemas"]["UsageRequest"]["properties"]["method"];
    let mut listed: Vec<&str> =
        method["enum"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let paths = openapi::DOCUMENT["paths"].as_object().expect("paths").values();
    let methods = paths.filter_map(Value::as_object).flat_map(Map::keys);
    // A GET endpoint answers HEAD too.
    let mut expected: Vec<_> =
        methods.map(|one| one.to_uppercase()).chain(["HEAD".into()]).collect();
    expected.sort_unstable();
    expected.dedup();
    listed.sort_unstable();
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn the_served_document_names_the_public_address_of_the_service() {
    let local = App::start().await.get("/openapi.json", None).await;
    assert_eq!(local.expect(200), &*openapi::DOCUMENT);
    let url = "https://api.example.com";
    let public = App::start_with(|config| config.service.public_url = Some(url.to_owned())).await;
    let document = public.get("/openapi.json", None).await;
    assert_eq!(document.expect(200)["servers"], json!([{ "url": url }]));
}

#[tokio::test]
async fn the_limit_of_the_profile_resets_at_a_unix_second() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let answer = app.get("/user/profile", Some(&key)).await;
    let reset = answer.expect(200)["data"]["rate_limit"]["reset_at"].as_i64().expect("a number");
    let second = app.clock.now().timestamp();
    assert!((second..=second + 3660).contains(&reset), "{reset} at {second}");
}
