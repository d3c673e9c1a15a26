//! Yield curves: built from values or from quoted instruments, and evaluated at any time.
//!
//! A [`Curve`] gives the present value of one unit of money paid after t years, in three equivalent
//! forms:
//!
//! ```text
//! discount factor   D(t) = exp(−z(t) t)
//! zero rate         z(t) = −ln D(t) / t          continuously compounded
//! forward rate      f(t) = −d ln D(t) / dt       instantaneous
//! ```
//!
//! Over a period from s to e there are two more forward rates, with R = D(s)/D(e):
//!
//! ```text
//! simple forward rate        (R − 1) / (e − s)
//! continuous forward rate    ln R / (e − s)      the mean of the instantaneous ones
//! ```
//!
//! A curve passes through its pillars exactly; its [`Interpolation`] determines the values between
//! them. A [`NelsonSiegel`] curve of four parameters and a [`NelsonSiegelSvensson`] curve of
//! six are smooth approximations. Times are in
//! years; rates may be negative.
//!
//! A curve is bootstrapped from [`Instrument`]s: deposits, forward rate agreements, futures, overnight
//! indexed swaps and par swaps. Their [`Conventions`] give dates and interest, and [`Market`] the usual
//! ones of three currencies. Not modelled: a second curve for discounting, payments after the end of
//! their period, year-end jumps, spreads.

mod bootstrap;
mod compounding;
mod conventions;
mod cubic;
mod curve;
mod explanations;
mod exponent_shift;
mod forward_period;
mod instrument;
mod interpolation;
mod market;
mod monotone_convex;
pub mod nelson_siegel_svensson;
mod newton;
mod overnight;
mod pillars;
mod reading;
mod repricing;
mod shift;
mod times;

pub use compounding::Compounding;
pub use conventions::{AccrualPeriod, Conventions};
pub use curve::{Curve, CurveType, Pillar, Point};
pub use forward_period::ForwardPeriod;
pub use instrument::{Instrument, InstrumentKind};
pub use interpolation::Interpolation;
pub use market::Market;
pub use nelson_siegel_svensson::{FitQuality, NelsonSiegel, NelsonSiegelSvensson};
pub use overnight::{STANDARD_OIS_TENORS, overnight_quotes};
pub use reading::{ForwardReading, RateConventions, ZeroReading};
pub use repricing::{BootstrapReport, Repricing};
pub use shift::{CurveShift, ShiftSpace};

pub(crate) use exponent_shift::ExponentShift;
