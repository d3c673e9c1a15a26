//! A model of credentials as a state machine: keys, sessions and grants, and what ends them.
//!
//! [`CredentialsModel`] remembers every credential that was ever given out, and states which of them
//! work. [`CredentialsUnderTest`] sends the same operations to two instances of the service on one
//! store. After each operation every credential is tried.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr};

use chrono::TimeDelta;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use super::{Home, INSTANCES, Instances, OnInstance, email, new_account};
use crate::Timestamp;
use crate::accounts::Login;
use crate::client::Client;
use crate::identity::AccountId;
use crate::key::{ApiKey, Caller};
use crate::oauth::grant::GRANT_VALIDITY;
use crate::oauth::token::{ACCESS_VALIDITY, REFRESH_VALIDITY};
use crate::oauth::{
    AccessToken, Authorization, ClientId, ClientMetadata, CodeVerifier, Exchange, Refresh,
    RefreshToken,
};
use crate::password::Password;
use crate::session::{IDLE, LONGEST, SessionToken};
use crate::testing::FixedClock;

/// The number of accounts of a model.
const ACCOUNTS: usize = 2;
/// The most grants of a model: fewer than an account may have.
const GRANTS: usize = 15;
const PASSWORDS: [&str; 2] = ["a password of hers", "another one of hers"];
const RESOURCE: &str = "https://mcp.example.com/mcp";
const REDIRECT: &str = "http://127.0.0.1:4711/callback";

/// An operation on credentials. A number of a credential counts all that were given out, in a circle.
#[derive(Clone, Copy, Debug)]
pub enum CredentialOperation {
    /// The sign-in of an account by its password.
    SignIn(usize),
    /// The end of a session by its token.
    SignOut(usize),
    /// The end of all sessions of an account but one, or of all.
    SignOutEverywhere(usize, Option<usize>),
    /// A new key in place of the account's key.
    Regenerate(usize),
    /// A new password in place of the account's password.
    ChangePassword(usize),
    /// The suspension of an account by an operator.
    Suspend(usize),
    /// The activation of a suspended account.
    Activate(usize),
    /// The consent to a new client in a session, and the exchange of its code.
    Consent(usize),
    /// A refresh by any refresh token, used or not.
    Refresh(usize),
    /// The revocation of an access token.
    RevokeAccess(usize),
    /// The revocation of a refresh token.
    RevokeRefresh(usize),
    /// The end of a grant by the owner.
    EndGrant(usize),
    /// The removal of expired rows.
    CleanUp,
    /// A wait of so many seconds.
    Wait(u32),
    /// A restart of the instance.
    Reopen,
}

#[derive(Clone, Debug, Default)]
struct ModelOwner {
    password: usize,
    is_suspended: bool,
}

#[derive(Clone, Debug)]
struct ModelKey {
    account: usize,
    is_replaced: bool,
}

#[derive(Clone, Debug)]
struct ModelSession {
    account: usize,
    created_at: Timestamp,
    used_at: Timestamp,
    is_ended: bool,
}

impl ModelSession {
    fn is_live(&self, now: Timestamp) -> bool {
        !self.is_ended && now < self.used_at + IDLE && now < self.created_at + LONGEST
    }
}

#[derive(Clone, Debug)]
struct ModelGrant {
    account: usize,
    begun_at: Timestamp,
    is_ended: bool,
}

#[derive(Clone, Debug)]
struct ModelAccess {
    grant: usize,
    expires_at: Timestamp,
    is_revoked: bool,
}

#[derive(Clone, Debug)]
struct ModelRefresh {
    grant: usize,
    expires_at: Timestamp,
    is_used: bool,
}

/// Every credential ever given out, and whether the latest operation succeeded.
#[derive(Clone, Debug)]
pub struct CredentialsModel {
    now: Timestamp,
    owners: [ModelOwner; ACCOUNTS],
    keys: Vec<ModelKey>,
    sessions: Vec<ModelSession>,
    grants: Vec<ModelGrant>,
    accesses: Vec<ModelAccess>,
    refreshes: Vec<ModelRefresh>,
    has_succeeded: bool,
}

/// Returns the position of a credential of a list that its number means; `None` in an empty list.
fn position(number: usize, length: usize) -> Option<usize> {
    number.checked_rem(length)
}

impl CredentialsModel {
    fn new() -> Self {
        let key = |account| ModelKey { account, is_replaced: false };
        Self {
            now: FixedClock::default().now(),
            owners: Default::default(),
            keys: (0..ACCOUNTS).map(key).collect(),
            sessions: Vec::new(),
            grants: Vec::new(),
            accesses: Vec::new(),
            refreshes: Vec::new(),
            has_succeeded: true,
        }
    }

