//! An operation of the document as its completion needs it.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    api::{batch, operations::MeteredOperation},
    http::{COMMON_BODY_LIMIT, MatchedRoute},
};

/// An operation of the document, with the facts that its refusals follow from.
pub(super) struct Described<'d> {
    /// The operation's id.
    pub(super) id: &'d str,
    /// The line of the table of tiers and costs; `None` for an operation that is not metered.
    pub(super) metered: Option<&'static MeteredOperation>,
    /// True if the operation requires a key.
    pub(super) is_authenticated: bool,
    /// True if the operation answers 200 with data.
    pub(super) has_data: bool,
    /// The path and the schemas of the operation's input.
    pub(super) route: Arc<MatchedRoute>,
    /// The example of the body; null for an operation without a body.
    pub(super) body: Value,
}

impl Described<'_> {
    /// Returns whether the operation charges credits and stores its answer under a key.
    pub(super) fn is_charged(&self) -> bool {
        self.route.operation.is_some() || self.id == batch::OPERATION
    }

    /// Returns the largest body of the operation, in bytes.
    pub(super) fn body_limit(&self) -> usize {
        match self.route.operation {
            Some(operation) => operation.body_limit,
            None if self.id == batch::OPERATION => batch::BODY_LIMIT,
            None => COMMON_BODY_LIMIT,
        }
    }

    /// Returns whether the operation takes a body.
    pub(super) fn has_body(&self) -> bool {
        self.route.body.is_some()
    }

    /// Returns whether a request without a key is one of a person or program, not of a browser on
    /// its way, nor a probe.
    pub(super) fn is_form(&self) -> bool {
        !self.is_authenticated && self.has_data && self.has_body()
    }
}
