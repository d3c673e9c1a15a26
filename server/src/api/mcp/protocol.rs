//! The methods of the MCP protocol, for clients with and without the `initialize` handshake.

use std::sync::{Arc, LazyLock};

use account_core::{ListedResult, accounts::results::KEPT};
use poem::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CompletionInfo, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, Icon, Implementation, JsonObject,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        MetaObject, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, Reference, ResourceContents, ResourceTemplate,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::json;

use super::{
    TITLE, addresses,
    context::McpContext,
    prompts, results, stored_form,
    tool_calls::{CallOptions, IDEMPOTENCY_KEY, McpState, UNREADABLE, no_arguments},
    tool_result::{SERVER, SERVER_INFO, ToolResult},
    tools::CATALOGUE,
};
use crate::{api::openapi::VERSION, http::echo};

/// The time to live of a list, in milliseconds. These lists change only with a release.
const LISTS_KEPT: u64 = 5 * 60 * 1000;
/// The most stored results that `resources/list` shows, the newest.
const LISTED_RESULTS: u32 = 100;
/// The methods of the protocol with and without the handshake. A request for one of these that
/// cannot be decoded has invalid parameters.
const METHODS: [&str; 8] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];
/// A small picture for the lists of hosts: a curve.
const ICON: &str = "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2048%2048'\
    %3E%3Crect%20width='48'%20height='48'%20rx='9'%20fill='%23123a5c'/%3E%3Cpath%20\
    d='M9%2038C20%2036%2021%2013%2039%2011'%20fill='none'%20stroke='%23fff'%20stroke-width='4'%20\
    stroke-linecap='round'/%3E%3C/svg%3E";

