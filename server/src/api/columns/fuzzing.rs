//! Columns of an operation that the first byte of an input chooses.

use super::COLUMNAR;
use crate::http::columns::{ColumnsEndpoint, fuzzing};

fn chosen(bytes: &[u8]) -> Option<(ColumnsEndpoint, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    Some((COLUMNAR[usize::from(*first) % COLUMNAR.len()].endpoint(), rest))
}

/// Reads columns in JSON and computes the first rows.
///
/// # Panics
///
/// Panics where a refusal is long, or where the answer is not one element for each row.
pub fn json_columns(bytes: &[u8]) {
    if let Some((endpoint, body)) = chosen(bytes) {
        fuzzing::json_columns(&endpoint, body);
    }
}

/// Reads a stream of Arrow and computes the first rows.
///
/// # Panics
///
/// Panics where [`json_columns`] does, and where the reader panics.
pub fn arrow_stream(bytes: &[u8]) {
    if let Some((endpoint, body)) = chosen(bytes) {
        fuzzing::arrow_stream(&endpoint, body);
    }
}

/// Writes columns that the input draws as Arrow and as JSON, reads both, and changes the stream.
///
/// # Panics
///
/// Panics where the two forms are different requests, and where [`arrow_stream`] does.
pub fn arrow_columns(bytes: &[u8]) {
    if let Some((endpoint, body)) = chosen(bytes) {
        fuzzing::arrow_columns(&endpoint, body);
    }
}
