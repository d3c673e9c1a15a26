//! Empty stores for tests, on each engine.

use account_core::testing::FixedClock;
use account_core::{CallerId, Entry, Store as _, Timestamp, Usage};
use quant_test_services::Postgres;
use tempfile::TempDir;

use super::handle::Store;
use super::migration::Migrate;
use super::open::open_pooled;

/// The number of connections of a test.
const POOL: u32 = 8;

/// Defines a test on each engine for each function that takes an empty store and its address.
macro_rules! on_each_engine {
    ($($check:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                let (store, home) = $crate::store::testing::sqlite().await.expect("always there");
                super::$check(store, $crate::store::testing::address_in(&home)).await;
            })+
        }

        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                if let Some((store, home)) = $crate::store::testing::postgres().await {
                    super::$check(store, home.address()).await;
                }
            })+
        }
    };
}

pub(crate) use on_each_engine;

/// Returns an empty store in a folder that is removed with the handle.
pub(crate) async fn sqlite() -> Option<(Store, TempDir)> {
    let folder = tempfile::tempdir().expect("a folder");
    Some((open_again(&address_in(&folder)).await, folder))
}

/// Returns an empty store in a database that is removed with the handle; `None` without PostgreSQL.
pub(crate) async fn postgres() -> Option<(Store, Postgres)> {
    let database = Postgres::prepared(async |address: String| {
        open_again(&address).await.close().await;
    });
    let database = database.await?;
    Some((open_again(&database.address()).await, database))
}

/// Opens a store again, as another process does. Its clock stands still.
pub(crate) async fn open_again(address: &str) -> Store {
    let store = open_pooled(address, POOL, Migrate::Run).await.expect("a database");
    let clock = FixedClock::default();
    store.with_clock(move || clock.now())
}

pub(crate) fn address_in(folder: &TempDir) -> String {
    folder.path().join("test.sqlite").display().to_string()
}

/// Returns a call that took a millisecond.
pub(crate) fn call(caller: CallerId, cost: u32, request_id: u128, at: Timestamp) -> Entry {
    let usage = Usage {
        request_id,
        endpoint: "/a".into(),
        method: "POST".into(),
        status: 200,
        response_time_ms: 1,
        ip: [192, 0, 2, 77].into(),
        at,
    };
    Entry { caller, cost, usage, kept: None }
}
