//! What the handlers share: accounts, limits, the ledger, the clock.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
    sync::atomic::{AtomicBool, Ordering},
};

use account_core::guest::CreationLimits;
use chrono::TimeDelta;
use ipnet::IpNet;
use poem::Request;
use tokio::sync::Semaphore;

use crate::{
    auth::{
        access_tokens::AccessTokenCache, api_keys::ApiKeyCache, oidc::Provider,
        passwords::Argon2Pool,
    },
    clock::Clock,
    compute_pool::ComputePool,
    http::address::{self, AddressLimiter},
    limits::Limits,
    metrics::Metrics,
    store::{LedgerWriter, Store},
};

/// The rules of accounts over this server's parts.
pub type Accounts = account_core::Accounts<Store, Argon2Pool>;

/// Who may call an endpoint above FREE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TierGate {
    /// Accounts up to their tier.
    Tiers,
    /// Every registered account, paying per use.
    Guests,
}

/// What of the configuration the handlers need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who may call an endpoint above FREE.
    pub tier_gate: TierGate,
    /// The largest body of a computation, in bytes.
    pub body_limit: usize,
    /// Whether clients reach the service by HTTPS.
    pub is_https: bool,
    /// Messages to the gateway, a minute and account.
    pub mcp_messages: NonZeroU32,
    /// How many of them may come at once.
    pub mcp_burst: NonZeroU32,
    /// The databases that accounts may subscribe to.
    pub databases: Vec<String>,
    /// The website that browsers are sent to, without a slash at the end; this service has the
    /// pages itself where there is none.
    pub website_url: Option<String>,
    /// Whether there is a messaging channel.
    pub has_messaging: bool,
    /// Days that usage rows are kept, where not all of them are.
    pub usage_days: Option<NonZeroU32>,
    /// Who shows this may read the figures; without one only who asks on the machine itself.
    pub metrics_token: Option<MetricsToken>,
    /// How many guest keys are made in a day.
    pub guest_keys: CreationLimits,
    /// How many guests' calls the guests of one network have together.
    pub guests_per_network: NonZeroU32,
    /// The proxies that may speak for another address.
    pub trusted_proxies: Vec<IpNet>,
    /// The address of the MCP endpoint's host, without a slash at the end.
    pub mcp_url: String,
    /// Websites whose pages may call the MCP endpoint.
    pub allowed_origins: Vec<String>,
    /// For how long a used refresh token gets the same answer again.
    pub refresh_leeway: TimeDelta,
}

impl Settings {
    /// Whether browsers reach the built-in pages by HTTPS.
    #[must_use]
    pub fn browsers_use_https(&self) -> bool {
        self.mcp_url.starts_with("https:")
    }

    /// What access tokens are for: the MCP endpoint.
    #[must_use]
    pub fn mcp_resource(&self) -> String {
        format!("{}/mcp", self.mcp_url)
    }
}

/// Opens the figures of the operator. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct MetricsToken(pub String);

impl fmt::Debug for MetricsToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetricsToken(…)")
    }
}

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
