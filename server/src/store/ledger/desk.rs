//! A writer's own way to the books, which lets no call fail for another's fault.

use account_core::{Entry, Ledger, Settlement, StoreError};

use super::super::Store;
use super::super::engine::is_postgres;
use super::postgres;

/// Writers on PostgreSQL: while one waits for a commit the others work.
const WRITERS: usize = 4;

/// What became of each call, in order.
pub(in super::super) type Settled = Vec<Result<Settlement, StoreError>>;

/// Where a writer settles its batches.
pub(in super::super) enum Desk {
    /// The one writer of SQLite.
    Sqlite(Store),
    /// One of the writers of PostgreSQL.
    Postgres(postgres::Desk),
}

impl Desk {
    /// The desks that this store has room for.
    pub(in super::super) fn of(store: Store) -> Vec<Self> {
        if !is_postgres(&store.writer) {
            return vec![Self::Sqlite(store)];
        }
        let pool = store.writer.get_postgres_connection_pool();
        (0..WRITERS).map(|_| Self::Postgres(postgres::Desk::new(pool.clone()))).collect()
    }

    /// Settles a batch.
    pub(in super::super) async fn settle(&mut self, batch: Vec<Entry>) -> Settled {
        match self {
            Self::Sqlite(store) => settle_embedded(store, batch).await,
            Self::Postgres(desk) => desk.settle(&batch).await,
        }
    }
}

/// A batch that failed left nothing behind, and a request id that is stored already is refused, so
/// its calls may be tried one by one.
async fn settle_embedded(store: &Store, batch: Vec<Entry>) -> Settled {
    let error = match store.settle(batch.clone()).await {
        Ok(settled) => return settled.into_iter().map(Ok).collect(),
        Err(error) => error,
    };
    tracing::warn!(%error, entries = batch.len(), "a batch failed; its entries are tried singly");
    let mut settled = Vec::with_capacity(batch.len());
    for entry in batch {
        let one = store.settle(vec![entry]).await;
        let none = || StoreError::new("an entry without a settlement");
        settled.push(one.and_then(|one| one.into_iter().next().ok_or_else(none)));
    }
    settled
}
