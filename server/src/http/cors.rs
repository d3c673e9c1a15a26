//! Calls of the pages of `QS_WEBSITE_URL`, which a browser takes for calls of another origin.
//!
//! poem's `Cors` answers 403 to every other origin, and so to the pages of this service: browsers
//! send `Origin` with their calls too. This module adds headers to answers and refuses nothing; a
//! browser keeps an answer without these headers from the page that asked.

use poem::{
    Request, Response,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};

use super::context::RequestHead;

/// The request headers that a page of the website may send.
const ALLOWED: HeaderValue = HeaderValue::from_static(
    "Content-Type, Idempotency-Key, Prefer, X-API-Key, X-Request-Id, X-Session-Token",
);
/// The headers of an answer that a page may read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "Idempotent-Replayed, Preference-Applied, Retry-After, X-Credits-Balance, X-Credits-Cost, \
     X-Ignored-Fields, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
);
/// Seconds for which a browser keeps the answer to a preflight request.
const MAX_AGE: HeaderValue = HeaderValue::from_static("3600");
const TRUE: HeaderValue = HeaderValue::from_static("true");

/// Returns the origin of a request where a page of the website has sent it.
pub(super) fn website_origin(request: &Request, head: &RequestHead) -> Option<HeaderValue> {
    let mut lines = request.headers().get_all(header::ORIGIN).into_iter();
    let (Some(origin), None) = (lines.next(), lines.next()) else { return None };
    let website = head.state.settings.website_origin()?;
    (origin == website.as_str()).then(|| origin.clone())
}

/// Answers the preflight request for a path that takes these methods.
pub(super) fn preflight(origin: HeaderValue, methods: HeaderValue) -> Response {
    let mut response = Response::builder().status(StatusCode::NO_CONTENT).finish();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    allow(headers, origin);
    response
}

/// Lets a page of the website read the answer, and keep the cookie that marks its client.
pub(super) fn expose(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    allow(headers, origin);
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, TRUE);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}
