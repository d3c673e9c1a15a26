//! `/metrics`: the metrics of the operator.

use std::{sync::atomic::Ordering, time::Duration};

use poem::{
    Endpoint, Request, Response,
    endpoint::make,
    http::{HeaderMap, header},
};
use sha2::{Digest as _, Sha256};

use crate::{
    http::{ApiError, RequestContext, Surface},
    metrics::{self, Load},
    state::AppState,
};

/// The longest wait for the store and for Redis.
const PATIENCE: Duration = Duration::from_secs(1);

/// Serves the metrics.
pub fn endpoint() -> impl Endpoint<Output = Response> {
    make(|request: Request| async move {
        let state = RequestContext::of(&request).state.clone();
        if !may_read(&state, &request) {
            // 404 rather than 403: a stranger does not learn that the path exists.
            return ApiError::NotFound.into_response(Surface::Account);
        }
        let text = state.metrics.text(&load(&state).await);
        Response::builder()
            .content_type(metrics::MEDIA_TYPE)
            .header(header::CACHE_CONTROL, "no-store")
            .body(text)
    })
}

/// Reads the load of the service. The store and Redis have a second to answer.
async fn load(state: &AppState) -> Load {
    let (running, waiting) = state.compute_pool.load();
    let store = state.accounts.store();
    let redis = tokio::time::timeout(PATIENCE, state.limits.ping_redis());
    let outbox = tokio::time::timeout(PATIENCE, store.outbox_load());
    let (outbox, redis) = tokio::join!(outbox, redis);
    Load {
        ledger_queue: state.ledger.waiting(),
        large_bodies: state.large_bodies_being_read(),
        computations_running: running,
        computations_waiting: waiting,
        is_draining: state.is_draining.load(Ordering::Relaxed),
        pools: store.pools(),
        outbox: outbox.ok().and_then(Result::ok),
        is_redis_up: match redis {
            Ok(None) => None,
            redis => Some(matches!(redis, Ok(Some(Ok(()))))),
        },
    }
}

/// Whether the request has the token; without a token, whether it comes from this machine. A
/// request through a proxy counts as foreign, even where the proxy runs on this machine.
fn may_read(state: &AppState, request: &Request) -> bool {
    match &state.settings.metrics_token {
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
