//! The facts of one MCP message beside the message itself.

use std::net::IpAddr;

use account_core::{AccountCaller, Timestamp};

/// The sender of a message, and the options of its request.
#[derive(Clone)]
pub(super) struct McpContext {
    /// The account of the access token.
    pub(super) caller: AccountCaller,
    /// The network address of the sender.
    pub(super) address: IpAddr,
    /// The time at which the message arrived.
    pub(super) at: Timestamp,
    /// The names of the toolsets that the request asks for, as sent.
    pub(super) toolsets: String,
    /// True if the message is so large that its handling must not delay others.
    pub(super) is_large: bool,
}
