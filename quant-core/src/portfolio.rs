//! Portfolios of assets.
//!
//! | module | what it finds |
//! |---|---|
//! | [`min_variance`] | the weights of least variance under bounds, with return, volatility and Sharpe ratio |
//!
//! Returns, rates and volatilities are annual decimals, covariances their annual products.
//! Weights are fractions of the money invested and sum to 1; a negative one is a short position.

mod active_set;
mod cholesky;
mod face;
mod least_norm;
pub mod min_variance;
mod symmetric;
