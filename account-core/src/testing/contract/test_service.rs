//! The service of a check: a store with fakes for everything else, and common steps.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::TimeDelta;

use crate::accounts::operator::NewAccount;
use crate::accounts::{Accounts, Login, Registration, SignedIn};
use crate::client::Client;
use crate::code::{Code, MfaToken};
use crate::credits::{Entry, Settlement, Usage};
use crate::digest::Digest;
use crate::guest::CreationLimits;
use crate::identity::{AccountId, CallerId, Contact, Email, Username};
use crate::key::{AccountCaller, ApiKey, Caller};
use crate::outbox::{Content, OutboundMessage, SealedMessage};
use crate::password::{Password, PasswordHash};
use crate::store::Store;
use crate::testing::{CheapHasher, FixedClock, Outbox, seeded_rng};
use crate::tier::Tier;
use crate::vault::Vault;
use crate::{Result, Timestamp};

pub(super) const PASSWORD: &str = "a password of hers";
/// Limits above the number of guests of any check.
pub(super) const ANY: CreationLimits = CreationLimits {
    per_network: NonZeroU32::MAX,
    per_device: NonZeroU32::MAX,
    in_all: NonZeroU32::MAX,
};

/// A service on a store, with fakes for everything else.
pub(super) struct TestService<S> {
    pub(super) accounts: Accounts<S, CheapHasher>,
    pub(super) clock: FixedClock,
    pub(super) hasher: CheapHasher,
    pub(super) outbox: Outbox<S>,
}

impl<S: Store + Clone> TestService<S> {
    pub(super) fn new(store: S) -> Self {
        let rng = seeded_rng(20_261_120);
        let vault = Arc::new(Vault::create(&mut rng.clone()));
        let hasher = CheapHasher::default();
        let clock = FixedClock::default();
        let shared = clock.clone();
        let store = store.with_clock(move || shared.now());
        Self {
            accounts: Accounts::new(store.clone(), hasher.clone(), Arc::clone(&vault), rng),
            clock,
            hasher,
            outbox: Outbox::new(store, vault),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn wait(&self, seconds: i64) {
        self.clock.advance(TimeDelta::seconds(seconds));
    }

    pub(super) async fn register(&self, name: &str, address: &str, password: &str) -> Result<()> {
        let form = Registration {
            username: username(name),
            email: email(address),
            password: Password::attempt(password),
            contact: Contact::default(),
        };
        self.accounts.register(form, self.now()).await
    }

    pub(super) async fn messages(&self) -> Vec<OutboundMessage> {
        self.outbox.take(self.now()).await.expect("the store answers")
    }

    pub(super) async fn code(&self, address: &str) -> Code {
        let code = self.outbox.code(&email(address), self.now()).await.expect("the store answers");
        code.expect("a code is on its way")
    }

    pub(super) async fn verify(&self, address: &str, code: &Code) -> Result<SignedIn> {
        self.accounts.verify_registration(&email(address), code, &client(), self.now()).await
    }

    /// Registers and verifies an account, which has 350 credits.
    pub(super) async fn account(&self, name: &str, address: &str) -> SignedIn {
        self.register(name, address, PASSWORD).await.expect("a free name");
        let code = self.code(address).await;
        self.verify(address, &code).await.expect("the right code")
    }

    /// Registers an account with a second factor.
    pub(super) async fn account_with_mfa(&self, name: &str, address: &str) -> SignedIn {
        let signed_in = self.account(name, address).await;
        self.accounts.enable_mfa(signed_in.account, self.now()).await.expect("the store answers");
        let messages = self.messages().await;
        assert!(matches!(messages[..], [OutboundMessage { content: Content::MfaEnabled, .. }]));
        signed_in
    }

    /// Creates an account with these credits by an operator's call.
    pub(super) async fn funded(&self, name: &str, credits: u64) -> AccountId {
        let account = NewAccount {
            email: email(&format!("{name}@example.com")),
            username: username(name),
            password: None,
            tier: Tier::Pro,
            credits: Some(credits),
            hourly_limit: None,
            is_admin: false,
        };
        self.accounts.create_account(account, self.now()).await.expect("a free name").id
    }

    pub(super) async fn login(&self, address: &str, password: &str) -> Result<Login> {
        self.login_from(&client(), address, password).await
    }

    pub(super) async fn login_from(
        &self,
        client: &Client,
        address: &str,
        password: &str,
    ) -> Result<Login> {
        let (email, password) = (email(address), Password::attempt(password));
        self.accounts.login(&email, &password, client, self.now()).await
    }

    pub(super) async fn login_code(&self, address: &str, password: &str) -> &'static str {
        self.login_code_from(&client(), address, password).await
    }

    pub(super) async fn login_code_from(
        &self,
        client: &Client,
        address: &str,
        password: &str,
    ) -> &'static str {
        match self.login_from(client, address, password).await {
            Ok(Login::SignedIn(_)) => "signed_in",
            Ok(Login::MfaRequired { .. }) => "mfa_required",
            Err(error) => error.code(),
        }
    }

