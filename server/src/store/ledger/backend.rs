//! The settlement of the ledger writer's batches, in which one faulty call does not affect the
//! others.

use std::sync::Arc;

use account_core::Entry;

use super::super::handle::Store;
use super::batch_parts::Settled;
use super::postgres_ledger::PostgresLedger;
use super::sqlite_ledger::SqliteLedger;

/// The number of tasks on PostgreSQL: while one waits for a commit, the other works. More tasks
/// would make smaller batches, which cost more per call.
const POSTGRES_TASKS: usize = 2;

/// The connection on which one task of the ledger writer settles its batches.
pub(in super::super) enum LedgerBackend {
    /// The one writer of the SQLite database.
    Sqlite(Arc<SqliteLedger>),
    /// The connection of one task on PostgreSQL.
    Postgres(PostgresLedger),
}

impl LedgerBackend {
    /// Returns a backend for each task of the ledger writer.
    pub(in super::super) fn all(store: &Store) -> Vec<Self> {
        if let Some(ledger) = &store.sqlite_ledger {
            return vec![Self::Sqlite(ledger.clone())];
        }
        let pool = store.writer.get_postgres_connection_pool();
        let backend = |_| Self::Postgres(PostgresLedger::new(pool.clone()));
        (0..POSTGRES_TASKS).map(backend).collect()
    }

    /// Returns whether settling blocks its thread, so that the task needs a thread of its own.
    pub(in super::super) const fn blocks_thread(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Settles a batch of calls in one transaction.
    pub(in super::super) async fn settle(&mut self, batch: &[Entry]) -> Settled {
        match self {
            Self::Sqlite(ledger) => ledger.settle_here(batch).await,
            Self::Postgres(ledger) => ledger.settle(batch).await,
        }
    }
}
