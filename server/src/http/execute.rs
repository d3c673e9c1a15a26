//! The execution of an operation outside HTTP: the stages of a metered request without a request.

use std::{panic::AssertUnwindSafe, sync::Arc};

use account_core::Caller;
use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};

use super::{
    body::{self, Received},
    computation::Computation,
    context::{
        RequestContext,
        stages::{AdmittedCall, ChargedContent, Template},
    },
    detail::Detail,
    error::ApiError,
};

/// [`execute`] for one computation, as the table of operations holds it.
pub type Executor =
    fn(Arc<RequestContext>, Caller, Bytes, Template<'static>) -> BoxFuture<'static, Executed>;

/// The data of a success as JSON, or the refusal.
pub type Executed = Result<String, ApiError>;

/// Executes a metered operation for an identified caller, with arguments as JSON: limit, tier,
/// credits, arguments, computation and debit, as REST does.
///
/// # Errors
///
/// The first refusal in the [order of the checks](super::pipeline).
pub fn execute<C: Computation>(
    context: Arc<RequestContext>,
    caller: Caller,
    arguments: Bytes,
    template: Template<'static>,
) -> BoxFuture<'static, Executed> {
    async move {
        let call = AdmittedCall::new(context, caller).await?.authorise(Ok(None)).await?;
        let context = call.context().clone();
        let limits = call.body_limits();
        if arguments.len() > limits.bytes {
            return Err(ApiError::BodyTooLarge { limit: limits.bytes });
        }
        let call = call.in_detail(Detail::of_arguments::<C>(&arguments)?);
        let held = limits.memory.body_of(limits.source, limits.has_large_bodies);
        let received = Received { bytes: arguments, held };
        let parsed = body::parsed(&context, received, |bytes| call.parse::<C>(bytes)).await?;
        match parsed.0.execute(Some(template)).await?.content {
            ChargedContent::Data(data) => Ok(data),
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
