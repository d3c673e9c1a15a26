//! Batches: many calls of metered operations in one request.
//!
//! Each call goes through the stages of a single call. In mode `partial` each is charged by itself;
//! in mode `atomic` all are computed first and charged in one transaction, or none is.

mod atomic;
mod batch_quote;
mod catalogue;
mod partial;
mod prepared;
mod request;
mod results;

use std::sync::Arc;

use account_core::Tier;
use poem::{Error, Result, web::Data};
use poem_openapi::OpenApi;

pub use self::{
    catalogue::{BatchCatalogue, BatchOperation},
    request::{BODY_LIMIT, Batch, BatchCall, BatchMode, BatchResult, BatchResults, RepeatedBatch},
};
use crate::api::own_refusals::{CAP_PASSED, OwnRefusal, OwnRefusals, cap_refusal, own};
use crate::{
    body_memory::HeldBytes,
    http::{Admitted, AdmittedCall, Answer, ApiError, Tag},
};

/// The id of the operation in the document.
pub const OPERATION: &str = "run_batch";
/// The path of the operation.
pub const PATH: &str = "/quantlib/batch";

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] =
    &[(OPERATION, &[STILL_RUNNING, BATCH_TIER, BATCH_CREDITS, BATCH_CAP])];

const STILL_RUNNING: OwnRefusal =
    own("still_running", "The same call, under its `Idempotency-Key`, is being answered.", || {
        ApiError::StillRunning
    });
const BATCH_TIER: OwnRefusal =
    own("insufficient_tier_pro", "The account's tier is too low. Nothing is charged.", || {
        ApiError::Tier(Tier::Pro)
    });
const BATCH_CREDITS: OwnRefusal =
    own("insufficient_credits_10", "The balance is below the cost. Nothing is charged.", || {
        ApiError::Credits { cost: 10 }
    });
const BATCH_CAP: OwnRefusal = own("daily_cap_10", CAP_PASSED, || cap_refusal(10));

/// The REST endpoint of batches.
#[derive(Default)]
pub struct Batches;

#[OpenApi(tag = "Tag::Batches")]
impl Batches {
    /// Run up to 1,000 calls of any computations.
    ///
    /// Each call has the path and the body of a single call, and its result the status and the data
    /// or the detail that the single call would have had, in the order of the calls. Mode `partial`
    /// charges each success by itself; mode `atomic` charges all calls together or refuses the
    /// request. Each call counts against the hourly limit, and costs what the single call costs. A
    /// batch in a batch is refused.
    #[oai(path = "/quantlib/batch", method = "post", operation_id = "run_batch")]
    async fn run(
        &self,
        request: Admitted<Batch>,
        catalogue: Data<&Arc<BatchCatalogue>>,
    ) -> Result<Answer<BatchResults>> {
        let Admitted { call, body, digest, repeat_key, held } = request;
        let surface = call.context().surface;
        let done = if call.is_quote_preferred() {
            batch_quote::run(&call, OPERATION, body, *catalogue).await
        } else {
            let key = repeat_key.map(|key| RepeatedBatch { key, digest });
            run(&call, body, key, held, *catalogue).await
        };
        done.map(|data| Answer::from_data(&data))
            .map_err(|refusal| Error::from_response(refusal.into_response(surface)))
    }
}

/// Runs a batch for a caller that the limit has counted once, and returns the data of the answer as
/// JSON. `held` counts the memory of the results.
///
/// # Errors
///
/// In mode `atomic` the refusal of any call, and the errors of the ledger. In mode `partial` a
/// refusal of a call is a result, and there is no error.
pub async fn run(
    call: &AdmittedCall,
    batch: Batch,
    key: Option<RepeatedBatch>,
    held: HeldBytes,
    catalogue: &BatchCatalogue,
) -> std::result::Result<String, ApiError> {
    match batch.mode {
        BatchMode::Partial => Ok(partial::run(call, batch, key, held, catalogue).await),
        BatchMode::Atomic => atomic::run(call, batch, key, held, catalogue).await,
    }
}
