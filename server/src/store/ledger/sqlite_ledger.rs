//! A batch on SQLite: the balances are read under the write lock, [`credits::decide`] says who
//! pays, and prepared statements write row by row, on a connection that the books have to
//! themselves.
//!
//! A batch through the pool would cross over to another thread with every statement, and be
//! written out as JSON on its way, which costs several times what the rows do. Whoever writes here
//! takes turns with whoever writes through the pool, so that the two hardly ever meet at the lock
//! of the file.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use account_core::credits;
use account_core::{AccountId, CallerId, Entry, GuestId, Settlement, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use sea_orm::DatabaseConnection;
use tokio::sync::oneshot;

use super::super::sqlite::{BUSY, PRAGMAS};
use super::super::usage_index::Sorting;
use super::super::write_transaction::WriteLock;
use super::backend::Settled;
use super::{day, tallies};
use crate::failpoint;
use crate::thread_priority::lower_priority;

const OF_ACCOUNT: &str = "SELECT credit_balance FROM account WHERE id = ?1";
const OF_GUEST: &str = "SELECT credit_balance FROM guest WHERE id = ?1";
const FROM_ACCOUNT: &str = "UPDATE account SET credit_balance = ?2 WHERE id = ?1";
const FROM_GUEST: &str = "UPDATE guest SET credit_balance = ?2 WHERE id = ?1";

/// What an account paid on a day for an endpoint.
const BOOK: &str = "\
INSERT INTO ledger
  (account_id, kind, day, endpoint, credits, balance_after, created_at, updated_at)
VALUES (?1, 'usage', ?2, ?3, ?4, ?5, ?6, ?6)
ON CONFLICT (account_id, day, endpoint) DO UPDATE SET
  credits = ledger.credits + excluded.credits, balance_after = excluded.balance_after,
  updated_at = excluded.updated_at";

/// A call.
const WRITE_DOWN: &str = "\
INSERT INTO usage
  (request_id, account_id, guest_id, endpoint, method, status, credits, response_time_ms, ip,
   created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// The calls of an account, day, endpoint and method, which listings read in their place.
const TALLY: &str = "\
INSERT INTO usage_day (account_id, day, endpoint, method, requests, credits, response_time_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (account_id, day, endpoint, method) DO UPDATE SET
  requests = usage_day.requests + excluded.requests,
  credits = usage_day.credits + excluded.credits,
  response_time_ms = usage_day.response_time_ms + excluded.response_time_ms";

/// An answer that is to be found again.
const KEEP: &str = "INSERT INTO result (id, account_id, body, created_at) VALUES (?1, ?2, ?3, ?4)";

/// All of them, which stay prepared.
#[cfg(test)]
pub(in super::super) const STATEMENTS: [&str; 8] =
    [OF_ACCOUNT, OF_GUEST, FROM_ACCOUNT, FROM_GUEST, BOOK, WRITE_DOWN, TALLY, KEEP];

/// The books in a file.
pub(in super::super) struct SqliteLedger {
    file: PathBuf,
    /// Whose turn it is to write to the file, to the books or to anything else in it.
    pub(in super::super) write_lock: WriteLock,
    /// Opened with the first batch.
    connection: Mutex<Option<Connection>>,
    pub(in super::super) sorting: Sorting,
}

impl SqliteLedger {
    /// The books in the file that this connection writes to.
    pub(in super::super) fn beside(writer: &DatabaseConnection) -> Self {
        let file = writer.get_sqlite_connection_pool().connect_options().get_filename().to_owned();
        let (write_lock, sorting) = (WriteLock::default(), Sorting::default());
        Self { file, write_lock, connection: Mutex::new(None), sorting }
    }

    /// Lets `work` write in a transaction, which it commits or drops, once nobody else writes.
    pub(in super::super) async fn write<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let guard = self.write_lock.next().await?;
        let writing = tokio::task::spawn_blocking(move || {
            let _guard = guard;
            self.write_now(work)
        });
        writing.await.map_err(StoreError::new)?.map_err(StoreError::new)
    }

    /// Lets `work` look at what is committed, beside whoever writes.
    pub(in super::super) async fn look<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let looking = tokio::task::spawn_blocking(move || work(&self.open()?));
        looking.await.map_err(StoreError::new)?.map_err(StoreError::new)
    }

    /// Lets `work` look as [`look`](Self::look) does, on a thread that lets all others go first.
    pub(in super::super) async fn look_gently<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        std::thread::spawn(move || {
            lower_priority();
            // Who waited for it may be gone, with the service.
            let _ = tell.send(self.open().and_then(|connection| work(&connection)));
        });
        told.await.map_err(StoreError::new)?.map_err(StoreError::new)
    }

    /// Settles a batch on this thread, which waits meanwhile. A batch that failed left nothing
    /// behind, and a request id that is stored already is refused, so its calls are tried singly.
    pub(super) async fn settle_here(&self, batch: &[Entry]) -> Settled {
        let _guard = match self.write_lock.next().await {
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

    /// Whoever comes here has the turn.
    fn write_now<T>(
        &self,
        work: impl FnOnce(Transaction<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        // A connection on which anything failed is not put back, nor one that a panic left.
        let mut place = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = match place.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        let done = work(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)?;
        *place = Some(connection);
        Ok(done)
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.file)?;
        connection.busy_timeout(BUSY)?;
        for (name, value) in PRAGMAS {
            connection.pragma_update(None, name, value)?;
        }
        Ok(connection)
    }
}

/// Settles a batch, durably.
pub(super) fn settle_and_commit(
    change: Transaction<'_>,
    batch: &[Entry],
) -> rusqlite::Result<Vec<Settlement>> {
    let settled = settle(&change, batch)?;
    failpoint::hit("ledger_written");
    change.commit()?;
    Ok(settled)
}

/// Settles a batch in a transaction that is alone.
pub(in super::super) fn settle(
    change: &Transaction<'_>,
    batch: &[Entry],
) -> rusqlite::Result<Vec<Settlement>> {
    let mut balances = balances(change, batch)?;
    let asked = batch.iter().map(|entry| (entry.caller, entry.cost));
    let settled = credits::decide(&mut balances, asked);
    let paid: Vec<(&Entry, u64)> = batch
        .iter()
        .zip(&settled)
        .filter_map(|(entry, settlement)| match settlement {
            Settlement::Charged { balance } => Some((entry, *balance)),
            Settlement::Insufficient { .. } => None,
        })
        .collect();
    debit(change, &paid)?;
    book(change, &paid)?;
    write_down(change, &paid)?;
    tally(change, &paid)?;
    keep(change, &paid)?;
    Ok(settled)
}

/// What the callers of a batch have; nothing of those who are gone.
fn balances(change: &Transaction<'_>, batch: &[Entry]) -> rusqlite::Result<HashMap<CallerId, u64>> {
    let mut of_account = change.prepare_cached(OF_ACCOUNT)?;
    let mut of_guest = change.prepare_cached(OF_GUEST)?;
    let mut balances = HashMap::with_capacity(batch.len());
    for entry in batch {
        if balances.contains_key(&entry.caller) {
            continue;
        }
        let balance = match entry.caller {
            CallerId::Account(AccountId(id)) => of_account.query_row([id], |row| row.get(0)),
            CallerId::Guest(GuestId(id)) => of_guest.query_row([id], |row| row.get(0)),
        };
        if let Some(balance) = balance.optional()? {
            balances.insert(entry.caller, balance);
        }
    }
    Ok(balances)
}

/// Leaves accounts and guests what they have after their last paid call.
fn debit(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let mut from_account = change.prepare_cached(FROM_ACCOUNT)?;
    let mut from_guest = change.prepare_cached(FROM_GUEST)?;
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

/// Books what accounts paid: one row a day and endpoint.
fn book(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
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
    let mut book = change.prepare_cached(BOOK)?;
    for ((account, day, endpoint), (credits, balance, at)) in rows {
        book.execute(params![account, day, endpoint, credits, balance, at])?;
    }
    Ok(())
}

/// Writes the calls down, in the order of their arrival.
fn write_down(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let mut write_down = change.prepare_cached(WRITE_DOWN)?;
    for (entry, _) in paid {
        let usage = &entry.usage;
        let (account, guest) = match entry.caller {
            CallerId::Account(AccountId(account)) => (Some(account), None),
            CallerId::Guest(GuestId(guest)) => (None, Some(guest)),
        };
        write_down.execute(params![
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

/// Adds the calls of accounts to the day's tallies.
fn tally(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let tallies = tallies(paid.iter().map(|(entry, _)| *entry));
    let mut tally = change.prepare_cached(TALLY)?;
    for ((account, day, endpoint, method), (requests, credits, time)) in tallies {
        tally.execute(params![account, day, endpoint, method, requests, credits, time])?;
    }
    Ok(())
}

/// Keeps the answers that are to be found again.
fn keep(change: &Transaction<'_>, paid: &[(&Entry, u64)]) -> rusqlite::Result<()> {
    let mut keep = change.prepare_cached(KEEP)?;
    for (entry, balance) in paid {
        let (CallerId::Account(AccountId(owner)), Some(kept)) = (entry.caller, &entry.kept) else {
            continue;
        };
        let (id, at) = (entry.usage.request_id.to_be_bytes(), entry.usage.at.timestamp_micros());
        keep.execute(params![id, owner, kept.with(*balance), at])?;
    }
    Ok(())
}
