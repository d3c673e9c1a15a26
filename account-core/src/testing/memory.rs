//! A store in memory: the simplest implementation of the storage traits.

mod accounts;
mod clean_up;
mod email_change;
mod external_identities;
mod keys;
mod leases;
mod ledger;
mod notifications;
mod oauth;
mod operator;
mod revocation;
mod secrets;
mod sign_in;
mod tables;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::client::ClientMark;
use crate::code::Challenge;
use crate::credits::Entry;
use crate::digest::Digest;
use crate::guest::NewGuest;
use crate::idempotency::Slot;
use crate::identity::{AccountId, CallerId, Contact, Email, GuestId, Username};
use crate::key::NewKey;
use crate::limit::lease::SharedWindow;
use crate::lockout::{Counter, Lockout};
use crate::operation::Operation;
use crate::outbox::SealedMessage;
use crate::password::PasswordHash;
use crate::spend_cap::SpendCap;
use crate::store::{
    KeyStatus, ListedSession, LoginTry, ResultId, StoredResult, Subscription, Transaction,
};
use crate::testing::FixedClock;
use crate::tier::Tier;
use crate::vault::WrappedSecret;
use crate::{StoreError, Timestamp};

const MICROSECONDS_A_MINUTE: i64 = 60_000_000;
const SECONDS_A_DAY: i64 = 86_400;

type Stored<T> = Result<T, StoreError>;

/// A store in memory. A clone is another handle to the same data.
#[derive(Clone)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Default for MemoryStore {
    /// An empty store, whose clock stands still.
    fn default() -> Self {
        let clock = FixedClock::default();
        Self { state: Arc::default(), clock: Arc::new(move || clock.now()) }
    }
}

impl crate::Store for MemoryStore {
    fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }
}

impl MemoryStore {
    /// Makes an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes a balance without the ledger, for tests of the audit.
    pub fn corrupt_balance(&self, account: AccountId, credits: u64) {
        if let Some(account) = self.lock().accounts.get_mut(&account) {
            account.balance = credits;
        }
    }

    /// Returns the number of storage calls, by which known and unknown addresses are compared.
    ///
    /// # Panics
    ///
    /// Panics where another holder of the store panicked.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state.lock().expect("no holder of the store panicked").calls
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().expect("no holder of the store panicked");
        state.calls += 1;
        state
    }

    /// Locks the data and then reads the clock.
    fn lock_and_time(&self) -> (MutexGuard<'_, State>, Timestamp) {
        let state = self.lock();
        let now = (self.clock)();
        (state, now)
    }
}

#[derive(Default)]
struct State {
    calls: u64,
    last_account: i64,
    accounts: BTreeMap<AccountId, Account>,
    keys: Vec<Key>,
    guests: BTreeMap<GuestId, NewGuest>,
    challenges: Vec<Tried>,
    messages: Vec<Waiting>,
    lockouts: HashMap<(Digest<Email>, Counter), Lockout>,
    known: HashMap<(Digest<Email>, Digest<ClientMark>), Timestamp>,
    last_try: i64,
    history: Vec<(Option<AccountId>, LoginTry)>,
    sessions: Vec<ListedSession>,
    last_session: i64,
    subscriptions: Vec<(AccountId, Subscription)>,
    last_subscription: i64,
    last_guest: i64,
    guest_counts: HashMap<(String, i64), u32>,
    ledger: Vec<LedgerRow>,
    usage: Vec<Called>,
    last_call: i64,
    /// The first day of which no usage row was removed.
    usage_since: i64,
    secrets: Vec<WrappedSecret>,
    results: HashMap<ResultId, StoredResult>,
    shared: HashMap<CallerId, SharedWindow>,
    oauth: tables::Oauth,
    slots: HashMap<Slot, tables::Taken>,
    notifications: tables::Notifications,
    identities: tables::Identities,
    operations: Vec<(AccountId, Operation)>,
    email_undos: Vec<tables::UndoRow>,
}

/// A recorded call, without caller and address once these are removed.
struct Called {
    id: i64,
    caller: Option<CallerId>,
    entry: Entry,
}

struct Account {
    username: Username,
    email: Email,
    password_hash: Option<PasswordHash>,
    contact: Contact,
    tier: Tier,
    hourly_limit: Option<u32>,
    balance: u64,
    spend_cap_per_day: Option<u64>,
    /// The days of the latest notices of the cap, which outlive a cap.
    cap_notices: SpendCap,
    is_admin: bool,
    mfa_enabled: bool,
    created_at: Timestamp,
    verified_at: Option<Timestamp>,
    last_login_at: Option<Timestamp>,
}

struct Key {
    account: AccountId,
    key: NewKey,
    status: KeyStatus,
    created_at: Timestamp,
}

struct Tried {
    challenge: Challenge,
    tries: u32,
    token_tries: u32,
    used: bool,
}

struct Waiting {
    message: SealedMessage,
    due_at: Option<Timestamp>,
    failures: u32,
}

struct LedgerRow {
    account: AccountId,
    /// The day since 1970 and the endpoint, for usage.
    usage_of: Option<(i64, String)>,
    transaction: Transaction,
}

impl Account {
    /// Returns the cap with the days of its notices.
    fn spend_cap(&self) -> Option<SpendCap> {
        self.spend_cap_per_day.map(|per_day| SpendCap { per_day, ..self.cap_notices })
    }
}

impl State {
    fn by_email(&self, email: &Email) -> Option<(AccountId, &Account)> {
        self.accounts.iter().find(|(_, account)| account.email == *email).map(|(id, a)| (*id, a))
    }

    fn verified(&self, email: &Email) -> Option<AccountId> {
        self.by_email(email).filter(|(_, account)| account.verified_at.is_some()).map(|(id, _)| id)
    }
}

fn day(at: Timestamp) -> i64 {
    at.timestamp().div_euclid(SECONDS_A_DAY)
}
