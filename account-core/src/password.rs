//! Passwords: what may be chosen, and how a hasher is asked.

use std::time::Duration;

use zeroize::Zeroizing;

use crate::{Error, Result};

const SHORTEST: usize = 8;
const LONGEST: usize = 1024;

/// Passwords that are tried first by everyone, in lower case, one a line.
const COMMONEST: &str = include_str!("common_passwords.txt");

/// A password in plain text: wiped after use, without `Debug`.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Takes a new password: 8 to 1,024 bytes and none of the commonest; no rules of composition.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the field `password`.
    pub fn choose(text: &str) -> Result<Self> {
        Self::choose_as("password", text)
    }

    /// [`choose`](Self::choose) for a field of another name, as `new_password`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for that field.
    pub fn choose_as(field: &'static str, text: &str) -> Result<Self> {
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            return Err(Error::invalid(field, "8 to 1,024 bytes long", "password_length"));
        }
        let lowered = Zeroizing::new(text.to_ascii_lowercase());
        if COMMONEST.lines().any(|common| common == lowered.as_str()) {
            return Err(Error::invalid(
                field,
                "a password that is not among the most common ones",
                "password_common",
            ));
        }
        Ok(Self(Zeroizing::new(text.to_owned())))
    }

    /// Takes what someone offers at a login, whatever it is.
    #[must_use]
    pub fn attempt(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// The secret itself, for the hasher.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// A password's hash with its parameters and salt, in the form that the hasher writes.
#[derive(Clone)]
pub struct PasswordHash(pub String);

/// What a hasher says of a password.
pub struct Verification {
    /// Whether it is the right one.
    pub matches: bool,
    /// A new hash where it is, and the old one was made with other parameters than today's.
    pub rehashed: Option<PasswordHash>,
}

/// All threads of the hasher and its queue are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// When another try makes sense.
    pub retry_after: Duration,
}

impl From<Busy> for Error {
    fn from(busy: Busy) -> Self {
        Self::Busy { retry_after: busy.retry_after }
    }
}

/// Hashes passwords, slowly on purpose and so only a few at once.
///
/// A permit is asked for first and held while a login try is reserved and hashed, so that the
/// wait for a free thread counts as no try.
pub trait PasswordHasher: Send + Sync {
    /// The right to hash once.
    type Permit: Send;

    /// Waits for a free thread.
    fn admit(&self) -> impl Future<Output = std::result::Result<Self::Permit, Busy>> + Send;

    /// Hashes a new password under a salt of its own.
    fn hash(
        &self,
        permit: Self::Permit,
        password: &Password,
    ) -> impl Future<Output = PasswordHash> + Send;

    /// Compares a password with a hash. Without one, where no account was found, the same work is
    /// done against a hash that nothing matches.
    fn verify(
        &self,
        permit: Self::Permit,
        password: &Password,
        hash: Option<&PasswordHash>,
    ) -> impl Future<Output = Verification> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_bytes_at_both_edges() {
        for (text, taken) in [
            ("k7Qw3zx".to_owned(), false),
            ("k7Qw3zx9".to_owned(), true),
            ("ééééé".to_owned(), true),
            ("x".repeat(1024), true),
            ("x".repeat(1025), false),
        ] {
            assert_eq!(Password::choose(&text).is_ok(), taken, "{} bytes", text.len());
        }
    }

    #[test]
    fn the_commonest_are_refused_in_any_case() {
        for text in ["password", "PassWord1", "12345678", "qwertyuiop", "iloveyou"] {
            let error = Password::choose_as("new_password", text).err().expect(text);
            assert_eq!((error.code(), error.field()), ("password_common", Some("new_password")));
        }
    }

    #[test]
    fn the_list_is_lower_case_without_what_is_too_short_anyway() {
        for line in COMMONEST.lines() {
            assert!(line.len() >= SHORTEST && line == line.to_ascii_lowercase(), "{line:?}");
        }
    }
}
