//! Explanations of the prices on trees and in closed form.

use super::option::BarrierOption;
use crate::Result;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};
use crate::pricing::black_scholes::MODEL;
use crate::pricing::lattice::tree::Tree;

/// The convention of the rebate.
const REBATE: &str =
    "The rebate is paid when the option is knocked out, at the hit; a knock-in pays none.";

impl BarrierOption {
    /// Explains [`price_on_tree`](Self::price_on_tree).
    ///
    /// # Errors
    ///
    /// The errors of [`price_on_tree`](Self::price_on_tree).
    pub fn explain_price_on_tree(&self, tree: Tree, n_steps: usize) -> Result<Explanation> {
        let price = self.price_on_tree(tree, n_steps)?;
        // Where the closed form exceeds a double, nothing is known but the price itself.
        let continuous = self.price_continuous().unwrap_or(0.0);
        let error = ErrorStatement::estimated(
            ErrorKind::Discretisation,
            "price",
            (price - continuous).abs() + self.rounding(price),
            "distance to the closed form of a continuously monitored barrier, and 1e-14 of the \
             price and the spot for rounding",
        );
        let explanation = Explanation::new(tree.method(), error);
        let explanation = explanation.with_steps(tree.steps_used(n_steps) as u32);
        Ok(explanation.with_conventions(tree.conventions()).with_conventions([
            "The barrier is monitored at every step of the tree, at the start and at expiry.",
            "A price equal to the barrier, within a relative 1e-12, hits the barrier.",
            REBATE,
        ]))
    }

    /// Explains [`price_continuous`](Self::price_continuous).
    ///
    /// # Errors
    ///
    /// The errors of [`price_continuous`](Self::price_continuous).
    pub fn explain_price_continuous(&self) -> Result<Explanation> {
        let price = self.price_continuous()?;
        let method = Method::new(
            "closed form of Reiner and Rubinstein",
            "Reiner and Rubinstein (1991), Breaking Down the Barriers; Haug (2007), The Complete \
             Guide to Option Pricing Formulas, 4.17.1",
        );
        let error = ErrorStatement::rounding_within(
            "price",
            self.rounding(price),
            "largest difference from QuantLib's AnalyticBarrierEngine, as a part of price plus \
             spot",
        );
        let explanation = Explanation::new(method, error).with_conventions(MODEL);
        let monitored = "The barrier is monitored continuously, from the start to expiry.";
        Ok(explanation.with_conventions([monitored, REBATE]))
    }

    /// Returns the accepted rounding of a price, 1e-14 of the price and of the spot.
    fn rounding(&self, price: f64) -> f64 {
        1e-14 * price + 1e-14 * self.option.spot
    }
}
