//! Sessions: proofs of a sign-in, with a limited life.

use chrono::TimeDelta;
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::identity::AccountId;
use crate::{Timestamp, random};

/// The time after which an unused session ends.
pub const IDLE: TimeDelta = TimeDelta::hours(24);
/// The time after which every session ends.
pub const LONGEST: TimeDelta = TimeDelta::days(30);

/// The time within which several uses are recorded once, so that a busy session does not write at
/// each call.
const TOUCH: TimeDelta = TimeDelta::seconds(60);

/// A session token: 256 random bits in base64url, a secret without `Debug`.
#[derive(Clone)]
pub struct SessionToken(Zeroizing<String>);

impl SessionToken {
    /// Reads a token: exactly 43 characters that decode to 32 bytes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Generates a random token for a new session.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self(random::secret_text(rng))
    }

    /// Returns the secret, for the one answer that contains the token.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The number of a session, for calls that name the session without its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub i64);

/// A session, as stored: with the digest of its token alone.
#[derive(Clone, Copy)]
pub struct Session {
    /// The digest of the session token.
    pub digest: Digest<SessionToken>,
    /// The account that the session belongs to.
    pub account: AccountId,
    /// The time of the sign-in that began the session.
    pub created_at: Timestamp,
    /// The time of the last use.
    pub last_used_at: Timestamp,
}

impl Session {
    /// Returns whether the session is valid.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at()
    }

    /// Returns the end of the session without another use.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        (self.last_used_at + IDLE).min(self.created_at + LONGEST)
    }

    /// Returns whether a use of the session should be recorded.
    #[must_use]
    pub fn needs_touch(&self, now: Timestamp) -> bool {
        now >= self.last_used_at + TOUCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::seeded_rng;

    #[test]
    fn a_session_ends_after_an_idle_day_or_thirty_days() {
        let start = Timestamp::UNIX_EPOCH;
        let session = |last_used_at| Session {
            digest: Digest::from_bytes([0; 32]),
            account: AccountId(1),
            created_at: start,
            last_used_at,
        };
        let instant = TimeDelta::microseconds(1);
        assert!(session(start).is_live(start + IDLE - instant));
        assert!(!session(start).is_live(start + IDLE));
        let busy = session(start + LONGEST - TimeDelta::hours(1));
        assert!(busy.is_live(start + LONGEST - instant));
        assert!(!busy.is_live(start + LONGEST));
    }

    #[test]
    fn a_token_reads_back_and_nothing_else_does() {
        let token = SessionToken::generate(&mut seeded_rng(1));
        assert!(SessionToken::parse(token.expose()).is_some());
        assert!(SessionToken::parse(&token.expose()[1..]).is_none());
        assert!(SessionToken::parse("").is_none());
    }
}
