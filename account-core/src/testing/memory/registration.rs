//! Registrations in memory.

use super::{Account, Key, MemoryStore, State, Stored};
use crate::Timestamp;
use crate::accounts::registration::{
    ConfirmedForm, NewRegistration, PendingRegistration, Registered,
};
use crate::accounts::{KeyStatus, RegistrationStore};
use crate::code::{Challenge, Purpose};
use crate::credits::TransactionKind;
use crate::identity::{AccountId, Email, Username};
use crate::notification::Notice;
use crate::tier::Tier;

impl State {
    /// Whether a form's latest code is still good, so that the form holds its name.
    pub(super) fn holds_name(&self, account: AccountId, now: Timestamp) -> bool {
        self.challenges.iter().any(|tried| {
            tried.challenge.account == Some(account)
                && !tried.used
                && Challenge::is_live(tried.challenge.created_at, now)
        })
    }

    /// Whether the name is taken for this address; expired forms of others lose it.
    pub(super) fn name_taken(
        &mut self,
        username: &Username,
        email: &Email,
        but: Option<AccountId>,
        now: Timestamp,
    ) -> bool {
        let holder =
            self.accounts.iter().find(|(_, account)| account.username.key() == username.key());
        let Some((id, account)) = holder.filter(|(id, _)| Some(**id) != but) else {
            return false;
        };
        if account.verified_at.is_some() {
            return true;
        }
        account.email != *email && self.holds_name(*id, now)
    }

    /// Removes the unverified forms of an address and with a name.
    pub(super) fn discard_forms(&mut self, username: &Username, email: &Email) {
        let gone: Vec<AccountId> = self
            .accounts
            .iter()
            .filter(|(_, account)| account.verified_at.is_none())
            .filter(|(_, account)| {
                account.email == *email || account.username.key() == username.key()
            })
            .map(|(id, _)| *id)
            .collect();
        self.discard(&gone);
    }

    /// Removes accounts and what goes with them.
    pub(super) fn discard(&mut self, gone: &[AccountId]) {
        self.accounts.retain(|id, _| !gone.contains(id));
        self.challenges
            .retain(|tried| tried.challenge.account.is_none_or(|account| !gone.contains(&account)));
        self.keys.retain(|key| !gone.contains(&key.account));
        self.sessions.retain(|session| !gone.contains(&session.account));
        self.history.retain(|(whose, _)| whose.is_none_or(|account| !gone.contains(&account)));
        self.subscriptions.retain(|(whose, _)| !gone.contains(whose));
        self.results.retain(|_, kept| !gone.contains(&kept.owner));
        self.oauth.end_of(gone);
        self.notifications.discard(gone);
        self.identities.discard(gone);
    }
}

impl RegistrationStore for MemoryStore {
    async fn next_account_id(&self) -> Stored<AccountId> {
        let mut state = self.lock();
        state.last_account += 1;
        Ok(AccountId(state.last_account))
    }

    async fn register(&self, form: NewRegistration) -> Stored<Registered> {
        let mut state = self.lock();
        let now = form.created_at;
        if state.name_taken(&form.username, &form.email, None, now) {
            return Ok(Registered::UsernameTaken);
        }
        let recipient = form.challenge.recipient;
        if !state.quota(&recipient, Purpose::Registration, now).allows(now) {
            return Ok(Registered::Quiet);
        }
        if state.verified(&form.email).is_some() {
            state.replace_challenge(Challenge { account: None, ..form.challenge });
            state.send(form.message_if_known);
            return Ok(Registered::Known);
        }
        state.discard_forms(&form.username, &form.email);
        state.accounts.insert(
            form.id,
            Account {
                username: form.username,
                email: form.email,
                password_hash: Some(form.password_hash),
                contact: form.contact,
                tier: Tier::Free,
                hourly_limit: None,
                balance: 0,
                is_admin: false,
                mfa_enabled: false,
                created_at: now,
                verified_at: None,
                last_login_at: None,
            },
        );
        state.replace_challenge(form.challenge);
        state.send(form.message);
        Ok(Registered::Saved)
    }

    async fn pending_registration(&self, email: &Email) -> Stored<Option<PendingRegistration>> {
        let state = self.lock();
        let form = state.by_email(email).filter(|(_, account)| account.verified_at.is_none());
        Ok(form.map(|(account, form)| PendingRegistration {
            account,
            username: form.username.clone(),
        }))
    }

    async fn confirm_registration(&self, form: ConfirmedForm) -> Stored<bool> {
        let mut state = self.lock();
        let now = form.at;
        if state.use_up(form.challenge, now).is_none() {
            return Ok(false);
        }
        let id = form.account;
        let Some(account) = state.accounts.get_mut(&id) else { return Ok(false) };
        account.verified_at = Some(now);
        state.book(id, TransactionKind::SignupGrant, form.credits as i64, now);
        state.notify(id, &Notice::Welcome, now);
        state.sessions.push(form.session);
        state.know(&form.client);
        let status = KeyStatus::Active;
        state.keys.push(Key { account: id, key: form.key, status, created_at: now });
        Ok(true)
    }
}
