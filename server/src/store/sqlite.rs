//! The addresses and connections of SQLite, and the start of its write transactions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use account_core::StoreError;
use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DatabaseTransaction, SqliteTransactionMode,
    TransactionOptions, TransactionTrait,
};

use super::open_error::OpenError;

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

/// Opens the writer and the readers.
pub(super) async fn connect(
    address: &str,
) -> Result<(DatabaseConnection, DatabaseConnection), OpenError> {
    let path = path(address)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|cause| OpenError::file(folder, cause))?;
    }
    let writer = connection(&path, 1).await?;
    let readers = connection(&path, READERS).await?;
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

async fn connection(path: &Path, connections: u32) -> Result<DatabaseConnection, StoreError> {
    let path = path.to_owned();
    let mut options = ConnectOptions::new("sqlite://");
    options
        .max_connections(connections)
        .min_connections(connections)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .sqlx_logging(false)
        .map_sqlx_sqlite_opts(move |options| {
            let options =
                options.filename(&path).create_if_missing(true).busy_timeout(BUSY_TIMEOUT);
            PRAGMAS.into_iter().fold(options, |options, (name, value)| options.pragma(name, value))
        });
    Database::connect(options).await.map_err(StoreError::new)
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
