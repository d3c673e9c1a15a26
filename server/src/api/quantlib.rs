//! The computations over HTTP: one file per module of `quant-core`.
//!
//! An endpoint is a wire struct, its conversion and one call into `quant-core`. What is common
//! to all of them, from the key to the debit, is [`Metered`](crate::http::Metered).

pub mod curves;
pub mod economics;
pub mod entropy;
pub mod instruments;
pub mod numerical;
pub mod portfolio;
pub mod pricing;
pub mod regulatory;
pub mod time;

use poem_openapi::types::{Example, ToJSON};

/// A request that is answered by one call into `quant-core`.
pub trait Computation: Send + 'static {
    /// What it answers.
    type Answer: ToJSON + Send + 'static;

    /// Computes the answer.
    ///
    /// # Errors
    ///
    /// Whatever the computation in `quant-core` refuses.
    fn compute(&self) -> quant_core::Result<Self::Answer>;

    /// Whether this request may take over a millisecond, and so must not hold up others.
    fn is_long(&self) -> bool {
        false
    }
}

/// The answer to a computation's own example, so that no documented answer is invented.
fn example_answer<C: Computation + Example>() -> C::Answer {
    C::example().compute().expect("the example of a computation is sound")
}

/// How the wire calls an argument of `quant-core`, where it has another name.
#[must_use]
pub fn wire_name(argument: &'static str) -> &'static str {
    match argument {
        "spot1" => "S1",
        "spot2" => "S2",
        "dividend_yield1" => "q1",
        "dividend_yield2" => "q2",
        "volatility1" => "sigma1",
        "volatility2" => "sigma2",
        "correlation" => "rho",
        same => same,
    }
}
