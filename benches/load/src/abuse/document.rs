//! The schemas, examples and bodies of the generated document.

use quant_server::api::openapi::DOCUMENT;
use serde_json::Value;

/// The schema that a reference names, or the schema itself.
pub(super) fn resolved(schema: &'static Value) -> &'static Value {
    let reference = schema.get("$ref").or_else(|| schema["allOf"][0].get("$ref"));
    let name = reference.and_then(Value::as_str).and_then(|text| text.rsplit('/').next());
    name.map_or(schema, |name| &DOCUMENT["components"]["schemas"][name])
}

/// The example of a body: its own, or that of its schema.
pub(super) fn example_of(content: &'static Value) -> &'static Value {
    content.get("example").unwrap_or_else(|| &resolved(&content["schema"])["example"])
}

/// The body of the operation with this id.
pub(super) fn request_of(id: &str) -> Option<&'static Value> {
    let paths = DOCUMENT["paths"].as_object()?.values();
    let mut operations = paths.filter_map(Value::as_object).flat_map(serde_json::Map::values);
    let found = operations.find(|operation| operation["operationId"] == id)?;
    Some(&found["requestBody"]["content"]["application/json"])
}
