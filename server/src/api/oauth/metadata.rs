//! What a client finds out before it asks for anything (RFC 8414, RFC 9728).

use account_core::oauth::SCOPE;
use poem::{Endpoint, Request, Response, endpoint::make_sync, http::StatusCode};
use serde_json::{Value, json};

use super::answer;
use crate::{http::RequestContext, state::Settings};

/// Serves what the MCP endpoint says of itself.
pub(crate) fn resource() -> impl Endpoint<Output = Response> {
    make_sync(|request: Request| {
        let settings = &RequestContext::of(&request).state.settings;
        answer(StatusCode::OK, &describe_resource(settings))
    })
}

/// Serves what the authorization server says of itself.
pub(crate) fn server() -> impl Endpoint<Output = Response> {
    make_sync(|request: Request| {
        let settings = &RequestContext::of(&request).state.settings;
        answer(StatusCode::OK, &describe_server(&settings.mcp_url))
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

fn describe_server(issuer: &str) -> Value {
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
        "service_documentation": at("/docs"),
    })
}
