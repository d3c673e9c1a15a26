//! Exact and fast financial mathematics as plain functions over plain structs.
//!
//! Nothing in this crate reads a clock, draws a random number, does I/O or starts a thread, and
//! nothing calls the platform's mathematics library: the same arguments give the same bits on
//! every machine.
//!
//! | module | what it computes |
//! |---|---|
//! | [`economics`] | demand and utility: Cobb–Douglas, constant elasticity of substitution |
//! | [`portfolio`] | minimum variance, target return, maximum Sharpe ratio, the efficient frontier, under bounds |
//! | [`pricing`] | European, American, barrier and exchange options, in closed form and on trees; Greeks, implied volatility, batches |
//! | [`numerical`] | finite-difference derivatives |
//! | [`regulatory`] | Basel capital ratios |
//! | [`entropy`] | Shannon entropy, transfer entropy |
//! | [`instruments`] | fixed-rate bonds: flows, price, yield, duration; Treasury bills |
//! | [`curves`] | yield curves: bootstrap, interpolation, look-ups, Nelson–Siegel–Svensson |
//! | [`time`] | tenors, calendars, day counts, schedules |
//!
//! Rates, yields and volatilities are annual decimals (0.05 is 5 %), times are in years, and
//! every function refuses what it cannot answer with an [`Error`] that names the argument.
//! A result is a finite number or an error, never NaN, an infinity or a negative zero.
//!
//! ```
//! use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
//!
//! let mut call = EuropeanOption {
//!     option_type: OptionType::Call,
//!     spot: 42.0,
//!     strike: 40.0,
//!     risk_free_rate: 0.10,
//!     dividend_yield: 0.0,
//!     volatility: 0.20,
//!     time_to_maturity: 0.5,
//! };
//! assert!((call.price()? - 4.76).abs() < 0.005);
//!
//! call.volatility = -0.20;
//! let refused = call.price().unwrap_err();
//! assert_eq!((refused.code(), refused.argument()), ("domain", Some("volatility")));
//! assert_eq!(
//!     refused.to_string(),
//!     "`volatility` is -0.2, but must be zero or a positive finite number"
//! );
//! # Ok::<(), quant_core::Error>(())
//! ```
//!
//! Each computation is a plain struct of its arguments, whose fields say their units and ranges,
//! with a method, or a function where the arguments are few. Its documentation gives the formula,
//! the limits at the edges, what is refused, an example that runs, and the source. With the
//! feature `serde` the structs can be serialised.

mod arithmetic;
mod check;
mod error;
mod named;

pub mod curves;
pub mod economics;
pub mod entropy;
pub mod instruments;
pub mod numerical;
pub mod portfolio;
pub mod pricing;
pub mod regulatory;
pub mod time;

pub use error::{Error, Result};

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
