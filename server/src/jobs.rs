//! Background tasks: every periodic task of the service in one list, with its period.
//!
//! [`list`] makes the tasks, [`start`] starts all, and [`RunningJobs::stop`] aborts all between two
//! awaits. An interrupted task loses nothing: each round is repeated from the database at the next
//! start.
//!
//! Other tasks run on demand and belong to the value that feeds them, which also ends them:
//!
//! | task | started by | ended by |
//! |---|---|---|
//! | ledger writers | `store::LedgerWriter::start` | step 5 of the shutdown |
//! | lease writers | `store::LeaseWriter::start` | the end of the state, after step 9 |
//! | result writer | `store::ResultWriter::start` | step 7 of the shutdown |
//! | e-mail worker, one a channel | `email::Worker::start` | step 8 of the shutdown |
//! | password threads, one a core | `auth::passwords::Argon2Pool::new` | the end of the pool |

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};
use tokio::task::JoinHandle;

use crate::{
    api::mcp::Gateway,
    auth::cache::{self, CacheFreshness},
    clock::Clock,
    state::AppState,
    store::{self, Keyring, Store},
};

/// The time between two rounds of the clean-up.
const CLEAN_UP: Duration = Duration::from_secs(600);
/// The largest number of rows that one transaction of the clean-up deletes.
const CLEANED_AT_ONCE: u32 = 1000;
/// The time between two returns of leased calls.
const LEASES_RETURNED: Duration = Duration::from_secs(5);

/// A periodic task of the service.
pub struct Job {
    /// The name of the task, for the log.
    pub name: &'static str,
    /// The time between two rounds of the task.
    pub period: Duration,
    /// The effect of one round, for the log.
    pub purpose: &'static str,
    task: BoxFuture<'static, ()>,
}

/// The parts of the service that the tasks work on.
pub struct Parts {
    /// The shared state of the service.
    pub service: Arc<AppState>,
    /// The MCP endpoint, whose limits the clean-up sweeps.
    pub gateway: Arc<Gateway>,
    /// The data keys, which the task polls for changes.
    pub keyring: Keyring,
    /// The freshness of the caches of callers.
    pub freshness: Arc<CacheFreshness>,
    /// The revision of the store, read before the first caller was.
    pub revision: i64,
}

/// Returns every periodic task of the service.
#[must_use]
pub fn list(parts: Parts) -> [Job; 6] {
    let Parts { service, gateway, keyring, freshness, revision } = parts;
    let store = service.accounts.store().clone();
    [
        Job {
            name: "clean-up",
            period: CLEAN_UP,
            purpose: "deletes expired rows, forgets idle limits, makes the next usage tables",
            task: clean_up(service.clone(), gateway).boxed(),
        },
        Job {
            name: "lease return",
            period: LEASES_RETURNED,
            purpose: "returns leased calls whose cell has ended",
            task: return_leases(service).boxed(),
        },
        Job {
            name: "data key refresh",
            period: store::DATA_KEY_POLL_PERIOD,
            purpose: "reads data keys that another process has made",
            task: keyring.follow().boxed(),
        },
        Job {
            name: "WAL checkpoint",
            period: store::WAL_CHECKPOINT_PERIOD,
            purpose: "moves the write-ahead log of SQLite into the data file",
            task: store.clone().checkpoint_wal().boxed(),
        },
        Job {
            name: "usage index",
            period: store::USAGE_INDEX_PERIOD,
            purpose: "copies new calls into the index by account of SQLite",
            task: store.clone().maintain_usage_index().boxed(),
        },
        Job {
            name: "revision watch",
            period: cache::WATCHED,
            purpose: "empties the caches of callers after a change of a key, tier, limit or grant",
            task: async move { freshness.watch(&store, revision).await }.boxed(),
        },
    ]
}

/// The periodic tasks that are running.
pub struct RunningJobs(Vec<JoinHandle<()>>);

/// Starts the periodic tasks.
#[must_use]
pub fn start(jobs: impl IntoIterator<Item = Job>) -> RunningJobs {
    let start = |Job { name, period, purpose, task }| {
        tracing::debug!(name, ?period, purpose, "a background task starts");
        tokio::spawn(task)
    };
    RunningJobs(jobs.into_iter().map(start).collect())
}

impl RunningJobs {
    /// Aborts the periodic tasks at their next await.
    pub fn stop(self) {
        for task in self.0 {
            task.abort();
        }
    }
}

/// Makes the tables of the next months. Calls find a table without them, so a failure does not keep
/// the service from serving.
pub(crate) async fn prepare_partitions(store: &Store, clock: &Clock) {
    if let Err(error) = store.prepare_partitions(clock.now()).await {
        tracing::error!(%error, "the tables of the next months could not be made");
    }
}

/// Returns leased calls that were not used, so that other instances can lease them.
async fn return_leases(service: Arc<AppState>) {
    let mut interval = tokio::time::interval(LEASES_RETURNED);
    loop {
        interval.tick().await;
        service.limits.give_back_expired(service.clock.now()).await;
    }
}

async fn clean_up(service: Arc<AppState>, gateway: Arc<Gateway>) {
    let mut interval = tokio::time::interval(CLEAN_UP);
    loop {
        interval.tick().await;
        service.addresses.sweep();
        service.document_fetches.sweep();
        service.code_requests.sweep();
        gateway.sweep();
        service.limits.sweep(service.clock.now()).await;
        service.reserved_credits.sweep();
        prepare_partitions(service.accounts.store(), &service.clock).await;
        delete_expired(&service).await;
    }
}

/// Deletes expired guests, used codes, ended sessions and old usage rows.
async fn delete_expired(service: &AppState) {
    loop {
        let usage_days = service.settings.usage_days.map(NonZeroU32::get);
        match service.accounts.clean_up(service.clock.now(), CLEANED_AT_ONCE, usage_days).await {
            Ok(cleaned) if cleaned.more => {}
            Ok(_) => return,
            Err(error) => {
                tracing::error!(%error, "the clean-up failed; it is tried again later");
                return;
            }
        }
    }
}
