//! The ledger: debits in batches, grants, and the audit that compares balances with the ledger.
//!
//! A batch is settled in one transaction, whatever its size: by prepared statements on SQLite, by
//! one statement over arrays on PostgreSQL.
//! [`credits::decide_within_caps`](account_core::credits::decide_within_caps) decides which calls are
//! paid.
//!
//! Usage, the ledger and results are read in bounded pages along an index. The answer of a request
//! that may be repeated is written in the transaction of its charge.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use account_core::accounts::results::{MOST_BYTES, MOST_RESULTS};
use account_core::idempotency::{Claim, Claimed, HELD, KEPT, RequestDigest, Slot, StoredAnswer};
use account_core::store::{LedgerStore, Transaction, UsageFilter, UsageRequest, UsageTally};
use account_core::{
    AccountId, Audit, AuditFault, CallerId, Entry, FaultKind, Funds, GuestId, ListedResult,
    MinuteCount, ResultId, Settlement, StoreError, StoredResult, TallyFigure, Timestamp,
    TransactionKind, credits,
};
use rusqlite::named_params;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, QueryResult, TransactionTrait, Value,
    sqlx,
};

use crate::failpoint;

use super::engine::{by_engine, is_postgres};
use super::handle::Store;
use super::rows::{
    address_column, bytes_column, column, credits as amount, malformed, named, narrow, number,
    statement, stored, time, time_column,
};

mod backend;
mod batch_parts;
mod caps;
pub(super) mod postgres_ledger;
pub(super) mod sqlite_ledger;
pub(super) mod statements;

pub(super) use backend::LedgerBackend;
pub(super) use batch_parts::MICROSECONDS_A_DAY;

pub(super) const MICROSECONDS_A_MINUTE: i64 = 60_000_000;

/// The daily tallies of an account: `$1` account, `$2` and `$3` days, `$4` prefix of the path and
/// `$5` its length, `$6` method.
pub(super) const TALLIES: &str = "SELECT day, endpoint, CAST(sum(requests) AS BIGINT) AS requests, \
    CAST(sum(credits) AS BIGINT) AS credits, \
    CAST(sum(response_time_ms) AS BIGINT) AS response_time_ms FROM usage_day \
    WHERE account_id = $1 AND day BETWEEN $2 AND $3 AND substr(endpoint, 1, $5) = $4 \
    AND ($6 IS NULL OR method = $6) GROUP BY day, endpoint";

/// A page of an account's calls: as above with times in place of days, `$7` rows, after `$8`.
pub(super) const REQUESTS: &str = "SELECT id, endpoint, method, status, credits, \
    response_time_ms, ip, created_at FROM usage \
    WHERE account_id = $1 AND created_at >= $2 AND created_at < $3 \
    AND substr(endpoint, 1, $5) = $4 AND ($6 IS NULL OR method = $6) \
    ORDER BY created_at DESC, id DESC LIMIT $7 OFFSET $8";

/// A page of an account's calls on SQLite, where a separate table sorts calls by account.
pub(super) const REQUESTS_ON_SQLITE: &str = "SELECT id, endpoint, method, status, credits, \
    response_time_ms, ip, usage.created_at FROM call_by_account AS mine \
    JOIN usage ON usage.id = mine.call_id \
    WHERE mine.account_id = $1 AND mine.created_at >= $2 AND mine.created_at < $3 \
    AND substr(endpoint, 1, $5) = $4 AND ($6 IS NULL OR method = $6) \
    ORDER BY mine.created_at DESC, mine.call_id DESC LIMIT $7 OFFSET $8";

/// A page of an account's ledger.
pub(super) const TRANSACTIONS: &str = "SELECT id, kind, endpoint, credits, balance_after, \
    description, created_at FROM ledger WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3";

/// The number of rows in an account's ledger.
pub(super) const TRANSACTION_COUNT: &str =
    "SELECT count(*) AS total FROM ledger WHERE account_id = $1";

/// A conditional update: a run whose slot belongs to another run stores nothing.
pub(super) const FILL: &str = "UPDATE kept_answer SET body = $3, cost = $4 \
                               WHERE slot = $1 AND run = $2 AND body IS NULL";

pub(super) const BALANCE: &str = "UPDATE kept_answer SET balance = $2 WHERE slot = $1";

/// The number of rows in one statement. Every number of rows is a statement of its own, so the
/// number is small.
const ROWS: usize = 16;

impl LedgerStore for Store {
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

