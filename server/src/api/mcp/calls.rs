//! The call of a tool that is an operation: executed by the same stages as a request over REST, with
//! the account of the access token.

use std::sync::Arc;

use account_core::{Caller, LimitStatus, ResultTemplate, Timestamp};
use bytes::Bytes;
use poem::http::StatusCode;

use super::{
    context::McpContext,
    stored_form,
    tools::{Entry, OperationRoute, Target},
};
use crate::{
    http::{
        AnswerOptions, AnswerParts, ApiError, Cancellation, Executed, ExecutedCall, OperationCall,
        RepeatKey, RequestContext, RequestRecord, SMALL_BODY, conclude, echo, seconds_up,
        validation::{Fault, Step},
    },
    state::AppState,
    store::StoreFault,
};

/// The largest size of data, in bytes, that is stored in the transaction of the charge.
const LARGEST_WITH_CHARGE: usize = 64 * 1024;

/// The most bytes of the faults that a failure lists, beside a first one.
const MOST_OF_A_FAILURE: usize = 1500;

/// The facts of a tool call.
pub(super) struct Called {
    /// The tool that was called.
    pub(super) entry: &'static Entry,
    /// The id of the request, which is also the id of the result. That of the first run, where an
    /// earlier call under the same idempotency key was answered.
    pub(super) id: u128,
    /// The time at which the message arrived.
    pub(super) at: Timestamp,
    /// The credits that the call took; zero for a refused call.
    pub(super) cost: u64,
}

/// The outcome of a tool call, from which its envelope is made.
pub(super) struct Outcome {
    /// The call that was made.
    pub(super) called: Called,
    /// True if the envelope was stored with the charge, now or by the first run.
    pub(super) was_kept: bool,
    /// True if the answer is that of an earlier call under the same idempotency key.
    pub(super) is_repeat: bool,
    /// The account's credits after the call.
    pub(super) balance: u64,
    /// The hourly limit after the call: the calls left, and the time at which more calls are allowed,
    /// in seconds since 1970. `None` where no limit counted the call.
    pub(super) limit: Option<(u64, u64)>,
    /// The seconds to wait before the next attempt; `None` where the refusal states none.
    pub(super) retry_after: Option<u64>,
    /// The answer of a success, or the refusal.
    pub(super) answer: Result<AnswerParts, ToolError>,
    /// True if the answer is so large that making its result must not delay others.
    pub(super) is_large: bool,
}

/// The reason why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolError {
    /// The stable code of the reason, for programs.
    pub(super) code: &'static str,
    /// The fault and its remedy, for people and models.
    pub(super) message: String,
}

/// Calls a tool that is an operation of the document; `None` for the tools about tools.
pub(super) async fn call(
    state: &Arc<AppState>,
    mcp: &McpContext,
    entry: &'static Entry,
    arguments: Bytes,
    repeat_key: RepeatKey,
    options: AnswerOptions,
    cancellation: Arc<Cancellation>,
) -> Option<Outcome> {
    let (Target::Computation(operation, _) | Target::Account(operation, _)) = &entry.target else {
        return None;
    };
    let OperationRoute { method, route } = operation;
    let (state, route) = (state.clone(), route.clone());
    let context = RequestContext::of_tool_call(state, mcp.address, method, route, cancellation);
    let executed = match &entry.target {
        Target::Computation(_, metered) => {
            let template = Box::new(template(entry));
            let caller = Caller::Account(mcp.caller.clone());
            let (evaluator, own) = (metered.evaluator, context.clone());
            let call = OperationCall { evaluator, context: own, caller, arguments, options };
            conclude(&context, call.execute(repeat_key, template)).await
        }
        Target::Account(_, tool) => {
            let work = tool.execute(context.clone(), mcp.caller.clone(), &arguments);
            conclude(&context, work).await
        }
        Target::Gateway(_) => return None,
    };
    Some(outcome(mcp, entry, &context, executed))
}

/// Makes the result that the ledger stores in the transaction of the charge, unless the result is so
/// large that other calls would wait for it.
fn template(
    entry: &'static Entry,
) -> impl FnOnce(&RequestContext, u32, &AnswerParts) -> Option<ResultTemplate> + Send {
    move |_, cost, parts| {
        let is_small = parts.byte_count() <= LARGEST_WITH_CHARGE;
        is_small.then(|| stored_form::template(&entry.tool.name, cost.into(), parts))
    }
}

