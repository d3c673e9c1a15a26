//! Yield curves: built from values or from quoted instruments, and read at any time.
//!
//! A [`Curve`] says what one unit of money paid after t years is worth today, in three ways that
//! follow from each other:
//!
//! ```text
//! discount factor   D(t) = exp(−z(t) t)
//! zero rate         z(t) = −ln D(t) / t          continuously compounded
//! forward rate      f(t) = −d ln D(t) / dt       instantaneous
//! ```
//!
//! It goes through its pillars exactly, and between them as its [`Interpolation`] says; a
//! [`NelsonSiegelSvensson`] curve of six parameters goes near them all, and smoothly. Times are
//! years; rates may be negative. A curve is one currency's and one collateral's: there is no
//! second curve for discounting, and there are no turns of year, futures or spreads.

mod bootstrap;
mod cubic;
mod curve;
mod forward_period;
mod instrument;
mod interpolation;
mod monotone_convex;
pub mod nelson_siegel_svensson;
mod newton;
mod pillars;

pub use curve::{Curve, CurveType, Pillar, Point};
pub use forward_period::ForwardPeriod;
pub use instrument::{Instrument, InstrumentKind};
pub use interpolation::Interpolation;
pub use nelson_siegel_svensson::NelsonSiegelSvensson;
