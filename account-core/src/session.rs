//! Sessions: that someone signed in, remembered for a while.

use chrono::TimeDelta;
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::identity::AccountId;
use crate::{Timestamp, random};

/// How long a session lasts without a call.
pub const IDLE: TimeDelta = TimeDelta::hours(24);
/// How long it lasts at most.
pub const LONGEST: TimeDelta = TimeDelta::days(30);

/// Calls closer together than this are one, so that a busy session does not write all the time.
const TOUCH: TimeDelta = TimeDelta::seconds(60);

/// A session token: 256 random bits in base64url, a secret without `Debug`.
#[derive(Clone)]
pub struct SessionToken(Zeroizing<String>);

impl SessionToken {
    /// Reads a token: exactly 43 characters that decode to 32 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Draws a new token.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self(random::secret_text(rng))
    }

    /// The secret itself, for the one answer that hands it out.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The number of a session, by which its owner names the session without its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub i64);

/// A session as it is stored.
#[derive(Clone, Copy)]
pub struct Session {
    /// What it is found by.
    pub digest: Digest<SessionToken>,
    /// Who signed in.
    pub account: AccountId,
    /// When.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Timestamp,
}

impl Session {
    /// Whether it still counts.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at()
    }

    /// Returns the end of the session without another use.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        (self.last_used_at + IDLE).min(self.created_at + LONGEST)
    }

    /// Whether its use should be written down.
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
