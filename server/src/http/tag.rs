//! The tags of the generated document.

use poem_openapi::Tags;

/// A tag of an operation.
#[derive(Clone, Copy, Debug, Tags)]
pub enum Tag {
    /// The profile and the end of an account.
    Account,
    /// Company value and scores.
    Analysis,
    /// Many computations in one request.
    Batches,
    /// Yield curves.
    Curves,
    /// Demand and utility.
    Economics,
    /// Information theory.
    Entropy,
    /// Temporary keys without registration.
    Guest,
    /// Sign-in by an identity provider, and hand-off codes.
    #[oai(rename = "Identity provider")]
    IdentityProvider,
    /// Bonds and bills.
    Instruments,
    /// The API key.
    Keys,
    /// The inbox, its preferences, and broadcasts.
    Notifications,
    /// Numerical differentiation.
    Numerical,
    /// Portfolio selection.
    Portfolio,
    /// Option prices.
    Pricing,
    /// The check of receipts.
    Receipts,
    /// New accounts and the confirmation of their e-mail.
    Registration,
    /// Bank regulation.
    Regulatory,
    /// Market risk.
    Risk,
    /// The password, the second factor and the e-mail address.
    Security,
    /// Health and readiness.
    Service,
    /// Rates, spreads and payments of finance.
    Solver,
    /// Sessions and their end.
    Sessions,
    /// Sign-in with a password, and its second step.
    #[oai(rename = "Sign-in")]
    SignIn,
    /// Subscriptions to databases.
    Subscriptions,
    /// Dates and tenors.
    Time,
    /// Calls, credits and sign-ins of the past.
    Usage,
}
