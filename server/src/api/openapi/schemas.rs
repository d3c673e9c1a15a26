//! Completions of the schemas: examples, patterns, names of enum values, and corrections where
//! client generators fail.

use std::collections::{BTreeMap, BTreeSet};

use poem_openapi::{registry::Registry, types::Type};
use serde_json::{Map, Number, Value, json};

use crate::http::RawJson;

/// Patterns of texts that a handler checks, by schema and field. The formats of
/// `http/json_string.rs` state their patterns themselves.
const PATTERNS: &[(&str, &str, &str)] = &[
    ("BroadcastRequest", "title", r"\S"),
    ("CompletionRequest", "phone", LINE),
    ("CompletionRequest", "country", LINE),
    ("CompletionRequest", "country_code", LINE),
    ("CurrencyForwardRequest", "pair", "^[A-Za-z]{3}[/-]?[A-Za-z]{3}$"),
    ("EmailUndoRequest", "token", TOKEN),
    ("GuestRequest", "device_id", LINE),
    ("GuestRequest", "device_name", LINE),
    ("GuestRequest", "platform", LINE),
    ("PreferencesRequest", "messaging_chat_id", "^(-?[0-9]{1,20}|@[A-Za-z0-9_]{4,64})?$"),
    ("ProfileRequest", "phone", LINE),
    ("ProfileRequest", "country", LINE),
    ("ProfileRequest", "country_code", LINE),
    ("RegistrationRequest", "phone", LINE),
    ("RegistrationRequest", "country", LINE),
    ("RegistrationRequest", "country_code", LINE),
    ("SecondStepRequest", "mfa_token", TOKEN),
];
/// A line without control characters.
const LINE: &str = r"^[^\u0000-\u001F\u007F-\u009F]*$";
/// A secret of 32 bytes in base64url.
const TOKEN: &str = "^[A-Za-z0-9_-]{43}$";

/// The schemas and fields of new passwords.
const NEW_PASSWORDS: [(&str, &str); 3] = [
    ("PasswordChangeRequest", "new_password"),
    ("PasswordResetRequest", "new_password"),
    ("RegistrationRequest", "password"),
];
/// The methods of the requests that the service records.
const METHODS: [&str; 5] = ["GET", "HEAD", "POST", "PUT", "DELETE"];

/// Adds rules that the reader of bodies does not check, but a handler, or a format with words of its
/// own: patterns, the length of a password, and the methods of recorded requests.
///
/// # Panics
///
/// Panics where a schema or a field of the lists does not exist.
pub(super) fn add_text_rules(schemas: &mut Map<String, Value>) {
    for &(schema, field, pattern) in PATTERNS {
        field_of(schemas, schema, field)["pattern"] = pattern.into();
    }
    for (schema, field) in NEW_PASSWORDS {
        field_of(schemas, schema, field)["minLength"] = account_core::password::SHORTEST.into();
    }
    field_of(schemas, "UsageRequest", "method")["enum"] = json!(METHODS);
}

fn field_of<'s>(schemas: &'s mut Map<String, Value>, schema: &str, field: &str) -> &'s mut Value {
    let fields = schemas.get_mut(schema).map(|schema| &mut schema["properties"]);
    let field = fields.and_then(|fields| fields.get_mut(field));
    field.unwrap_or_else(|| panic!("{schema} has its fields"))
}

/// Removes absent fields from the examples of the named schemas, which are bodies of requests: an
/// example is written with null for an absent field.
pub(super) fn remove_nulls(schemas: &mut Map<String, Value>, bodies: &BTreeSet<String>) {
    for (_, schema) in schemas.iter_mut().filter(|(name, _)| bodies.contains(*name)) {
        if let Some(example) = schema.get_mut("example").and_then(Value::as_object_mut) {
            example.retain(|_, value| !value.is_null());
        }
    }
}

