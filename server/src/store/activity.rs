//! What owners look at, in bounded pages along an index.

use account_core::accounts::activity::{
    ActivityStore, LoginHistory, LoginTry, Transaction, UsageFilter, UsageRequest, UsageTally,
};
use account_core::accounts::{LoginMethod, TryStatus};
use account_core::{AccountId, StoreError, TransactionKind};
use sea_orm::{ConnectionTrait, QueryResult, Value};

use super::Store;
use super::engine::by_engine;
use super::ledger::MICROSECONDS_A_DAY;
use super::rows::{
    address_column, column, malformed, named, narrow, statement, stored, time_column,
};

/// The tallies of an account's days: `$1` account, `$2` and `$3` days, `$4` start of the path and
/// `$5` its length, `$6` method.
pub(super) const TALLIES: &str = "SELECT day, endpoint, CAST(sum(requests) AS BIGINT) AS requests, \
    CAST(sum(credits) AS BIGINT) AS credits, \
    CAST(sum(response_time_ms) AS BIGINT) AS response_time_ms FROM usage_day \
    WHERE account_id = $1 AND day BETWEEN $2 AND $3 AND substr(endpoint, 1, $5) = $4 \
    AND ($6 IS NULL OR method = $6) GROUP BY day, endpoint";

/// A page of an account's calls: as above with moments in place of days, `$7` rows, after `$8`.
pub(super) const REQUESTS: &str = "SELECT id, endpoint, method, status, credits, \
    response_time_ms, ip, created_at FROM usage \
    WHERE account_id = $1 AND created_at >= $2 AND created_at < $3 \
    AND substr(endpoint, 1, $5) = $4 AND ($6 IS NULL OR method = $6) \
    ORDER BY created_at DESC, id DESC LIMIT $7 OFFSET $8";

/// The same on SQLite, where calls are sorted by account in a table of their own.
pub(super) const REQUESTS_ON_SQLITE: &str = "SELECT id, endpoint, method, status, credits, \
    response_time_ms, ip, usage.created_at FROM call_by_account AS mine \
    JOIN usage ON usage.id = mine.call_id \
    WHERE mine.account_id = $1 AND mine.created_at >= $2 AND mine.created_at < $3 \
    AND substr(endpoint, 1, $5) = $4 AND ($6 IS NULL OR method = $6) \
    ORDER BY mine.created_at DESC, mine.call_id DESC LIMIT $7 OFFSET $8";

/// A page of an account's login tries.
pub(super) const TRIES: &str = "SELECT id, ip, user_agent, status, method, created_at \
    FROM login_try WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3";

/// How many login tries came to what.
pub(super) const TRY_COUNTS: &str = "SELECT status, count(*) AS tries FROM login_try \
    WHERE account_id = $1 GROUP BY status";

/// A page of an account's ledger.
pub(super) const TRANSACTIONS: &str = "SELECT id, kind, endpoint, credits, balance_after, \
    description, created_at FROM ledger WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3";

/// How many rows an account's ledger has.
pub(super) const TRANSACTION_COUNT: &str =
    "SELECT count(*) AS total FROM ledger WHERE account_id = $1";

impl ActivityStore for Store {
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

    async fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> Result<LoginHistory, StoreError> {
        let page = statement(TRIES, [account.0.into(), limit.into(), offset.into()]);
        let rows = stored(self.readers.query_all_raw(page).await)?;
        let entries = rows.iter().map(login_try).collect::<Result<_, _>>()?;
        let counts = statement(TRY_COUNTS, [account.0.into()]);
        let (mut successful, mut failed) = (0, 0);
        for row in &stored(self.readers.query_all_raw(counts).await)? {
            let tries: u64 = narrow(row, "tries")?;
            match named(row, "status", &TryStatus::ALL, TryStatus::name)? {
                TryStatus::Success => successful += tries,
                TryStatus::Failed | TryStatus::Locked => failed += tries,
            }
        }
        Ok(LoginHistory { entries, total: successful + failed, successful, failed })
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

/// So many rows that no table has them are as good as any such number.
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

fn login_try(row: &QueryResult) -> Result<LoginTry, StoreError> {
    Ok(LoginTry {
        id: column(row, "id")?,
        address: address_column(row, "ip")?,
        user_agent: column(row, "user_agent")?,
        status: named(row, "status", &TryStatus::ALL, TryStatus::name)?,
        method: named(row, "method", &LoginMethod::ALL, LoginMethod::name)?,
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
