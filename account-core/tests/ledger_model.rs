//! The in-memory store against the model of the ledger.

use std::sync::LazyLock;

use account_core::testing::MemoryStore;
use account_core::testing::model::{Home, ModelTest};
use proptest::test_runner::Config;
use proptest_state_machine::prop_state_machine;
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

prop_state_machine! {
    #![proptest_config(Config { cases: 256, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_store_in_memory_answers_as_the_model(sequential 1..60 => ModelTest<Memory>);
}
