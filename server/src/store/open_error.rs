//! The reasons why a database or its master key does not open.

use std::path::Path;

use account_core::StoreError;

/// A reason why the storage cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address names an engine that this program does not know.
    #[error(
        "`{0}:` is not a kind of database that this program opens: give a path, or an address that starts with `sqlite:` or `postgres:`"
    )]
    UnknownEngine(String),
    /// The database is on PostgreSQL, so there is no file to copy.
    #[error("a database on PostgreSQL is copied by PostgreSQL's own tools, as `pg_dump`")]
    NotEmbedded,
    /// The PostgreSQL server does not accept a connection.
    #[error("the PostgreSQL server at `{server}` cannot be used: {cause}")]
    Unreachable {
        /// The host and the port of the server, or its socket.
        server: String,
        /// The reason, in the words of the operating system or of the server.
        cause: String,
    },
    /// Another process serves the database.
    #[error(
        "another process serves `{database}` and holds the lock `{lock}`: stop that process, or name another folder with --data-dir; only a database on PostgreSQL is served by several processes"
    )]
    Served {
        /// The path of the database file.
        database: String,
        /// The path of the lock's file.
        lock: String,
    },
    /// A newer release has migrated the database.
    #[error(
        "the database has the migration `{0}`, which this program does not know: it was used by a newer release; start that release, or restore a backup made by this one"
    )]
    NewerSchema(String),
    /// The schema is older than this program, and migrations are forbidden.
    #[error(
        "the database lacks the migration `{0}`: run `quant-server migrate`, or allow migrations at start"
    )]
    OlderSchema(String),
    /// The database contains sealed keys, but the file of the master key is missing.
    #[error(
        "the master key file `{0}` is missing, but the database holds keys sealed with it: restore the file from a backup"
    )]
    MasterKeyMissing(String),
    /// The file of the master key does not contain a key.
    #[error("the master key file `{0}` does not hold 64 hexadecimal digits")]
    MasterKeyMalformed(String),
    /// Others than the owner may read or write the master key's file.
    #[error(
        "others than its owner may use the master key file `{path}` (mode {mode:04o}): run `chmod 600 {path}`, and rotate the key where someone may have read it"
    )]
    MasterKeyExposed {
        /// The path of the master key file.
        path: String,
        /// The permission bits of the file.
        mode: u32,
    },
    /// There is no database, and the command makes none.
    #[error(
        "there is no database at `{0}`: name its folder with --data-dir or its address with --database-url, or make a new one with --create-database"
    )]
    NoDatabase(String),
    /// The master key is there, but its database is missing or empty.
    #[error(
        "the master key file `{key}` is there, but the database `{database}` is missing or empty: restore the database, name its folder with --data-dir or its address with --database-url, or begin with a new one by --create-database"
    )]
    DatabaseGone {
        /// The path of the master key file.
        key: String,
        /// The place of the missing database.
        database: String,
    },
    /// The master key belongs to another database.
    #[error("the master key file `{path}` does not fit the database: {cause}")]
    Vault {
        /// The path of the master key file.
        path: String,
        /// The reason why the vault cannot be opened with this key.
        cause: account_core::vault::VaultError,
    },
    /// A sealed row cannot be opened, or the database fails during the re-encryption.
    #[error("the data was not re-encrypted completely: {0}")]
    Reseal(account_core::Error),
    /// A file cannot be read or written.
    #[error("`{path}`: {cause}")]
    File {
        /// The path of the file that cannot be read or written.
        path: String,
        /// The error of the operating system.
        cause: std::io::Error,
    },
    /// The database reports an error while it is opened.
    #[error("the database reports an error: {0}")]
    Store(#[from] StoreError),
}

impl OpenError {
    /// Returns the error of one file.
    pub(super) fn file(path: &Path, cause: std::io::Error) -> Self {
        Self::File { path: path.display().to_string(), cause }
    }
}
