//! The checks of a message, in this order: host, origin, token, message rate, media types, size,
//! JSON, form. The SDK handles the message after the checks. An error that the SDK answers in plain
//! text becomes an error of the protocol.

use std::{sync::Arc, time::Duration};

use account_core::{AccessToken, AccountCaller, AccountId, Tier};
use bytes::Bytes;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock as _};
use poem::{
    Endpoint, Request, RequestBody, Response, Result,
    endpoint::{BoxEndpoint, EndpointExt, TowerCompatExt},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
};
use rmcp::{
    ErrorData,
    model::{ErrorCode, JsonRpcError, ProtocolVersion, RequestId},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::Value;

use super::{
    context::McpContext,
    message::{self, MOST_WITHOUT_ARGUMENTS, SplitError},
    protocol::{McpState, Protocol},
};
use crate::{
    api::oauth,
    auth::lookup_error::LookupError,
    body_memory::{HeldBytes, RequestSource},
    http::{
        ApiError, COMMON_BODY_LIMIT, RequestContext,
        body::{self, BodyLimits},
        echo,
        host::is_loopback,
    },
    state::{AppState, Settings},
    store::ResultWriter,
};

/// The most bytes of a name, an address, an id or a header that an error may repeat.
const LONGEST_NAME: usize = 1024;
const PROTOCOL_VERSION: &str = "mcp-protocol-version";
const SESSION_ID: &str = "mcp-session-id";
/// The method whose answer may be large.
const READS_RESULTS: &str = "resources/read";

/// The MCP endpoint: the transport around the SDK, with its limits.
pub struct Gateway {
    state: Arc<McpState>,
    sdk: Arc<BoxEndpoint<'static>>,
    messages: DefaultKeyedRateLimiter<AccountId>,
    own_host: String,
    origins: Vec<String>,
}

/// The members of a well-formed JSON-RPC message.
#[derive(Debug)]
struct Head {
    id: Option<RequestId>,
    method: String,
    /// The version of the protocol that the message names; `None` where the message names none.
    version: Option<String>,
}

/// A well-formed message.
#[derive(Debug)]
struct RpcMessage {
    head: Head,
    /// The message without the arguments of its tool.
    rest: Bytes,
    arguments: Option<Bytes>,
}

impl RpcMessage {
    fn read(bytes: &Bytes) -> Result<Self, Box<JsonRpcError>> {
        let refuse = |error| Box::new(JsonRpcError::new(None, error));
        let split = message::split(bytes).map_err(|error| match error {
            SplitError::Syntax(error) => {
                refuse(ErrorData::parse_error(format!("Parse error: {error}"), None))
            }
            SplitError::TooLarge => {
                let limit = MOST_WITHOUT_ARGUMENTS;
                let message = format!(
                    "A message without the arguments of its tool has at most {limit} bytes"
                );
                refuse(ErrorData::invalid_request(message, None))
            }
        })?;
        let head = read_head(&split.rest)?;
        Ok(Self { head, rest: split.rest, arguments: split.arguments })
    }
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
        let state = Arc::new(McpState { app, results });
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
            own_host: own.1,
            origins: origins.iter().map(|origin| origin.to_ascii_lowercase()).collect(),
        }
    }

    /// Drops the message rates of accounts without recent messages.
    pub fn sweep(&self) {
        self.messages.retain_recent();
        self.messages.shrink_to_fit();
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
    ) -> Result<AccountCaller, Response> {
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
        let token = token.ok_or_else(unauthorised)?;
        let app = &self.state.app;
        let resource = self.settings().mcp_resource();
        let bearer = app.bearers.identify(&app.accounts, &token, &resource, context.at).await;
        let caller = match bearer {
            Ok(bearer) => bearer.caller,
            Err(LookupError::Unavailable) => {
                return Err(refuse(ApiError::Busy { retry_after: Duration::from_secs(1) }));
            }
            Err(_) => return Err(unauthorised()),
        };
        self.messages.check_key(&caller.id).map_err(|refused| {
            let retry_after = refused.wait_time_from(self.messages.clock().now());
            let limit = self.settings().mcp_messages.get();
            refuse(ApiError::RateLimit { limit, window: "minute", retry_after })
        })?;
        Ok(caller)
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
        caller: AccountCaller,
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
        let message = match message {
            Ok(message) => message,
            Err(error) => return Ok(refuse(&error)),
        };
        let context = McpContext {
            caller,
            address: http.address,
            at: http.at,
            toolsets: toolsets(request),
            arguments: message.arguments,
            _held: Arc::new(held),
        };
        self.pass_on(request, message.rest, message.head, context).await
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
        };
        let received = body::read(request, &mut body, &limits).await?;
        let bytes = received.bytes.clone();
        body::parsed(http, received, move |_| Ok(RpcMessage::read(&bytes))).await
    }

    /// Passes the message to the SDK, and converts errors to errors of the protocol.
    async fn pass_on(
        &self,
        request: &Request,
        rest: Bytes,
        head: Head,
        context: McpContext,
    ) -> Result<Response> {
        if let Some(unknown) = unknown_version(request.headers(), &head) {
            let known = ProtocolVersion::KNOWN_VERSIONS;
            let error = ErrorData::unsupported_protocol_version(unknown, known);
            return Ok(refuse(&JsonRpcError::new(head.id, error)));
        }
        let message = for_sdk(request, rest, context);
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
                Ok(caller) => {
                    let (request, body) = request.split();
                    let answer = self.answer(&request, body, caller).await;
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

/// Returns the token of the header `Authorization`, and whether the header contains any token.
fn bearer_token(headers: &HeaderMap) -> (Option<AccessToken>, bool) {
    let mut lines = headers.get_all(header::AUTHORIZATION).into_iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return (None, headers.contains_key(header::AUTHORIZATION));
    };
    let text = line.to_str().unwrap_or_default();
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
            (AccessToken::parse(token.trim()), true)
        }
        _ => (None, true),
    }
}

