//! The OAuth 2.1 server: clients get tokens for the MCP endpoint, and nothing else.
//!
//! Every address in what it says comes from the configuration, never from a request's `Host`. Its
//! routes are not in the generated document, which tells of calls with an API key: clients find
//! them by the metadata that this server publishes.

use account_core::oauth::Error;
use poem::{
    Endpoint, EndpointExt, IntoResponse, Response, Route,
    endpoint::{BoxEndpoint, make_sync},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
};
use serde_json::{Value, json};

use crate::{
    api::pages::{anonymous_page, answering},
    http::{ApiError, Methods, RequestContext},
    state::Settings,
};

mod applications;
mod authorize;
mod external_sign_in;
mod metadata;
mod register;
mod sign_in;
mod token;

/// Where the metadata of the MCP endpoint is, below the host's address.
const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

/// Where the sign-in page sends a browser that is to go to the identity provider.
const PROVIDER: &str = "/oauth/sign-in/provider";
/// Where such a browser comes back to.
pub(crate) const RETURN: &str = "/oauth/sign-in/return";

/// A resource that is none of ours.
const FOREIGN: Error =
    Error::InvalidTarget("this server gives tokens for its own MCP endpoint alone");

/// Adds the routes of the server and of its pages.
pub(crate) fn add_routes(route: Route) -> Route {
    let open = |path: &'static str, method: Method, endpoint: BoxEndpoint<'static>| {
        let preflight = preflight(&method).boxed();
        Methods::of(path, [(method, endpoint), (Method::OPTIONS, preflight)])
    };
    let resource = |path| open(path, Method::GET, metadata::resource().boxed());
    let server = "/.well-known/oauth-authorization-server";
    let (register, token, revoke) = ("/oauth/register", "/oauth/token", "/oauth/revoke");
    let (sign_in, consent) = ("/oauth/sign-in", "/oauth/consent");
    let applications = "/account/applications";
    route
        .at(RESOURCE_METADATA, resource(RESOURCE_METADATA))
        .at(
            "/.well-known/oauth-protected-resource",
            resource("/.well-known/oauth-protected-resource"),
        )
        .at(server, open(server, Method::GET, metadata::server().boxed()))
        .at(register, open(register, Method::POST, answering(register::register)))
        .at(token, open(token, Method::POST, answering(token::token)))
        .at(revoke, open(revoke, Method::POST, answering(token::revoke)))
        .at(
            "/oauth/authorize",
            Methods::of("/oauth/authorize", [(Method::GET, anonymous_page(authorize::ask))]),
        )
        .at(sign_in, Methods::of(sign_in, [(Method::POST, anonymous_page(sign_in::sign_in))]))
        .at(
            PROVIDER,
            Methods::of(PROVIDER, [(Method::GET, anonymous_page(external_sign_in::leave))]),
        )
        .at(
            RETURN,
            Methods::of(RETURN, [(Method::GET, anonymous_page(external_sign_in::come_back))]),
        )
        .at(consent, Methods::of(consent, [(Method::POST, anonymous_page(authorize::decide))]))
        .at(
            applications,
            Methods::of(
                applications,
                [
                    (Method::GET, anonymous_page(applications::show)),
                    (Method::POST, anonymous_page(applications::change)),
                ],
            ),
        )
}

/// The `WWW-Authenticate` of a 401: where a client learns how to get a token. What is wrong with
/// one is told only to who sent one.
///
/// # Panics
///
/// Where the address was not checked, as the configuration's is.
#[must_use]
pub fn challenge(settings: &Settings, token_was_sent: bool) -> HeaderValue {
    let error = if token_was_sent { r#", error="invalid_token""# } else { "" };
    let scope = account_core::oauth::SCOPE;
    let url = &settings.mcp_url;
    let challenge =
        format!(r#"Bearer resource_metadata="{url}{RESOURCE_METADATA}", scope="{scope}"{error}"#);
    challenge.parse().expect("a checked address makes a header")
}

/// Lets pages of any website call: nothing here goes by cookies.
fn allow_any_origin(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "WWW-Authenticate"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Tells a browser that a page may call.
fn preflight(method: &Method) -> impl Endpoint<Output = Response> + use<> {
    let methods = format!("{method}, OPTIONS");
    make_sync(move |_| {
        let mut response = Response::builder()
            .status(StatusCode::NO_CONTENT)
            .header(header::ACCESS_CONTROL_ALLOW_METHODS, &methods)
            .header(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "Authorization, Content-Type, MCP-Protocol-Version",
            )
            .header(header::ACCESS_CONTROL_MAX_AGE, "86400")
            .finish();
        allow_any_origin(response.headers_mut());
        response
    })
}

/// An answer to a client, which no cache keeps.
fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::builder()
        .status(status)
        .content_type("application/json")
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::PRAGMA, "no-cache")
        .body(body.to_string());
    allow_any_origin(response.headers_mut());
    response
}

/// Tells a client what is wrong.
fn refuse(call: &RequestContext, error: &Error) -> Response {
    let status = match error {
        Error::InvalidClient(_) => StatusCode::UNAUTHORIZED,
        Error::Store(cause) => {
            tracing::error!(request_id = %call.id, error = %cause, "an OAuth call failed");
            return unavailable(StatusCode::SERVICE_UNAVAILABLE, 1);
        }
        _ => StatusCode::BAD_REQUEST,
    };
    let body = json!({ "error": error.code(), "error_description": error.to_string() });
    answer(status, &body)
}

/// Tells a client that its request was not even read.
fn unfit(refusal: &ApiError) -> Response {
    let told = match refusal {
        ApiError::RateLimit { retry_after, .. } => {
            return unavailable(StatusCode::TOO_MANY_REQUESTS, retry_after.as_secs() + 1);
        }
        ApiError::MediaType => "the body must be application/x-www-form-urlencoded",
        ApiError::BodyTooLarge { .. } => "the body is too large",
        _ => "the request cannot be read",
    };
    let body = json!({ "error": "invalid_request", "error_description": told });
    answer(StatusCode::BAD_REQUEST, &body)
}

fn unavailable(status: StatusCode, retry_after: u64) -> Response {
    let body = json!({
        "error": "temporarily_unavailable",
        "error_description": "try again later; nothing was changed",
    });
    let mut response = answer(status, &body);
    response.headers_mut().insert(header::RETRY_AFTER, retry_after.into());
    response.into_response()
}
