//! The schema of a value as the reader of bodies needs it: compiled once, without references.

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use serde_json::Value;

use super::raw_json::RawJson;

/// The schema of a JSON value in a request's body.
#[derive(Clone, Debug)]
pub(crate) struct BodySchema {
    pub(super) shape: Shape,
    pub(super) is_nullable: bool,
}

/// The type of a value with its limits.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A JSON object with known fields.
    Object(Vec<Property>),
    /// A JSON object with names of the caller's choice and values of one schema, within bounds of
    /// their number.
    Record { value: Box<BodySchema>, size: SizeRange },
    /// A JSON list of values of one schema, within bounds of its size.
    List { item: Box<BodySchema>, size: SizeRange },
    /// A list of numbers, which is read without a JSON value for each number.
    NumberList { item: NumberRange, size: SizeRange },
    /// A JSON number within a range.
    Number(NumberRange),
    /// A whole number within a range.
    Integer(NumberRange),
    /// `true` or `false`.
    Boolean,
    /// One of a few values, an enumeration.
    Member(Vec<Value>),
    /// A text with limits of its length in characters, and a format.
    Text { length: SizeRange, format: Option<&'static str> },
    /// A JSON object that stays text.
    JsonText,
    /// A value that the schema does not describe.
    Any,
}

/// A known field of an object.
#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) is_required: bool,
    /// The documented value of an absent field; `None` for a field without one.
    pub(super) default: Option<Value>,
    pub(super) schema: BodySchema,
}

/// The accepted sizes of a list or a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SizeRange {
    pub(super) least: Option<usize>,
    pub(super) most: Option<usize>,
}

/// The accepted values of a number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberRange {
    pub(super) minimum: Option<f64>,
    pub(super) is_minimum_exclusive: bool,
    pub(super) maximum: Option<f64>,
    pub(super) is_maximum_exclusive: bool,
}

impl BodySchema {
    /// Compiles a schema, with the schemas of `registry` in place of references.
    ///
    /// # Panics
    ///
    /// Where the registry has no schema for a reference.
    #[must_use]
    pub(crate) fn compile(registry: &Registry, schema: &MetaSchemaRef) -> Self {
        match schema {
            MetaSchemaRef::Reference(name) => {
                let found = registry.schemas.get(name);
                Self::of(registry, found.expect("every type registers its schema"))
            }
            MetaSchemaRef::Inline(schema) => match schema.all_of.first() {
                None => Self::of(registry, schema),
                // A reference to which a field adds a default or the nullability.
                Some(base) => {
                    Self { is_nullable: schema.nullable, ..Self::compile(registry, base) }
                }
            },
        }
    }

    fn of(registry: &Registry, schema: &MetaSchema) -> Self {
        Self { shape: Shape::of(registry, schema), is_nullable: schema.nullable }
    }
}

impl Shape {
    fn of(registry: &Registry, schema: &MetaSchema) -> Self {
        match schema.ty {
            "object" if schema.format == Some(RawJson::FORMAT) => Self::JsonText,
            "object" => Self::object(registry, schema),
            "array" => Self::list(registry, schema),
            "number" => Self::Number(NumberRange::of(schema)),
            "integer" => Self::Integer(NumberRange::of_integer(schema)),
            "boolean" => Self::Boolean,
            "string" if !schema.enum_items.is_empty() => Self::Member(schema.enum_items.clone()),
            "string" => {
                let length = SizeRange { least: schema.min_length, most: schema.max_length };
                Self::Text { length, format: schema.format }
            }
            _ => Self::Any,
        }
    }

    fn object(registry: &Registry, schema: &MetaSchema) -> Self {
        match &schema.additional_properties {
            Some(value) if schema.properties.is_empty() => Self::Record {
                value: Box::new(BodySchema::compile(registry, value)),
                size: SizeRange { least: schema.min_properties, most: schema.max_properties },
            },
            _ => Self::Object(properties(registry, schema)),
        }
    }

    fn list(registry: &Registry, schema: &MetaSchema) -> Self {
        let size = SizeRange { least: schema.min_items, most: schema.max_items };
        let Some(items) = &schema.items else { return Self::Any };
        match BodySchema::compile(registry, items) {
            BodySchema { shape: Self::Number(item), is_nullable: false } => {
                Self::NumberList { item, size }
            }
            item => Self::List { item: Box::new(item), size },
        }
    }
}

fn properties(registry: &Registry, schema: &MetaSchema) -> Vec<Property> {
    let property = |(name, field): &(&'static str, MetaSchemaRef)| Property {
        name,
        is_required: schema.required.contains(name),
        default: match field {
            MetaSchemaRef::Inline(field) => field.default.clone(),
            MetaSchemaRef::Reference(_) => None,
        },
        schema: BodySchema::compile(registry, field),
    };
    schema.properties.iter().map(property).collect()
}

impl NumberRange {
    /// The range of a whole number, within that of its type, which the format names. The limits of 64 bits are
    /// the last doubles that the type has.
    fn of_integer(schema: &MetaSchema) -> Self {
        let stated = Self::of(schema);
        let (least, most) = match schema.format {
            Some("uint16") => (0.0, f64::from(u16::MAX)),
            Some("uint32") => (0.0, f64::from(u32::MAX)),
            Some("uint64") => (0.0, 18_446_744_073_709_549_568.0),
            Some("int32") => (f64::from(i32::MIN), f64::from(i32::MAX)),
            Some("int64") => (-9_223_372_036_854_775_808.0, 9_223_372_036_854_774_784.0),
            _ => return stated,
        };
        Self {
            minimum: stated.minimum.or(Some(least)),
            maximum: stated.maximum.or(Some(most)),
            ..stated
        }
    }

    fn of(schema: &MetaSchema) -> Self {
        Self {
            minimum: schema.minimum,
            is_minimum_exclusive: schema.exclusive_minimum == Some(true),
            maximum: schema.maximum,
            is_maximum_exclusive: schema.exclusive_maximum == Some(true),
        }
    }
}
