//! API keys, and who calls with one.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::identity::{AccountId, CallerId, GuestId};
use crate::tier::{GUEST_HOURLY_LIMIT, Tier};
use crate::vault::{Sealed, Vault};
use crate::{StoreError, Timestamp, random};

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// A registered account's: permanent until regenerated.
    User,
    /// A guest's: valid for 24 hours.
    Guest,
}

impl KeyKind {
    /// What keys of this kind start with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::User => "fk_user_",
            Self::Guest => "fk_guest_",
        }
    }
}

/// An API key in plain text: a secret, wiped from memory after use and without `Debug`.
///
/// # Examples
///
/// ```
/// use account_core::ApiKey;
///
/// let key = ApiKey::parse("fk_user_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").expect("well-formed");
/// assert_eq!(key.redacted(), "fk_user_…AAAA");
/// assert!(ApiKey::parse("fk_user_short").is_none());
/// ```
#[derive(Clone)]
pub struct ApiKey {
    kind: KeyKind,
    text: Zeroizing<String>,
}

/// What is stored in place of a key, to find it by.
pub type KeyDigest = Digest<ApiKey>;

impl ApiKey {
    /// Reads a key: one of the two prefixes and exactly 43 characters that decode to 32 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let kind = [KeyKind::User, KeyKind::Guest]
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        random::is_secret_text(&text[kind.prefix().len()..])
            .then(|| Self { kind, text: Zeroizing::new(text.to_owned()) })
    }

    /// Draws a new key.
    #[must_use]
    pub fn generate(kind: KeyKind, rng: &mut dyn CryptoRng) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(64));
        text.push_str(kind.prefix());
        URL_SAFE_NO_PAD.encode_string(random::secret_bytes(rng), &mut text);
        Self { kind, text }
    }

    /// Whose key it is.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The secret itself, for the one answer that hands it out.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// What a log may show: the prefix and the last four characters.
    #[must_use]
    pub fn redacted(&self) -> String {
        format!("{}…{}", self.kind.prefix(), &self.text[self.text.len() - 4..])
    }
}

impl Vault {
    /// Returns the digest that a key is found by.
    #[must_use]
    pub fn key_digest(&self, key: &ApiKey) -> KeyDigest {
        self.digest(b"key", &[key.expose().as_bytes()])
    }
}

/// The number of one key of an account; bound into what seals the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u128);

/// A key as it is stored: never the secret.
#[derive(Clone)]
pub struct NewKey {
    /// The number of the key.
    pub id: KeyId,
    /// What it is found by.
    pub digest: KeyDigest,
    /// The key itself, sealed, so that a login can hand it back.
    pub sealed: Sealed,
}

/// Who calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Caller {
    /// A registered account.
    Account(AccountCaller),
    /// A guest.
    Guest(GuestCaller),
}

/// An account as the guard sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountCaller {
    /// The account.
    pub id: AccountId,
    /// The key that it called with.
    pub key_id: KeyId,
    /// Its tier.
    pub tier: Tier,
    /// Requests an hour: its own limit, or its tier's.
    pub hourly_limit: u32,
    /// Credits left when the key was looked up; the debit has the last word.
    pub credit_balance: u64,
    /// Credits of the last grant, of which a fifth is worth a notice.
    pub last_grant: u64,
    /// Whether it may use the administrators' calls.
    pub is_admin: bool,
}

/// A guest as the guard sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct GuestCaller {
    /// The guest.
    pub id: GuestId,
    /// The network that made the key, limited as one: [`network`](crate::guest::network).
    pub network: IpAddr,
    /// The device it named at creation.
    pub device_id: String,
    /// The platform it named.
    pub platform: Option<String>,
    /// Credits left when the key was looked up.
    pub credit_balance: u64,
    /// When the key was made.
    pub created_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

impl Caller {
    /// Who is charged and counted.
    #[must_use]
    pub const fn id(&self) -> CallerId {
        match self {
            Self::Account(account) => CallerId::Account(account.id),
            Self::Guest(guest) => CallerId::Guest(guest.id),
        }
    }

    /// Requests an hour.
    #[must_use]
    pub const fn hourly_limit(&self) -> u32 {
        match self {
            Self::Account(account) => account.hourly_limit,
            Self::Guest(_) => GUEST_HOURLY_LIMIT,
        }
    }

    /// Credits left when the key was looked up.
    #[must_use]
    pub const fn credit_balance(&self) -> u64 {
        match self {
            Self::Account(account) => account.credit_balance,
            Self::Guest(guest) => guest.credit_balance,
        }
    }
}

/// Why a key opens nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Unknown, revoked, suspended, or of an account that is not verified: nobody is told which.
    #[error("unknown key")]
    Unknown,
    /// A guest key after its 24 hours.
    #[error("the guest key has expired")]
    GuestExpired,
    /// The storage failed, which says nothing about the key.
    #[error("storage failed")]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::seeded_rng;

    #[test]
    fn a_generated_key_reads_back_and_differs_from_the_next() {
        let mut rng = seeded_rng(1);
        for kind in [KeyKind::User, KeyKind::Guest] {
            let key = ApiKey::generate(kind, &mut rng);
            assert_eq!(key.expose().len(), kind.prefix().len() + 43);
            let read = ApiKey::parse(key.expose()).expect("well-formed");
            assert!(read.kind() == kind && read.expose() == key.expose());
            assert_ne!(ApiKey::generate(kind, &mut rng).expose(), key.expose());
        }
    }

    #[test]
    fn a_malformed_key_is_not_a_key() {
        let random = "A".repeat(43);
        let malformed = [
            String::new(),
            "fk_user_".to_owned(),
            random.clone(),
            format!("fk_admin_{random}"),
            format!("FK_USER_{random}"),
            format!("fk_user_{}", &random[1..]),
            format!("fk_user_{random}A"),
            format!("fk_user_{random}="),
            format!(" fk_user_{random}"),
            format!("fk_user_{}+", &random[1..]),
            format!("fk_user_{}é", &random[2..]),
            // The last character carries two bits that must be zero: no second spelling of a key.
            format!("fk_user_{}B", &random[1..]),
        ];
        for text in malformed {
            assert!(ApiKey::parse(&text).is_none(), "{text:?}");
        }
    }
}
