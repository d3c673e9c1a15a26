//! The metered operations as the generated document describes them, with its examples.

use poem::http::Method;
use quant_server::api::openapi::DOCUMENT;
use serde_json::Value;

/// A metered operation of the generated document.
#[derive(Clone, Debug)]
pub struct Documented {
    /// The operation id.
    pub id: &'static str,
    /// The method of the route.
    pub method: Method,
    /// The path of the route.
    pub path: &'static str,
    /// The example of a request's body; null where the operation takes no body.
    pub request: &'static Value,
    /// The example of an answer.
    pub answer: &'static Value,
    /// The cost of a call in credits, `x-credits` of the document.
    pub credits: u64,
}

/// Every metered operation: those with `x-tier` or `x-credits`, in the order of the document.
#[must_use]
pub fn metered() -> Vec<Documented> {
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods");
        methods.iter().map(move |(method, operation)| (path, method, operation))
    });
    let is_metered = |operation: &Value| {
        operation.get("x-tier").is_some() || operation.get("x-credits").is_some()
    };
    let metered = operations.filter(|(_, _, operation)| is_metered(operation));
    let described = metered.map(|(path, method, operation)| Documented {
        id: operation["operationId"].as_str().expect("an operation id"),
        method: method.to_uppercase().parse().expect("a method"),
        path,
        request: example_of(&operation["requestBody"]),
        answer: example_of(&operation["responses"]["200"]),
        credits: operation["x-credits"].as_u64().expect("a metered operation has x-credits"),
    });
    described.collect()
}

/// The request of the document for each operation, as method, path and body, with a number in place
/// of each parameter.
#[must_use]
pub fn requests() -> Vec<(Method, String, String)> {
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods");
        methods.iter().map(move |(method, operation)| (path, method, operation))
    });
    let requests = operations.map(|(path, method, operation)| {
        let segments = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
        let path = segments.collect::<Vec<_>>().join("/");
        let body = match example_of(&operation["requestBody"]) {
            Value::Null => String::new(),
            example => example.to_string(),
        };
        (method.to_uppercase().parse().expect("a method"), path, body)
    });
    requests.collect()
}

/// The example of a body or an answer: its own, or that of the schema that it refers to; null where
/// there is none.
#[must_use]
pub fn example_of(content: &'static Value) -> &'static Value {
    let content = &content["content"]["application/json"];
    if let Some(own) = content.get("example") {
        return own;
    }
    let schema = &content["schema"]["$ref"];
    let name = schema.as_str().and_then(|text| text.rsplit('/').next()).unwrap_or_default();
    &DOCUMENT["components"]["schemas"][name]["example"]
}
