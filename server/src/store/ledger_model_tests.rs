//! The store on SQLite against the model of the ledger, with restarts on the same file.

use std::sync::LazyLock;

use account_core::testing::model::{Home, ModelTest};
use proptest::test_runner::Config;
use proptest_state_machine::prop_state_machine;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::Store;
use super::testing::{address_in, open_again};

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

prop_state_machine! {
    #![proptest_config(Config { cases: 32, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_store_on_sqlite_answers_as_the_model(sequential 1..40 => ModelTest<File>);
}
