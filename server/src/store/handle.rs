//! The handle to an open database, which every query of the storage goes through.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use account_core::outbox::Channel;
use account_core::{StoreError, Timestamp};
use sea_orm::DatabaseConnection;
use tokio::sync::{Mutex, Notify};

use super::engine::is_postgres;
use super::fault::StoreFault;
use super::ledger::sqlite_ledger::SqliteLedger;
use crate::clock::Clock;

/// The storage of the service. A clone is another handle to the same connections.
#[derive(Clone)]
pub struct Store {
    pub(super) writer: DatabaseConnection,
    pub(super) readers: DatabaseConnection,
    /// The connection that settles calls on SQLite, with the lock of all writers; `None` on
    /// PostgreSQL.
    pub(super) sqlite_ledger: Option<Arc<SqliteLedger>>,
    pub(super) outbox_notify: Arc<OutboxNotify>,
    pub(super) generation: Arc<Generation>,
    /// The clock that is read under the locks of a transaction.
    pub(super) clock: Clock,
    pub(super) write_probe: Arc<WriteProbe>,
}

/// A counter of the events that invalidate this process's cached callers: its own commits and the
/// announced commits of other processes.
#[derive(Debug, Default)]
pub struct Generation(AtomicU64);

impl Generation {
    /// Returns the number of the current generation.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Starts the next generation, which invalidates what was read before.
    pub fn bump(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The signals that wake the outbox workers, one for each channel.
#[derive(Default)]
pub(super) struct OutboxNotify {
    mail: Notify,
    messaging: Notify,
}

impl OutboxNotify {
    const fn of(&self, channel: Channel) -> &Notify {
        match channel {
            Channel::Mail => &self.mail,
            Channel::Messaging => &self.messaging,
        }
    }

    /// Wakes each worker, or makes the next wait of a busy worker return at once.
    pub(super) fn notify_one(&self) {
        self.mail.notify_one();
        self.messaging.notify_one();
    }
}

/// The result of the latest check that the database takes writes.
#[derive(Default)]
pub(super) struct WriteProbe {
    pub(super) latest: Mutex<Option<(Instant, Option<StoreFault>)>>,
    /// True after a call that could not write.
    pub(super) is_suspect: AtomicBool,
}

impl account_core::Store for Store {
    fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Clock::from_fn(clock), ..self }
    }
}

impl Store {
    /// Combines the connections of an open database.
    pub(super) fn new(
        writer: DatabaseConnection,
        readers: DatabaseConnection,
        sqlite_ledger: Option<Arc<SqliteLedger>>,
    ) -> Self {
        let (outbox_notify, generation) = (Arc::default(), Arc::default());
        let (clock, write_probe) = (Clock::system(), Arc::default());
        Self { writer, readers, sqlite_ledger, outbox_notify, generation, clock, write_probe }
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.readers.ping().await.map_err(StoreError::new)
    }

    /// Returns whether other instances may use the same database.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        is_postgres(&self.writer)
    }

    /// Waits until this process writes a message to the outbox.
    pub async fn message_written(&self, channel: Channel) {
        self.outbox_notify.of(channel).notified().await;
    }

    /// Returns the counter of the events that invalidate this process's cached callers.
    #[must_use]
    pub fn generation(&self) -> &Arc<Generation> {
        &self.generation
    }

    /// Closes all connections after their current statements.
    pub async fn close(self) {
        if let Some(sqlite_ledger) = &self.sqlite_ledger {
            sqlite_ledger.write_lock.close().await;
        }
        for connections in [self.readers, self.writer] {
            if let Err(error) = connections.close().await {
                tracing::warn!(%error, "the database did not close in order");
            }
        }
    }
}
