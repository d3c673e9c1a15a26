//! The generated files are current: the document, the table of operations, the list of computations.

use std::fmt::Write as _;

use account_core::Tier;
use poem::http::Method;
use quant_server::api::{openapi, operations::METERED};
use quant_tests::{
    App,
    documented::{example_of, metered},
};
use serde_json::Value;

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
        let is_metered = operation["x-credits"].is_u64();
        let charges = !operation["responses"]["402"].is_null();
        assert_eq!(is_metered, charges, "{}", operation["operationId"]);
        if is_metered { metered += 1 } else { others += 1 }
    }
    assert_eq!(metered, METERED.len());
    assert!(others > 0);
}
