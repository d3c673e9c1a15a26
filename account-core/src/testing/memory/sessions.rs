//! Sessions in memory.

use super::{MemoryStore, Stored};
use crate::Timestamp;
use crate::identity::AccountId;
use crate::session::{Session, SessionStore, SessionToken};
use crate::vault::Digest;

impl SessionStore for MemoryStore {
    async fn session(&self, digest: &Digest<SessionToken>) -> Stored<Option<Session>> {
        Ok(self.lock().sessions.iter().find(|session| session.digest == *digest).copied())
    }

    async fn touch_session(&self, digest: &Digest<SessionToken>, now: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        for session in state.sessions.iter_mut().filter(|session| session.digest == *digest) {
            session.last_used_at = now;
        }
        Ok(())
    }

    async fn end_session(&self, digest: &Digest<SessionToken>, account: AccountId) -> Stored<bool> {
        let mut state = self.lock();
        let before = state.sessions.len();
        state.sessions.retain(|session| session.digest != *digest || session.account != account);
        Ok(state.sessions.len() < before)
    }
}
