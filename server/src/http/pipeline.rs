//! The pipeline of every request, and the place of each check in the code.
//!
//! The checks with their status codes are listed in `docs/decisions.md`, under "Order of the checks".
//! The numbers are those of the list.
//!
//! | check | code |
//! |---|---|
//! | 0 | `host::check`, `check_credentials` |
//! | 1 | [`RequestPipeline`], `methods.rs` |
//! | 2, 4 | [`Authenticated`](super::Authenticated) |
//! | 3 | [`AdmittedCall::new`]; [`Anonymous`](super::Anonymous) for an address without a key |
//! | 5 | [`AccountHolder`](super::AccountHolder), [`Administrator`](super::Administrator), [`AdmittedCall::authorise`] |
//! | 6, 7 | [`AdmittedCall::authorise`] |
//! | 8 | `body::receive`, `body::read` |
//! | 9 | [`validation`](super::validation) |
//! | 10 to 13 | [`ParsedCall::execute`] |
//!
//! [`AdmittedCall::new`]: super::AdmittedCall::new
//! [`AdmittedCall::authorise`]: super::AdmittedCall::authorise
//! [`ParsedCall::execute`]: super::ParsedCall::execute

use std::{pin::pin, sync::Arc};

use poem::{
    Endpoint, Error, IntoResponse, Request, Response, Result,
    http::{HeaderName, HeaderValue, StatusCode, Version, header},
};
use tracing::Instrument as _;

use super::{
    body::{BodyLimits, SMALL, announced_length, receive},
    context::RequestHead,
    date::DateHeader,
    error::{ApiError, Surface},
    headers::{X_API_KEY, X_SESSION_TOKEN},
    host,
};
use crate::{body_memory::RequestSource, state::AppState, telemetry};

/// The content security policy of an answer that is no page.
pub(crate) const CLOSED_POLICY: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Adds a [`RequestHead`] to every request of the routes behind it, and answers what no route took.
pub struct RequestPipeline<E> {
    state: Arc<AppState>,
    routes: E,
    date: DateHeader,
}

impl<E> RequestPipeline<E> {
    /// Makes a pipeline in front of `routes`.
    pub fn new(state: Arc<AppState>, routes: E) -> Self {
        Self { state, routes, date: DateHeader::default() }
    }
}

impl<E: Endpoint> Endpoint for RequestPipeline<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let head = Arc::new(RequestHead::of_request(self.state.clone(), &request));
        let span = telemetry::request_span(&request, head.id);
        // Pinned here: the future is large, and the span's wrapper would take it by value.
        let answer = pin!(self.answer(request, head));
        Ok(answer.instrument(span).await)
    }
}

impl<E: Endpoint> RequestPipeline<E> {
    async fn answer(&self, mut request: Request, head: Arc<RequestHead>) -> Response {
        request.set_data(head.clone());
        let small_body = take_small_body(&mut request, &head).await;
        let is_left_unread = !matches!(small_body, Ok(true));
        let checked = small_body
            .and_then(|_| host::check(&request, &head.state.settings))
            .and_then(|()| check_credentials(&request));
        let outcome = match checked {
            Ok(()) => self.routes.call(request).await,
            Err(refusal) => Err(Error::from_response(refusal.into_response(Surface::Account))),
        };
        let mut response = match outcome {
            // A route has concluded the request.
            Ok(output) => output.into_response(),
            Err(error) => {
                let mut response = refusal(error, &head);
                head.finish_unrouted(&mut response);
                response
            }
        };
        let is_refused = response.status().is_client_error() || response.status().is_server_error();
        if is_left_unread && is_refused {
            // The rest of the body would be parsed as the next request.
            close_connection(&mut response);
        }
        if let Some(date) = self.date.at(self.state.clock.now()) {
            response.headers_mut().insert(header::DATE, date);
        }
        // Most answers hold a secret or belong to one caller. An answer for caches has a header already.
        let no_store = HeaderValue::from_static("no-store");
        response.headers_mut().entry(header::CACHE_CONTROL).or_insert(no_store);
        // A browser takes no answer for another type than the one it names, as a script.
        let no_sniff = HeaderValue::from_static("nosniff");
        response.headers_mut().entry(header::X_CONTENT_TYPE_OPTIONS).or_insert(no_sniff);
        // An answer that is no page loads nothing and is in no frame, whatever it holds.
        let closed = HeaderValue::from_static(CLOSED_POLICY);
        response.headers_mut().entry(header::CONTENT_SECURITY_POLICY).or_insert(closed);
        response
    }
}

fn close_connection(response: &mut Response) {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
}

/// Refuses a request with two keys or two session tokens: a proxy or a log could take the other one.
fn check_credentials(request: &Request) -> Result<(), ApiError> {
    let is_repeated =
        |name: HeaderName| request.headers().get_all(name).into_iter().nth(1).is_some();
    let detail = if is_repeated(X_API_KEY) {
        "There must be one header X-API-Key."
    } else if is_repeated(X_SESSION_TOKEN) {
        "There must be one header X-Session-Token."
    } else {
        return Ok(());
    };
    Err(ApiError::Malformed { detail })
}

/// Reads a small body before the checks, so that its connection can go on after a refusal. Returns
/// `false` where the body is not small, or the client waits for `100 Continue`.
///
/// # Errors
///
/// The refusal of a body that does not arrive, or that finds no memory.
async fn take_small_body(request: &mut Request, head: &RequestHead) -> Result<bool, ApiError> {
    if request.version() >= Version::HTTP_2 {
        // A refusal ends the stream of its request alone.
        return Ok(true);
    }
    let Some(length) = announced_length(request) else { return Ok(false) };
    if length == 0 {
        return Ok(true);
    }
    if length > SMALL || request.headers().contains_key(header::EXPECT) {
        return Ok(false);
    }
    let limits = BodyLimits {
        bytes: SMALL,
        source: RequestSource::of(None, head.address),
        has_large_bodies: false,
        memory: head.state.body_memory.clone(),
        patience: head.state.settings.body_patience,
    };
    let received = receive(request.take_body(), Some(length), &limits).await?;
    request.set_body(received.bytes);
    Ok(true)
}

/// The answer to an error: the error's own response, or the refusal of its status.
pub(super) fn refusal(error: Error, head: &RequestHead) -> Response {
    if error.is_from_response() {
        return error.into_response();
    }
    let refusal = match error.status() {
        StatusCode::NOT_FOUND => ApiError::NotFound,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ApiError::MediaType,
        StatusCode::SERVICE_UNAVAILABLE => ApiError::busy(),
        status if status.is_client_error() => {
            ApiError::Account { status, message: "Bad request", detail: error.to_string() }
        }
        _ => {
            tracing::error!(request_id = %head.id, %error, "a request failed");
            ApiError::Internal
        }
    };
    refusal.into_response(Surface::Account)
}
