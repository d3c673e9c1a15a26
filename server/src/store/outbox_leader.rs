//! Which of several instances sends the letters.

use account_core::StoreError;
use account_core::outbox::Channel;
use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::{self, Connection, Postgres};

use super::Store;
use super::engine::is_postgres;

/// The advisory lock of whoever sends letters.
const LETTERS: i64 = 4;
/// The advisory lock of whoever sends messages.
const MESSAGES: i64 = 40;

/// The right to send what waits in a lane, which one process at a time has: two would send each letter twice. It
/// ends with this, or with its connection, so that another instance goes on where one has died.
pub struct OutboxLeader(Option<PoolConnection<Postgres>>);

impl Store {
    /// Takes the right to send what waits in a lane; `None` where another instance has it. SQLite has one
    /// service, which always has it.
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
            Channel::Mail => LETTERS,
            Channel::Messaging => MESSAGES,
        };
        let take = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(lock);
        let is_taken: bool = take.fetch_one(&mut *connection).await.map_err(StoreError::new)?;
        if !is_taken {
            return Ok(None);
        }
        // Back in the pool it would hold the lock for nobody.
        connection.close_on_drop();
        Ok(Some(OutboxLeader(Some(connection))))
    }
}

impl OutboxLeader {
    /// Whether the right is still there.
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
    async fn one_instance_sends_letters_and_another_goes_on_when_it_ends() {
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
