//! A metered operation: its id, tier and cost.

use account_core::Tier;

/// A metered operation, as the table of operations states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The operation's id in the generated document.
    pub id: &'static str,
    /// The lowest tier that an account needs.
    pub tier: Tier,
    /// The credits that a call costs, those of the tier.
    pub cost: u32,
    /// The largest body of a request, in bytes, for an account above tier FREE.
    pub body_limit: usize,
    /// A published statement about the cost that the document repeats; `None` where nothing was
    /// published.
    pub remark: Option<&'static str>,
}
