//! Storage: every trait of `account-core` over SQLite.
//!
//! One connection writes and a few read: SQLite has one writer at a time in any case, and a queue
//! in front of it is four times faster than connections that fight for its lock. Every commit is
//! durable (`synchronous = FULL`), and a second process beside the service, as an operator's
//! command is, waits for its turn.
//!
//! Times are microseconds since 1970, numbers of 128 bits and digests are bytes, names of states
//! and kinds are those of `account-core`. Statements number their parameters as `$1`, which both
//! SQLite and PostgreSQL take; what is SQLite's alone is in `sqlite`, and the JSON arrays of the
//! set-based statements in `ledger`.

use std::path::Path;
use std::sync::Arc;

use account_core::{Entropy, StoreError};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction};
use tokio::sync::Notify;

mod accounts;
mod activity;
mod backup;
mod clean_up;
mod clients;
mod codes;
mod figures;
mod guests;
mod keys;
mod ledger;
mod ledger_writer;
mod master_key;
mod migration;
mod outbox;
mod owner;
#[cfg(test)]
mod plans;
mod recovery;
mod registration;
mod result_writer;
mod results;
mod rows;
mod sessions;
mod sign_in;
mod sqlite;
mod subscriptions;
mod vault;

pub use backup::back_up;
pub use figures::{OutboxLoad, Pool};
pub use ledger_writer::LedgerWriter;
pub use master_key::{Rotation, rotate_master_key, vault};
pub use result_writer::ResultWriter;

use rows::{column, statement, stored};

/// The storage of the service. A clone is another handle to the same connections.
#[derive(Clone)]
pub struct Store {
    writer: DatabaseConnection,
    readers: DatabaseConnection,
    letters: Arc<Notify>,
}

/// What to do with a database whose schema is older than this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migrate {
    /// Bring it up to date.
    Run,
    /// Refuse to open it.
    Refuse,
}

/// Why the storage does not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address names an engine that this program does not know.
    #[error(
        "`{0}:` is no kind of database that this program opens: give a path, or an address that starts with `sqlite:`"
    )]
    UnknownEngine(String),
    /// The database was made by a newer program.
    #[error(
        "the database has the migration `{0}`, which this program does not know: it was used by a newer release; start that release, or restore a backup made by this one"
    )]
    NewerSchema(String),
    /// The database is older, and migrations are forbidden.
    #[error(
        "the database lacks the migration `{0}`: run `quant-server migrate`, or allow migrations at start"
    )]
    OlderSchema(String),
    /// The database holds sealed keys, but the master key's file is not there.
    #[error(
        "the master key file `{0}` is missing, but the database holds keys sealed with it: restore the file from a backup"
    )]
    MasterKeyMissing(String),
    /// The master key's file does not hold a key.
    #[error("the master key file `{0}` does not hold 64 hexadecimal digits")]
    MasterKeyMalformed(String),
    /// The master key is another database's.
    #[error("the master key file `{path}` does not fit the database: {cause}")]
    Vault {
        /// Where the master key was read.
        path: String,
        /// Why it does not fit.
        cause: account_core::vault::VaultError,
    },
    /// A file cannot be read or written.
    #[error("`{path}`: {cause}")]
    File {
        /// Which file.
        path: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The database itself refuses.
    #[error("the database refuses: {0}")]
    Store(#[from] StoreError),
}

impl OpenError {
    fn file(path: &Path, cause: std::io::Error) -> Self {
        Self::File { path: path.display().to_string(), cause }
    }
}

/// Opens a database by its address (`sqlite:PATH`, `sqlite://PATH`, or a path alone), makes it
/// where there is none, and brings its schema up to date.
///
/// # Errors
///
/// [`OpenError`], which says what to do.
pub async fn open(address: &str, migrate: Migrate) -> Result<Store, OpenError> {
    let (writer, readers) = sqlite::connect(address).await?;
    migration::bring_up_to_date(&writer, migrate).await?;
    Ok(Store { writer, readers, letters: Arc::default() })
}

impl Store {
    /// Asks the database whether it answers.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.readers.ping().await.map_err(StoreError::new)
    }

    /// Waits until this process puts a letter into the outbox.
    pub async fn letter_written(&self) {
        self.letters.notified().await;
    }

    /// Closes all connections, once what they do is done.
    pub async fn close(self) {
        for connections in [self.readers, self.writer] {
            if let Err(error) = connections.close().await {
                tracing::warn!(%error, "the database did not close in order");
            }
        }
    }

    /// Begins a transaction that has the writer's turn from its first statement.
    async fn write(&self) -> Result<DatabaseTransaction, StoreError> {
        sqlite::begin_writing(&self.writer).await
    }

    /// Counts the changes, by any process, that make what is remembered of a key wrong: a key
    /// replaced, suspended or activated, a tier, a limit or a grant. Whoever remembers callers
    /// reads this every now and then, and forgets them all where it has moved.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn revision(&self) -> Result<i64, StoreError> {
        let query = statement("SELECT value FROM sequence WHERE name = 'revision'", []);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.as_ref().map_or(Ok(0), |row| column(row, "value"))
    }
}

