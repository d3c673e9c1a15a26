//! What the two engines do differently, in one place.
//!
//! A statement is written once, for both:
//!
//! - Parameters are `$1`, `$2`, …; every whole number is bound as 64 bits ([`statement`] sees to
//!   it for all but `i32`), and read with [`narrow`](super::rows::narrow), whatever the column's
//!   width. Digests and numbers of 128 bits are bytes, moments microseconds.
//! - `sum` of whole numbers is a `numeric` on PostgreSQL: `CAST(sum(credits) AS BIGINT)`. A
//!   function's whole argument, as of `substr`, is bound as `i32`.
//! - `ON CONFLICT`, `RETURNING`, `FILTER`, common table expressions, row values and
//!   `LIMIT … OFFSET …` are the same; `ORDER BY` puts NULL first on SQLite and last on PostgreSQL.
//! - A list is one parameter, a JSON array of whole numbers, looked into with [`elements`].
//! - What cannot be said alike is said twice, side by side, with [`by_engine`].
//!
//! On SQLite a transaction that writes is alone from its first statement. On PostgreSQL others
//! write meanwhile, and each statement sees what is committed when it starts (`READ COMMITTED`).
//! So whoever reads and then writes what follows from it does one of these:
//!
//! - a guarded change whose count of rows is looked at: `UPDATE … WHERE id = $1 AND NOT used`;
//! - [`lock_account`] before the account, its keys or its balance are read;
//! - a [`AdvisoryLock`], taken by [`Store::write_locked`], where a whole flow must be alone: all that
//!   happens to one e-mail address, or work that only one instance should do at a time;
//! - [`unless_taken`](super::rows::unless_taken) where two may write the same unique value.
//!
//! Locks are taken in this order, so that nobody waits in a circle: turn, account, guest, the rest.

use account_core::digest::Digest;
use account_core::identity::Email;
use account_core::{AccountId, StoreError};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend};

use super::Store;
use super::rows::{statement, stored};
use super::write_transaction::WriteTransaction;

/// What a transaction is alone with, among all that take a turn at it in any instance.
#[derive(Clone, Copy)]
pub(super) enum AdvisoryLock<'a> {
    /// Everything about an address: forms, codes, letters, tries, known clients.
    Email(&'a Digest<Email>),
    /// Taking away what is over.
    CleanUp,
    /// The wrapped secrets.
    Secrets,
}

impl AdvisoryLock<'_> {
    /// The number of the advisory lock. Two that share one wait for each other in vain, no more.
    fn key(self) -> i64 {
        match self {
            Self::Email(digest) => {
                let (first, _) = digest.as_bytes().split_at(8);
                i64::from_be_bytes(first.try_into().expect("eight bytes"))
            }
            Self::CleanUp => 1,
            Self::Secrets => 2,
        }
    }
}

impl Store {
    /// Begins a transaction that writes, once no other has this turn.
    pub(super) async fn write_locked(
        &self,
        lock: AdvisoryLock<'_>,
    ) -> Result<WriteTransaction, StoreError> {
        let change = self.write().await?;
        if is_postgres(&*change) {
            let wait = statement("SELECT pg_advisory_xact_lock($1)", [lock.key().into()]);
            stored(change.execute_raw(wait).await)?;
        }
        Ok(change)
    }
}

/// Keeps others from changing an account, its keys or its balance until the transaction ends.
pub(super) async fn lock_account(
    change: &DatabaseTransaction,
    account: AccountId,
) -> Result<(), StoreError> {
    if is_postgres(change) {
        let lock = "SELECT id FROM account WHERE id = $1 FOR UPDATE";
        stored(change.execute_raw(statement(lock, [account.0.into()])).await)?;
    }
    Ok(())
}

/// The one of two statements, or parts of them, that this database takes.
pub(super) fn by_engine<'a>(
    connection: &impl ConnectionTrait,
    sqlite: &'a str,
    postgres: &'a str,
) -> &'a str {
    if is_postgres(connection) { postgres } else { sqlite }
}

/// The whole numbers of a JSON array that is bound as `$1`, to stand behind `IN`.
pub(super) fn elements(connection: &impl ConnectionTrait) -> &'static str {
    by_engine(
        connection,
        "(SELECT value FROM json_each($1))",
        "(SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($1 AS JSON)))",
    )
}

pub(super) fn is_postgres(connection: &impl ConnectionTrait) -> bool {
    connection.get_database_backend() == DbBackend::Postgres
}
