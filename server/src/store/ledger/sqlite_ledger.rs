//! A batch on SQLite: the balances are read under the write lock, [`credits::decide_within_caps`]
//! decides which calls are paid, and prepared statements write row by row on the ledger's own
//! connection.
//!
//! A batch through the pool would pass each statement to another thread, with its rows encoded as
//! JSON, which costs several times the insertion of the rows. The write lock is shared with the
//! writers of the pool, so that the two connections rarely compete for the lock of the file.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(test)]
use account_core::CapMark;
use account_core::credits;
use account_core::{
    AccountId, CallerId, Entry, GuestId, Notice, Settlement, SpendCap, Spending, StoreError,
};
use rusqlite::{
    Connection, OptionalExtension, Transaction, TransactionBehavior, named_params, params,
};
use sea_orm::DatabaseConnection;
use tokio::sync::oneshot;

use super::super::sqlite::{BUSY_TIMEOUT, PRAGMAS};
use super::super::usage_index::IndexLock;
use super::super::write_lock::WriteLock;
use super::batch_parts::{Settled, day, tallies};
use super::statements::{INSERT_NOTICE, SPENT, set_told};
use crate::failpoint;
use crate::thread_priority::lower_priority;

const ACCOUNT_BALANCE: &str = "SELECT credit_balance, spend_cap_per_day, cap_near_on, \
    cap_reached_on FROM account WHERE id = ?1";
const GUEST_BALANCE: &str = "SELECT credit_balance FROM guest WHERE id = ?1";
const SET_ACCOUNT_BALANCE: &str = "UPDATE account SET credit_balance = ?2 WHERE id = ?1";
const SET_GUEST_BALANCE: &str = "UPDATE guest SET credit_balance = ?2 WHERE id = ?1";

/// Adds a debit to the row of an account, day and endpoint.
const ADD_TO_LEDGER: &str = "\
INSERT INTO ledger
  (account_id, kind, day, endpoint, credits, balance_after, created_at, updated_at)
VALUES (?1, 'usage', ?2, ?3, ?4, ?5, ?6, ?6)
ON CONFLICT (account_id, day, endpoint) DO UPDATE SET
  credits = ledger.credits + excluded.credits, balance_after = excluded.balance_after,
  updated_at = excluded.updated_at";

/// Inserts the usage row of a call.
const INSERT_USAGE: &str = "\
INSERT INTO usage
  (request_id, account_id, guest_id, endpoint, method, status, credits, response_time_ms, ip,
   created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// Adds to the daily sum of an account, endpoint and method, which listings read in place of calls.
const ADD_TO_TALLY: &str = "\
INSERT INTO usage_day (account_id, day, endpoint, method, requests, credits, response_time_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (account_id, day, endpoint, method) DO UPDATE SET
  requests = usage_day.requests + excluded.requests,
  credits = usage_day.credits + excluded.credits,
  response_time_ms = usage_day.response_time_ms + excluded.response_time_ms";

/// Stores a result that is requested again later.
const STORE_RESULT: &str =
    "INSERT INTO result (id, account_id, body, created_at) VALUES (?1, ?2, ?3, ?4)";

/// Every statement of a batch; they stay prepared.
#[cfg(test)]
pub(in super::super) const STATEMENTS: [&str; 12] = [
    SPENT,
    INSERT_NOTICE,
    set_told(CapMark::Near),
    set_told(CapMark::Reached),
    ACCOUNT_BALANCE,
    GUEST_BALANCE,
    SET_ACCOUNT_BALANCE,
    SET_GUEST_BALANCE,
    ADD_TO_LEDGER,
    INSERT_USAGE,
    ADD_TO_TALLY,
    STORE_RESULT,
];

/// The ledger's own connection to the file of an embedded database.
pub(in super::super) struct SqliteLedger {
    file: PathBuf,
    /// The lock of every writer to the file.
    pub(in super::super) write_lock: WriteLock,
    /// The connection; `None` before the first batch and after a failure.
    connection: Mutex<Option<Connection>>,
    /// The lock of the usage index.
    pub(in super::super) index_lock: IndexLock,
}

impl SqliteLedger {
    /// Returns the ledger in the file that this connection writes to.
    pub(in super::super) fn beside(writer: &DatabaseConnection) -> Self {
        let file = writer.get_sqlite_connection_pool().connect_options().get_filename().to_owned();
        let (write_lock, index_lock) = (WriteLock::default(), IndexLock::default());
        Self { file, write_lock, connection: Mutex::new(None), index_lock }
    }

    /// Takes the write lock and calls `work` with a transaction, which `work` commits or drops.
    pub(in super::super) async fn write<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let guard = self.write_lock.acquire().await?;
        let writing = tokio::task::spawn_blocking(move || {
            let _guard = guard;
            self.write_now(work)
        });
        writing.await.map_err(StoreError::new)?.map_err(StoreError::new)
    }

    /// Calls `work` with a read-only view of the committed data, without the write lock and concurrently
    /// with writers.
    pub(in super::super) async fn read<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let reading = tokio::task::spawn_blocking(move || work(&self.open()?));
        reading.await.map_err(StoreError::new)?.map_err(StoreError::new)
    }

    /// Calls `work` as [`read`](Self::read) does, on a thread of low priority.
    pub(in super::super) async fn read_at_low_priority<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, result) = oneshot::channel();
        std::thread::spawn(move || {
            lower_priority();
            // The service may have ended in the meantime, and the receiver with it.
            let _ = sender.send(self.open().and_then(|connection| work(&connection)));
        });
        result.await.map_err(StoreError::new)?.map_err(StoreError::new)
    }

    /// Settles a batch, and blocks this thread until the end. A failed batch has written nothing,
    /// and a stored request id is refused, so the calls of a failed batch are settled one by one.
    pub(super) async fn settle_here(&self, batch: &[Entry]) -> Settled {
        let _guard = match self.write_lock.acquire().await {
            Ok(guard) => guard,
            Err(error) => {
                let error = error.to_string();
                return batch.iter().map(|_| Err(StoreError::new(error.clone()))).collect();
            }
        };
        let error = match self.write_now(|change| settle_and_commit(change, batch)) {
            Ok(settled) => return settled.into_iter().map(Ok).collect(),
            Err(error) => error,
        };
        tracing::warn!(%error, entries = batch.len(), "a batch failed; its entries are tried singly");
        let singly = batch.iter().map(std::slice::from_ref).map(|one| {
            let settled = self.write_now(|change| settle_and_commit(change, one));
            settled.map(|settled| settled[0]).map_err(StoreError::new)
        });
        singly.collect()
    }

    /// Calls `work` with a transaction. The caller holds the write lock.
    fn write_now<T>(
        &self,
        work: impl FnOnce(Transaction<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        // A connection is not put back after a failure or a panic.
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        let done = work(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)?;
        *slot = Some(connection);
        Ok(done)
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.file)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        for (name, value) in PRAGMAS {
            connection.pragma_update(None, name, value)?;
        }
        Ok(connection)
    }
}

