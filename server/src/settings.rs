//! The settings that handlers read.

use std::{fmt, num::NonZeroU32};

use account_core::guest::CreationLimits;
use chrono::TimeDelta;
use ipnet::IpNet;

/// The callers that may use an endpoint above FREE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TierGate {
    /// Accounts up to their tier.
    Tiers,
    /// Every registered account, paying per use.
    Guests,
}

/// The settings that handlers read.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The callers that may use an endpoint above FREE.
    pub tier_gate: TierGate,
    /// The largest body of a computation, in bytes.
    pub body_limit: usize,
    /// Whether clients reach the service by HTTPS.
    pub is_https: bool,
    /// Messages to the gateway, a minute and account.
    pub mcp_messages: NonZeroU32,
    /// The most messages at once.
    pub mcp_burst: NonZeroU32,
    /// The databases that accounts may subscribe to.
    pub databases: Vec<String>,
    /// The website that browsers are sent to, without a slash at the end; without one this service
    /// serves the pages.
    pub website_url: Option<String>,
    /// Whether there is a messaging channel.
    pub has_messaging: bool,
    /// Days that usage rows are kept; none keeps all.
    pub usage_days: Option<NonZeroU32>,
    /// The token that opens `/metrics`; without one only requests from this machine may read it.
    pub metrics_token: Option<MetricsToken>,
    /// The limits of new guest keys a day.
    pub guest_keys: CreationLimits,
    /// The daily calls of one network's guests, as a multiple of one guest's.
    pub guests_per_network: NonZeroU32,
    /// The proxies whose forwarded addresses are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// The address of the MCP endpoint's host, without a slash at the end.
    pub mcp_url: String,
    /// Websites whose pages may call the MCP endpoint.
    pub allowed_origins: Vec<String>,
    /// The time within which a used refresh token gets the same answer again.
    pub refresh_leeway: TimeDelta,
}

impl Settings {
    /// Whether browsers reach the built-in pages by HTTPS.
    #[must_use]
    pub fn browsers_use_https(&self) -> bool {
        self.mcp_url.starts_with("https:")
    }

    /// The resource of access tokens: the MCP endpoint.
    #[must_use]
    pub fn mcp_resource(&self) -> String {
        format!("{}/mcp", self.mcp_url)
    }
}

/// The token that opens `/metrics`. Its `Debug` output hides the value.
#[derive(Clone, PartialEq, Eq)]
pub struct MetricsToken(pub String);

impl fmt::Debug for MetricsToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetricsToken(…)")
    }
}
