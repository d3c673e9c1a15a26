//! The facts of one MCP message beside the message itself.

use std::{net::IpAddr, sync::Arc};

use account_core::{AccountCaller, Timestamp};
use bytes::Bytes;

use super::progress::Progress;
use crate::body_memory::{HeldBytes, RequestSource};

/// The sender of a message, and the options of its request.
#[derive(Clone)]
pub(super) struct McpContext {
    /// The account of the access token.
    pub(super) caller: AccountCaller,
    /// The network address of the sender.
    pub(super) address: IpAddr,
    /// The time at which the message arrived.
    pub(super) at: Timestamp,
    /// The number of the client, made from its credential.
    pub(super) client: u64,
    /// The id of the request as JSON; empty for a notification.
    pub(super) request_id: String,
    /// The names of the toolsets that the request asks for, as sent.
    pub(super) toolsets: String,
    /// The arguments of the tool as JSON text, which the SDK does not see.
    pub(super) arguments: Option<Bytes>,
    /// The progress of the call, where its client asks for progress.
    pub(super) progress: Option<Arc<Progress>>,
    /// The count of the message's bytes, given back with the last use of the message.
    pub(super) _held: Arc<HeldBytes>,
}

impl McpContext {
    /// The source that shared resources attribute the message to.
    pub(super) fn source(&self) -> RequestSource {
        RequestSource::Account(self.caller.id)
    }
}
