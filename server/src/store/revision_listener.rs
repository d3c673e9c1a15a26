//! What PostgreSQL announces: that the revision has moved.

use account_core::StoreError;
use sea_orm::sqlx::postgres::PgListener;
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::Store;
use super::engine::is_postgres;
use super::rows::{statement, stored};

const CHANNEL: &str = "quant_revision";

/// The announcements of a database, heard on a connection of their own.
pub struct RevisionListener(PgListener);

impl Store {
    /// Listens to the database's announcements; SQLite makes none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where there is no connection to listen on.
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
    /// Waits for the next announcement. One that is dropped while it waits misses none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the connection is lost, and with it perhaps an announcement.
    pub async fn next(&mut self) -> Result<(), StoreError> {
        match self.0.try_recv().await.map_err(StoreError::new)? {
            Some(_) => Ok(()),
            None => Err(StoreError::new("the connection was lost")),
        }
    }
}

/// Announces what a transaction changes, once it is committed.
pub(super) async fn announce(change: &DatabaseTransaction) -> Result<(), StoreError> {
    if is_postgres(change) {
        let announce = statement("SELECT pg_notify($1, '')", [CHANNEL.into()]);
        stored(change.execute_raw(announce).await)?;
    }
    Ok(())
}
