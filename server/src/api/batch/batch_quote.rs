//! The terms of a batch, without its computations and charges.

use super::{
    catalogue::BatchCatalogue,
    prepared::{CallFaults, prepare},
    request::{Batch, BatchMode},
};
use crate::http::{AdmittedCall, ApiError, PriceRule, QuotedCalls};

/// Checks every call, and returns the terms of those that are accepted, as the data of the answer. A
/// refused call of a partial batch costs nothing; an atomic batch is refused with its faults.
pub(super) async fn run(
    call: &AdmittedCall,
    operation: &'static str,
    batch: Batch,
    catalogue: &BatchCatalogue,
) -> Result<String, ApiError> {
    let (options, mode) = (batch.options(), batch.mode);
    let (mut quoted, mut faults) =
        (QuotedCalls::of(operation, PriceRule::Batch), CallFaults::default());
    for (position, one) in batch.calls.into_iter().enumerate() {
        match (prepare(call, position, one, options, catalogue).await, mode) {
            (Ok(prepared), _) => quoted.add(prepared.tier(), prepared.cost()),
            (Err(refusal), BatchMode::Atomic) => faults.add(position, refusal)?,
            (Err(_), BatchMode::Partial) => {}
        }
    }
    faults.none()?;
    call.quote(quoted).await
}
