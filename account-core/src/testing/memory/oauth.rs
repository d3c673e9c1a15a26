//! Clients, codes, tokens and grants of the OAuth server.

use super::tables::GrantRow;
use super::{MemoryStore, State, Stored};
use crate::Timestamp;
use crate::digest::Digest;
use crate::identity::AccountId;
use crate::key::AccountCaller;
use crate::oauth::grant::{
    Bearer, CodeVerdict, Grant, GrantId, IssuedCode, Redemption, RefreshVerdict, Rotation,
    StoredAccess, StoredRefresh,
};
use crate::oauth::token::{AccessToken, RefreshToken};
use crate::oauth::{ClientId, RegisteredClient};
use crate::session::SessionToken;
use crate::store::{KeyStatus, OauthStore};

impl OauthStore for MemoryStore {
    async fn save_client(&self, client: RegisteredClient) -> Stored<()> {
        let mut state = self.lock();
        let clients = &mut state.oauth.clients;
        match clients.iter_mut().find(|(known, _)| known.id == client.id) {
            Some((known, _)) => {
                *known = RegisteredClient { created_at: known.created_at, ..client };
            }
            None => clients.push((client, None)),
        }
        Ok(())
    }

    async fn client(&self, id: &ClientId) -> Stored<Option<RegisteredClient>> {
        let state = self.lock();
        Ok(state.oauth.clients.iter().find(|(client, _)| client.id == *id).map(|(c, _)| c.clone()))
    }

    async fn save_code(&self, code: IssuedCode, session: &Digest<SessionToken>) -> Stored<bool> {
        let (mut state, now) = self.lock_and_time();
        let live = state.sessions.iter_mut().find(|known| {
            known.session.digest == *session
                && known.session.account == code.account
                && known.session.is_live(now)
        });
        let Some(live) = live else { return Ok(false) };
        live.session.last_used_at = live.session.last_used_at.max(now);
        state.oauth.touch(&code.authorization.client, now);
        state.oauth.codes.push(code);
        Ok(true)
    }

    async fn redeem_code(&self, redemption: Redemption) -> Stored<bool> {
        let (mut state, now) = self.lock_and_time();
        let oauth = &mut state.oauth;
        let found = oauth.codes.iter_mut().find(|code| code.digest == redemption.code);
        let Some(code) = found else { return Ok(false) };
        match code.judge(&redemption, now) {
            CodeVerdict::Redeem => {
                code.grant = Some(redemption.grant);
                let account = code.account;
                oauth.begin(account, redemption, now);
                Ok(true)
            }
            CodeVerdict::Replay(grant) => {
                oauth.end_grants(|known| known.id == grant);
                Ok(false)
            }
            CodeVerdict::Refuse => Ok(false),
        }
    }

    async fn rotate(&self, rotation: Rotation) -> Stored<RefreshVerdict> {
        let (mut state, now) = self.lock_and_time();
        let oauth = &mut state.oauth;
        let found = oauth.refreshes.iter().position(|token| token.digest == rotation.token);
        let Some(index) = found else { return Ok(RefreshVerdict::Refuse) };
        let token = &oauth.refreshes[index];
        let id = token.grant;
        let grant = oauth.grant(id);
        let stored = StoredRefresh {
            client: grant.client.clone(),
            resource: grant.resource.clone(),
            begun_at: grant.created_at,
            created_at: token.created_at,
            expires_at: token.expires_at,
            used_at: token.used_at,
        };
        let verdict = stored.judge(&rotation, now);
        match verdict {
            RefreshVerdict::Rotate => {
                oauth.refreshes[index].used_at = Some(now);
                oauth.save_tokens(id, &rotation.tokens, now);
                for grant in oauth.grants.iter_mut().filter(|grant| grant.id == id) {
                    grant.last_used_at = now;
                }
                oauth.touch(&stored.client, now);
            }
            RefreshVerdict::Reuse => oauth.end_grants(|grant| grant.id == id),
            RefreshVerdict::Again(_) | RefreshVerdict::Refuse => {}
        }
        Ok(verdict)
    }

    async fn account_by_token(&self, digest: &Digest<AccessToken>) -> Stored<Option<StoredAccess>> {
        let state = self.lock();
        let token = state.oauth.accesses.iter().find(|token| token.digest == *digest);
        Ok(token.and_then(|token| {
            let grant = state.oauth.grant(token.grant);
            let caller = state.caller_of(grant.account)?;
            let bearer = Bearer { caller, expires_at: token.expires_at };
            Some(StoredAccess { bearer, resource: grant.resource.clone() })
        }))
    }

    async fn end_token(
        &self,
        access: &Digest<AccessToken>,
        refresh: &Digest<RefreshToken>,
        client: Option<&ClientId>,
    ) -> Stored<bool> {
        let mut state = self.lock();
        let oauth = &mut state.oauth;
        let of_access = oauth.accesses.iter().find(|token| token.digest == *access);
        let of_refresh = oauth.refreshes.iter().find(|token| token.digest == *refresh);
        let grant = of_access.map(|token| token.grant).or(of_refresh.map(|token| token.grant));
        let Some(grant) = grant else { return Ok(true) };
        let is_refresh = of_refresh.is_some();
        if client.is_some_and(|client| oauth.grant(grant).client != *client) {
            return Ok(false);
        }
        oauth.accesses.retain(|token| token.digest != *access);
        if is_refresh {
            oauth.end_grants(|known| known.id == grant);
        }
        Ok(true)
    }

    async fn grants(&self, account: AccountId, now: Timestamp) -> Stored<Vec<Grant>> {
        let state = self.lock();
        let lives = |grant: &&GrantRow| {
            let mut tokens = state.oauth.refreshes.iter();
            tokens.any(|token| token.grant == grant.id && now < token.expires_at)
        };
        let own = state.oauth.grants.iter().filter(|grant| grant.account == account);
        let mut grants: Vec<Grant> = own.filter(lives).map(|grant| state.shown(grant)).collect();
        grants.sort_by_key(|grant| std::cmp::Reverse((grant.created_at, grant.id.0)));
        Ok(grants)
    }

    async fn end_grant(&self, account: AccountId, id: GrantId) -> Stored<bool> {
        let mut state = self.lock();
        let before = state.oauth.grants.len();
        state.oauth.end_grants(|grant| grant.id == id && grant.account == account);
        Ok(state.oauth.grants.len() < before)
    }
}

impl State {
    fn caller_of(&self, id: AccountId) -> Option<AccountCaller> {
        let account = self.accounts.get(&id).filter(|row| row.verified_at.is_some())?;
        let key = self.current_key(id).filter(|key| key.status == KeyStatus::Active)?;
        Some(AccountCaller {
            id,
            key_id: key.key.id,
            tier: account.tier,
            hourly_limit: account.hourly_limit.unwrap_or(account.tier.hourly_limit()),
            credit_balance: account.balance,
            last_grant: self.last_grant(id),
            is_capped: account.spend_cap_per_day.is_some(),
            is_admin: account.is_admin,
        })
    }

    fn shown(&self, grant: &GrantRow) -> Grant {
        let mut clients = self.oauth.clients.iter();
        let client = clients.find(|(client, _)| client.id == grant.client).expect("it is there");
        Grant {
            id: grant.id,
            client: grant.client.clone(),
            client_name: client.0.name.clone(),
            created_at: grant.created_at,
            last_used_at: grant.last_used_at,
        }
    }
}
