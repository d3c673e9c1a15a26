//! The facts of one MCP message beside the message itself.

use std::net::IpAddr;

use account_core::{AccountCaller, Timestamp};

/// The sender of a message, and the options of its request.
#[derive(Clone)]
pub(super) struct McpContext {
    /// The account of the access token.
    pub(super) caller: AccountCaller,
    /// The sender's address.
    pub(super) address: IpAddr,
    /// The time of arrival.
    pub(super) at: Timestamp,
    /// The named sets of tools.
    pub(super) toolsets: String,
    /// True if the message is so large that its handling must not delay others.
    pub(super) is_large: bool,
}
