//! The calls of tools: of an operation directly, by name or in a batch, and of the tools about tools
//! and results.

use std::{borrow::Cow, panic::AssertUnwindSafe, sync::Arc};

use account_core::accounts::results::KEPT;
use bytes::Bytes;
use futures_util::FutureExt as _;
use rmcp::model::{JsonObject, ProtocolVersion};
use serde_json::{Value, value::RawValue};

use super::{
    addresses, advice,
    calls::{self, Outcome, ToolError},
    context::McpContext,
    directory,
    gateway_tools::GatewayTool,
    message::{self, MOST_WITHOUT_ARGUMENTS, SplitError},
    results,
    running::RunningCalls,
    shape, stored_form,
    tool_result::{ToolResult, quoted},
    tools::{CATALOGUE, Entry, Target},
    uninterrupted::Uninterrupted,
};
use crate::{
    http::{AnswerOptions, RepeatKey, echo, idempotency::parse_key, nearest_name::unknown_name},
    state::AppState,
    store::ResultWriter,
};

/// The member of `_meta` with the key under which a call may be repeated.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency_key";
/// The text where stored results cannot be read.
pub(super) const UNREADABLE: &str = "The service cannot read results now.";

/// The state from which the methods make their answers.
pub(super) struct McpState {
    /// The shared state of the service.
    pub(super) app: Arc<AppState>,
    /// The writer of results that no charge stores.
    pub(super) results: ResultWriter,
    /// The calls in progress.
    pub(super) running: Arc<RunningCalls>,
}

/// The parts of the message of a tool call beside tool and arguments.
#[derive(Clone)]
pub(super) struct CallOptions {
    /// The version of the protocol.
    pub(super) version: Cow<'static, str>,
    /// The key under which the call may be repeated.
    pub(super) repeat_key: RepeatKey,
    /// The parts of the answer that the caller asks for.
    pub(super) answer: AnswerOptions,
}

impl CallOptions {
    /// Reads the options of a message of this version from its `_meta`.
    pub(super) fn new(
        version: impl Into<Cow<'static, str>>,
        meta: Option<&JsonObject>,
    ) -> Result<Self, ToolError> {
        let repeat_key = match meta.and_then(|meta| meta.get(IDEMPOTENCY_KEY)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(key)) => parse_key(key.as_bytes()).map(Some),
            // No key has this text, so that the refusal is that of a malformed key.
            Some(_) => parse_key(b"\n").map(Some),
        };
        let answer = meta.map_or(Ok(AnswerOptions::default()), answer_options)?;
        Ok(Self { version: version.into(), repeat_key, answer })
    }

    /// Returns whether the message is of a client without the handshake.
    pub(super) fn is_current(&self) -> bool {
        *self.version >= *ProtocolVersion::V_2026_07_28.as_str()
    }
}

/// Reads the parts of the answer that a caller asks for.
fn answer_options(members: &JsonObject) -> Result<AnswerOptions, ToolError> {
    AnswerOptions::of_members(members).map_err(|fault| invalid(calls::line(&fault)))
}

/// Makes the structured content from the name of a tool and its data as JSON.
type Wrap = fn(&str, String) -> String;

impl McpState {
    /// Calls a tool, and makes its result.
    pub(super) async fn call_tool(
        self: &Arc<Self>,
        entry: &'static Entry,
        context: &McpContext,
        arguments: Bytes,
        options: CallOptions,
    ) -> ToolResult {
        let result = match entry.target {
            Target::Computation(..) | Target::Account(..) => {
                self.run(context, entry, arguments, options, |_, data| data).await
            }
            Target::Gateway(tool) => {
                self.call_gateway_tool(entry, tool, context, &arguments, options).await
            }
        };
        result.unwrap_or_else(|failure| ToolResult::failed(failure.message))
    }

    /// Calls an operation of the document, stores its result, and makes the answer.
    async fn run(
        self: &Arc<Self>,
        context: &McpContext,
        entry: &'static Entry,
        arguments: Bytes,
        options: CallOptions,
        wrap: Wrap,
    ) -> Result<ToolResult, ToolError> {
        let CallOptions { version, repeat_key, answer } = options;
        let outcome = self.executed(context, entry, arguments, repeat_key, answer).await?;
        if let Err(failure) = &outcome.answer {
            let text = advice::text(failure, &outcome, context, &self.app.settings);
            return Ok(ToolResult::failed(text).with_meta(outcome.meta()));
        }
        if outcome.is_large {
            return self.in_pool(context, move || shape::result(outcome, &version, wrap)).await;
        }
        Ok(shape::result(outcome, &version, wrap))
    }

