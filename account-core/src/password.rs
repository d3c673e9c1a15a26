//! Passwords: the rules of a new one, and the interface of a hasher.

use std::time::Duration;

use zeroize::Zeroizing;

use crate::{Error, Result};

const SHORTEST: usize = 8;
const LONGEST: usize = 1024;

/// The most common passwords, in lower case, one a line.
const COMMONEST: &str = include_str!("common_passwords.txt");

/// A password in plain text: wiped after use, without `Debug`.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Reads a new password: 8 to 1,024 bytes, and none of the most common; there are no rules of
    /// composition.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the field `password`.
    pub fn choose(text: &str) -> Result<Self> {
        Self::choose_as("password", text)
    }

    /// Does the same as [`choose`](Self::choose), for a field of another name such as
    /// `new_password`.
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

    /// Takes the password of a login, without rules.
    #[must_use]
    pub fn attempt(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// Returns the secret, for the hasher.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// A password's hash with its parameters and salt, in the form that the hasher writes.
#[derive(Clone)]
pub struct PasswordHash(pub String);

/// The result of the verification of a password.
pub struct Verification {
    /// True if the password is right.
    pub matches: bool,
    /// A new hash of a right password, where the stored hash has outdated parameters.
    pub rehashed: Option<PasswordHash>,
}

/// The error for a hasher whose threads are busy and whose queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// The time to wait before the next attempt.
    pub retry_after: Duration,
}

impl From<Busy> for Error {
    fn from(busy: Busy) -> Self {
        Self::Busy { retry_after: busy.retry_after }
    }
}

/// A hasher of passwords, which is slow by design and computes a few hashes at a time.
///
/// A permit is obtained first and held while an attempt is reserved and hashed, so that waiting for
/// a thread does not count as an attempt.
pub trait PasswordHasher: Send + Sync {
    /// The permit to compute one hash.
    type Permit: Send;

    /// Waits for a place in the queue and a free thread of the hasher.
    fn admit(&self) -> impl Future<Output = std::result::Result<Self::Permit, Busy>> + Send;

    /// Hashes a new password with a salt of its own.
    fn hash(
        &self,
        permit: Self::Permit,
        password: &Password,
    ) -> impl Future<Output = PasswordHash> + Send;

    /// Compares a password with a hash. Without a hash, because no account was found, the same work
    /// is done against a hash that no password matches.
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
