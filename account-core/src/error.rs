//! What an account call answers when it refuses.

use std::time::Duration;

use thiserror::Error;

use crate::Timestamp;

/// The result of an account call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call was refused, or could not finish.
///
/// Errors are data: [`code`](Error::code) is stable across releases, the text is for people.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A field holds what no account may have.
    #[error("`{field}` must be {requirement}")]
    Invalid {
        /// The field at fault, as it is named on the wire.
        field: &'static str,
        /// What would have been accepted, as in "an e-mail address".
        requirement: &'static str,
        /// A stable name of the fault.
        code: &'static str,
    },
    /// Another account or a running registration has the username.
    #[error("the username is taken")]
    UsernameTaken,
    /// An account has the e-mail address; told to operators only.
    #[error("the e-mail address has an account")]
    EmailTaken,
    /// The e-mail address, the password or both are wrong.
    #[error("wrong e-mail address or password")]
    WrongCredentials,
    /// The password is right, but the e-mail address was never confirmed.
    #[error("the e-mail address is not verified")]
    Unverified,
    /// The password is right, but an operator suspended the account.
    #[error("the account is suspended")]
    Suspended,
    /// The identity provider has not confirmed the newcomer's address.
    #[error("the identity provider has not confirmed the e-mail address")]
    UnconfirmedIdentity,
    /// Too many wrong passwords.
    #[error("locked after failed logins until {until}")]
    Locked {
        /// When a password is looked at again.
        until: Timestamp,
    },
    /// A code that is wrong, used, expired or tried too often.
    #[error("wrong or expired code")]
    WrongCode,
    /// What an account's owner confirmed a change with is wrong.
    #[error("wrong confirmation")]
    WrongConfirmation,
    /// The account is subscribed to the database already.
    #[error("already subscribed")]
    AlreadySubscribed,
    /// The key lost its right between the guard and the call.
    #[error("the key is no longer valid")]
    Unauthorised,
    /// No account has this e-mail address or number.
    #[error("no such account")]
    NotFound,
    /// As many guest keys were made today as may be, by this network, for this device or in all.
    #[error("too many guest keys were made today; there are new ones at {until}")]
    TooManyGuests {
        /// The end of the UTC day.
        until: Timestamp,
    },
    /// All password threads and their queue are taken. Counts as no failure.
    #[error("busy; try again in {} s", retry_after.as_secs())]
    Busy {
        /// When another try makes sense.
        retry_after: Duration,
    },
    /// A stored secret does not open: another row's, altered, or sealed under a lost key.
    #[error("a stored secret does not open")]
    Sealed,
    /// More credits were to be taken than the balance holds; told to operators only.
    #[error("the balance is {balance} credits, and it cannot fall below zero")]
    Overdrawn {
        /// The balance.
        balance: u64,
    },
    /// The storage failed; nothing is known about the call beyond that.
    #[error("the storage failed: {0}")]
    Store(#[from] StoreError),
}

impl Error {
    /// Builds the fault of one field.
    pub(crate) const fn invalid(
        field: &'static str,
        requirement: &'static str,
        code: &'static str,
    ) -> Self {
        Self::Invalid { field, requirement, code }
    }

    /// A stable name of the kind of error, for programs.
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

    /// The field at fault, as it is named on the wire; `None` where no single one is.
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

/// A failure of the storage itself, opaque to the rules.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct StoreError(Box<dyn std::error::Error + Send + Sync>);

impl StoreError {
    /// Wraps what the storage said.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }

    /// Returns what the storage said, of whichever type that is.
    #[must_use]
    pub fn cause(&self) -> &(dyn std::error::Error + 'static) {
        &*self.0
    }
}
