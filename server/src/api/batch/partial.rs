//! Batches whose calls succeed or fail each by itself.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::{StreamExt as _, stream};

use super::{
    catalogue::{BatchCatalogue, BatchOperation},
    request::{Batch, BatchCall, CALLS_AT_ONCE, RepeatedBatch},
    results::Results,
};
use crate::{
    body_memory::HeldBytes,
    http::{
        Admission, AdmittedCall, AnswerOptions, AnswerParts, ApiError, Charge, Executed,
        RequestContext, RequestRecord, conclude,
    },
};

/// The outcome of a call that was executed.
struct BatchedCall {
    executed: Executed,
    record: RequestRecord,
}

/// The charges of a batch, and the caller's limit after its calls.
#[derive(Default)]
struct Totals {
    admission: Option<Admission>,
    charge: Option<Charge>,
}

impl Totals {
    fn add(&mut self, record: RequestRecord) {
        let remaining = |admission: &Admission| admission.limit_status.remaining;
        self.admission = self.admission.into_iter().chain(record.admission()).min_by_key(remaining);
        if let RequestRecord::Charged(_, charge) = record {
            let before = self.charge.unwrap_or(Charge { cost: 0, balance: u64::MAX });
            // The calls are charged in any order, and each charge lowers the balance.
            let balance = before.balance.min(charge.balance);
            self.charge = Some(Charge { cost: before.cost + charge.cost, balance });
        }
    }
}

/// Runs the calls. Their results have the order of the calls.
///
/// Where the balance may not pay for all calls, they run one after the other, so that it pays for
/// the first ones. A client that goes away ends the batch: calls that have not begun do not begin.
pub(super) async fn run(
    call: &AdmittedCall,
    batch: Batch,
    key: Option<RepeatedBatch>,
    held: HeldBytes,
    catalogue: &BatchCatalogue,
) -> String {
    let (options, calls) = (batch.options(), batch.calls);
    let listed = calls.iter().filter_map(|one| catalogue.find(&one.path));
    let cost = listed.map(|listed| listed.operation.cost).sum();
    let at_once = if call.can_pay(cost).await == Ok(true) { CALLS_AT_ONCE } else { 1 };
    let has_room = Arc::new(AtomicBool::new(true));
    let runs = calls.into_iter().enumerate().map(|(position, one)| {
        let listed = catalogue.find(&one.path).cloned();
        let (key, has_room) = (key.as_ref(), has_room.clone());
        async move {
            match listed {
                Some(listed) => {
                    let asked = (one, options);
                    Some(run_one(call, position, asked, &listed, key, &has_room).await)
                }
                None => None,
            }
        }
    });
    let mut runs = stream::iter(runs).buffered(at_once);
    let (mut results, mut totals) = (Results::new(held), Totals::default());
    while let Some(outcome) = runs.next().await {
        let is_kept = match &outcome {
            None => results.add_unknown_path(),
            Some(BatchedCall { executed: Ok(executed), .. }) => {
                results.add_success(&executed.parts)
            }
            Some(BatchedCall { executed: Err(refusal), .. }) => results.add_refusal(refusal),
        };
        if !is_kept {
            has_room.store(false, Ordering::Relaxed);
        }
        outcome.into_iter().for_each(|outcome| totals.add(outcome.record));
    }
    if let Some(admission) = totals.admission {
        call.record_batch(admission, totals.charge);
    }
    results.finish(totals.charge.map_or(0, |charge| charge.cost.into()))
}

/// Runs one call through the stages of a single call.
async fn run_one(
    call: &AdmittedCall,
    position: usize,
    (one, options): (BatchCall, AnswerOptions),
    listed: &BatchOperation,
    key: Option<&RepeatedBatch>,
    has_room: &AtomicBool,
) -> BatchedCall {
    let operation_call = listed.call(call, position, one, options);
    let context = operation_call.context.clone();
    let executed = conclude(&context, async {
        if !has_room.load(Ordering::Relaxed) {
            return Err(ApiError::busy());
        }
        let key = key.map(|repeated| repeated.key.of_position(position));
        let template = Box::new(|_: &RequestContext, _, _: &AnswerParts| None);
        operation_call.execute(Ok(key), template).await
    });
    let executed = executed.await;
    BatchedCall { executed, record: context.record() }
}
