//! The election of the one instance that delivers the messages of a channel.

use account_core::StoreError;
use account_core::outbox::Channel;
use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::{self, Connection, Postgres};

use super::engine::{AdvisoryLock, is_postgres};
use super::handle::Store;

/// The right to deliver the waiting messages of a channel. One process at a time has the right,
/// because two would deliver each message twice. The right ends with this value or with its
/// connection, so that another instance continues after a crash.
pub struct OutboxLeader(Option<PoolConnection<Postgres>>);

impl Store {
    /// Takes the right to deliver the messages of a channel; `None` where another instance has the
    /// right. On SQLite there is one service, which always gets the right.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn outbox_leader(
        &self,
        channel: Channel,
    ) -> Result<Option<OutboxLeader>, StoreError> {
        if !is_postgres(&self.writer) {
            return Ok(Some(OutboxLeader(None)));
        }
        let pool = self.writer.get_postgres_connection_pool();
        let mut connection = pool.acquire().await.map_err(StoreError::new)?;
        let lock = match channel {
            Channel::Mail => AdvisoryLock::EmailDelivery,
            Channel::Messaging => AdvisoryLock::MessageDelivery,
        };
        let take = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(lock.key());
        let is_taken: bool = take.fetch_one(&mut *connection).await.map_err(StoreError::new)?;
        if !is_taken {
            return Ok(None);
        }
        // A connection that returned to the pool would hold the lock forever.
        connection.close_on_drop();
        Ok(Some(OutboxLeader(Some(connection))))
    }
}

impl OutboxLeader {
    /// Returns whether this process still has the right.
    pub async fn holds(&mut self) -> bool {
        match &mut self.0 {
            Some(connection) => connection.ping().await.is_ok(),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use account_core::outbox::Channel;

    use crate::store::testing::{open_again, postgres};

    #[tokio::test]
    async fn one_instance_delivers_and_another_continues_when_it_ends() {
        let Some((first, home)) = postgres().await else { return };
        let second = open_again(&home.address()).await;
        let mut leader =
            first.outbox_leader(Channel::Mail).await.expect("ok").expect("nobody else sends");
        assert!(leader.holds().await);
        assert!(second.outbox_leader(Channel::Mail).await.expect("ok").is_none());

        home.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' \
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        )
        .await;

        assert!(!leader.holds().await, "its connection is gone");
        drop(leader);
        let taken = async {
            while second.outbox_leader(Channel::Mail).await.expect("ok").is_none() {
                tokio::task::yield_now().await;
            }
        };
        taken.await;
    }
}
