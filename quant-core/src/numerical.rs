//! Finite-difference derivatives.
//!
//! The value is the difference quotient itself at the step that was asked for, correctly rounded
//! in all but the rarest cases, and not an estimate of the derivative. The difference of
//! two values of the function loses every digit for a small step; each quotient has a closed form
//! without that difference, which is evaluated in double-double arithmetic of unlimited range.
//!
//! Not modelled: automatic choice of the step, higher orders, functions given by the caller.

pub mod derivative;

pub use derivative::{Function, Scheme, analytic_derivative, derivative};
