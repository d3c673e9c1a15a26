//! The road of every request: a call begins, the routes answer, the answer gets its headers.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use poem::{Endpoint, Error, IntoResponse, Request, Response, Result, http::StatusCode};

use super::{Call, Refusal, Surface};
use crate::service::Service;

/// Puts a [`Call`] on every request of the routes behind it, and makes every failure an answer.
pub struct Road<E> {
    service: Arc<Service>,
    routes: E,
}

impl<E> Road<E> {
    /// Leads every request of `routes` through `service`.
    pub fn new(service: Arc<Service>, routes: E) -> Self {
        Self { service, routes }
    }
}

impl<E: Endpoint> Endpoint for Road<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        let call = Arc::new(Call::begin(self.service.clone(), &request));
        request.set_data(call.clone());
        let outcome = AssertUnwindSafe(self.routes.call(request)).catch_unwind().await;
        let mut response = match outcome {
            Ok(Ok(output)) => output.into_response(),
            Ok(Err(error)) => answer(error, &call),
            // The panic hook has logged where it happened; this ties it to the request.
            Err(_) => {
                tracing::error!(request_id = %call.id, "a request panicked");
                Refusal::Internal.into_response(call.surface)
            }
        };
        call.finish(&mut response);
        Ok(response)
    }
}

/// The answer that an error makes: its own, or the refusal that its status stands for.
fn answer(error: Error, call: &Call) -> Response {
    if error.is_from_response() {
        return error.into_response();
    }
    let refusal = match error.status() {
        StatusCode::NOT_FOUND => Refusal::NotFound,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Refusal::MediaType,
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::BodyTooLarge { limit: call.body_limit() },
        StatusCode::SERVICE_UNAVAILABLE => Refusal::Busy { retry_after: Duration::from_secs(1) },
        status if status.is_client_error() => {
            Refusal::Account { status, message: "Bad request", detail: error.to_string() }
        }
        _ => {
            tracing::error!(request_id = %call.id, %error, "a request failed");
            Refusal::Internal
        }
    };
    refusal.into_response(Surface::Account)
}
