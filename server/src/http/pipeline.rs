//! The pipeline of every request, and the place of each check in the code.
//!
//! The checks with their status codes are listed in `docs/decisions.md`, under "Order of the checks".
//! The numbers are those of the list.
//!
//! | check | code |
//! |---|---|
//! | 1 | [`RequestPipeline`], `methods.rs` |
//! | 2, 4 | [`Authenticated`](super::Authenticated) |
//! | 3 | [`AdmittedCall::new`]; [`Anonymous`](super::Anonymous) for an address without a key |
//! | 5 | [`AccountHolder`](super::AccountHolder), [`Administrator`](super::Administrator), [`AdmittedCall::authorise`] |
//! | 6, 7 | [`AdmittedCall::authorise`] |
//! | 8 | `body::receive`, `body::read` |
//! | 9 | [`validation`](super::validation) |
//! | 10, 11, 12 | [`ParsedCall::execute`] |
//!
//! [`AdmittedCall::new`]: super::AdmittedCall::new
//! [`AdmittedCall::authorise`]: super::AdmittedCall::authorise
//! [`ParsedCall::execute`]: super::ParsedCall::execute

use std::sync::Arc;

use poem::{
    Endpoint, Error, IntoResponse, Request, Response, Result,
    http::{HeaderValue, StatusCode, header},
};

use super::{
    body::{PATIENCE, SMALL, announced_length, receive},
    context::{RETRY_AFTER_BUSY, RequestHead},
    error::{ApiError, Surface},
};
use crate::state::AppState;

/// Adds a [`RequestHead`] to every request of the routes behind it, and answers what no route took.
pub struct RequestPipeline<E> {
    state: Arc<AppState>,
    routes: E,
}

impl<E> RequestPipeline<E> {
    /// A pipeline in front of `routes`.
    pub fn new(state: Arc<AppState>, routes: E) -> Self {
        Self { state, routes }
    }
}

impl<E: Endpoint> Endpoint for RequestPipeline<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        let head = Arc::new(RequestHead::of_request(self.state.clone(), &request));
        request.set_data(head.clone());
        let is_left_unread = !take_small_body(&mut request).await;
        let mut response = match self.routes.call(request).await {
            // A route has concluded the request.
            Ok(output) => output.into_response(),
            Err(error) => {
                let mut response = answer(error, &head);
                head.finish_unrouted(&mut response);
                response
            }
        };
        if is_left_unread && response.status().is_client_error() {
            // The rest of the body would be parsed as the next request.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        Ok(response)
    }
}

/// Reads a small body before the checks, so that its connection can go on after a refusal. Returns
/// `false` where the body is not small, or the client waits for `100 Continue`.
async fn take_small_body(request: &mut Request) -> bool {
    let Some(length) = announced_length(request) else { return false };
    if length == 0 {
        return true;
    }
    if length > SMALL || request.header(header::EXPECT).is_some() {
        return false;
    }
    match receive(request.take_body(), Some(length), SMALL, PATIENCE).await {
        Ok(bytes) => {
            request.set_body(bytes);
            true
        }
        Err(_) => false,
    }
}

/// The answer to an error: the error's own response, or the refusal of its status.
pub(super) fn answer(error: Error, head: &RequestHead) -> Response {
    if error.is_from_response() {
        return error.into_response();
    }
    let refusal = match error.status() {
        StatusCode::NOT_FOUND => ApiError::NotFound,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ApiError::MediaType,
        StatusCode::SERVICE_UNAVAILABLE => ApiError::Busy { retry_after: RETRY_AFTER_BUSY },
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
