//! The execution of an operation outside HTTP: the stages of a metered request without a request.

use std::{panic::AssertUnwindSafe, sync::Arc};

use account_core::{Caller, idempotency::IdempotencyKey};
use bytes::Bytes;
use futures_util::FutureExt as _;

use super::{
    answer_options::AnswerOptions,
    body::{self, Received},
    context::{
        RequestContext,
        stages::{AdmittedCall, ChargedContent, ParsedCall, Template},
    },
    error::ApiError,
    evaluation::Evaluator,
    executed_call::ExecutedCall,
    unknown_fields::Handling,
    validation::Fault,
};

/// The key under which a call may be repeated, none, or the fault of a malformed key.
pub type RepeatKey = Result<Option<IdempotencyKey>, Fault>;

/// The answer of a success, or the refusal.
pub type Executed = Result<ExecutedCall, ApiError>;

/// A call of a metered operation with arguments as JSON, which passes the checks of REST. Unknown
/// arguments are refused.
pub struct OperationCall {
    /// The computation of the operation.
    pub evaluator: Evaluator,
    /// The context, whose route is that of the operation.
    pub context: Arc<RequestContext>,
    /// The identified caller.
    pub caller: Caller,
    /// The arguments.
    pub arguments: Bytes,
    /// The parts of the answer that are asked for.
    pub options: AnswerOptions,
}

impl OperationCall {
    /// Executes the operation: limit, tier, credits, arguments, computation and debit.
    ///
    /// # Errors
    ///
    /// The first refusal in the [order of the checks](super::pipeline).
    pub async fn execute(self, repeat_key: RepeatKey, template: Template<'static>) -> Executed {
        let id = self.context.id;
        // Boxed, so that the futures of a batch's calls are small.
        let call = Box::pin(self.parsed(repeat_key)).await?;
        match Box::pin(call.execute(Some(template))).await?.content {
            ChargedContent::Parts(parts) => Ok(ExecutedCall::new(parts)),
            ChargedContent::Envelope(body) => {
                ExecutedCall::of_stored(&body, id).ok_or(ApiError::Internal)
            }
        }
    }

    /// Does everything that [`execute`](Self::execute) does before the computation, for a call of a
    /// batch whose calls are charged together.
    ///
    /// # Errors
    ///
    /// The first refusal in the [order of the checks](super::pipeline).
    pub async fn prepare(self) -> Result<ParsedCall, ApiError> {
        Box::pin(self.parsed(Ok(None))).await
    }

    async fn parsed(self, repeat_key: RepeatKey) -> Result<ParsedCall, ApiError> {
        let Self { evaluator, context, caller, arguments, options } = self;
        let call = AdmittedCall::counted_once(context, caller).await?;
        let call = if call.is_quote_preferred() {
            call.for_quote()
        } else {
            call.authorise(repeat_key).await?
        };
        let context = call.context().clone();
        let limits = call.body_limits();
        limits.check(arguments.len())?;
        let (options, arguments) = match evaluator.has_further_fields {
            true => options.with_detail_of(arguments)?,
            false => (options, arguments),
        };
        let call = call.with_options(options);
        let held = limits.memory.body_of(limits.source, limits.has_large_bodies);
        let received = Received { bytes: arguments, held };
        let parse = move |bytes: &[u8]| call.parse(evaluator, bytes, Handling::Strict);
        let (call, _held) = body::parsed(&context, received, parse).await?;
        Ok(call)
    }
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
