//! Statistics of the store for the operator.

use account_core::StoreError;
use sea_orm::{ConnectionTrait, DatabaseConnection};

use super::engine::is_postgres;
use super::handle::Store;
use super::migration;
use super::rows::{narrow, statement, stored};

/// The messages that wait for delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxLoad {
    /// The number of messages that wait, due or postponed.
    pub waiting: u32,
    /// The number of waiting messages whose delivery has failed at least once.
    pub failed: u32,
}

/// The connections of one pool to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The use of the pool: `all`, `writer` or `readers`.
    pub name: &'static str,
    /// The number of open connections of the pool.
    pub open: u32,
    /// The number of open connections that are not in use.
    pub idle: u32,
}

impl Store {
    /// Counts the messages that wait for delivery.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn outbox_load(&self) -> Result<OutboxLoad, StoreError> {
        let query = "SELECT count(*) AS waiting, count(CASE WHEN failures > 0 THEN 1 END) AS failed \
                     FROM outbound_message WHERE due_at IS NOT NULL";
        let row = stored(self.readers.query_one_raw(statement(query, [])).await)?;
        row.map_or(Ok(OutboxLoad::default()), |row| {
            Ok(OutboxLoad { waiting: narrow(&row, "waiting")?, failed: narrow(&row, "failed")? })
        })
    }

    /// Returns whether every migration of this program is applied.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn is_up_to_date(&self) -> Result<bool, StoreError> {
        Ok(migration::missing(&self.readers).await?.is_none())
    }

    /// Returns the state of each pool of connections.
    #[must_use]
    pub fn pools(&self) -> Vec<Pool> {
        if is_postgres(&self.writer) {
            return vec![pool("all", &self.writer)];
        }
        vec![pool("writer", &self.writer), pool("readers", &self.readers)]
    }
}

fn pool(name: &'static str, connection: &DatabaseConnection) -> Pool {
    let (open, idle) = if is_postgres(connection) {
        let pool = connection.get_postgres_connection_pool();
        (pool.size(), pool.num_idle())
    } else {
        let pool = connection.get_sqlite_connection_pool();
        (pool.size(), pool.num_idle())
    };
    Pool { name, open, idle: u32::try_from(idle).unwrap_or(u32::MAX) }
}
