//! The addresses and connections of SQLite, and the start of its write transactions.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use account_core::StoreError;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePoolOptions};
use sea_orm::sqlx::{self, ConnectOptions as _, Connection as _};
use sea_orm::{
    DatabaseConnection, DatabaseTransaction, SqliteTransactionMode, TransactionOptions,
    TransactionTrait,
};

use super::open_error::OpenError;
use super::private_files;

/// The number of connections that read.
const READERS: u32 = 4;
/// The longest wait for the transaction of another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The settings of every connection. The module `wal_checkpoint` makes the checkpoints; the last
/// connection makes a final one when it closes.
pub(super) const PRAGMAS: [(&str, &str); 5] = [
    ("journal_mode", "WAL"),
    ("wal_autocheckpoint", "0"),
    ("synchronous", "FULL"),
    ("cache_size", "-16384"),
    ("foreign_keys", "ON"),
];

/// Opens the writer and the readers. A missing file is created.
pub(super) async fn connect(
    address: &str,
) -> Result<(DatabaseConnection, DatabaseConnection), OpenError> {
    let path = path(address)?;
    private_files::create_folder_of(&path).map_err(|cause| OpenError::file(&path, cause))?;
    // SQLite gives the log and the index of the log the mode of the database.
    private_files::create_file(&path).map_err(|cause| OpenError::file(&path, cause))?;
    for ending in ["", "-wal", "-shm"] {
        private_files::tighten(&with_ending(&path, ending));
    }
    let writer = pool(&path, 1).await?;
    let readers = pool(&path, READERS).await?;
    Ok((writer, readers))
}

/// Begins a transaction that takes SQLite's write lock at once. A transaction that reads first and
/// takes the lock later fails where another process has written in between.
pub(super) async fn begin_writing(
    writer: &DatabaseConnection,
) -> Result<DatabaseTransaction, StoreError> {
    let mode = Some(SqliteTransactionMode::Immediate);
    let options = TransactionOptions { sqlite_transaction_mode: mode, ..Default::default() };
    writer.begin_with_options(options).await.map_err(StoreError::new)
}

/// Opens a pool of connections, which are never closed for their age.
async fn pool(path: &Path, connections: u32) -> Result<DatabaseConnection, StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .busy_timeout(BUSY_TIMEOUT);
    let options =
        PRAGMAS.into_iter().fold(options, |options, (name, value)| options.pragma(name, value));
    let pool = SqlitePoolOptions::new()
        .max_connections(connections)
        .min_connections(connections)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .after_release(|connection, _| Box::pin(is_outside_transactions(connection)))
        .connect_with(options.disable_statement_logging());
    Ok(DatabaseConnection::from(pool.await.map_err(StoreError::new)?))
}

/// Returns true where a returned connection is in no transaction; another one is closed.
///
/// SQLite ends a transaction by itself on an error such as a full disk. sqlx 0.9 then counts the
/// transaction as open for ever, because its `ROLLBACK` fails: each later transaction would be a
/// savepoint, whose commit makes nothing durable.
async fn is_outside_transactions(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // A dropped transaction is rolled back by a queued command, which comes before this one.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

/// Returns true where the file that an address names exists and is not empty.
pub(super) fn exists(address: &str) -> Result<bool, OpenError> {
    let path = path(address)?;
    match std::fs::metadata(&path) {
        Ok(found) => Ok(found.len() > 0 || has_log(&path)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(OpenError::file(&path, cause)),
    }
}

/// Returns true where a database has its data in the write-ahead log alone, as after a crash of its
/// first start.
fn has_log(path: &Path) -> bool {
    std::fs::metadata(with_ending(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Returns the file that an address names.
pub(super) fn path(address: &str) -> Result<PathBuf, OpenError> {
    // The address of a server may hold a password, so the error names only the scheme.
    let scheme = address.split(':').next().unwrap_or_default();
    let unknown = || OpenError::UnknownEngine(scheme.to_owned());
    let path = match address.strip_prefix("sqlite:") {
        Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
        None if address.contains("://") => return Err(unknown()),
        None => address,
    };
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    if path.is_empty() || path == ":memory:" { Err(unknown()) } else { Ok(PathBuf::from(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_whose_transaction_sqlite_has_ended_is_replaced() {
        use sea_orm::ConnectionTrait;

        let folder = tempfile::tempdir().expect("a folder");
        let address = folder.path().join("test.sqlite").display().to_string();
        let (writer, readers) = connect(&address).await.expect("a new database");
        writer.execute_unprepared("CREATE TABLE wide (text text)").await.expect("a table");
        writer.execute_unprepared("PRAGMA max_page_count = 1").await.expect("a limit");
        let insert = "INSERT INTO wide VALUES (hex(zeroblob(65536)))";
        let full = begin_writing(&writer).await.expect("a transaction");
        full.execute_unprepared(insert).await.expect_err("it is full");
        drop(full);

        // The limit was one of the connection that is gone.
        let change = begin_writing(&writer).await.expect("a transaction");
        change.execute_unprepared(insert).await.expect("there is room");
        change.commit().await.expect("a commit");

        let count = "SELECT count(*) AS count FROM wide";
        let count = super::super::rows::statement(count, []);
        let row = readers.query_one_raw(count).await.expect("ok").expect("a row");
        assert_eq!(super::super::rows::column::<i64>(&row, "count").expect("a number"), 1);
    }

    #[test]
    fn an_address_names_a_file_or_is_refused() {
        for (address, expected) in [
            ("sqlite:data/quant.sqlite", "data/quant.sqlite"),
            ("sqlite:///var/lib/quant.sqlite", "/var/lib/quant.sqlite"),
            ("sqlite:///var/lib/quant.sqlite?mode=rwc", "/var/lib/quant.sqlite"),
            ("/a path/with spaces & 100%.sqlite", "/a path/with spaces & 100%.sqlite"),
        ] {
            assert_eq!(path(address).expect(address), Path::new(expected));
        }
        for address in ["", "sqlite:", "sqlite::memory:", "postgres://localhost/quant"] {
            assert!(matches!(path(address), Err(OpenError::UnknownEngine(_))), "{address}");
        }
    }
}