    fn end_sessions(&mut self, account: usize, kept: Option<usize>) {
        let own =
            self.sessions.iter_mut().enumerate().filter(|(_, known)| known.account == account);
        for (_, session) in own.filter(|(number, _)| Some(*number) != kept) {
            session.is_ended = true;
        }
    }

    fn end_grants(&mut self, account: usize) {
        for grant in self.grants.iter_mut().filter(|grant| grant.account == account) {
            grant.is_ended = true;
        }
    }

    fn add_tokens(&mut self, grant: usize) {
        let (access_ends, refresh_ends) = (self.now + ACCESS_VALIDITY, self.now + REFRESH_VALIDITY);
        self.accesses.push(ModelAccess { grant, expires_at: access_ends, is_revoked: false });
        self.refreshes.push(ModelRefresh { grant, expires_at: refresh_ends, is_used: false });
    }

    fn sign_in(&mut self, account: usize) -> bool {
        if self.owners[account].is_suspended {
            return false;
        }
        let (created_at, used_at) = (self.now, self.now);
        self.sessions.push(ModelSession { account, created_at, used_at, is_ended: false });
        true
    }

    fn regenerate(&mut self, account: usize) -> bool {
        if self.owners[account].is_suspended {
            return false;
        }
        for key in self.keys.iter_mut().filter(|key| key.account == account) {
            key.is_replaced = true;
        }
        self.keys.push(ModelKey { account, is_replaced: false });
        self.end_sessions(account, None);
        self.end_grants(account);
        true
    }

    fn change_password(&mut self, account: usize) -> bool {
        self.owners[account].password = 1 - self.owners[account].password;
        self.end_sessions(account, None);
        self.end_grants(account);
        true
    }

    fn suspend(&mut self, account: usize) -> bool {
        self.owners[account].is_suspended = true;
        self.end_sessions(account, None);
        self.end_grants(account);
        true
    }

    fn consent(&mut self, session: usize) -> bool {
        let Some(session) = position(session, self.sessions.len()) else { return false };
        let session = &mut self.sessions[session];
        if !session.is_live(self.now) {
            return false;
        }
        session.used_at = self.now;
        let (account, begun_at) = (session.account, self.now);
        self.grants.push(ModelGrant { account, begun_at, is_ended: false });
        self.add_tokens(self.grants.len() - 1);
        true
    }

    fn refresh(&mut self, token: usize) -> bool {
        let Some(token) = position(token, self.refreshes.len()) else { return false };
        let now = self.now;
        let token = &mut self.refreshes[token];
        let grant = token.grant;
        let begun_at = self.grants[grant].begun_at;
        if self.grants[grant].is_ended
            || now >= token.expires_at
            || now >= begun_at + GRANT_VALIDITY
        {
            return false;
        }
        if token.is_used {
            self.grants[grant].is_ended = true;
            return false;
        }
        token.is_used = true;
        self.add_tokens(grant);
        true
    }

    fn is_listed(&self, grant: usize) -> bool {
        let mut tokens = self.refreshes.iter();
        !self.grants[grant].is_ended
            && tokens.any(|token| token.grant == grant && self.now < token.expires_at)
    }

    fn end_grant(&mut self, grant: usize) -> bool {
        let Some(grant) = position(grant, self.grants.len()) else { return false };
        let is_listed = self.is_listed(grant);
        self.grants[grant].is_ended |= is_listed;
        is_listed
    }

    fn opens(&self, access: &ModelAccess) -> bool {
        !access.is_revoked && !self.grants[access.grant].is_ended && self.now < access.expires_at
    }

    fn works(&self, key: &ModelKey) -> bool {
        !key.is_replaced && !self.owners[key.account].is_suspended
    }

    /// Records the use of each live session, since each is tried after each operation.
    fn use_sessions(&mut self) {
        let now = self.now;
        let is_due = |known: &&mut ModelSession| {
            known.is_live(now) && now >= known.used_at + TimeDelta::seconds(60)
        };
        for session in self.sessions.iter_mut().filter(is_due) {
            session.used_at = now;
        }
    }
}

