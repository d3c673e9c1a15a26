//! A writer's own way to the books, which lets no call fail for another's fault.

use std::sync::Arc;

use account_core::{Entry, Settlement, StoreError};

use super::super::Store;
use super::{postgres_ledger, sqlite_ledger};

/// Writers on PostgreSQL: while one waits for a commit the other works. More of them would make
/// smaller batches, which cost more a call.
const WRITERS: usize = 2;

/// What became of each call, in order.
pub(in super::super) type Settled = Vec<Result<Settlement, StoreError>>;

/// Where a writer settles its batches.
pub(in super::super) enum LedgerBackend {
    /// The one writer of SQLite.
    Sqlite(Arc<sqlite_ledger::SqliteLedger>),
    /// One of the writers of PostgreSQL.
    Postgres(postgres_ledger::PostgresLedger),
}

impl LedgerBackend {
    /// The desks that this store has room for.
    pub(in super::super) fn of(store: &Store) -> Vec<Self> {
        if let Some(ledger) = &store.sqlite_ledger {
            return vec![Self::Sqlite(ledger.clone())];
        }
        let pool = store.writer.get_postgres_connection_pool();
        (0..WRITERS)
            .map(|_| Self::Postgres(postgres_ledger::PostgresLedger::new(pool.clone())))
            .collect()
    }

    /// Whether settling keeps its thread, which then has to be the writer's own.
    pub(in super::super) const fn keeps_its_thread(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Settles a batch.
    pub(in super::super) async fn settle(&mut self, batch: &[Entry]) -> Settled {
        match self {
            Self::Sqlite(ledger) => ledger.settle_here(batch).await,
            Self::Postgres(ledger) => ledger.settle(batch).await,
        }
    }
}
