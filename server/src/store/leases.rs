//! Leases in the database: one row per caller, changed by one instance at a time.

use std::collections::BTreeMap;

use account_core::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};
use account_core::store::LeaseStore;
use account_core::{CallerId, MinuteCount, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, QueryResult, Value};

use super::engine::{by_engine, is_postgres};
use super::handle::Store;
use super::ledger::MICROSECONDS_A_MINUTE;
use super::rows::{column, malformed, narrow, statement, stored, time};

pub(super) mod postgres_leases;

use postgres_leases::{Changed, Changes, change_all};

/// The largest number of callers that one statement changes, so that the statement stays short.
pub(super) const LARGEST_BATCH: usize = 256;

const READ: &str = "SELECT shared FROM shared_limit WHERE is_guest = $1 AND caller_id = $2";
const LEASE: &str = "INSERT INTO shared_limit (is_guest, caller_id, shared, leased_at) \
    VALUES ($1, $2, $3, $4) ON CONFLICT (is_guest, caller_id) \
    DO UPDATE SET shared = excluded.shared, leased_at = excluded.leased_at";
const GIVE_BACK: &str =
    "UPDATE shared_limit SET shared = $3 WHERE is_guest = $1 AND caller_id = $2";
/// Scans the whole table, which has one short row for each caller of the last day.
const FORGET: &str = "DELETE FROM shared_limit WHERE leased_at < $1";
/// Skips locked rows: a caller that leases at this moment is not expired.
const FORGET_ON_POSTGRES: &str = "DELETE FROM shared_limit WHERE (is_guest, caller_id) IN \
    (SELECT is_guest, caller_id FROM shared_limit WHERE leased_at < $1 FOR UPDATE SKIP LOCKED)";
/// Counts an account's calls of each minute.
const CALLS_OF_ACCOUNT: &str = "SELECT created_at / $3 AS minute, count(*) AS calls FROM usage \
    WHERE account_id = $1 AND created_at >= $2 AND status <> 429 GROUP BY created_at / $3";
/// Counts an account's calls of each minute on SQLite, where `call_by_account` is the index by
/// account.
const CALLS_OF_ACCOUNT_ON_SQLITE: &str = "SELECT mine.created_at / $3 AS minute, \
    count(*) AS calls FROM call_by_account AS mine JOIN usage ON usage.id = mine.call_id \
    WHERE mine.account_id = $1 AND mine.created_at >= $2 AND status <> 429 \
    GROUP BY mine.created_at / $3";
/// Counts a guest's calls of each minute.
const CALLS_OF_GUEST: &str = "SELECT created_at / $3 AS minute, count(*) AS calls FROM usage \
    WHERE guest_id = $1 AND created_at >= $2 AND status <> 429 GROUP BY created_at / $3";

impl LeaseStore for Store {
    async fn lease(&self, caller: CallerId, ask: Ask) -> Result<Lease, StoreError> {
        self.lease_all(&[(caller, ask)]).await.pop().expect("one for each ask")
    }

    async fn give_back(&self, caller: CallerId, unused: ReturnedCalls) -> Result<(), StoreError> {
        self.give_back_all(&[(caller, unused)]).await
    }

    async fn shared(&self, caller: CallerId) -> Result<SharedWindow, StoreError> {
        Ok(read(&self.readers, caller).await?.unwrap_or_default())
    }
}

impl Store {
    /// Applies [`SharedWindow::lease`] for each request, in order; a caller may occur more than
    /// once. On PostgreSQL two statements serve all requests, and more where other instances
    /// interfere.
    pub(super) async fn lease_all(
        &self,
        asks: &[(CallerId, Ask)],
    ) -> Vec<Result<Lease, StoreError>> {
        if !is_postgres(&self.writer) {
            let mut leases = Vec::with_capacity(asks.len());
            for (caller, ask) in asks {
                leases.push(self.lease_on_sqlite(*caller, ask).await);
            }
            return leases;
        }
        let mut open: BTreeMap<CallerId, Changes> = BTreeMap::new();
        for (caller, ask) in asks {
            open.entry(*caller).or_default().asks.push(*ask);
        }
        let pool = self.writer.get_postgres_connection_pool();
        in_order(asks, change_all(pool, open).await)
    }

    /// Applies [`SharedWindow::give_back`] for each caller.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the calls of one caller could not be returned; others may have been.
    pub async fn give_back_all(
        &self,
        unused: &[(CallerId, ReturnedCalls)],
    ) -> Result<(), StoreError> {
        if !is_postgres(&self.writer) {
            for (caller, unused) in unused {
                self.give_back_on_sqlite(*caller, *unused).await?;
            }
            return Ok(());
        }
        let pool = self.writer.get_postgres_connection_pool();
        for unused in unused.chunks(LARGEST_BATCH) {
            let mut open: BTreeMap<CallerId, Changes> = BTreeMap::new();
            for (caller, unused) in unused {
                open.entry(*caller).or_default().unused.push(*unused);
            }
            let mut failed = change_all(pool, open).await.into_values().filter_map(Result::err);
            failed.next().map_or(Ok(()), |error| Err(StoreError::new(error)))?;
        }
        Ok(())
    }

