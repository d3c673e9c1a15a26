//! Storage: every trait of `account-core` over SQLite, or over PostgreSQL, which several instances
//! of the service may share.
//!
//! On SQLite one connection writes and a few read: it has one writer at a time in any case, and
//! turns in front of it, in `change`, are four times faster than connections that fight for its
//! lock. Calls are settled on a connection of their own, in the same turns. Every commit is durable
//! (`synchronous = FULL`), and a second process beside the service, as an operator's command is,
//! waits at the file. What follows the calls in a while is in `log` and `calls_by_account`. On
//! PostgreSQL all share a pool.
//!
//! Times are microseconds since 1970, numbers of 128 bits and digests are bytes, names of states
//! and kinds are those of `account-core`. Statements are written once for both engines; `engine`
//! tells how, and holds what differs. What is one engine's alone is in `sqlite` and `postgres`, and
//! how each settles calls in `ledger`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use account_core::outbox::Channel;
use account_core::{AccountId, CallerId, GuestId, StoreError};
use sea_orm::{ConnectionTrait, DatabaseConnection};
use tokio::sync::Notify;

mod accounts;
mod backup;
mod clean_up;
mod clients;
mod data_key;
mod engine;
mod external_identities;
mod keys;
mod lease_writer;
mod leases;
mod ledger;
mod ledger_writer;
mod master_key;
mod migration;
mod notifications;
mod oauth;
mod outbox_leader;
mod postgres;
#[cfg(test)]
mod query_plan_tests;
mod result_writer;
mod revision_listener;
mod rows;
mod secrets;
mod sign_in;
mod sqlite;
mod stats;
#[cfg(test)]
mod testing;
mod usage_index;
mod usage_partitions;
mod wal_checkpoint;
mod write_transaction;

pub use backup::back_up;
pub use data_key::{DataKeyRotation, EVERYBODY_LOOKED, Keyring, rotate_data_key};
pub use lease_writer::LeaseWriter;
pub use ledger_writer::LedgerWriter;
pub use master_key::{Rotation, rotate_master_key, vault};
pub use outbox_leader::OutboxLeader;
pub use result_writer::ResultWriter;
pub use stats::{OutboxLoad, Pool};

use rows::{column, statement, stored};
use write_transaction::WriteTransaction;

/// The storage of the service. A clone is another handle to the same connections.
#[derive(Clone)]
pub struct Store {
    writer: DatabaseConnection,
    readers: DatabaseConnection,
    /// Where calls are settled on SQLite, and whose turn it is to write.
    sqlite_ledger: Option<Arc<ledger::sqlite_ledger::SqliteLedger>>,
    messages: Arc<OutboxNotify>,
    generation: Arc<Generation>,
}

/// Counts how often what this process remembers of callers became wrong: by its own changes, as
/// each is committed, and by others', as they are heard of.
#[derive(Debug, Default)]
pub struct Generation(AtomicU64);

impl Generation {
    /// The number of this epoch.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Begins the next one.
    pub fn bump(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Wakes the workers of the outbox.
#[derive(Default)]
struct OutboxNotify {
    mail: Notify,
    messaging: Notify,
}

impl OutboxNotify {
    fn of(&self, channel: Channel) -> &Notify {
        match channel {
            Channel::Mail => &self.mail,
            Channel::Messaging => &self.messaging,
        }
    }

    /// Wakes each worker, or tells it not to rest.
    fn notify_one(&self) {
        self.mail.notify_one();
        self.messaging.notify_one();
    }
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
        "`{0}:` is no kind of database that this program opens: give a path, or an address that starts with `sqlite:` or `postgres:`"
    )]
    UnknownEngine(String),
    /// The database is no file that could be copied.
    #[error("a database on PostgreSQL is copied by PostgreSQL's own tools, as `pg_dump`")]
    NotEmbedded,
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
    /// A sealed row does not open, or the database refuses on the way.
    #[error("not everything could be sealed anew: {0}")]
    Reseal(account_core::Error),
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

/// Connections to PostgreSQL where nothing else is asked for: enough for the few milliseconds that
/// each is held, and few enough for several instances.
pub const POOL: u32 = 16;

/// Opens a database by its address and brings its schema up to date: `sqlite:PATH`,
/// `sqlite://PATH` or a path alone, which is made where there is none, or
/// `postgres://USER:PASSWORD@HOST/DATABASE`.
///
/// # Errors
///
/// [`OpenError`], which says what to do.
pub async fn open(address: &str, migrate: Migrate) -> Result<Store, OpenError> {
    open_pooled(address, POOL, migrate).await
}

/// Opens a database as [`open`] does, with at most so many connections to PostgreSQL.
///
/// # Errors
///
/// [`OpenError`], which says what to do.
pub async fn open_pooled(address: &str, pool: u32, migrate: Migrate) -> Result<Store, OpenError> {
    let (writer, readers, sqlite_ledger) = if postgres::is_address(address) {
        let pool = postgres::connect(address, pool).await?;
        // Instances that start at once take turns.
        let alone = match migrate {
            Migrate::Run => postgres::connect_to_migrate(address).await?,
            Migrate::Refuse => pool.clone(),
        };
        migration::bring_up_to_date(&alone, migrate).await?;
        if migrate == Migrate::Run {
            alone.close().await.map_err(StoreError::new)?;
        }
        (pool.clone(), pool, None)
    } else {
        let (writer, readers) = sqlite::connect(address).await?;
        migration::bring_up_to_date(&writer, migrate).await?;
        let sqlite_ledger = Arc::new(ledger::sqlite_ledger::SqliteLedger::beside(&writer));
        (writer, readers, Some(sqlite_ledger))
    };
    Ok(Store {
        writer,
        readers,
        sqlite_ledger,
        messages: Arc::default(),
        generation: Arc::default(),
    })
}

/// The one of so many writers that a caller always comes to.
fn writer_of(caller: CallerId, writers: usize) -> usize {
    let (CallerId::Account(AccountId(number)) | CallerId::Guest(GuestId(number))) = caller;
    let writer = number.cast_unsigned() % writers as u64;
    usize::try_from(writer).expect("a few writers")
}

impl account_core::Store for Store {}

impl Store {
    /// Asks the database whether it answers.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.readers.ping().await.map_err(StoreError::new)
    }

