//! Passwords: the rules of a new one, and the interface of a hasher.
//!
//! A password is a text, and one text has several encodings: one keyboard sends `é` as one code
//! point, another as two. So every password, new or offered, is prepared as an `OpaqueString` of
//! RFC 8265, section 4.2: each space of Unicode becomes U+0020, and the text is brought into
//! Normalization Form C. Case stays. Unlike RFC 8265, unassigned code points are accepted, because
//! a release with another version of Unicode could otherwise refuse an accepted password.

use std::time::Duration;

use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use crate::identity::{Email, Username};
use crate::{Error, Result};

/// The least number of characters of a new password, which are code points after its preparation.
pub const SHORTEST: usize = 8;
/// The largest number of bytes of a new password, which bounds the work of the hasher.
const LONGEST: usize = 1024;

/// The most common passwords, in lower case, sorted, one a line: of the lists of zxcvbn 4.5.0 the 3,000
/// most frequent passwords of 8 characters and more and the given names of that length, which its
/// list of passwords omits, with variations that services often see.
const COMMONEST: &str = include_str!("common_passwords.txt");

/// The largest growth of a text in UTF-8 by Normalization Form C (UAX #15).
const LARGEST_EXPANSION: usize = 3;

/// A prepared password in plain text: wiped after use, without `Debug`.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Reads a new password: after its preparation at least 8 characters and at most 1,024 bytes,
    /// more than spaces, without control characters, and none of the most common; there are no rules
    /// of composition.
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
        let prepared = prepare(text);
        if prepared.chars().all(|one| one == ' ') {
            return Err(Error::invalid(field, "more than spaces", "password_blank"));
        }
        if prepared.chars().count() < SHORTEST || prepared.len() > LONGEST {
            let requirement = "at least 8 characters and at most 1,024 bytes long";
            return Err(Error::invalid(field, requirement, "password_length"));
        }
        if prepared.chars().any(char::is_control) {
            return Err(Error::invalid(field, "without control characters", "password_character"));
        }
        let lowered = Zeroizing::new(prepared.to_ascii_lowercase());
        if COMMONEST.lines().any(|common| common == lowered.as_str()) {
            return Err(Error::invalid(
                field,
                "a password that is not among the most common ones",
                "password_common",
            ));
        }
        Ok(Self(prepared))
    }

    /// Takes the password of a login, without rules.
    #[must_use]
    pub fn attempt(text: &str) -> Self {
        Self(prepare(text))
    }

    /// Refuses the e-mail address and the user name of the account as its password, in any case.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for that field.
    pub fn refuse_personal(
        &self,
        field: &'static str,
        email: &Email,
        username: &Username,
    ) -> Result<()> {
        let lowered = Zeroizing::new(self.0.trim_matches(' ').to_lowercase());
        if *lowered == email.as_str() || *lowered == username.key() {
            let requirement = "another text than the e-mail address and the user name";
            return Err(Error::invalid(field, requirement, "password_personal"));
        }
        Ok(())
    }

    /// Returns the secret, for the hasher.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Prepares a text of any length as an `OpaqueString` (RFC 8265, section 4.2).
fn prepare(text: &str) -> Zeroizing<String> {
    // With its final capacity from the start, so that no copy is left behind that is not wiped.
    let mut prepared = Zeroizing::new(String::with_capacity(LARGEST_EXPANSION * text.len()));
    let spaces = text.chars().map(|one| if is_space(one) { ' ' } else { one });
    prepared.extend(spaces.nfc());
    prepared
}

