//! The limits that instances share: a row for each caller, changed by one at a time.

use account_core::limit::lease::{Ask, Lease, LeaseStore, Shared, Unused};
use account_core::{CallerId, MinuteCount, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult, Value};

use super::Store;
use super::engine::by_engine;
use super::ledger::MICROSECONDS_A_MINUTE;
use super::rows::{column, malformed, narrow, statement, stored, time};

/// Makes the row where there is none, and locks it in any case.
pub(super) const LOCK: &str = "INSERT INTO shared_limit (is_guest, caller_id, shared, leased_at) \
    VALUES ($1, $2, $3, $4) ON CONFLICT (is_guest, caller_id) \
    DO UPDATE SET leased_at = excluded.leased_at RETURNING shared";
pub(super) const LOCK_IF_THERE: &str = "UPDATE shared_limit SET shared = shared \
    WHERE is_guest = $1 AND caller_id = $2 RETURNING shared";
pub(super) const CHANGE: &str =
    "UPDATE shared_limit SET shared = $3 WHERE is_guest = $1 AND caller_id = $2";
pub(super) const READ: &str =
    "SELECT shared FROM shared_limit WHERE is_guest = $1 AND caller_id = $2";
/// Looks at the whole table: at one short row for each caller of the last day.
pub(super) const FORGET: &str = "DELETE FROM shared_limit WHERE leased_at < $1";
/// An account's calls of each minute.
const CALLS_OF_ACCOUNT: &str = "SELECT created_at / $3 AS minute, count(*) AS calls FROM usage \
    WHERE account_id = $1 AND created_at >= $2 AND status <> 429 GROUP BY created_at / $3";
/// The same on SQLite, where calls are sorted by account in a table of their own.
const CALLS_OF_ACCOUNT_ON_SQLITE: &str = "SELECT mine.created_at / $3 AS minute, \
    count(*) AS calls FROM call_by_account AS mine JOIN usage ON usage.id = mine.call_id \
    WHERE mine.account_id = $1 AND mine.created_at >= $2 AND status <> 429 \
    GROUP BY mine.created_at / $3";
/// A guest's calls of each minute.
const CALLS_OF_GUEST: &str = "SELECT created_at / $3 AS minute, count(*) AS calls FROM usage \
    WHERE guest_id = $1 AND created_at >= $2 AND status <> 429 GROUP BY created_at / $3";

impl LeaseStore for Store {
    async fn lease(&self, caller: CallerId, ask: Ask) -> Result<Lease, StoreError> {
        let change = self.write().await?;
        let [is_guest, id] = key(caller);
        let nothing = Shared::default().to_string().into();
        let lock = statement(LOCK, [is_guest, id, nothing, time(ask.now)]);
        let row = stored(change.query_one_raw(lock).await)?;
        let mut shared = read(&row.ok_or_else(|| malformed("shared"))?)?;
        let lease = shared.lease(&ask);
        write(change, caller, &shared).await?;
        Ok(lease)
    }

    async fn give_back(&self, caller: CallerId, unused: Unused) -> Result<(), StoreError> {
        let change = self.write().await?;
        let row = stored(change.query_one_raw(statement(LOCK_IF_THERE, key(caller))).await)?;
        let Some(row) = row else { return Ok(()) };
        let mut shared = read(&row)?;
        shared.give_back(unused);
        write(change, caller, &shared).await
    }

    async fn shared(&self, caller: CallerId) -> Result<Shared, StoreError> {
        let row = stored(self.readers.query_one_raw(statement(READ, key(caller))).await)?;
        row.as_ref().map_or_else(|| Ok(Shared::default()), read)
    }
}

impl Store {
    /// Forgets callers of whom nothing was leased since.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn forget_shared(&self, since: Timestamp) -> Result<(), StoreError> {
        let change = self.write().await?;
        stored(change.execute_raw(statement(FORGET, [time(since)])).await)?;
        stored(change.commit().await)
    }

    /// Counts the calls of one caller that were written down since a moment, but for those that a
    /// limit refused.
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
                self.sort_calls().await?;
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

fn read(row: &QueryResult) -> Result<Shared, StoreError> {
    column::<String>(row, "shared")?.parse().map_err(|_| malformed("shared"))
}

async fn write(
    change: DatabaseTransaction,
    caller: CallerId,
    shared: &Shared,
) -> Result<(), StoreError> {
    let [is_guest, id] = key(caller);
    let write = statement(CHANGE, [is_guest, id, shared.to_string().into()]);
    stored(change.execute_raw(write).await)?;
    stored(change.commit().await)
}

#[cfg(test)]
mod tests {
    use account_core::AccountId;
    use account_core::limit::lease::Allowance;
    use account_core::testing::FixedClock;
    use chrono::TimeDelta;

    use super::super::testing::on_each_engine;
    use super::*;

    on_each_engine!(a_caller_is_forgotten_when_nothing_was_leased_since);

    async fn a_caller_is_forgotten_when_nothing_was_leased_since(store: Store, _address: String) {
        let (ada, now) = (CallerId::Account(AccountId(1)), FixedClock::default().now());
        let ask = Ask { allowance: Allowance::hourly(10), now, unused: None };
        store.lease(ada, ask).await.expect("the store answers");
        store.forget_shared(now).await.expect("the store answers");
        assert_ne!(store.shared(ada).await.expect("the store answers"), Shared::default());
        store.forget_shared(now + TimeDelta::microseconds(1)).await.expect("the store answers");
        assert_eq!(store.shared(ada).await.expect("the store answers"), Shared::default());
    }
}