    /// Logs in without a second factor.
    pub(super) async fn signed_in(
        &self,
        client: &Client,
        address: &str,
        password: &str,
    ) -> SignedIn {
        match self.login_from(client, address, password).await {
            Ok(Login::SignedIn(signed_in)) => signed_in,
            Ok(Login::MfaRequired { .. }) => panic!("a second factor is asked for"),
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) async fn is_live(&self, signed_in: &SignedIn) -> bool {
        let (token, account) = (&signed_in.session_token, signed_in.account);
        self.accounts.session(token, account, self.now()).await.expect("the store answers")
    }

    pub(super) async fn complete(
        &self,
        address: &str,
        code: &Code,
        token: Option<&MfaToken>,
    ) -> Result<SignedIn> {
        let address = email(address);
        self.accounts.complete_login(&address, code, token, &client(), self.now()).await
    }

    /// Returns the stored hash of the password of an account.
    pub(super) async fn password_hash(&self, address: &str) -> PasswordHash {
        let (to, recipient) = (email(address), self.recipient(address));
        let reserved = self.accounts.store().reserve_confirmation(&to, recipient).await;
        let credentials = reserved.expect("the store answers").credentials;
        credentials.and_then(|known| known.password_hash).expect("an account with a password")
    }

    /// Seals a message to an address, as the service does.
    pub(super) fn sealed_message(&self, address: &str, content: Content) -> SealedMessage {
        let message = OutboundMessage { to: email(address), content };
        message.seal(&self.outbox.vault, &mut seeded_rng(self.now().timestamp() as u64), self.now())
    }

    pub(super) fn recipient(&self, address: &str) -> Digest<Email> {
        self.outbox.vault.email_digest(&email(address))
    }

    pub(super) async fn caller(&self, key: &ApiKey) -> Option<AccountCaller> {
        match self.accounts.authenticate(key, self.now()).await {
            Ok(Caller::Account(account)) => Some(account),
            Ok(Caller::Guest(_)) | Err(_) => None,
        }
    }

    pub(super) async fn balance(&self, account: AccountId) -> u64 {
        self.accounts.profile(account).await.expect("the account is there").credit_balance
    }

    pub(super) async fn settle(&self, batch: Vec<Entry>) -> Vec<Settlement> {
        self.accounts.store().settle(batch).await.expect("the store answers")
    }

    pub(super) async fn assert_ledger_holds(&self) {
        let audit = self.accounts.audit().await.expect("the store answers");
        assert!(audit.holds(), "{:?}", audit.faults);
    }

    pub(super) fn entry(
        &self,
        caller: CallerId,
        request_id: u128,
        cost: u32,
        endpoint: &'static str,
    ) -> Entry {
        let usage = Usage {
            request_id,
            endpoint: endpoint.into(),
            method: "POST".into(),
            status: 200,
            response_time_ms: 3,
            ip: client().address,
            at: self.now(),
        };
        Entry { caller, cost, usage, kept: None }
    }
}

pub(super) fn email(text: &str) -> Email {
    Email::parse(text).expect("an address")
}

pub(super) fn username(text: &str) -> Username {
    Username::parse(text).expect("a name")
}

pub(super) fn client() -> Client {
    Client::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), Some("contract"))
}

/// Returns a client that the account does not know.
pub(super) fn stranger() -> Client {
    Client::new(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9)), Some("stranger"))
}

pub(super) fn code(text: &str) -> Code {
    Code::parse(text).expect("six digits")
}

/// Returns a code that differs from this one.
pub(super) fn another(right: &Code) -> Code {
    code(if right.expose() == "000000" { "000001" } else { "000000" })
}

pub(super) fn fault<T>(result: Result<T>) -> &'static str {
    result.err().map_or("success", |error| error.code())
}
