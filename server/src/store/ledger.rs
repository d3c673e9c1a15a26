//! The ledger: debits in batches, grants, and the audit that compares balances with the ledger.
//!
//! A batch is settled in one transaction, whatever its size: by prepared statements on SQLite, by
//! one statement over arrays on PostgreSQL. [`credits::decide`](account_core::credits::decide)
//! decides which calls are paid.

use account_core::credits::TransactionKind;
use account_core::{
    AccountId, Audit, AuditFault, CallerId, Entry, FaultKind, GuestId, Ledger, MinuteCount,
    Settlement, StoreError, Timestamp,
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult, TransactionTrait};

use super::engine::is_postgres;
use super::handle::Store;
use super::rows::{column, credits as amount, malformed, narrow, statement, stored, time};

mod backend;
mod batch;
pub(super) mod postgres_ledger;
pub(super) mod sqlite_ledger;

pub(super) use backend::LedgerBackend;
pub(super) use batch::MICROSECONDS_A_DAY;

pub(super) const MICROSECONDS_A_MINUTE: i64 = 60_000_000;

impl Ledger for Store {
    async fn settle(&self, batch: Vec<Entry>) -> Result<Vec<Settlement>, StoreError> {
        match &self.sqlite_ledger {
            _ if batch.is_empty() => Ok(Vec::new()),
            Some(sqlite_ledger) => {
                sqlite_ledger
                    .clone()
                    .write(move |change| sqlite_ledger::settle_and_commit(change, &batch))
                    .await
            }
            None => {
                postgres_ledger::settle(self.writer.get_postgres_connection_pool(), &batch).await
            }
        }
    }

    async fn calls_per_minute(
        &self,
        since: Timestamp,
        guests_since: Timestamp,
    ) -> Result<Vec<MinuteCount>, StoreError> {
        let query = "SELECT account_id, NULL AS guest_id, created_at / $2 AS minute, count(*) AS calls \
                     FROM usage WHERE created_at >= $1 AND account_id IS NOT NULL AND status <> 429 \
                     GROUP BY account_id, minute \
                     UNION ALL \
                     SELECT NULL, guest_id, created_at / $2, count(*) \
                     FROM usage WHERE created_at >= $3 AND guest_id IS NOT NULL AND status <> 429 \
                     GROUP BY guest_id, created_at / $2 ORDER BY guest_id NULLS FIRST, account_id, minute";
        let values = [time(since), MICROSECONDS_A_MINUTE.into(), time(guests_since)];
        let rows = stored(self.readers.query_all_raw(statement(query, values)).await)?;
        let count = |row| {
            let (caller, minute) = (caller(row)?, column(row, "minute")?);
            Ok(MinuteCount { caller, minute, calls: narrow(row, "calls")? })
        };
        rows.iter().map(count).collect()
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        if !is_postgres(&self.readers) {
            return audit(&self.readers).await;
        }
        // The audit reads every row and may take longer than the pool's statement timeout.
        let look = stored(self.readers.begin().await)?;
        stored(look.execute_unprepared("SET LOCAL statement_timeout = 0").await)?;
        audit(&look).await
    }
}

/// Compares balances and usage rows with the ledger, by one statement each, so that each comparison
/// sees one state of the data however long it takes.
async fn audit(connection: &impl ConnectionTrait) -> Result<Audit, StoreError> {
    let count = statement("SELECT count(*) AS accounts FROM account", []);
    let row = stored(connection.query_one_raw(count).await)?;
    let accounts = narrow(&row.ok_or_else(|| malformed("accounts"))?, "accounts")?;
    let mut faults = wrong_balances(connection).await?;
    faults.extend(wrong_usage(connection).await?);
    Ok(Audit { accounts, faults })
}

