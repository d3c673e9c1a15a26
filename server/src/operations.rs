//! The one table of tiers and costs.
//!
//! A computation's tier says both who may call it and what a call costs. The guard, the
//! generated document, the README and the tools of the gateway are all made from this table.

use account_core::Tier;

/// A metered operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The operation's id in the generated document.
    pub id: &'static str,
    /// The tier that an account needs; its marker is also what a call costs.
    pub tier: Tier,
    /// What else the interface publishes about the cost.
    pub remark: Option<&'static str>,
}

impl Operation {
    /// What a call costs, in credits.
    #[must_use]
    pub fn cost(&self) -> u32 {
        self.tier.credits()
    }
}

/// Published beside the marker of the pricing endpoints.
const PRICING: &str = "The interface's text also says 2 credits (Standard); what is charged is \
                       the marker, 5 credits (Pro).";
/// Published beside the marker of the endpoints that are marked ENTERPRISE.
const ENTROPY: &str = "The interface's text also says 5 credits (Pro); what is charged is the \
                       marker, 10 credits (Enterprise).";
const BASEL: &str = "The interface's message also says 5 credits; what is charged is the marker, \
                     10 credits (Enterprise).";

/// Every metered operation, in the order of the interface.
pub const METERED: [Operation; 14] = [
    row("find_cobb_douglas_demand", Tier::Standard, None),
    row("find_ces_demand", Tier::Standard, None),
    row("find_min_variance_portfolio", Tier::Pro, None),
    row("price_european_option", Tier::Pro, Some(PRICING)),
    row("price_barrier_option", Tier::Pro, Some(PRICING)),
    row("price_exchange_option", Tier::Pro, Some(PRICING)),
    row("differentiate_function", Tier::Basic, None),
    row("compute_capital_ratios", Tier::Enterprise, Some(BASEL)),
    row("measure_transfer_entropy", Tier::Enterprise, Some(ENTROPY)),
    row("measure_shannon_entropy", Tier::Enterprise, Some(ENTROPY)),
    row("list_bond_cashflows", Tier::Pro, None),
    row("value_treasury_bill", Tier::Pro, None),
    row("build_curve", Tier::Standard, None),
    row("add_tenor_to_date", Tier::Free, None),
];

const fn row(id: &'static str, tier: Tier, remark: Option<&'static str>) -> Operation {
    Operation { id, tier, remark }
}

/// The line of the table for an operation id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Operation> {
    METERED.iter().find(|operation| operation.id == id)
}
