//! Changes, and whose turn it is to make one.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use account_core::StoreError;
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbErr, ExecResult, Statement, TransactionTrait,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::rows::stored;
use super::{Store, sqlite};

/// How long a writer waits for its turn.
const PATIENCE: Duration = Duration::from_secs(30);

/// The turns at writing to SQLite, which has one writer at a time: whoever meets another at the lock
/// of its file sleeps, and who slept longest comes no sooner. Here they wait in the order in which
/// they came. The pool's one writing connection would do for that too, but whoever gives it back has
/// it tested before the next gets it, which takes longer than most changes do.
pub(super) struct WriteLock(Arc<Semaphore>);

/// A turn, which lasts until it is dropped.
pub(super) struct WriteGuard {
    _permit: OwnedSemaphorePermit,
}

impl Default for WriteLock {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl WriteLock {
    /// The next turn, once all that came before are over.
    pub(super) async fn next(&self) -> Result<WriteGuard, StoreError> {
        let permit = tokio::time::timeout(PATIENCE, self.0.clone().acquire_owned()).await;
        let permit =
            permit.map_err(|_| StoreError::new("others have been writing for too long"))?;
        let _permit = permit.map_err(|_| StoreError::new("the database is closed"))?;
        Ok(WriteGuard { _permit })
    }

    /// Lets those who came before write, and nobody after them.
    pub(super) async fn end(&self) {
        // Whoever is still writing after so long is not waited for.
        let _last = self.next().await;
        self.0.close();
    }
}

/// A transaction that writes. What is not committed is undone.
pub(super) struct WriteTransaction {
    transaction: DatabaseTransaction,
    /// On SQLite, for as long as the transaction is there.
    _guard: Option<WriteGuard>,
}

impl WriteTransaction {
    /// Makes the change durable; its turn is over then.
    pub(super) async fn commit(self) -> Result<(), DbErr> {
        self.transaction.commit().await
    }
}

impl Deref for WriteTransaction {
    type Target = DatabaseTransaction;

    fn deref(&self) -> &DatabaseTransaction {
        &self.transaction
    }
}

impl Store {
    /// Begins a transaction that writes. On SQLite it is alone from its first statement; on
    /// PostgreSQL it is not, and `engine` tells what that asks of it.
    pub(super) async fn write(&self) -> Result<WriteTransaction, StoreError> {
        let guard = self.guard().await?;
        let transaction = match guard {
            Some(_) => sqlite::begin_writing(&self.writer).await?,
            None => stored(self.writer.begin().await)?,
        };
        Ok(WriteTransaction { transaction, _guard: guard })
    }

    /// Makes a change of one statement.
    pub(super) async fn execute(&self, statement: Statement) -> Result<ExecResult, StoreError> {
        let _guard = self.guard().await?;
        stored(self.writer.execute_raw(statement).await)
    }

    /// The next turn, where those who write take turns.
    async fn guard(&self) -> Result<Option<WriteGuard>, StoreError> {
        match &self.sqlite_ledger {
            Some(sqlite_ledger) => sqlite_ledger.write_lock.next().await.map(Some),
            None => Ok(None),
        }
    }
}
