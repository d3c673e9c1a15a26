//! Times under locks, on both engines: a request that waited for its lock is decided by the time
//! under the lock, and of many requests at once one wins.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use account_core::code::Purpose;
use account_core::oauth::{
    Authorization, AuthorizationCode, ClientMetadata, CodeVerifier, Exchange, Refresh,
    RefreshToken, RegisteredClient, Tokens,
};
use account_core::outbox::{Channel, Content, OutboundMessage};
use account_core::testing::{CheapHasher, FixedClock, Outbox, seeded_rng};
use account_core::{
    Accounts, Client, Code, Contact, Email, Error, Login, NewAccount, Password, Registration,
    SignedIn, Store as _, Tier, Timestamp, Username, Vault,
};
use chrono::TimeDelta;
use sea_orm::ConnectionTrait;

use super::engine::{AdvisoryLock, is_postgres, lock_account};
use super::handle::Store;
use super::rows::{column, statement};
use super::testing::on_each_engine;
use super::write_transaction::WriteTransaction;
use crate::clock::Clock;

on_each_engine!(
    a_code_that_expires_while_its_request_waits_is_refused,
    a_lock_that_ends_while_a_login_waits_is_over,
    a_name_that_becomes_free_while_a_registration_waits_is_free,
    a_cooldown_that_ends_while_a_request_waits_is_over,
    a_leeway_and_a_code_that_end_while_a_client_waits_are_over,
    of_eight_refreshes_at_once_one_wins_in_every_round,
    of_twelve_registrants_of_a_name_one_has_it_in_every_round,
);

const PASSWORD: &str = "a password of hers";
const RESOURCE: &str = "https://mcp.example.com/mcp";
const REDIRECT: &str = "http://127.0.0.1:4711/callback";
const ROUNDS: u32 = 20;

struct LockedService {
    accounts: Accounts<Store, CheapHasher>,
    vault: Arc<Vault>,
    clock: FixedClock,
    store: Store,
}

impl LockedService {
    fn new(store: Store) -> Self {
        let clock = FixedClock::default();
        let shared = clock.clone();
        let store = store.with_clock(move || shared.now());
        Self::with(store, clock)
    }

