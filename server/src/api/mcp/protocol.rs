//! The methods of the MCP protocol, for clients with and without the `initialize` handshake.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use bytes::Bytes;
use poem::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
        CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest, CustomResult,
        DiscoverResult, ErrorCode, Implementation, JsonObject, ListPromptsRequestMethod,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    calls::{self, Outcome, ToolError},
    context::McpContext,
    directory,
    message::{self, MOST_WITHOUT_ARGUMENTS, SplitError},
    results,
    tools::{CATALOGUE, Entry, GatewayTool, Target},
};
use crate::{
    api::openapi::VERSION,
    http::{AnswerOptions, RepeatKey, echo, idempotency::parse_key, nearest_name::unknown_name},
    state::AppState,
    store::ResultWriter,
};

/// The time to live of a list, in milliseconds. These lists change only with a release.
const LISTS_KEPT: u64 = 5 * 60 * 1000;
/// The most stored results that `resources/list` shows, the newest.
const LISTED_RESULTS: u32 = 100;
/// The member of `_meta` with the key under which a call may be repeated.
const IDEMPOTENCY_KEY: &str = "idempotency_key";
/// The methods of the protocol with and without the handshake. A request for one of these that
/// cannot be decoded has invalid parameters.
const METHODS: [&str; 5] =
    ["resources/list", "resources/read", "resources/templates/list", "tools/call", "tools/list"];

/// The handler of the protocol's methods, which the SDK calls.
#[derive(Clone)]
pub(super) struct Protocol(pub(super) Arc<McpState>);

/// The state from which the methods make their answers.
pub(super) struct McpState {
    /// The shared state of the service.
    pub(super) app: Arc<AppState>,
    /// The writer of results that no charge stores.
    pub(super) results: ResultWriter,
}

type McpResult<T> = Result<T, ErrorData>;

