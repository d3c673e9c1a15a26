//! Batches: many calls of metered operations in one request.
//!
//! Each call goes through the stages of a single call. In mode `partial` each is charged by itself;
//! in mode `atomic` all are computed first and charged in one transaction, or none is.

mod atomic;
mod catalogue;
mod partial;
mod results;

use std::sync::Arc;

use account_core::{
    Tier,
    idempotency::{IdempotencyKey, RequestDigest},
};
use bytes::Bytes;
use poem::{Error, Result, web::Data};
use poem_openapi::{
    Enum, Object, OpenApi,
    types::{Example, ToJSON as _},
};
use serde_json::Value;

pub use self::catalogue::{BatchCatalogue, BatchOperation};
use super::quantlib::pricing::European;
use crate::{
    body_memory::HeldBytes,
    http::{
        Admitted, AdmittedCall, Answer, ApiError, Computation as _, JsonString, LimitedBody,
        RawJson, Tag, Text,
    },
};

/// The id of the operation in the document.
pub const OPERATION: &str = "run_batch";
/// The path of the operation.
pub const PATH: &str = "/quantlib/batch";
/// The largest body of a batch, in bytes, for an account above tier FREE.
pub const BODY_LIMIT: usize = 16 * 1024 * 1024;
/// The number of calls of a batch that run at the same time.
const CALLS_AT_ONCE: usize = 16;
/// The detail of a call with a path that is not one of a metered operation.
const NO_OPERATION: &str = "No computation has this path. A batch takes the path of a single \
                            computation, not that of a batch or of columns.";

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
        let key = repeat_key.map(|key| RepeatedBatch { key, digest });
        let done = run(&call, body, key, held, *catalogue).await;
        done.map(|data| Answer::from_data(&data))
            .map_err(|refusal| Error::from_response(refusal.into_response(surface)))
    }
}

/// The key of a batch that may be sent again.
pub struct RepeatedBatch {
    /// The key.
    pub key: IdempotencyKey,
    /// The digest of the whole batch.
    pub digest: RequestDigest,
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
        BatchMode::Partial => Ok(partial::run(call, batch.calls, key, held, catalogue).await),
        BatchMode::Atomic => atomic::run(call, batch.calls, key, held, catalogue).await,
    }
}

/// Calls that are sent together.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BatchRequest", example)]
pub struct Batch {
    /// The calls, in the order of their results.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub calls: Vec<BatchCall>,
    /// The treatment of calls that fail.
    #[oai(default)]
    pub mode: BatchMode,
}

impl LimitedBody for Batch {
    const BODY_LIMIT: usize = BODY_LIMIT;
}

/// A call of a batch.
#[derive(Clone, Debug, Object)]
pub struct BatchCall {
    /// The path of a metered operation, as in `/quantlib/pricing/bs/price`.
    pub path: Text,
    /// The body of a single call of the operation; absent for an operation without a body. A
    /// parameter of the query string, such as `detail`, stands among the fields.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub body: Option<RawJson>,
}

impl BatchCall {
    fn arguments(&mut self) -> Bytes {
        self.body.take().map_or_else(Bytes::new, |body| Bytes::from(body.0))
    }
}

/// The treatment of calls of a batch that fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum BatchMode {
    /// Each call succeeds or fails by itself, and the successes are charged.
    #[default]
    Partial,
    /// All calls succeed and are charged together, or the request is refused and costs nothing.
    Atomic,
}

/// The results of a batch.
#[derive(Clone, Debug, Object)]
#[oai(example)]
pub struct BatchResults {
    /// The result of each call, in the order of the calls.
    pub results: Vec<BatchResult>,
    /// The number of calls that succeeded.
    pub succeeded: u32,
    /// The number of calls that failed.
    pub failed: u32,
    /// The credits that this request cost. A call that was answered by an earlier request with the
    /// same `Idempotency-Key` costs nothing.
    pub credits_cost: u64,
}

/// The result of a call of a batch.
#[derive(Clone, Debug, Object)]
pub struct BatchResult {
    /// The HTTP status that the single call would have had.
    pub status: u16,
    /// The data of a success; absent for a failure.
    #[oai(skip_serializing_if_is_none)]
    pub data: Option<RawJson>,
    /// The detail of a failure, a text or the list of faults; absent for a success.
    #[oai(skip_serializing_if_is_none)]
    pub detail: Option<Value>,
}

/// The path of a call that the example has beside that of a computation.
const NO_PATH: &str = "/quantlib/pricing/none";

impl Example for Batch {
    fn example() -> Self {
        let option = European::example().to_json_string();
        let body = Some(RawJson(option));
        let call = |path: &str, body| BatchCall { path: JsonString(path.to_owned()), body };
        let calls = vec![call("/quantlib/pricing/bs/price", body), call(NO_PATH, None)];
        Self { calls, mode: BatchMode::Partial }
    }
}

impl Example for BatchResults {
    fn example() -> Self {
        let price = European::example().compute().expect("the example of a computation is sound");
        let data = Some(RawJson(price.to_json_string()));
        let results = vec![
            BatchResult { status: 200, data, detail: None },
            BatchResult { status: 404, data: None, detail: Some(NO_OPERATION.into()) },
        ];
        Self { results, succeeded: 1, failed: 1, credits_cost: Tier::Pro.credits().into() }
    }
}
