//! Every fault of a request at once, in the words of FastAPI with pydantic 1.
//!
//! A valid request is parsed straight into its type. Only where the parse fails is the JSON walked
//! along the schema that the type gives the generated document. So one set of validators serves the
//! parser, the document and this list.

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::Type,
};
use serde_json::{Map, Number, Value, json};

use super::json_string;

/// One fault of a request, an element of the list in a 422.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place: `body`, `query` or `path`, then field names and array indices.
    pub loc: Vec<Step>,
    /// The explanation of the fault, for people.
    pub msg: String,
    /// The kind of the fault, for programs, as in `value_error.missing`.
    pub kind: String,
}

/// One step of the path to a fault: a field's name or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The name of a field, or the part of the request.
    Name(String),
    /// A position in an array, from zero.
    Index(usize),
}

impl Fault {
    /// Makes a fault at `path`, which is copied.
    #[must_use]
    pub fn new(path: &[Step], kind: impl Into<String>, msg: impl Into<String>) -> Self {
        Self { loc: path.to_vec(), msg: msg.into(), kind: kind.into() }
    }

    /// Returns the fault as the JSON object of a 422.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let loc: Vec<_> = self.loc.iter().map(Step::to_json).collect();
        json!({ "loc": loc, "msg": self.msg, "type": self.kind })
    }

    /// Makes a fault of one field of the body.
    #[must_use]
    pub fn at_field(field: &str, kind: impl Into<String>, msg: impl Into<String>) -> Self {
        Self::new(&[Step::name("body"), Step::name(field)], kind, msg)
    }
}

impl Step {
    /// Makes a step into the field or part called `name`.
    #[must_use]
    pub fn name(name: &str) -> Self {
        Self::Name(name.to_owned())
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Name(name) => Value::from(name.as_str()),
            Self::Index(index) => Value::from(*index),
        }
    }
}

/// The outcome of walking a body along the schema of a type.
#[derive(Debug)]
pub enum Walked {
    /// The value does not fit the schema; at least one fault.
    Faulty(Vec<Fault>),
    /// The value has no fault; integral numbers such as `5.0` are written as integers.
    Sound(Value),
}

/// Faults that one answer lists at most: a body of megabytes can hold millions.
const MOST_FAULTS: usize = 1000;

/// Walks `value` along the schema of `T`, up to the first thousand faults.
#[must_use]
pub fn walk<T: Type>(value: Value) -> Walked {
    let mut registry = Registry::new();
    T::register(&mut registry);
    let mut walk = Walk { registry: &registry, path: vec![Step::name("body")], faults: Vec::new() };
    let value = walk.any(&T::schema_ref(), value);
    if walk.faults.is_empty() { Walked::Sound(value) } else { Walked::Faulty(walk.faults) }
}

/// Returns the faults of a value at `path`, by a schema without references.
#[must_use]
pub(super) fn check_value(schema: &MetaSchema, path: &[Step], value: Value) -> Vec<Fault> {
    let registry = Registry::new();
    let mut walk = Walk { registry: &registry, path: path.to_vec(), faults: Vec::new() };
    walk.any(&MetaSchemaRef::Inline(Box::new(schema.clone())), value);
    walk.faults
}

/// Returns whether `value` contains a null.
///
/// The typed parser reads a null as an absent field. A null where the schema has none is a fault, so
/// a body with a null is walked.
#[must_use]
pub fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(fields) => fields.values().any(holds_null),
        _ => false,
    }
}

struct Walk<'a> {
    registry: &'a Registry,
    path: Vec<Step>,
    faults: Vec<Fault>,
}

