//! The settings that the handlers of requests read.

use std::{num::NonZeroU32, time::Duration};

use account_core::guest::CreationLimits;
use chrono::TimeDelta;
use ipnet::IpNet;
use url::Url;

use super::{limits::TierGate, operation::MetricsToken};

/// The settings that handlers read, from all groups.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The accounts that may call an endpoint above FREE.
    pub tier_gate: TierGate,
    /// The largest body of a computation, in bytes.
    pub body_limit: usize,
    /// The longest time between the head of a request and the end of its body.
    pub body_patience: Duration,
    /// The URL that clients use, without a slash at the end; `None` where none is set.
    pub public_url: Option<String>,
    /// True if clients reach the service by HTTPS.
    pub is_https: bool,
    /// The largest message to the MCP endpoint, in bytes.
    pub mcp_body_limit: usize,
    /// The limit of messages to the MCP endpoint, per minute and account.
    pub mcp_messages: NonZeroU32,
    /// The number of messages to the MCP endpoint that an account may send at once.
    pub mcp_burst: NonZeroU32,
    /// True if the MCP endpoint accepts an API key in place of an access token.
    pub mcp_api_keys: bool,
    /// True if an OAuth client may be described by its metadata document, which is fetched.
    pub mcp_client_documents: bool,
    /// The databases that accounts may subscribe to.
    pub databases: Vec<String>,
    /// The website that browsers are sent to, without a slash at the end; this service has the
    /// pages itself where there is none.
    pub website_url: Option<String>,
    /// True if there is a messaging channel.
    pub has_messaging: bool,
    /// The days that usage rows are kept; `None` to keep all.
    pub usage_days: Option<NonZeroU32>,
    /// The token that opens /metrics; without one only requests from the machine itself do.
    pub metrics_token: Option<MetricsToken>,
    /// The numbers of guest keys that are made in a day.
    pub guest_keys: CreationLimits,
    /// The number of guests whose calls the guests of one network have together.
    pub guests_per_network: NonZeroU32,
    /// The proxies whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<IpNet>,
    /// The address of the MCP endpoint's host, without a slash at the end.
    pub mcp_url: String,
    /// Websites whose pages may call the MCP endpoint.
    pub allowed_origins: Vec<String>,
    /// The time for which a used refresh token gets the same answer again.
    pub refresh_leeway: TimeDelta,
}

impl Settings {
    /// Returns true where the tier of an account closes no endpoint.
    #[must_use]
    pub fn opens_every_tier(&self) -> bool {
        self.tier_gate == TierGate::Guests
    }

    /// Returns true where browsers reach the built-in pages by HTTPS.
    #[must_use]
    pub fn browsers_use_https(&self) -> bool {
        self.mcp_url.starts_with("https:")
    }

    /// Returns the origin of the website, as browsers write it.
    #[must_use]
    pub fn website_origin(&self) -> Option<String> {
        let website = Url::parse(self.website_url.as_deref()?).ok()?;
        Some(website.origin().ascii_serialization())
    }

    /// Returns true for the host of an address that clients are told to use.
    #[must_use]
    pub fn is_own_host(&self, host: &str) -> bool {
        let addresses = [Some(&self.mcp_url), self.public_url.as_ref()];
        addresses.into_iter().flatten().any(|address| {
            let address = Url::parse(address).ok();
            let own = address.as_ref().and_then(Url::host_str);
            own.is_some_and(|own| own.eq_ignore_ascii_case(host))
        })
    }

    /// Returns the resource of access tokens: the MCP endpoint.
    #[must_use]
    pub fn mcp_resource(&self) -> String {
        format!("{}/mcp", self.mcp_url)
    }
}
