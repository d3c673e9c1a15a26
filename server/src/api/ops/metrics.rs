//! `/metrics`: the figures of the operator, for whoever may read them.

use poem::{
    Endpoint, Request, Response,
    endpoint::make,
    http::{HeaderMap, header},
};
use sha2::{Digest as _, Sha256};

use crate::{
    http::{ApiError, RequestContext, Surface},
    metrics,
    state::AppState,
};

/// Serves the figures.
pub fn endpoint() -> impl Endpoint<Output = Response> {
    make(|request: Request| async move {
        let service = RequestContext::of(&request).state.clone();
        if !may_read(&service, &request) {
            // Whoever may not read them need not know that they are here.
            return ApiError::NotFound.into_response(Surface::Account);
        }
        let text = service.metrics.text(&service).await;
        Response::builder()
            .content_type(metrics::MEDIA_TYPE)
            .header(header::CACHE_CONTROL, "no-store")
            .body(text)
    })
}

/// Whoever has the token; where none is set, whoever asks directly from this machine. A request
/// that a proxy handed on comes from elsewhere, even where the proxy runs here.
fn may_read(service: &AppState, request: &Request) -> bool {
    match &service.settings.metrics_token {
        Some(token) => bearer(request.headers()).is_some_and(|sent| same(sent, &token.0)),
        None => {
            let peer = request.remote_addr().as_socket_addr();
            let is_here = peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback());
            let by_proxy = ["forwarded", "x-forwarded-for", "via", "x-real-ip"];
            is_here && !by_proxy.iter().any(|name| request.headers().contains_key(*name))
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Compares digests, so that the time tells nothing about the token.
fn same(sent: &str, token: &str) -> bool {
    Sha256::digest(sent) == Sha256::digest(token)
}
