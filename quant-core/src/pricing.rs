//! European, American, barrier and exchange options on assets that follow geometric Brownian motion,
//! and European options on forwards that follow geometric or arithmetic Brownian motion.
//!
//! | module | content | method |
//! |---|---|---|
//! | [`black_scholes`] | European calls and puts | closed form |
//! | [`greeks`] | all derivatives of a European price of first and second order | closed form |
//! | [`black76`] | European options on forwards and futures | closed form |
//! | [`garman_kohlhagen`] | European options on exchange rates | closed form |
//! | [`rate_option`] | caplets, floorlets and swaptions | closed form |
//! | [`bachelier`] | European options on normally distributed forwards | closed form |
//! | [`digital`] | a fixed payment or the underlying in the money | closed form |
//! | [`implied_volatility`] | the volatility that a European price implies | two steps of fourth order |
//! | [`batch`] | many European options at once | the same, several at a time |
//! | [`binomial`] | European and American calls and puts | binomial trees |
//! | [`american`] | Greeks and boundary of American options; Bermudan options | binomial trees |
//! | [`barrier`] | knock-in and knock-out options with a rebate | binomial trees, closed form |
//! | [`margrabe`] | the right to exchange one asset for another | closed form |
//! | [`kirk`] | options on the spread of two forwards | approximation, quadrature |
//! | [`normal`] | the standard normal distribution | |
//!
//! Rates and yields are continuously compounded and, like volatilities, annual decimals: 0.05 is
//! 5 %. Times are in years. Money is in whatever unit the spot price uses.
//!
//! Not modelled: discrete dividends, term structures, smiles.

pub mod american;
pub mod bachelier;
pub mod barrier;
pub mod batch;
pub mod binomial;
pub mod black76;
pub mod black_scholes;
pub mod digital;
pub mod forward_greeks;
pub mod garman_kohlhagen;
pub mod greeks;
pub mod implied_volatility;
pub mod kirk;
pub mod margrabe;
pub mod normal;
pub mod rate_option;

mod exchange;
mod exchange_double;
mod inversion;
mod lattice;

pub use american::{American, AmericanGreeks, Bermudan, BoundaryPoint};
pub use bachelier::NormalOption;
pub use barrier::{BarrierOption, Direction, Knock};
pub use binomial::{Exercise, MAX_STEPS, Tree};
pub use black_scholes::{EuropeanOption, OptionType};
pub use black76::ForwardOption;
pub use digital::Digital;
pub use forward_greeks::ForwardGreeks;
pub use garman_kohlhagen::{CurrencyGreeks, CurrencyOption};
pub use greeks::Greeks;
pub use implied_volatility::QuotedOption;
pub use kirk::{SpreadOption, SpreadValue};
pub use margrabe::{ExchangeDeltas, ExchangeOption, ExchangePrices};
pub use rate_option::{Caplet, RateGreeks, RateOptionValue, Swaption};