/// Returns an origin in the form that a browser sends, with its host; `None` for a text that is no
/// absolute URL.
fn parse_origin(url: &str) -> Option<(String, String)> {
    let uri: Uri = url.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    Some((format!("{scheme}://{authority}"), authority.host().to_ascii_lowercase()))
}

/// Returns whether the client accepts JSON. A client without the header accepts every type.
fn accepts_json(headers: &HeaderMap) -> bool {
    if !headers.contains_key(header::ACCEPT) {
        return true;
    }
    let lines = headers.get_all(header::ACCEPT).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_refused = parts.any(|parameter| {
            let weight = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
            weight.is_some_and(|weight| weight.parse() == Ok(0.0_f32))
        });
        ["application/json", "application/*", "*/*"].contains(&media.as_str()) && !is_refused
    })
}

/// Returns the named sets of tools in the query, or none where the query cannot be read.
fn toolsets(request: &Request) -> String {
    let query = request.params::<Vec<(String, String)>>().unwrap_or_default();
    let named = query.into_iter().filter(|(name, _)| name == "toolsets").map(|(_, sets)| sets);
    named.collect::<Vec<_>>().join(",")
}

/// Reads the members that every message must have.
fn read_head(bytes: &[u8]) -> Result<Head, Box<JsonRpcError>> {
    let refuse = |id, error| Box::new(JsonRpcError::new(id, error));
    let message: Value = serde_json::from_slice(bytes).map_err(|error| {
        refuse(None, ErrorData::parse_error(format!("Parse error: {error}"), None))
    })?;
    let invalid = |id, what: &'static str| refuse(id, ErrorData::invalid_request(what, None));
    let Some(fields) = message.as_object() else {
        let what = match message {
            Value::Array(_) => "Batches are not served; send one message at a time",
            _ => "A message is a JSON object",
        };
        return Err(invalid(None, what));
    };
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.len() > LONGEST_NAME);
    let id = match fields.get("id") {
        None => None,
        Some(id) if is_long(id) => return Err(invalid(None, "An id has at most 1024 bytes")),
        Some(id) if id.is_string() || id.is_i64() => serde_json::from_value(id.clone()).ok(),
        Some(_) => return Err(invalid(None, "An id is a string or a whole number")),
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(id, "A message says \"jsonrpc\": \"2.0\""));
    }
    if fields.contains_key("result") || fields.contains_key("error") {
        return Err(invalid(id, "Nothing was asked, so no answer is taken"));
    }
    let Some(method) = fields.get("method").and_then(Value::as_str) else {
        return Err(invalid(id, "A message names its method"));
    };
    if method.len() > LONGEST_NAME {
        let message = format!("Method not found: {}", echo::value(method));
        return Err(refuse(id, ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)));
    }
    let params = fields.get("params");
    if params.is_some_and(|params| !params.is_object()) {
        return Err(refuse(id, ErrorData::invalid_params("Parameters are an object", None)));
    }
    let version = params.and_then(|params| params.get("_meta")?.get(META_VERSION));
    let names = ["name", "uri", "protocolVersion"].map(|name| params.and_then(|of| of.get(name)));
    if names.into_iter().chain([version]).flatten().any(is_long) {
        let what = "A name, an address or a version has at most 1024 bytes";
        return Err(refuse(id, ErrorData::invalid_params(what, None)));
    }
    let version = version.and_then(Value::as_str);
    Ok(Head { id, method: method.to_owned(), version: version.map(str::to_owned) })
}

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

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

/// Makes the response to a message that is not of the protocol.
fn refuse(error: &JsonRpcError) -> Response {
    Response::builder()
        .status(StatusCode::BAD_REQUEST)
        .content_type("application/json")
        .body(serde_json::to_string(error).expect("an error is JSON"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, value.parse().expect("a header"));
        }
        headers
    }

    #[test]
    fn a_client_takes_json_unless_it_says_otherwise() {
        #[rustfmt::skip]
        let rows: [(&[&str], bool); 10] = [
            (&[],                                                true),
            (&["application/json, text/event-stream"],           true),
            (&["text/event-stream", "application/json"],         true),
            (&["*/*"],                                           true),
            (&["application/*;q=0.1"],                           true),
            (&["APPLICATION/JSON; charset=utf-8"],               true),
            (&["text/html"],                                     false),
            (&["text/event-stream"],                             false),
            (&["application/json;q=0"],                          false),
            (&["application/json; q=0.0, text/html"],            false),
        ];
        for (lines, expected) in rows {
            assert_eq!(accepts_json(&headers("accept", lines)), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_token_is_read_from_one_header_of_the_one_scheme() {
        let token = "A".repeat(43);
        let bearer = format!("bEARER {token}");
        let key = format!("Bearer fk_user_{token}");
        #[rustfmt::skip]
        let rows: [(&[&str], bool, bool); 7] = [
            // lines                                      token  sent
            (&[],                                         false, false),
            (&[&bearer],                                  true,  true),
            (&[&bearer, &bearer],                         false, true),
            (&["Bearer"],                                 false, true),
            (&["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],     false, true),
            (&[&token],                                   false, true),
            (&[&key],                                     false, true),
        ];
        for (lines, is_token, was_sent) in rows {
            let (token, sent) = bearer_token(&headers("authorization", lines));
            assert_eq!((token.is_some(), sent), (is_token, was_sent), "{lines:?}");
        }
    }
}
