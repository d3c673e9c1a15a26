//! Accounts: registration, profile, password, suspension, deletion, subscriptions.

use super::{Account, Key, LedgerRow, MemoryStore, State, Stored};
use crate::Timestamp;
use crate::code::{Challenge, Purpose};
use crate::credits::TransactionKind;
use crate::identity::{AccountId, CallerId, Contact, Email, Username};
use crate::notification::Notice;
use crate::operation::Operation;
use crate::outbox::SealedMessage;
use crate::password::PasswordHash;
use crate::revocation::SecurityEvent;
use crate::spend_cap::SpendCap;
use crate::store::{
    AccountRow, AccountStore, Change, ConfirmedForm, Creation, Deletion, DeletionProof, KeyStatus,
    MfaChange, MfaChanged, NewRegistration, PasswordChange, PasswordProof, PendingRegistration,
    Profile, ProfileChanges, Registered, Subscription, Updated,
};
use crate::tier::Tier;

impl Account {
    fn has_password(&self, hash: &PasswordHash) -> bool {
        self.password_hash.as_ref().is_some_and(|present| present.0 == hash.0)
    }
}

impl State {
    /// Returns whether a form holds its name because its latest code has not expired, also a code
    /// of a clock that is ahead.
    pub(super) fn holds_name(&self, account: AccountId, now: Timestamp) -> bool {
        self.challenges.iter().any(|tried| {
            tried.challenge.account == Some(account)
                && !tried.used
                && !Challenge::has_expired(tried.challenge.created_at, now)
        })
    }

    /// Returns whether the user name is taken for this address. Expired forms of other addresses do not
    /// reserve a name.
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

    /// Removes the unverified forms with this address or this user name.
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

    /// Removes accounts and all rows that belong to them.
    pub(super) fn discard(&mut self, gone: &[AccountId]) {
        self.accounts.retain(|id, _| !gone.contains(id));
        self.challenges
            .retain(|tried| tried.challenge.account.is_none_or(|account| !gone.contains(&account)));
        self.keys.retain(|key| !gone.contains(&key.account));
        self.sessions.retain(|listed| !gone.contains(&listed.session.account));
        self.history.retain(|(whose, _)| whose.is_none_or(|account| !gone.contains(&account)));
        self.subscriptions.retain(|(whose, _)| !gone.contains(whose));
        self.results.retain(|_, kept| !gone.contains(&kept.owner));
        self.oauth.end_of(gone);
        self.notifications.discard(gone);
        self.identities.discard(gone);
        self.email_undos.retain(|row| !gone.contains(&row.account));
    }
}

impl State {
    /// Returns the credits of the last grant.
    pub(super) fn last_grant(&self, account: AccountId) -> u64 {
        let is_grant = |row: &&LedgerRow| {
            let kinds = [TransactionKind::SignupGrant, TransactionKind::AdminGrant];
            row.account == account && kinds.contains(&row.transaction.kind)
        };
        self.ledger.iter().rev().find(is_grant).map_or(0, |row| row.transaction.credits as u64)
    }
}

impl AccountStore for MemoryStore {
    async fn next_account_id(&self) -> Stored<AccountId> {
        let mut state = self.lock();
        state.last_account += 1;
        Ok(AccountId(state.last_account))
    }

    async fn register(&self, form: NewRegistration) -> Stored<Registered> {
        let (mut state, now) = self.lock_and_time();
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
                spend_cap_per_day: None,
                cap_notices: SpendCap::default(),
                is_admin: false,
                mfa_enabled: false,
                created_at: form.created_at,
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
        let (mut state, now) = self.lock_and_time();
        if state.use_up(form.challenge, now).is_none() {
            return Ok(false);
        }
        let now = form.at;
        let id = form.account;
        let Some(account) = state.accounts.get_mut(&id) else { return Ok(false) };
        account.verified_at = Some(now);
        state.book(id, TransactionKind::SignupGrant, form.credits as i64, now);
        state.notify(id, &Notice::Welcome, now);
        state.insert_session(form.session, &form.origin);
        state.know(&form.client);
        let status = KeyStatus::Active;
        state.keys.push(Key { account: id, key: form.key, status, created_at: now });
        Ok(true)
    }

    async fn create_account(&self, row: AccountRow) -> Stored<Creation> {
        let (mut state, now) = self.lock_and_time();
        if state.verified(&row.email).is_some() {
            return Ok(Creation::EmailTaken);
        }
        if state.name_taken(&row.username, &row.email, None, now) {
            return Ok(Creation::UsernameTaken);
        }
        state.discard_forms(&row.username, &row.email);
        state.accounts.insert(
            row.id,
            Account {
                username: row.username,
                email: row.email,
                password_hash: row.password_hash,
                contact: Contact::default(),
                tier: row.tier,
                hourly_limit: row.hourly_limit,
                balance: 0,
                spend_cap_per_day: None,
                cap_notices: SpendCap::default(),
                is_admin: row.is_admin,
                mfa_enabled: false,
                created_at: row.created_at,
                verified_at: Some(row.created_at),
                last_login_at: None,
            },
        );
        let kind = if row.granted_by_admin {
            TransactionKind::AdminGrant
        } else {
            TransactionKind::SignupGrant
        };
        state.book(row.id, kind, row.credits as i64, row.created_at);
        let (status, created_at) = (KeyStatus::Active, row.created_at);
        state.keys.push(Key { account: row.id, key: row.key, status, created_at });
        Ok(Creation::Done)
    }

    async fn profile(&self, id: AccountId) -> Stored<Option<Profile>> {
        Ok(self.lock().profile(id))
    }

