//! Ratios and minimums that regulators ask for.
//!
//! | module | what it computes |
//! |---|---|
//! | [`capital_ratios`] | Basel III capital and leverage ratios, and whether capital is adequate |

pub mod capital_ratios;
