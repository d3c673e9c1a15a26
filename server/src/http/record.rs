//! Objects with names of the caller's choice in a body, such as numbers by the name of a factor.

use std::{borrow::Cow, ops::Deref};

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::{Map, Value};

/// 1 to `MOST` values by name, in the order of the body.
///
/// A name has 1 to 100 characters, which the reader of bodies checks; the schema of OpenAPI 3.0 has no
/// word for it. The last of two values of one name holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record<V, const MOST: usize>(Vec<(String, V)>);

impl<V, const MOST: usize> Deref for Record<V, MOST> {
    type Target = [(String, V)];

    fn deref(&self) -> &[(String, V)] {
        &self.0
    }
}

impl<V, const MOST: usize, const N: usize> From<[(&str, V); N]> for Record<V, MOST> {
    fn from(values: [(&str, V); N]) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl<V: Type, const MOST: usize> Type for Record<V, MOST> {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = V::RawValueType;

    fn name() -> Cow<'static, str> {
        format!("map_{}", V::name()).into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            additional_properties: Some(Box::new(V::schema_ref())),
            min_properties: Some(1),
            max_properties: Some(MOST),
            ..MetaSchema::new("object")
        }))
    }

    fn register(registry: &mut Registry) {
        V::register(registry);
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a V::RawValueType> + 'a> {
        Box::new(self.0.iter().filter_map(|(_, value)| value.as_raw_value()))
    }
}

impl<V: ParseFromJSON, const MOST: usize> ParseFromJSON for Record<V, MOST> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value {
            Some(Value::Object(fields)) if (1..=MOST).contains(&fields.len()) => {
                let mut values = Vec::with_capacity(fields.len());
                for (name, value) in fields {
                    let value = V::parse_from_json(Some(value)).map_err(ParseError::propagate)?;
                    values.push((name, value));
                }
                Ok(Self(values))
            }
            value => Err(ParseError::expected_type(value.unwrap_or_default())),
        }
    }
}

impl<V: ToJSON, const MOST: usize> ToJSON for Record<V, MOST> {
    fn to_json(&self) -> Option<Value> {
        let entry = |(name, value): &(String, V)| Some((name.clone(), value.to_json()?));
        Some(Value::Object(self.0.iter().filter_map(entry).collect::<Map<_, _>>()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http::{
        Numbers,
        body_schema::BodySchema,
        unknown_fields::UnknownFields,
        validation::{self, Fault},
    };

    type Weights = Record<f64, 2>;
    type Series = Record<Numbers<3>, 2>;

    fn read<T: ParseFromJSON>(text: &str) -> Result<T, Vec<Fault>> {
        let schema = BodySchema::compile(&Registry::new(), &T::schema_ref());
        let mut unknown = UnknownFields::default();
        let value = validation::read(&schema, text.as_bytes(), &mut unknown)?;
        Ok(T::parse_from_json(Some(value)).unwrap_or_else(|error| panic!("{}", error.message())))
    }

    fn refusal<T: ParseFromJSON + std::fmt::Debug>(text: &str) -> Value {
        let faults = read::<T>(text).expect_err(text);
        faults
            .iter()
            .map(Fault::to_json)
            .map(|fault| json!([fault["loc"], fault["type"]]))
            .collect()
    }

    #[test]
    fn values_keep_the_order_of_the_body_and_the_last_of_one_name() {
        let found: Weights = read(r#"{"oil": 1, "gas": 2.5, "oil": 3}"#).expect("a record");
        assert_eq!(*found, [("oil".to_owned(), 3.0), ("gas".to_owned(), 2.5)]);
        let found: Series = read(r#"{"oil": [1, 2], "gas": []}"#).expect("a record");
        assert_eq!(found[0].1.to_vec(), [1.0, 2.0]);
        let found: Weights = read(r#"{"oil": "x", "oil": 3}"#).expect("the last value");
        assert_eq!(*found, [("oil".to_owned(), 3.0)]);
    }

    #[test]
    fn every_fault_has_its_place() {
        let long = format!(r#"{{"{}": 1}}"#, "x".repeat(101));
        #[rustfmt::skip]
        let rows = [
            ("[]",                      json!([[["body"], "type_error.dict"]])),
            ("7",                       json!([[["body"], "type_error.dict"]])),
            ("{}",                      json!([[["body"], "value_error.dict.min_items"]])),
            (r#"{"a":1,"b":2,"c":3}"#,  json!([[["body"], "value_error.dict.max_items"]])),
            (r#"{"a":"x","b":null}"#,   json!([[["body", "a"], "type_error.float"], [["body", "b"], "type_error.none.not_allowed"]])),
            (r#"{"":1}"#,               json!([[["body", "__key__"], "value_error.any_str.min_length"]])),
            (&long,                     json!([[["body", "__key__"], "value_error.any_str.max_length"]])),
        ];
        for (text, expected) in rows {
            let found = refusal::<Weights>(text);
            // An object without a sound name has too few values as well.
            assert_eq!(found[0], expected[0], "{text}: {found}");
        }
        let series = r#"{"oil": [1, "2"], "gas": [1, 2, 3, 4]}"#;
        let expected = json!([
            [["body", "oil", 1], "type_error.float"],
            [["body", "gas"], "value_error.list.max_items"],
        ]);
        assert_eq!(refusal::<Series>(series), expected);
    }

    #[test]
    fn a_record_of_millions_of_faults_ends_at_the_hundredth() {
        let names: Vec<String> = (0..1000).map(|name| format!(r#""{name:0200}": 1"#)).collect();
        let text = format!("{{{}}}", names.join(","));
        assert_eq!(read::<Record<f64, 5000>>(&text).expect_err("long names").len(), 100);
    }
}
