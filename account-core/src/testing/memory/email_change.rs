//! Changes of an account's e-mail address.

use super::tables::UndoRow;
use super::{Key, MemoryStore, State, Stored};
use crate::Timestamp;
use crate::accounts::email_change::UNDO_VALIDITY;
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::notification::Notice;
use crate::revocation::SecurityEvent;
use crate::store::{
    EmailChange, EmailChangeRequest, EmailChangeStore, EmailChanged, EmailUndo, KeyStatus,
    UndoneEmailChange,
};
use crate::token::EmailUndoToken;

impl State {
    /// Returns whether an address is free, after unverified registrations of the address are removed.
    fn claims(&mut self, email: &Email) -> bool {
        let holder = self.by_email(email).map(|(id, account)| (id, account.verified_at.is_some()));
        match holder {
            Some((_, true)) => false,
            Some((form, false)) => {
                self.discard(&[form]);
                true
            }
            None => true,
        }
    }

    /// Replaces an address, and removes the codes, locks and known clients of the former addresses.
    fn move_account(&mut self, account: AccountId, to: &Email, left: &[Digest<Email>]) {
        self.challenges.retain(|tried| tried.challenge.account != Some(account));
        self.lockouts.retain(|(recipient, _), _| !left.contains(recipient));
        self.known.retain(|(recipient, _), _| !left.contains(recipient));
        let account = self.accounts.get_mut(&account).expect("it was found");
        account.email = to.clone();
    }

    fn has_email(&self, account: AccountId, email: &Email) -> bool {
        self.accounts
            .get(&account)
            .is_some_and(|account| account.verified_at.is_some() && account.email == *email)
    }

    fn undo_row(
        &self,
        undo: Digest<EmailUndoToken>,
        since: Timestamp,
        now: Timestamp,
    ) -> Option<usize> {
        let is_it = |row: &UndoRow| row.digest == undo && row.at > since && row.at <= now;
        self.email_undos.iter().position(is_it)
    }
}

impl EmailChangeStore for MemoryStore {
    async fn request_email_change(&self, request: EmailChangeRequest) -> Stored<()> {
        let (mut state, now) = self.lock_and_time();
        let account = state.accounts.get(&request.account);
        let is_verified = account.is_some_and(|account| account.verified_at.is_some());
        let allowed = [&request.code, &request.notice].iter().all(|message| {
            message
                .purpose
                .is_none_or(|purpose| state.quota(&message.recipient, purpose, now).allows(now))
        });
        if is_verified && allowed {
            state.replace_challenge(request.challenge);
            state.send(request.code);
            state.send(request.notice);
        }
        Ok(())
    }

    async fn change_email(&self, change: EmailChange) -> Stored<EmailChanged> {
        let (mut state, now) = self.lock_and_time();
        let EmailChange { account, from, to, at, .. } = change;
        if !state.has_email(account, &from) || !state.is_unused(change.challenge, now) {
            return Ok(EmailChanged::Outdated);
        }
        if !state.claims(&to) {
            return Ok(EmailChanged::EmailTaken);
        }
        state.move_account(account, &to, &[change.from_recipient]);
        state.end_credentials(account, SecurityEvent::EmailChanged, change.kept.as_ref());
        state.know(&change.known);
        state.email_undos.push(UndoRow { digest: change.undo, account, email: from, at });
        state.notify(account, &Notice::EmailChanged, at);
        state.send(change.notice);
        Ok(EmailChanged::Done)
    }

    async fn email_undo(
        &self,
        undo: Digest<EmailUndoToken>,
        since: Timestamp,
        now: Timestamp,
    ) -> Stored<Option<EmailUndo>> {
        let state = self.lock();
        let row = state.undo_row(undo, since, now).map(|place| &state.email_undos[place]);
        Ok(row.map(|row| EmailUndo {
            account: row.account,
            email: row.email.clone(),
            present: state.accounts[&row.account].email.clone(),
        }))
    }

    async fn undo_email_change(&self, undone: UndoneEmailChange) -> Stored<EmailChanged> {
        let (mut state, now) = self.lock_and_time();
        let UndoneEmailChange { account, email, present, at, .. } = undone;
        let place = state.undo_row(undone.undo, now - UNDO_VALIDITY, now);
        let Some(place) = place.filter(|_| state.has_email(account, &present)) else {
            return Ok(EmailChanged::Outdated);
        };
        if present != email && !state.claims(&email) {
            return Ok(EmailChanged::EmailTaken);
        }
        let later = state.email_undos.split_off(place);
        state.email_undos.extend(later.into_iter().filter(|row| row.account != account));
        state.move_account(account, &email, &[undone.recipient, undone.present_recipient]);
        state.rehash(Some(account), Some(undone.password_hash));
        let is_active = |key: &&mut Key| key.account == account && key.status == KeyStatus::Active;
        if let Some(key) = state.keys.iter_mut().find(is_active) {
            key.status = KeyStatus::Revoked;
            key.key.sealed.bytes.clear();
            let (key, status) = (undone.key, KeyStatus::Active);
            state.keys.push(Key { account, key, status, created_at: at });
        }
        state.end_credentials(account, SecurityEvent::EmailRestored, None);
        state.notify(account, &Notice::EmailRestored, at);
        for notice in undone.notices {
            state.send(notice);
        }
        Ok(EmailChanged::Done)
    }
}