impl ReferenceStateMachine for CredentialsModel {
    type State = Self;
    type Transition = OnInstance<CredentialOperation>;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::new()).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<OnInstance<CredentialOperation>> {
        use CredentialOperation as Operation;

        let account = 0..ACCOUNTS;
        let number = 0usize..100;
        let waits = vec![30, 61, 3_599, 3_600, 43_200, 86_399, 86_400, 2_592_000];
        let operation = prop_oneof![
            6 => account.clone().prop_map(Operation::SignIn),
            1 => number.clone().prop_map(Operation::SignOut),
            1 => (account.clone(), prop::option::of(number.clone()))
                .prop_map(|(account, kept)| Operation::SignOutEverywhere(account, kept)),
            1 => account.clone().prop_map(Operation::Regenerate),
            1 => account.clone().prop_map(Operation::ChangePassword),
            1 => account.clone().prop_map(Operation::Suspend),
            2 => account.prop_map(Operation::Activate),
            6 => number.clone().prop_map(Operation::Consent),
            6 => number.clone().prop_map(Operation::Refresh),
            1 => number.clone().prop_map(Operation::RevokeAccess),
            1 => number.clone().prop_map(Operation::RevokeRefresh),
            1 => number.prop_map(Operation::EndGrant),
            2 => Just(Operation::CleanUp),
            4 => prop::sample::select(waits).prop_map(Operation::Wait),
            1 => Just(Operation::Reopen),
        ];
        (0..INSTANCES, operation).boxed()
    }

    fn preconditions(state: &Self, (_, operation): &OnInstance<CredentialOperation>) -> bool {
        match *operation {
            CredentialOperation::Consent(_) => state.grants.len() < GRANTS,
            CredentialOperation::ChangePassword(account) => !state.owners[account].is_suspended,
            // An expired token ends its grant until the clean-up has removed the token.
            CredentialOperation::RevokeRefresh(token) => position(token, state.refreshes.len())
                .is_none_or(|token| state.now < state.refreshes[token].expires_at),
            _ => true,
        }
    }

    fn apply(mut state: Self, (_, operation): &OnInstance<CredentialOperation>) -> Self {
        state.has_succeeded = match *operation {
            CredentialOperation::SignIn(account) => state.sign_in(account),
            CredentialOperation::SignOut(session) => {
                if let Some(session) = position(session, state.sessions.len()) {
                    state.sessions[session].is_ended = true;
                }
                true
            }
            CredentialOperation::SignOutEverywhere(account, kept) => {
                let kept = kept.and_then(|kept| position(kept, state.sessions.len()));
                state.end_sessions(account, kept);
                true
            }
            CredentialOperation::Regenerate(account) => state.regenerate(account),
            CredentialOperation::ChangePassword(account) => state.change_password(account),
            CredentialOperation::Suspend(account) => state.suspend(account),
            CredentialOperation::Activate(account) => {
                state.owners[account].is_suspended = false;
                true
            }
            CredentialOperation::Consent(session) => state.consent(session),
            CredentialOperation::Refresh(token) => state.refresh(token),
            CredentialOperation::RevokeAccess(token) => {
                if let Some(token) = position(token, state.accesses.len()) {
                    state.accesses[token].is_revoked = true;
                }
                true
            }
            CredentialOperation::RevokeRefresh(token) => {
                if let Some(token) = position(token, state.refreshes.len()) {
                    let grant = state.refreshes[token].grant;
                    state.grants[grant].is_ended = true;
                }
                true
            }
            CredentialOperation::EndGrant(grant) => state.end_grant(grant),
            CredentialOperation::Wait(seconds) => {
                state.now += TimeDelta::seconds(seconds.into());
                true
            }
            CredentialOperation::CleanUp | CredentialOperation::Reopen => true,
        };
        state.use_sessions();
        state
    }
}

/// Two instances of the service on one store, with every credential that they gave out.
pub struct CredentialsUnderTest<H: Home> {
    instances: Instances<H>,
    owners: Vec<(AccountId, usize)>,
    keys: Vec<ApiKey>,
    sessions: Vec<(AccountId, SessionToken)>,
    /// The client and the account of each grant.
    grants: Vec<(ClientId, AccountId)>,
    accesses: Vec<AccessToken>,
    /// The refresh tokens, with the number of their grant.
    refreshes: Vec<(usize, RefreshToken)>,
}

/// The test that compares a store with `CredentialsModel`.
pub struct CredentialsTest<H>(PhantomData<H>);

fn client() -> Client {
    Client::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), Some("model"))
}

fn verifier() -> CodeVerifier {
    CodeVerifier::parse(&"v".repeat(43)).expect("a verifier")
}

