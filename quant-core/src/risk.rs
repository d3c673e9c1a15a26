//! Market risk: what a position may lose, what contributes to the loss, and how good the estimate was.
//!
//! | module | content |
//! |---|---|
//! | [`parametric`] | value at risk and expected shortfall of normal, Student-t and Cornish–Fisher returns |
//! | [`historical`](mod@historical) | the same of a series of returns, with a confidence interval |
//! | [`monte_carlo`] | the same of simulated returns, with the sampling error |
//! | [`series`] | the same of a series of returns, by its order statistics or its moments |
//! | [`moments`] | mean, volatility, skewness and kurtosis of a series; exponentially weighted volatility |
//! | [`portfolio`] | the error of the same figures of weights under a covariance |
//! | [`component`] | contributions of factors to the value at risk |
//! | [`backtest`](mod@backtest) | tests of value-at-risk estimates by Kupiec, Christoffersen and the Basel Committee |
//! | [`stress`](mod@stress) | the profit or loss of a scenario |
//! | [`shrinkage`] | the covariance of Ledoit and Wolf |
//!
//! The volatility of a portfolio of weights under a covariance is that of
//! [`risk_contributions`](crate::portfolio::risk_contributions).
//!
//! # Conventions
//!
//! A value at risk and an expected shortfall are losses: positive where money is lost, negative where even
//! the tail gains. They are fractions of the position, until [`TailRisk::of_value`] makes them money. The
//! confidence is that of the loss not being exceeded, above ½ and below 1. Probabilities such as `1 −
//! confidence` are those of the decimals as written.
//!
//! The distribution functions are this crate's own, since those of statrs call the platform's logarithm and
//! exponential, whose bits differ from machine to machine. The tests compare both.

pub mod backtest;
mod binomial;
pub mod component;
mod factors;
pub mod historical;
pub mod moments;
pub mod monte_carlo;
pub mod parametric;
pub(crate) mod philox;
pub mod portfolio;
pub mod series;
pub mod shrinkage;
pub mod stress;
mod student_t;
mod tail;

pub use backtest::{Backtest, LikelihoodRatio, Zone, backtest, explain_backtest};
pub use component::{Component, ComponentRisk, Contributions, CovarianceEstimator};
pub use historical::{HistoricalRisk, QuantileInterval, explain_historical, historical};
pub use moments::{Moments, ewma_volatility};
pub use monte_carlo::MonteCarlo;
pub use parametric::{Distribution, ParametricRisk};
pub use portfolio::explain_portfolio_risk;
pub use series::{SeriesMethod, SeriesRisk, explain_series_risk, series_risk};
pub use shrinkage::{Shrinkage, ledoit_wolf};
pub use stress::{FactorImpact, Stress, explain_stress, stress};
pub use tail::TailRisk;
