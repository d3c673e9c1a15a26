//! The table of metered operations, with tier, cost and computation.
//!
//! The guard, the generated document, the README and the tools of the MCP endpoint are made from
//! this table. The routes are compared with the table at the start: an endpoint with another body
//! than its line names is refused.

use std::{borrow::Cow, ops::Deref};

use account_core::Tier;

use super::quantlib::{
    curves, economics, entropy, instruments, numerical, portfolio, pricing, regulatory, time,
};
use crate::http::{Computation, Executor, Operation, execute};

/// A metered operation with its computation.
#[derive(Clone, Copy)]
pub struct MeteredOperation {
    operation: Operation,
    /// Executes the operation outside HTTP.
    pub execute: Executor,
    body_name: fn() -> Cow<'static, str>,
}

impl Deref for MeteredOperation {
    type Target = Operation;

    fn deref(&self) -> &Operation {
        &self.operation
    }
}

impl MeteredOperation {
    /// Returns the name of the body's schema in the generated document.
    #[must_use]
    pub fn body_name(&self) -> Cow<'static, str> {
        (self.body_name)()
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

/// Every metered operation, in the order of the interface document.
pub static METERED: [MeteredOperation; 14] = [
    line::<economics::CobbDouglas>("find_cobb_douglas_demand", Tier::Standard, 2, None),
    line::<economics::Ces>("find_ces_demand", Tier::Standard, 2, None),
    line::<portfolio::MinVariance>("find_min_variance_portfolio", Tier::Pro, 5, None),
    line::<pricing::European>("price_european_option", Tier::Pro, 5, Some(PRICING)),
    line::<pricing::Barrier>("price_barrier_option", Tier::Pro, 5, Some(PRICING)),
    line::<pricing::Exchange>("price_exchange_option", Tier::Pro, 5, Some(PRICING)),
    line::<numerical::Derivative>("differentiate_function", Tier::Basic, 1, None),
    line::<regulatory::Capital>("compute_capital_ratios", Tier::Enterprise, 10, Some(BASEL)),
    line::<entropy::Transfer>("measure_transfer_entropy", Tier::Enterprise, 10, Some(ENTROPY)),
    line::<entropy::Shannon>("measure_shannon_entropy", Tier::Enterprise, 10, Some(ENTROPY)),
    line::<instruments::FixedBond>("list_bond_cashflows", Tier::Pro, 5, None),
    line::<instruments::TreasuryBill>("value_treasury_bill", Tier::Pro, 5, None),
    line::<curves::Build>("build_curve", Tier::Standard, 2, None),
    line::<time::TenorAddition>("add_tenor_to_date", Tier::Free, 0, None),
];

const fn line<C: Computation>(
    id: &'static str,
    tier: Tier,
    cost: u32,
    remark: Option<&'static str>,
) -> MeteredOperation {
    MeteredOperation {
        operation: Operation { id, tier, cost, remark },
        execute: execute::<C>,
        body_name: C::name,
    }
}

/// Returns the line of the table for an operation id.
#[must_use]
pub fn find(id: &str) -> Option<&'static MeteredOperation> {
    METERED.iter().find(|operation| operation.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_every_operation_is_the_marker_of_its_tier() {
        for operation in &METERED {
            assert_eq!(operation.cost, operation.tier.credits(), "{}", operation.id);
        }
    }
}
