//! The execution of an operation outside HTTP: the stages of a metered request without a request.

use std::{panic::AssertUnwindSafe, sync::Arc};

use account_core::Caller;
use futures_util::{FutureExt, future::BoxFuture};
use poem_openapi::types::ToJSON as _;
use serde_json::Value;

use super::{
    computation::Computation,
    context::{
        RequestContext,
        stages::{AdmittedCall, ChargedContent, Template},
    },
    error::ApiError,
};

/// The arguments of a call that does not come over REST.
pub struct Arguments {
    /// The JSON object of the arguments, not yet checked.
    pub value: Value,
    /// True if the arguments are so large that their parsing must not delay other requests.
    pub is_large: bool,
}

/// [`execute`] for one computation, as the table of operations holds it.
pub type Executor =
    fn(Arc<RequestContext>, Caller, Arguments, Template<'static>) -> BoxFuture<'static, Executed>;

/// The data of a success as JSON, or the refusal.
pub type Executed = Result<Value, ApiError>;

/// Executes a metered operation for an identified caller: limit, tier, credits, arguments,
/// computation and debit, as REST does.
///
/// # Errors
///
/// The first refusal in the [order of the checks](super::pipeline).
pub fn execute<C: Computation>(
    context: Arc<RequestContext>,
    caller: Caller,
    arguments: Arguments,
    template: Template<'static>,
) -> BoxFuture<'static, Executed> {
    async move {
        let call = AdmittedCall::new(context, caller).await?.authorise(Ok(None)).await?;
        let Arguments { value, is_large } = arguments;
        let parsed = if is_large {
            let state = call.context().state.clone();
            state.compute_pool.run(move || call.parse_value::<C>(value)).await??
        } else {
            call.parse_value::<C>(value)?
        };
        match parsed.execute(Some(template)).await?.content {
            ChargedContent::Data(data) => Ok(data.to_json().unwrap_or_default()),
            // Only a call with an `Idempotency-Key` has a stored answer, and this call has none.
            ChargedContent::Envelope(_) => Err(ApiError::Internal),
        }
    }
    .boxed()
}

/// Runs `work` as the whole of a request: a panic becomes a refusal, and the request is concluded
/// in metrics, access log and usage rows as a request over HTTP.
///
/// # Errors
///
/// The refusal of `work`, or [`ApiError::Internal`] where it panicked.
pub async fn conclude<T>(
    context: &RequestContext,
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let outcome = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        // The panic hook has logged the place; this line names the request.
        tracing::error!(request_id = %context.id, "a request panicked");
        Err(ApiError::Internal)
    });
    crate::failpoint::hit("answered");
    let status = outcome.as_ref().err().map_or(200, |error| error.status().as_u16());
    context.conclude(status);
    outcome
}
