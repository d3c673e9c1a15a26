//! The shared state of all handlers: accounts, limits, the ledger, the clock.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

pub use crate::{
    auth::accounts::Accounts,
    config::{MetricsToken, Settings, TierGate},
};
use crate::{
    auth::{access_tokens::AccessTokenCache, api_keys::ApiKeyCache, oidc::Provider},
    body_memory::BodyMemory,
    clock::Clock,
    compute_pool::ComputePool,
    limits::{AddressLimiter, CodeRequests, Limits, ReservedCredits},
    metrics::Metrics,
    store::LedgerWriter,
};

/// The shared state of all handlers.
pub struct AppState {
    /// The rules of accounts.
    pub accounts: Accounts,
    /// The cache of callers by API key.
    pub callers: ApiKeyCache,
    /// The cache of accounts by access token.
    pub bearers: AccessTokenCache,
    /// The limits of callers.
    pub limits: Limits,
    /// The limits of addresses, for calls without a key.
    pub addresses: AddressLimiter,
    /// The bound of requests for codes.
    pub code_requests: CodeRequests,
    /// The credits that running calls have reserved.
    pub reserved_credits: ReservedCredits,
    /// The writer of the ledger, which charges calls.
    pub ledger: LedgerWriter,
    /// The memory of bodies that are not parsed yet.
    pub body_memory: Arc<BodyMemory>,
    /// The pool for long computations.
    pub compute_pool: ComputePool,
    /// The metrics of the operator.
    pub metrics: Metrics,
    /// True if the service is stopping, so that `/ready` answers 503.
    pub is_draining: AtomicBool,
    /// The identity provider, where there is one.
    pub idp: Option<Provider>,
    /// The clock.
    pub clock: Clock,
    /// The settings.
    pub settings: Settings,
}

impl AppState {
    /// Makes `/ready` answer 503; requests are served on.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }
}
