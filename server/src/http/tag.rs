//! The tags of the generated document.

use poem_openapi::Tags;

/// A tag of an operation.
#[derive(Clone, Copy, Debug, Tags)]
pub enum Tag {
    /// Registration, sign-in and keys.
    Account,
    /// Yield curves.
    Curves,
    /// Demand and utility.
    Economics,
    /// Information theory.
    Entropy,
    /// Temporary keys without registration.
    Guest,
    /// Bonds and bills.
    Instruments,
    /// Numerical differentiation.
    Numerical,
    /// Portfolio selection.
    Portfolio,
    /// Option prices.
    Pricing,
    /// Bank regulation.
    Regulatory,
    /// Market risk.
    Risk,
    /// Health and readiness.
    Service,
    /// Dates and tenors.
    Time,
}