/// The handler of the protocol's methods, which the SDK calls.
#[derive(Clone)]
pub(super) struct Protocol(pub(super) Arc<McpState>);

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
        list.meta = server(&context);
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
        let meta: &JsonObject = &context.meta;
        let result = match CallOptions::new(version(&context), Some(meta)) {
            Ok(options) => self.0.call_tool(entry, caller, arguments, options).await,
            Err(failure) => ToolResult::failed(failure.message),
        };
        Ok(result.into_sdk().into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ListResourcesResult> {
        refuse_cursor(request)?;
        let recent = self.recent(mcp_context(&context)).await?;
        let recent = recent.iter().map(results::listed).collect();
        let mut list = ListResourcesResult::with_all_items(recent);
        (list.ttl_ms, list.cache_scope) = hints(&context);
        // Every call changes this list.
        list.ttl_ms = list.ttl_ms.map(|_| 0);
        list.meta = server(&context);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ListResourceTemplatesResult> {
        refuse_cursor(request)?;
        let mut list = ListResourceTemplatesResult::with_all_items(templates());
        (list.ttl_ms, list.cache_scope) = hints(&context);
        list.meta = server(&context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ReadResourceResponse> {
        let uri = request.uri;
        let caller = mcp_context(&context);
        let chart_of = addresses::parse_chart_address(&uri);
        let found = match chart_of.or_else(|| addresses::parse_address(&uri)) {
            Some(id) => self
                .0
                .kept(caller, id)
                .await
                .map_err(|failure| ErrorData::internal_error(failure.message, None))?,
            None => None,
        };
        let not_found = |message: &'static str| {
            Err(ErrorData::resource_not_found(message, Some(json!({ "uri": uri }))))
        };
        let Some(body) = found.as_ref().and_then(stored_form::envelope) else {
            return not_found("Resource not found");
        };
        let contents = if chart_of.is_some() {
            let Some(svg) = results::chart(&body) else {
                return not_found("The result has no list or group of numbers to draw");
            };
            ResourceContents::text(svg, uri).with_mime_type("image/svg+xml")
        } else {
            ResourceContents::text(body, uri).with_mime_type("application/json")
        };
        let mut read = ReadResourceResult::new(vec![contents]);
        (read.ttl_ms, read.cache_scope) = hints(&context);
        read.meta = server(&context);
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ListPromptsResult> {
        refuse_cursor(request)?;
        let mut list = ListPromptsResult::with_all_items(prompts::list());
        (list.ttl_ms, list.cache_scope) = hints(&context);
        list.meta = server(&context);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<GetPromptResponse> {
        let arguments = request.arguments.unwrap_or_default();
        let written = prompts::get(&request.name, &arguments);
        let mut prompt = written.map_err(|message| ErrorData::invalid_params(message, None))?;
        prompt.meta = server(&context);
        Ok(prompt.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<CompleteResult> {
        let (name, start) = (&request.argument.name, &request.argument.value);
        let values = match &request.r#ref {
            Reference::Prompt(prompt) => prompts::complete(&prompt.name, name, start)
                .map_err(|message| ErrorData::invalid_params(message, None))?,
            Reference::Resource(resource)
                if [addresses::TEMPLATE, addresses::CHART_TEMPLATE].contains(&&*resource.uri) =>
            {
                self.ids(mcp_context(&context), start).await?
            }
            _ => return Err(ErrorData::invalid_params("Unknown resource template", None)),
        };
        let completion = CompletionInfo::with_all_values(values)
            .map_err(|message| ErrorData::internal_error(message, None))?;
        let mut completed = CompleteResult::new(completion);
        completed.meta = server(&context);
        Ok(completed)
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

impl Protocol {
    /// Returns the newest results of the account.
    async fn recent(&self, caller: &McpContext) -> McpResult<Vec<ListedResult>> {
        let accounts = &self.0.app.accounts;
        let recent = accounts.recent_results(caller.caller.id, LISTED_RESULTS, caller.at).await;
        recent.map_err(|error| {
            tracing::error!(%error, "results could not be listed");
            ErrorData::internal_error(UNREADABLE, None)
        })
    }

    /// Returns the ids of the newest results that begin so.
    async fn ids(&self, caller: &McpContext, start: &str) -> McpResult<Vec<String>> {
        let recent = self.recent(caller).await?;
        let ids = recent.iter().map(|result| uuid::Uuid::from_u128(result.id.0).to_string());
        Ok(ids.filter(|id| id.starts_with(start)).collect())
    }
}

/// Returns the `_meta` of a result without a handshake, which names the server.
fn server(context: &RequestContext<RoleServer>) -> Option<MetaObject> {
    let info = || [(SERVER_INFO.to_owned(), SERVER.clone())].into_iter().collect();
    is_current(context).then(|| MetaObject(info()))
}

/// Returns the context that the transport has added to the request.
fn mcp_context(context: &RequestContext<RoleServer>) -> &McpContext {
    let parts = context.extensions.get::<Parts>().expect("the transport hands on its request");
    parts.extensions.get().expect("the transport adds the context to every request")
}

fn version(context: &RequestContext<RoleServer>) -> String {
    context.protocol_version().map(|version| version.as_str().to_owned()).unwrap_or_default()
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
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_resources()
        .enable_prompts()
        .enable_completions()
        .build();
    let mut server = Implementation::new("svc", VERSION);
    server.title = Some(TITLE.to_owned());
    let mut icon = Icon::new(ICON);
    icon.mime_type = Some("image/svg+xml".to_owned());
    icon.sizes = Some(vec!["any".to_owned()]);
    server.icons = Some(vec![icon]);
    let mut info = ServerConfig::new(capabilities).with_server_info(server);
    info.protocol_version = ProtocolVersion::V_2025_11_25;
    info.with_instructions(instructions())
}

fn instructions() -> String {
    format!(
        "Exact financial computations: prices, portfolios, curves, bonds, entropies, capital \
         ratios. Ask search_tools in plain words which tool answers a question (an empty question \
         gets all names), describe_tool for its arguments, and call it by call_tool, or up to 100 \
         calls at once by call_tools. `?toolsets=NAMES` on the address lists sets of tools \
         directly: {}, or `all`. Each tool says its tier and cost; a refused call costs nothing. \
         Results are kept for {} hours at {}, their charts as SVG at {}; `resources/list` shows \
         the newest. A call whose \
         answer may be lost takes a key of your own in `_meta.{IDEMPOTENCY_KEY}`: reuse on retry, \
         and the repeat costs nothing. \
         `_meta.explain: true` adds method, conventions, defaults and error of the result; \
         `_meta.receipt: true` adds a signed receipt.",
        CATALOGUE.toolsets().join(", "),
        KEPT.num_hours(),
        addresses::TEMPLATE,
        addresses::CHART_TEMPLATE,
    )
}

fn templates() -> Vec<ResourceTemplate> {
    let result = ResourceTemplate::new(addresses::TEMPLATE, "result")
        .with_title("Result")
        .with_description(format!(
            "The whole envelope of an earlier call, for {} hours, for its own account.",
            KEPT.num_hours(),
        ))
        .with_mime_type("application/json");
    let chart = ResourceTemplate::new(addresses::CHART_TEMPLATE, "chart")
        .with_title("Chart of a result")
        .with_description(
            "The lists and groups of numbers of an earlier call as a picture: frontiers, curves, \
             cash flows, ratios. A single price has none.",
        )
        .with_mime_type("image/svg+xml");
    vec![result, chart]
}