    /// Executes a call and stores its result. Where the client goes away, the call ends as if the
    /// client had waited, and a call that is charged has a stored result.
    pub(super) async fn executed(
        self: &Arc<Self>,
        context: &McpContext,
        entry: &'static Entry,
        arguments: Bytes,
        repeat_key: RepeatKey,
        answer: AnswerOptions,
    ) -> Result<Outcome, ToolError> {
        let (state, own) = (self.clone(), context.clone());
        let running = self.running.add(own.caller.id, own.client, own.request_id.clone());
        let cancellation = running.cancellation.clone();
        let work = async move {
            let (app, cancellation) = (&state.app, running.cancellation.clone());
            let outcome =
                calls::call(app, &own, entry, arguments, repeat_key, answer, cancellation).await;
            let mut outcome = outcome.expect("only operations are run");
            outcome.was_kept |= state.keep(&own, &outcome).await;
            outcome
        };
        let work = Uninterrupted::new(AssertUnwindSafe(work).catch_unwind());
        tokio::select! {
            ended = work => ended.map_err(|_| internal()),
            () = cancellation.cancelled() => {
                let message = "The call was cancelled. Nothing was charged.".to_owned();
                Err(ToolError { code: "cancelled", message })
            }
        }
    }

    async fn call_gateway_tool(
        self: &Arc<Self>,
        entry: &Entry,
        tool: GatewayTool,
        context: &McpContext,
        arguments: &Bytes,
        options: CallOptions,
    ) -> Result<ToolResult, ToolError> {
        refuse_unknown(entry, arguments)?;
        match tool {
            GatewayTool::Search => search(arguments),
            GatewayTool::Describe => describe(arguments),
            GatewayTool::Call => self.call_by_name(context, arguments, options).await,
            GatewayTool::Batch => self.call_many(context, arguments).await,
            GatewayTool::Read => self.read_result(context, arguments).await,
        }
    }

    /// Stores a result that no charge has stored. The result is sent even if the store fails,
    /// because the call is paid.
    async fn keep(&self, context: &McpContext, outcome: &Outcome) -> bool {
        let Some(result) = outcome.to_keep(context) else { return false };
        match self.results.keep(result).await {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(%error, "a result could not be kept");
                false
            }
        }
    }

    /// Runs long work that is already paid for in the compute pool.
    pub(super) async fn in_pool<T: Send + 'static>(
        &self,
        context: &McpContext,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let pool = &self.app.compute_pool;
        pool.run_patiently(context.source(), work).await.map_err(|_| internal())
    }

    async fn call_by_name(
        self: &Arc<Self>,
        context: &McpContext,
        arguments: &Bytes,
        mut options: CallOptions,
    ) -> Result<ToolResult, ToolError> {
        let (members, inner) = message::split_off(arguments, "arguments")?;
        if let Some(key) = optional_text(&members, IDEMPOTENCY_KEY)? {
            options.repeat_key = parse_key(key.as_bytes()).map(Some);
        }
        let asked = answer_options(&members)?;
        options.answer.explain |= asked.explain;
        options.answer.receipt |= asked.receipt;
        let entry = operation(&text(&members, "name")?)?;
        let inner = inner_arguments(arguments, inner)?;
        let wrap: Wrap = |tool, data| format!(r#"{{"tool":{},"data":{data}}}"#, quoted(tool));
        self.run(context, entry, inner, options, wrap).await
    }

    async fn read_result(
        &self,
        context: &McpContext,
        arguments: &Bytes,
    ) -> Result<ToolResult, ToolError> {
        let arguments = &message::members(arguments)?;
        let name = text(arguments, "id")?;
        let path = optional_text(arguments, "path")?.unwrap_or_default();
        let offset = count(arguments, "offset", 0, 0)?;
        let limit = count(arguments, "limit", 1, 1000)?;
        let kept = match addresses::parse(&name) {
            Some(id) => self.kept(context, id).await?,
            None => None,
        };
        let Some(kept) = kept else {
            let message = format!(
                "There is no result {:?} of this account. Results are kept for {} hours; \
                 resources/list shows the newest.",
                echo::value(&name),
                KEPT.num_hours(),
            );
            return Err(ToolError { code: "not_found", message });
        };
        let read = move || {
            let envelope = stored_form::envelope(&kept).ok_or_else(internal)?;
            results::part(kept.id, &envelope, &path, offset, limit)
        };
        // A stored result may have megabytes.
        Ok(ToolResult::structured(self.in_pool(context, read).await??.to_string()))
    }

    /// Returns a stored result of the account.
    pub(super) async fn kept(
        &self,
        context: &McpContext,
        id: account_core::ResultId,
    ) -> Result<Option<account_core::StoredResult>, ToolError> {
        let accounts = &self.app.accounts;
        accounts.kept_result(context.caller.id, id, context.at).await.map_err(|error| {
            tracing::error!(%error, "a result could not be read");
            ToolError { code: "busy", message: UNREADABLE.to_owned() }
        })
    }
}