    /// Whether other instances may be on the same database.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        engine::is_postgres(&self.writer)
    }

    /// Waits until this process puts something into the outbox.
    pub async fn message_written(&self, channel: Channel) {
        self.messages.of(channel).notified().await;
    }

    /// Closes all connections, once what they do is done.
    pub async fn close(self) {
        if let Some(sqlite_ledger) = &self.sqlite_ledger {
            sqlite_ledger.write_lock.end().await;
        }
        for connections in [self.readers, self.writer] {
            if let Err(error) = connections.close().await {
                tracing::warn!(%error, "the database did not close in order");
            }
        }
    }

    /// Counts the changes, by any process, that make what is remembered of a caller wrong: a key
    /// replaced, suspended or activated, a tier, a limit or a grant, access that a client has no
    /// longer. Whoever remembers callers reads this every now and then, and forgets them all where
    /// it has moved.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn revision(&self) -> Result<i64, StoreError> {
        let query = statement("SELECT value FROM sequence WHERE name = 'revision'", []);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.as_ref().map_or(Ok(0), |row| column(row, "value"))
    }

    /// Turns whenever what this process remembers of callers is no longer to be believed.
    #[must_use]
    pub fn generation(&self) -> &Arc<Generation> {
        &self.generation
    }

    /// Commits a change that moves the [`revision`](Self::revision): here nobody is remembered from
    /// before it, whatever the database answers.
    async fn commit_revised(&self, change: WriteTransaction) -> Result<(), StoreError> {
        let revise = "UPDATE sequence SET value = value + 1 WHERE name = 'revision'";
        stored(change.execute_raw(statement(revise, [])).await)?;
        revision_listener::announce(&change).await?;
        let committed = stored(change.commit().await);
        self.generation.bump();
        committed
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::testing::{on_each_engine, open_again, postgres, sqlite};
    use super::*;

    mod contract_on_sqlite {
        account_core::store_contract!(super::sqlite);
    }

    mod contract_on_postgres {
        account_core::store_contract!(super::postgres);
    }

    on_each_engine!(
        a_cancelled_call_leaves_the_writer_free_and_nothing_half_done,
        another_process_changes_what_this_one_sees_and_moves_its_revision,
    );

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

    async fn a_cancelled_call_leaves_the_writer_free_and_nothing_half_done(
        store: Store,
        _address: String,
    ) {
        use account_core::AccountId;
        use account_core::store::{AccountStore, LedgerStore, VaultStore};

        for steps in 0..40 {
            abandon(store.next_account_id(), steps).await;
            abandon(store.replace_secrets(Vec::new()), steps).await;
        }
        assert!(store.next_account_id().await.expect("the writer is free") > AccountId(0));
        assert!(store.profile(AccountId(1)).await.expect("the readers are free").is_none());
        assert!(store.audit().await.expect("the readers are free").holds());
    }

    async fn another_process_changes_what_this_one_sees_and_moves_its_revision(
        store: Store,
        address: String,
    ) {
        use account_core::testing::{CheapHasher, FixedClock, seeded_rng};
        use account_core::{Accounts, ApiKey, Caller, Email, NewAccount, Tier, Username, Vault};

        let rng = seeded_rng(1);
        let vault = Arc::new(Vault::create(&mut rng.clone()));
        let now = FixedClock::default().now();
        let process =
            |store| Accounts::new(store, CheapHasher::default(), Arc::clone(&vault), rng.clone());
        let service = process(store);
        let command = process(open_again(&address).await);
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
