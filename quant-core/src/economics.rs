//! Demand and utility of a consumer who spends an income on two goods.
//!
//! | module | preferences |
//! |---|---|
//! | [`cobb_douglas`] | constant shares of income: `U = x₁^α x₂^{1−α}` |
//! | [`ces`] | a constant elasticity of substitution: `U = (w₁x₁^ρ + w₂x₂^ρ)^{1/ρ}`, from Leontief to nearly perfect substitutes |
//!
//! Incomes and prices are in one currency, quantities in units of the goods. Both computations
//! work on logarithms of about 106 bits, so that what cancels near ρ = 0 and ρ = 1, and what
//! would leave the range of a double on the way, costs no digits of the answer.

pub mod ces;
pub mod cobb_douglas;