impl<H: Home> CredentialsUnderTest<H> {
    fn new() -> Self {
        let mut sut = Self {
            instances: Instances::new(),
            owners: Vec::new(),
            keys: Vec::new(),
            sessions: Vec::new(),
            grants: Vec::new(),
            accesses: Vec::new(),
            refreshes: Vec::new(),
        };
        for number in 0..ACCOUNTS {
            let account = new_account(number, Some(Password::attempt(PASSWORDS[0])), 0);
            let created = sut.instances.at(0).create_account(account, sut.instances.now());
            let created = H::run(created).expect("a new account");
            sut.owners.push((created.id, 0));
            sut.keys.push(created.api_key);
        }
        sut
    }

    async fn sign_in(&mut self, instance: usize, account: usize) -> bool {
        let (id, password) = self.owners[account];
        let password = Password::attempt(PASSWORDS[password]);
        let (email, now) = (email(account), self.instances.now());
        match self.instances.at(instance).login(&email, &password, &client(), now).await {
            Ok(Login::SignedIn(signed_in)) => {
                self.sessions.push((id, signed_in.session_token));
                true
            }
            Ok(Login::MfaRequired { .. }) => panic!("no second factor is set"),
            Err(_) => false,
        }
    }

    async fn change_password(&mut self, instance: usize, account: usize) -> bool {
        let (id, old) = self.owners[account];
        let [current, new] = [old, 1 - old].map(|number| Password::attempt(PASSWORDS[number]));
        let accounts = self.instances.at(instance);
        let now = self.instances.now();
        let changed = accounts.change_password(id, &current, &new, &client(), now).await;
        self.owners[account].1 = 1 - old;
        changed.is_ok()
    }

    async fn consent(&mut self, instance: usize, session: usize) -> bool {
        let Some(session) = position(session, self.sessions.len()) else { return false };
        let (account, token) = self.sessions[session].clone();
        let (accounts, now) = (self.instances.at(instance), self.instances.now());
        let metadata = ClientMetadata {
            redirect_uris: vec!["http://127.0.0.1/callback".to_owned()],
            ..ClientMetadata::default()
        };
        let client = accounts.register_client(&metadata, now).await.expect("a good client");
        let authorization = Authorization {
            client: client.id.clone(),
            redirect_uri: client.redirect_uri(Some(REDIRECT)).expect("its own"),
            challenge: verifier().challenge(),
            resource: RESOURCE.to_owned(),
        };
        let code = accounts.issue_code(&token, account, authorization, now).await;
        let Some(code) = code.expect("the store answers") else { return false };
        let exchange = Exchange {
            code,
            client: client.id.clone(),
            redirect_uri: Some(REDIRECT.to_owned()),
            verifier: verifier(),
            resource: RESOURCE.to_owned(),
        };
        let tokens = accounts.exchange(exchange).await.expect("a fresh code");
        self.refreshes.push((self.grants.len(), tokens.refresh));
        self.grants.push((client.id, account));
        self.accesses.push(tokens.access);
        true
    }

    async fn refresh(&mut self, instance: usize, token: usize) -> bool {
        let Some(token) = position(token, self.refreshes.len()) else { return false };
        let (grant, token) = self.refreshes[token].clone();
        let refresh = Refresh {
            token,
            client: self.grants[grant].0.clone(),
            resource: RESOURCE.to_owned(),
            leeway: TimeDelta::zero(),
        };
        let Ok(tokens) = self.instances.at(instance).refresh(refresh).await else { return false };
        self.accesses.push(tokens.access);
        self.refreshes.push((grant, tokens.refresh));
        true
    }

    async fn end_grant(&self, instance: usize, grant: usize) -> bool {
        let Some(grant) = position(grant, self.grants.len()) else { return false };
        let (client, account) = &self.grants[grant];
        let accounts = self.instances.at(instance);
        let listed =
            accounts.grants(*account, self.instances.now()).await.expect("the store answers");
        match listed.iter().find(|listed| listed.client == *client) {
            Some(listed) => accounts.end_grant(*account, listed.id).await.expect("it answers"),
            None => false,
        }
    }

    async fn revoke(&self, instance: usize, token: Option<&str>) -> bool {
        let Some(token) = token else { return true };
        self.instances.at(instance).revoke_token(token, None).await.is_ok()
    }

