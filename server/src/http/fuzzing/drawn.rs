//! Values that an input draws along a schema, so that a random input is close to a valid body.

use serde_json::{Map, Value};

use super::super::body_schema::{BodySchema, NumberRange, Shape};

/// The rest of an input, from which values are drawn. An input at its end draws zeros.
pub(crate) struct Drawn<'a>(pub(crate) &'a [u8]);

/// The numbers of drawn values.
const NUMBERS: [f64; 12] = [100.0, 0.05, 0.2, 1.0, 2.0, 0.5, 42.5, 0.0, -1.0, 1e-9, 1e300, 12.0];
/// The texts of drawn values, of each format.
const TEXTS: [&str; 16] = [
    "2024-01-31",
    "2025-06-30",
    "2030-12-31",
    "2024-02-29",
    "1M",
    "-2W",
    "10Y6M",
    "following",
    "act/365f",
    "TARGET",
    "short-front",
    "x^2 + sin(x)",
    "",
    "\u{e9}\"\\",
    "9999-12-31",
    "0001-01-01",
];
/// The most items of a drawn list.
const MOST_ITEMS: u8 = 4;

impl Drawn<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub(crate) fn one<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[usize::from(self.byte()) % all.len()]
    }

    /// Draws a value; `None` for one in eight.
    pub(crate) fn optional<T>(&mut self, draw: impl Fn(&mut Self) -> T) -> Option<T> {
        (!self.byte().is_multiple_of(8)).then(|| draw(self))
    }

    pub(crate) fn number(&mut self) -> f64 {
        *self.one(&NUMBERS)
    }

    pub(crate) fn text(&mut self) -> &'static str {
        self.one::<&'static str>(&TEXTS)
    }

    /// Draws a value that a schema mostly allows.
    pub(crate) fn value(&mut self, schema: &BodySchema) -> Value {
        match &schema.shape {
            _ if schema.is_nullable && self.byte() % 8 == 1 => Value::Null,
            Shape::Object(properties) => {
                let mut fields = Map::new();
                for property in properties {
                    let chance = self.byte() % 8;
                    if if property.is_required { chance < 7 } else { chance < 3 } {
                        fields.insert(property.name.to_owned(), self.value(&property.schema));
                    }
                }
                fields.into()
            }
            Shape::Record { value, .. } => {
                let count = self.byte() % MOST_ITEMS;
                let names = (0..count).map(|place| format!("name {place}"));
                names.map(|name| (name, self.value(value))).collect::<Map<_, _>>().into()
            }
            Shape::List { item, .. } => {
                let count = self.byte() % MOST_ITEMS;
                (0..count).map(|_| self.value(item)).collect()
            }
            Shape::NumberList { item, .. } => {
                let count = self.byte() % MOST_ITEMS;
                (0..count).map(|_| self.number_within(*item)).collect()
            }
            Shape::Number(range) => self.number_within(*range),
            Shape::Integer(range) => match self.number_within(*range).as_f64() {
                Some(number) => Value::from(number.trunc() as i64),
                None => Value::Null,
            },
            Shape::Boolean => Value::from(self.byte() % 2 == 1),
            Shape::Member(members) => self.one(members).clone(),
            Shape::Text { .. } => Value::from(self.text()),
            Shape::JsonText | Shape::Any => Map::new().into(),
        }
    }

    /// Draws a number, three of four times within a range.
    fn number_within(&mut self, range: NumberRange) -> Value {
        let number = self.number();
        let is_free = self.byte() % 4 == 1;
        let least = range.minimum.unwrap_or(f64::MIN);
        let within = number.clamp(least, range.maximum.unwrap_or(f64::MAX).max(least));
        Value::from(if is_free { number } else { within })
    }
}