/// Returns the arguments of a tool within those of `call_tool`; none for an absent member.
pub(super) fn inner_arguments(whole: &Bytes, inner: Option<&RawValue>) -> Result<Bytes, ToolError> {
    let Some(inner) = inner.filter(|inner| inner.get() != "null") else {
        return Ok(no_arguments());
    };
    message::object_text(whole, inner)
        .ok_or_else(|| invalid("arguments: value is not a valid dict"))
}

/// Returns the tool with this name that is an operation of the document.
pub(super) fn operation(name: &str) -> Result<&'static Entry, ToolError> {
    let entry = known(name)?;
    if matches!(entry.target, Target::Gateway(_)) {
        return Err(invalid(format!("{} is listed: call it directly.", entry.tool.name)));
    }
    Ok(entry)
}

/// The arguments of a call without any.
pub(super) fn no_arguments() -> Bytes {
    Bytes::from_static(b"{}")
}

fn internal() -> ToolError {
    ToolError { code: "internal", message: "Something went wrong on our side.".to_owned() }
}

impl From<SplitError> for ToolError {
    fn from(error: SplitError) -> Self {
        match error {
            SplitError::Syntax(error) => invalid(format!("arguments: {error}")),
            SplitError::TooLarge => {
                let limit = MOST_WITHOUT_ARGUMENTS;
                let message = format!("The arguments of this tool have at most {limit} bytes.");
                Self { code: "too_large", message }
            }
        }
    }
}

/// Refuses an argument that a tool about tools does not have, with the nearest name.
fn refuse_unknown(entry: &Entry, arguments: &Bytes) -> Result<(), ToolError> {
    let large = if entry.target.is_batch() { "calls" } else { "arguments" };
    let (members, split_off) = message::split_off(arguments, large)?;
    let known = entry.argument_names();
    let mut given = members.keys().map(String::as_str).chain(split_off.map(|_| large));
    match given.find(|name| !known.clone().any(|known| known == *name)) {
        None => Ok(()),
        Some(name) => {
            let told = echo::value(name);
            let message = format!("{told}: {}", unknown_name(name, known));
            Err(invalid(echo::message(&message).into_owned()))
        }
    }
}

fn search(arguments: &Bytes) -> Result<ToolResult, ToolError> {
    let arguments = &message::members(arguments)?;
    let query = optional_text(arguments, "query")?.unwrap_or_default();
    let limit = count(arguments, "limit", 1, 5)?;
    Ok(ToolResult::structured(directory::search(&query, limit.min(100)).to_string()))
}

fn describe(arguments: &Bytes) -> Result<ToolResult, ToolError> {
    let name = text(&message::members(arguments)?, "name")?;
    Ok(ToolResult::structured(directory::describe(known(&name)?).to_string()))
}

fn known(name: &str) -> Result<&'static Entry, ToolError> {
    let unknown = || {
        let nearest = directory::nearest(name);
        let name = echo::value(name);
        let nearest = nearest.map(|name| format!(", as {name}")).unwrap_or_default();
        invalid(format!(
            "name: there is no tool {name:?}; search_tools finds those that there are{nearest}"
        ))
    };
    CATALOGUE.find(name).ok_or_else(unknown)
}

/// Returns the required text of an argument.
pub(super) fn text(arguments: &JsonObject, name: &str) -> Result<String, ToolError> {
    optional_text(arguments, name)?.ok_or_else(|| invalid(format!("{name}: field required")))
}

/// Returns the text of an argument; `None` where the argument is absent or null.
pub(super) fn optional_text(
    arguments: &JsonObject,
    name: &str,
) -> Result<Option<String>, ToolError> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid(format!("{name}: str type expected"))),
    }
}

fn count(
    arguments: &JsonObject,
    name: &str,
    least: u64,
    default: usize,
) -> Result<usize, ToolError> {
    let Some(value) = arguments.get(name).filter(|value| !value.is_null()) else {
        return Ok(default);
    };
    let number = value.as_u64().filter(|number| *number >= least);
    let number = number.and_then(|number| usize::try_from(number).ok());
    number
        .ok_or_else(|| invalid(format!("{name}: value is not a whole number of at least {least}")))
}

/// Makes the error of arguments that a tool about tools refuses.
pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> ToolError {
    ToolError { code: "invalid_arguments", message: message.into().into_owned() }
}