    async fn operate(&mut self, (instance, operation): OnInstance<CredentialOperation>) -> bool {
        let now = self.instances.now();
        let accounts = self.instances.at(instance);
        match operation {
            CredentialOperation::SignIn(account) => self.sign_in(instance, account).await,
            CredentialOperation::SignOut(session) => {
                if let Some(session) = position(session, self.sessions.len()) {
                    let (account, token) = &self.sessions[session];
                    accounts.logout(token, *account).await.expect("the store answers");
                }
                true
            }
            CredentialOperation::SignOutEverywhere(account, kept) => {
                let kept = kept.and_then(|kept| position(kept, self.sessions.len()));
                let kept = kept.map(|kept| &self.sessions[kept].1);
                accounts.end_sessions(self.owners[account].0, kept).await.is_ok()
            }
            CredentialOperation::Regenerate(account) => {
                let key = accounts.regenerate_signed_in(self.owners[account].0, now).await;
                let is_new = key.is_ok();
                self.keys.extend(key);
                is_new
            }
            CredentialOperation::ChangePassword(account) => {
                self.change_password(instance, account).await
            }
            CredentialOperation::Suspend(account) => {
                accounts.suspend(&email(account)).await.is_ok()
            }
            CredentialOperation::Activate(account) => {
                accounts.activate(&email(account)).await.is_ok()
            }
            CredentialOperation::Consent(session) => self.consent(instance, session).await,
            CredentialOperation::Refresh(token) => self.refresh(instance, token).await,
            CredentialOperation::RevokeAccess(token) => {
                let token = position(token, self.accesses.len());
                self.revoke(instance, token.map(|token| self.accesses[token].expose())).await
            }
            CredentialOperation::RevokeRefresh(token) => {
                let token = position(token, self.refreshes.len());
                self.revoke(instance, token.map(|token| self.refreshes[token].1.expose())).await
            }
            CredentialOperation::EndGrant(grant) => self.end_grant(instance, grant).await,
            CredentialOperation::CleanUp => {
                while accounts.clean_up(now, 100, None).await.expect("the store answers").more {}
                true
            }
            CredentialOperation::Wait(seconds) => {
                self.instances.wait(TimeDelta::seconds(seconds.into()));
                true
            }
            CredentialOperation::Reopen => {
                self.instances.reopen(instance).await;
                true
            }
        }
    }

    /// Tries every credential at one instance.
    async fn check(&self, model: &CredentialsModel) {
        let (now, accounts) = (self.instances.now(), self.instances.at(model.sessions.len()));
        for (number, (key, expected)) in self.keys.iter().zip(&model.keys).enumerate() {
            let caller = accounts.authenticate(key, now).await;
            let works = matches!(caller, Ok(Caller::Account(_)));
            assert_eq!(works, model.works(expected), "key {number}");
        }
        let sessions = self.sessions.iter().zip(&model.sessions).enumerate();
        for (number, ((account, token), expected)) in sessions {
            let is_live = accounts.session(token, *account, now).await.expect("the store answers");
            assert_eq!(is_live, expected.is_live(now), "session {number}");
        }
        for (number, (token, expected)) in self.accesses.iter().zip(&model.accesses).enumerate() {
            let opens = accounts.bearer(token, RESOURCE, now).await.is_ok();
            assert_eq!(opens, model.opens(expected), "access token {number}");
        }
        for (id, _) in &self.owners {
            let listed = accounts.grants(*id, now).await.expect("the store answers");
            let listed: BTreeSet<_> =
                listed.iter().map(|grant| grant.client.as_str().to_owned()).collect();
            let expected = self.grants.iter().enumerate();
            let expected = expected.filter(|(_, (_, account))| account == id);
            let expected = expected.filter(|(number, _)| model.is_listed(*number));
            let expected: BTreeSet<_> =
                expected.map(|(_, (client, _))| client.as_str().to_owned()).collect();
            assert_eq!(listed, expected, "grants");
        }
    }
}

impl<H: Home> StateMachineTest for CredentialsTest<H> {
    type SystemUnderTest = CredentialsUnderTest<H>;
    type Reference = CredentialsModel;

    fn init_test(_: &CredentialsModel) -> CredentialsUnderTest<H> {
        CredentialsUnderTest::new()
    }

    fn apply(
        mut sut: CredentialsUnderTest<H>,
        model: &CredentialsModel,
        step: OnInstance<CredentialOperation>,
    ) -> CredentialsUnderTest<H> {
        let found = H::run(sut.operate(step));
        assert_eq!(found, model.has_succeeded, "{step:?}");
        sut
    }

    fn check_invariants(sut: &CredentialsUnderTest<H>, model: &CredentialsModel) {
        H::run(sut.check(model));
    }
}
