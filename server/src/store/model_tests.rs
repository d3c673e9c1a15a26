//! The store on both engines against the models of `account-core`, with restarts on the same data and
//! other instances beside it.

use std::sync::LazyLock;

use account_core::testing::model::{
    CredentialsTest, Home, LedgerTest, LimitsTest, NotificationsTest, compare,
};
use quant_test_services::Postgres;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::{
    Store,
    testing::{address_in, open_again, postgres},
};

/// The sequences of operations on each engine.
const CASES: u32 = 24;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().enable_all().build().expect("a runtime"));

/// A database file.
struct File(TempDir);

impl Home for File {
    type Store = Store;

    fn create() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    async fn open(&self) -> Store {
        open_again(&address_in(&self.0)).await
    }

    fn run<F: Future>(future: F) -> F::Output {
        RUNTIME.block_on(future)
    }
}

/// A database of PostgreSQL.
struct PostgresDatabase(Postgres);

impl Home for PostgresDatabase {
    type Store = Store;

    fn create() -> Self {
        let (_, database) = RUNTIME.block_on(postgres()).expect("the test has asked for it before");
        Self(database)
    }

    async fn open(&self) -> Store {
        open_again(&self.0.address()).await
    }

    fn run<F: Future>(future: F) -> F::Output {
        RUNTIME.block_on(future)
    }
}

/// Returns whether PostgreSQL is installed.
fn has_postgres() -> bool {
    RUNTIME.block_on(postgres()).is_some()
}

#[test]
fn the_ledger_on_sqlite_answers_as_its_model() {
    compare::<LedgerTest<File>>(CASES, 1..40);
}

#[test]
fn the_ledger_on_postgres_answers_as_its_model() {
    if has_postgres() {
        compare::<LedgerTest<PostgresDatabase>>(CASES, 1..40);
    }
}

#[test]
fn the_credentials_on_sqlite_end_as_in_their_model() {
    compare::<CredentialsTest<File>>(CASES, 1..40);
}

#[test]
fn the_credentials_on_postgres_end_as_in_their_model() {
    if has_postgres() {
        compare::<CredentialsTest<PostgresDatabase>>(CASES, 1..40);
    }
}

#[test]
fn the_limits_on_sqlite_decide_as_their_model() {
    compare::<LimitsTest<File>>(CASES, 1..40);
}

#[test]
fn the_limits_on_postgres_decide_as_their_model() {
    if has_postgres() {
        compare::<LimitsTest<PostgresDatabase>>(CASES, 1..40);
    }
}

#[test]
fn the_notifications_on_sqlite_are_those_of_their_model() {
    compare::<NotificationsTest<File>>(CASES, 1..40);
}

#[test]
fn the_notifications_on_postgres_are_those_of_their_model() {
    if has_postgres() {
        compare::<NotificationsTest<PostgresDatabase>>(CASES, 1..40);
    }
}