impl ServerHandler for Protocol {
    fn get_info(&self) -> ServerConfig {
        // The SDK calls this function for every message.
        static INFO: LazyLock<ServerConfig> = LazyLock::new(info);
        INFO.clone()
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> McpResult<DiscoverResult> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut discovered = DiscoverResult::from_server_info(versions, self.get_info());
        (discovered.ttl_ms, discovered.cache_scope) = (LISTS_KEPT, CacheScope::Private);
        Ok(discovered)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ListToolsResult> {
        refuse_cursor(request)?;
        let tools = CATALOGUE.listed(&mcp_context(&context).toolsets);
        let mut list = ListToolsResult::with_all_items(tools.map(|e| e.tool.clone()).collect());
        (list.ttl_ms, list.cache_scope) = hints(&context);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<CallToolResponse> {
        let Some(entry) = CATALOGUE.find(&request.name) else {
            let message = format!("Unknown tool: {}", echo::value(&request.name));
            return Err(ErrorData::invalid_params(message, None));
        };
        let caller = mcp_context(&context);
        let arguments = caller.arguments.clone().unwrap_or_else(no_arguments);
        let call = match call_options(&context) {
            Ok(call) => call,
            Err(failure) => return Ok(failed(&failure).into()),
        };
        let result = match entry.target {
            Target::Computation(..) | Target::Account(..) => {
                self.run(caller, entry, arguments, call, |_, data| data).await
            }
            Target::Gateway(tool) => match refuse_unknown(entry, &arguments) {
                Ok(()) => self.call_gateway_tool(tool, caller, &arguments, call).await,
                Err(failure) => Err(failure),
            },
        };
        result.or_else(|failure| Ok(failed(&failure))).map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ListResourcesResult> {
        refuse_cursor(request)?;
        let caller = mcp_context(&context);
        let accounts = &self.0.app.accounts;
        let recent = accounts.recent_results(caller.caller.id, LISTED_RESULTS, caller.at).await;
        let recent = recent.map_err(|error| {
            tracing::error!(%error, "results could not be listed");
            ErrorData::internal_error(UNREADABLE, None)
        })?;
        let recent = recent.iter().map(results::listed).collect();
        let mut list = ListResourcesResult::with_all_items(recent);
        (list.ttl_ms, list.cache_scope) = hints(&context);
        // Every call changes this list.
        list.ttl_ms = list.ttl_ms.map(|_| 0);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ListResourceTemplatesResult> {
        refuse_cursor(request)?;
        let mut list = ListResourceTemplatesResult::with_all_items(vec![template()]);
        (list.ttl_ms, list.cache_scope) = hints(&context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ReadResourceResponse> {
        let uri = request.uri;
        let caller = mcp_context(&context);
        let found = match results::parse_address(&uri) {
            Some(id) => self
                .kept(caller, id)
                .await
                .map_err(|failure| ErrorData::internal_error(failure.message, None))?,
            None => None,
        };
        let Some(body) = found else {
            let data = json!({ "uri": uri });
            return Err(ErrorData::resource_not_found("Resource not found", Some(data)));
        };
        let contents = ResourceContents::text(body, uri).with_mime_type("application/json");
        let mut read = ReadResourceResult::new(vec![contents]);
        (read.ttl_ms, read.cache_scope) = hints(&context);
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> McpResult<ListPromptsResult> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> McpResult<CompleteResult> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> McpResult<CustomResult> {
        let method = request.method;
        let is_handshake = method == "initialize" && !is_current(&context);
        if is_handshake || METHODS.contains(&method.as_str()) {
            let message =
                format!("The parameters of {} are not what it takes", echo::value(&method));
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("Method not found: {}", echo::value(&method));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }
}

/// The text where stored results cannot be read.
const UNREADABLE: &str = "The service cannot read results now.";

/// What the message of a tool call has beside tool and arguments.
struct CallOptions {
    /// The version of the protocol.
    version: String,
    /// The key under which the call may be repeated.
    repeat_key: RepeatKey,
    /// The parts of the answer that the caller asks for.
    options: AnswerOptions,
}

impl Protocol {
    /// Calls an operation of the document, stores its result, and makes the answer.
    async fn run(
        &self,
        context: &McpContext,
        entry: &'static Entry,
        arguments: Bytes,
        call: CallOptions,
        wrap: impl FnOnce(&str, Value) -> Value + Send + 'static,
    ) -> Result<CallToolResult, ToolError> {
        let CallOptions { version, repeat_key, options } = call;
        // A task of its own: where the client goes away, the call ends as if the client had waited,
        // and a call that is charged has a stored result.
        let (protocol, own) = (self.clone(), context.clone());
        let task = tokio::spawn(async move {
            let app = &protocol.0.app;
            let outcome = calls::call(app, &own, entry, arguments, repeat_key, options).await;
            let mut outcome = outcome.expect("only operations are run");
            outcome.was_kept |= protocol.keep(&own, &outcome).await;
            outcome
        });
        let outcome = task.await.map_err(|_| internal())?;
        if outcome.is_large {
            return self.in_pool(context, move || outcome.shape(&version, wrap)).await;
        }
        Ok(outcome.shape(&version, wrap))
    }

    async fn call_gateway_tool(
        &self,
        tool: GatewayTool,
        context: &McpContext,
        arguments: &Bytes,
        call: CallOptions,
    ) -> Result<CallToolResult, ToolError> {
        match tool {
            GatewayTool::Search => search(arguments),
            GatewayTool::Describe => describe(arguments),
            GatewayTool::Call => self.call_by_name(context, arguments, call).await,
            GatewayTool::Read => self.read_result(context, arguments).await,
        }
    }

    /// Stores an envelope that no charge has stored. The result is sent even if the store fails,
    /// because the call is paid.
    async fn keep(&self, context: &McpContext, outcome: &Outcome) -> bool {
        let Some(result) = outcome.to_keep(context) else { return false };
        match self.0.results.keep(result).await {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(%error, "a result could not be kept");
                false
            }
        }
    }

    /// Runs long work that is already paid for in the compute pool.
    async fn in_pool<T: Send + 'static>(
        &self,
        context: &McpContext,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let pool = &self.0.app.compute_pool;
        pool.run_patiently(context.source(), work).await.map_err(|_| internal())
    }

    async fn call_by_name(
        &self,
        context: &McpContext,
        arguments: &Bytes,
        mut call: CallOptions,
    ) -> Result<CallToolResult, ToolError> {
        let (members, arguments) = message::split_off(arguments, "arguments")?;
        if let Some(key) = optional_text(&members, IDEMPOTENCY_KEY)? {
            call.repeat_key = parse_key(key.as_bytes()).map(Some);
        }
        let asked = answer_options(&members)?;
        call.options.explain |= asked.explain;
        call.options.receipt |= asked.receipt;
        let name = text(&members, "name")?;
        let entry = known(&name)?;
        if matches!(entry.target, Target::Gateway(_)) {
            return Err(invalid(format!("{} is listed: call it directly.", entry.tool.name)));
        }
        let arguments = match arguments {
            Some(arguments) if arguments.starts_with(b"{") => arguments,
            Some(other) if *other != *b"null" => {
                return Err(invalid("arguments: value is not a valid dict"));
            }
            _ => no_arguments(),
        };
        let wrap = |tool: &str, data| json!({ "tool": tool, "data": data });
        self.run(context, entry, arguments, call, wrap).await
    }

    async fn read_result(
        &self,
        context: &McpContext,
        arguments: &Bytes,
    ) -> Result<CallToolResult, ToolError> {
        let arguments = &message::members(arguments)?;
        let name = text(arguments, "id")?;
        let path = optional_text(arguments, "path")?.unwrap_or_default();
        let offset = count(arguments, "offset", 0, 0)?;
        let limit = count(arguments, "limit", 1, 1000)?;
        let body = match results::parse(&name) {
            Some(id) => self.kept(context, id).await?.map(|body| (id, body)),
            None => None,
        };
        let Some((id, body)) = body else {
            let message = format!(
                "There is no result {:?} of this account. Results are kept for 24 hours.",
                echo::value(&name)
            );
            return Err(ToolError { code: "not_found", message });
        };
        let read = move || results::part(id, &body, &path, offset, limit);
        // A stored result may have megabytes.
        Ok(results::structured(self.in_pool(context, read).await??))
    }

    async fn kept(
        &self,
        context: &McpContext,
        id: account_core::ResultId,
    ) -> Result<Option<String>, ToolError> {
        let accounts = &self.0.app.accounts;
        accounts.kept_result(context.caller.id, id, context.at).await.map_err(|error| {
            tracing::error!(%error, "a result could not be read");
            ToolError { code: "busy", message: UNREADABLE.to_owned() }
        })
    }
}

/// Returns the context that the transport has added to the request.
fn mcp_context(context: &RequestContext<RoleServer>) -> &McpContext {
    let parts = context.extensions.get::<Parts>().expect("the transport hands on its request");
    parts.extensions.get().expect("the transport adds the context to every request")
}

fn version(context: &RequestContext<RoleServer>) -> String {
    context.protocol_version().map(|version| version.as_str().to_owned()).unwrap_or_default()
}

/// Reads the version of a message and the members of its `_meta`.
fn call_options(context: &RequestContext<RoleServer>) -> Result<CallOptions, ToolError> {
    Ok(CallOptions {
        version: version(context),
        repeat_key: repeat_key(context),
        options: answer_options(&context.meta)?,
    })
}

/// Reads the parts of the answer that a caller asks for.
fn answer_options(members: &JsonObject) -> Result<AnswerOptions, ToolError> {
    AnswerOptions::of_members(members).map_err(|fault| invalid(calls::line(&fault)))
}

/// Reads the idempotency key of a message.
fn repeat_key(context: &RequestContext<RoleServer>) -> RepeatKey {
    match context.meta.get(IDEMPOTENCY_KEY) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) => parse_key(key.as_bytes()).map(Some),
        // No key has this text, so that the refusal is that of a malformed key.
        Some(_) => parse_key(b"\n").map(Some),
    }
}

/// Returns whether the request is of a client without the handshake.
fn is_current(context: &RequestContext<RoleServer>) -> bool {
    version(context).as_str() >= ProtocolVersion::V_2026_07_28.as_str()
}

/// Returns the time to live and the cache scope of an answer; older protocol revisions have
/// neither.
fn hints(context: &RequestContext<RoleServer>) -> (Option<u64>, Option<CacheScope>) {
    let knows = is_current(context);
    (knows.then_some(LISTS_KEPT), knows.then_some(CacheScope::Private))
}

/// Refuses every cursor, because each list is a single page.
fn refuse_cursor(request: Option<PaginatedRequestParams>) -> McpResult<()> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("Unknown cursor", None)),
    }
}

fn info() -> ServerConfig {
    let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
    let mut server = Implementation::new("svc", VERSION);
    server.title = Some("Financial computations".to_owned());
    let mut info = ServerConfig::new(capabilities).with_server_info(server);
    info.protocol_version = ProtocolVersion::V_2025_11_25;
    info.with_instructions(instructions())
}

fn instructions() -> String {
    format!(
        "Exact financial computations: prices, portfolios, curves, bonds, entropies, capital \
         ratios. The core tools find, describe and call every other tool by name; \
         `?toolsets=NAMES` on the address lists sets of them directly: {}, or `all`. Each tool \
         says its tier and cost; a refused call costs nothing. Results are kept for 24 hours at \
         {}; `resources/list` shows the newest. A call whose answer may be lost takes a key of \
         your own in `_meta.{IDEMPOTENCY_KEY}`: reuse on retry, and the repeat costs nothing. \
         `_meta.explain: true` adds method, conventions, defaults and error of the result; \
         `_meta.receipt: true` adds a signed receipt.",
        CATALOGUE.toolsets().join(", "),
        results::TEMPLATE,
    )
}

fn template() -> ResourceTemplate {
    ResourceTemplate::new(results::TEMPLATE, "result")
        .with_title("Result")
        .with_description(
            "The whole envelope of an earlier call, for 24 hours, for its own account.",
        )
        .with_mime_type("application/json")
}

fn no_arguments() -> Bytes {
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
    let (members, split_off) = message::split_off(arguments, "arguments")?;
    let known = entry.argument_names();
    let mut given = members.keys().map(String::as_str).chain(split_off.map(|_| "arguments"));
    match given.find(|name| !known.clone().any(|known| known == *name)) {
        None => Ok(()),
        Some(name) => {
            let told = echo::value(name);
            let message = format!("{told}: {}", unknown_name(name, known));
            Err(invalid(echo::message(&message).into_owned()))
        }
    }
}

fn search(arguments: &Bytes) -> Result<CallToolResult, ToolError> {
    let arguments = &message::members(arguments)?;
    let query = text(arguments, "query")?;
    let limit = count(arguments, "limit", 1, 10)?;
    Ok(results::structured(directory::search(&query, limit.min(100))))
}

fn describe(arguments: &Bytes) -> Result<CallToolResult, ToolError> {
    let name = text(&message::members(arguments)?, "name")?;
    Ok(results::structured(directory::describe(known(&name)?)))
}

fn known(name: &str) -> Result<&'static Entry, ToolError> {
    let unknown = || {
        let name = echo::value(name);
        invalid(format!("name: there is no tool {name:?}; search_tools finds those that there are"))
    };
    CATALOGUE.find(name).ok_or_else(unknown)
}

fn text(arguments: &JsonObject, name: &str) -> Result<String, ToolError> {
    optional_text(arguments, name)?.ok_or_else(|| invalid(format!("{name}: field required")))
}

fn optional_text(arguments: &JsonObject, name: &str) -> Result<Option<String>, ToolError> {
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

fn invalid(message: impl Into<Cow<'static, str>>) -> ToolError {
    ToolError { code: "invalid_arguments", message: message.into().into_owned() }
}

/// Makes the answer for a failed call of a tool about tools, which the model can correct.
fn failed(failure: &ToolError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(failure.message.clone())])
}
