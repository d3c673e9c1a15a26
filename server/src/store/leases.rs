//! The limits that instances share: a row for each caller, changed by one at a time.

use account_core::limit::lease::{Ask, Lease, LeaseStore, Shared, Unused};
use account_core::{CallerId, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult, Value};

use super::Store;
use super::rows::{column, malformed, statement, stored, time};

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

    async fn forget_shared(&self, since: Timestamp) -> Result<(), StoreError> {
        let change = self.write().await?;
        stored(change.execute_raw(statement(FORGET, [time(since)])).await)?;
        stored(change.commit().await)
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