    async fn change_account(
        &self,
        email: &Email,
        change: Change,
        operation: Option<Operation>,
    ) -> Stored<bool> {
        let mut state = self.lock();
        let Some(id) = state.verified(email) else { return Ok(false) };
        let account = state.accounts.get_mut(&id).expect("it was found by its address");
        match change {
            Change::Tier(tier) => account.tier = tier,
            Change::HourlyLimit(limit) => account.hourly_limit = limit,
            Change::Admin(is_admin) => account.is_admin = is_admin,
            Change::Unlock(recipient) => state.lockouts.retain(|(whose, _), _| *whose != recipient),
            Change::Suspend | Change::Activate => {
                let status = if change == Change::Suspend {
                    state.end_credentials(id, SecurityEvent::Suspended, None);
                    KeyStatus::Suspended
                } else {
                    KeyStatus::Active
                };
                let keys = state.keys.iter_mut().filter(|key| key.account == id);
                for key in keys.filter(|key| key.status != KeyStatus::Revoked) {
                    key.status = status;
                }
            }
        }
        state.record(id, operation);
        Ok(true)
    }

    async fn update_profile(&self, id: AccountId, changes: ProfileChanges) -> Stored<Updated> {
        let (mut state, now) = self.lock_and_time();
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
        if let Some(per_day) = changes.spend_cap_per_day {
            account.spend_cap_per_day = per_day;
        }
        Ok(Updated::Done)
    }

    async fn set_mfa(
        &self,
        id: AccountId,
        change: MfaChange,
        notice: SealedMessage,
    ) -> Stored<MfaChanged> {
        let mut state = self.lock();
        let enabled = change.is_enabled();
        let account = state.accounts.get_mut(&id).filter(|account| account.verified_at.is_some());
        let Some(account) = account.filter(|account| account.mfa_enabled != enabled) else {
            return Ok(MfaChanged::Unchanged);
        };
        if let MfaChange::Disable(hash) = &change
            && !account.has_password(hash)
        {
            return Ok(MfaChanged::OtherPassword);
        }
        account.mfa_enabled = enabled;
        state.end_credentials(id, SecurityEvent::MfaChanged, None);
        let switched = if enabled { Notice::MfaEnabled } else { Notice::MfaDisabled };
        state.notify(id, &switched, notice.created_at);
        state.send(notice);
        Ok(MfaChanged::Done)
    }

    async fn delete_account(&self, deletion: Deletion) -> Stored<bool> {
        let mut state = self.lock();
        let Deletion { account: id, recipient, proof, notice, at } = deletion;
        let account = state.accounts.get(&id).filter(|account| account.verified_at.is_some());
        let is_proven = |account: &&Account| match &proof {
            DeletionProof::Password(hash) => account.has_password(hash),
            DeletionProof::NoPassword => account.password_hash.is_none(),
            DeletionProof::Operator(_) => true,
        };
        let Some(account) = account.filter(is_proven) else { return Ok(false) };
        let left = account.balance as i64;
        state.book(id, TransactionKind::Adjustment, -left, at);
        state.forget_callers(|caller| caller == CallerId::Account(id), u32::MAX);
        state.lockouts.retain(|(whose, _), _| *whose != recipient);
        state.known.retain(|(whose, _), _| *whose != recipient);
        state.challenges.retain(|tried| tried.challenge.recipient != recipient);
        state.end_credentials(id, SecurityEvent::Deleted, None);
        state.discard(&[id]);
        if let DeletionProof::Operator(operation) = proof {
            state.record(id, Some(operation));
        }
        state.send(notice);
        Ok(true)
    }

    async fn account_of(&self, email: &Email) -> Stored<Option<AccountId>> {
        Ok(self.lock().verified(email))
    }

    async fn replace_password(&self, change: PasswordChange) -> Stored<bool> {
        let (mut state, now) = self.lock_and_time();
        let (id, event) = (change.account, change.event());
        let account = state.accounts.get(&id).filter(|account| account.email == change.email);
        let Some(account) = account else { return Ok(false) };
        let proven = match &change.proof {
            PasswordProof::Current(hash) => account.has_password(hash),
            PasswordProof::Code(challenge) => state.use_up(*challenge, now).is_some(),
        };
        if !proven {
            return Ok(false);
        }
        state.rehash(Some(id), Some(change.password_hash));
        state.end_credentials(id, event, None);
        state.lockouts.retain(|(recipient, _), _| *recipient != change.known.recipient);
        state.know(&change.known);
        state.notify(id, &Notice::PasswordChanged, change.at);
        state.send(change.notice);
        Ok(true)
    }

    async fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> Stored<Option<Subscription>> {
        let mut state = self.lock();
        let has = |(whose, subscription): &(AccountId, Subscription)| {
            *whose == account && subscription.database_name == database_name
        };
        if state.subscriptions.iter().any(has) {
            return Ok(None);
        }
        state.last_subscription += 1;
        let subscription = Subscription {
            id: state.last_subscription,
            database_name: database_name.to_owned(),
            is_active: true,
            subscribed_at: now,
        };
        state.subscriptions.push((account, subscription.clone()));
        Ok(Some(subscription))
    }

    async fn unsubscribe(&self, account: AccountId, database_name: &str) -> Stored<bool> {
        let subscriptions = &mut self.lock().subscriptions;
        let before = subscriptions.len();
        subscriptions.retain(|(whose, subscription)| {
            *whose != account || subscription.database_name != database_name
        });
        Ok(subscriptions.len() < before)
    }

    async fn subscriptions(&self, account: AccountId) -> Stored<Vec<Subscription>> {
        let state = self.lock();
        let own = state.subscriptions.iter().filter(|(whose, _)| *whose == account);
        Ok(own.map(|(_, subscription)| subscription.clone()).collect())
    }
}
