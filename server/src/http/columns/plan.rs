//! The fields of a columnar operation, from the schemas of the single request and answer.

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::Type,
};
use serde_json::Value;

use super::{
    super::{
        body_schema::{BodySchema, NumberRange, Shape},
        computation::Computation,
        nearest_name::unknown_name,
        validation::{Fault, Step},
    },
    price::MAX_ROWS,
};

/// The parameter of the query string that names the columns of the answer.
pub(super) const FIELDS: &str = "fields";
/// The most values of an answer: a million rows of two columns, a ninth of that of eighteen.
const MOST_VALUES: usize = 2_000_000;

/// The fields of a columnar operation, as the schemas describe them.
pub(crate) struct Plan {
    /// The schema of the single request.
    pub(super) schema: BodySchema,
    /// The fields of the request, in the order of its schema.
    pub(super) inputs: Vec<InputField>,
    /// The columns of the answer, in the order of its schema.
    pub(super) outputs: Vec<OutputField>,
}

/// A field of the request.
pub(super) struct InputField {
    /// The name.
    pub(super) name: &'static str,
    /// True if a request without the field is refused.
    pub(super) is_required: bool,
    /// The value of an absent field.
    pub(super) default: Option<Value>,
    /// The form that a column of the field has.
    pub(super) kind: InputKind,
    /// The schema of one value.
    pub(super) schema: BodySchema,
}

/// The form of a field's column.
pub(super) enum InputKind {
    /// Numbers within a range.
    Numbers(NumberRange),
    /// One of a few values, an enumeration.
    Members(Vec<Value>),
    /// Values that are neither numbers nor of an enumeration, such as dates and booleans.
    Values,
    /// A list, which is one value for all rows.
    Whole,
}

/// A column of the answer.
pub(super) struct OutputField {
    /// The names of the field and, before it, of the object that holds it.
    pub(super) path: Vec<&'static str>,
    /// The type of the values.
    pub(super) kind: OutputKind,
}

/// The type of the values of a column of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputKind {
    /// Doubles.
    Number,
    /// Whole numbers.
    Integer,
    /// True or false.
    Boolean,
    /// Texts.
    Text,
    /// Lists of texts.
    Texts,
}

impl Plan {
    /// Makes the plan of a computation. The columns are the fields of the answer without those that
    /// have the name of a field of the request, unless `computed` names them.
    ///
    /// # Panics
    ///
    /// Panics where the request or the answer is no object, or has fields that no column can hold.
    #[must_use]
    pub(crate) fn of<C: Computation>(computed: &[&str]) -> Self
    where
        C::Answer: Type,
    {
        let mut registry = Registry::new();
        C::register(&mut registry);
        C::Answer::register(&mut registry);
        let schema = BodySchema::compile(&registry, &C::schema_ref());
        let inputs = inputs(&registry, &C::schema_ref());
        let mut outputs = Vec::new();
        let answer = C::Answer::schema_ref();
        for (name, field) in &resolve(&registry, &answer).properties {
            let is_sent = || inputs.iter().any(|input| input.name == *name);
            if computed.contains(name) || !is_sent() {
                add_output(&registry, vec![*name], field, &mut outputs);
            }
        }
        Self { schema, inputs, outputs }
    }

    /// The columns of the answer, each by its name and before it that of the object that holds it.
    pub(crate) fn output_paths(&self) -> impl Iterator<Item = &[&'static str]> {
        self.outputs.iter().map(|output| output.path.as_slice())
    }

    /// Returns for each column of the answer whether the query asks for it; all where it names none.
    /// The name of an object asks for its fields.
    pub(super) fn asked(&self, names: Option<&str>) -> Result<Vec<bool>, Fault> {
        let Some(names) = names else { return Ok(vec![true; self.outputs.len()]) };
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let known = || self.outputs.iter().map(|output| output.path[0]);
        if let Some(unknown) = names.iter().find(|name| !known().any(|known| known == **name)) {
            let path = [Step::name("query"), Step::name(FIELDS)];
            let msg = unknown_name(unknown, known());
            return Err(Fault::new(&path, "value_error.fields", msg));
        }
        Ok(known().map(|known| names.contains(&known)).collect())
    }
}

/// Returns the most rows of a request that asks for so many columns.
#[must_use]
pub(super) fn max_rows(columns: usize) -> usize {
    MAX_ROWS.min(MOST_VALUES / columns.max(1))
}

fn resolve<'r>(registry: &'r Registry, schema: &'r MetaSchemaRef) -> &'r MetaSchema {
    match schema {
        MetaSchemaRef::Reference(name) => {
            registry.schemas.get(name).expect("every type registers its schema")
        }
        MetaSchemaRef::Inline(schema) => match schema.all_of.first() {
            Some(base) => resolve(registry, base),
            None => schema,
        },
    }
}

fn inputs(registry: &Registry, request: &MetaSchemaRef) -> Vec<InputField> {
    let request = resolve(registry, request);
    let field = |(name, field): &(&'static str, MetaSchemaRef)| {
        let default = match field {
            MetaSchemaRef::Inline(schema) => schema.default.clone(),
            MetaSchemaRef::Reference(_) => None,
        };
        let schema = BodySchema::compile(registry, field);
        let kind = match &schema.shape {
            Shape::Number(range) | Shape::Integer(range) => InputKind::Numbers(*range),
            Shape::Member(members) => InputKind::Members(members.clone()),
            Shape::List { .. } | Shape::NumberList { .. } => InputKind::Whole,
            _ => InputKind::Values,
        };
        let is_required = request.required.contains(name);
        InputField { name, is_required, default, kind, schema }
    };
    request.properties.iter().map(field).collect()
}

fn add_output(
    registry: &Registry,
    path: Vec<&'static str>,
    field: &MetaSchemaRef,
    outputs: &mut Vec<OutputField>,
) {
    let schema = resolve(registry, field);
    let kind = match schema.ty {
        "number" => OutputKind::Number,
        "integer" => OutputKind::Integer,
        "boolean" => OutputKind::Boolean,
        "string" => OutputKind::Text,
        "array" => OutputKind::Texts,
        "object" if path.len() == 1 => {
            for (name, field) in &schema.properties {
                let path = path.iter().copied().chain([*name]).collect();
                add_output(registry, path, field, outputs);
            }
            return;
        }
        other => panic!("no column holds the type {other} of {path:?}"),
    };
    outputs.push(OutputField { path, kind });
}
