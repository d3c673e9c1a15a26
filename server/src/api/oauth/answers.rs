//! Answers to OAuth clients, with the headers that let pages of any website read them.

use account_core::oauth::OauthError;
use poem::{
    Endpoint, IntoResponse, Response,
    endpoint::make_sync,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
};
use serde_json::{Value, json};

use crate::http::{ApiError, RequestContext};

/// The error for a resource other than the MCP endpoint of this service.
pub(super) const FOREIGN_RESOURCE: OauthError =
    OauthError::InvalidTarget("this server gives tokens for its own MCP endpoint alone");

/// Allows calls from pages of any website, because these endpoints read no cookies.
fn allow_any_origin(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "WWW-Authenticate"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Answers a CORS preflight request.
pub(super) fn preflight(method: &Method) -> impl Endpoint<Output = Response> + use<> {
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

/// Makes a response to an OAuth client with a JSON body. No cache stores the response: RFC 6749 §5.1
/// asks for `Pragma` beside the `Cache-Control`, which the pipeline adds to every response.
pub(super) fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::builder()
        .status(status)
        .content_type("application/json")
        .header(header::PRAGMA, "no-cache")
        .body(body.to_string());
    allow_any_origin(response.headers_mut());
    response
}

/// Makes the answer for an error to a client.
pub(super) fn refuse(call: &RequestContext, error: &OauthError) -> Response {
    let status = match error {
        OauthError::InvalidClient(_) => StatusCode::UNAUTHORIZED,
        OauthError::Store(cause) => {
            tracing::error!(request_id = %call.id, error = %cause, "an OAuth call failed");
            return unavailable(StatusCode::SERVICE_UNAVAILABLE, &call.storage_refusal(cause));
        }
        _ => StatusCode::BAD_REQUEST,
    };
    let body = json!({ "error": error.code(), "error_description": error.to_string() });
    answer(status, &body)
}

/// Makes the answer to a client whose request could not be read.
pub(super) fn unfit(refusal: &ApiError) -> Response {
    let (status, told) = match refusal {
        ApiError::RateLimit { .. } | ApiError::Busy { .. } => {
            return unavailable(refusal.status(), refusal);
        }
        // RFC 6749, section 5.2, gives a malformed request the status 400.
        ApiError::MediaType => {
            (StatusCode::BAD_REQUEST, "the body must be application/x-www-form-urlencoded")
        }
        ApiError::BodyTooLarge { .. } => (refusal.status(), "the body is too large"),
        ApiError::BodyTooSlow => (refusal.status(), "the body took too long to arrive"),
        ApiError::ContentEncoding => (refusal.status(), "the body must not be compressed"),
        _ => (StatusCode::BAD_REQUEST, "the request cannot be read"),
    };
    let body = json!({ "error": "invalid_request", "error_description": told });
    let mut response = answer(status, &body);
    refusal.add_headers(response.headers_mut());
    response
}

/// Answers a client that may try again, with the reason where the database is the cause.
fn unavailable(status: StatusCode, refusal: &ApiError) -> Response {
    const AGAIN: &str = "try again later; nothing was changed";
    let told = match refusal {
        ApiError::Storage { fault } => format!("{} {AGAIN}", fault.reason()),
        _ => AGAIN.to_owned(),
    };
    let body = json!({ "error": "temporarily_unavailable", "error_description": told });
    let mut response = answer(status, &body);
    let wait = refusal.retry_after_seconds().unwrap_or(1);
    response.headers_mut().insert(header::RETRY_AFTER, wait.into());
    response.into_response()
}
