//! The checks of a message, in this order: host, origin, token, message rate, media types, size,
//! JSON, form. The SDK handles the message after the checks. An error that the SDK answers in plain
//! text becomes an error of the protocol.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
};

use account_core::{AccessToken, AccountCaller, AccountId, ApiKey, Caller, Tier};
use bytes::Bytes;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock as _};
use poem::{
    Endpoint, Request, RequestBody, Response, Result,
    endpoint::{BoxEndpoint, EndpointExt, TowerCompatExt},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
};
use rmcp::{
    ErrorData,
    model::{JsonRpcError, ProtocolVersion, RequestId},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};

use super::{
    context::McpContext,
    direct::DirectCall,
    gateway_tools::MOST_CALLS,
    head::{Head, LONGEST_NAME, RpcMessage},
    message::MOST_WITHOUT_ARGUMENTS,
    progress::{self, Progress, json_response},
    protocol::Protocol,
    request_headers::{accepts_json, api_key, bearer_token},
    tool_calls::{McpState, no_arguments},
    tool_result::ToolResult,
};
use crate::{
    api::oauth,
    auth::lookup_error::LookupError,
    body_memory::{HeldBytes, RequestSource},
    http::{
        AnyMethod, ApiError, COMMON_BODY_LIMIT, RequestContext,
        body::{self, BodyLimits},
        echo,
        host::is_loopback,
    },
    state::{AppState, Settings},
    store::ResultWriter,
};

const PROTOCOL_VERSION: &str = "mcp-protocol-version";
const SESSION_ID: &str = "mcp-session-id";
/// The notification that cancels a call.
const CANCELS: &str = "notifications/cancelled";
/// The method whose answer may be large.
const READS_RESULTS: &str = "resources/read";

/// The MCP endpoint: the transport around the SDK, with its limits.
pub struct Gateway {
    state: Arc<McpState>,
    sdk: Arc<BoxEndpoint<'static>>,
    messages: DefaultKeyedRateLimiter<AccountId>,
    /// The tool calls over the limit of messages that are answered as tools.
    told_limits: DefaultKeyedRateLimiter<AccountId>,
    /// The hasher of credentials, by which clients are told apart.
    clients: RandomState,
    own_host: String,
    origins: Vec<String>,
}

/// The account of a message, and the refusal that a tool call is told.
struct AdmittedMessage {
    caller: AccountCaller,
    over_limit: Option<ApiError>,
}

