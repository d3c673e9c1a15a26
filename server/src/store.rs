//! The storage of the service: every storage trait of `account-core` over SQLite or PostgreSQL.
//!
//! On SQLite one connection writes and a few read. SQLite allows one writer at a time; the fair
//! lock of `write_lock` in front of it is four times faster than connections that compete for the
//! lock of the file. Calls are settled on a connection of their own, under the same lock. Every
//! commit is durable (`synchronous = FULL`). A second process, such as an operator's command, waits
//! for the lock of the file. Two background tasks follow the calls: `wal_checkpoint` and
//! `usage_index`. On PostgreSQL all queries share one pool.
//!
//! Times are microseconds since 1970; digests and numbers of 128 bits are bytes; names of states
//! and kinds are those of `account-core`. Statements are written once for both engines, by the
//! rules in `engine`. The modules `sqlite` and `postgres` hold the connections of one engine each,
//! and `ledger` the settlement of calls on each engine.
//!
//! The background tasks of the storage are plain futures, which the caller spawns:
//!
//! - [`Store::checkpoint_wal`], every [`WAL_CHECKPOINT_PERIOD`]: copies SQLite's write-ahead log
//!   into the file;
//! - [`Store::maintain_usage_index`], every [`USAGE_INDEX_PERIOD`]: indexes SQLite's usage rows by
//!   account;
//! - [`Keyring::follow`], every [`DATA_KEY_POLL_PERIOD`]: loads changed data keys.
//!
//! The periodic clean-up of the caller also calls [`Store::prepare_partitions`], which creates the
//! next monthly partitions on PostgreSQL.

mod accounts;
mod backup;
mod batch_writer;
mod clean_up;
mod clients;
#[cfg(test)]
mod contract_tests;
mod data_key;
mod email_change;
mod engine;
mod external_identities;
mod fault;
mod handle;
mod keys;
mod lease_writer;
mod leases;
mod ledger;
mod ledger_writer;
#[cfg(test)]
mod locked_time_tests;
mod master_key;
mod migration;
#[cfg(test)]
mod model_tests;
mod notifications;
mod oauth;
mod open;
mod open_error;
mod operator;
mod operator_actions;
mod outbox_leader;
mod postgres;
mod private_files;
#[cfg(test)]
mod query_plan_tests;
mod result_writer;
mod revision;
mod revision_listener;
mod revocation;
mod rows;
mod secrets;
mod serve_lock;
mod sign_in;
mod sqlite;
mod stats;
#[cfg(test)]
mod testing;
mod usage_index;
mod usage_partitions;
mod wal_checkpoint;
mod write_lock;
mod write_probe;
mod write_transaction;

pub use backup::back_up;
pub use data_key::{
    DATA_KEY_POLL_PERIOD, DATA_KEY_PROPAGATION, DataKeyRotation, Keyring, rotate_data_key,
};
pub use fault::StoreFault;
pub use handle::{Generation, Store};
pub use lease_writer::LeaseWriter;
pub use ledger_writer::LedgerWriter;
pub use master_key::{Rotation, rotate_master_key, vault};
pub use migration::Migrate;
pub use open::{POOL, check_file, open, open_pooled};
pub use open_error::OpenError;
pub use outbox_leader::OutboxLeader;
pub use result_writer::ResultWriter;
pub use revision_listener::RevisionListener;
pub use serve_lock::ServeLock;
pub use stats::{OutboxLoad, Pool};
pub use usage_index::USAGE_INDEX_PERIOD;
pub use wal_checkpoint::WAL_CHECKPOINT_PERIOD;
