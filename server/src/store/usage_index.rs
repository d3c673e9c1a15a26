//! The index of SQLite's usage rows by account and time, maintained after the calls.
//!
//! An index updated by every call would write one page for each account of a batch, and a page
//! costs as much as the calls of a batch share. A background task therefore adds the rows of many
//! calls of an account together, in small steps with pauses. A query that reads the index first
//! adds the missing rows, without pauses. `calls_sorted` in `sequence` is the last usage row that
//! the index covers; a pass that a crash interrupted is repeated.

use std::sync::Arc;
use std::time::Duration;

use account_core::{AccountId, StoreError};
use rusqlite::{Connection, Transaction};
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use serde_json::json;

use super::handle::Store;
use super::ledger::sqlite_ledger::SqliteLedger;
use super::rows::{column, malformed, statement, stored};

mod index_lock;

pub(super) use index_lock::IndexLock;

/// The period of the indexing task: the more calls of an account a pass adds, the fewer pages each
/// call costs.
pub const USAGE_INDEX_PERIOD: Duration = Duration::from_secs(4);
/// The pause between two steps while no query waits.
const PAUSE: Duration = Duration::from_millis(2);
/// The largest number of usage rows read at once, which bounds the memory.
const PASS: usize = 65_536;
/// The number of rows added in one transaction.
const STEP: usize = 256;

const COVERED: &str = "SELECT value FROM sequence WHERE name = 'calls_sorted'";
const MISSING: &str =
    "SELECT id, account_id, created_at FROM usage WHERE id > ?1 ORDER BY id LIMIT ?2";
/// Skips a call that was deleted or made anonymous meanwhile.
const INSERT: &str = "INSERT INTO call_by_account (account_id, created_at, call_id) \
    SELECT account_id, created_at, id FROM usage WHERE id = ?2 AND account_id = ?1 \
    ON CONFLICT DO NOTHING";
const ADVANCE: &str = "UPDATE sequence SET value = ?1 WHERE name = 'calls_sorted'";
/// The query whether the index covers every call; the largest id is at the end of the table.
const IS_COMPLETE: &str = "SELECT coalesce((SELECT max(id) FROM usage), 0) <= value AS is_complete \
    FROM sequence WHERE name = 'calls_sorted'";

/// Every statement of the ledger's own connection.
#[cfg(test)]
pub(super) const STATEMENTS: [&str; 4] = [COVERED, MISSING, INSERT, ADVANCE];

/// Removes at most `$2` calls of an account from the index.
const REMOVE_INDEXED: &str = "DELETE FROM call_by_account WHERE (account_id, created_at, call_id) IN \
    (SELECT account_id, created_at, call_id FROM call_by_account WHERE account_id = $1 LIMIT $2) \
    RETURNING call_id";
/// Makes at most `$2` calls of an account anonymous that the index does not cover yet.
const ANONYMISE_MISSING: &str = "UPDATE usage SET account_id = NULL, ip = '' WHERE id IN \
    (SELECT id FROM usage WHERE id > (SELECT value FROM sequence WHERE name = 'calls_sorted') \
     AND account_id = $1 LIMIT $2)";
const ANONYMISE: &str = "UPDATE usage SET account_id = NULL, ip = '' \
    WHERE id IN (SELECT value FROM json_each($1))";

/// Calls that the index does not cover yet.
struct Missing {
    /// The account and id of each call, in the order of the index.
    calls: Vec<(i64, i64)>,
    /// The id of the last usage row that was read.
    last: i64,
    /// True if no further usage row follows.
    is_all: bool,
}

impl Store {
    /// Adds new calls to the index every [`USAGE_INDEX_PERIOD`]; ends at once on PostgreSQL, whose
    /// index is always complete.
    pub async fn maintain_usage_index(self) {
        let Some(sqlite_ledger) = &self.sqlite_ledger else { return };
        let mut interval = tokio::time::interval(USAGE_INDEX_PERIOD);
        loop {
            interval.tick().await;
            if let Err(error) = self.index_missing(sqlite_ledger).await {
                tracing::warn!(%error, "the usage index could not be updated");
            }
        }
    }

