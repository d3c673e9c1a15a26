//! Sign-ins by an identity provider, incomplete profiles and hand-off codes.

use super::{Account, Key, MemoryStore, State, Stored};
use crate::Timestamp;
use crate::credits::TransactionKind;
use crate::digest::Digest;
use crate::hand_off::Destination;
use crate::id_token::ProvenIdentity;
use crate::identity::{AccountId, Contact};
use crate::notification::Notice;
use crate::store::{
    AccountRow, CompletionRow, Creation, ExternalIdentityStore, IdpAccount, KeyStatus,
    KnownIdentity, LoginMethod, OpenedSession, StartRow, TryStatus,
};
use crate::token::{BrowserToken, CompletionToken, HandOffCode, StateToken};

impl State {
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
        since: Timestamp,
    ) -> Stored<Option<Destination>> {
        let started = &mut self.lock().identities.started;
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
        since: Timestamp,
        account: AccountRow,
        contact: Contact,
        opened: OpenedSession,
    ) -> Stored<Option<Creation>> {
        let mut state = self.lock();
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
        if state.name_taken(&account.username, &account.email, None, account.created_at) {
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
        let OpenedSession { session, known, client, method } = opened;
        state.begin_session(session, &known, &client, method);
        Ok(Some(Creation::Done))
    }

    async fn save_hand_off(
        &self,
        digest: Digest<HandOffCode>,
        account: AccountId,
        method: LoginMethod,
        now: Timestamp,
    ) -> Stored<()> {
        self.lock().identities.codes.push((digest, account, method, now));
        Ok(())
    }

    async fn take_hand_off(
        &self,
        digest: Digest<HandOffCode>,
        since: Timestamp,
        now: Timestamp,
    ) -> Stored<Option<(IdpAccount, LoginMethod)>> {
        let mut state = self.lock();
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
        let OpenedSession { session, known, client, method } = opened;
        let key = state.current_key(session.account);
        if key.is_none_or(|key| key.status != KeyStatus::Active) {
            let (account, at) = (Some(session.account), session.created_at);
            state.remember(account, &client, method, TryStatus::Failed, at);
            return Ok(false);
        }
        state.begin_session(session, &known, &client, method);
        Ok(true)
    }
}
