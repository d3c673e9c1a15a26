//! Lists of numbers in a body, converted from their JSON text straight into doubles, and numbers of an
//! answer. Lists in which numbers may be null are read as JSON values, and must be short.

use std::{borrow::Cow, ops::Deref};

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

use super::number_text::NumberText;

/// Returns a number with −0 made 0, so that no answer prints as "-0.0".
#[must_use]
pub fn without_negative_zero(number: f64) -> f64 {
    // IEEE 754: −0.0 + 0.0 is +0.0.
    number + 0.0
}

/// A list of at most `MOST` numbers, for requests.
///
/// A request's list of numbers must have this type: the reader of bodies hands the list over as
/// text. As the element of another list, `MOST` bounds each of the inner lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers<const MOST: usize = { usize::MAX }>(Vec<f64>);

impl<const MOST: usize> Numbers<MOST> {
    /// Returns the numbers of the list as doubles.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f64> {
        self.0.clone()
    }
}

impl<const MOST: usize> Deref for Numbers<MOST> {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl<const MOST: usize> AsRef<[f64]> for Numbers<MOST> {
    fn as_ref(&self) -> &[f64] {
        &self.0
    }
}

impl<const MOST: usize> From<Vec<f64>> for Numbers<MOST> {
    fn from(numbers: Vec<f64>) -> Self {
        Self(numbers)
    }
}

impl<const MOST: usize> Type for Numbers<MOST> {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = f64;

    fn name() -> Cow<'static, str> {
        Vec::<f64>::name()
    }

    fn schema_ref() -> MetaSchemaRef {
        let MetaSchemaRef::Inline(list) = Vec::<f64>::schema_ref() else {
            unreachable!("the schema of a list is inline")
        };
        let max_items = (MOST != usize::MAX).then_some(MOST);
        MetaSchemaRef::Inline(Box::new(MetaSchema { max_items, ..*list }))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a f64> + 'a> {
        Box::new(self.0.iter())
    }
}

impl<const MOST: usize> ParseFromJSON for Numbers<MOST> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value {
            Some(Value::String(text)) => {
                let list = NumberText::new(&text);
                let list = list.filter(|list| list.is_numeric && list.len() <= MOST);
                let list =
                    list.ok_or_else(|| ParseError::custom("a list of numbers is expected"))?;
                let mut numbers = Vec::with_capacity(list.len());
                numbers.extend(list.numbers());
                Ok(Self(numbers))
            }
            value => Err(ParseError::expected_type(value.unwrap_or_default())),
        }
    }
}

impl<const MOST: usize> ToJSON for Numbers<MOST> {
    fn to_json(&self) -> Option<Value> {
        self.0.to_json()
    }
}

/// A list of numbers of which some may be null, for requests.
///
/// A field of this type must limit the number of items, because each is read as a JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptionalNumbers(Vec<Option<f64>>);

impl OptionalNumbers {
    /// Returns the numbers of the list, with `absent` in place of each null.
    #[must_use]
    pub fn or(&self, absent: f64) -> Vec<f64> {
        self.0.iter().map(|number| number.unwrap_or(absent)).collect()
    }
}

impl Deref for OptionalNumbers {
    type Target = [Option<f64>];

    fn deref(&self) -> &[Option<f64>] {
        &self.0
    }
}

impl From<Vec<f64>> for OptionalNumbers {
    fn from(numbers: Vec<f64>) -> Self {
        Self(numbers.into_iter().map(Some).collect())
    }
}

impl Type for OptionalNumbers {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = f64;

    fn name() -> Cow<'static, str> {
        Vec::<Option<f64>>::name()
    }

    fn schema_ref() -> MetaSchemaRef {
        let (MetaSchemaRef::Inline(list), MetaSchemaRef::Inline(number)) =
            (Vec::<f64>::schema_ref(), f64::schema_ref())
        else {
            unreachable!("the schemas of a list and of a number are inline")
        };
        let number = MetaSchema { nullable: true, ..*number };
        let items = Some(Box::new(MetaSchemaRef::Inline(Box::new(number))));
        MetaSchemaRef::Inline(Box::new(MetaSchema { items, ..*list }))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a f64> + 'a> {
        Box::new(self.0.iter().flatten())
    }
}

impl ParseFromJSON for OptionalNumbers {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        Vec::parse_from_json(value).map(Self).map_err(ParseError::propagate)
    }
}

impl ToJSON for OptionalNumbers {
    fn to_json(&self) -> Option<Value> {
        self.0.to_json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_lists_of_a_matrix_have_their_own_limit() {
        let list = |text: &str| Numbers::<2>::parse_from_json(Some(Value::from(text)));
        assert_eq!(list("[1,2]").expect("two numbers").to_vec(), [1.0, 2.0]);
        assert!(list("[1,2,3]").is_err());
    }

    #[test]
    fn no_number_keeps_the_sign_of_zero() {
        assert_eq!(without_negative_zero(-0.0).to_bits(), 0);
        assert_eq!(without_negative_zero(-1.5), -1.5);
    }

    #[test]
    fn a_list_of_optional_numbers_keeps_the_places_of_its_nulls() {
        let list = OptionalNumbers::parse_from_json(Some(serde_json::json!([0, null, 0.5])));
        assert_eq!(list.expect("a list").or(f64::INFINITY), [0.0, f64::INFINITY, 0.5]);
        for other in [serde_json::json!(["1"]), serde_json::json!({}), Value::Null] {
            assert!(OptionalNumbers::parse_from_json(Some(other)).is_err());
        }
        let MetaSchemaRef::Inline(schema) = OptionalNumbers::schema_ref() else {
            panic!("the schema of a list is inline")
        };
        let Some(MetaSchemaRef::Inline(item)) = schema.items.map(|item| *item) else {
            panic!("a list has items")
        };
        assert!(item.nullable && item.ty == "number" && !schema.nullable);
    }
}
