//! Lists of numbers in a body, converted from their JSON text straight into doubles.

use std::{borrow::Cow, ops::Deref};

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

use super::number_text::NumberText;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_lists_of_a_matrix_have_their_own_limit() {
        let list = |text: &str| Numbers::<2>::parse_from_json(Some(Value::from(text)));
        assert_eq!(list("[1,2]").expect("two numbers").to_vec(), [1.0, 2.0]);
        assert!(list("[1,2,3]").is_err());
    }
}
