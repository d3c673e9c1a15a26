//! The identity of an account: number, e-mail address, user name and contact details.

use crate::{Error, Result};

const EMAIL_BYTES: usize = 254;
const LOCAL_PART_BYTES: usize = 64;
const LABEL_BYTES: usize = 63;
const USERNAME_CHARACTERS: std::ops::RangeInclusive<usize> = 3..=32;
const CONTACT_CHARACTERS: usize = 100;

/// The number of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountId(pub i64);

/// A number that no account has.
pub const NOBODY: AccountId = AccountId(0);

/// The number of a guest key; a guest has one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuestId(pub i64);

/// A caller, which is charged and limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallerId {
    /// A registered account, by its number.
    Account(AccountId),
    /// The holder of a guest key, by the number of the guest.
    Guest(GuestId),
}

/// An e-mail address in lower case, so that addresses which differ in case are equal.
///
/// Only characters that a header can contain unquoted are accepted: ASCII letters, digits and the
/// signs of an atom. No address can therefore add a header or a second recipient to an e-mail.
///
/// # Examples
///
/// ```
/// use account_core::Email;
///
/// assert_eq!(Email::parse("Ada@Example.com")?.as_str(), "ada@example.com");
/// assert!(Email::parse("ada@example.com\r\nBcc: eve@example.com").is_err());
/// # Ok::<(), account_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

impl Email {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the field `email`.
    pub fn parse(text: &str) -> Result<Self> {
        let valid = text.len() <= EMAIL_BYTES
            && text
                .rsplit_once('@')
                .is_some_and(|(local, domain)| is_local_part(local) && is_domain(domain));
        if valid {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(Error::invalid("email", "an e-mail address", "email"))
        }
    }

    /// Returns the address, in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_local_part(text: &str) -> bool {
    text.len() <= LOCAL_PART_BYTES
        && text.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atom_byte))
}

const fn is_atom_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'/'
                | b'='
                | b'?'
                | b'^'
                | b'_'
                | b'`'
                | b'{'
                | b'|'
                | b'}'
                | b'~'
        )
}

fn is_domain(text: &str) -> bool {
    text.contains('.')
        && text.split('.').all(|label| {
            (1..=LABEL_BYTES).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

/// The user name of an account; names that differ only in case are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Username(String);

impl Username {
    /// Reads a name: 3 to 32 letters, digits, `.`, `_` or `-`, starting with a letter or a digit.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the field `username`.
    pub fn parse(text: &str) -> Result<Self> {
        let valid = USERNAME_CHARACTERS.contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::invalid(
                "username",
                "3 to 32 letters, digits, dots, underscores or hyphens, starting with a letter or digit",
                "username",
            ))
        }
    }

    /// Returns the name in the spelling of its owner.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name in lower case, as names are compared.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

/// Contact details of an account's owner beside the e-mail address; all are optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contact {
    /// A telephone number, as given; `None` where none was given.
    pub phone: Option<String>,
    /// The name of a country, as given; `None` where none was given.
    pub country: Option<String>,
    /// The code of the country, as given; `None` where none was given.
    pub country_code: Option<String>,
}

impl Contact {
    /// Reads contact details of up to 100 characters each, without control characters. An empty
    /// text counts as absent.
    ///
    /// # Errors
    ///
    /// One [`Error::Invalid`] for each invalid field, in the order of the arguments.
    pub fn parse(
        phone: Option<&str>,
        country: Option<&str>,
        country_code: Option<&str>,
    ) -> std::result::Result<Self, Vec<Error>> {
        let fields = [("phone", phone), ("country", country), ("country_code", country_code)];
        let faults: Vec<Error> = fields
            .into_iter()
            .filter(|(_, text)| text.is_some_and(|text| !is_line(text, CONTACT_CHARACTERS)))
            .map(|(field, _)| {
                Error::invalid(field, "up to 100 characters without control characters", "contact")
            })
            .collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let keep = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Self { phone: keep(phone), country: keep(country), country_code: keep(country_code) })
    }
}

/// Returns whether a text is a single line of at most this many characters.
pub(crate) fn is_line(text: &str, characters: usize) -> bool {
    text.chars().count() <= characters && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_addresses_are_taken_and_lowered() {
        for (text, expected) in [
            ("ada@example.com", "ada@example.com"),
            ("Ada.Lovelace+Test@Sub.Example.CO.UK", "ada.lovelace+test@sub.example.co.uk"),
            ("o'brien_1@ex-ample.org", "o'brien_1@ex-ample.org"),
        ] {
            assert_eq!(Email::parse(text).expect(text).as_str(), expected);
        }
    }

    #[test]
    fn an_address_can_never_add_a_header_or_a_recipient() {
        let long = format!("{}@example.com", "a".repeat(65));
        let corpus = [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@localhost",
            "ada@example.com\r\nBcc: eve@example.com",
            "ada@example.com\nBcc: eve@example.com",
            "ada@example.com\0",
            "ada@example.com,eve@example.com",
            "ada@example.com eve@example.com",
            "ada@example.com;eve@example.com",
            "<ada@example.com>",
            "Ada <ada@example.com>",
            "\"ada\r\nBcc: eve\"@example.com",
            "ada@eve@example.com",
            "ada\u{2028}@example.com",
            "ada@exämple.com",
            "ada..b@example.com",
            ".ada@example.com",
            "ada@-example.com",
            "ada@example..com",
            "ada@[127.0.0.1]",
            "ada@example.com%0d%0aBcc:eve",
            long.as_str(),
        ];
        for text in corpus {
            let error = Email::parse(text).expect_err(text);
            assert_eq!(error.field(), Some("email"));
        }
    }

    #[test]
    fn names_are_compared_without_case() {
        let (one, other) = (Username::parse("Ada").unwrap(), Username::parse("ADA").unwrap());
        assert_eq!(one.key(), other.key());
        for text in ["", "ab", "_ada", "a b", "ada\n", "ädä", &"a".repeat(33)] {
            assert_eq!(Username::parse(text).expect_err(text).field(), Some("username"));
        }
    }

    #[test]
    fn every_contact_field_at_fault_is_named() {
        let faults = Contact::parse(Some("1\r\n2"), Some("Italy"), Some(&"x".repeat(101)));
        let fields: Vec<_> = faults.unwrap_err().iter().map(Error::field).collect();
        assert_eq!(fields, [Some("phone"), Some("country_code")]);
        assert_eq!(Contact::parse(Some(""), None, None).unwrap(), Contact::default());
    }
}
