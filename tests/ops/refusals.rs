//! The documented refusals are those that the service gives, example by example.

use account_core::Tier;
use poem::{Request, RequestBuilder, http::Method};
use quant_server::api::openapi::DOCUMENT;
use quant_tests::{Answer, App, documented::example_of};
use serde_json::Value;

/// An operation of the document.
struct Operation {
    method: Method,
    path: &'static str,
    described: &'static Value,
}

fn operations() -> Vec<Operation> {
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods");
        methods.iter().map(move |(method, described)| (method, path, described))
    });
    let operation = |(method, path, described): (&String, &'static String, &'static Value)| {
        Operation { method: method.to_uppercase().parse().expect("a method"), path, described }
    };
    operations.map(operation).collect()
}

impl Operation {
    /// Returns the example of a refusal; `None` where the operation has no such refusal.
    fn refusal(&self, status: &str, name: &str) -> Option<&'static Value> {
        let content = &self.described["responses"][status]["content"]["application/json"];
        resolved(content["examples"].get(name)?)
    }

    /// Makes a request whose parameters of the path are all `1`.
    fn request(&self, key: Option<&str>) -> RequestBuilder {
        self.request_with(key, "1", "")
    }

    /// Makes a request with a query string, whose parameters of the path are all `parameter`.
    fn request_with(&self, key: Option<&str>, parameter: &str, query: &str) -> RequestBuilder {
        let segments = self.path.split('/');
        let segments = segments.map(|part| if part.starts_with('{') { parameter } else { part });
        let path = segments.collect::<Vec<_>>().join("/");
        let target = format!("{path}?{query}");
        let request = Request::builder().method(self.method.clone()).uri_str(target);
        match key {
            Some(key) => request.header("X-API-Key", key),
            None => request,
        }
    }

    fn takes_body(&self) -> bool {
        self.described.get("requestBody").is_some()
    }

    fn id(&self) -> &'static str {
        self.described["operationId"].as_str().expect("an id")
    }
}

