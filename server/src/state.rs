//! The shared state of all handlers: accounts, limits, the ledger, the clock.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use account_core::Vault;

pub use crate::{
    auth::accounts::Accounts,
    config::{MetricsToken, Settings, TierGate},
};
use crate::{
    auth::{
        access_tokens::AccessTokenCache, api_keys::ApiKeyCache, client_documents::ClientDocuments,
        oidc::Provider,
    },
    body_memory::BodyMemory,
    clock::Clock,
    compute_pool::ComputePool,
    limits::{AddressLimiter, CodeRequests, Limits, ReservedCredits},
    metrics::Metrics,
    store::LedgerWriter,
};

/// The shared state of all handlers.
pub struct AppState {
    /// The rules of accounts, on top of store and keys.
    pub accounts: Accounts,
    /// The cache of callers by API key.
    pub callers: ApiKeyCache,
    /// The cache of accounts by access token.
    pub bearers: AccessTokenCache,
    /// The hourly and daily limits of callers.
    pub limits: Limits,
    /// The limits of calls without a key, by address.
    pub addresses: AddressLimiter,
    /// The metadata documents of OAuth clients; `None` where the settings allow none.
    pub client_documents: Option<ClientDocuments>,
    /// The limit of documents that an address may have fetched.
    pub document_fetches: AddressLimiter,
    /// The bound of requests that have a code sent.
    pub code_requests: CodeRequests,
    /// The credits that running calls have reserved.
    pub reserved_credits: ReservedCredits,
    /// The writer of the ledger, which charges calls.
    pub ledger: LedgerWriter,
    /// The memory of bodies that are not parsed yet.
    pub body_memory: Arc<BodyMemory>,
    /// The pool in which long computations run.
    pub compute_pool: ComputePool,
    /// The counters and gauges of `/metrics`.
    pub metrics: Metrics,
    /// True if the service is stopping, so that `/ready` answers 503.
    pub is_draining: AtomicBool,
    /// The OpenID Connect provider; `None` for a service without one.
    pub idp: Option<Provider>,
    /// The keys of the service: receipts are signed by its signing key.
    pub vault: Arc<Vault>,
    /// The clock of the service, which tests replace.
    pub clock: Clock,
    /// The settings that the handlers of requests read.
    pub settings: Settings,
}

impl AppState {
    /// Makes `/ready` answer 503; requests are served on.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }
}