/// Moves the [`Store::revision`] with the change that calls for it.
async fn revise(change: &DatabaseTransaction) -> Result<(), StoreError> {
    let revise = "UPDATE sequence SET value = value + 1 WHERE name = 'revision'";
    stored(change.execute_raw(statement(revise, [])).await)?;
    Ok(())
}

/// The operating system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, destination: &mut [u8]) {
        getrandom::fill(destination).expect("the operating system has randomness");
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    /// An empty database and the folder that it lives in.
    async fn empty() -> (Store, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("test.sqlite").display().to_string();
        (open(&path, Migrate::Run).await.expect("a new database"), folder)
    }

    account_core::store_contract!(empty);

    /// Drops a call after so many steps, as a request is whose client went away.
    async fn abandon(call: impl Future, mut steps: u32) {
        let mut call = std::pin::pin!(call);
        poll_fn(|context| {
            if steps == 0 || call.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            steps -= 1;
            Poll::Pending
        })
        .await;
    }

    #[tokio::test]
    async fn a_cancelled_call_leaves_the_writer_free_and_nothing_half_done() {
        use account_core::accounts::{AccountStore, RegistrationStore};
        use account_core::vault::VaultStore;
        use account_core::{AccountId, Ledger};

        let (store, _folder) = empty().await;
        for steps in 0..40 {
            abandon(store.next_account_id(), steps).await;
            abandon(store.replace_secrets(Vec::new()), steps).await;
        }
        assert!(store.next_account_id().await.expect("the writer is free") > AccountId(0));
        assert!(store.profile(AccountId(1)).await.expect("the readers are free").is_none());
        assert!(store.audit().await.expect("the readers are free").holds());
    }

    #[tokio::test]
    async fn another_process_changes_what_this_one_sees_and_moves_its_revision() {
        use account_core::testing::{CheapHasher, FixedClock, SeededEntropy};
        use account_core::{Accounts, ApiKey, Caller, Email, NewAccount, Tier, Username, Vault};

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("test.sqlite").display().to_string();
        let entropy = Arc::new(SeededEntropy::new(1));
        let vault = Arc::new(Vault::create(&*entropy));
        let now = FixedClock::default().now();
        let process = || async {
            let store = open(&path, Migrate::Run).await.expect("a database");
            let (vault, entropy) = (Arc::clone(&vault), Arc::clone(&entropy));
            Accounts::new(store, CheapHasher::default(), vault, entropy)
        };
        let (service, command) = (process().await, process().await);
        let email = Email::parse("ada@example.com").expect("an address");
        let account = NewAccount {
            email: email.clone(),
            username: Username::parse("ada").expect("a name"),
            password: None,
            tier: Tier::Free,
            credits: None,
            hourly_limit: None,
            is_admin: false,
        };
        let key: ApiKey = service.create_account(account, now).await.expect("a new one").api_key;
        let before = service.store().revision().await.expect("ok");

        command.set_tier(&email, Tier::Pro).await.expect("the account is there");
        command.grant(&email, 50, now).await.expect("a grant");

        assert!(service.store().revision().await.expect("ok") > before);
        let Ok(Caller::Account(caller)) = service.authenticate(&key, now).await else {
            panic!("the key is good");
        };
        assert_eq!((caller.tier, caller.credit_balance), (Tier::Pro, 400));
        command.suspend(&email).await.expect("the account is there");
        assert!(service.authenticate(&key, now).await.is_err());
    }
}
