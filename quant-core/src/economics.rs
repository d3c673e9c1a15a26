//! Demand and utility of a consumer of two goods with a given income.
//!
//! | module | preferences |
//! |---|---|
//! | [`cobb_douglas`] | constant shares of income: `U = x₁^α x₂^{1−α}` |
//! | [`ces`] | a constant elasticity of substitution: `U = (w₁x₁^ρ + w₂x₂^ρ)^{1/ρ}`, from Leontief to nearly perfect substitutes |
//!
//! Incomes and prices are in one currency, quantities in units of the goods. Both computations
//! use logarithms of about 106 bits, so that cancellation near ρ = 0 and ρ = 1 and intermediate
//! results beyond the range of a double cost no digits of the result.

pub mod ces;
pub mod cobb_douglas;

pub use ces::{Ces, CesOptimum};
pub use cobb_douglas::{CobbDouglas, CobbDouglasOptimum};
