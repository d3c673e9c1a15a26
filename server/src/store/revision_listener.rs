//! The notifications by which PostgreSQL announces a new revision.

use account_core::StoreError;
use sea_orm::sqlx::postgres::PgListener;
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::engine::is_postgres;
use super::handle::Store;
use super::rows::{statement, stored};

const CHANNEL: &str = "quant_revision";

/// A listener for the notifications of a database, on a connection of its own.
pub struct RevisionListener(PgListener);

impl Store {
    /// Starts a listener; `None` on SQLite, which has no notifications.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where no connection can be opened.
    pub async fn revision_listener(&self) -> Result<Option<RevisionListener>, StoreError> {
        if !is_postgres(&self.readers) {
            return Ok(None);
        }
        let pool = self.readers.get_postgres_connection_pool();
        let mut listener = PgListener::connect_with(pool).await.map_err(StoreError::new)?;
        listener.listen(CHANNEL).await.map_err(StoreError::new)?;
        Ok(Some(RevisionListener(listener)))
    }
}

impl RevisionListener {
    /// Waits for the next notification. A cancelled wait loses no notification.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the connection is lost; notifications may be lost with it.
    pub async fn next(&mut self) -> Result<(), StoreError> {
        match self.0.try_recv().await.map_err(StoreError::new)? {
            Some(_) => Ok(()),
            None => Err(StoreError::new("the connection was lost")),
        }
    }
}

/// Sends a notification when the transaction commits; does nothing on SQLite.
pub(super) async fn announce(change: &DatabaseTransaction) -> Result<(), StoreError> {
    if is_postgres(change) {
        let announce = statement("SELECT pg_notify($1, '')", [CHANNEL.into()]);
        stored(change.execute_raw(announce).await)?;
    }
    Ok(())
}
