//! The reason why a credential names no caller.

/// A credential for which no caller was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupError {
    /// No account or guest has the credential, or its key is suspended.
    Unknown,
    /// The key of a guest has expired.
    GuestExpired,
    /// The store did not answer, so that the caller is not known.
    Unavailable,
}
