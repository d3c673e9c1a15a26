//! The playground: a form for each computation, whose script calls the service with the caller's key.

use askama::Template;
use serde_json::{Value, json};

use super::{
    operation::{self, DescribedOperation, Group},
    schema::SchemaField,
};

#[derive(Template)]
#[template(path = "site/playground_overview.html")]
struct PlaygroundList {
    groups: Vec<Group>,
    current: &'static str,
}

#[derive(Template)]
#[template(path = "site/playground.html")]
struct Page {
    operation: &'static DescribedOperation,
    groups: Vec<Group>,
    current: &'static str,
    inputs: Vec<Input>,
    /// The facts of the operation that the script needs, as JSON.
    facts: String,
}

/// A field of the form.
struct Input {
    field: &'static SchemaField,
    control: Control,
}

/// The control of a field.
enum Control {
    /// A number with a slider between two values.
    Number { value: String, least: f64, most: f64, step: f64 },
    /// One of several values.
    Choice { chosen: String },
    /// True or false.
    Flag { is_set: bool },
    /// A text.
    Text { value: String },
    /// A list or an object, as JSON.
    Json { value: String },
}

/// Writes the list of computations.
pub(super) fn overview(_: &str) -> String {
    let page = PlaygroundList { groups: computations(), current: "" };
    page.render().expect("a page that compiles renders into a string")
}

/// Writes the page of a computation; there is none for another operation.
pub(super) fn page(operation: &'static DescribedOperation, _: &str) -> Option<String> {
    let price = operation.price.as_ref()?;
    let top = operation.request.iter().filter(|field| field.depth == 0);
    let example = operation.example_request.unwrap_or(&Value::Null);
    let inputs = top.map(|field| Input { field, control: control(field, &example[&field.path]) });
    let facts = json!({
        "id": operation.id,
        "method": operation.method,
        "path": operation.path,
        "credits": price.credits,
        "units": units(&operation.answer),
    });
    let page = Page {
        operation,
        groups: computations(),
        current: &operation.id,
        inputs: inputs.collect(),
        facts: facts.to_string(),
    };
    Some(page.render().expect("a page that compiles renders into a string"))
}

fn computations() -> Vec<Group> {
    operation::groups(|operation| operation.price.is_some())
}

/// The unit of each field of the answer that has one.
fn units(answer: &[SchemaField]) -> Value {
    let units =
        answer.iter().filter_map(|field| Some((field.path.clone(), json!(field.unit.as_ref()?))));
    Value::Object(units.collect())
}

/// Chooses the control of a field by its schema; the example is its first value.
fn control(field: &SchemaField, example: &Value) -> Control {
    let schema = field.schema;
    let text = || match (example, &field.default) {
        (Value::Null, Some(default)) => default.trim_matches('"').to_owned(),
        (Value::Null, None) => String::new(),
        (Value::String(text), _) => text.clone(),
        (value, _) => value.to_string(),
    };
    if !field.choices.is_empty() {
        return Control::Choice { chosen: text() };
    }
    match schema["type"].as_str() {
        Some("number" | "integer") => number(schema, text()),
        Some("boolean") => Control::Flag { is_set: text() == "true" },
        Some("string") => Control::Text { value: text() },
        _ => Control::Json { value: text() },
    }
}

/// A slider from the smallest permitted value, or minus the value, to the largest, or twice the value.
fn number(schema: &Value, value: String) -> Control {
    let start = value.parse().unwrap_or(1.0_f64);
    let reach = if start == 0.0 { 1.0 } else { start.abs() };
    let least = schema["minimum"]
        .as_f64()
        .map_or_else(|| start.min(0.0) - reach, |least| least.max(start - reach));
    let most = schema["maximum"].as_f64().map_or(start + reach, |most| most.min(start + reach));
    let step = if schema["type"] == "integer" { 1.0 } else { step_of(most - least) };
    Control::Number { value, least, most, step }
}

/// A power of ten that divides a range into some hundreds of steps.
fn step_of(range: f64) -> f64 {
    let exponent = (range / 500.0).log10().floor();
    10_f64.powi(exponent.clamp(-9.0, 9.0) as i32)
}
