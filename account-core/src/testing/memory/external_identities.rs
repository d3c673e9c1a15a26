//! Sign-ins by an identity provider, incomplete profiles and hand-off codes.

use super::{Account, Key, MemoryStore, State, Stored};
use crate::Timestamp;
use crate::credits::TransactionKind;
use crate::digest::Digest;
use crate::hand_off::{self, Destination};
use crate::id_token::{COMPLETION_VALIDITY, ProvenIdentity, START_VALIDITY};
use crate::identity::{AccountId, Contact};
use crate::key::KeyId;
use crate::notification::Notice;
use crate::spend_cap::SpendCap;
use crate::store::{
    AccountRow, CompletionRow, Creation, ExternalIdentityStore, IdpAccount, KeyStatus,
    KnownIdentity, LoginMethod, NewHandOff, OpenedSession, StartRow, TryStatus,
};
use crate::token::{BrowserToken, CompletionToken, HandOffCode, StateToken};

impl State {
    /// Returns whether the key is the account's active key.
    fn is_active(&self, account: AccountId, key: KeyId) -> bool {
        let current = self.current_key(account);
        current.is_some_and(|known| known.status == KeyStatus::Active && known.key.id == key)
    }

    fn idp_account(&self, account: AccountId) -> Option<IdpAccount> {
        let row = self.accounts.get(&account).filter(|row| row.verified_at.is_some())?;
        let key = self.current_key(account);
        Some(IdpAccount {
            account,
            email: row.email.clone(),
            is_suspended: key.is_some_and(|key| key.status == KeyStatus::Suspended),
            key: key.map(Key::sealed),
        })
    }
}

impl ExternalIdentityStore for MemoryStore {
    async fn start_idp(&self, row: StartRow) -> Stored<()> {
        self.lock().identities.started.push(row);
        Ok(())
    }

    async fn finish_idp(
        &self,
        state: Digest<StateToken>,
        browser: Digest<BrowserToken>,
    ) -> Stored<Option<Destination>> {
        let (mut locked, now) = self.lock_and_time();
        let since = now - START_VALIDITY;
        let started = &mut locked.identities.started;
        let found = started
            .iter()
            .position(|row| row.state == state && row.browser == browser && row.at > since);
        Ok(found.map(|place| started.swap_remove(place).destination))
    }

    async fn known_identity(
        &self,
        identity: &ProvenIdentity,
        now: Timestamp,
    ) -> Stored<KnownIdentity> {
        let mut state = self.lock();
        let linked = state.identities.account(identity);
        let by_email = identity.email.as_ref().and_then(|email| state.verified(email));
        if let (None, Some(account)) = (linked, by_email) {
            state.identities.link(identity, account);
            state.notify(account, &Notice::ProviderLinked, now);
        }
        let account = linked.or(by_email).and_then(|account| state.idp_account(account));
        Ok(account.map_or(KnownIdentity::New, KnownIdentity::Account))
    }

    async fn save_completion(
        &self,
        digest: Digest<CompletionToken>,
        row: CompletionRow,
    ) -> Stored<()> {
        self.lock().identities.waiting.push((digest, row));
        Ok(())
    }

    async fn completion(
        &self,
        digest: Digest<CompletionToken>,
        since: Timestamp,
    ) -> Stored<Option<CompletionRow>> {
        let state = self.lock();
        let mut waiting = state.identities.waiting.iter();
        let found = waiting.find(|(known, row)| *known == digest && row.at > since);
        Ok(found.map(|(_, row)| row.clone()))
    }

    async fn complete(
        &self,
        digest: Digest<CompletionToken>,
        account: AccountRow,
        contact: Contact,
        opened: OpenedSession,
    ) -> Stored<Option<Creation>> {
        let (mut state, now) = self.lock_and_time();
        let since = now - COMPLETION_VALIDITY;
        let mut waiting = state.identities.waiting.iter();
        let found = waiting.position(|(known, row)| *known == digest && row.at > since);
        let Some(place) = found else { return Ok(None) };
        let identity = state.identities.waiting[place].1.identity.clone();
        if state.identities.account(&identity).is_some() {
            return Ok(None);
        }
        if state.verified(&account.email).is_some() {
            return Ok(Some(Creation::EmailTaken));
        }
        if state.name_taken(&account.username, &account.email, None, now) {
            return Ok(Some(Creation::UsernameTaken));
        }
        state.identities.waiting.swap_remove(place);
        state.discard_forms(&account.username, &account.email);
        let (id, at) = (account.id, account.created_at);
        let row = Account {
            username: account.username,
            email: account.email,
            password_hash: None,
            contact,
            tier: account.tier,
            hourly_limit: account.hourly_limit,
            balance: 0,
            spend_cap_per_day: None,
            cap_notices: SpendCap::default(),
            is_admin: account.is_admin,
            mfa_enabled: false,
            created_at: at,
            verified_at: Some(at),
            last_login_at: None,
        };
        state.accounts.insert(id, row);
        state.book(id, TransactionKind::SignupGrant, account.credits as i64, at);
        state.notify(id, &Notice::Welcome, at);
        let status = KeyStatus::Active;
        state.keys.push(Key { account: id, key: account.key, status, created_at: at });
        state.identities.link(&identity, id);
        let OpenedSession { session, known, client, method, .. } = opened;
        state.begin_session(session, &known, &client, method);
        Ok(Some(Creation::Done))
    }

    async fn save_hand_off(&self, code: NewHandOff) -> Stored<bool> {
        let mut state = self.lock();
        let is_active = state.is_active(code.account, code.key);
        if is_active {
            let NewHandOff { digest, account, method, created_at, .. } = code;
            state.identities.codes.push((digest, account, method, created_at));
        }
        Ok(is_active)
    }

    async fn take_hand_off(
        &self,
        digest: Digest<HandOffCode>,
    ) -> Stored<Option<(IdpAccount, LoginMethod)>> {
        let (mut state, now) = self.lock_and_time();
        let since = now - hand_off::VALIDITY;
        let codes = &mut state.identities.codes;
        let found = codes
            .iter()
            .position(|(known, _, _, at)| *known == digest && *at > since && *at <= now);
        let Some(place) = found else { return Ok(None) };
        let (_, account, method, _) = codes.swap_remove(place);
        Ok(state.idp_account(account).map(|known| (known, method)))
    }

    async fn open_session(&self, opened: OpenedSession) -> Stored<bool> {
        let mut state = self.lock();
        let OpenedSession { session, key, known, client, method } = opened;
        if !state.is_active(session.account, key) {
            let (account, at) = (Some(session.account), session.created_at);
            state.remember(account, &client, method, TryStatus::Failed, at);
            return Ok(false);
        }
        state.begin_session(session, &known, &client, method);
        Ok(true)
    }
}
