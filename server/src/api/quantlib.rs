//! The computations over HTTP: one file per module of `quant-core`.
//!
//! An endpoint is a wire struct, its conversion and one call into `quant-core`. The common part,
//! from the key to the debit, is [`Metered`](crate::http::Metered). The table of
//! [`operations`](super::operations) names each computation with its tier and cost.

pub mod analysis;
pub mod curves;
pub mod economics;
pub mod entropy;
pub mod instruments;
pub mod numerical;
pub mod portfolio;
pub mod pricing;
pub mod regulatory;
pub mod risk;
pub mod scheduling;
pub mod solver;
pub mod time;

use poem_openapi::types::Example;

pub use crate::http::{Computation, NoArguments, RequestFor, SharedComputation};

/// Returns the answer to a computation's own example, so that every documented answer is computed.
fn example_answer<C: Computation + Example>() -> C::Answer {
    C::example().compute().expect("the example of a computation is sound")
}
