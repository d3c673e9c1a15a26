//! The errors of the calls of accounts, guests and operators.

use std::time::Duration;

use thiserror::Error;

use crate::Timestamp;

/// The result of an account call.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call was refused or failed.
///
/// [`code`](Error::code) is stable across releases; the text is for people.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A field has an invalid value.
    #[error("`{field}` must be {requirement}")]
    Invalid {
        /// The field, as named on the wire.
        field: &'static str,
        /// The requirement, as in "an e-mail address".
        requirement: &'static str,
        /// A stable name of the fault.
        code: &'static str,
    },
    /// Another account or pending registration has the user name.
    #[error("the username is taken")]
    UsernameTaken,
    /// An account has the e-mail address; only operators see this error.
    #[error("the e-mail address has an account")]
    EmailTaken,
    /// The e-mail address, the password or both are wrong.
    #[error("wrong e-mail address or password")]
    WrongCredentials,
    /// The password is right, but the e-mail address is not confirmed.
    #[error("the e-mail address is not verified")]
    Unverified,
    /// The password is right, but an operator suspended the account.
    #[error("the account is suspended")]
    Suspended,
    /// The identity provider has not confirmed the e-mail address of a new identity.
    #[error("the identity provider has not confirmed the e-mail address")]
    UnconfirmedIdentity,
    /// Too many wrong passwords have locked the address.
    #[error("locked after failed logins until {until}")]
    Locked {
        /// The time at which the lock ends.
        until: Timestamp,
    },
    /// The code is wrong, used, expired or was tried too often.
    #[error("wrong or expired code")]
    WrongCode,
    /// The password or address with which the owner confirmed a change is wrong.
    #[error("wrong confirmation")]
    WrongConfirmation,
    /// The account is already subscribed to the database.
    #[error("already subscribed")]
    AlreadySubscribed,
    /// The key was revoked or suspended between the guard and the call.
    #[error("the key is no longer valid")]
    Unauthorised,
    /// No account has this e-mail address or number.
    #[error("no such account")]
    NotFound,
    /// The limit of guest keys of this UTC day is reached, for this network, for this device or in
    /// all.
    #[error("too many guest keys were made today; there are new ones at {until}")]
    TooManyGuests {
        /// The end of the UTC day.
        until: Timestamp,
    },
    /// All password threads are busy and their queue is full. The attempt does not count as a
    /// failure.
    #[error("busy; try again in {} s", retry_after.as_secs())]
    Busy {
        /// The time to wait before the next attempt.
        retry_after: Duration,
    },
    /// A stored secret cannot be opened: it belongs to another row, was altered, or was sealed
    /// under a lost key.
    #[error("a stored secret does not open")]
    Sealed,
    /// More credits were to be taken than the balance holds; told to operators only.
    #[error("the balance is {balance} credits, and it cannot fall below zero")]
    Overdrawn {
        /// The balance of the account, which stays.
        balance: u64,
    },
    /// The storage failed, so that the outcome of the call is unknown.
    #[error("the storage failed: {0}")]
    Store(#[from] StoreError),
}

impl Error {
    /// Makes the error of one field.
    pub(crate) const fn invalid(
        field: &'static str,
        requirement: &'static str,
        code: &'static str,
    ) -> Self {
        Self::Invalid { field, requirement, code }
    }

    /// Returns the stable name of the kind of error, for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid { code, .. } => code,
            Self::UsernameTaken => "username_taken",
            Self::EmailTaken => "email_taken",
            Self::WrongCredentials => "wrong_credentials",
            Self::Unverified => "unverified",
            Self::Suspended => "suspended",
            Self::UnconfirmedIdentity => "unconfirmed_identity",
            Self::Locked { .. } => "locked",
            Self::WrongCode => "wrong_code",
            Self::WrongConfirmation => "wrong_confirmation",
            Self::AlreadySubscribed => "already_subscribed",
            Self::Unauthorised => "unauthorised",
            Self::NotFound => "not_found",
            Self::TooManyGuests { .. } => "too_many_guests",
            Self::Busy { .. } => "busy",
            Self::Sealed => "sealed",
            Self::Overdrawn { .. } => "overdrawn",
            Self::Store(_) => "store",
        }
    }

    /// Returns the field at fault, as named on the wire; `None` where the error concerns no single
    /// field.
    #[must_use]
    pub const fn field(&self) -> Option<&'static str> {
        match self {
            Self::Invalid { field, .. } => Some(field),
            Self::UsernameTaken => Some("username"),
            Self::EmailTaken => Some("email"),
            _ => None,
        }
    }
}

/// A failure of the storage, whose cause the rules do not interpret.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct StoreError(Box<dyn std::error::Error + Send + Sync>);

impl StoreError {
    /// Makes an error from the storage's own.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }

    /// Returns what the storage said, of whichever type that is.
    #[must_use]
    pub fn cause(&self) -> &(dyn std::error::Error + 'static) {
        &*self.0
    }
}
