//! Portfolios of assets.
//!
//! | module | content |
//! |---|---|
//! | [`efficient_frontier`] | all efficient portfolios under bounds, by their corners |
//! | [`max_sharpe`] | the weights of the largest Sharpe ratio under bounds |
//! | [`min_variance`] | the weights of least variance under bounds, with their volatility |
//! | [`target_return`] | the weights of least variance with a given return under bounds |
//!
//! Returns, rates and volatilities are annual decimals, covariances their annual products.
//! Weights are fractions of the money invested and sum to 1; a negative one is a short position.

mod active_set;
mod assets;
mod cholesky;
mod covariance;
mod critical_line;
pub mod efficient_frontier;
mod face;
mod least_norm;
pub mod max_sharpe;
pub mod min_variance;
mod symmetric;
pub mod target_return;

pub use assets::Portfolio;
pub use covariance::Covariance;
pub use efficient_frontier::{EfficientFrontier, Frontier};
pub use max_sharpe::MaxSharpe;
pub use min_variance::{BindingBound, MinVariance, MinVarianceDetail, MinVariancePortfolio};
pub use target_return::TargetReturn;
