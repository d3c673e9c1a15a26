//! The metadata of the MCP endpoint and of the authorization server (RFC 8414, RFC 9728).

use account_core::oauth::SCOPE;
use poem::{
    Endpoint, Request, Response,
    endpoint::make_sync,
    http::{HeaderValue, StatusCode},
};
use serde_json::{Value, json};

use super::answers::answer;
use crate::{http::RequestContext, state::Settings};

/// Path of the metadata of the MCP endpoint, below the host's address.
pub(super) const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

/// Returns the `WWW-Authenticate` header of a 401, which names the metadata. The error code is in it
/// only where the request had a token (RFC 6750, section 3).
///
/// # Panics
///
/// Panics where the MCP address is not valid in a header; the check of the settings excludes that.
#[must_use]
pub fn challenge(settings: &Settings, token_was_sent: bool) -> HeaderValue {
    let error = if token_was_sent { r#", error="invalid_token""# } else { "" };
    let url = &settings.mcp_url;
    let challenge =
        format!(r#"Bearer resource_metadata="{url}{RESOURCE_METADATA}", scope="{SCOPE}"{error}"#);
    challenge.parse().expect("a checked address makes a header")
}

/// Serves the metadata of the MCP endpoint.
pub(crate) fn resource() -> impl Endpoint<Output = Response> {
    make_sync(|request: Request| {
        let settings = &RequestContext::of(&request).state.settings;
        answer(StatusCode::OK, &describe_resource(settings))
    })
}

/// Serves the metadata of the authorization server.
pub(crate) fn server() -> impl Endpoint<Output = Response> {
    make_sync(|request: Request| {
        let settings = &RequestContext::of(&request).state.settings;
        answer(StatusCode::OK, &describe_server(settings))
    })
}

fn describe_resource(settings: &Settings) -> Value {
    json!({
        "resource": settings.mcp_resource(),
        "resource_name": "svc",
        "authorization_servers": [settings.mcp_url],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_documentation": format!("{}/docs", settings.mcp_url),
    })
}

fn describe_server(settings: &Settings) -> Value {
    let issuer = &settings.mcp_url;
    let at = |path: &str| format!("{issuer}{path}");
    json!({
        "issuer": issuer,
        "authorization_endpoint": at("/oauth/authorize"),
        "token_endpoint": at("/oauth/token"),
        "registration_endpoint": at("/oauth/register"),
        "revocation_endpoint": at("/oauth/revoke"),
        "scopes_supported": [SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": settings.mcp_client_documents,
        "service_documentation": at("/docs"),
    })
}
