//! What the handlers share: accounts, limits, the ledger, the clock.

use std::{
    net::{IpAddr, SocketAddr},
    sync::atomic::{AtomicBool, Ordering},
};

use poem::Request;
use tokio::sync::Semaphore;

use crate::{
    auth::{access_tokens::AccessTokenCache, api_keys::ApiKeyCache, oidc::Provider},
    clock::Clock,
    compute_pool::ComputePool,
    http::address::{self, AddressLimiter},
    limits::Limits,
    metrics::Metrics,
    store::LedgerWriter,
};

pub use crate::{
    auth::accounts::Accounts,
    config::{MetricsToken, Settings, TierGate},
};

/// What the handlers share.
pub struct AppState {
    /// The rules of accounts.
    pub accounts: Accounts,
    /// Who came lately.
    pub callers: ApiKeyCache,
    /// Whom the access tokens that came lately speak for.
    pub bearers: AccessTokenCache,
    /// How often each caller came.
    pub limits: Limits,
    /// How often each address came without a key.
    pub addresses: AddressLimiter,
    /// Where credits are taken.
    pub ledger: LedgerWriter,
    /// Room for the bodies that are read beyond the common limit.
    pub large_bodies: Semaphore,
    /// Where long computations run.
    pub compute_pool: ComputePool,
    /// What the operator is told.
    pub metrics: Metrics,
    /// Whether the service was told to stop, and sends new callers elsewhere.
    pub is_draining: AtomicBool,
    /// The identity provider, where there is one.
    pub idp: Option<Provider>,
    /// The time.
    pub clock: Clock,
    /// What was configured.
    pub settings: Settings,
}

/// Bodies beyond the common limit that are read at once; each may hold megabytes.
pub const LARGE_BODIES: usize = 8;

impl AppState {
    /// Lets probes see that new callers had better go elsewhere; who is here is served on.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// How many large bodies are being read.
    #[must_use]
    pub fn large_bodies_being_read(&self) -> usize {
        LARGE_BODIES - self.large_bodies.available_permits()
    }

    /// The address that a request comes from.
    #[must_use]
    pub fn address_of(&self, request: &Request) -> IpAddr {
        let peer = request.remote_addr().as_socket_addr().map_or(address::NOWHERE, SocketAddr::ip);
        address::client(peer, request.headers(), &self.settings.trusted_proxies)
    }
}
