//! The check that the database takes writes, for the readiness of the service.
//!
//! A read does not notice a full disk. The check writes a row of a few pages and deletes it in the
//! same transaction, so that the log grows and nothing stays. An unlimited number of probes makes at
//! most one check in ten seconds, or one a second while writes fail.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use account_core::StoreError;
use sea_orm::ConnectionTrait;

use super::fault::StoreFault;
use super::handle::Store;
use super::rows::{statement, stored};

/// The time for which a successful check counts.
const PERIOD: Duration = Duration::from_secs(10);
/// The time for which a failed check counts.
const RETRY_PERIOD: Duration = Duration::from_secs(1);
/// The longest time of a check; after it other writers hold the lock, so writes are made.
const PATIENCE: Duration = Duration::from_millis(500);
/// The size of the row: several pages of SQLite, so that a full file has no room for the row.
const ROW_BYTES: usize = 16 * 1024;
/// The slot of the row, which is shorter than every other.
const SLOT: &[u8] = b"write check";

impl Store {
    /// Returns the reason why the database takes no writes, as of the latest check; `None` where
    /// the database takes writes.
    pub async fn write_fault(&self) -> Option<StoreFault> {
        let mut latest = self.write_probe.latest.lock().await;
        let is_suspect = self.write_probe.is_suspect.swap(false, Ordering::Relaxed);
        if let Some((at, fault)) = *latest {
            let period = if fault.is_some() { RETRY_PERIOD } else { PERIOD };
            if at.elapsed() < period && (fault.is_some() || !is_suspect) {
                return fault;
            }
        }
        let fault = match tokio::time::timeout(PATIENCE, self.write_and_delete()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the database takes no writes");
                Some(StoreFault::of(&error).unwrap_or(StoreFault::Unusable))
            }
            Err(_) => latest.and_then(|(_, fault)| fault),
        };
        *latest = Some((Instant::now(), fault));
        fault
    }

    /// Makes the next [`write_fault`](Self::write_fault) check again, after a call that could not
    /// write.
    pub fn suspect_writes(&self) {
        self.write_probe.is_suspect.store(true, Ordering::Relaxed);
    }

    async fn write_and_delete(&self) -> Result<(), StoreError> {
        let change = self.write().await?;
        let insert = "INSERT INTO kept_answer (slot, request, run, held_until, expires_at, body) \
                      VALUES ($1, $1, $1, 0, 0, $2)";
        let values = [SLOT.to_vec().into(), "x".repeat(ROW_BYTES).into()];
        stored(change.execute_raw(statement(insert, values)).await)?;
        let delete = "DELETE FROM kept_answer WHERE slot = $1";
        let delete = statement(delete, [SLOT.to_vec().into()]);
        stored(change.execute_raw(delete).await)?;
        stored(change.commit().await)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{on_each_engine, sqlite};
    use super::*;

    on_each_engine!(a_check_leaves_nothing_and_notices_a_database_that_takes_no_writes);

    async fn a_check_leaves_nothing_and_notices_a_database_that_takes_no_writes(
        store: Store,
        address: String,
    ) {
        use super::super::engine::is_postgres;
        use super::super::testing::open_again;

        assert_eq!(store.write_fault().await, None);
        let rows = statement("SELECT slot FROM kept_answer", []);
        assert_eq!(store.readers.query_all_raw(rows).await.expect("rows").len(), 0);
        if is_postgres(&store.writer) {
            let (path, _) = address.split_once('?').unwrap_or((&address, ""));
            let name = path.rsplit('/').next().expect("a name");
            let alter = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
            store.writer.execute_unprepared(&alter).await.expect("altered");
            // The setting is one of new connections.
            let later = open_again(&address).await;
            assert_eq!(later.write_fault().await, Some(StoreFault::ReadOnly));
            let reset = format!("ALTER DATABASE {name} RESET default_transaction_read_only");
            store.writer.execute_unprepared(&reset).await.expect("altered");
        } else {
            let read_only = "PRAGMA query_only = ON";
            store.writer.execute_unprepared(read_only).await.expect("a setting");
            assert_eq!(store.write_fault().await, None, "as of ten seconds ago");
            store.suspect_writes();
            assert_eq!(store.write_fault().await, Some(StoreFault::ReadOnly));
        }
    }

    #[tokio::test]
    async fn a_check_notices_a_full_file() {
        let (store, _folder) = sqlite().await.expect("always there");
        store.writer.execute_unprepared("PRAGMA max_page_count = 1").await.expect("a limit");
        assert_eq!(store.write_fault().await, Some(StoreFault::DiskFull));
    }
}