/// Gives each answer the example of its data, in the envelope.
pub(super) fn add_answer_examples(schemas: &mut Map<String, Value>) {
    let examples: Vec<_> = schemas
        .iter()
        .filter_map(|(name, _)| {
            let data = schemas.get(name.strip_suffix("Answer")?)?.get("example")?.clone();
            Some((name.clone(), json!({ "success": true, "data": data })))
        })
        .collect();
    for (name, example) in examples {
        schemas[&name]["example"] = example;
    }
}

/// Returns the schemas of a type that no handler names, which the generator leaves out.
pub(super) fn of_type<T: Type>() -> impl Iterator<Item = (String, Value)> {
    let mut registry = Registry::new();
    T::register(&mut registry);
    registry
        .schemas
        .into_iter()
        .map(|(name, schema)| (name, serde_json::to_value(schema).expect("a schema is JSON")))
}

/// Adds the parts that a caller may ask for to the named schemas, which are answers of metered
/// operations.
pub(super) fn add_answer_parts(schemas: &mut Map<String, Value>, answers: &BTreeSet<String>) {
    for (_, schema) in schemas.iter_mut().filter(|(name, _)| answers.contains(*name)) {
        for (part, name) in [("meta", "AnswerMeta"), ("receipt", "Receipt")] {
            schema["properties"][part] = json!({ "$ref": format!("#/components/schemas/{name}") });
        }
    }
}

/// Describes the message of a registration, which is also beside `data`, where its clients read the
/// message.
pub(super) fn describe_root_message(schemas: &mut Map<String, Value>) {
    let answer = &mut schemas["RegisteredAnswer"];
    answer["properties"]["message"] =
        json!({ "type": "string", "description": "The result in words, as in `data`." });
    answer["example"]["message"] = answer["example"]["data"]["message"].clone();
}

/// Names the enum values that are not identifiers, which generators would number.
///
/// An enumeration with a default has no names: openapi-generator's Python client then takes the
/// default by a name that it does not define, and cannot be imported.
pub(super) fn name_enum_values(schemas: &mut Map<String, Value>) {
    for schema in schemas.values_mut().filter(|schema| schema.get("default").is_none()) {
        let Some(values) = schema.get("enum").and_then(Value::as_array) else { continue };
        let texts: Vec<_> = values.iter().filter_map(Value::as_str).collect();
        let is_word = |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if texts.is_empty() || texts.iter().all(is_word) {
            continue;
        }
        let names: Vec<_> = texts.iter().map(|text| identifier(text)).collect();
        schema["x-enum-varnames"] = json!(names);
    }
}

/// Returns a name that is an identifier in every language: without a leading digit or underscore.
fn identifier(text: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = text.chars().map(word).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("BASIS_{name}") } else { name }
}

/// Removes the format by which the reader of bodies knows a raw object: progenitor refuses a format of an
/// object.
pub(super) fn remove_raw_formats(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "object")
                && fields.get("format").is_some_and(|format| format == RawJson::FORMAT)
            {
                fields.remove("format");
            }
            fields.values_mut().for_each(remove_raw_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_raw_formats),
        _ => {}
    }
}

/// Writes the bounds of integers as integers; poem-openapi holds every bound as a double.
pub(super) fn write_integer_bounds(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "integer") {
                for bound in ["minimum", "maximum", "multipleOf"] {
                    if let Some(bound) = fields.get_mut(bound) {
                        write_integer(bound);
                    }
                }
            }
            fields.values_mut().for_each(write_integer_bounds);
        }
        Value::Array(items) => items.iter_mut().for_each(write_integer_bounds),
        _ => {}
    }
}

fn write_integer(bound: &mut Value) {
    // No bound of the service is beyond 2^53, where doubles no longer tell integers apart.
    if let Some(number) = bound.as_f64().filter(|number| number.fract() == 0.0) {
        *bound = Value::Number(Number::from(number as i64));
    }
}

