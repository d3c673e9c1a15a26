//! The log of the embedded database, brought into its file beside the calls.
//!
//! SQLite by itself does that within whichever commit finds a thousand pages in the log: every call
//! behind it waits, and a page that each batch changes is carried over again and again. Here it is
//! done now and then, while the calls go on.

use std::time::Duration;

use account_core::StoreError;
use sea_orm::ConnectionTrait;

use super::Store;
use super::ledger::sqlite_ledger::SqliteLedger;
use super::rows::{column, malformed, statement, stored};

/// How often somebody looks.
const EVERY: Duration = Duration::from_millis(100);
/// Pages that are worth carrying over.
const WORTH: i64 = 1_000;
/// Pages at which calls have to wait for it: the machine has no time left over, and the log would
/// grow for ever.
const TOO_LONG: i64 = 16_384;

const LENGTH: &str = "PRAGMA wal_checkpoint(NOOP)";
const CARRY_OVER: &str = "PRAGMA wal_checkpoint(PASSIVE)";

impl Store {
    /// Keeps the log of an embedded database short, for ever; on PostgreSQL there is nothing to do.
    pub async fn checkpoint_wal(self) {
        let Some(sqlite_ledger) = &self.sqlite_ledger else { return };
        let mut interval = tokio::time::interval(EVERY);
        loop {
            interval.tick().await;
            if let Err(error) = self.shorten_log(sqlite_ledger).await {
                tracing::warn!(%error, "the database's log could not be shortened");
            }
        }
    }

    /// Brings the log into the file, once it is worth it. Writers wait for the very last of it
    /// alone: only where nothing is left does the next one begin the log anew.
    async fn shorten_log(&self, sqlite_ledger: &SqliteLedger) -> Result<(), StoreError> {
        let length = self.log(LENGTH).await?;
        if length < WORTH {
            return Ok(());
        }
        if length < TOO_LONG {
            self.log(CARRY_OVER).await?;
        }
        let _guard = sqlite_ledger.write_lock.next().await?;
        self.log(CARRY_OVER).await?;
        Ok(())
    }

    /// Does so with the log; answers how many of its pages are not in the file.
    async fn log(&self, checkpoint: &str) -> Result<i64, StoreError> {
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
    async fn a_long_log_is_carried_over_and_a_short_one_left() {
        let (store, _home) = sqlite().await.expect("always there");
        let sqlite_ledger = store.sqlite_ledger.clone().expect("SQLite");
        let pages = async || store.log(LENGTH).await.expect("ok");
        while pages().await < WORTH {
            store.next_account_id().await.expect("ok");
            let before = pages().await;
            if before < WORTH {
                store.shorten_log(&sqlite_ledger).await.expect("ok");
                assert_eq!(pages().await, before, "it is short");
            }
        }
        store.shorten_log(&sqlite_ledger).await.expect("ok");
        assert_eq!(pages().await, 0);
        store.next_account_id().await.expect("ok");
        assert!(pages().await < 10, "the log began anew");
    }
}
