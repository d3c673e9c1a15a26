//! Changes, and whose turn it is to make one.

use std::ops::Deref;
use std::sync::Arc;

use account_core::StoreError;
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbErr, ExecResult, Statement, TransactionTrait,
};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::rows::stored;
use super::{Store, engine, sqlite};

/// The turns at writing to SQLite, which has one writer at a time: whoever meets another at the lock
/// of its file sleeps, and who slept longest comes no sooner. Here they wait in the order in which
/// they came, and go on at once; the pool's one writing connection is tested by the pool before it
/// goes to the next, which takes longer than most changes do.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<Mutex<()>>);

/// A turn, which lasts until it is dropped.
pub(super) struct HeldTurn {
    _guard: OwnedMutexGuard<()>,
}

impl Turns {
    /// The next turn, once all that came before are over.
    pub(super) async fn next(&self) -> HeldTurn {
        HeldTurn { _guard: self.0.clone().lock_owned().await }
    }
}

/// A transaction that writes. What is not committed is undone.
pub(super) struct Change {
    transaction: DatabaseTransaction,
    /// The turn that it has, on SQLite.
    turn: Option<HeldTurn>,
}

impl Change {
    /// Makes the change durable.
    pub(super) async fn commit(self) -> Result<(), DbErr> {
        let Self { transaction, turn } = self;
        let committed = transaction.commit().await;
        drop(turn);
        committed
    }
}

impl Deref for Change {
    type Target = DatabaseTransaction;

    fn deref(&self) -> &DatabaseTransaction {
        &self.transaction
    }
}

impl Store {
    /// Begins a transaction that writes. On SQLite it is alone from its first statement; on
    /// PostgreSQL it is not, and `engine` tells what that asks of it.
    pub(super) async fn write(&self) -> Result<Change, StoreError> {
        if engine::is_postgres(&self.writer) {
            return Ok(Change { transaction: stored(self.writer.begin().await)?, turn: None });
        }
        let turn = Some(self.turns.next().await);
        Ok(Change { transaction: sqlite::begin_writing(&self.writer).await?, turn })
    }

    /// Makes a change of one statement.
    pub(super) async fn execute(&self, statement: Statement) -> Result<ExecResult, StoreError> {
        let _turn = match engine::is_postgres(&self.writer) {
            true => None,
            false => Some(self.turns.next().await),
        };
        stored(self.writer.execute_raw(statement).await)
    }
}
