//! The fields of a schema of the OpenAPI document, as lines of a table.

use serde_json::Value;

use super::markdown::html;
use crate::api::openapi::{DOCUMENT, schema_name};

/// Deepest level of fields that a page shows.
const DEEPEST: usize = 5;

/// A field of a request or an answer, or a parameter.
#[derive(Debug)]
pub(super) struct SchemaField {
    /// The path of the field: `instruments[].tenor`.
    pub(super) path: String,
    /// The type in words: `array of number`.
    pub(super) kind: String,
    pub(super) is_required: bool,
    /// The default as JSON.
    pub(super) default: Option<String>,
    /// The unit of a number.
    pub(super) unit: Option<String>,
    /// The range of values, or the values of a closed set.
    pub(super) range: Option<String>,
    /// The values of a closed set.
    pub(super) choices: Vec<String>,
    /// The description as HTML.
    pub(super) description: String,
    /// Levels above the field.
    pub(super) depth: usize,
    /// The schema of the field, resolved.
    pub(super) schema: &'static Value,
}

/// Follows references, and the one-part combinations that carry a default or a description.
pub(super) fn resolved(schema: &'static Value) -> &'static Value {
    let mut schema = schema;
    loop {
        let reference = schema_name(schema);
        let part =
            ["allOf", "anyOf", "oneOf"].into_iter().find_map(|key| match schema[key].as_array() {
                Some(parts) if parts.len() == 1 => parts.first(),
                _ => None,
            });
        schema = match (reference, part) {
            (Some(name), _) => &DOCUMENT["components"]["schemas"][name],
            (None, Some(part)) => part,
            (None, None) => return schema,
        };
    }
}

/// Lists the fields of an object and of the objects within it.
pub(super) fn fields(schema: &'static Value) -> Vec<SchemaField> {
    let mut fields = Vec::new();
    collect(schema, "", 0, &mut fields);
    fields
}

fn collect(schema: &'static Value, prefix: &str, depth: usize, fields: &mut Vec<SchemaField>) {
    let schema = resolved(schema);
    if depth > DEEPEST {
        return;
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        fields.push(field(path.clone(), property, required.contains(&name.as_str()), depth));
        let found = resolved(property);
        if found["properties"].is_object() {
            collect(found, &format!("{path}."), depth + 1, fields);
        } else if resolved(&found["items"])["properties"].is_object() {
            collect(&found["items"], &format!("{path}[]."), depth + 1, fields);
        }
    }
}

/// Describes a field by its schema.
pub(super) fn field(
    path: String,
    property: &'static Value,
    is_required: bool,
    depth: usize,
) -> SchemaField {
    let schema = resolved(property);
    let own = |key: &str| {
        [property, schema].into_iter().map(|found| &found[key]).find(|value| !value.is_null())
    };
    let choices: Vec<String> =
        schema["enum"].as_array().into_iter().flatten().map(text_of).collect();
    SchemaField {
        path,
        kind: kind(property),
        is_required,
        default: own("default").map(Value::to_string),
        unit: own("x-unit").and_then(Value::as_str).map(str::to_owned),
        range: range(schema),
        choices,
        description: html(own("description").and_then(Value::as_str).unwrap_or_default()),
        depth,
        schema,
    }
}

/// Returns the text of a JSON string, and any other value as JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Names a type in words.
fn kind(schema: &'static Value) -> String {
    let schema = resolved(schema);
    if !schema["enum"].is_null() {
        return "one of".to_owned();
    }
    if let Some(parts) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return parts.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("array"), _) => {
            let or_null = if schema["items"]["nullable"] == true { " or null" } else { "" };
            format!("array of {}{or_null}", kind(&schema["items"]))
        }
        (Some("string"), Some(format @ ("date" | "date-time" | "uuid"))) => format.to_owned(),
        (Some("number"), _) => "number".to_owned(),
        (Some(name), _) => name.to_owned(),
        (None, _) => "any".to_owned(),
    }
}

/// States the limits of a value.
fn range(schema: &Value) -> Option<String> {
    let choices = schema["enum"].as_array().filter(|values| !values.is_empty());
    if let Some(values) = choices {
        return Some(values.iter().map(text_of).collect::<Vec<_>>().join(", "));
    }
    let limit = |key: &str, exclusive: &str, strict: &str, weak: &str| {
        let bound = schema[key].as_f64()?;
        let sign = if schema[exclusive] == true { strict } else { weak };
        Some(format!("{sign} {bound}"))
    };
    let length = |key: &str, words: &str| Some(format!("{words} {}", schema[key].as_u64()?));
    let parts = [
        limit("minimum", "exclusiveMinimum", ">", "≥"),
        limit("maximum", "exclusiveMaximum", "<", "≤"),
        length("minItems", "at least"),
        length("maxItems", "at most"),
        length("maxLength", "length at most"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
