//! The checkpoints of SQLite's write-ahead log, made by a background task.
//!
//! SQLite's automatic checkpoint runs within the commit that finds a thousand pages in the log:
//! every later call waits, and a page that each batch changes is copied at every checkpoint. The
//! background task copies pages while the calls go on.

use std::time::Duration;

use account_core::StoreError;
use sea_orm::ConnectionTrait;

use super::handle::Store;
use super::ledger::sqlite_ledger::SqliteLedger;
use super::rows::{column, malformed, statement, stored};

/// The period at which the length of the log is checked.
pub const WAL_CHECKPOINT_PERIOD: Duration = Duration::from_millis(100);
/// The length of the log, in pages, from which a checkpoint runs.
const CHECKPOINT_PAGES: i64 = 1_000;
/// The length of the log, in pages, from which calls wait for the checkpoint: the machine is
/// saturated, and the log would grow without bound.
const BLOCKING_PAGES: i64 = 16_384;

const LENGTH: &str = "PRAGMA wal_checkpoint(NOOP)";
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

impl Store {
    /// Checks the length of SQLite's log every [`WAL_CHECKPOINT_PERIOD`] and checkpoints a long
    /// log; ends at once on PostgreSQL.
    pub async fn checkpoint_wal(self) {
        let Some(sqlite_ledger) = &self.sqlite_ledger else { return };
        let mut interval = tokio::time::interval(WAL_CHECKPOINT_PERIOD);
        loop {
            interval.tick().await;
            if let Err(error) = self.checkpoint_if_long(sqlite_ledger).await {
                tracing::warn!(%error, "the write-ahead log could not be checkpointed");
            }
        }
    }

    /// Checkpoints the log once it is long. The first checkpoint runs concurrently with writers.
    /// The second one, under the write lock, copies the rest: only a fully copied log is restarted
    /// by the next writer.
    async fn checkpoint_if_long(&self, sqlite_ledger: &SqliteLedger) -> Result<(), StoreError> {
        let pages = self.pending_pages(LENGTH).await?;
        if pages < CHECKPOINT_PAGES {
            return Ok(());
        }
        if pages < BLOCKING_PAGES {
            self.pending_pages(CHECKPOINT).await?;
        }
        let _guard = sqlite_ledger.write_lock.acquire().await?;
        self.pending_pages(CHECKPOINT).await?;
        Ok(())
    }

    /// Runs a checkpoint statement and returns the number of pages that are not in the file.
    async fn pending_pages(&self, checkpoint: &str) -> Result<i64, StoreError> {
        let row = stored(self.readers.query_one_raw(statement(checkpoint, [])).await)?;
        let row = row.ok_or_else(|| malformed("log"))?;
        Ok(column::<i64>(&row, "log")? - column::<i64>(&row, "checkpointed")?)
    }
}

#[cfg(test)]
mod tests {
    use account_core::store::AccountStore;

    use super::super::testing::sqlite;
    use super::*;

    #[tokio::test]
    async fn a_long_log_is_checkpointed_and_a_short_one_left() {
        let (store, _home) = sqlite().await.expect("always there");
        let sqlite_ledger = store.sqlite_ledger.clone().expect("SQLite");
        let pages = async || store.pending_pages(LENGTH).await.expect("ok");
        while pages().await < CHECKPOINT_PAGES {
            store.next_account_id().await.expect("ok");
            let before = pages().await;
            if before < CHECKPOINT_PAGES {
                store.checkpoint_if_long(&sqlite_ledger).await.expect("ok");
                assert_eq!(pages().await, before, "it is short");
            }
        }
        store.checkpoint_if_long(&sqlite_ledger).await.expect("ok");
        assert_eq!(pages().await, 0);
        store.next_account_id().await.expect("ok");
        assert!(pages().await < 10, "the log was restarted");
    }
}
