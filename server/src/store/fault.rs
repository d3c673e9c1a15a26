//! The states in which the database cannot work, read from the errors of both engines.

use std::error::Error;
use std::sync::Arc;

use account_core::StoreError;
use sea_orm::sqlx;
use sea_orm::sqlx::sqlite::SqliteError;
use sea_orm::{DbErr, RuntimeErr};

/// A state of the database in which calls fail until the operator, or time, removes its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFault {
    /// No space is left for the data.
    DiskFull,
    /// The files, the server or the session take no writes.
    ReadOnly,
    /// The files cannot be opened, read or written.
    Unusable,
    /// Another process holds the lock of the file.
    Locked,
    /// The server lacks memory, connections or another resource.
    Overloaded,
    /// The database server does not answer.
    Unreachable,
    /// The database was lost during a charge, and did not return in time to show its outcome.
    Undecided,
}

/// The error of a charge whose outcome is unknown: its connection was lost before the answer.
#[derive(Debug, thiserror::Error)]
#[error("the outcome of the charge is unknown: {0}")]
pub(super) struct UndecidedCharge(pub(super) Arc<sqlx::Error>);

impl StoreFault {
    /// Returns the state that an error reports; `None` for an error of a statement or of a row.
    #[must_use]
    pub fn of(error: &StoreError) -> Option<Self> {
        let mut cause = Some(error.cause());
        while let Some(error) = cause {
            if let Some(fault) = of_cause(error) {
                return Some(fault);
            }
            cause = error.source();
        }
        None
    }

    /// Returns the sentence that tells callers and the operator.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::DiskFull => "The disk of the database is full.",
            Self::ReadOnly => "The database is read-only.",
            Self::Unusable => "The files of the database cannot be read or written.",
            Self::Locked => "Another process holds the lock of the database.",
            Self::Overloaded => "The database server lacks resources.",
            Self::Unreachable => "The database does not answer.",
            Self::Undecided => "The database was lost while it charged this call.",
        }
    }

    /// Returns the sentence on the charge of a call that the state ends.
    #[must_use]
    pub const fn charge(self) -> &'static str {
        match self {
            Self::Undecided => "The call is charged once or not at all, which the usage shows.",
            _ => "Nothing was charged.",
        }
    }
}

