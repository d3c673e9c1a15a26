//! The conversion of the document's schemas (OpenAPI 3.0) to JSON Schema 2020-12.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::api::openapi::schema_name;

/// Converts a schema to JSON Schema without references.
///
/// `nullable` and boolean bounds take the form of 2020-12, a reference is replaced by its schema,
/// and keywords of OpenAPI alone are removed. The unit of a number stays.
pub(super) fn convert(schema: &Value, components: &Value) -> Value {
    let Some(fields) = schema.as_object() else { return schema.clone() };
    if let Some(name) = schema_name(schema) {
        return convert(&components[name], components);
    }
    let mut converted = Map::new();
    for (word, value) in fields {
        let value = match word.as_str() {
            "properties" => convert_each(value, components),
            "items" | "additionalProperties" | "not" => convert(value, components),
            "allOf" | "anyOf" | "oneOf" => value
                .as_array()
                .into_iter()
                .flatten()
                .map(|item| convert(item, components))
                .collect(),
            "format" if !is_known_format(value) => continue,
            "example" => json!([value]),
            word if is_openapi_only(word) => continue,
            _ => value.clone(),
        };
        let word = if word == "example" { "examples" } else { word.as_str() };
        converted.insert(word.to_owned(), value);
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        say_bound(&mut converted, bound, exclusive);
    }
    if schema["nullable"] == true {
        return or_null(converted);
    }
    Value::Object(converted)
}

/// Forbids fields that a schema does not name, in the schema and those within it.
pub(super) fn close(schema: &mut Value) {
    let Some(words) = schema.as_object_mut() else { return };
    if words.contains_key("properties") {
        words.insert("additionalProperties".to_owned(), false.into());
    }
    for (word, value) in words.iter_mut() {
        match (word.as_str(), value) {
            ("properties", Value::Object(fields)) => fields.values_mut().for_each(close),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(close);
            }
            ("items", schema) => close(schema),
            _ => {}
        }
    }
}

/// The smallest part, in bytes of its text, that is written once and referred to.
const SMALLEST_SHARED: usize = 120;

/// Moves every larger part that a schema repeats to `$defs`, so that each is written once.
pub(super) fn share(schema: Value) -> Value {
    let mut sharing = Sharing::default();
    sharing.count(&schema);
    let mut shared = sharing.share_within(schema);
    if let (Some(words), false) = (shared.as_object_mut(), sharing.parts.is_empty()) {
        words.insert("$defs".to_owned(), sharing.parts.into());
    }
    shared
}

/// The parts of a schema by their text.
#[derive(Default)]
struct Sharing {
    counts: HashMap<String, usize>,
    names: HashMap<String, String>,
    parts: Map<String, Value>,
}

impl Sharing {
    /// Counts the parts of a schema, each once for every place that it has.
    fn count(&mut self, schema: &Value) {
        let mut inner = schema.clone();
        for_each_part(&mut inner, &mut |_, part| {
            *self.counts.entry(part.to_string()).or_default() += 1;
            self.count(part);
        });
    }

    /// Replaces the parts of a schema that are repeated by references.
    fn share_within(&mut self, mut schema: Value) -> Value {
        for_each_part(&mut schema, &mut |name, part| {
            let text = part.to_string();
            let is_repeated = self.counts.get(&text).is_some_and(|count| *count > 1);
            let whole = part.take();
            if text.len() < SMALLEST_SHARED || !is_repeated {
                *part = self.share_within(whole);
                return;
            }
            let name = self.names.get(&text).cloned().unwrap_or_else(|| {
                let name = self.free_name(name);
                self.names.insert(text, name.clone());
                // Takes the name before the parts of this part take theirs.
                self.parts.insert(name.clone(), Value::Null);
                let shared = self.share_within(whole);
                self.parts.insert(name.clone(), shared);
                name
            });
            *part = json!({ "$ref": format!("#/$defs/{name}") });
        });
        schema
    }

    fn free_name(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while self.parts.contains_key(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }
}

/// Calls `each` with every schema directly within a schema, and the name of its field or its keyword.
fn for_each_part(schema: &mut Value, each: &mut dyn FnMut(&str, &mut Value)) {
    for (word, value) in schema.as_object_mut().into_iter().flatten() {
        match (word.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                fields.iter_mut().for_each(|(name, field)| each(name, field));
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| each(word, schema));
            }
            ("items" | "additionalProperties" | "not", part @ Value::Object(_)) => {
                each("item", part);
            }
            _ => {}
        }
    }
}

fn convert_each(properties: &Value, components: &Value) -> Value {
    let properties = properties.as_object().into_iter().flatten();
    properties.map(|(name, schema)| (name.clone(), convert(schema, components))).collect()
}

/// Returns whether JSON Schema has the format; formats of OpenAPI, such as `double`, and formats of
/// this service are omitted.
fn is_known_format(format: &Value) -> bool {
    let names = ["date", "date-time", "email", "uri", "uuid"];
    format.as_str().is_some_and(|name| names.contains(&name))
}

