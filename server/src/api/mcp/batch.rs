//! The tool that makes many calls in one message, each limited, charged and stored for itself.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    addresses::address,
    calls::{Outcome, ToolError},
    context::McpContext,
    gateway_tools::MOST_CALLS,
    message, results, shape,
    tool_calls::{McpState, inner_arguments, invalid, operation},
    tool_result::{ResultMeta, ToolResult, quoted},
};
use crate::http::{AnswerOptions, echo, idempotency::parse_key};

/// The calls of a batch that run at the same time.
const AT_ONCE: usize = 8;

/// One call of a batch, as sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolBatchCall<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(default)]
    idempotency_key: Option<String>,
    #[serde(default)]
    explain: bool,
    #[serde(default)]
    receipt: bool,
}

/// The end of one call of a batch.
enum BatchItem {
    /// The call was executed.
    Ended(Box<Outcome>),
    /// The call names no tool, or has no arguments that can be read.
    Refused(String, ToolError),
}

impl McpState {
    /// Makes the calls of a batch and returns their results in order. A refused call stops no other.
    pub(super) async fn call_many(
        self: &Arc<Self>,
        context: &McpContext,
        arguments: &Bytes,
    ) -> Result<ToolResult, ToolError> {
        let calls = read_calls(arguments)?;
        let progress = context.progress.as_deref();
        if let Some(progress) = progress {
            progress.begin(calls.len());
        }
        let running: Vec<_> = calls
            .into_iter()
            .map(|call| async move {
                let item = self.call_one(context, arguments, call).await;
                if let Some(progress) = progress {
                    progress.end_part();
                }
                item
            })
            .collect();
        let items: Vec<BatchItem> = stream::iter(running).buffered(AT_ONCE).collect().await;
        let balance = context.caller.credit_balance;
        self.in_pool(context, move || written(&items, balance)).await
    }

    async fn call_one(
        self: &Arc<Self>,
        context: &McpContext,
        whole: &Bytes,
        call: ToolBatchCall<'_>,
    ) -> BatchItem {
        let refused = |error| BatchItem::Refused(echo::value(&call.name).into_owned(), error);
        let entry = match operation(&call.name) {
            Ok(entry) => entry,
            Err(error) => return refused(error),
        };
        let arguments = match inner_arguments(whole, call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return refused(error),
        };
        let key = call.idempotency_key.as_ref();
        let repeat_key = key.map(|key| parse_key(key.as_bytes())).transpose();
        let (explain, receipt) = (call.explain, call.receipt);
        let answer = AnswerOptions { explain, receipt, ..AnswerOptions::default() };
        match self.executed(context, entry, arguments, repeat_key, answer).await {
            Ok(outcome) => BatchItem::Ended(Box::new(outcome)),
            Err(error) => refused(error),
        }
    }
}

/// Reads the calls of a batch.
fn read_calls(arguments: &Bytes) -> Result<Vec<ToolBatchCall<'_>>, ToolError> {
    let (_, calls) = message::split_off(arguments, "calls")?;
    let calls = calls.ok_or_else(|| invalid("calls: field required"))?;
    let calls: Vec<&RawValue> = serde_json::from_str(calls.get())
        .map_err(|_| invalid("calls: value is not a valid list"))?;
    if calls.is_empty() || calls.len() > MOST_CALLS {
        return Err(invalid(format!("calls: a batch has 1 to {MOST_CALLS} calls")));
    }
    calls.into_iter().enumerate().map(|(at, call)| read_call(at, call)).collect()
}

fn read_call(at: usize, call: &RawValue) -> Result<ToolBatchCall<'_>, ToolError> {
    serde_json::from_str(call.get())
        .map_err(|error| invalid(echo::message(&format!("calls[{at}]: {error}")).into_owned()))
}

/// Writes the results of a batch; each has an equal part of the room of an answer.
fn written(items: &[BatchItem], balance: u64) -> ToolResult {
    let room = results::INLINE / items.len().max(1);
    let results: Vec<String> = items.iter().map(|item| item.write(room)).collect();
    let ended = || items.iter().filter_map(BatchItem::outcome);
    let cost: u64 = ended().map(|outcome| outcome.called.cost).sum();
    // Calls end in any order, and each charge lowers the balance.
    let balance = ended().map(|outcome| outcome.balance).min().unwrap_or(balance);
    let failed = items.iter().filter(|item| item.is_failed()).count();
    let data = format!(
        r#"{{"results":[{}],"credits":{{"cost":{cost},"balance":{balance}}}}}"#,
        results.join(",")
    );
    let short =
        format!("{} calls, {failed} failed. Cost {cost} credits; balance {balance}.", items.len());
    ToolResult::structured(data).with_text(short).with_meta(ResultMeta::of_credits(cost, balance))
}

impl BatchItem {
    fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Ended(outcome) => Some(outcome),
            Self::Refused(..) => None,
        }
    }

    fn is_failed(&self) -> bool {
        self.outcome().is_none_or(|outcome| outcome.answer.is_err())
    }

    /// Writes the item as JSON, with data of at most `room` bytes.
    fn write(&self, room: usize) -> String {
        let failed = |tool: &str, failure: &ToolError| {
            let (tool, code) = (quoted(tool), quoted(failure.code));
            let message = quoted(&failure.message);
            format!(
                r#"{{"tool":{tool},"status":"error","error":{{"code":{code},"message":{message}}}}}"#
            )
        };
        let outcome = match self {
            Self::Ended(outcome) => outcome,
            Self::Refused(tool, failure) => return failed(tool, failure),
        };
        let tool = outcome.called.tool();
        let parts = match &outcome.answer {
            Ok(parts) => parts,
            Err(failure) => return failed(tool, failure),
        };
        let data = if parts.data.len() <= room {
            Cow::Borrowed(&parts.data)
        } else {
            Cow::Owned(results::cut(&results::parsed(&parts.data), room).to_string())
        };
        let further = shape::further(parts).map(|(name, part)| format!(r#","{name}":{part}"#));
        let further: String = further.collect();
        let (tool, cost) = (quoted(tool), outcome.called.cost);
        let uri = match outcome.was_kept {
            true => format!(r#","uri":"{}""#, address(outcome.called.id)),
            false => String::new(),
        };
        format!(r#"{{"tool":{tool},"status":"ok","data":{data}{further},"cost":{cost}{uri}}}"#)
    }
}
