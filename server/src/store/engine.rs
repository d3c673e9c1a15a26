//! The differences between the two engines, and the locks that follow from them.
//!
//! A statement is written once, for both engines:
//!
//! - Parameters are `$1`, `$2`, …. [`statement`] binds every integer as 64 bits, except `i32`.
//!   [`narrow`](super::rows::narrow) reads an integer from a column of any width. Digests and
//!   numbers of 128 bits are bytes, times are microseconds.
//! - `sum` of integers is a `numeric` on PostgreSQL: `CAST(sum(credits) AS BIGINT)`. An integer
//!   argument of a function such as `substr` is bound as `i32`.
//! - `ON CONFLICT`, `RETURNING`, `FILTER`, common table expressions, row values and
//!   `LIMIT … OFFSET …` are the same. `ORDER BY` puts NULL first on SQLite and last on PostgreSQL.
//! - A list is one parameter, a JSON array of integers, expanded with [`elements`].
//! - A statement that differs is written twice, side by side, with [`by_engine`].
//!
//! On SQLite a writing transaction excludes all others from its first statement. On PostgreSQL
//! other transactions write concurrently, and each statement sees the rows that were committed
//! before its start (`READ COMMITTED`). A write that depends on an earlier read therefore needs one
//! of these:
//!
//! - a conditional update whose row count is checked: `UPDATE … WHERE id = $1 AND NOT used`;
//! - [`lock_account`] before the account, its keys or its balance are read;
//! - an [`AdvisoryLock`], taken by [`Store::write_locked`](super::Store), for a flow that must not
//!   run twice at once: everything about one e-mail address, or a task of one instance at a time;
//! - [`unless_taken`](super::rows::unless_taken) where two writers may insert one unique value.
//!
//! Locks are taken in this order, which prevents deadlocks: advisory lock of an e-mail address, of
//! a user name, account, guest, the rest.
//!
//! A rule that compares a stored time with the present reads the clock after all of these locks:
//! [`WriteTransaction::now`](super::write_transaction::WriteTransaction::now).

use account_core::digest::Digest;
use account_core::identity::Email;
use account_core::{AccountId, StoreError, Username};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend};
use sha2::{Digest as _, Sha256};

use super::rows::{statement, stored};

/// Every advisory lock of PostgreSQL that this program takes. On SQLite the single writer replaces
/// the locks.
#[derive(Clone, Copy)]
pub(super) enum AdvisoryLock<'a> {
    /// The lock of all rows about an e-mail address: registrations, codes, e-mails, sign-ins, known
    /// clients.
    Email(&'a Digest<Email>),
    /// The accounts and registrations that have or want a user name.
    Username(&'a Username),
    /// The deletion of expired rows, and the partitions of usage rows.
    CleanUp,
    /// The lock of the wrapped secrets: the creation and rotation of data keys.
    Secrets,
    /// The lock of the migrations, held by a connection and not by a transaction.
    Migrations,
    /// The lock of the delivery of e-mails, held by the connection of the one instance that sends
    /// e-mails.
    EmailDelivery,
    /// The lock of the delivery of messages, held by the connection of the one instance that sends
    /// messages.
    MessageDelivery,
}

impl AdvisoryLock<'_> {
    /// Returns the key of the lock. Two e-mail addresses or names with one key, or one with the key
    /// of another lock, only wait for each other.
    pub(super) fn key(self) -> i64 {
        match self {
            Self::Email(digest) => first_eight(digest.as_bytes()),
            Self::Username(name) => first_eight(&Sha256::digest(name.key()).into()),
            Self::CleanUp => 1,
            Self::Secrets => 2,
            Self::Migrations => 3,
            Self::EmailDelivery => 4,
            Self::MessageDelivery => 40,
        }
    }
}

fn first_eight(digest: &[u8; 32]) -> i64 {
    let (first, _) = digest.split_at(8);
    i64::from_be_bytes(first.try_into().expect("eight bytes"))
}

/// Takes an advisory lock until the end of the transaction.
pub(super) async fn lock(
    change: &DatabaseTransaction,
    lock: AdvisoryLock<'_>,
) -> Result<(), StoreError> {
    if is_postgres(change) {
        let wait = statement("SELECT pg_advisory_xact_lock($1)", [lock.key().into()]);
        stored(change.execute_raw(wait).await)?;
    }
    Ok(())
}

/// Locks an account, its keys and its balance until the end of the transaction.
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

/// Returns the one of two statements, or of two parts of a statement, for this engine.
pub(super) fn by_engine<'a>(
    connection: &impl ConnectionTrait,
    sqlite: &'a str,
    postgres: &'a str,
) -> &'a str {
    if is_postgres(connection) { postgres } else { sqlite }
}

/// Returns the subquery, for use after `IN`, that lists the integers of the JSON array in `$1`.
pub(super) fn elements(connection: &impl ConnectionTrait) -> &'static str {
    by_engine(
        connection,
        "(SELECT value FROM json_each($1))",
        "(SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($1 AS JSON)))",
    )
}

/// Returns whether a connection is one to PostgreSQL.
pub(super) fn is_postgres(connection: &impl ConnectionTrait) -> bool {
    connection.get_database_backend() == DbBackend::Postgres
}
