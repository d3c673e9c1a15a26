//! A request that is sent again gets the first answer, and is charged once.
//!
//! Who is not sure whether a paid request was answered sends it again under the same
//! [`IdempotencyKey`]. The first takes the [`Slot`] that the key names; its answer is kept in the
//! very transaction that charges for it, so that there is never one without the other.

use chrono::TimeDelta;
use sha2::{Digest as _, Sha256};

use crate::identity::CallerId;

/// How long an answer is kept.
pub const KEPT: TimeDelta = TimeDelta::hours(24);
/// How long a run that gives no sign holds its slot. Longer than any computation takes; a run that
/// lasts longer still is not charged, since its slot is another's by then.
pub const HELD: TimeDelta = TimeDelta::seconds(90);
/// The longest key, in characters.
pub const LONGEST_KEY: usize = 255;

/// What a client calls a request, so as to send it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// Why a text is no [`IdempotencyKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadKey {
    /// There is nothing in it.
    Empty,
    /// It has more than [`LONGEST_KEY`] characters.
    TooLong,
    /// A character is not a visible one of ASCII, or a space.
    BadCharacter,
}

impl IdempotencyKey {
    /// Takes 1 to 255 visible characters of ASCII, spaces among them.
    ///
    /// # Errors
    ///
    /// [`BadKey`] says why not.
    ///
    /// # Examples
    ///
    /// ```
    /// use account_core::idempotency::{BadKey, IdempotencyKey};
    ///
    /// assert!(IdempotencyKey::parse(b"order 17, second try").is_ok());
    /// assert_eq!(IdempotencyKey::parse(b""), Err(BadKey::Empty));
    /// assert_eq!(IdempotencyKey::parse(&[b'x'; 256]), Err(BadKey::TooLong));
    /// assert_eq!(IdempotencyKey::parse("é".as_bytes()), Err(BadKey::BadCharacter));
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, BadKey> {
        match bytes {
            [] => Err(BadKey::Empty),
            _ if bytes.len() > LONGEST_KEY => Err(BadKey::TooLong),
            _ if !bytes.iter().all(|byte| (b' '..=b'~').contains(byte)) => {
                Err(BadKey::BadCharacter)
            }
            _ => Ok(Self(bytes.iter().copied().map(char::from).collect())),
        }
    }
}

/// Where an answer is kept: a key of one caller at one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub [u8; 32]);

impl Slot {
    /// The slot of a caller's key at an endpoint, which is a method and a path.
    #[must_use]
    pub fn of(caller: CallerId, method: &str, path: &str, key: &IdempotencyKey) -> Self {
        let (kind, id) = match caller {
            CallerId::Account(id) => ("account", id.0),
            CallerId::Guest(id) => ("guest", id.0),
        };
        // A method and a path hold no line break, so no two callers, endpoints and keys meet.
        Self(Sha256::digest(format!("{kind}\n{id}\n{method}\n{path}\n{}", key.0)).into())
    }
}

/// Tells one request from another under the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestDigest(pub [u8; 32]);

impl RequestDigest {
    /// The digest of a body, byte for byte.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }
}

/// An answer as it went out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The body, byte for byte.
    pub body: String,
    /// What it cost, in credits.
    pub cost: u32,
    /// The balance after that.
    pub balance: u64,
}

/// A request that wants a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The slot.
    pub slot: Slot,
    /// The request.
    pub request: RequestDigest,
    /// The number of the call, by which a run knows its own claim again.
    pub run: u128,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The slot is the caller's to fill.
    Yours,
    /// The same request was answered.
    Answered(StoredAnswer),
    /// The same request is being answered.
    Running,
    /// The slot belongs to another request.
    OtherRequest,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccountId, GuestId};

    #[test]
    fn no_two_callers_endpoints_or_keys_share_a_slot() {
        let key = |text: &str| IdempotencyKey::parse(text.as_bytes()).unwrap();
        let account = CallerId::Account(AccountId(1));
        let slots = [
            Slot::of(account, "POST", "/a", &key("k")),
            Slot::of(account, "POST", "/a", &key("K")),
            Slot::of(account, "POST", "/a", &key(" k")),
            Slot::of(account, "PUT", "/a", &key("k")),
            Slot::of(account, "POST", "/b", &key("k")),
            Slot::of(CallerId::Account(AccountId(11)), "POST", "/a", &key("k")),
            Slot::of(CallerId::Guest(GuestId(1)), "POST", "/a", &key("k")),
        ];
        for (index, slot) in slots.iter().enumerate() {
            assert!(!slots[..index].contains(slot), "{index}");
        }
        assert_eq!(slots[0], Slot::of(account, "POST", "/a", &key("k")));
    }
}