fn is_openapi_only(word: &str) -> bool {
    let words = ["nullable", "discriminator", "xml", "externalDocs", "title"];
    (word.starts_with("x-") && word != "x-unit") || words.contains(&word)
}

/// Converts a bound with the boolean `exclusiveMinimum` of OpenAPI to an exclusive bound.
fn say_bound(schema: &mut Map<String, Value>, bound: &str, exclusive: &str) {
    match schema.remove(exclusive) {
        Some(Value::Bool(true)) => {
            let value = schema.remove(bound).unwrap_or_default();
            schema.insert(exclusive.to_owned(), value);
        }
        Some(Value::Bool(false)) | None => {}
        Some(number) => {
            schema.insert(exclusive.to_owned(), number);
        }
    }
}

/// Returns a schema that also accepts null, as two branches, because some hosts do not support a
/// list of types.
fn or_null(mut schema: Map<String, Value>) -> Value {
    let mut either = Map::new();
    for word in ["description", "default", "examples"] {
        either.extend(schema.remove_entry(word));
    }
    either.insert("anyOf".to_owned(), json!([schema, { "type": "null" }]));
    Value::Object(either)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_schema_forbids_other_fields_at_every_depth() {
        let leg = || json!({ "type": "object", "properties": { "rate": { "type": "number" } } });
        let mut schema = json!({
            "type": "object",
            "properties": {
                "legs": { "type": "array", "items": leg() },
                "either": { "anyOf": [leg(), { "type": "null" }] },
                "free": { "type": "object" },
            },
            "examples": [{ "properties": {} }],
        });
        close(&mut schema);
        assert_eq!(schema["additionalProperties"], false);
        let properties = &schema["properties"];
        assert_eq!(properties["legs"]["items"]["additionalProperties"], false);
        assert_eq!(properties["either"]["anyOf"][0]["additionalProperties"], false);
        assert!(properties["free"].get("additionalProperties").is_none());
        assert_eq!(schema["examples"], json!([{ "properties": {} }]));
    }

    #[test]
    fn a_part_that_a_schema_repeats_is_written_once() {
        let rate = json!({ "type": "number", "description": "An annual rate. ".repeat(9) });
        let leg = || json!({ "type": "object", "properties": { "rate": rate, "paid": rate } });
        let properties = json!({ "fixed": leg(), "float": leg(), "legs": { "items": leg() } });
        let shared = share(json!({ "type": "object", "properties": properties }));
        let reference = json!({ "$ref": "#/$defs/fixed" });
        let properties = &shared["properties"];
        assert_eq!((&properties["fixed"], &properties["float"]), (&reference, &reference));
        assert_eq!(properties["legs"]["items"], reference);
        let rate_within = json!({ "$ref": "#/$defs/rate" });
        assert_eq!(shared["$defs"]["fixed"]["properties"]["paid"], rate_within);
        assert_eq!(shared["$defs"]["rate"], rate);
        let plain =
            json!({ "type": "object", "properties": { "a": rate, "b": { "type": "null" } } });
        assert_eq!(share(plain.clone()), plain);
    }

    #[test]
    fn what_2020_12_says_otherwise_is_said_its_way() {
        let components = json!({
            "Kind": { "type": "string", "enum": ["30/360"], "x-enum-varnames": ["BASIS_30_360"] },
        });
        #[rustfmt::skip]
        let rows = [
            // OpenAPI 3.0                                          JSON Schema 2020-12
            (json!({ "type": "number", "format": "double" }),       json!({ "type": "number" })),
            (json!({ "type": "number", "x-unit": "years" }),        json!({ "type": "number", "x-unit": "years" })),
            (json!({ "type": "string", "format": "date" }),         json!({ "type": "string", "format": "date" })),
            (json!({ "minimum": 0.0, "exclusiveMinimum": true }),   json!({ "exclusiveMinimum": 0.0 })),
            (json!({ "maximum": 1.0, "exclusiveMaximum": false }),  json!({ "maximum": 1.0 })),
            (json!({ "type": "number", "nullable": true, "description": "x" }), json!({ "description": "x", "anyOf": [{ "type": "number" }, { "type": "null" }] })),
            (json!({ "enum": ["a"], "nullable": true }),            json!({ "anyOf": [{ "enum": ["a"] }, { "type": "null" }] })),
            (json!({ "$ref": "#/components/schemas/Kind" }),        json!({ "type": "string", "enum": ["30/360"] })),
            (json!({ "items": { "$ref": "#/components/schemas/Kind" } }), json!({ "items": { "type": "string", "enum": ["30/360"] } })),
            (json!({ "example": { "title": 1 } }),                  json!({ "examples": [{ "title": 1 }] })),
            (json!({ "properties": { "title": { "type": "string", "title": "T" } } }), json!({ "properties": { "title": { "type": "string" } } })),
        ];
        for (given, expected) in rows {
            assert_eq!(convert(&given, &components), expected, "{given}");
        }
    }
}