    fn with(store: Store, clock: FixedClock) -> Self {
        let rng = seeded_rng(19);
        let vault = Arc::new(Vault::create(&mut rng.clone()));
        let hasher = CheapHasher::default();
        let accounts = Accounts::new(store.clone(), hasher, Arc::clone(&vault), rng);
        Self { accounts, vault, clock, store }
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn register(&self, name: &str, address: &str) -> Result<(), Error> {
        self.accounts.register(form(name, address), self.now()).await
    }

    async fn code(&self, address: &str) -> Code {
        let outbox = Outbox::new(self.store.clone(), Arc::clone(&self.vault));
        let code = outbox.code(&email(address), self.now()).await.expect("the store answers");
        code.expect("a code is on its way")
    }

    /// An account and its first session.
    async fn account(&self, name: &str, now: Timestamp) -> SignedIn {
        let account = NewAccount {
            email: email(&format!("{name}@example.com")),
            username: Username::parse(name).expect("a name"),
            password: Some(Password::attempt(PASSWORD)),
            tier: Tier::Free,
            credits: None,
            hourly_limit: None,
            is_admin: false,
        };
        let email = account.email.clone();
        self.accounts.create_account(account, now).await.expect("a free name");
        let password = Password::attempt(PASSWORD);
        match self.accounts.login(&email, &password, &client(), now).await.expect("hers") {
            Login::SignedIn(signed_in) => signed_in,
            Login::MfaRequired { .. } => panic!("a second factor is asked for"),
        }
    }

    /// Begins a call that waits for the lock of `held`, advances the clock, and then releases the
    /// lock.
    async fn delayed<T>(
        &self,
        held: WriteTransaction,
        by: TimeDelta,
        call: impl Future<Output = T>,
    ) -> T {
        let mut call = pin!(call);
        tokio::select! {
            biased;
            _ = &mut call => panic!("the call waited for nothing"),
            () = self.somebody_waits() => {}
        }
        self.clock.advance(by);
        held.commit().await.expect("nothing was written");
        call.await
    }

    /// Returns once a connection waits for a lock. On SQLite a call that was polled once waits for
    /// the lock of the writers.
    async fn somebody_waits(&self) {
        if !is_postgres(&self.store.writer) {
            return;
        }
        let query = "SELECT count(*) AS count FROM pg_stat_activity \
                     WHERE datname = current_database() AND wait_event_type = 'Lock'";
        loop {
            let row = self.store.readers.query_one_raw(statement(query, [])).await;
            let row = row.expect("the database answers").expect("a row");
            if column::<i64>(&row, "count").expect("a number") > 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn hold_address(&self, address: &str) -> WriteTransaction {
        let recipient = self.vault.email_digest(&email(address));
        self.store.write_locked(AdvisoryLock::Email(&recipient)).await.expect("nobody has it")
    }

    async fn hold_account(&self, who: &SignedIn) -> WriteTransaction {
        let held = self.store.write().await.expect("nobody has it");
        lock_account(&held, who.account).await.expect("nobody has it");
        held
    }

    async fn hold_grants(&self, who: &SignedIn) -> WriteTransaction {
        let held = self.store.write().await.expect("nobody has it");
        let take = "UPDATE oauth_grant SET id = id WHERE account_id = $1";
        let take = statement(take, [who.account.0.into()]);
        held.execute_raw(take).await.expect("nobody has it");
        held
    }

    async fn oauth_client(&self, now: Timestamp) -> RegisteredClient {
        let metadata = ClientMetadata {
            redirect_uris: vec![REDIRECT.to_owned()],
            ..ClientMetadata::default()
        };
        self.accounts.register_client(&metadata, now).await.expect("a good client")
    }

    async fn consent(
        &self,
        who: &SignedIn,
        client: &RegisteredClient,
        now: Timestamp,
    ) -> AuthorizationCode {
        let authorization = Authorization {
            client: client.id.clone(),
            redirect_uri: client.redirect_uri(Some(REDIRECT)).expect("its own"),
            challenge: verifier().challenge(),
            resource: RESOURCE.to_owned(),
        };
        let session = &who.session_token;
        let issued = self.accounts.issue_code(session, who.account, authorization, now).await;
        issued.expect("the store answers").expect("a live session")
    }

    async fn exchange(
        &self,
        client: &RegisteredClient,
        code: AuthorizationCode,
    ) -> Result<Tokens, account_core::oauth::OauthError> {
        let (client, redirect_uri) = (client.id.clone(), Some(REDIRECT.to_owned()));
        let resource = RESOURCE.to_owned();
        let exchange = Exchange { code, client, redirect_uri, verifier: verifier(), resource };
        self.accounts.exchange(exchange).await
    }
}

fn refresh(client: &RegisteredClient, token: &RefreshToken, leeway: i64) -> Refresh {
    Refresh {
        token: token.clone(),
        client: client.id.clone(),
        resource: RESOURCE.to_owned(),
        leeway: TimeDelta::seconds(leeway),
    }
}

fn verifier() -> CodeVerifier {
    CodeVerifier::parse(&"v".repeat(43)).expect("a verifier")
}

fn email(address: &str) -> Email {
    Email::parse(address).expect("an address")
}

fn client() -> Client {
    Client::new([192, 0, 2, 7].into(), None)
}

fn form(name: &str, address: &str) -> Registration {
    Registration {
        username: Username::parse(name).expect("a name"),
        email: email(address),
        password: Password::attempt(PASSWORD),
        contact: Contact::default(),
    }
}

fn fault<T>(result: Result<T, Error>) -> &'static str {
    result.err().map_or("success", |error| error.code())
}

async fn a_code_that_expires_while_its_request_waits_is_refused(store: Store, _address: String) {
    let service = LockedService::new(store);
    let ada = email("ada@example.com");
    service.register("ada", "ada@example.com").await.expect("a free name");
    let code = service.code("ada@example.com").await;
    let held = service.hold_address("ada@example.com").await;
    let from = client();
    let verified = service.accounts.verify_registration(&ada, &code, &from, service.now());
    let verified = service.delayed(held, account_core::code::VALIDITY, verified).await;
    assert_eq!(fault(verified), "wrong_code");
}

async fn a_lock_that_ends_while_a_login_waits_is_over(store: Store, _address: String) {
    let service = LockedService::new(store);
    service.account("ada", service.now()).await;
    let (ada, stranger) = (email("ada@example.com"), Client::new([203, 0, 113, 9].into(), None));
    let wrong = Password::attempt("wrong");
    for _ in 0..5 {
        let refused = service.accounts.login(&ada, &wrong, &stranger, service.now()).await;
        assert_eq!(fault(refused), "wrong_credentials");
    }
    let password = Password::attempt(PASSWORD);
    let refused = service.accounts.login(&ada, &password, &stranger, service.now()).await;
    assert_eq!(fault(refused), "locked");
    let held = service.hold_address("ada@example.com").await;
    let login = service.accounts.login(&ada, &password, &stranger, service.now());
    let login = service.delayed(held, account_core::lockout::LOCK, login).await;
    assert_eq!(fault(login), "success");
}

async fn a_name_that_becomes_free_while_a_registration_waits_is_free(
    store: Store,
    _address: String,
) {
    let service = LockedService::new(store);
    service.register("ada", "first@example.com").await.expect("a free name");
    assert_eq!(fault(service.register("ada", "second@example.com").await), "username_taken");
    let name = Username::parse("ada").expect("a name");
    let held = service.store.write_locked(AdvisoryLock::Username(&name)).await;
    let held = held.expect("nobody has it");
    let registered = service.register("ada", "second@example.com");
    let registered = service.delayed(held, account_core::code::VALIDITY, registered).await;
    assert_eq!(fault(registered), "success");
}

async fn a_cooldown_that_ends_while_a_request_waits_is_over(store: Store, _address: String) {
    let service = LockedService::new(store);
    service.account("ada", service.now()).await;
    let ada = email("ada@example.com");
    service.accounts.forgot_password(&ada, service.now()).await.expect("the same answer");
    service.code("ada@example.com").await;
    let held = service.hold_address("ada@example.com").await;
    let forgot = service.accounts.forgot_password(&ada, service.now());
    let cooldown = account_core::outbox::COOLDOWN;
    service.delayed(held, cooldown, forgot).await.expect("the same answer");
    let far = service.now() + TimeDelta::days(1);
    let due = account_core::store::NotificationStore::due_messages(
        &service.store,
        Channel::Mail,
        far,
        u32::MAX,
    );
    let due = due.await.expect("the store answers");
    let codes = due.iter().filter(|due| {
        let message = OutboundMessage::unseal(due.id, &due.sealed, &service.vault);
        matches!(message.expect("ours").content, Content::Reset { .. })
    });
    assert_eq!(codes.count(), 1, "a second e-mail: {}", Purpose::Reset.name());
}

async fn a_leeway_and_a_code_that_end_while_a_client_waits_are_over(
    store: Store,
    _address: String,
) {
    let service = LockedService::new(store);
    let ada = service.account("ada", service.now()).await;
    let client = service.oauth_client(service.now()).await;
    let code = service.consent(&ada, &client, service.now()).await;
    let tokens = service.exchange(&client, code).await.expect("a fresh code");
    let late = service.consent(&ada, &client, service.now()).await;
    let accounts = &service.accounts;
    accounts.refresh(refresh(&client, &tokens.refresh, 10)).await.expect("the first use");

    let held = service.hold_grants(&ada).await;
    let again = accounts.refresh(refresh(&client, &tokens.refresh, 10));
    let again = service.delayed(held, TimeDelta::seconds(9), again).await.expect("in the leeway");
    assert_eq!(
        again.expires_in,
        account_core::oauth::token::ACCESS_VALIDITY - TimeDelta::seconds(9)
    );
    let held = service.hold_grants(&ada).await;
    let again = accounts.refresh(refresh(&client, &tokens.refresh, 10));
    let again = service.delayed(held, TimeDelta::seconds(1), again).await;
    assert!(again.is_err(), "ten seconds after the rotation");

    let held = service.hold_account(&ada).await;
    let exchanged = service.exchange(&client, late);
    let exchanged = service.delayed(held, TimeDelta::seconds(50), exchanged).await;
    assert!(exchanged.is_err(), "a minute after the consent");
}

/// Real times and threads: whichever request reads its clock first, one of them rotates.
async fn of_eight_refreshes_at_once_one_wins_in_every_round(store: Store, _address: String) {
    let clock = Clock::system();
    let shared = clock.clone();
    let store = store.with_clock(move || shared.now());
    let service = LockedService::with(store, FixedClock::default());
    let ada = service.account("ada", clock.now()).await;
    let client = service.oauth_client(clock.now()).await;
    for round in 0..ROUNDS {
        let code = service.consent(&ada, &client, clock.now()).await;
        let tokens = service.exchange(&client, code).await.expect("a fresh code");
        let refreshes = (0..8).map(|_| {
            let (accounts, client) = (service.accounts.clone(), client.clone());
            let token = tokens.refresh.clone();
            tokio::spawn(async move { accounts.refresh(refresh(&client, &token, 0)).await })
        });
        let refreshes: Vec<_> = refreshes.collect();
        let mut won = Vec::new();
        for refreshed in refreshes {
            won.extend(refreshed.await.expect("no panic").ok());
        }
        assert_eq!(won.len(), 1, "round {round}");
        let bearer = service.accounts.bearer(&won[0].access, RESOURCE, clock.now()).await;
        assert!(bearer.is_err(), "round {round}: the others were reuse");
    }
}

async fn of_twelve_registrants_of_a_name_one_has_it_in_every_round(store: Store, _address: String) {
    let clock = Clock::system();
    let shared = clock.clone();
    let store = store.with_clock(move || shared.now());
    let service = LockedService::with(store, FixedClock::default());
    for round in 0..ROUNDS {
        let registrants = (0..12).map(|number| {
            let (accounts, clock) = (service.accounts.clone(), clock.clone());
            let form = form(&format!("ada{round}"), &format!("ada{round}-{number}@example.com"));
            tokio::spawn(async move { accounts.register(form, clock.now()).await })
        });
        let registrants: Vec<_> = registrants.collect();
        let mut told = Vec::new();
        for registered in registrants {
            told.push(fault(registered.await.expect("no panic")));
        }
        told.sort_unstable();
        assert_eq!(told[0], "success", "round {round}");
        assert_eq!(told[1..], ["username_taken"; 11], "round {round}");
    }
}