    async fn funds(&self, account: AccountId, day: i64) -> Result<Option<Funds>, StoreError> {
        self.read_funds(account, day).await
    }

    async fn spent_credits(&self, account: AccountId, day: i64) -> Result<u64, StoreError> {
        self.read_spent(account, day).await
    }

    async fn notify_of_refusal(&self, account: AccountId, at: Timestamp) -> Result<(), StoreError> {
        self.write_refusal(account, at).await
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

    async fn usage_tallies(
        &self,
        account: AccountId,
        filter: &UsageFilter,
    ) -> Result<Vec<UsageTally>, StoreError> {
        let values = filtered(account, filter, filter.since, filter.until);
        let rows = stored(self.readers.query_all_raw(statement(TALLIES, values)).await)?;
        let tally = |row: &QueryResult| {
            Ok(UsageTally {
                day: column(row, "day")?,
                endpoint: column(row, "endpoint")?,
                requests: narrow(row, "requests")?,
                credits: narrow(row, "credits")?,
                response_time_ms: narrow(row, "response_time_ms")?,
            })
        };
        rows.iter().map(tally).collect()
    }

    async fn usage_requests(
        &self,
        account: AccountId,
        filter: &UsageFilter,
        offset: u64,
        limit: u32,
    ) -> Result<Vec<UsageRequest>, StoreError> {
        let start = |day: i64| day.saturating_mul(MICROSECONDS_A_DAY);
        let mut values = filtered(account, filter, start(filter.since), start(filter.until + 1));
        values.extend([limit.into(), skipped(offset)]);
        self.index_calls().await?;
        let page = by_engine(&self.readers, REQUESTS_ON_SQLITE, REQUESTS);
        let rows = stored(self.readers.query_all_raw(statement(page, values)).await)?;
        rows.iter().map(request).collect()
    }

    async fn transactions(
        &self,
        account: AccountId,
        offset: u64,
        limit: u32,
    ) -> Result<(Vec<Transaction>, u64), StoreError> {
        let page = statement(TRANSACTIONS, [account.0.into(), limit.into(), skipped(offset)]);
        let rows = stored(self.readers.query_all_raw(page).await)?;
        let transactions = rows.iter().map(transaction).collect::<Result<_, _>>()?;
        let count = statement(TRANSACTION_COUNT, [account.0.into()]);
        let row = stored(self.readers.query_one_raw(count).await)?;
        Ok((transactions, narrow(&row.ok_or_else(|| malformed("total"))?, "total")?))
    }

    async fn claim(&self, claim: Claim) -> Result<Claimed, StoreError> {
        if let Some(claimed) = self.taken(&claim, self.clock.now()).await? {
            return Ok(claimed);
        }
        let take = "INSERT INTO kept_answer (slot, request, run, held_until, expires_at) \
                    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (slot) DO UPDATE SET \
                    request = excluded.request, run = excluded.run, \
                    held_until = excluded.held_until, expires_at = excluded.expires_at, \
                    body = NULL, cost = NULL, balance = NULL \
                    WHERE kept_answer.expires_at <= $6 \
                    OR (kept_answer.body IS NULL AND kept_answer.held_until <= $6)";
        let take = |now| {
            let values = [
                slot(claim.slot),
                claim.request.0.to_vec().into(),
                number(claim.run),
                time(now + HELD),
                time(now + KEPT),
                time(now),
            ];
            statement(take, values)
        };
        if self.execute_at(take).await?.rows_affected() > 0 {
            return Ok(Claimed::Yours);
        }
        // Another request was first. If that request has released the slot since, the client
        // repeats its own.
        Ok(self.taken(&claim, self.clock.now()).await?.unwrap_or(Claimed::Running))
    }

    async fn is_claimed(&self, of: Slot, now: Timestamp) -> Result<bool, StoreError> {
        let query = "SELECT 1 AS found FROM kept_answer WHERE slot = $1 AND expires_at > $2 \
                     AND (body IS NOT NULL OR held_until > $2)";
        let query = statement(query, [slot(of), time(now)]);
        Ok(stored(self.readers.query_one_raw(query).await)?.is_some())
    }

    async fn settle_together(
        &self,
        entries: Vec<Entry>,
        kept: Option<(Claim, String)>,
    ) -> Result<Option<Settlement>, StoreError> {
        match &self.sqlite_ledger {
            Some(sqlite_ledger) => {
                sqlite_ledger
                    .clone()
                    .write(move |change| together_on_sqlite(change, &entries, kept.as_ref()))
                    .await
            }
            None => together_on_postgres(&self.writer, &entries, kept).await,
        }
    }

    async fn release(&self, claim: Claim) -> Result<(), StoreError> {
        let release = "DELETE FROM kept_answer WHERE slot = $1 AND run = $2 AND body IS NULL";
        let release = statement(release, [slot(claim.slot), number(claim.run)]);
        self.execute(release).await?;
        Ok(())
    }

    async fn keep_results(&self, results: Vec<StoredResult>) -> Result<(), StoreError> {
        let change = self.write().await?;
        insert_results(&change, &results).await?;
        let owners: BTreeSet<i64> = results.iter().map(|result| result.owner.0).collect();
        for owner in owners {
            remove_excess(&change, AccountId(owner), u32::MAX).await?;
        }
        stored(change.commit().await)
    }

    async fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        after: Timestamp,
    ) -> Result<Option<StoredResult>, StoreError> {
        let query = "SELECT body, created_at FROM result WHERE id = $1 AND account_id = $2 AND created_at > $3";
        let query = statement(query, [number(id.0), owner.0.into(), time(after)]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        let Some(row) = row else { return Ok(None) };
        let (body, at) = (column(&row, "body")?, time_column(&row, "created_at")?);
        Ok(Some(StoredResult { id, owner, body, at }))
    }

    async fn recent_results(
        &self,
        owner: AccountId,
        after: Timestamp,
        limit: u32,
    ) -> Result<Vec<ListedResult>, StoreError> {
        let query = "SELECT id, created_at, bytes, substr(body, 1, $4) AS start FROM result \
                     WHERE account_id = $1 AND created_at > $2 \
                     ORDER BY created_at DESC, id DESC LIMIT $3";
        let start = i32::try_from(ListedResult::START).unwrap_or(i32::MAX);
        let query = statement(query, [owner.0.into(), time(after), limit.into(), start.into()]);
        let rows = stored(self.readers.query_all_raw(query).await)?;
        rows.iter().map(listed_result).collect()
    }
}

fn listed_result(row: &QueryResult) -> Result<ListedResult, StoreError> {
    Ok(ListedResult {
        id: ResultId(u128::from_be_bytes(bytes_column(row, "id")?)),
        at: time_column(row, "created_at")?,
        start: column(row, "start")?,
        bytes: narrow(row, "bytes")?,
    })
}

/// Removes at most `limit` of the oldest results of an account beyond its quota.
pub(super) async fn remove_excess(
    change: &DatabaseTransaction,
    account: AccountId,
    limit: u32,
) -> Result<u64, StoreError> {
    let most_bytes = i64::try_from(MOST_BYTES).unwrap_or(i64::MAX);
    let newest =
        statement(NEWEST_EXCESS, [account.0.into(), MOST_RESULTS.into(), most_bytes.into()]);
    let row = stored(change.query_one_raw(newest).await)?;
    let newest: Option<i64> = row.map(|row| column(&row, "newest")).transpose()?.flatten();
    let Some(newest) = newest else { return Ok(0) };
    let remove = statement(EXCESS, [account.0.into(), newest.into(), limit.into()]);
    Ok(stored(change.execute_raw(remove).await)?.rows_affected())
}

/// The time of the newest result of an account, `$1`, beyond `$2` results or `$3` bytes. The index
/// `result_owner` has every column.
const NEWEST_EXCESS: &str = "SELECT max(created_at) AS newest FROM (SELECT created_at, \
    row_number() OVER newest_first AS place, sum(bytes) OVER newest_first AS total \
    FROM result WHERE account_id = $1 \
    WINDOW newest_first AS (ORDER BY created_at DESC ROWS UNBOUNDED PRECEDING)) AS ranked \
    WHERE place > $2 OR total > $3";

const EXCESS: &str = "DELETE FROM result WHERE id IN (SELECT id FROM result \
    WHERE account_id = $1 AND created_at <= $2 ORDER BY created_at LIMIT $3)";

/// Compares balances and usage rows with the ledger, and daily sums with usage rows, by one statement each, so that each comparison
/// sees one state of the data however long it takes.
async fn audit(connection: &impl ConnectionTrait) -> Result<Audit, StoreError> {
    let count = statement("SELECT count(*) AS accounts FROM account", []);
    let row = stored(connection.query_one_raw(count).await)?;
    let accounts = narrow(&row.ok_or_else(|| malformed("accounts"))?, "accounts")?;
    let mut faults = wrong_balances(connection).await?;
    faults.extend(wrong_usage(connection).await?);
    faults.extend(wrong_tallies(connection).await?);
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

/// Compares the daily sums with the usage rows for each day since the first fully retained day, each
/// figure by account, day, endpoint and method. A deleted account has no daily sums.
async fn wrong_tallies(connection: &impl ConnectionTrait) -> Result<Vec<AuditFault>, StoreError> {
    let query = "WITH retained AS (SELECT value AS day FROM sequence WHERE name = 'usage_since') \
                 SELECT account_id AS id, day, endpoint, method, \
                 CAST(sum(calls) AS BIGINT) AS expected_0, \
                 CAST(sum(call_credits) AS BIGINT) AS expected_1, \
                 CAST(sum(call_time) AS BIGINT) AS expected_2, \
                 CAST(sum(summed) AS BIGINT) AS found_0, \
                 CAST(sum(summed_credits) AS BIGINT) AS found_1, \
                 CAST(sum(summed_time) AS BIGINT) AS found_2 FROM \
                 (SELECT account_id, created_at / $1 AS day, endpoint, method, 1 AS calls, \
                  credits AS call_credits, response_time_ms AS call_time, \
                  0 AS summed, 0 AS summed_credits, 0 AS summed_time FROM usage \
                  WHERE account_id IS NOT NULL \
                  AND created_at >= (SELECT day FROM retained) * $1 \
                  UNION ALL \
                  SELECT account_id, day, endpoint, method, 0, 0, 0, \
                  requests, credits, response_time_ms FROM usage_day \
                  WHERE day >= (SELECT day FROM retained)) AS days \
                 WHERE EXISTS (SELECT 1 FROM account WHERE id = account_id) \
                 GROUP BY account_id, day, endpoint, method \
                 HAVING sum(calls) <> sum(summed) OR sum(call_credits) <> sum(summed_credits) \
                 OR sum(call_time) <> sum(summed_time) ORDER BY id, day, endpoint, method";
    let query = statement(query, [MICROSECONDS_A_DAY.into()]);
    let rows = stored(connection.query_all_raw(query).await)?;
    let mut faults = Vec::new();
    for row in &rows {
        let (method, path): (String, String) = (column(row, "method")?, column(row, "endpoint")?);
        for (place, figure) in TallyFigure::ALL.into_iter().enumerate() {
            let expected = column(row, &format!("expected_{place}"))?;
            let found = column(row, &format!("found_{place}"))?;
            if expected != found {
                let caller = CallerId::Account(AccountId(column(row, "id")?));
                let (day, endpoint) = (column(row, "day")?, format!("{method} {path}"));
                let kind = FaultKind::Tally { day, endpoint, figure };
                faults.push(AuditFault { caller, kind, expected, found });
            }
        }
    }
    Ok(faults)
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

fn filtered(account: AccountId, filter: &UsageFilter, since: i64, until: i64) -> Vec<Value> {
    let length = i32::try_from(filter.endpoint.chars().count()).unwrap_or(i32::MAX);
    vec![
        account.0.into(),
        since.into(),
        until.into(),
        filter.endpoint.as_str().into(),
        length.into(),
        filter.method.clone().into(),
    ]
}

/// Returns an offset. Offsets beyond 64 bits are replaced by one that no table reaches.
fn skipped(offset: u64) -> Value {
    i64::try_from(offset).unwrap_or(i64::MAX).into()
}

fn request(row: &QueryResult) -> Result<UsageRequest, StoreError> {
    Ok(UsageRequest {
        id: column(row, "id")?,
        endpoint: column(row, "endpoint")?,
        method: column(row, "method")?,
        status: narrow(row, "status")?,
        credits: narrow(row, "credits")?,
        response_time_ms: narrow(row, "response_time_ms")?,
        ip: address_column(row, "ip")?,
        at: time_column(row, "created_at")?,
    })
}

fn transaction(row: &QueryResult) -> Result<Transaction, StoreError> {
    let kind = named(row, "kind", &TransactionKind::ALL, TransactionKind::name)?;
    let endpoint: Option<String> = column(row, "endpoint")?;
    let description: Option<String> = column(row, "description")?;
    let description = endpoint.or(description);
    Ok(Transaction {
        id: column(row, "id")?,
        kind,
        credits: column(row, "credits")?,
        balance_after: narrow(row, "balance_after")?,
        description: description.unwrap_or_else(|| kind.description().to_owned()),
        created_at: time_column(row, "created_at")?,
    })
}

impl Store {
    /// Returns the state of a slot that is not free; `None` for a free slot.
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

/// Charges for all entries or none, with their answer. An uncommitted change is rolled back, such
/// as an answer without its charge.
fn together_on_sqlite(
    change: rusqlite::Transaction<'_>,
    entries: &[Entry],
    kept: Option<&(Claim, String)>,
) -> rusqlite::Result<Option<Settlement>> {
    let costs = costs(entries);
    if let Some((claim, body)) = kept {
        let (slot, run, cost) = (claim.slot.0, claim.run.to_be_bytes(), costs.iter().sum::<u32>());
        let filled = named_params! { "$1": slot, "$2": run, "$3": body, "$4": cost };
        if change.prepare_cached(FILL)?.execute(filled)? == 0 {
            return Ok(None);
        }
    }
    let settled = credits::all_or_none(&costs, &sqlite_ledger::settle(&change, entries)?);
    if let Settlement::Charged { balance } = settled {
        if let Some((claim, _)) = kept {
            let kept = named_params! { "$1": claim.slot.0, "$2": balance };
            change.prepare_cached(BALANCE)?.execute(kept)?;
            failpoint::hit("kept");
        }
        change.commit()?;
    }
    Ok(Some(settled))
}

/// Charges as [`together_on_sqlite`] does, by the ledger's own statement on one connection.
async fn together_on_postgres(
    pool: &DatabaseConnection,
    entries: &[Entry],
    kept: Option<(Claim, String)>,
) -> Result<Option<Settlement>, StoreError> {
    let pool = pool.get_postgres_connection_pool();
    let mut change = pool.begin().await.map_err(StoreError::new)?;
    let settled = charge_together(&mut change, entries, kept).await.map_err(StoreError::new)?;
    if let Some(Settlement::Charged { .. }) = settled {
        change.commit().await.map_err(postgres_ledger::failed_commit)?;
    }
    Ok(settled)
}

async fn charge_together(
    change: &mut sqlx::PgConnection,
    entries: &[Entry],
    kept: Option<(Claim, String)>,
) -> Result<Option<Settlement>, sqlx::Error> {
    let costs = costs(entries);
    let claim = kept.as_ref().map(|(claim, _)| *claim);
    if let Some((claim, body)) = kept {
        let fill = sqlx::query(FILL)
            .bind(claim.slot.0.to_vec())
            .bind(claim.run.to_be_bytes().to_vec())
            .bind(body)
            .bind(costs.iter().copied().map(i64::from).sum::<i64>());
        if fill.execute(&mut *change).await?.rows_affected() == 0 {
            return Ok(None);
        }
    }
    let settled = postgres_ledger::settle_on(change, entries).await?;
    let settled = credits::all_or_none(&costs, &settled);
    if let (Settlement::Charged { balance }, Some(claim)) = (settled, claim) {
        let keep = sqlx::query(BALANCE).bind(claim.slot.0.to_vec()).bind(balance.cast_signed());
        keep.execute(change).await?;
        failpoint::hit("kept");
    }
    Ok(Some(settled))
}

fn costs(entries: &[Entry]) -> Vec<u32> {
    entries.iter().map(|entry| entry.cost).collect()
}

fn slot(slot: Slot) -> Value {
    slot.0.to_vec().into()
}

/// Inserts results, except those of deleted accounts.
async fn insert_results(
    change: &DatabaseTransaction,
    results: &[StoredResult],
) -> Result<(), StoreError> {
    for rows in results.chunks(ROWS) {
        let values = rows.iter().flat_map(|kept| {
            let (id, owner) = (number(kept.id.0), kept.owner.0.into());
            [id, owner, kept.body.as_str().into(), time(kept.at)]
        });
        stored(change.execute_raw(statement(&insert(rows.len()), values)).await)?;
    }
    Ok(())
}

/// Returns the statement that inserts this many rows, except those of deleted accounts.
fn insert(rows: usize) -> String {
    let mut sql = "INSERT INTO result (id, account_id, body, created_at) \
                   SELECT column1, column2, column3, column4 FROM (VALUES "
        .to_owned();
    for row in 0..rows {
        let (comma, first) = (if row == 0 { "" } else { ", " }, 4 * row + 1);
        write!(sql, "{comma}(${first}, ${}, ${}, ${})", first + 1, first + 2, first + 3)
            .expect("a string takes every row");
    }
    sql + ") AS kept WHERE EXISTS (SELECT 1 FROM account WHERE account.id = column2)"
}