/// Adds credits to a balance and a row to the ledger; does nothing for zero credits.
pub(super) async fn record_grant(
    change: &DatabaseTransaction,
    account: AccountId,
    kind: TransactionKind,
    credits: u64,
    now: Timestamp,
) -> Result<(), StoreError> {
    if credits == 0 {
        return Ok(());
    }
    let add = "UPDATE account SET credit_balance = credit_balance + $2, last_grant = $2 \
               WHERE id = $1";
    let values = [account.0.into(), amount(credits)];
    stored(change.execute_raw(statement(add, values)).await)?;
    let record = "INSERT INTO ledger (account_id, kind, credits, balance_after, created_at, updated_at) \
                SELECT id, $2, $3, credit_balance, $4, $4 FROM account WHERE id = $1";
    let values = [account.0.into(), kind.name().into(), amount(credits), time(now)];
    stored(change.execute_raw(statement(record, values)).await)?;
    Ok(())
}

/// Compares each balance with the sum of its ledger rows; the rows of a deleted account must sum to
/// zero.
async fn wrong_balances(connection: &impl ConnectionTrait) -> Result<Vec<AuditFault>, StoreError> {
    let query = "WITH booked AS \
                 (SELECT account_id, CAST(sum(credits) AS BIGINT) AS credits FROM ledger \
                  GROUP BY account_id) \
                 SELECT account.id AS id, credit_balance AS found, coalesce(booked.credits, 0) AS expected \
                 FROM account LEFT JOIN booked ON booked.account_id = account.id \
                 WHERE credit_balance <> coalesce(booked.credits, 0) \
                 UNION ALL SELECT account_id, 0, credits FROM booked \
                 WHERE credits <> 0 AND NOT EXISTS (SELECT 1 FROM account WHERE id = booked.account_id) \
                 ORDER BY id";
    let rows = stored(connection.query_all_raw(statement(query, [])).await)?;
    rows.iter().map(|row| fault(row, FaultKind::Balance)).collect()
}

/// Compares the ledger with the usage rows for each day since the first fully retained day. Usage
/// rows of a deleted account are anonymous, so its days are not compared.
async fn wrong_usage(connection: &impl ConnectionTrait) -> Result<Vec<AuditFault>, StoreError> {
    let query = "WITH retained AS (SELECT value AS day FROM sequence WHERE name = 'usage_since') \
                 SELECT account_id AS id, day, CAST(-sum(booked) AS BIGINT) AS expected, \
                 CAST(sum(used) AS BIGINT) AS found FROM \
                 (SELECT account_id, day, credits AS booked, 0 AS used FROM ledger \
                  WHERE kind = 'usage' AND day >= (SELECT day FROM retained) \
                  UNION ALL \
                  SELECT account_id, created_at / $1, 0, credits FROM usage \
                  WHERE account_id IS NOT NULL AND credits > 0 \
                  AND created_at >= (SELECT day FROM retained) * $1) AS days \
                 WHERE EXISTS (SELECT 1 FROM account WHERE id = account_id) \
                 GROUP BY account_id, day HAVING sum(booked) + sum(used) <> 0 ORDER BY id, day";
    let query = statement(query, [MICROSECONDS_A_DAY.into()]);
    let rows = stored(connection.query_all_raw(query).await)?;
    rows.iter().map(|row| fault(row, FaultKind::Usage { day: column(row, "day")? })).collect()
}

fn fault(row: &QueryResult, kind: FaultKind) -> Result<AuditFault, StoreError> {
    Ok(AuditFault {
        caller: CallerId::Account(AccountId(column(row, "id")?)),
        kind,
        expected: column(row, "expected")?,
        found: column(row, "found")?,
    })
}

fn caller(row: &QueryResult) -> Result<CallerId, StoreError> {
    let account: Option<i64> = column(row, "account_id")?;
    let guest: Option<i64> = column(row, "guest_id")?;
    let account = account.map(|id| CallerId::Account(AccountId(id)));
    let guest = guest.map(|id| CallerId::Guest(GuestId(id)));
    account.or(guest).ok_or_else(|| malformed("account_id"))
}
