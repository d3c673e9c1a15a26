//! Models of a store as state machines. A model states in plain values what a store must answer to a
//! sequence of operations. proptest draws and shrinks the sequences.
//!
//! A store is reached through its [`Home`], which also opens the store again, as another instance or
//! after a restart.

mod credentials;
mod ledger;
mod limits;
mod notifications;

use std::ops::Range;
use std::sync::Arc;

use chrono::TimeDelta;
use proptest::test_runner::{Config, TestError, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

pub use self::credentials::CredentialsTest;
pub use self::ledger::LedgerTest;
pub use self::limits::LimitsTest;
pub use self::notifications::NotificationsTest;
use crate::Timestamp;
use crate::accounts::Accounts;
use crate::accounts::operator::NewAccount;
use crate::identity::{Email, Username};
use crate::password::Password;
use crate::store::Store;
use crate::testing::{CheapHasher, FixedClock, seeded_rng};
use crate::tier::Tier;
use crate::vault::Vault;

/// The number of instances of the service in a model of several.
const INSTANCES: usize = 2;

/// The place of a store, which outlives each opening of the store.
pub trait Home: Sized {
    /// The store.
    type Store: Store + Clone;

    /// Makes an empty store in a place of its own.
    fn create() -> Self;

    /// Opens the store again, as after a restart.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;

    /// Runs a future to its end.
    fn run<F: Future>(future: F) -> F::Output;
}

/// Compares a store with a model in `cases` sequences of operations.
///
/// # Panics
///
/// Panics with the shortest sequence found after which the two differ.
pub fn compare<T: StateMachineTest>(cases: u32, operations: Range<usize>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let sequences = T::Reference::sequential_strategy(operations);
    let compared = TestRunner::new(config.clone()).run(&sequences, |(model, drawn, seen)| {
        T::test_sequential(config.clone(), model, drawn, seen);
        Ok(())
    });
    match compared {
        Ok(()) => {}
        Err(TestError::Fail(reason, (_, sequence, _))) => panic!("{reason}: {sequence:?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

fn email(number: usize) -> Email {
    Email::parse(&format!("user{number}@example.com")).expect("an address")
}

fn new_account(number: usize, password: Option<Password>, credits: u64) -> NewAccount {
    NewAccount {
        email: email(number),
        username: Username::parse(&format!("user{number}")).expect("a name"),
        password,
        tier: Tier::Pro,
        credits: Some(credits),
        hourly_limit: None,
        is_admin: false,
    }
}

/// Returns the vault of every opening.
fn vault() -> Vault {
    Vault::create(&mut seeded_rng(7))
}

/// Opens a store. Each opening of one store has a number of its own, so that it draws other secrets.
async fn opened<H: Home>(
    home: &H,
    clock: &FixedClock,
    opening: u64,
) -> Accounts<H::Store, CheapHasher> {
    let vault = Arc::new(vault());
    let shared = clock.clone();
    let store = home.open().await.with_clock(move || shared.now());
    Accounts::new(store, CheapHasher::default(), vault, seeded_rng(1_000 + opening))
}

/// An operation, with the number of the instance that carries it out.
type OnInstance<O> = (usize, O);

/// Instances of the service on one store, with one clock.
struct Instances<H: Home> {
    home: H,
    clock: FixedClock,
    opened: Vec<Accounts<H::Store, CheapHasher>>,
    /// The number of openings of the store so far.
    openings: u64,
}

impl<H: Home> Instances<H> {
    fn new() -> Self {
        let (home, clock) = (H::create(), FixedClock::default());
        let numbers = 1..=INSTANCES as u64;
        let instances = numbers.map(|opening| H::run(opened(&home, &clock, opening))).collect();
        Self { home, clock, opened: instances, openings: INSTANCES as u64 }
    }

    /// Returns the instance of a number, which counts the instances in a circle.
    fn at(&self, number: usize) -> &Accounts<H::Store, CheapHasher> {
        &self.opened[number % INSTANCES]
    }

    /// Restarts an instance.
    async fn reopen(&mut self, number: usize) {
        self.openings += 1;
        self.opened[number] = opened(&self.home, &self.clock, self.openings).await;
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn wait(&self, time: TimeDelta) {
        self.clock.advance(time);
    }
}
