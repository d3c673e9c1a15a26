//! A writer's own way to the books, which lets no call fail for another's fault.

use std::sync::Arc;

use account_core::{Entry, Settlement, StoreError};

use super::super::Store;
use super::{postgres, sqlite};

/// Writers on PostgreSQL: while one waits for a commit the other works. More of them would make
/// smaller batches, which cost more a call.
const WRITERS: usize = 2;

/// What became of each call, in order.
pub(in super::super) type Settled = Vec<Result<Settlement, StoreError>>;

/// Where a writer settles its batches.
pub(in super::super) enum Desk {
    /// The one writer of SQLite.
    Sqlite(Arc<sqlite::Books>),
    /// One of the writers of PostgreSQL.
    Postgres(postgres::Desk),
}

impl Desk {
    /// The desks that this store has room for.
    pub(in super::super) fn of(store: &Store) -> Vec<Self> {
        if let Some(books) = &store.books {
            return vec![Self::Sqlite(books.clone())];
        }
        let pool = store.writer.get_postgres_connection_pool();
        (0..WRITERS).map(|_| Self::Postgres(postgres::Desk::new(pool.clone()))).collect()
    }

    /// Whether settling keeps its thread, which then has to be the writer's own.
    pub(in super::super) const fn keeps_its_thread(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Settles a batch.
    pub(in super::super) async fn settle(&mut self, batch: &[Entry]) -> Settled {
        match self {
            Self::Sqlite(books) => books.settle_here(batch).await,
            Self::Postgres(desk) => desk.settle(batch).await,
        }
    }
}