/// Returns whether a character is a space: of the general category Zs of Unicode.
const fn is_space(one: char) -> bool {
    matches!(
        one,
        ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
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
    fn a_password_has_eight_characters_and_at_most_1024_bytes() {
        for (text, taken) in [
            ("k7Qw3zx".to_owned(), false),
            ("k7Qw3zx9".to_owned(), true),
            // Ten bytes and fourteen, but five characters and seven.
            ("ééééé".to_owned(), false),
            ("e\u{301}".repeat(7), false),
            ("e\u{301}".repeat(8), true),
            ("秘".repeat(8), true),
            ("x".repeat(1024), true),
            ("x".repeat(1025), false),
            ("é".repeat(512), true),
            ("é".repeat(513), false),
        ] {
            assert_eq!(Password::choose(&text).is_ok(), taken, "{text}");
        }
    }

    #[test]
    fn one_text_is_one_password_however_it_is_encoded() {
        // RFC 8265, section 4.3, examples 1 to 4 of what is left as it is; then one row a rule.
        for (one, other, equal) in [
            ("correct horse battery staple", "correct horse battery staple", true),
            ("Correct Horse Battery Staple", "correct horse battery staple", false),
            ("πßåαβγδε", "πßåαβγδε", true),
            ("Jack of ♦s is here", "Jack of ♦s is here", true),
            ("foo\u{1680}bar baz", "foo bar baz", true),
            ("caf\u{e9} au lait", "cafe\u{301} au lait", true),
            ("\u{1e9b}\u{323} rules", "\u{17f}\u{323}\u{307} rules", true),
            ("\u{212b}ngstr\u{f6}m!", "\u{c5}ngstro\u{308}m!", true),
            ("\u{ac00}\u{ac01} hangul", "\u{1100}\u{1161}\u{ac01} hangul", true),
            ("a\u{a0}b\u{2003}c\u{3000}d e", "a b c d e", true),
            // Compatibility forms are other texts: the ligature and the fullwidth letter stay.
            ("\u{fb01}nancial", "financial", false),
            ("\u{ff41}bcdefgh", "abcdefgh", false),
            ("two  spaces", "two spaces", false),
        ] {
            let (one, other) = (Password::attempt(one), Password::attempt(other));
            assert_eq!(one.expose() == other.expose(), equal, "{:?}", other.expose());
        }
    }

    #[test]
    fn a_prepared_text_is_prepared_already_and_keeps_its_capacity() {
        for text in ["", "a", "caf\u{e9}", "\u{1d160}\u{1d160}", "\u{fb2c}", "\u{390}\u{3b0}"] {
            let prepared = prepare(text);
            assert_eq!(prepare(&prepared).as_str(), prepared.as_str());
            assert!(prepared.len() <= LARGEST_EXPANSION * text.len(), "{text:?}");
        }
    }

    #[test]
    fn what_nobody_can_mean_as_a_password_is_refused_by_name() {
        for (text, code) in [
            ("", "password_blank"),
            ("        ", "password_blank"),
            ("\u{a0}\u{2003}\u{3000}\u{3000}", "password_blank"),
            ("short", "password_length"),
            ("tab\there it is", "password_character"),
            ("a line\nand one", "password_character"),
            ("escape\u{9b}31m", "password_character"),
        ] {
            let error = Password::choose(text).err().expect(text);
            assert_eq!((error.code(), error.field()), (code, Some("password")), "{text:?}");
        }
        assert!(Password::choose("   leading and trailing   ").is_ok());
    }

    #[test]
    fn an_address_or_a_name_is_no_password() {
        let email = Email::parse("Ada.Lovelace@example.com").expect("an address");
        let username = Username::parse("AdaLovelace").expect("a name");
        for (text, refused) in [
            ("ada.lovelace@example.com", true),
            (" ADA.LOVELACE@EXAMPLE.COM ", true),
            ("adalovelace", true),
            ("ADALOVELACE", true),
            ("adalovelace1815", false),
            ("ada.lovelace", false),
        ] {
            let password = Password::choose(text).expect(text);
            let refusal = password.refuse_personal("new_password", &email, &username).err();
            let code = refusal.map(|error| (error.code(), error.field()));
            let expected = refused.then_some(("password_personal", Some("new_password")));
            assert_eq!(code, expected, "{text}");
        }
    }

    #[test]
    fn the_commonest_are_refused_in_any_case() {
        for text in ["password", "PassWord1", "12345678", "Jennifer", "gordon24", "iloveyou"] {
            let error = Password::choose_as("new_password", text).err().expect(text);
            assert_eq!((error.code(), error.field()), ("password_common", Some("new_password")));
        }
    }

    #[test]
    fn the_list_is_lower_case_without_what_is_too_short_anyway() {
        for line in COMMONEST.lines() {
            assert!(line.len() >= SHORTEST && line == line.to_ascii_lowercase(), "{line:?}");
        }
        assert!(COMMONEST.lines().is_sorted_by(|one, next| one < next), "each line once, sorted");
        assert!(COMMONEST.lines().count() > 3_000);
    }
}
