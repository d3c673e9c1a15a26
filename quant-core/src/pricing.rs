//! European, barrier and exchange options on assets that follow geometric Brownian motion.
//!
//! | module | content | method |
//! |---|---|---|
//! | [`black_scholes`] | European calls and puts | closed form |
//! | [`greeks`] | all derivatives of a European price of first and second order | closed form |
//! | [`implied_volatility`] | the volatility that a European price implies | two steps of fourth order |
//! | [`batch`] | many European options at once | the same, several at a time |
//! | [`binomial`] | European and American calls and puts | binomial trees |
//! | [`barrier`] | knock-in and knock-out options with a rebate | binomial trees, closed form |
//! | [`margrabe`] | the right to exchange one asset for another | closed form |
//! | [`normal`] | the standard normal distribution | |
//!
//! Rates and yields are continuously compounded and, like volatilities, annual decimals: 0.05 is
//! 5 %. Times are in years. Money is in whatever unit the spot price uses.
//!
//! Not modelled: discrete dividends, term structures, smiles.

pub mod barrier;
pub mod batch;
pub mod binomial;
pub mod black_scholes;
pub mod greeks;
pub mod implied_volatility;
pub mod margrabe;
pub mod normal;

mod exchange;
mod exchange_double;
mod lattice;

pub use barrier::{BarrierOption, Direction, Knock};
pub use binomial::{Exercise, MAX_STEPS, Tree};
pub use black_scholes::{EuropeanOption, OptionType};
pub use greeks::Greeks;
pub use implied_volatility::QuotedOption;
pub use margrabe::{ExchangeOption, ExchangePrices};