fn of_cause(error: &(dyn Error + 'static)) -> Option<StoreFault> {
    if error.is::<UndecidedCharge>() {
        return Some(StoreFault::Undecided);
    }
    if let Some(error) = error.downcast_ref::<DbErr>() {
        return match error {
            DbErr::Conn(RuntimeErr::SqlxError(error))
            | DbErr::Exec(RuntimeErr::SqlxError(error))
            | DbErr::Query(RuntimeErr::SqlxError(error)) => of_sqlx(error),
            DbErr::ConnectionAcquire(_) => Some(StoreFault::Unreachable),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<sqlx::Error>() {
        return of_sqlx(error);
    }
    if let Some(error) = error.downcast_ref::<Arc<sqlx::Error>>() {
        return of_sqlx(error);
    }
    if let Some(error) = error.downcast_ref::<rusqlite::Error>() {
        return error.sqlite_error().and_then(|error| of_sqlite(error.extended_code));
    }
    if let Some(error) = error.downcast_ref::<Arc<StoreError>>() {
        return StoreFault::of(error);
    }
    error.downcast_ref::<StoreError>().and_then(StoreFault::of)
}

fn of_sqlx(error: &sqlx::Error) -> Option<StoreFault> {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code()?;
            if error.try_downcast_ref::<SqliteError>().is_some() {
                of_sqlite(code.parse().ok()?)
            } else {
                of_postgres(&code)
            }
        }
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => Some(StoreFault::Unreachable),
        _ => None,
    }
}

/// The fault of a result code of SQLite, whose lowest byte is the primary code
/// (<https://sqlite.org/rescode.html>).
const fn of_sqlite(code: i32) -> Option<StoreFault> {
    match code & 0xff {
        // SQLITE_BUSY
        5 => Some(StoreFault::Locked),
        // SQLITE_READONLY
        8 => Some(StoreFault::ReadOnly),
        // SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_NOTADB
        10 | 11 | 14 | 26 => Some(StoreFault::Unusable),
        // SQLITE_FULL
        13 => Some(StoreFault::DiskFull),
        _ => None,
    }
}

/// The fault of an error code of PostgreSQL (its documentation, appendix A); `None` for a code of
/// another class.
fn of_postgres(code: &str) -> Option<StoreFault> {
    match (code, code.get(..2)?) {
        // disk_full
        ("53100", _) => Some(StoreFault::DiskFull),
        // read_only_sql_transaction
        ("25006", _) => Some(StoreFault::ReadOnly),
        // insufficient_resources
        (_, "53") => Some(StoreFault::Overloaded),
        // system_error, such as a failed write
        (_, "58") => Some(StoreFault::Unusable),
        // connection_exception; and of operator_intervention: shutdowns, a start that goes on
        (_, "08") | ("57P01" | "57P02" | "57P03", _) => Some(StoreFault::Unreachable),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::ConnectionTrait;

    use super::super::Store;
    use super::super::engine::by_engine;
    use super::super::rows::stored;
    use super::super::testing::{on_each_engine, sqlite};
    use super::*;

    on_each_engine!(
        a_database_that_takes_no_writes_says_so,
        an_error_of_a_statement_is_no_state_of_the_database,
    );

    async fn fault(store: &Store, sql: &str) -> Option<StoreFault> {
        let failed = stored(store.writer.execute_unprepared(sql).await);
        StoreFault::of(&failed.expect_err("it fails"))
    }

    const INSERT: &str = "INSERT INTO departed (account_id, created_at) VALUES (7, 7)";

    async fn a_database_that_takes_no_writes_says_so(store: Store, _address: String) {
        let read_only =
            by_engine(&store.writer, "PRAGMA query_only = ON; ", "BEGIN TRANSACTION READ ONLY; ");
        assert_eq!(
            fault(&store, &format!("{read_only}{INSERT}")).await,
            Some(StoreFault::ReadOnly)
        );
    }

    async fn an_error_of_a_statement_is_no_state_of_the_database(store: Store, _address: String) {
        assert_eq!(fault(&store, "SELECT nothing FROM nowhere").await, None);
        store.writer.execute_unprepared(INSERT).await.expect("a new row");
        assert_eq!(fault(&store, INSERT).await, None, "a row that is there");
    }

    #[test]
    fn a_charge_without_an_outcome_is_not_told_as_no_charge() {
        let lost = Arc::new(sqlx::Error::PoolTimedOut);
        let undecided = StoreFault::of(&StoreError::new(UndecidedCharge(lost.clone())));
        assert_eq!(undecided, Some(StoreFault::Undecided));
        assert!(!StoreFault::Undecided.charge().contains("Nothing"));
        assert_eq!(StoreFault::of(&StoreError::new(lost)), Some(StoreFault::Unreachable));
        assert_eq!(StoreFault::Unreachable.charge(), "Nothing was charged.");
    }

    #[tokio::test]
    async fn a_full_database_says_so_on_every_connection() {
        let (store, folder) = sqlite().await.expect("always there");
        store.writer.execute_unprepared("PRAGMA max_page_count = 1").await.expect("a limit");
        let large = "INSERT INTO sequence (name, value) VALUES (hex(zeroblob(65536)), 0)";
        assert_eq!(fault(&store, large).await, Some(StoreFault::DiskFull));

        let ledger = rusqlite::Connection::open(folder.path().join("test.sqlite")).expect("open");
        ledger.pragma_update(None, "max_page_count", 1).expect("a limit");
        let error = ledger.execute(large, []).expect_err("it is full");
        assert_eq!(StoreFault::of(&StoreError::new(error)), Some(StoreFault::DiskFull));
    }

    #[test]
    fn the_codes_of_both_engines_have_their_meanings() {
        for (code, expected) in [
            (13, Some(StoreFault::DiskFull)),
            (1032, Some(StoreFault::ReadOnly)),
            (778, Some(StoreFault::Unusable)),
            (5, Some(StoreFault::Locked)),
            (2067, None),
        ] {
            assert_eq!(of_sqlite(code), expected, "{code}");
        }
        for (code, expected) in [
            ("53100", Some(StoreFault::DiskFull)),
            ("53300", Some(StoreFault::Overloaded)),
            ("25006", Some(StoreFault::ReadOnly)),
            ("58030", Some(StoreFault::Unusable)),
            ("57P01", Some(StoreFault::Unreachable)),
            ("23505", None),
            ("57014", None),
        ] {
            assert_eq!(of_postgres(code), expected, "{code}");
        }
    }

    #[test]
    fn an_error_that_was_shared_keeps_its_meaning() {
        let closed = || sqlx::Error::PoolClosed;
        for error in [
            StoreError::new(closed()),
            StoreError::new(Arc::new(closed())),
            StoreError::new(StoreError::new(closed())),
            StoreError::new(Arc::new(StoreError::new(closed()))),
        ] {
            assert_eq!(StoreFault::of(&error), Some(StoreFault::Unreachable), "{error:?}");
        }
        assert_eq!(StoreFault::of(&StoreError::new("a text")), None);
    }
}