    /// Adds every committed call to the index, without pauses; does nothing on PostgreSQL.
    pub(super) async fn index_calls(&self) -> Result<(), StoreError> {
        let Some(sqlite_ledger) = &self.sqlite_ledger else { return Ok(()) };
        let _waiting = sqlite_ledger.index_lock.register_query();
        self.index_missing(sqlite_ledger).await
    }

    async fn index_missing(&self, sqlite_ledger: &Arc<SqliteLedger>) -> Result<(), StoreError> {
        // A second pass waits here and finds a complete index.
        let _pass = sqlite_ledger.index_lock.acquire().await;
        let row = stored(self.readers.query_one_raw(statement(IS_COMPLETE, [])).await)?;
        let mut is_complete: bool =
            column(&row.ok_or_else(|| malformed("is_complete"))?, "is_complete")?;
        while !is_complete {
            let missing = if sqlite_ledger.index_lock.is_urgent() {
                sqlite_ledger.clone().read(missing_calls).await?
            } else {
                sqlite_ledger.clone().read_at_low_priority(missing_calls).await?
            };
            is_complete = missing.is_all;
            add(sqlite_ledger, missing).await?;
        }
        Ok(())
    }
}

fn missing_calls(connection: &Connection) -> rusqlite::Result<Missing> {
    let mut last: i64 = connection.query_row(COVERED, [], |row| row.get(0))?;
    let mut query = connection.prepare(MISSING)?;
    let mut rows = query.query((last, PASS))?;
    let (mut calls, mut seen) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        seen += 1;
        last = row.get(0)?;
        if let Some(account) = row.get::<_, Option<i64>>(1)? {
            calls.push((account, row.get::<_, i64>(2)?, last));
        }
    }
    calls.sort_unstable();
    let calls = calls.into_iter().map(|(account, _, call)| (account, call)).collect();
    Ok(Missing { calls, last, is_all: seen < PASS })
}

async fn add(sqlite_ledger: &Arc<SqliteLedger>, missing: Missing) -> Result<(), StoreError> {
    for step in missing.calls.chunks(STEP) {
        let step = step.to_vec();
        sqlite_ledger.clone().write(move |change| add_step(change, &step)).await?;
        if !sqlite_ledger.index_lock.is_urgent() {
            tokio::time::sleep(PAUSE).await;
        }
    }
    let advance = move |change: Transaction<'_>| {
        change.prepare_cached(ADVANCE)?.execute([missing.last])?;
        change.commit()
    };
    sqlite_ledger.clone().write(advance).await
}

fn add_step(change: Transaction<'_>, calls: &[(i64, i64)]) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(INSERT)?;
    for call in calls {
        insert.execute(*call)?;
    }
    drop(insert);
    change.commit()
}

/// Makes at most `limit` calls of a deleted account anonymous and returns their number. A smaller
/// number means that none is left.
pub(super) async fn forget_calls(
    change: &DatabaseTransaction,
    account: AccountId,
    limit: u32,
) -> Result<u64, StoreError> {
    let indexed = statement(REMOVE_INDEXED, [account.0.into(), limit.into()]);
    let rows = stored(change.query_all_raw(indexed).await)?;
    let calls: Vec<i64> =
        rows.iter().map(|row| column(row, "call_id")).collect::<Result<_, _>>()?;
    let anonymise = statement(ANONYMISE, [json!(calls).to_string().into()]);
    let of_indexed = stored(change.execute_raw(anonymise).await)?.rows_affected();
    let left = u64::from(limit).saturating_sub(of_indexed);
    let anonymise = statement(ANONYMISE_MISSING, [account.0.into(), left.cast_signed().into()]);
    Ok(of_indexed + stored(change.execute_raw(anonymise).await)?.rows_affected())
}

#[cfg(test)]
mod tests {
    use account_core::store::{LedgerStore, UsageFilter};
    use account_core::testing::FixedClock;
    use account_core::{CallerId, Entry};
    use chrono::TimeDelta;

    use super::super::testing::{self, sqlite};
    use super::*;

    const ADA: AccountId = AccountId(1);

    /// Returns a free call of an existing account.
    fn call(request_id: u128, account: AccountId) -> Entry {
        let at = FixedClock::default().now() + TimeDelta::seconds(request_id as i64 % 50);
        testing::call(CallerId::Account(account), 0, request_id, at)
    }