/// The value of an example, which may stand among the components.
fn resolved(example: &'static Value) -> Option<&'static Value> {
    let example = match example["$ref"].as_str() {
        Some(reference) => DOCUMENT.pointer(reference.strip_prefix('#')?)?,
        None => example,
    };
    example.get("value")
}

fn assert_is(answer: &Answer, status: u16, example: &Value, operation: &Operation) {
    assert_eq!(answer.status.as_u16(), status, "{}: {answer:?}", operation.id());
    assert_eq!(answer.body, *example, "{}", operation.id());
}

/// A service whose limit by address lets every operation be called.
async fn start() -> App {
    App::start_with(|config| config.address_limit = 10_000.try_into().expect("not zero")).await
}

#[tokio::test]
async fn a_call_without_a_key_gets_the_documented_refusal() {
    let app = start().await;
    let mut count = 0;
    for operation in operations() {
        let Some(example) = operation.refusal("401", "invalid_key") else { continue };
        let answer = app.send(operation.request(None).finish()).await;
        assert_is(&answer, 401, example, &operation);
        count += 1;
    }
    assert!(count > 60, "{count} operations need a key");
}

#[tokio::test]
async fn a_guest_gets_the_documented_refusal_of_every_account_call() {
    let app = start().await;
    let mut count = 0;
    for operation in operations() {
        let Some(example) = operation.refusal("403", "registered_account_required") else {
            continue;
        };
        let key = app.guest().await;
        let answer = app.send(operation.request(Some(&key)).finish()).await;
        assert_is(&answer, 403, example, &operation);
        app.clock.advance(chrono::TimeDelta::hours(25));
        count += 1;
    }
    assert!(count > 20, "{count} operations are not for guests");
}

#[tokio::test]
async fn a_tier_too_low_and_a_balance_too_low_get_the_documented_refusals() {
    let app = start().await;
    let free = app.account("free", Tier::Free, 0).await;
    let poor = app.account("poor", Tier::Enterprise, 0).await;
    for operation in operations() {
        let cost = operation.described["x-credits"].as_u64();
        let Some(cost) = cost.filter(|&cost| cost > 0) else { continue };
        let tier = operation.described["x-tier"].as_str().expect("a tier").to_lowercase();
        let by_tier = operation.refusal("403", &format!("insufficient_tier_{tier}"));
        let by_balance = operation.refusal("402", &format!("insufficient_credits_{cost}"));
        let answer = app.send(operation.request(Some(&free)).finish()).await;
        assert_is(&answer, 403, by_tier.expect("an example"), &operation);
        let answer = app.send(operation.request(Some(&poor)).finish()).await;
        assert_is(&answer, 402, by_balance.expect("an example"), &operation);
    }
}

/// The request whose faults the document shows.
fn faulty(operation: &Operation, key: &str, faults: &Value) -> Request {
    let first = &faults["detail"][0];
    let place = first["loc"][0].as_str().expect("a place");
    if place == "body" {
        let body = if first["type"] == "type_error.dict" { "[]" } else { "{}" };
        return operation.request(Some(key)).content_type("application/json").body(body);
    }
    let faults = faults["detail"].as_array().expect("faults").iter();
    let names = faults.filter(|fault| fault["loc"][0] == "query");
    let pairs =
        names.filter_map(|fault| fault["loc"][1].as_str()).map(|name| format!("{name}=many"));
    operation.request_with(Some(key), "many", &pairs.collect::<Vec<_>>().join("&")).finish()
}

#[tokio::test]
async fn every_documented_fault_is_what_the_service_answers() {
    let app = start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    let mut count = 0;
    for operation in operations() {
        // The administrator's call refuses others before it reads the body.
        if operation.id() == "broadcast_notification" {
            continue;
        }
        let Some(example) = operation.refusal("422", "faults") else { continue };
        let answer = app.send(faulty(&operation, &key, example)).await;
        assert_is(&answer, 422, example, &operation);
        count += 1;
        let Some(example) = operation.refusal("422", "unknown_field") else { continue };
        let field = example["detail"][0]["loc"][1].as_str().expect("a field");
        let mut body = example_of(&operation.described["requestBody"]).clone();
        body[field] = 1.into();
        let request = operation.request(Some(&key)).header("Prefer", "handling=strict");
        let answer = app.send(request.content_type("application/json").body(body.to_string()));
        assert_is(&answer.await, 422, example, &operation);
    }
    assert!(count > 60, "{count} operations have input");
}

#[tokio::test]
async fn a_body_that_is_no_json_gets_the_documented_refusals() {
    let app = start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    for operation in operations().into_iter().filter(Operation::takes_body) {
        if operation.id() == "broadcast_notification" {
            continue;
        }
        let answer = operation.request(Some(&key)).content_type("text/plain").body("{}");
        let example = operation.refusal("415", "no_json").expect("one");
        assert_is(&app.send(answer).await, 415, example, &operation);
        let answer = operation.request(Some(&key)).header("Content-Encoding", "gzip");
        let answer = app.send(answer.body("{}")).await;
        let example = operation.refusal("415", "compressed_body").expect("one");
        assert_is(&answer, 415, example, &operation);
        assert_eq!(answer.header("accept-encoding"), Some("identity"));
    }
}

#[test]
fn every_refusal_has_the_schema_of_its_status_and_true_examples_of_its_shape() {
    for operation in operations() {
        let answers = operation.described["responses"].as_object().expect("answers");
        let is_computation = operation.path.starts_with("/quantlib/");
        for (status, answer) in answers.iter().filter(|(status, _)| status.as_str() >= "400") {
            let what = format!("{} {status}", operation.id());
            let content = &answer["content"]["application/json"];
            let schema = content["schema"]["$ref"].as_str().expect("a schema");
            let schema = schema.strip_prefix("#/components/schemas/").expect("a schema");
            let expected = match status.as_str() {
                "422" => "ValidationError",
                "401" | "402" | "403" | "409" | "429" | "503" if is_computation => {
                    "ComputationError"
                }
                _ => "AccountError",
            };
            assert_eq!(schema, expected, "{what}");
            let examples = content["examples"].as_object().expect("examples");
            assert!(!examples.is_empty(), "{what} has no example");
            for example in examples.values() {
                let example = resolved(example).expect("a value");
                let fields: Vec<_> = example.as_object().expect("an object").keys().collect();
                let expected: &[&str] = match schema {
                    "AccountError" => &["success", "message", "detail"],
                    _ => &["detail"],
                };
                assert_eq!(fields, expected, "{what}");
                assert_eq!(example["detail"].is_array(), schema == "ValidationError", "{what}");
            }
        }
    }
}
