//! Sessions: that someone signed in, remembered for a while.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use zeroize::Zeroizing;

use crate::entropy::{self, Entropy};
use crate::identity::AccountId;
use crate::key::is_random_text;
use crate::vault::Digest;
use crate::{StoreError, Timestamp};

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
        is_random_text(text).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Draws a new token.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(Zeroizing::new(URL_SAFE_NO_PAD.encode(entropy::secret_bytes(entropy))))
    }

    /// The secret itself, for the one answer that hands it out.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

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
        now < self.last_used_at + IDLE && now < self.created_at + LONGEST
    }

    /// Whether its use should be written down.
    #[must_use]
    pub fn needs_touch(&self, now: Timestamp) -> bool {
        now >= self.last_used_at + TOUCH
    }
}

/// Where sessions are kept.
pub trait SessionStore: Send + Sync {
    /// Finds a session.
    fn session(
        &self,
        digest: &Digest<SessionToken>,
    ) -> impl Future<Output = Result<Option<Session>, StoreError>> + Send;

    /// Writes down that a session was used.
    fn touch_session(
        &self,
        digest: &Digest<SessionToken>,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends a session of this account; `false` where there is none.
    fn end_session(
        &self,
        digest: &Digest<SessionToken>,
        account: AccountId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SeededEntropy;

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
        let token = SessionToken::generate(&SeededEntropy::new(1));
        assert!(SessionToken::parse(token.expose()).is_some());
        assert!(SessionToken::parse(&token.expose()[1..]).is_none());
        assert!(SessionToken::parse("").is_none());
    }
}