/// Replaces `allOf: [$ref, {…}]`, for which generators omit the endpoint, by the reference.
///
/// OpenAPI 3.0 allows no keyword beside a reference, so the most frequent default of an enumeration
/// moves to its schema. A field with another default gets a copy of the schema with that default, and
/// a field that may be null a copy that says so.
pub(super) fn collapse_wrappers(document: &mut Value) {
    let mut counts = BTreeMap::new();
    count_defaults(document, &mut counts);
    let defaults: Map<String, Value> = counts.into_iter().filter_map(most_frequent).collect();
    let schemas = document["components"]["schemas"].clone();
    collapse(document, &defaults, &schemas);
    for (name, default) in defaults {
        document["components"]["schemas"][name]["default"] = default;
    }
    remove_unused(document);
}

/// Removes the schemas that only copies stand for by now.
fn remove_unused(document: &mut Value) {
    let mut used = BTreeSet::new();
    collect_references(document, &mut used);
    let schemas = document["components"]["schemas"].as_object_mut().expect("there are schemas");
    schemas.retain(|name, _| used.contains(name));
}

/// Collects the names of the schemas that a value refers to.
fn collect_references(value: &Value, names: &mut BTreeSet<String>) {
    names.extend(schema_name(value).map(str::to_owned));
    parts(value).for_each(|part| collect_references(part, names));
}

/// The defaults of the fields of one schema, as JSON, with their numbers.
type DefaultCounts = BTreeMap<String, usize>;

fn count_defaults(value: &Value, counts: &mut BTreeMap<String, DefaultCounts>) {
    if let Some(reference) = wrapped_reference(value) {
        if let (Some(default), Some(name)) = (value.get("default"), schema_name(&reference)) {
            *counts.entry(name.to_owned()).or_default().entry(default.to_string()).or_default() +=
                1;
        }
        return;
    }
    parts(value).for_each(|part| count_defaults(part, counts));
}

/// Returns the values of an object or the items of a list.
fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    let fields = value.as_object().into_iter().flat_map(Map::values);
    fields.chain(value.as_array().into_iter().flatten())
}

fn most_frequent((name, defaults): (String, DefaultCounts)) -> Option<(String, Value)> {
    let (text, _) = defaults.into_iter().max_by_key(|&(_, count)| count)?;
    Some((name, serde_json::from_str(&text).expect("a default was written as JSON")))
}

fn collapse(value: &mut Value, defaults: &Map<String, Value>, schemas: &Value) {
    if let Some(reference) = wrapped_reference(value) {
        let name = schema_name(&reference).unwrap_or_default().to_owned();
        let default = value.get("default");
        let is_nullable = value.get("nullable") == Some(&Value::Bool(true));
        let needs_copy = match default {
            Some(default) => defaults.get(&name) != Some(default),
            None => is_nullable,
        };
        *value = if needs_copy { copy_of(&schemas[&name], value) } else { reference };
        return;
    }
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| collapse(field, defaults, schemas));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| collapse(item, defaults, schemas));
        }
        _ => {}
    }
}

/// Returns a copy of a schema with what its wrapper adds. It has no title, because generators of clients name
/// a type by it, and the schema itself has that name.
fn copy_of(schema: &Value, wrapper: &Value) -> Value {
    let mut copy = schema.clone();
    if let Some(fields) = copy.as_object_mut() {
        fields.remove("title");
    }
    for key in ["description", "default", "nullable"] {
        if let Some(added) = wrapper.get(key) {
            copy[key] = added.clone();
        }
    }
    copy
}

/// Returns the reference inside a wrapper; `None` for a value that is no such wrapper.
fn wrapped_reference(value: &Value) -> Option<Value> {
    value.get("allOf")?.get(0).filter(|base| base.get("$ref").is_some()).cloned()
}

/// Returns the name of the referenced schema; `None` for a value that is no reference to a schema.
pub(in crate::api) fn schema_name(reference: &Value) -> Option<&str> {
    reference["$ref"].as_str()?.rsplit('/').next()
}