fn outcome(
    mcp: &McpContext,
    entry: &'static Entry,
    context: &RequestContext,
    executed: Executed,
) -> Outcome {
    let length = executed.as_ref().map_or(0, |call| call.parts.byte_count());
    let first_run = executed.as_ref().ok().and_then(|call| call.first_run);
    let record = context.record();
    let charge = record.charge();
    let is_charged = executed.is_ok() && charge.is_some();
    let is_repeat = matches!(record, RequestRecord::Replayed(..));
    let cost = charge.filter(|_| !is_repeat).map_or(0, |charge| charge.cost.into());
    let limit = record.admission().map(|admission| limit(&admission.limit_status));
    Outcome {
        called: Called { entry, id: first_run.unwrap_or(context.id).as_u128(), at: mcp.at, cost },
        was_kept: is_charged && (is_repeat || length <= LARGEST_WITH_CHARGE),
        is_repeat,
        balance: charge.map_or(mcp.caller.credit_balance, |charge| charge.balance),
        limit,
        retry_after: executed.as_ref().err().and_then(ApiError::retry_after_seconds),
        answer: executed
            .map(|ExecutedCall { parts, .. }| parts)
            .map_err(|refusal| ToolError::of(&refusal)),
        is_large: length > SMALL_BODY,
    }
}

/// Returns the remaining calls, and the next free call in seconds since 1970.
fn limit(status: &LimitStatus) -> (u64, u64) {
    (status.remaining.into(), u64::try_from(seconds_up(status.reset_at)).unwrap_or_default())
}

impl ToolError {
    /// Makes the error of a tool from the refusal of its operation.
    fn of(refusal: &ApiError) -> Self {
        let code = match refusal.status() {
            _ if matches!(refusal, ApiError::SpendCap { .. }) => "daily_cap_reached",
            _ if matches!(refusal, ApiError::Storage { fault: StoreFault::Undecided }) => {
                "undecided"
            }
            StatusCode::PAYMENT_REQUIRED => "insufficient_credits",
            StatusCode::FORBIDDEN => "insufficient_tier",
            StatusCode::UNPROCESSABLE_ENTITY => "invalid_arguments",
            StatusCode::PAYLOAD_TOO_LARGE => "too_large",
            StatusCode::TOO_MANY_REQUESTS => "rate_limited",
            StatusCode::SERVICE_UNAVAILABLE => "busy",
            status if Cancellation::is_status(status) => "cancelled",
            status if status.is_client_error() => "refused",
            _ => "internal",
        };
        let message = match refusal {
            ApiError::Faults(faults) => lines(faults),
            refusal => echo::message(&refusal.detail()).into_owned(),
        };
        Self { code, message }
    }
}

/// The first faults, a line each, and the number of the others.
fn lines(faults: &[Fault]) -> String {
    let mut text = String::new();
    for (at, line) in faults.iter().map(line).enumerate() {
        if !text.is_empty() && text.len() + line.len() > MOST_OF_A_FAILURE {
            text.push_str(&format!("\nand {} more faults", faults.len() - at));
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    text
}

/// Writes a fault of the arguments, as in `prices[1]: field required`.
pub(super) fn line(fault: &Fault) -> String {
    let mut place = String::new();
    for step in fault.loc.iter().skip(1) {
        match step {
            Step::Name(name) if place.is_empty() => place.push_str(name),
            Step::Name(name) => place.extend([".", name]),
            Step::Index(index) => place.push_str(&format!("[{index}]")),
        }
    }
    let message = &fault.msg;
    if place.is_empty() { message.clone() } else { format!("{place}: {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_by_their_place() {
        let fault = |loc: &[Step], kind: &str, msg: &str| Fault::new(loc, kind, msg);
        let name = Step::name;
        let faults = vec![
            fault(
                &[name("body"), name("prices"), Step::Index(1)],
                "type_error.float",
                "value is not a valid float",
            ),
            fault(
                &[name("body"), name("tenors"), Step::Index(0), name("unit")],
                "value_error.missing",
                "field required",
            ),
            fault(
                &[name("query"), name("days")],
                "type_error.integer",
                "value is not a valid integer",
            ),
        ];
        let failure = ToolError::of(&ApiError::Faults(faults));
        assert_eq!(failure.code, "invalid_arguments");
        assert_eq!(
            failure.message,
            "prices[1]: value is not a valid float\ntenors[0].unit: field required\ndays: value is not a valid integer"
        );
    }
}
