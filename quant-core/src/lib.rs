//! Exact and fast financial mathematics as plain functions over plain structs.
//!
//! Nothing in this crate reads a clock, draws a random number, does I/O or starts a thread, and
//! nothing calls the platform's mathematics library: the same arguments give the same bits on
//! every machine.
//!
//! | module | content |
//! |---|---|
//! | [`analysis`] | company value and scores: discounted cash flow, Altman, Piotroski, Beneish |
//! | [`economics`] | demand and utility: Cobb–Douglas, constant elasticity of substitution |
//! | [`portfolio`] | least variance, largest Sharpe ratio, frontier, under constraints; risk parity, views, performance |
//! | [`pricing`] | European, American, barrier and exchange options, in closed form and on trees; Greeks, implied volatility, batches |
//! | [`numerical`] | finite-difference derivatives |
//! | [`regulatory`] | Basel capital ratios |
//! | [`risk`] | value at risk, expected shortfall, component VaR, backtests, stress scenarios, shrinkage |
//! | [`entropy`] | Shannon entropy, transfer entropy |
//! | [`cash_flows`] | time value of money: net present value, internal rates of return, loans, spreads |
//! | [`instruments`] | bonds: flows, price, yield, duration; bills, deposits, swaps, forwards |
//! | [`curves`] | yield curves: bootstrap, interpolation, look-ups, Nelson–Siegel–Svensson |
//! | [`time`] | tenors, calendars, day counts, schedules |
//! | [`explanation`] | method, conventions and error of a result |
//!
//! Rates, yields and volatilities are annual decimals (0.05 is 5 %), times are in years, and
//! every function refuses invalid arguments with an [`Error`] that names the argument.
//! A result is a finite number or an error, never NaN, an infinity or a negative zero.
//!
//! # Cookbook
//!
//! The [`prelude`] holds the types of all these tasks.
//!
//! ## Price a European option, and find the volatility that a price implies
//!
//! ```
//! use quant_core::pricing::{EuropeanOption, OptionType};
//!
//! let call = EuropeanOption {
//!     option_type: OptionType::Call,
//!     spot: 42.0,
//!     strike: 40.0,
//!     risk_free_rate: 0.10,
//!     dividend_yield: 0.0,
//!     volatility: 0.20,
//!     time_to_maturity: 0.5,
//! };
//! // Hull, "Options, Futures, and Other Derivatives": 4.76.
//! assert!((call.price()? - 4.76).abs() < 0.005);
//! assert!((call.greeks()?.delta - 0.779).abs() < 0.001);
//! assert!((call.implied_volatility(4.76)? - 0.20).abs() < 0.001);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Price a barrier option
//!
//! ```
//! use quant_core::prelude::*;
//!
//! let option = EuropeanOption {
//!     option_type: "call".parse()?,
//!     spot: 100.0,
//!     strike: 90.0,
//!     risk_free_rate: 0.08,
//!     dividend_yield: 0.04,
//!     volatility: 0.25,
//!     time_to_maturity: 0.5,
//! };
//! let (direction, knock) = (Direction::Down, Knock::Out);
//! let barrier = BarrierOption { option, barrier: 95.0, direction, knock, rebate: 3.0 };
//! assert!((barrier.price_continuous()? - 9.0246).abs() < 5e-5);
//! assert!(barrier.price_on_tree(Tree::CoxRossRubinstein, 500)? > 9.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Find the portfolio of least variance
//!
//! ```
//! use quant_core::portfolio::MinVariance;
//!
//! let portfolio = MinVariance {
//!     covariance_matrix: [[0.01, 0.0], [0.0, 0.03]].into(),
//!     min_weights: Some(vec![0.0, 0.0]),
//!     max_weights: None,
//! }
//! .solve()?;
//! assert_eq!(portfolio.weights, [0.75, 0.25]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Find the portfolio of the largest Sharpe ratio
//!
//! ```
//! use quant_core::portfolio::{Covariance, MaxSharpe};
//!
//! let matrix = nalgebra::DMatrix::from_row_slice(2, 2, &[0.01, 0.0, 0.0, 0.04]);
//! let portfolio = MaxSharpe {
//!     expected_returns: vec![0.06, 0.10],
//!     covariance_matrix: Covariance::try_from(matrix)?,
//!     risk_free_rate: 0.02,
//!     min_weights: Some(vec![0.0, 0.0]),
//!     max_weights: None,
//! }
//! .solve()?;
//! assert!((portfolio.weights[0] - 2.0 / 3.0).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Bootstrap a yield curve
//!
//! ```
//! use quant_core::prelude::*;
//!
//! let today = NaiveDate::from_ymd_opt(2026, 11, 20).expect("a date");
//! let quote = |kind, tenor: &str, rate| -> quant_core::Result<Instrument> {
//!     let frequency = Frequency::Annual;
//!     Ok(Instrument { kind, tenor: tenor.parse()?, rate, frequency, conventions: None })
//! };
//! let quotes = [
//!     quote(InstrumentKind::Deposit, "1Y", 0.05)?,
//!     quote(InstrumentKind::Swap, "2Y", 0.06)?,
//! ];
//! let curve = Curve::bootstrap(today, &quotes, Interpolation::LogLinear)?;
//! assert!((curve.at(1.0)?.discount_factor - 1.0 / 1.05).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## List the cash flows of a bond
//!
//! ```
//! use quant_core::prelude::*;
//!
//! let bond = FixedBond {
//!     issue_date: NaiveDate::from_ymd_opt(2024, 1, 31).expect("a date"),
//!     maturity_date: NaiveDate::from_ymd_opt(2026, 1, 31).expect("a date"),
//!     coupon_rate: 0.05,
//!     face_value: 100.0,
//!     frequency: Frequency::Semiannual,
//!     day_count: "30/360".parse()?,
//!     end_of_month: false,
//!     stub: Stub::ShortFront,
//!     calendar: Calendar::Target,
//!     convention: BusinessDayConvention::ModifiedFollowing,
//! };
//! let flows = bond.cash_flows(None)?.cashflows;
//! assert_eq!(flows.len(), 5);
//! assert_eq!(flows[0].amount, 2.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Add a tenor to a date and count the days
//!
//! ```
//! use quant_core::prelude::*;
//!
//! let start = NaiveDate::from_ymd_opt(2024, 1, 31).expect("a date");
//! let end = "1M".parse::<Tenor>()?.add_to(start)?;
//! assert_eq!(end.to_string(), "2024-02-29");
//! assert_eq!(Calendar::Weekends.business_days_between(start, end)?, 21);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Compute capital ratios
//!
//! ```
//! use quant_core::regulatory::Capital;
//!
//! let ratios = Capital {
//!     cet1_capital: 45.0,
//!     tier1_capital: 60.0,
//!     total_capital: 80.0,
//!     risk_weighted_assets: 1000.0,
//!     total_exposure: None,
//! }
//! .ratios()?;
//! assert!(ratios.cet1_adequate && ratios.total_adequate);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Read a refusal
//!
//! ```
//! use quant_core::economics::CobbDouglas;
//!
//! let refused = CobbDouglas { alpha: 2.0, income: 100.0, prices: [5.0, 3.0] }.optimum().unwrap_err();
//! assert_eq!((refused.code(), refused.argument()), ("domain", Some("alpha")));
//! assert_eq!(refused.to_string(), "`alpha` is 2.0, but must be a number from 0 to 1");
//! ```
//!
//! # Conventions
//!
//! Each computation is a plain struct of its arguments, whose fields say their units and ranges,
//! with a method, or a function where the arguments are few. The documentation gives the formula,
//! its limits, the refused arguments, an example that runs, and the source. With the feature `serde`
//! every public type can be serialised.
//!
//! Enumerations without data that are arguments are exhaustive, so that an adapter that translates
//! them is checked by the compiler; [`Error`] and the structs of results are `#[non_exhaustive]`.

pub mod analysis;
mod arithmetic;
mod check;
mod error;
mod named;

pub mod cash_flows;
pub mod curves;
pub mod economics;
pub mod entropy;
pub mod explanation;
pub mod instruments;
pub mod numerical;
pub mod portfolio;
pub mod prelude;
pub mod pricing;
pub mod regulatory;
pub mod risk;
pub mod time;

pub use error::{Error, Result};

/// The version of the bits of all results.
///
/// Two releases with the same version answer the same request with the same bits. The version is
/// raised where a bit of `tests/golden_bits.txt` changes, and only there: new computations leave
/// the version unchanged. `tests/golden_bits/versions.rs` checks both.
pub const NUMERIC_VERSION: u32 = 1;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
