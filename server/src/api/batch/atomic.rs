//! Batches whose calls are charged together, or not at all.

use account_core::idempotency::Claim;
use futures_util::{StreamExt as _, stream};

use super::{
    catalogue::BatchCatalogue,
    prepared::{CallFaults, prepare},
    request::{Batch, CALLS_AT_ONCE, RepeatedBatch},
    results::Results,
};
use crate::{
    body_memory::HeldBytes,
    http::{AdmittedCall, ApiError, ComputedCall, ParsedCall},
};

/// Runs the calls, or refuses the request with the refusal of a call. Faults of several calls are
/// listed together.
pub(super) async fn run(
    call: &AdmittedCall,
    batch: Batch,
    key: Option<RepeatedBatch>,
    held: HeldBytes,
    catalogue: &BatchCatalogue,
) -> Result<String, ApiError> {
    let Some(RepeatedBatch { key, digest }) = key else {
        return compute_and_charge(call, batch, None, held, catalogue).await;
    };
    let claim = match call.claim(&key, digest).await? {
        Ok(claim) => claim,
        Err(stored) => return Ok(call.replay(stored)),
    };
    let done = compute_and_charge(call, batch, Some(claim), held, catalogue).await;
    if done.is_err() {
        call.release(claim).await;
    }
    done
}

/// Checks every call, reserves the credits of all, computes all, and charges for all in one
/// transaction, in this order: until the last step nothing is written.
async fn compute_and_charge(
    call: &AdmittedCall,
    batch: Batch,
    claim: Option<Claim>,
    held: HeldBytes,
    catalogue: &BatchCatalogue,
) -> Result<String, ApiError> {
    let prepared = prepare_all(call, batch, catalogue).await?;
    let cost = prepared.iter().map(ParsedCall::cost).sum();
    let reservation = call.reserve(cost).await?;
    let (computed, results) = compute(prepared, held).await?;
    let data = results.finish(u64::from(cost));
    let kept = claim.map(|claim| (claim, data.clone()));
    call.settle_together(computed, reservation, kept).await?;
    Ok(data)
}

/// Counts and checks every call.
async fn prepare_all(
    call: &AdmittedCall,
    batch: Batch,
    catalogue: &BatchCatalogue,
) -> Result<Vec<ParsedCall>, ApiError> {
    let (options, calls) = (batch.options(), batch.calls);
    let (mut prepared, mut faults) = (Vec::with_capacity(calls.len()), CallFaults::default());
    for (position, one) in calls.into_iter().enumerate() {
        match prepare(call, position, one, options, catalogue).await {
            Ok(ready) => prepared.push(ready),
            Err(refusal) => faults.add(position, refusal)?,
        }
    }
    faults.none()?;
    Ok(prepared)
}

/// Computes every answer, and writes the results.
async fn compute(
    prepared: Vec<ParsedCall>,
    held: HeldBytes,
) -> Result<(Vec<ComputedCall>, Results), ApiError> {
    let (mut computed, mut faults) = (Vec::with_capacity(prepared.len()), CallFaults::default());
    let mut results = Results::new(held);
    let answers = prepared.into_iter().map(ParsedCall::compute);
    let mut answers = stream::iter(answers).buffered(CALLS_AT_ONCE).enumerate();
    while let Some((position, answer)) = answers.next().await {
        match answer {
            Ok((parts, _)) if !results.add_success(&parts) => return Err(ApiError::busy()),
            Ok((_, unpaid)) => computed.push(unpaid),
            Err(refusal) => faults.add(position, refusal)?,
        }
    }
    faults.none()?;
    Ok((computed, results))
}
