//! Batches whose calls are charged together, or not at all.

use account_core::idempotency::Claim;
use futures_util::{StreamExt as _, stream};

use super::{
    catalogue::BatchCatalogue,
    request::{Batch, CALLS_AT_ONCE, NO_OPERATION, RepeatedBatch},
    results::Results,
};
use crate::{
    body_memory::HeldBytes,
    http::{
        AdmittedCall, ApiError, ComputedCall, PreparedCall,
        validation::{Fault, MOST_FAULTS, Step},
    },
};

/// Runs the calls, or refuses the request with the refusal of a call. CallFaults of several calls are
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
    let prepared = prepare(call, batch, catalogue).await?;
    let cost = prepared.iter().map(PreparedCall::cost).sum();
    let reservation = call.reserve(cost).await?;
    let (computed, results) = compute(prepared, held).await?;
    let data = results.finish(u64::from(cost));
    let kept = claim.map(|claim| (claim, data.clone()));
    call.settle_together(computed, reservation, kept).await?;
    Ok(data)
}

/// Counts and checks every call.
async fn prepare(
    call: &AdmittedCall,
    batch: Batch,
    catalogue: &BatchCatalogue,
) -> Result<Vec<PreparedCall>, ApiError> {
    let (options, calls) = (batch.options(), batch.calls);
    let (mut prepared, mut faults) = (Vec::with_capacity(calls.len()), CallFaults::default());
    for (position, mut one) in calls.into_iter().enumerate() {
        let Some(listed) = catalogue.find(&one.path) else {
            let path = [Step::name("path")];
            let fault = Fault::new(&path, "value_error.path", NO_OPERATION);
            faults.add(position, ApiError::Faults(vec![fault]))?;
            continue;
        };
        // The limit has counted the batch as its first call.
        let counted = (position == 0).then(|| call.admission());
        let context = call.context().of_batch_call(&listed.method, listed.route.clone(), counted);
        let prepare = listed.operation.prepare;
        match prepare(context, call.caller().clone(), one.arguments(), options).await {
            Ok(ready) => prepared.push(ready),
            Err(refusal) => faults.add(position, refusal)?,
        }
    }
    faults.none()?;
    Ok(prepared)
}

/// Computes every answer, and writes the results.
async fn compute(
    prepared: Vec<PreparedCall>,
    held: HeldBytes,
) -> Result<(Vec<ComputedCall>, Results), ApiError> {
    let (mut computed, mut faults) = (Vec::with_capacity(prepared.len()), CallFaults::default());
    let mut results = Results::new(held);
    let answers = prepared.into_iter().map(PreparedCall::compute);
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

/// The faults of the calls of a batch.
#[derive(Default)]
struct CallFaults(Vec<Fault>);

impl CallFaults {
    /// Adds the faults of a call, with its position. Any other refusal is returned as an error.
    fn add(&mut self, position: usize, refusal: ApiError) -> Result<(), ApiError> {
        let ApiError::Faults(faults) = refusal else { return Err(refusal) };
        let room = MOST_FAULTS.saturating_sub(self.0.len());
        let place = [Step::name("body"), Step::name("calls"), Step::Index(position)];
        self.0.extend(
            faults.into_iter().take(room).map(|fault| Fault {
                loc: place.iter().cloned().chain(fault.loc).collect(),
                ..fault
            }),
        );
        Ok(())
    }

    /// Refuses the request where there is a fault.
    fn none(self) -> Result<(), ApiError> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::Faults(self.0)) }
    }
}
