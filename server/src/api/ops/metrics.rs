//! `/metrics`: the metrics of the service, for the operator.

use std::{sync::atomic::Ordering, time::Duration};

use poem::{
    Endpoint, Request, Response,
    endpoint::make,
    http::{HeaderMap, header},
};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::{
    http::{ApiError, RequestContext, Surface},
    metrics::{self, Snapshot},
    state::AppState,
};

/// The longest wait for the database and for Redis.
const PATIENCE: Duration = Duration::from_secs(1);

/// Serves the metrics.
pub fn endpoint() -> impl Endpoint<Output = Response> {
    make(|request: Request| async move {
        let service = RequestContext::of(&request).state.clone();
        if !may_read(&service, &request) {
            // A client without the right to read the metrics gets the answer of an unknown path.
            return ApiError::NotFound.into_response(Surface::Account);
        }
        let text = service.metrics.text(&snapshot(&service).await);
        Response::builder().content_type(metrics::MEDIA_TYPE).body(text)
    })
}

/// Reads the values of the gauges from the parts of the service.
async fn snapshot(service: &AppState) -> Snapshot {
    let store = service.accounts.store();
    let redis = tokio::time::timeout(PATIENCE, service.limits.ping_redis());
    let outbox = tokio::time::timeout(PATIENCE, store.outbox_load());
    let (outbox, redis) = tokio::join!(outbox, redis);
    Snapshot {
        ledger_queue: service.ledger.waiting(),
        body_bytes: service.body_memory.in_use(),
        long_computations: service.compute_pool.load(),
        is_draining: service.is_draining.load(Ordering::Relaxed),
        pools: store.pools(),
        is_redis_up: match redis {
            Ok(None) => None,
            Ok(Some(answer)) => Some(answer.is_ok()),
            Err(_) => Some(false),
        },
        outbox: outbox.ok().and_then(Result::ok),
    }
}

/// Returns true for a request with the token, and, where no token is set, for a direct request from
/// this machine. A request that a proxy forwarded is not direct, even where the proxy runs here.
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

/// Compares in a time that depends neither on the content nor on the length of the token.
fn same(sent: &str, token: &str) -> bool {
    Sha256::digest(sent).as_slice().ct_eq(Sha256::digest(token).as_slice()).into()
}
