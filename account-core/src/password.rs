//! Passwords: what may be chosen, and how a hasher is asked.
//!
//! A password is a text, and one text has several encodings: keyboards differ in whether `é` is one
//! code point or two, and in which space they send. So every password, chosen or offered, is
//! prepared as an `OpaqueString` of RFC 8265, section 4.2: each space of Unicode becomes U+0020, and
//! the result is in Normalization Form C. Case and everything else stay. Code points that are not
//! assigned yet are accepted, other than RFC 8265 has it: otherwise a release with another
//! version of Unicode could refuse passwords that an earlier one took.

use std::time::Duration;

use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use crate::identity::{Email, Username};
use crate::{Error, Result};

const SHORTEST: usize = 8;
const LONGEST: usize = 1024;

/// Passwords that are tried first by everyone, in lower case, one a line.
const COMMONEST: &str = include_str!("common_passwords.txt");

/// The most bytes of UTF-8 that Normalization Form C makes of one (UAX #15, section 9).
const LARGEST_EXPANSION: usize = 3;

/// A prepared password in plain text: wiped after use, without `Debug`.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Takes a new password: 8 to 1,024 bytes once it is prepared, more than spaces, without control
    /// characters, and none of the commonest; no rules of composition.
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
        let prepared = prepare(text);
        if prepared.chars().all(|one| one == ' ') {
            return Err(Error::invalid(field, "more than spaces", "password_blank"));
        }
        if !(SHORTEST..=LONGEST).contains(&prepared.len()) {
            return Err(Error::invalid(field, "8 to 1,024 bytes long", "password_length"));
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

    /// Takes what someone offers at a login, whatever it is.
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

    /// The secret itself, for the hasher.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Prepares a text as an `OpaqueString` (RFC 8265, section 4.2), of whatever length.
fn prepare(text: &str) -> Zeroizing<String> {
    // With its final capacity from the start, so that no copy is left behind that is not wiped.
    let mut prepared = Zeroizing::new(String::with_capacity(LARGEST_EXPANSION * text.len()));
    let spaces = text.chars().map(|one| if is_space(one) { ' ' } else { one });
    prepared.extend(spaces.nfc());
    prepared
}

/// Whether a character is a space: one of the general category Zs of Unicode.
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
