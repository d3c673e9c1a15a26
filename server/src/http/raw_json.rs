//! A JSON object in a body whose fields another schema describes.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

/// The text of a JSON object, which the reader of bodies hands over as the caller wrote the object.
/// No value is built of the object, and no digit of a number changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson(pub String);

impl RawJson {
    /// The `format` in the schema by which the reader of bodies knows the type.
    pub(crate) const FORMAT: &'static str = "json";
}

impl Type for RawJson {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "object(json)".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("object", Self::FORMAT)))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::once(self))
    }
}

impl ParseFromJSON for RawJson {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value {
            Some(Value::String(text)) => Ok(Self(text)),
            value => Err(ParseError::expected_type(value.unwrap_or_default())),
        }
    }
}

impl ToJSON for RawJson {
    fn to_json(&self) -> Option<Value> {
        serde_json::from_str(&self.0).ok()
    }
}
