//! The trait of a metered computation.

use poem_openapi::types::{ParseFromJSON, ToJSON};

/// A request that one call into `quant-core` answers.
pub trait Computation: ParseFromJSON + Send + 'static {
    /// The data of the answer.
    type Answer: ToJSON + Send + 'static;

    /// Computes the answer.
    ///
    /// # Errors
    ///
    /// Every error of the function of `quant-core`.
    fn compute(&self) -> quant_core::Result<Self::Answer>;

    /// Returns whether this request may take over a millisecond, so that it must run off the async threads.
    fn is_long(&self) -> bool {
        false
    }

    /// The name of an argument of `quant-core` in this request, where the two differ.
    #[must_use]
    fn wire_name(argument: &'static str) -> &'static str {
        argument
    }
}
