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
//! | [`pricing`] | European, barrier and exchange options |
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

mod check;
mod error;

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
