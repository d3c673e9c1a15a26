//! The revision of cached callers: a number in the database that every invalidating commit raises.

use account_core::StoreError;
use sea_orm::ConnectionTrait;

use super::handle::Store;
use super::revision_listener;
use super::rows::{column, statement, stored};
use super::write_transaction::WriteTransaction;

impl Store {
    /// Returns the number of commits, by any process, that invalidated cached callers. Such a
    /// commit replaces, suspends or activates a key, changes a tier, limit or cap, grants credits, or
    /// ends the access of a client.
    ///
    /// A process that caches callers polls this number and clears its cache after a change.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn revision(&self) -> Result<i64, StoreError> {
        let query = statement("SELECT value FROM sequence WHERE name = 'revision'", []);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.as_ref().map_or(Ok(0), |row| column(row, "value"))
    }

    /// Commits a transaction that invalidates cached callers.
    ///
    /// This process starts a new [`Generation`](super::Generation) in any case, because a failed
    /// commit may have succeeded in the database.
    pub(super) async fn commit_revised(&self, change: WriteTransaction) -> Result<(), StoreError> {
        let revise = "UPDATE sequence SET value = value + 1 WHERE name = 'revision'";
        stored(change.execute_raw(statement(revise, [])).await)?;
        revision_listener::announce(&change).await?;
        let committed = stored(change.commit().await);
        self.generation.bump();
        committed
    }
}
