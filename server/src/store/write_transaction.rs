//! Transactions that write, and the locks that they hold.

use std::ops::Deref;

use account_core::StoreError;
use account_core::digest::Digest;
use account_core::identity::Email;
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbErr, ExecResult, Statement, TransactionTrait,
};

use super::engine::{AdvisoryLock, is_postgres};
use super::handle::Store;
use super::rows::{statement, stored};
use super::sqlite;
use super::write_lock::WriteGuard;

/// A transaction that writes. A drop without a commit rolls it back.
pub(super) struct WriteTransaction {
    transaction: DatabaseTransaction,
    /// The lock of SQLite's writers, held until the end of the transaction; `None` on PostgreSQL.
    _guard: Option<WriteGuard>,
}

impl WriteTransaction {
    /// Commits the transaction durably and releases its locks.
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
    /// Begins a transaction that writes. On SQLite no other transaction writes until its end; on
    /// PostgreSQL others do, and the module `engine` lists the consequences.
    pub(super) async fn write(&self) -> Result<WriteTransaction, StoreError> {
        let guard = self.write_guard().await?;
        let transaction = match guard {
            Some(_) => sqlite::begin_writing(&self.writer).await?,
            None => stored(self.writer.begin().await)?,
        };
        Ok(WriteTransaction { transaction, _guard: guard })
    }

    /// Begins a transaction that writes, and takes an advisory lock until its end.
    pub(super) async fn write_locked(
        &self,
        lock: AdvisoryLock<'_>,
    ) -> Result<WriteTransaction, StoreError> {
        let change = self.write().await?;
        wait_for(&change, lock).await?;
        Ok(change)
    }

    /// Begins a transaction that writes, and takes the advisory locks of two e-mail addresses until
    /// its end. The order of the locks is that of their keys, which prevents deadlocks.
    pub(super) async fn write_locked_addresses(
        &self,
        addresses: [&Digest<Email>; 2],
    ) -> Result<WriteTransaction, StoreError> {
        let mut locks = addresses.map(AdvisoryLock::Email);
        locks.sort_by_key(|lock| lock.key());
        let change = self.write().await?;
        for lock in locks {
            wait_for(&change, lock).await?;
        }
        Ok(change)
    }

    /// Executes one statement that writes, as a transaction of its own.
    pub(super) async fn execute(&self, statement: Statement) -> Result<ExecResult, StoreError> {
        let _guard = self.write_guard().await?;
        stored(self.writer.execute_raw(statement).await)
    }

    /// Takes the lock of SQLite's writers; `None` on PostgreSQL, where writers are concurrent.
    async fn write_guard(&self) -> Result<Option<WriteGuard>, StoreError> {
        match &self.sqlite_ledger {
            Some(sqlite_ledger) => sqlite_ledger.write_lock.acquire().await.map(Some),
            None => Ok(None),
        }
    }
}

/// Takes an advisory lock until the end of the transaction.
async fn wait_for(change: &WriteTransaction, lock: AdvisoryLock<'_>) -> Result<(), StoreError> {
    if is_postgres(&**change) {
        let wait = statement("SELECT pg_advisory_xact_lock($1)", [lock.key().into()]);
        stored(change.execute_raw(wait).await)?;
    }
    Ok(())
}
