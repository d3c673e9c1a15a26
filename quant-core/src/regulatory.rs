//! Ratios and minimums that regulators ask for.
//!
//! | module | content |
//! |---|---|
//! | [`capital_ratios`] | Basel III capital and leverage ratios, and whether capital is adequate |

pub mod capital_ratios;

pub use capital_ratios::{Capital, CapitalRatios, CapitalSurplus};
