//! Columns: one computation for many rows, from columns of its fields to columns of its answer.
//!
//! A body has a list or one value for each field of the single request; one value holds for every
//! row. The answer has a list for each field of the single answer that the request does not have.
//! `plan.rs` holds what the schemas say about the fields, `input.rs` reads a body, `rows.rs` computes,
//! and `output.rs` writes. `endpoint.rs` is the whole of a request.

mod arrow;
mod endpoint;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod input;
mod output;
mod plan;
mod price;
mod rows;

pub(crate) use arrow::MEDIA_TYPE as ARROW;
pub(crate) use endpoint::{ColumnsEndpoint, ROWS_OF_A_JOB};
pub(crate) use plan::Plan;
pub use price::{MAX_ROWS, ROWS_OF_A_MARKER, cost};
pub(crate) use rows::{FromNumbers, RowsFunction, ToNumbers, by_numbers, by_value};
