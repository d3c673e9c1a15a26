//! An example of the document, grown to the sizes that its schema allows.
//!
//! Lists of one length in the example stay of one length: the rows and columns of a matrix, or two
//! series. What a schema cannot state is guessed: a rising list goes on rising, a distribution still
//! sums to 1, and a square matrix is symmetric and positive definite.

use std::{collections::HashMap, fmt};

use serde_json::{Value, json};

use super::document::resolved;

/// The size of a grown example.
#[derive(Clone, Copy)]
pub(super) struct Size {
    /// The most items of a list.
    pub(super) most: usize,
    /// True if whole numbers are the largest that their schema allows.
    pub(super) largest_integers: bool,
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            0 => formatter.write_str("the example")?,
            most => write!(formatter, "up to {most} items")?,
        }
        if self.largest_integers {
            formatter.write_str(", largest integers")?;
        }
        Ok(())
    }
}

/// Returns the example of a schema with lists and whole numbers of a size.
pub(super) fn grown(schema: &'static Value, example: &Value, size: Size) -> Value {
    let mut lengths = HashMap::new();
    limits(schema, example, size.most, &mut lengths);
    Growth { lengths, size }.value(schema, example)
}

/// Collects the largest new length of the lists of each length.
fn limits(schema: &'static Value, value: &Value, most: usize, lengths: &mut HashMap<usize, usize>) {
    let schema = resolved(schema);
    match value {
        Value::Array(items) => {
            let own = schema["maxItems"].as_u64().and_then(|most| most.try_into().ok());
            let own = own.unwrap_or(usize::MAX).min(most);
            let length = lengths.entry(items.len()).or_insert(usize::MAX);
            *length = own.min(*length);
            for item in items {
                limits(&schema["items"], item, most, lengths);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                limits(&schema["properties"][name], value, most, lengths);
            }
        }
        _ => {}
    }
}

struct Growth {
    lengths: HashMap<usize, usize>,
    size: Size,
}

impl Growth {
    fn value(&self, schema: &'static Value, value: &Value) -> Value {
        let schema = resolved(schema);
        match value {
            Value::Array(items) => Value::Array(self.list(&schema["items"], items)),
            Value::Object(fields) => {
                let grown = fields.iter().map(|(name, value)| {
                    (name.clone(), self.value(&schema["properties"][name], value))
                });
                Value::Object(grown.collect())
            }
            Value::Number(_) if self.size.largest_integers && schema["type"] == "integer" => schema
                .get("maximum")
                .and_then(Value::as_f64)
                .map_or_else(|| value.clone(), |most| json!(most as i64)),
            other => other.clone(),
        }
    }

    fn list(&self, schema: &'static Value, items: &[Value]) -> Vec<Value> {
        let length = self.lengths.get(&items.len()).copied().unwrap_or_default().max(items.len());
        let numbers: Option<Vec<f64>> = items.iter().map(Value::as_f64).collect();
        if let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) {
            return if length == numbers.len() { items.to_vec() } else { series(&numbers, length) };
        }
        if length > items.len()
            && let Some((diagonal, other)) = square(items)
        {
            let row =
                |row| (0..length).map(move |column| if column == row { diagonal } else { other });
            return (0..length).map(|at| row(at).collect()).collect();
        }
        let grown: Vec<Value> = items.iter().map(|item| self.value(schema, item)).collect();
        grown.iter().cycle().take(length).cloned().collect()
    }
}

/// Continues a list of numbers.
fn series(numbers: &[f64], length: usize) -> Vec<Value> {
    let is_distribution = numbers.iter().all(|&number| number >= 0.0)
        && (numbers.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    if is_distribution {
        return vec![json!(1.0 / length as f64); length];
    }
    let is_rising = numbers.len() > 1 && numbers.windows(2).all(|pair| pair[0] < pair[1]);
    let last = numbers.len() - 1;
    let number = |at: usize| match numbers.get(at) {
        Some(&number) => number,
        None if is_rising => {
            let step = numbers[last] - numbers[last - 1];
            numbers[last] + step * (at - last) as f64
        }
        None => numbers[at % numbers.len()],
    };
    (0..length).map(|at| json!(number(at))).collect()
}

/// The largest element of the diagonal of a square matrix, and a smaller element beside it, with which
/// a matrix of any size is positive definite; `None` for other lists.
fn square(rows: &[Value]) -> Option<(f64, f64)> {
    let rows: Option<Vec<&Vec<Value>>> = rows.iter().map(Value::as_array).collect();
    let rows =
        rows.filter(|rows| rows.len() > 1 && rows.iter().all(|row| row.len() == rows.len()))?;
    let diagonal = (0..rows.len()).filter_map(|at| rows[at][at].as_f64()).fold(0.0, f64::max);
    let beside = rows[0][1].as_f64()?;
    Some((diagonal, beside.clamp(0.0, diagonal / 2.0)))
}