    /// Leases on SQLite, where a write transaction excludes all others.
    async fn lease_on_sqlite(&self, caller: CallerId, ask: &Ask) -> Result<Lease, StoreError> {
        let change = self.write().await?;
        let mut shared = read(&*change, caller).await?.unwrap_or_default();
        let lease = shared.lease(ask);
        let [is_guest, id] = key(caller);
        let values = [is_guest, id, shared.to_string().into(), time(ask.now)];
        stored(change.execute_raw(statement(LEASE, values)).await)?;
        stored(change.commit().await)?;
        Ok(lease)
    }

    /// Returns unused leased calls on SQLite.
    async fn give_back_on_sqlite(
        &self,
        caller: CallerId,
        unused: ReturnedCalls,
    ) -> Result<(), StoreError> {
        let change = self.write().await?;
        let Some(mut shared) = read(&*change, caller).await? else { return Ok(()) };
        shared.give_back(unused);
        let [is_guest, id] = key(caller);
        let values = [is_guest, id, shared.to_string().into()];
        stored(change.execute_raw(statement(GIVE_BACK, values)).await)?;
        stored(change.commit().await)
    }

    /// Deletes the rows of callers without a lease since `since`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn forget_shared(&self, since: Timestamp) -> Result<(), StoreError> {
        let change = self.write().await?;
        let forget = by_engine(&*change, FORGET, FORGET_ON_POSTGRES);
        stored(change.execute_raw(statement(forget, [time(since)])).await)?;
        stored(change.commit().await)
    }

    /// Counts the usage rows of one caller since `since`, without the calls that a limit refused.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn calls_of(
        &self,
        caller: CallerId,
        since: Timestamp,
    ) -> Result<Vec<MinuteCount>, StoreError> {
        let (query, id) = match caller {
            CallerId::Account(account) => {
                self.index_calls().await?;
                let query = by_engine(&self.readers, CALLS_OF_ACCOUNT_ON_SQLITE, CALLS_OF_ACCOUNT);
                (query, account.0)
            }
            CallerId::Guest(guest) => (CALLS_OF_GUEST, guest.0),
        };
        let values = [id.into(), time(since), MICROSECONDS_A_MINUTE.into()];
        let rows = stored(self.readers.query_all_raw(statement(query, values)).await)?;
        let count = |row: &QueryResult| {
            let (minute, calls) = (column(row, "minute")?, narrow(row, "calls")?);
            Ok(MinuteCount { caller, minute, calls })
        };
        rows.iter().map(count).collect()
    }
}

fn key(caller: CallerId) -> [Value; 2] {
    match caller {
        CallerId::Account(account) => [false.into(), account.0.into()],
        CallerId::Guest(guest) => [true.into(), guest.0.into()],
    }
}

/// Reads the row of a caller.
async fn read(
    connection: &impl ConnectionTrait,
    caller: CallerId,
) -> Result<Option<SharedWindow>, StoreError> {
    let row = stored(connection.query_one_raw(statement(READ, key(caller))).await)?;
    let parse = |row| column::<String>(&row, "shared")?.parse().map_err(|_| malformed("shared"));
    row.map(parse).transpose()
}

/// Returns the lease or the error of each ask, in the order of `asks`.
fn in_order(asks: &[(CallerId, Ask)], changed: Changed) -> Vec<Result<Lease, StoreError>> {
    let mut leases: BTreeMap<CallerId, _> =
        changed.into_iter().map(|(caller, leases)| (caller, leases.map(Vec::into_iter))).collect();
    let next = |(caller, _): &(CallerId, Ask)| match leases
        .get_mut(caller)
        .expect("one for each caller")
    {
        Ok(leases) => Ok(leases.next().expect("one for each ask")),
        Err(error) => Err(StoreError::new(error.clone())),
    };
    asks.iter().map(next).collect()
}

#[cfg(test)]
mod tests {
    use account_core::AccountId;
    use account_core::limit::lease::Allowance;
    use account_core::testing::FixedClock;
    use chrono::TimeDelta;

    use super::super::testing::on_each_engine;
    use super::*;

    on_each_engine!(a_row_without_a_recent_lease_is_deleted);

    async fn a_row_without_a_recent_lease_is_deleted(store: Store, _address: String) {
        let (ada, now) = (CallerId::Account(AccountId(1)), FixedClock::default().now());
        let ask = Ask { allowance: Allowance::hourly(10), now, unused: None };
        store.lease(ada, ask).await.expect("the store answers");
        store.forget_shared(now).await.expect("the store answers");
        assert_ne!(store.shared(ada).await.expect("the store answers"), SharedWindow::default());
        store.forget_shared(now + TimeDelta::microseconds(1)).await.expect("the store answers");
        assert_eq!(store.shared(ada).await.expect("the store answers"), SharedWindow::default());
    }
}
