//! Forgotten passwords in memory.

use super::{MemoryStore, Stored};
use crate::accounts::recovery::{RecoveryStore, Reset};
use crate::identity::{AccountId, Email};
use crate::notification::Notice;

impl RecoveryStore for MemoryStore {
    async fn account_of(&self, email: &Email) -> Stored<Option<AccountId>> {
        Ok(self.lock().verified(email))
    }

    async fn reset_password(&self, reset: Reset) -> Stored<bool> {
        let mut state = self.lock();
        if state.use_up(reset.challenge, reset.at).is_none() {
            return Ok(false);
        }
        state.rehash(Some(reset.account), Some(reset.password_hash));
        state.sessions.retain(|session| session.account != reset.account);
        state.oauth.end_of(&[reset.account]);
        state.identities.end_hand_offs(reset.account);
        state.end_half_done_logins(reset.account);
        state.lockouts.retain(|(recipient, _), _| *recipient != reset.known.recipient);
        state.know(&reset.known);
        state.notify(reset.account, &Notice::PasswordChanged, reset.at);
        state.send(reset.notice);
        Ok(true)
    }
}