/// Settles a batch and commits the transaction.
pub(super) fn settle_and_commit(
    change: Transaction<'_>,
    batch: &[Entry],
) -> rusqlite::Result<Vec<Settlement>> {
    let settled = settle(&change, batch)?;
    failpoint::hit("ledger_written");
    change.commit()?;
    Ok(settled)
}

/// Settles a batch in a transaction that excludes all other writers.
pub(in super::super) fn settle(
    change: &Transaction<'_>,
    batch: &[Entry],
) -> rusqlite::Result<Vec<Settlement>> {
    let (mut balances, mut spending) = balances(change, batch)?;
    let asked = batch.iter().map(Entry::asked);
    let settled = credits::decide_within_caps(&mut balances, &mut spending, asked);
    let paid: Vec<(&Entry, u64)> = batch
        .iter()
        .zip(&settled)
        .filter_map(|(entry, settlement)| match settlement {
            Settlement::Charged { balance } => Some((entry, *balance)),
            Settlement::Insufficient { .. } | Settlement::OverCap { .. } => None,
        })
        .collect();
    debit(change, &paid)?;
    add_to_ledger(change, &paid)?;
    insert_usage(change, &paid)?;
    tally(change, &paid)?;
    store_results(change, &paid)?;
    notify_of_caps(change, &spending)?;
    Ok(settled)
}

/// Reads the balances of the callers of a batch, and the spending of those with a cap; a deleted
/// caller has no balance.
fn balances(
    change: &Transaction<'_>,
    batch: &[Entry],
) -> rusqlite::Result<(HashMap<CallerId, u64>, Spending)> {
    let mut spending = Spending::default();
    let mut of_account = change.prepare_cached(ACCOUNT_BALANCE)?;
    let mut of_guest = change.prepare_cached(GUEST_BALANCE)?;
    let mut balances = HashMap::with_capacity(batch.len());
    for entry in batch {
        if balances.contains_key(&entry.caller) {
            continue;
        }
        let balance = match entry.caller {
            CallerId::Account(account) => of_account.query_row([account.0], |row| {
                let (near_on, reached_on) = (row.get(2)?, row.get(3)?);
                if let Some(per_day) = row.get(1)? {
                    spending.add_cap(account, SpendCap { per_day, near_on, reached_on });
                }
                row.get(0)
            }),
            CallerId::Guest(GuestId(id)) => of_guest.query_row([id], |row| row.get(0)),
        };
        if let Some(balance) = balance.optional()? {
            balances.insert(entry.caller, balance);
        }
    }
    for (account, day) in spending.days_of(batch.iter().map(Entry::asked)) {
        let asked = named_params! { "$1": account.0, "$2": day };
        let spent = change.prepare_cached(SPENT)?.query_row(asked, |row| row.get(0))?;
        spending.set_spent(account, day, spent);
    }
    Ok((balances, spending))
}