impl Gateway {
    /// Makes the MCP endpoint on the shared state of the service.
    #[must_use]
    pub fn new(app: Arc<AppState>, results: ResultWriter) -> Self {
        let settings = &app.settings;
        let own = parse_origin(&settings.mcp_url).unwrap_or_default();
        let mut origins = settings.allowed_origins.clone();
        origins.push(own.0.clone());
        let quota = Quota::per_minute(settings.mcp_messages).allow_burst(settings.mcp_burst);
        let state = Arc::new(McpState { app, results, running: Arc::default() });
        let protocol = Protocol(state.clone());
        // Host and origin are checked here, before the token is read.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(MOST_WITHOUT_ARGUMENTS);
        let sdk = StreamableHttpService::new(
            move || Ok(protocol.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        Self {
            state,
            sdk: Arc::new(sdk.compat().boxed()),
            messages: RateLimiter::keyed(quota),
            told_limits: RateLimiter::keyed(quota),
            clients: RandomState::new(),
            own_host: own.1,
            origins: origins.iter().map(|origin| origin.to_ascii_lowercase()).collect(),
        }
    }

    /// Drops the message rates of accounts without recent messages.
    pub fn sweep(&self) {
        for limits in [&self.messages, &self.told_limits] {
            limits.retain_recent();
            limits.shrink_to_fit();
        }
    }

    /// Stores the waiting results.
    pub async fn close(&self) {
        self.state.results.close().await;
    }

    fn settings(&self) -> &Settings {
        &self.state.app.settings
    }

    /// Identifies the account of the access token, before the body is read.
    async fn admit(
        &self,
        request: &Request,
        context: &RequestContext,
    ) -> Result<AdmittedMessage, Response> {
        let surface = context.surface;
        let refuse = |refusal: ApiError| refusal.into_response(surface);
        let (token, was_sent) = bearer_token(request.headers());
        let unauthorised = || {
            let mut response = refuse(ApiError::Account {
                status: StatusCode::UNAUTHORIZED,
                message: "Invalid or expired access token",
                detail: "Send an access token of the authorization server that the header \
                         WWW-Authenticate leads to."
                    .to_owned(),
            });
            let challenge = oauth::challenge(self.settings(), was_sent);
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            response
        };
        let key = api_key(request.headers()).filter(|_| self.settings().mcp_api_keys);
        let identified = match (key, token) {
            (Some(key), _) => self.of_key(&key, context).await,
            (None, Some(token)) => self.of_token(&token, context).await,
            (None, None) => Err(LookupError::Unknown),
        };
        let caller = match identified {
            Ok(caller) => caller,
            Err(LookupError::Unavailable) => {
                return Err(refuse(ApiError::busy()));
            }
            Err(_) => return Err(unauthorised()),
        };
        let Err(refused) = self.messages.check_key(&caller.id) else {
            return Ok(AdmittedMessage { caller, over_limit: None });
        };
        let retry_after = refused.wait_time_from(self.messages.clock().now());
        let limit = self.settings().mcp_messages.get();
        let refusal = ApiError::RateLimit { limit, window: "minute", retry_after };
        // A host shows its model the result of a tool, but no status of HTTP.
        let announced = body::announced_length(request).unwrap_or(usize::MAX);
        let is_told =
            announced <= MOST_WITHOUT_ARGUMENTS && self.told_limits.check_key(&caller.id).is_ok();
        if is_told {
            Ok(AdmittedMessage { caller, over_limit: Some(refusal) })
        } else {
            Err(refuse(refusal))
        }
    }

    /// Returns the number of the client of a credential.
    fn client(&self, headers: &HeaderMap) -> u64 {
        let sent = ["authorization", "x-api-key"].map(|name| headers.get(name));
        self.clients.hash_one(sent.map(|value| value.map(HeaderValue::as_bytes)))
    }

    async fn of_token(
        &self,
        token: &AccessToken,
        context: &RequestContext,
    ) -> Result<AccountCaller, LookupError> {
        let app = &self.state.app;
        let resource = self.settings().mcp_resource();
        let bearer = app.bearers.identify(&app.accounts, token, &resource, context.at).await?;
        Ok(bearer.caller)
    }

    /// Identifies the account of an API key. Guests have no tools.
    async fn of_key(
        &self,
        key: &ApiKey,
        context: &RequestContext,
    ) -> Result<AccountCaller, LookupError> {
        let app = &self.state.app;
        match app.callers.identify(&app.accounts, key, context.at).await? {
            Caller::Account(account) => Ok(account),
            Caller::Guest(_) => Err(LookupError::Unknown),
        }
    }

    /// Returns whether the request names this service as its host, or no host.
    fn is_own_host(&self, request: &Request) -> bool {
        let named = request.header(header::HOST).or_else(|| request.uri().host());
        let Some(named) = named else { return true };
        let Ok(authority) = named.parse::<poem::http::uri::Authority>() else { return false };
        let host = authority.host().to_ascii_lowercase();
        host == self.own_host || (is_loopback(&host) && is_loopback(&self.own_host))
    }

    /// Returns whether a page of this origin may call.
    fn is_allowed(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        self.origins.contains(&origin)
    }

    async fn answer(
        &self,
        request: &Request,
        body: RequestBody,
        AdmittedMessage { caller, over_limit }: AdmittedMessage,
    ) -> Result<Response> {
        let http = RequestContext::of(request);
        if !accepts_json(request.headers()) {
            let refusal = ApiError::Account {
                status: StatusCode::NOT_ACCEPTABLE,
                message: "Not acceptable",
                detail: "Accept application/json.".to_owned(),
            };
            return Ok(refusal.into_response(http.surface));
        }
        let received = self.read(request, body, &caller).await;
        let (message, held) = received.map_err(|refusal| refusal.into_error(request))?;
        if let Some(refusal) = over_limit {
            return Ok(limit_told(&refusal, request, message.ok().as_ref()));
        }
        let mut message = match message {
            Ok(message) => message,
            Err(error) => return Ok(refuse(&error)),
        };
        let context = McpContext {
            caller,
            address: http.address,
            at: http.at,
            client: self.client(request.headers()),
            request_id: written(message.head.id.as_ref()),
            toolsets: toolsets(request),
            arguments: message.arguments.take(),
            progress: Progress::asked(request.headers(), &message.rest),
            _held: Arc::new(held),
        };
        self.pass_on(request, message, context).await
    }

    /// Reads a message and takes it apart.
    async fn read(
        &self,
        request: &Request,
        mut body: RequestBody,
        caller: &AccountCaller,
    ) -> Result<(Result<RpcMessage, Box<JsonRpcError>>, HeldBytes), ApiError> {
        let http = RequestContext::of(request);
        let has_large_bodies = caller.tier > Tier::Free;
        let limit = self.settings().mcp_body_limit;
        let limits = BodyLimits {
            bytes: if has_large_bodies { limit } else { limit.min(COMMON_BODY_LIMIT) },
            source: RequestSource::Account(caller.id),
            has_large_bodies,
            memory: self.state.app.body_memory.clone(),
            patience: self.settings().body_patience,
        };
        let received = body::read(request, &mut body, &limits).await?;
        let bytes = received.bytes.clone();
        body::parsed(http, received, move |_| Ok(RpcMessage::read(&bytes))).await
    }

    /// Answers a plain tool call, and passes every other message to the SDK, whose errors become
    /// errors of the protocol.
    async fn pass_on(
        &self,
        request: &Request,
        message: RpcMessage,
        context: McpContext,
    ) -> Result<Response> {
        if let Some(call) = DirectCall::of(request.headers(), &message) {
            let (state, progress) = (self.state.clone(), context.progress.clone());
            let work = Box::pin(async move {
                let arguments = context.arguments.clone().unwrap_or_else(no_arguments);
                let options = call.options.clone();
                let result = state.call_tool(call.entry, &context, arguments, options).await;
                call.answer(&result)
            });
            return Ok(progress::answer(work, progress).await);
        }
        let RpcMessage { head, rest, .. } = message;
        if head.method == CANCELS {
            let id = rest.pointer("/params/requestId").map(ToString::to_string);
            self.state.running.cancel(context.caller.id, context.client, id.unwrap_or_default());
        }
        if let Some(unknown) = unknown_version(request.headers(), &head) {
            let known = ProtocolVersion::KNOWN_VERSIONS;
            let error = ErrorData::unsupported_protocol_version(unknown, known);
            return Ok(refuse(&JsonRpcError::new(head.id, error)));
        }
        let message = for_sdk(request, rest.to_string().into(), context);
        let response = if head.method == READS_RESULTS {
            // The SDK writes the answer as JSON, and a stored result may hold megabytes.
            let (sdk, here) = (self.sdk.clone(), tokio::runtime::Handle::current());
            let answer = tokio::task::spawn_blocking(move || here.block_on(sdk.call(message)));
            answer.await.map_err(|_| ApiError::Internal.into_error(request))??
        } else {
            self.sdk.call(message).await?
        };
        as_protocol_error(response, head.id).await
    }
}

impl Endpoint for Gateway {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let context = RequestContext::of(&request).clone();
        let forbidden = |detail: &str| {
            let (message, detail) = ("Forbidden", detail.to_owned());
            let refusal = ApiError::Account { status: StatusCode::FORBIDDEN, message, detail };
            Ok(refusal.into_response(context.surface))
        };
        if !self.is_own_host(&request) {
            return forbidden("The header Host names another service.");
        }
        let origin = request.headers().get(header::ORIGIN).cloned();
        if origin.as_ref().is_some_and(|origin| !self.is_allowed(origin)) {
            return forbidden("Pages of this origin may not call. See QS_ALLOWED_ORIGINS.");
        }
        let mut response = match *request.method() {
            Method::OPTIONS if origin.is_some() => preflight(),
            Method::POST => match self.admit(&request, &context).await {
                Ok(admitted) => {
                    let (request, body) = request.split();
                    // Boxed, because every layer of the service moves the future of its endpoint.
                    let answer = Box::pin(self.answer(&request, body, admitted)).await;
                    answer.unwrap_or_else(poem::Error::into_response)
                }
                Err(refused) => refused,
            },
            _ => {
                let allow = HeaderValue::from_static("POST");
                ApiError::MethodNotAllowed { allow }.into_response(context.surface)
            }
        };
        if let Some(origin) = origin {
            let exposed = HeaderValue::from_static("WWW-Authenticate, Retry-After");
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
            headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        }
        Ok(response)
    }
}

/// Returns the id of a request as JSON; empty for a notification.
fn written(id: Option<&RequestId>) -> String {
    id.and_then(|id| serde_json::to_string(id).ok()).unwrap_or_default()
}

/// Makes the answer to a preflight request.
fn preflight() -> Response {
    Response::builder()
        .status(StatusCode::NO_CONTENT)
        .header(header::ACCESS_CONTROL_ALLOW_METHODS, "POST")
        .header(
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
        )
        .header(header::ACCESS_CONTROL_MAX_AGE, "3600")
        .finish()
}

/// Returns an origin in the form that a browser sends, with its host; `None` for a text that is no
/// absolute URL.
fn parse_origin(url: &str) -> Option<(String, String)> {
    let uri: Uri = url.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    Some((format!("{scheme}://{authority}"), authority.host().to_ascii_lowercase()))
}

/// Returns the named sets of tools in the query, or none where the query cannot be read.
fn toolsets(request: &Request) -> String {
    let query = request.params::<Vec<(String, String)>>().unwrap_or_default();
    let named = query.into_iter().filter(|(name, _)| name == "toolsets").map(|(_, sets)| sets);
    named.collect::<Vec<_>>().join(",")
}

/// Returns the version in the header, where the version is unknown and the message names no other
/// one. A handshake is exempt, because its answer contains a known version.
fn unknown_version(headers: &HeaderMap, head: &Head) -> Option<ProtocolVersion> {
    let named = headers.get(PROTOCOL_VERSION)?.to_str().ok()?;
    let named = echo::value(named);
    let named = named.as_ref();
    let is_known = ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == named);
    let is_other = head.version.as_ref().is_some_and(|version| version != named);
    if is_known || is_other || head.method == "initialize" {
        return None;
    }
    serde_json::from_value(named.into()).ok()
}

