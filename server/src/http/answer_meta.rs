//! The member `meta` of an answer: the explanation of its data on the wire.

use std::collections::BTreeMap;

use poem_openapi::{
    Enum, Object,
    types::{Any, Example},
};
use quant_core::{
    NUMERIC_VERSION,
    explanation::{ErrorKind, ErrorScale, ErrorStatement, Explanation},
};
use serde_json::Value;

use super::body_schema::{BodySchema, Shape};

/// The most defaults that `meta` lists; a list of ten thousand instruments has more.
const MOST_DEFAULTS: usize = 1000;

/// The fields that were absent from a body, by their place, with the documented default of each.
pub(super) type DefaultsTaken = BTreeMap<String, Any<Value>>;

/// The explanation of an answer.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AnswerMeta", skip_serializing_if_is_none, example)]
pub(crate) struct AnswerMeta {
    /// The method with its source.
    pub method: MethodSource,
    /// The assumptions that the request does not state, a sentence each.
    pub conventions: Vec<String>,
    /// The fields that the request left out, as `instruments[1].frequency`, with the documented
    /// value that was taken; at most 1,000.
    pub defaults: BTreeMap<String, Any<Value>>,
    /// The number of steps, nodes or iterations that were used; absent for a closed form.
    pub steps: Option<u32>,
    /// The distance to the exact value.
    pub error: ErrorEstimate,
    /// The version of the bits: equal versions give equal bits on every machine.
    pub numeric_version: u32,
}

/// A method and where it was published.
#[derive(Clone, Debug, Object)]
#[oai(example)]
pub(crate) struct MethodSource {
    /// The name of the method in the literature.
    pub name: String,
    /// Author, year, title, and the equation where it has a number.
    pub source: String,
}

/// A statement about the distance between a result and the exact value.
#[derive(Clone, Debug, Object)]
#[oai(example)]
pub(crate) struct ErrorEstimate {
    /// The cause of the largest part of the error.
    pub kind: ErrorCause,
    /// The field of `data` that the statement is about, or `every field`.
    pub quantity: String,
    /// The size of the error, in the unit of the quantity or as a fraction of it; see `scale`.
    #[oai(validator(minimum(value = "0")))]
    pub estimate: f64,
    /// Whether `estimate` is in the unit of the quantity, or a fraction of it.
    pub scale: EstimateScale,
    /// True: no result differs by more. False: at least 95 of 100 results differ by no more.
    pub is_bound: bool,
    /// The derivation of `estimate`.
    pub how: String,
}

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "ErrorKind")]
pub(crate) enum ErrorCause {
    /// Numbers of finite precision.
    Rounding,
    /// A tree, a grid or a difference quotient of finite fineness.
    Discretisation,
    /// A solver or an optimiser that stops.
    Iteration,
    /// A sample of finite size, or random draws.
    Sampling,
}

/// The unit of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "ErrorScale")]
pub(crate) enum EstimateScale {
    /// The unit of the quantity.
    Absolute,
    /// A fraction of the quantity.
    Relative,
}

impl AnswerMeta {
    /// Makes the member of an explanation and the defaults that the request took.
    pub(super) fn new(explanation: Explanation, defaults: DefaultsTaken) -> Self {
        Self {
            method: MethodSource {
                name: explanation.method.name.into_owned(),
                source: explanation.method.source.into_owned(),
            },
            conventions: explanation.conventions.into_iter().map(String::from).collect(),
            defaults,
            steps: explanation.steps,
            error: explanation.error.into(),
            numeric_version: NUMERIC_VERSION,
        }
    }
}

impl From<ErrorStatement> for ErrorEstimate {
    fn from(statement: ErrorStatement) -> Self {
        Self {
            kind: statement.kind.into(),
            quantity: statement.quantity.into_owned(),
            estimate: statement.estimate,
            scale: statement.scale.into(),
            is_bound: statement.is_bound,
            how: statement.how.into_owned(),
        }
    }
}

/// Returns the fields that are absent from a value that was read along `schema`, with the documented
/// default of each.
pub(super) fn defaults_taken(schema: &BodySchema, value: &Value) -> DefaultsTaken {
    let mut found = DefaultsTaken::new();
    add_defaults(schema, value, "", &mut found);
    found
}

fn add_defaults(schema: &BodySchema, value: &Value, place: &str, found: &mut DefaultsTaken) {
    if found.len() >= MOST_DEFAULTS {
        return;
    }
    match (&schema.shape, value) {
        (Shape::Object(properties), Value::Object(fields)) => {
            for property in properties {
                let dot = if place.is_empty() { "" } else { "." };
                let place = format!("{place}{dot}{}", property.name);
                match (fields.get(property.name), &property.default) {
                    (Some(value), _) => add_defaults(&property.schema, value, &place, found),
                    (None, Some(default)) => {
                        found.insert(place, Any(default.clone()));
                    }
                    (None, None) => {}
                }
            }
        }
        (Shape::Record { value: schema, .. }, Value::Object(fields)) => {
            for (name, value) in fields {
                add_defaults(schema, value, &format!("{place}.{name}"), found);
            }
        }
        (Shape::List { item, .. }, Value::Array(items)) => {
            for (index, value) in items.iter().enumerate() {
                add_defaults(item, value, &format!("{place}[{index}]"), found);
            }
        }
        _ => {}
    }
}

impl Example for AnswerMeta {
    fn example() -> Self {
        Self {
            method: MethodSource::example(),
            conventions: vec!["Rates are continuously compounded.".to_owned()],
            defaults: BTreeMap::from([("dividend_yield".to_owned(), Any(Value::from(0.0)))]),
            steps: Some(101),
            error: ErrorEstimate::example(),
            numeric_version: NUMERIC_VERSION,
        }
    }
}

impl Example for MethodSource {
    fn example() -> Self {
        Self {
            name: "Black–Scholes–Merton".to_owned(),
            source: "Merton (1973), \"Theory of Rational Option Pricing\"".to_owned(),
        }
    }
}

impl Example for ErrorEstimate {
    fn example() -> Self {
        Self {
            kind: ErrorCause::Rounding,
            quantity: "price".to_owned(),
            estimate: 1e-13,
            scale: EstimateScale::Relative,
            is_bound: true,
            how: "the largest difference from prices in 50 digits".to_owned(),
        }
    }
}