    /// Returns a store with two accounts, inserted directly.
    async fn fixture() -> (Store, tempfile::TempDir) {
        let (store, home) = sqlite().await.expect("always there");
        for account in [1, 2] {
            let insert = format!(
                "INSERT INTO account (id, email, username, username_key, tier, credit_balance, \
                 is_admin, mfa_enabled, created_at, verified_at) \
                 VALUES ({account}, '{account}@example.com', 'u{account}', 'u{account}', 'pro', 0, \
                 FALSE, FALSE, 0, 0)"
            );
            store.writer.execute_unprepared(&insert).await.expect("a new account");
        }
        (store, home)
    }

    async fn number(store: &Store, query: &str) -> i64 {
        let row = store.writer.query_one_raw(statement(query, [])).await.expect(query);
        column(&row.expect("a row"), "n").expect("a number")
    }

    #[tokio::test]
    async fn a_listing_shows_every_call_whether_it_was_indexed_or_not() {
        let (store, _home) = fixture().await;
        let day = FixedClock::default().now().timestamp().div_euclid(86_400);
        let (endpoint, method) = (String::new(), None);
        let filter = UsageFilter { since: day, until: day, endpoint, method };
        for round in 1..=3_u128 {
            let both = (0..700).flat_map(|n| [(2 * n, ADA), (2 * n + 1, AccountId(2))]);
            let batch = both.map(|(n, account)| call(10_000 * round + n, account)).collect();
            store.settle(batch).await.expect("ok");
            let seen = store.usage_requests(ADA, &filter, 0, 10_000).await.expect("ok");
            assert_eq!(seen.len() as u128, 700 * round);
            let order: Vec<_> = seen.iter().map(|call| (call.at, call.id)).collect();
            assert!(order.is_sorted_by(|a, b| a > b), "the latest first");
        }
    }

    #[tokio::test]
    async fn an_interrupted_pass_is_repeated_and_anonymous_calls_are_left_out() {
        let (store, _home) = fixture().await;
        let batch: Vec<Entry> = (0..600).map(|n| call(n, ADA)).collect();
        store.settle(batch).await.expect("ok");
        let sqlite_ledger = store.sqlite_ledger.clone().expect("SQLite");
        let seen = sqlite_ledger.clone().read(missing_calls).await.expect("ok");
        assert_eq!((seen.calls.len(), seen.is_all), (600, true));
        let half = seen.calls[..300].to_vec();
        sqlite_ledger.clone().write(move |change| add_step(change, &half)).await.expect("ok");
        let anonymous: Vec<i64> = seen.calls[500..].iter().map(|(_, call)| *call).collect();
        let anonymise = statement(ANONYMISE, [json!(anonymous).to_string().into()]);
        store.writer.execute_raw(anonymise).await.expect("ok");
        add(&sqlite_ledger, seen).await.expect("ok");
        assert_eq!(number(&store, "SELECT count(*) AS n FROM call_by_account").await, 500);
        store.index_calls().await.expect("ok");
        assert_eq!(number(&store, "SELECT count(*) AS n FROM call_by_account").await, 500);
    }

    #[tokio::test]
    async fn calls_are_made_anonymous_whether_they_were_indexed_or_not() {
        let (store, _home) = fixture().await;
        store.settle((0..300).map(|n| call(n, ADA)).collect()).await.expect("ok");
        store.index_calls().await.expect("ok");
        store.settle((300..400).map(|n| call(n, ADA)).collect()).await.expect("ok");
        let mut forgotten = Vec::new();
        for _ in 0..2 {
            let change = store.write().await.expect("ok");
            forgotten.push(forget_calls(&change, ADA, 200).await.expect("ok"));
            change.commit().await.expect("ok");
        }
        assert_eq!(forgotten, [200, 200]);
        let left = "SELECT count(*) AS n FROM usage WHERE account_id IS NOT NULL OR ip <> ''";
        assert_eq!(number(&store, left).await, 0);
        assert_eq!(number(&store, "SELECT count(*) AS n FROM call_by_account").await, 0);
    }
}
