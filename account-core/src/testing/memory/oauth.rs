//! Clients and grants in memory.

use super::{MemoryStore, State, Stored, take};
use crate::Timestamp;
use crate::accounts::KeyStatus;
use crate::identity::AccountId;
use crate::key::AccountCaller;
use crate::oauth::grant::{
    Bearer, CodeVerdict, Grant, GrantId, GrantStore, IssuedCode, MOST_GRANTS, Redemption,
    RefreshVerdict, Rotation, StaleOauth, StoredAccess, StoredRefresh, TokenDigests,
};
use crate::oauth::token::{AccessToken, RefreshToken};
use crate::oauth::{Client, ClientId, ClientStore};
use crate::session::SessionToken;
use crate::vault::Digest;

/// Everything of the OAuth server.
#[derive(Default)]
pub(super) struct Oauth {
    clients: Vec<(Client, Option<Timestamp>)>,
    codes: Vec<IssuedCode>,
    grants: Vec<Granted>,
    accesses: Vec<Access>,
    refreshes: Vec<Refreshing>,
}

struct Granted {
    id: GrantId,
    account: AccountId,
    client: ClientId,
    resource: String,
    created_at: Timestamp,
    last_used_at: Timestamp,
}

struct Access {
    digest: Digest<AccessToken>,
    grant: GrantId,
    expires_at: Timestamp,
}

struct Refreshing {
    digest: Digest<RefreshToken>,
    grant: GrantId,
    created_at: Timestamp,
    expires_at: Timestamp,
    used_at: Option<Timestamp>,
}

impl Oauth {
    /// Ends all that these accounts allowed.
    pub(super) fn end_of(&mut self, accounts: &[AccountId]) {
        self.codes.retain(|code| !accounts.contains(&code.account));
        self.end_grants(|grant| accounts.contains(&grant.account));
    }

    fn end_grants(&mut self, ends: impl Fn(&Granted) -> bool) {
        self.grants.retain(|grant| !ends(grant));
        let Self { grants, accesses, refreshes, .. } = self;
        let lives = |id: GrantId| grants.iter().any(|grant| grant.id == id);
        accesses.retain(|token| lives(token.grant));
        refreshes.retain(|token| lives(token.grant));
    }

    fn save_tokens(&mut self, grant: GrantId, tokens: &TokenDigests, created_at: Timestamp) {
        let TokenDigests { access, access_expires_at, refresh, refresh_expires_at } = *tokens;
        self.accesses.push(Access { digest: access, grant, expires_at: access_expires_at });
        self.refreshes.push(Refreshing {
            digest: refresh,
            grant,
            created_at,
            expires_at: refresh_expires_at,
            used_at: None,
        });
    }

    fn touch(&mut self, client: &ClientId, at: Timestamp) {
        let (_, used_at) =
            self.clients.iter_mut().find(|(known, _)| known.id == *client).expect("it is there");
        *used_at = Some(at);
    }

    fn grant(&self, id: GrantId) -> &Granted {
        self.grants.iter().find(|grant| grant.id == id).expect("tokens go with their grant")
    }

    fn begin(&mut self, account: AccountId, redemption: Redemption) {
        let Redemption { exchange, grant: id, tokens, at, .. } = redemption;
        self.touch(&exchange.client, at);
        let (client, resource) = (exchange.client, exchange.resource);
        let granted = Granted { id, account, client, resource, created_at: at, last_used_at: at };
        self.grants.push(granted);
        self.save_tokens(id, &tokens, at);
        let own = self.grants.iter().filter(|grant| grant.account == account);
        let mut own: Vec<_> = own.map(|grant| (grant.created_at, grant.id.0)).collect();
        own.sort_unstable();
        let surplus = own.len().saturating_sub(MOST_GRANTS as usize);
        own.truncate(surplus);
        self.end_grants(|grant| own.contains(&(grant.created_at, grant.id.0)));
    }
}

impl ClientStore for MemoryStore {
    async fn register_client(&self, client: Client) -> Stored<()> {
        self.lock().oauth.clients.push((client, None));
        Ok(())
    }

    async fn client(&self, id: &ClientId) -> Stored<Option<Client>> {
        let state = self.lock();
        Ok(state.oauth.clients.iter().find(|(client, _)| client.id == *id).map(|(c, _)| c.clone()))
    }
}

impl GrantStore for MemoryStore {
    async fn save_code(&self, code: IssuedCode, session: &Digest<SessionToken>) -> Stored<bool> {
        let mut state = self.lock();
        let lives = state.sessions.iter().any(|known| {
            known.digest == *session
                && known.account == code.account
                && known.is_live(code.created_at)
        });
        if lives {
            state.oauth.touch(&code.authorization.client, code.created_at);
            state.oauth.codes.push(code);
        }
        Ok(lives)
    }

    async fn redeem_code(&self, redemption: Redemption) -> Stored<bool> {
        let mut state = self.lock();
        let oauth = &mut state.oauth;
        let found = oauth.codes.iter_mut().find(|code| code.digest == redemption.code);
        let Some(code) = found else { return Ok(false) };
        match code.judge(&redemption) {
            CodeVerdict::Redeem => {
                code.grant = Some(redemption.grant);
                let account = code.account;
                oauth.begin(account, redemption);
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
        let mut state = self.lock();
        let oauth = &mut state.oauth;
        let found = oauth.refreshes.iter().position(|token| token.digest == rotation.token);
        let Some(index) = found else { return Ok(RefreshVerdict::Refuse) };
        let token = &oauth.refreshes[index];
        let id = token.grant;
        let grant = oauth.grant(id);
        let stored = StoredRefresh {
            client: grant.client.clone(),
            resource: grant.resource.clone(),
            created_at: token.created_at,
            expires_at: token.expires_at,
            used_at: token.used_at,
        };
        let verdict = stored.judge(&rotation);
        match verdict {
            RefreshVerdict::Rotate => {
                oauth.refreshes[index].used_at = Some(rotation.at);
                oauth.save_tokens(id, &rotation.tokens, rotation.at);
                for grant in oauth.grants.iter_mut().filter(|grant| grant.id == id) {
                    grant.last_used_at = rotation.at;
                }
                oauth.touch(&stored.client, rotation.at);
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
        let lives = |grant: &&Granted| {
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

    async fn reap(&self, stale: StaleOauth, limit: u32) -> Stored<u64> {
        let mut state = self.lock();
        let oauth = &mut state.oauth;
        Ok(match stale {
            StaleOauth::Codes(made) => {
                take(&mut oauth.codes, limit, |code| code.created_at <= made)
            }
            StaleOauth::Expired(at) => {
                let accesses = take(&mut oauth.accesses, limit, |token| token.expires_at <= at);
                let refreshes = take(&mut oauth.refreshes, limit, |token| token.expires_at <= at);
                let Oauth { grants, refreshes: left, .. } = oauth;
                let is_dead = |grant: &Granted| !left.iter().any(|token| token.grant == grant.id);
                accesses.max(refreshes).max(take(grants, limit, is_dead))
            }
            StaleOauth::Clients(unused, idle) => {
                take(&mut oauth.clients, limit, |(client, used)| {
                    used.map_or(client.created_at <= unused, |used| used <= idle)
                })
            }
        })
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
            is_admin: account.is_admin,
        })
    }

    fn shown(&self, grant: &Granted) -> Grant {
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
