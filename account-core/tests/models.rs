//! The in-memory store against the models of the ledger, of credentials, of limits that instances
//! share, and of notifications.

use std::sync::LazyLock;

use account_core::testing::MemoryStore;
use account_core::testing::model::{
    CredentialsTest, Home, LedgerTest, LimitsTest, NotificationsTest, compare,
};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().expect("a runtime"));

/// A store in memory, which every opening shares.
struct Memory(MemoryStore);

impl Home for Memory {
    type Store = MemoryStore;

    fn create() -> Self {
        Self(MemoryStore::new())
    }

    async fn open(&self) -> MemoryStore {
        self.0.clone()
    }

    fn run<F: Future>(future: F) -> F::Output {
        RUNTIME.block_on(future)
    }
}

#[test]
fn the_ledger_in_memory_answers_as_its_model() {
    compare::<LedgerTest<Memory>>(256, 1..60);
}

#[test]
fn the_credentials_in_memory_end_as_in_their_model() {
    compare::<CredentialsTest<Memory>>(256, 1..60);
}

#[test]
fn the_limits_in_memory_decide_as_their_model() {
    compare::<LimitsTest<Memory>>(256, 1..60);
}

#[test]
fn the_notifications_in_memory_are_those_of_their_model() {
    compare::<NotificationsTest<Memory>>(256, 1..60);
}