/// Makes the request for the SDK: with the headers of the protocol, and without those that this
/// module has checked.
fn for_sdk(request: &Request, bytes: Bytes, context: McpContext) -> Request {
    let mut message = Request::builder()
        .method(Method::POST)
        .uri(request.uri().clone())
        .header(header::HOST, "localhost")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header(header::CONTENT_TYPE, "application/json")
        .body(bytes);
    for (name, value) in request.headers() {
        let is_short = value.len() <= LONGEST_NAME;
        if name.as_str().starts_with("mcp-") && name != SESSION_ID && is_short {
            message.headers_mut().append(name, value.clone());
        }
    }
    message.set_data(context);
    message
}

/// Converts an error in plain text of the SDK to an error of the protocol.
async fn as_protocol_error(response: Response, id: Option<RequestId>) -> Result<Response> {
    let is_text = response.content_type().is_none_or(|kind| !kind.starts_with("application/json"));
    if !response.status().is_client_error() || !is_text {
        return Ok(response);
    }
    let text = response.into_body().into_string().await.unwrap_or_default();
    Ok(refuse(&JsonRpcError::new(id, ErrorData::invalid_request(text, None))))
}

/// Tells the limit of messages in the result of a tool call; every other message gets the status of
/// HTTP.
fn limit_told(refusal: &ApiError, request: &Request, message: Option<&RpcMessage>) -> Response {
    let response = refusal.clone().into_response(RequestContext::of(request).surface);
    let call = message.and_then(|message| DirectCall::of(request.headers(), message));
    let Some(call) = call else { return response };
    let wait = refusal.retry_after_seconds().unwrap_or_default();
    let text = format!(
        "{}\nNothing was charged. Wait {wait} seconds, then call again; call_tools makes up to \
         {MOST_CALLS} calls in one message.",
        refusal.detail()
    );
    let mut told = json_response(StatusCode::OK, call.answer(&ToolResult::failed(text)));
    if let Some(wait) = response.headers().get(header::RETRY_AFTER) {
        told.headers_mut().insert(header::RETRY_AFTER, wait.clone());
    }
    told
}

/// Makes the response to a message that is not of the protocol.
fn refuse(error: &JsonRpcError) -> Response {
    let text = serde_json::to_string(error).expect("an error is JSON");
    json_response(StatusCode::BAD_REQUEST, text)
}

/// Returns the routes of the endpoint, by their paths.
pub(in crate::api) fn routes(gateway: &Arc<Gateway>) -> Vec<(&'static str, BoxEndpoint<'static>)> {
    // Some hosts make the second address of the first.
    let paths = ["/mcp", "/mcp/"];
    paths.map(|path| (path, AnyMethod::new("/mcp", gateway.clone()).boxed())).into()
}
