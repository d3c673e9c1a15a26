//! The execution of an operation outside HTTP: the stages of a metered request without a request.

use std::{panic::AssertUnwindSafe, sync::Arc};

use account_core::{Caller, idempotency::IdempotencyKey};
use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};

use super::{
    answer_options::AnswerOptions,
    body::{self, Received},
    computation::Computation,
    context::{
        RequestContext,
        stages::{AdmittedCall, ChargedContent, ParsedCall, PreparedCall, Template},
    },
    error::ApiError,
    executed_call::ExecutedCall,
    unknown_fields::Handling,
    validation::Fault,
};

/// [`execute`] for one computation, as the table of operations holds it.
pub type Executor = fn(
    Arc<RequestContext>,
    Caller,
    Bytes,
    RepeatKey,
    AnswerOptions,
    Template<'static>,
) -> BoxFuture<'static, Executed>;

/// [`prepare`] for one computation, as the table of operations holds it.
pub type Preparer = fn(
    Arc<RequestContext>,
    Caller,
    Bytes,
    AnswerOptions,
) -> BoxFuture<'static, Result<PreparedCall, ApiError>>;

/// The key under which a call may be repeated, none, or the fault of a malformed key.
pub type RepeatKey = Result<Option<IdempotencyKey>, Fault>;

/// The answer of a success, or the refusal.
pub type Executed = Result<ExecutedCall, ApiError>;

/// Executes a metered operation for an identified caller, with arguments as JSON: limit, tier,
/// credits, arguments, computation and debit, as REST does. Unknown arguments are refused.
///
/// # Errors
///
/// The first refusal in the [order of the checks](super::pipeline).
pub fn execute<C: Computation>(
    context: Arc<RequestContext>,
    caller: Caller,
    arguments: Bytes,
    repeat_key: RepeatKey,
    options: AnswerOptions,
    template: Template<'static>,
) -> BoxFuture<'static, Executed> {
    async move {
        let call = parsed::<C>(context.clone(), caller, arguments, repeat_key, options).await?;
        match call.execute(Some(template)).await?.content {
            ChargedContent::Parts(parts) => Ok(ExecutedCall::new(parts)),
            ChargedContent::Envelope(body) => {
                ExecutedCall::of_stored(&body, context.id).ok_or(ApiError::Internal)
            }
        }
    }
    .boxed()
}

/// Does everything that [`execute`] does before the computation, for a call of a batch whose calls
/// are charged together.
///
/// # Errors
///
/// The first refusal in the [order of the checks](super::pipeline).
pub fn prepare<C: Computation>(
    context: Arc<RequestContext>,
    caller: Caller,
    arguments: Bytes,
    options: AnswerOptions,
) -> BoxFuture<'static, Result<PreparedCall, ApiError>> {
    async move {
        let call = parsed::<C>(context, caller, arguments, Ok(None), options).await?;
        Ok(call.prepared())
    }
    .boxed()
}

async fn parsed<C: Computation>(
    context: Arc<RequestContext>,
    caller: Caller,
    arguments: Bytes,
    repeat_key: RepeatKey,
    options: AnswerOptions,
) -> Result<ParsedCall<C>, ApiError> {
    let call = AdmittedCall::counted_once(context, caller).await?;
    let call = if call.is_quote_preferred() {
        call.for_quote()
    } else {
        call.authorise(repeat_key).await?
    };
    let context = call.context().clone();
    let limits = call.body_limits();
    if arguments.len() > limits.bytes {
        return Err(ApiError::BodyTooLarge { limit: limits.bytes });
    }
    let (options, arguments) = options.with_detail_of::<C>(arguments)?;
    let call = call.with_options(options);
    let held = limits.memory.body_of(limits.source, limits.has_large_bodies);
    let received = Received { bytes: arguments, held };
    let parse = move |bytes: &[u8]| call.parse::<C>(bytes, Handling::Strict);
    let (call, _held) = body::parsed(&context, received, parse).await?;
    Ok(call)
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
