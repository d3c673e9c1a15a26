//! Answers kept for requests that are sent again.

use account_core::credits::{Entry, Settlement};
use account_core::idempotency::{
    Claim, Claimed, HELD, IdempotencyStore, KEPT, RequestDigest, Slot, StoredAnswer,
};
use account_core::{StoreError, Timestamp};
use rusqlite::{Transaction, named_params};
use sea_orm::sqlx;
use sea_orm::{ConnectionTrait, DatabaseConnection, Value};

use super::Store;
use super::ledger;
use super::rows::{bytes_column, column, narrow, number, statement, stored, time, time_column};
use crate::failpoint;

/// Guarded: a run whose slot went to another fills nothing.
pub(super) const FILL: &str = "UPDATE kept_answer SET body = $3, cost = $4 \
                               WHERE slot = $1 AND run = $2 AND body IS NULL";
pub(super) const BALANCE: &str = "UPDATE kept_answer SET balance = $2 WHERE slot = $1";

impl IdempotencyStore for Store {
    async fn claim(&self, claim: Claim, now: Timestamp) -> Result<Claimed, StoreError> {
        if let Some(claimed) = self.taken(&claim, now).await? {
            return Ok(claimed);
        }
        let take = "INSERT INTO kept_answer (slot, request, run, held_until, expires_at) \
                    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (slot) DO UPDATE SET \
                    request = excluded.request, run = excluded.run, \
                    held_until = excluded.held_until, expires_at = excluded.expires_at, \
                    body = NULL, cost = NULL, balance = NULL \
                    WHERE kept_answer.expires_at <= $6 \
                    OR (kept_answer.body IS NULL AND kept_answer.held_until <= $6)";
        let values = [
            slot(claim.slot),
            claim.request.0.to_vec().into(),
            number(claim.run),
            time(now + HELD),
            time(now + KEPT),
            time(now),
        ];
        if self.execute(statement(take, values)).await?.rows_affected() > 0 {
            return Ok(Claimed::Yours);
        }
        // Another was quicker; where it has given the slot back since, the client comes again.
        Ok(self.taken(&claim, now).await?.unwrap_or(Claimed::Running))
    }

    async fn is_answered(&self, of: Slot, now: Timestamp) -> Result<bool, StoreError> {
        let query = "SELECT 1 AS found FROM kept_answer \
                     WHERE slot = $1 AND expires_at > $2 AND body IS NOT NULL";
        let query = statement(query, [slot(of), time(now)]);
        Ok(stored(self.readers.query_one_raw(query).await)?.is_some())
    }

    async fn settle_and_keep(
        &self,
        claim: Claim,
        entry: Entry,
        body: String,
    ) -> Result<Option<Settlement>, StoreError> {
        match &self.sqlite_ledger {
            Some(sqlite_ledger) => {
                sqlite_ledger
                    .clone()
                    .write(move |change| fill_on_sqlite(change, claim, &entry, &body))
                    .await
            }
            None => {
                fill_on_postgres(&self.writer, claim, entry, body).await.map_err(StoreError::new)
            }
        }
    }

    async fn release(&self, claim: Claim) -> Result<(), StoreError> {
        let release = "DELETE FROM kept_answer WHERE slot = $1 AND run = $2 AND body IS NULL";
        let release = statement(release, [slot(claim.slot), number(claim.run)]);
        self.execute(release).await?;
        Ok(())
    }
}

impl Store {
    /// How a slot stands that is not free.
    async fn taken(&self, claim: &Claim, now: Timestamp) -> Result<Option<Claimed>, StoreError> {
        let query = "SELECT request, body, cost, balance, held_until, expires_at \
                     FROM kept_answer WHERE slot = $1";
        let row = self.readers.query_one_raw(statement(query, [slot(claim.slot)])).await;
        let Some(row) = stored(row)? else { return Ok(None) };
        let body: Option<String> = column(&row, "body")?;
        let is_held = body.is_some() || time_column(&row, "held_until")? > now;
        if !is_held || time_column(&row, "expires_at")? <= now {
            return Ok(None);
        }
        let request = RequestDigest(bytes_column(&row, "request")?);
        Ok(Some(match body {
            _ if request != claim.request => Claimed::OtherRequest,
            None => Claimed::Running,
            Some(body) => Claimed::Answered(StoredAnswer {
                body,
                cost: narrow(&row, "cost")?,
                balance: narrow(&row, "balance")?,
            }),
        }))
    }
}

/// What is not committed is undone: an answer without its charge, say.
fn fill_on_sqlite(
    change: Transaction<'_>,
    claim: Claim,
    entry: &Entry,
    body: &str,
) -> rusqlite::Result<Option<Settlement>> {
    let (slot, run) = (claim.slot.0, claim.run.to_be_bytes());
    let filled = named_params! { "$1": slot, "$2": run, "$3": body, "$4": entry.cost };
    if change.prepare_cached(FILL)?.execute(filled)? == 0 {
        return Ok(None);
    }
    let settled = ledger::sqlite_ledger::settle(&change, std::slice::from_ref(entry))?;
    if let Some(Settlement::Charged { balance }) = settled.first() {
        let kept = named_params! { "$1": slot, "$2": balance };
        change.prepare_cached(BALANCE)?.execute(kept)?;
        failpoint::hit("kept");
        change.commit()?;
    }
    Ok(settled.first().copied())
}

/// The same by the ledger's own statement, on one connection.
async fn fill_on_postgres(
    pool: &DatabaseConnection,
    claim: Claim,
    entry: Entry,
    body: String,
) -> Result<Option<Settlement>, sqlx::Error> {
    let mut change = pool.get_postgres_connection_pool().begin().await?;
    let fill = sqlx::query(FILL)
        .bind(claim.slot.0.to_vec())
        .bind(claim.run.to_be_bytes().to_vec())
        .bind(body)
        .bind(i64::from(entry.cost));
    if fill.execute(&mut *change).await?.rows_affected() == 0 {
        return Ok(None);
    }
    let settled = ledger::postgres_ledger::settle_on(&mut change, &[entry]).await?;
    if let Some(Settlement::Charged { balance }) = settled.first() {
        let keep = sqlx::query(BALANCE).bind(claim.slot.0.to_vec()).bind(balance.cast_signed());
        keep.execute(&mut *change).await?;
        failpoint::hit("kept");
        change.commit().await?;
    }
    Ok(settled.first().copied())
}

fn slot(slot: Slot) -> Value {
    slot.0.to_vec().into()
}
