//! API keys, their stored form, and the callers that a key authenticates.

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

/// The kind of an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// The key of a registered account, valid until replaced.
    User,
    /// The key of a guest, valid for 24 hours.
    Guest,
}

impl KeyKind {
    /// Returns the prefix of keys of this kind.
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

/// The digest under which a key is stored and found.
pub type KeyDigest = Digest<ApiKey>;

impl ApiKey {
    /// Reads a key: one of the two prefixes and exactly 43 characters that decode to 32 bytes;
    /// `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let kind = [KeyKind::User, KeyKind::Guest]
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        random::is_secret_text(&text[kind.prefix().len()..])
            .then(|| Self { kind, text: Zeroizing::new(text.to_owned()) })
    }

    /// Generates a random key of this kind.
    #[must_use]
    pub fn generate(kind: KeyKind, rng: &mut dyn CryptoRng) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(64));
        text.push_str(kind.prefix());
        URL_SAFE_NO_PAD.encode_string(random::secret_bytes(rng), &mut text);
        Self { kind, text }
    }

    /// Returns the kind of the key.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the secret, for the one answer that contains the key.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Returns a form for logs: the prefix and the last four characters.
    #[must_use]
    pub fn redacted(&self) -> String {
        format!("{}…{}", self.kind.prefix(), &self.text[self.text.len() - 4..])
    }
}

impl Vault {
    /// Returns the digest under which a key is found.
    #[must_use]
    pub fn key_digest(&self, key: &ApiKey) -> KeyDigest {
        self.digest(b"key", &[key.expose().as_bytes()])
    }
}

/// The number of one key of an account, which is part of the associated data of the sealed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u128);

/// A key as stored, without the secret.
#[derive(Clone)]
pub struct NewKey {
    /// The number of the new key.
    pub id: KeyId,
    /// The digest of the new key.
    pub digest: KeyDigest,
    /// The sealed key, which a login opens and returns.
    pub sealed: Sealed,
}

/// A caller that an API key or an access token has authenticated.
#[derive(Clone, Debug, PartialEq)]
pub enum Caller {
    /// A registered account, with its tier and limits.
    Account(AccountCaller),
    /// The holder of a guest key.
    Guest(GuestCaller),
}

/// An account, as the guard reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountCaller {
    /// The number of the account.
    pub id: AccountId,
    /// The number of the key that the call was made with.
    pub key_id: KeyId,
    /// The tier, which decides on endpoints and cost.
    pub tier: Tier,
    /// The limit of requests an hour: the account's own or that of its tier.
    pub hourly_limit: u32,
    /// The balance when the key was looked up; the debit decides.
    pub credit_balance: u64,
    /// The credits of the last grant. A notice is sent when a fifth of them is left.
    pub last_grant: u64,
    /// True if the account has a cap of credits a day; the ledger decides.
    pub is_capped: bool,
    /// True if the account is an administrator.
    pub is_admin: bool,
}

/// A guest, as the guard reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct GuestCaller {
    /// The number of the guest.
    pub id: GuestId,
    /// The network that created the key, which is limited as one caller:
    /// [`network`](crate::guest::network).
    pub network: IpAddr,
    /// The identifier of the device, as the device chose the identifier.
    pub device_id: String,
    /// The platform of the device; `None` where the device sent none.
    pub platform: Option<String>,
    /// The balance when the key was looked up.
    pub credit_balance: u64,
    /// The time at which the key was created.
    pub created_at: Timestamp,
    /// The time from which the key is refused.
    pub expires_at: Timestamp,
}

impl Caller {
    /// Returns the id under which the caller is charged and limited.
    #[must_use]
    pub const fn id(&self) -> CallerId {
        match self {
            Self::Account(account) => CallerId::Account(account.id),
            Self::Guest(guest) => CallerId::Guest(guest.id),
        }
    }

    /// Returns the limit of requests an hour.
    #[must_use]
    pub const fn hourly_limit(&self) -> u32 {
        match self {
            Self::Account(account) => account.hourly_limit,
            Self::Guest(_) => GUEST_HOURLY_LIMIT,
        }
    }

    /// Returns the balance when the key was looked up.
    #[must_use]
    pub const fn credit_balance(&self) -> u64 {
        match self {
            Self::Account(account) => account.credit_balance,
            Self::Guest(guest) => guest.credit_balance,
        }
    }
}

/// The reason why a key identifies no caller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The key is unknown, revoked, suspended, or that of an unverified account; the caller does
    /// not learn which.
    #[error("unknown key")]
    Unknown,
    /// A guest key after its 24 hours.
    #[error("the guest key has expired")]
    GuestExpired,
    /// The storage failed, so that nothing is known about the key.
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
            // The last character carries two bits that must be zero, so that a key has a single
            // spelling.
            format!("fk_user_{}B", &random[1..]),
        ];
        for text in malformed {
            assert!(ApiKey::parse(&text).is_none(), "{text:?}");
        }
    }
}
