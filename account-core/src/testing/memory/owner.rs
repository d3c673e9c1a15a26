//! What owners change, in memory.

use super::{Account, MemoryStore, Stored};
use crate::Timestamp;
use crate::accounts::owner::{Deletion, OwnerStore, ProfileChanges, Updated};
use crate::accounts::sign_in::ReservedTry;
use crate::credits::{CallerId, TransactionKind};
use crate::identity::{AccountId, Email};
use crate::lockout::{Counter, Counters, Reservation};
use crate::notification::Notice;
use crate::outbox::SealedMessage;
use crate::vault::Digest;

impl OwnerStore for MemoryStore {
    async fn update_profile(
        &self,
        id: AccountId,
        changes: ProfileChanges,
        now: Timestamp,
    ) -> Stored<Updated> {
        let mut state = self.lock();
        let account = state.accounts.get(&id).filter(|account| account.verified_at.is_some());
        let Some(email) = account.map(|account| account.email.clone()) else {
            return Ok(Updated::NotFound);
        };
        if let Some(username) = &changes.username {
            if state.name_taken(username, &email, Some(id), now) {
                return Ok(Updated::UsernameTaken);
            }
            state.discard_forms(username, &email);
        }
        let account = state.accounts.get_mut(&id).expect("it was found");
        if let Some(username) = changes.username {
            account.username = username;
        }
        let contact = &mut account.contact;
        for (detail, change) in [
            (&mut contact.phone, changes.phone),
            (&mut contact.country, changes.country),
            (&mut contact.country_code, changes.country_code),
        ] {
            if let Some(change) = change {
                *detail = change;
            }
        }
        Ok(Updated::Done)
    }

    async fn set_mfa(&self, id: AccountId, enabled: bool, notice: SealedMessage) -> Stored<bool> {
        let mut state = self.lock();
        let account = state.accounts.get_mut(&id).filter(|account| account.verified_at.is_some());
        let Some(account) = account.filter(|account| account.mfa_enabled != enabled) else {
            return Ok(false);
        };
        account.mfa_enabled = enabled;
        if !enabled {
            state.end_half_done_logins(id);
        }
        let change = if enabled { Notice::MfaEnabled } else { Notice::MfaDisabled };
        state.notify(id, &change, notice.created_at);
        state.send(notice);
        Ok(true)
    }

    async fn reserve_confirmation(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        now: Timestamp,
    ) -> Stored<ReservedTry> {
        let counters = Counters::only(Counter::Confirmations);
        Ok(self.lock().reserve(email, recipient, counters, now))
    }

    async fn conclude_confirmation(
        &self,
        recipient: Digest<Email>,
        reservation: Reservation,
        right: bool,
        now: Timestamp,
    ) -> Stored<()> {
        // A lock here shuts out nobody but who is signed in and sees it.
        let _ = self.lock().conclude(recipient, &reservation, right, now);
        Ok(())
    }

    async fn delete_account(&self, deletion: Deletion) -> Stored<bool> {
        let mut state = self.lock();
        let Deletion { account: id, recipient, only_without_password, notice, at } = deletion;
        let account = state.accounts.get(&id).filter(|account| account.verified_at.is_some());
        let spared = |account: &&Account| only_without_password && account.password_hash.is_some();
        let Some(account) = account.filter(|account| !spared(account)) else { return Ok(false) };
        let left = account.balance as i64;
        state.book(id, TransactionKind::Adjustment, -left, at);
        state.forget_callers(|caller| caller == CallerId::Account(id), u32::MAX);
        state.lockouts.retain(|(whose, _), _| *whose != recipient);
        state.known.retain(|(whose, _), _| *whose != recipient);
        state.challenges.retain(|tried| tried.challenge.recipient != recipient);
        state.discard(&[id]);
        state.send(notice);
        Ok(true)
    }
}