impl Walk<'_> {
    fn fault(&mut self, kind: &str, msg: impl Into<String>) {
        self.faults.push(Fault::new(&self.path, kind, msg));
    }

    fn within(&mut self, step: Step, visit: impl FnOnce(&mut Self) -> Value) -> Value {
        self.path.push(step);
        let value = visit(self);
        self.path.pop();
        value
    }

    fn any(&mut self, schema: &MetaSchemaRef, value: Value) -> Value {
        if self.faults.len() >= MOST_FAULTS {
            return value;
        }
        let schema = resolve(self.registry, schema);
        if value.is_null() {
            if !schema.nullable {
                self.fault("type_error.none.not_allowed", "none is not an allowed value");
            }
            return value;
        }
        match schema.ty {
            "object" => self.object(&schema, value),
            "array" => self.array(&schema, value),
            "number" => self.number(&schema, value),
            "integer" => self.integer(&schema, value),
            "boolean" => self.boolean(value),
            "string" => self.string(&schema, value),
            _ => value,
        }
    }

    fn object(&mut self, schema: &MetaSchema, value: Value) -> Value {
        let Value::Object(mut fields) = value else {
            self.fault("type_error.dict", "value is not a valid dict");
            return Value::Null;
        };
        let mut sound = Map::new();
        for (name, field) in &schema.properties {
            let step = Step::name(name);
            match fields.remove(*name) {
                Some(value) => {
                    let value = self.within(step, |walk| walk.any(field, value));
                    sound.insert((*name).to_owned(), value);
                }
                None if schema.required.contains(name) => {
                    self.within(step, |walk| {
                        walk.fault("value_error.missing", "field required");
                        Value::Null
                    });
                }
                None => {}
            }
        }
        Value::Object(sound)
    }

    fn array(&mut self, schema: &MetaSchema, value: Value) -> Value {
        let Value::Array(items) = value else {
            self.fault("type_error.list", "value is not a valid list");
            return Value::Null;
        };
        if let Some(least) = schema.min_items.filter(|&least| items.len() < least) {
            let msg = format!("ensure this value has at least {least} items");
            self.fault("value_error.list.min_items", msg);
            return Value::Null;
        }
        if let Some(most) = schema.max_items.filter(|&most| items.len() > most) {
            let msg = format!("ensure this value has at most {most} items");
            self.fault("value_error.list.max_items", msg);
            return Value::Null;
        }
        let Some(item) = &schema.items else { return Value::Array(items) };
        let walked = items.into_iter().enumerate();
        let items = walked
            .map(|(index, value)| self.within(Step::Index(index), |walk| walk.any(item, value)));
        Value::Array(items.collect())
    }

    fn number(&mut self, schema: &MetaSchema, value: Value) -> Value {
        match value.as_f64() {
            Some(number) => self.range(schema, number),
            None => self.fault("type_error.float", "value is not a valid float"),
        }
        value
    }

    fn integer(&mut self, schema: &MetaSchema, value: Value) -> Value {
        match value.as_f64().filter(|number| number.fract() == 0.0) {
            Some(number) => {
                self.range(schema, number);
                whole(value, number)
            }
            None => {
                self.fault("type_error.integer", "value is not a valid integer");
                value
            }
        }
    }

    fn range(&mut self, schema: &MetaSchema, number: f64) {
        let below = schema.minimum.map(|limit| (limit, schema.exclusive_minimum == Some(true)));
        let above = schema.maximum.map(|limit| (limit, schema.exclusive_maximum == Some(true)));
        let (kind, relation, limit) = match (below, above) {
            (Some((limit, true)), _) if number <= limit => ("gt", "greater than", limit),
            (Some((limit, false)), _) if number < limit => {
                ("ge", "greater than or equal to", limit)
            }
            (_, Some((limit, true))) if number >= limit => ("lt", "less than", limit),
            (_, Some((limit, false))) if number > limit => ("le", "less than or equal to", limit),
            _ => return,
        };
        let kind = format!("value_error.number.not_{kind}");
        self.fault(&kind, format!("ensure this value is {relation} {limit}"));
    }

    fn boolean(&mut self, value: Value) -> Value {
        if !value.is_boolean() {
            self.fault("type_error.bool", "value could not be parsed to a boolean");
        }
        value
    }

    fn string(&mut self, schema: &MetaSchema, value: Value) -> Value {
        if !schema.enum_items.is_empty() {
            self.member(&schema.enum_items, &value);
            return value;
        }
        let Some(text) = value.as_str() else {
            self.fault("type_error.str", "str type expected");
            return value;
        };
        let length = text.chars().count();
        if let Some(least) = schema.min_length.filter(|&least| length < least) {
            let msg = format!("ensure this value has at least {least} characters");
            self.fault("value_error.any_str.min_length", msg);
        } else if let Some(most) = schema.max_length.filter(|&most| length > most) {
            let msg = format!("ensure this value has at most {most} characters");
            self.fault("value_error.any_str.max_length", msg);
        } else if let Some(Err((kind, msg))) =
            schema.format.map(|format| json_string::check(format, text))
        {
            self.fault(&kind, msg);
        }
        value
    }

    fn member(&mut self, permitted: &[Value], value: &Value) {
        if permitted.contains(value) {
            return;
        }
        let names: Vec<_> =
            permitted.iter().filter_map(Value::as_str).map(|name| format!("'{name}'")).collect();
        let permitted = names.join(", ");
        self.fault(
            "type_error.enum",
            format!("value is not a valid enumeration member; permitted: {permitted}"),
        );
    }
}

/// Writes an integral number such as `5.0` as the integer that the typed parser takes.
fn whole(value: Value, number: f64) -> Value {
    // Beyond 2^53 a double no longer tells neighbouring integers apart: leave those as sent.
    let exact = number.abs() <= 9_007_199_254_740_992.0;
    if value.is_f64() && exact { Value::Number(Number::from(number as i64)) } else { value }
}

/// The schema behind a reference, with the default and the nullability that the field adds.
fn resolve(registry: &Registry, schema: &MetaSchemaRef) -> MetaSchema {
    match schema {
        MetaSchemaRef::Reference(name) => registry.schemas[name].clone(),
        MetaSchemaRef::Inline(schema) => match schema.all_of.first() {
            None => (**schema).clone(),
            Some(base) => MetaSchema { nullable: schema.nullable, ..resolve(registry, base) },
        },
    }
}

/// The list of faults as the body of a 422.
#[must_use]
pub fn body(faults: &[Fault]) -> Value {
    json!({ "detail": faults.iter().map(Fault::to_json).collect::<Vec<_>>() })
}
