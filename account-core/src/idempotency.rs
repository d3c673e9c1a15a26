//! Idempotency keys: a repeated request gets the first answer, and is charged once.
//!
//! A client that does not know whether a paid request was answered repeats the request under the
//! same [`IdempotencyKey`]. The first request takes the [`Slot`] of the key. The answer is stored
//! in the transaction of the charge, so that there is never an answer without a charge, nor a
//! charge without an answer.

use chrono::TimeDelta;
use sha2::{Digest as _, Sha256};

use crate::identity::CallerId;

/// The time for which an answer is stored.
pub const KEPT: TimeDelta = TimeDelta::hours(24);
/// The time for which a run without a conclusion holds its slot, longer than any computation
/// takes. A run that takes longer is not charged, since its slot belongs to another run by then.
pub const HELD: TimeDelta = TimeDelta::seconds(90);
/// The longest key, in characters.
pub const LONGEST_KEY: usize = 255;

/// The key that a client gives a request, in order to repeat the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// The reason why a text is not an [`IdempotencyKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadKey {
    /// The key has no character.
    Empty,
    /// The text has more than [`LONGEST_KEY`] characters.
    TooLong,
    /// A character is neither visible ASCII nor a space.
    BadCharacter,
}

impl IdempotencyKey {
    /// Reads a key of 1 to 255 characters of visible ASCII or spaces.
    ///
    /// # Errors
    ///
    /// [`BadKey`] for any other text.
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

    /// Returns the key of one call of a batch that was sent under this key, by the position of the
    /// call. The key is a digest, because a position beside the longest key would not fit.
    #[must_use]
    pub fn of_position(&self, position: usize) -> Self {
        let digest = Sha256::digest(format!("{position}\n{}", self.0));
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The place of a stored answer: a key of one caller at one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub [u8; 32]);

impl Slot {
    /// Makes the slot of a caller's key at an endpoint, which is a method and a path.
    #[must_use]
    pub fn of(caller: CallerId, method: &str, path: &str, key: &IdempotencyKey) -> Self {
        let (kind, id) = match caller {
            CallerId::Account(id) => ("account", id.0),
            CallerId::Guest(id) => ("guest", id.0),
        };
        // A method and a path contain no line break, so that different callers, endpoints and keys
        // never have the same input.
        Self(Sha256::digest(format!("{kind}\n{id}\n{method}\n{path}\n{}", key.0)).into())
    }
}

/// The digest of a request, which distinguishes requests under the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestDigest(pub [u8; 32]);

impl RequestDigest {
    /// Computes the digest of a body, byte for byte.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }
}

/// The answer to an earlier request, as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The body of the answer, byte for byte.
    pub body: String,
    /// The credits that the call cost.
    pub cost: u32,
    /// The balance after the first run of the call; a repeat does not change the balance.
    pub balance: u64,
}

/// A request's claim of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The slot that the request claims.
    pub slot: Slot,
    /// The digest of the request's body, which must equal that of the first request.
    pub request: RequestDigest,
    /// The number of the call, by which a run recognises its own claim.
    pub run: u128,
}

/// The outcome of a request's claim of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The slot was free and belongs to the caller's run.
    Yours,
    /// The same request was answered before.
    Answered(StoredAnswer),
    /// The same request holds the slot, and its answer is not stored yet.
    Running,
    /// The slot belongs to a request with another body.
    OtherRequest,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccountId, GuestId};

    #[test]
    fn each_position_of_each_key_has_a_key_of_its_own() {
        let key = |text: &str| IdempotencyKey::parse(text.as_bytes()).unwrap();
        let keys = [
            key("k").of_position(1),
            key("k").of_position(11),
            key("K").of_position(1),
            key(&"x".repeat(LONGEST_KEY)).of_position(999),
        ];
        for (index, one) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(one), "{index}");
            assert_eq!(IdempotencyKey::parse(one.0.as_bytes()).as_ref(), Ok(one));
        }
        assert_eq!(keys[0], key("k").of_position(1));
    }

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
