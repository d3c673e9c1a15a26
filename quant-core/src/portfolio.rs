//! Portfolios of assets.
//!
//! | module | content |
//! |---|---|
//! | [`black_litterman`] | returns that the market implies, and their revision by views |
//! | [`constrained`] | the same goals under linear constraints and a limit of turnover |
//! | [`constrained_frontier`] | all efficient portfolios under linear constraints and a limit of turnover |
//! | [`contribution`] | the contributions of the assets to the volatility |
//! | [`efficient_frontier`] | all efficient portfolios under bounds, by their corners |
//! | [`max_sharpe`] | the weights of the largest Sharpe ratio under bounds |
//! | [`min_variance`] | the weights of least variance under bounds, with their volatility |
//! | [`performance`] | ratios of return to risk of a series of returns |
//! | [`risk_parity`] | the long-only weights whose assets contribute given parts of the risk |
//! | [`target_return`] | the weights of least variance with a given return under bounds |
//!
//! Returns, rates and volatilities are annual decimals, covariances their annual products.
//! Weights are fractions of the money invested and sum to 1; a negative one is a short position.

mod active_set;
mod assets;
pub mod black_litterman;
mod cholesky;
pub mod constrained;
pub mod constrained_frontier;
mod constraint_rows;
pub mod contribution;
mod covariance;
mod critical_line;
mod dual_active_set;
pub mod efficient_frontier;
mod face;
mod first_order;
mod least_norm;
mod limits;
pub mod max_sharpe;
pub mod min_variance;
pub mod performance;
pub mod risk_parity;
pub(crate) mod symmetric;
pub mod target_return;
mod turnover_faces;

pub use assets::Portfolio;
pub use black_litterman::{BlackLitterman, MarketEquilibrium};
pub use constrained_frontier::ConstrainedFrontier;
pub use contribution::{RiskContributions, explain_risk_contributions, risk_contributions};
pub use covariance::Covariance;
pub use efficient_frontier::{EfficientFrontier, Frontier};
pub use max_sharpe::MaxSharpe;
pub use min_variance::{BindingBound, MinVariance, MinVarianceDetail, MinVariancePortfolio};
pub use performance::ReturnSeries;
pub use risk_parity::RiskParity;
pub use target_return::TargetReturn;
