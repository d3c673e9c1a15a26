//! The request and the answer of a batch.

use account_core::{
    Tier,
    idempotency::{IdempotencyKey, RequestDigest},
};
use bytes::Bytes;
use poem_openapi::{
    Enum, Object,
    types::{Example, ToJSON as _},
};
use serde_json::Value;

use crate::{
    api::quantlib::pricing::European,
    http::{
        AnswerOptions, Computation as _, Detail, JsonString, LimitedBody, RawJson, Text,
        receipt::Receipt,
    },
};

/// The largest body of a batch, in bytes, for an account above tier FREE.
pub const BODY_LIMIT: usize = 16 * 1024 * 1024;
/// The number of calls of a batch that run at the same time.
pub(super) const CALLS_AT_ONCE: usize = 16;
/// The detail of a call with a path that is not one of a metered operation.
pub(super) const NO_OPERATION: &str = "No computation has this path. A batch takes the path of a \
                                       single computation, not that of a batch or of columns.";

/// The key of a batch that may be sent again.
pub struct RepeatedBatch {
    /// The key.
    pub key: IdempotencyKey,
    /// The digest of the whole batch.
    pub digest: RequestDigest,
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
    /// True adds `meta` to each success: method and source, conventions, defaults, steps and error.
    #[oai(default)]
    pub explain: bool,
    /// True adds a signed receipt to each success.
    #[oai(default)]
    pub receipt: bool,
}

impl Batch {
    /// Returns the parts of each answer that the caller asks for.
    pub(super) fn options(&self) -> AnswerOptions {
        AnswerOptions { detail: Detail::Listed, explain: self.explain, receipt: self.receipt }
    }
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
    /// Returns the JSON text of the body; empty where the call has none.
    pub(super) fn into_arguments(self) -> Bytes {
        self.body.map_or_else(Bytes::new, |body| Bytes::from(body.0))
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
    /// The explanation of a success; present where the batch asks for explanations.
    #[oai(skip_serializing_if_is_none)]
    pub meta: Option<Value>,
    /// The receipt of a success; present where the batch asks for receipts.
    #[oai(skip_serializing_if_is_none)]
    pub receipt: Option<Receipt>,
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
        Self { calls, mode: BatchMode::Partial, explain: false, receipt: false }
    }
}

impl Example for BatchResults {
    fn example() -> Self {
        let price = European::example().compute().expect("the example of a computation is sound");
        let data = Some(RawJson(price.to_json_string()));
        let results = vec![
            BatchResult { status: 200, data, meta: None, receipt: None, detail: None },
            BatchResult {
                status: 404,
                data: None,
                meta: None,
                receipt: None,
                detail: Some(NO_OPERATION.into()),
            },
        ];
        Self { results, succeeded: 1, failed: 1, credits_cost: Tier::Pro.credits().into() }
    }
}
