//! The computations of the run with their columns, as bodies in both forms.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::writer::StreamWriter;

use crate::target::Failure;

/// The rows of a request.
pub(super) const ROWS: usize = 1_000_000;
/// The fields that hold for every row.
const SHARED: [(&str, &str); 3] = [("spot", "100"), ("risk_free_rate", "0.05"), ("strike", "100")];

/// The form of a body and of its answer.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Json,
    Arrow,
}

impl Form {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Arrow => "Arrow",
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Arrow => "application/vnd.apache.arrow.stream",
        }
    }
}

/// The columns of a computation in one form.
pub(super) struct Body {
    pub(super) form: Form,
    pub(super) bytes: Vec<u8>,
}

/// A computation with the columns that vary by row.
pub(super) struct Computation {
    pub(super) name: &'static str,
    /// The path of the single call.
    pub(super) path: &'static str,
    /// The field of the answer that is asked for.
    pub(super) field: &'static str,
    columns: [(&'static str, Vec<f64>); 2],
}

impl Computation {
    /// Prices, of options with different times and volatilities.
    pub(super) fn prices() -> Self {
        let volatilities = column(|row| 0.1 + 0.4 * spread(row));
        Self {
            name: "prices",
            path: "/quantlib/pricing/bs/price",
            field: "price",
            columns: [times(), ("volatility", volatilities)],
        }
    }

    /// Implied volatilities, of options with different times and prices.
    pub(super) fn implied_volatilities() -> Self {
        let prices = column(|row| 15.0 + 20.0 * spread(row));
        Self {
            name: "implied volatilities",
            path: "/quantlib/pricing/bs/implied-vol",
            field: "implied_volatility",
            columns: [times(), ("market_price", prices)],
        }
    }

    /// Returns the path of the columns, with the field that is asked for.
    pub(super) fn columns_path(&self) -> String {
        format!("{}/columns?fields={}", self.path, self.field)
    }

    /// Writes the body of the single call of a row.
    pub(super) fn single(&self, row: usize) -> String {
        let fields = self.columns.iter().map(|(name, numbers)| field(name, &digits(numbers[row])));
        object(fields)
    }

    /// Writes the columns as JSON: a body below the default limit.
    pub(super) fn json(&self) -> Vec<u8> {
        let lists = self.columns.iter().map(|(name, numbers)| {
            let texts: Vec<String> = numbers.iter().copied().map(digits).collect();
            field(name, &format!("[{}]", texts.join(",")))
        });
        object(lists).into()
    }

    /// Writes the columns as a stream of Arrow.
    pub(super) fn arrow(&self) -> Result<Vec<u8>, Failure> {
        let arrays = self.columns.iter().map(|(name, numbers)| {
            let array: ArrayRef = Arc::new(Float64Array::from(numbers.clone()));
            (*name, array)
        });
        let batch = RecordBatch::try_from_iter(arrays)?;
        let schema = Arc::new(batch.schema().as_ref().clone().with_metadata(SHARED));
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        writer.write(&batch.with_schema(schema.clone())?)?;
        Ok(writer.into_inner()?)
    }
}

/// Makes a column of numbers with four digits after the point, so that both forms have the same bits.
fn column(of_row: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..ROWS).map(|row| (of_row(row) * 1e4).round() / 1e4).collect()
}

fn times() -> (&'static str, Vec<f64>) {
    ("time_to_maturity", column(|row| 0.25 + (row % 1000) as f64 / 500.0))
}

/// Returns a number from 0 to 1 for a row.
fn spread(row: usize) -> f64 {
    (row % 997) as f64 / 997.0
}

fn digits(number: f64) -> String {
    format!("{number:.4}")
}

fn field(name: &str, text: &str) -> String {
    format!("\"{name}\":{text}")
}

/// Writes an object of these fields and of those that hold for every row.
fn object(fields: impl Iterator<Item = String>) -> String {
    let shared = SHARED.iter().map(|(name, text)| field(name, text));
    format!("{{{}}}", shared.chain(fields).collect::<Vec<_>>().join(","))
}
