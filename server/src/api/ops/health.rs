//! `/health` and `/ready`: liveness and readiness.

use std::{sync::atomic::Ordering, time::Duration};

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};

use crate::api::own_refusals::{OwnRefusal, OwnRefusals, own};
use crate::{
    http::{Answer, ApiError, Tag, UnlimitedAnonymous},
    state::AppState,
    store::StoreFault,
};

/// The longest time for the store's answer to a probe.
const PATIENCE: Duration = Duration::from_secs(1);

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[("get_readiness", &[NOT_READY])];

const NOT_READY: OwnRefusal =
    own("not_ready", "The service cannot work now, for the reason in `detail`.", || {
        ApiError::NotReady { reason: "The store does not answer." }
    });

/// The REST endpoints of liveness and readiness probes.
#[derive(Default)]
pub struct Health;

#[OpenApi(tag = "Tag::Service")]
impl Health {
    /// Test whether the service runs.
    ///
    /// Answers as soon as requests are accepted, in every other state. Needs no key.
    #[oai(path = "/health", method = "get", operation_id = "get_health")]
    async fn health(&self) -> Answer<State> {
        Answer::new(State::example())
    }

    /// Test whether the service can work.
    ///
    /// Answers 200 when the service accepts work: no shutdown has begun, the store and the Redis of
    /// the limits answer, the store takes writes, the schema is current, and the ledger's queue has
    /// room. Otherwise 503 with the reason. Needs no key.
    #[oai(path = "/ready", method = "get", operation_id = "get_readiness")]
    async fn ready(&self, prober: UnlimitedAnonymous) -> Result<Answer<Readiness>> {
        let call = prober.context();
        match obstacle(&call.state).await {
            None => Ok(Answer::new(Readiness::example())),
            Some(reason) => {
                let refusal = ApiError::NotReady { reason };
                Err(poem::Error::from_response(refusal.into_response(call.surface)))
            }
        }
    }
}

/// Returns the reason why the service is not ready, permanent reasons first; `None` for a service
/// that is ready.
async fn obstacle(service: &AppState) -> Option<&'static str> {
    if service.is_draining.load(Ordering::Relaxed) {
        return Some("The service is stopping.");
    }
    if service.ledger.is_full() {
        return Some("The ledger's queue is full.");
    }
    let (store, redis) = tokio::join!(obstacle_in_store(service), obstacle_in_redis(service));
    store.or(redis)
}

async fn obstacle_in_store(service: &AppState) -> Option<&'static str> {
    match tokio::time::timeout(PATIENCE, service.accounts.store().is_up_to_date()).await {
        Ok(Ok(true)) => service.accounts.store().write_fault().await.map(StoreFault::reason),
        Ok(Ok(false)) => Some("The database lacks a migration."),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the store does not answer");
            Some("The store does not answer.")
        }
        Err(_) => {
            tracing::warn!("the store does not answer in time");
            Some("The store does not answer in time.")
        }
    }
}

async fn obstacle_in_redis(service: &AppState) -> Option<&'static str> {
    match tokio::time::timeout(PATIENCE, service.limits.ping_redis()).await {
        Ok(None | Some(Ok(()))) => None,
        Ok(Some(Err(error))) => {
            tracing::warn!(%error, "the Redis of the limits does not answer");
            Some("The Redis of the limits does not answer.")
        }
        Err(_) => {
            tracing::warn!("the Redis of the limits does not answer in time");
            Some("The Redis of the limits does not answer in time.")
        }
    }
}

/// The state of the service.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ServiceState", example)]
pub struct State {
    /// The state in a word.
    pub status: ServiceStatus,
}

/// The state of a service that can work.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ServiceReadiness", example)]
pub struct Readiness {
    /// The state in a word.
    pub status: ServiceStatus,
    /// The version of the bits: equal versions give equal bits on every machine.
    pub numeric_version: u32,
}

/// The state of the service in a word.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
#[oai(rename_all = "snake_case")]
pub enum ServiceStatus {
    /// The service runs.
    Ok,
    /// The service accepts work.
    Ready,
}

impl Example for State {
    fn example() -> Self {
        Self { status: ServiceStatus::Ok }
    }
}

impl Example for Readiness {
    fn example() -> Self {
        Self { status: ServiceStatus::Ready, numeric_version: quant_core::NUMERIC_VERSION }
    }
}
