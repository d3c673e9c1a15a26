//! The road of every request: a call begins, the routes answer, the answer gets its headers.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use poem::{
    Endpoint, Error, IntoResponse, Request, Response, Result,
    http::{HeaderValue, StatusCode, header},
};

use super::{
    ApiError, RequestContext, Surface,
    body::{PATIENCE, SMALL, announced_length, collect},
};
use crate::state::AppState;

/// Puts a [`RequestContext`] on every request of the routes behind it, and makes every failure an answer.
pub struct RequestPipeline<E> {
    service: Arc<AppState>,
    routes: E,
}

impl<E> RequestPipeline<E> {
    /// Leads every request of `routes` through `service`.
    pub fn new(service: Arc<AppState>, routes: E) -> Self {
        Self { service, routes }
    }
}

impl<E: Endpoint> Endpoint for RequestPipeline<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        let call = Arc::new(RequestContext::begin(self.service.clone(), &request));
        request.set_data(call.clone());
        let is_left_unread = !take_small_body(&mut request).await;
        let outcome = AssertUnwindSafe(self.routes.call(request)).catch_unwind().await;
        let mut response = match outcome {
            Ok(Ok(output)) => output.into_response(),
            Ok(Err(error)) => answer(error, &call),
            // The panic hook has logged where it happened; this ties it to the request.
            Err(_) => {
                tracing::error!(request_id = %call.id, "a request panicked");
                ApiError::Internal.into_response(call.surface)
            }
        };
        if is_left_unread && response.status().is_client_error() {
            // What is left of the body would be taken for the next request.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        call.finish(&mut response);
        Ok(response)
    }
}

/// Reads a small body before anyone asks for it, so that its connection can go on whoever
/// refuses the request; `false` where the body is not small, or waits for a go-ahead.
async fn take_small_body(request: &mut Request) -> bool {
    let Some(length) = announced_length(request) else { return false };
    if length == 0 {
        return true;
    }
    if length > SMALL || request.header(header::EXPECT).is_some() {
        return false;
    }
    let read = tokio::time::timeout(PATIENCE, collect(request.take_body(), SMALL));
    match read.await {
        Ok(Ok(bytes)) => {
            request.set_body(bytes);
            true
        }
        _ => false,
    }
}

/// The answer that an error makes: its own, or the refusal that its status stands for.
fn answer(error: Error, call: &RequestContext) -> Response {
    if error.is_from_response() {
        return error.into_response();
    }
    let refusal = match error.status() {
        StatusCode::NOT_FOUND => ApiError::NotFound,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ApiError::MediaType,
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::BodyTooLarge { limit: call.body_limit() },
        StatusCode::SERVICE_UNAVAILABLE => ApiError::Busy { retry_after: Duration::from_secs(1) },
        status if status.is_client_error() => {
            ApiError::Account { status, message: "Bad request", detail: error.to_string() }
        }
        _ => {
            tracing::error!(request_id = %call.id, %error, "a request failed");
            ApiError::Internal
        }
    };
    refusal.into_response(Surface::Account)
}
