//! The MCP endpoint and its OAuth server.

use std::num::{NonZeroU32, NonZeroUsize};

use chrono::TimeDelta;
use clap::{ArgAction, Args};

use super::problems::{Problems, names};

/// Longest time, in seconds, for which a used refresh token may be answered again.
const LONGEST_LEEWAY: u16 = 300;

/// The most bytes that a setting may allow a message: those of the largest body over REST.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The settings of the MCP endpoint.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "MCP")]
pub struct McpArgs {
    /// The address of the MCP endpoint's host, which signs clients in too: scheme, host and port
    /// alone, as in `https://mcp.example.com`. The public URL if left out.
    #[arg(long, env = "QS_MCP_URL")]
    pub mcp_url: Option<String>,
    /// Websites whose pages may call the MCP endpoint, separated by commas, as in
    /// `https://app.example.com`. Programs that are no browser need not be named.
    #[arg(long, env = "QS_ALLOWED_ORIGINS", default_value = "")]
    pub allowed_origins: String,
    /// Messages to the gateway, a minute and account.
    #[arg(long, env = "QS_MCP_MESSAGES", default_value = "120", allow_hyphen_values = true)]
    pub mcp_messages: String,
    /// The number of messages to the MCP endpoint that may arrive at once.
    #[arg(long, env = "QS_MCP_BURST", default_value = "40", allow_hyphen_values = true)]
    pub mcp_burst: String,
    /// Largest message to the gateway, in bytes. An account of tier FREE sends at most 262144, and
    /// a message without the arguments of its tool has at most 65536.
    #[arg(long, env = "QS_MCP_BODY_LIMIT", default_value = "1048576", allow_hyphen_values = true)]
    pub mcp_body_limit: String,
    /// Accepts an API key in place of an access token at the MCP endpoint, in `X-API-Key` or as the
    /// bearer, for programs without a browser. Such a key is not bound to one client.
    #[arg(long, env = "QS_MCP_API_KEYS")]
    pub mcp_api_keys: bool,
    /// Accepts an application whose id is the https URL of its metadata document, which is fetched
    /// from public addresses alone. With `false` nothing is fetched: applications register
    /// themselves.
    #[arg(long, env = "QS_MCP_CLIENT_DOCUMENTS", default_value_t = true, action = ArgAction::Set)]
    pub mcp_client_documents: bool,
    /// Seconds for which a used refresh token gets the same answer again, for hosts that run
    /// several processes. With 0, its second use ends the grant at once.
    #[arg(long, env = "QS_REFRESH_LEEWAY", default_value = "0", allow_hyphen_values = true)]
    pub refresh_leeway: String,
}

/// The settings of the MCP endpoint, checked.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// The address of the MCP endpoint's host, without a slash at the end, where one is set.
    pub url: Option<String>,
    /// Websites whose pages may call the MCP endpoint.
    pub allowed_origins: Vec<String>,
    /// Messages to the gateway, a minute and account.
    pub messages: NonZeroU32,
    /// Messages that may come at once.
    pub burst: NonZeroU32,
    /// The largest message to the gateway, in bytes.
    pub body_limit: NonZeroUsize,
    /// True if an API key is accepted in place of an access token.
    pub api_keys: bool,
    /// True if an application may be described by its metadata document.
    pub client_documents: bool,
    /// Time for which a used refresh token gets the same answer again.
    pub refresh_leeway: TimeDelta,
}

impl McpArgs {
    pub(super) fn check(&self, problems: &mut Problems) -> Option<McpSettings> {
        let url = self.mcp_url.as_deref().map(|url| problems.origin("QS_MCP_URL", url));
        let allowed_origins = names(&self.allowed_origins)
            .iter()
            .map(|text| problems.origin("QS_ALLOWED_ORIGINS", text))
            .collect();
        let messages = problems.count("QS_MCP_MESSAGES", &self.mcp_messages);
        let burst = problems.count("QS_MCP_BURST", &self.mcp_burst);
        let wanted = "a whole number of bytes, 1 or more";
        let body_limit = problems.parse("QS_MCP_BODY_LIMIT", &self.mcp_body_limit, wanted);
        if let Some(limit) = body_limit.filter(|limit: &NonZeroUsize| limit.get() > MOST_BYTES) {
            let problem = format!("is {limit}, but must be at most {MOST_BYTES}");
            problems.add(format!("QS_MCP_BODY_LIMIT {problem}"));
        }
        let wanted = "a number of seconds, 0 to 300";
        let leeway = problems.parse("QS_REFRESH_LEEWAY", &self.refresh_leeway, wanted);
        if let Some(seconds) = leeway.filter(|seconds: &u16| *seconds > LONGEST_LEEWAY) {
            let problem = format!("is {seconds}, but must be at most {LONGEST_LEEWAY}");
            problems.add(format!("QS_REFRESH_LEEWAY {problem}"));
        }
        Some(McpSettings {
            url,
            allowed_origins,
            messages: messages?,
            burst: burst?,
            body_limit: body_limit?,
            api_keys: self.mcp_api_keys,
            client_documents: self.mcp_client_documents,
            refresh_leeway: TimeDelta::seconds(leeway?.into()),
        })
    }
}
