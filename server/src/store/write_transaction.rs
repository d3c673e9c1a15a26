//! Transactions that write, and the locks that they hold.

use std::ops::Deref;

use account_core::digest::Digest;
use account_core::identity::Email;
use account_core::{StoreError, Timestamp};
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbErr, ExecResult, Statement, TransactionTrait,
};

use super::engine::{AdvisoryLock, lock};
use super::handle::Store;
use super::rows::stored;
use super::sqlite;
use super::write_lock::WriteGuard;
use crate::clock::Clock;

/// A transaction that writes. A drop without a commit rolls it back.
pub(super) struct WriteTransaction {
    transaction: DatabaseTransaction,
    clock: Clock,
    /// The lock of SQLite's writers, held until the end of the transaction.
    _guard: Option<WriteGuard>,
}

impl WriteTransaction {
    /// Returns the time now, with which a stored time may be compared.
    ///
    /// Every stored time that the locks of this transaction protect was written before, so it is not
    /// later than this time by the same clock. The time of a request's arrival may be earlier: the
    /// request has waited for the locks.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

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
        Ok(WriteTransaction { transaction, clock: self.clock.clone(), _guard: guard })
    }

    /// Begins a transaction that writes, and takes an advisory lock until its end.
    pub(super) async fn write_locked(
        &self,
        advisory_lock: AdvisoryLock<'_>,
    ) -> Result<WriteTransaction, StoreError> {
        let change = self.write().await?;
        lock(&change, advisory_lock).await?;
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
        for advisory_lock in locks {
            lock(&change, advisory_lock).await?;
        }
        Ok(change)
    }

    /// Executes one statement that writes, as a transaction of its own.
    pub(super) async fn execute(&self, statement: Statement) -> Result<ExecResult, StoreError> {
        self.execute_at(|_| statement).await
    }

    /// Executes one statement that writes, made for the time under the lock of SQLite's writers.
    pub(super) async fn execute_at(
        &self,
        statement: impl FnOnce(Timestamp) -> Statement,
    ) -> Result<ExecResult, StoreError> {
        let _guard = self.write_guard().await?;
        stored(self.writer.execute_raw(statement(self.clock.now())).await)
    }

    /// Takes the lock of SQLite's writers; `None` on PostgreSQL, where writers are concurrent.
    async fn write_guard(&self) -> Result<Option<WriteGuard>, StoreError> {
        match &self.sqlite_ledger {
            Some(sqlite_ledger) => sqlite_ledger.write_lock.acquire().await.map(Some),
            None => Ok(None),
        }
    }
}