/// Writes the notices of caps that the batch has reached, and the days of these notices.
fn notify_of_caps(change: &Transaction<'_>, spending: &Spending) -> rusqlite::Result<()> {
    for reached in spending.notices() {
        let (account, notice) = (reached.account.0, Notice::of_cap(&reached));
        let told = named_params! { "$1": account, "$2": reached.day };
        change.prepare_cached(set_told(reached.mark))?.execute(told)?;
        change.prepare_cached(INSERT_NOTICE)?.execute(named_params! {
            "$1": account,
            "$2": notice.category(),
            "$3": notice.title(),
            "$4": notice.description(),
            "$5": reached.at.timestamp_micros(),
        })?;
    }
    Ok(())
}

/// Sets the balance of each caller to the balance after its last paid call.
fn debit(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let mut from_account = change.prepare_cached(SET_ACCOUNT_BALANCE)?;
    let mut from_guest = change.prepare_cached(SET_GUEST_BALANCE)?;
    let charged = paid.iter().filter(|(entry, _)| entry.cost > 0);
    let left: BTreeMap<CallerId, u64> =
        charged.map(|(entry, balance)| (entry.caller, *balance)).collect();
    for (caller, balance) in left {
        match caller {
            CallerId::Account(AccountId(id)) => from_account.execute(params![id, balance])?,
            CallerId::Guest(GuestId(id)) => from_guest.execute(params![id, balance])?,
        };
    }
    Ok(())
}

/// Adds the debits of accounts to the ledger: one row for each day and endpoint.
fn add_to_ledger(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let mut rows: BTreeMap<(i64, i64, &str), (i64, u64, i64)> = BTreeMap::new();
    for (entry, balance) in paid.iter().filter(|(entry, _)| entry.cost > 0) {
        let CallerId::Account(AccountId(account)) = entry.caller else { continue };
        let at = entry.usage.at.timestamp_micros();
        let key = (account, day(at), entry.usage.endpoint.as_ref());
        let (credits, balance_after, latest) = rows.entry(key).or_insert((0, *balance, at));
        *credits -= i64::from(entry.cost);
        *balance_after = *balance;
        *latest = at.max(*latest);
    }
    let mut add = change.prepare_cached(ADD_TO_LEDGER)?;
    for ((account, day, endpoint), (credits, balance, at)) in rows {
        add.execute(params![account, day, endpoint, credits, balance, at])?;
    }
    Ok(())
}

/// Inserts the usage rows of paid calls, in the order of their arrival.
fn insert_usage(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let mut insert_usage = change.prepare_cached(INSERT_USAGE)?;
    for (entry, _) in paid {
        let usage = &entry.usage;
        let (account, guest) = match entry.caller {
            CallerId::Account(AccountId(account)) => (Some(account), None),
            CallerId::Guest(GuestId(guest)) => (None, Some(guest)),
        };
        insert_usage.execute(params![
            usage.request_id.to_be_bytes(),
            account,
            guest,
            usage.endpoint,
            usage.method,
            usage.status,
            entry.cost,
            usage.response_time_ms,
            usage.ip.to_string(),
            usage.at.timestamp_micros(),
        ])?;
    }
    Ok(())
}

/// Adds the calls of accounts to the daily sums.
fn tally(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let tallies = tallies(paid.iter().map(|(entry, _)| *entry));
    let mut tally = change.prepare_cached(ADD_TO_TALLY)?;
    for ((account, day, endpoint, method), (requests, credits, time)) in tallies {
        tally.execute(params![account, day, endpoint, method, requests, credits, time])?;
    }
    Ok(())
}

/// Stores the results that are requested again later.
fn store_results(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let mut store = change.prepare_cached(STORE_RESULT)?;
    for (entry, balance) in paid {
        let (CallerId::Account(AccountId(owner)), Some(kept)) = (entry.caller, &entry.kept) else {
            continue;
        };
        let (id, at) = (entry.usage.request_id.to_be_bytes(), entry.usage.at.timestamp_micros());
        store.execute(params![id, owner, kept.with(*balance), at])?;
    }
    Ok(())
}
