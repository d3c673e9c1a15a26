//! The calls of each account, in order of time, on SQLite: an index that follows the calls.
//!
//! An index that every call keeps in order would make it write a page of its account's own, which
//! alone costs as much as all that calls of a batch share. So calls are sorted a little later, many
//! of an account at once, in small steps with pauses between them; and whoever reads what is sorted
//! has the rest sorted first, without pauses. `calls_sorted` in `sequence` is the last call up to which
//! everything is sorted: what a crash leaves half done is sorted again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use account_core::{AccountId, StoreError};
use rusqlite::{Connection, Transaction};
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use serde_json::json;

use super::Store;
use super::ledger::sqlite_ledger::SqliteLedger;
use super::rows::{column, malformed, statement, stored};

/// How often calls are sorted: the more there are of an account, the fewer pages each costs.
const EVERY: Duration = Duration::from_secs(4);
/// Between two steps, while nobody waits for the last.
const PAUSE: Duration = Duration::from_millis(2);
/// Calls that are looked at in one pass, so that memory is bounded.
const PASS: usize = 65_536;
/// Calls that are sorted in one step.
const STEP: usize = 256;

const MARK: &str = "SELECT value FROM sequence WHERE name = 'calls_sorted'";
const UNSORTED: &str =
    "SELECT id, account_id, created_at FROM usage WHERE id > ?1 ORDER BY id LIMIT ?2";
/// A call that was removed meanwhile, or is nobody's any more, has no place here.
const SORT: &str = "INSERT INTO call_by_account (account_id, created_at, call_id) \
    SELECT account_id, created_at, id FROM usage WHERE id = ?2 AND account_id = ?1 \
    ON CONFLICT DO NOTHING";
const MOVE_MARK: &str = "UPDATE sequence SET value = ?1 WHERE name = 'calls_sorted'";
/// Whether calls came after the mark: the largest number is found at the end of the table.
const IS_SORTED: &str = "SELECT coalesce((SELECT max(id) FROM usage), 0) <= value AS is_sorted \
    FROM sequence WHERE name = 'calls_sorted'";

/// All that go through the books' connection.
#[cfg(test)]
pub(super) const STATEMENTS: [&str; 4] = [MARK, UNSORTED, SORT, MOVE_MARK];

/// Takes calls of an account away that are nobody's from now on: at most so many.
const FORGET_SORTED: &str = "DELETE FROM call_by_account WHERE (account_id, created_at, call_id) IN \
    (SELECT account_id, created_at, call_id FROM call_by_account WHERE account_id = $1 LIMIT $2) \
    RETURNING call_id";
/// The same for those that are not sorted yet, which are few.
const FORGET_UNSORTED: &str = "UPDATE usage SET account_id = NULL, ip = '' WHERE id IN \
    (SELECT id FROM usage WHERE id > (SELECT value FROM sequence WHERE name = 'calls_sorted') \
     AND account_id = $1 LIMIT $2)";
const FORGET_CALLS: &str = "UPDATE usage SET account_id = NULL, ip = '' \
    WHERE id IN (SELECT value FROM json_each($1))";

/// Who sorts calls, and whether somebody waits for it.
#[derive(Default)]
pub(super) struct Sorting {
    lock: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
}

/// Held by who waits for calls to be sorted.
struct Hurry<'a>(&'a AtomicUsize);

impl Sorting {
    fn hurry(&self) -> Hurry<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Hurry(&self.waiting)
    }

    fn is_urgent(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Calls after the mark.
struct Unsorted {
    /// Account and number of each, in the order in which they are sorted.
    calls: Vec<(i64, i64)>,
    /// The number of the last call that was looked at.
    last: i64,
    is_all: bool,
}

impl Store {
    /// Keeps calls sorted, for ever; on PostgreSQL there is nothing to do.
    pub async fn maintain_usage_index(self) {
        let Some(sqlite_ledger) = &self.sqlite_ledger else { return };
        let mut interval = tokio::time::interval(EVERY);
        loop {
            interval.tick().await;
            if let Err(error) = self.sort_rest(sqlite_ledger).await {
                tracing::warn!(%error, "calls could not be sorted by account");
            }
        }
    }

    /// Sorts all calls that were written down by now. On PostgreSQL they are sorted already.
    pub(super) async fn sort_calls(&self) -> Result<(), StoreError> {
        let Some(sqlite_ledger) = &self.sqlite_ledger else { return Ok(()) };
        let _hurry = sqlite_ledger.sorting.hurry();
        self.sort_rest(sqlite_ledger).await
    }

    async fn sort_rest(&self, sqlite_ledger: &Arc<SqliteLedger>) -> Result<(), StoreError> {
        // Who comes second finds them sorted.
        let _alone = sqlite_ledger.sorting.lock.lock().await;
        let row = stored(self.readers.query_one_raw(statement(IS_SORTED, [])).await)?;
        let mut is_sorted: bool = column(&row.ok_or_else(|| malformed("is_sorted"))?, "is_sorted")?;
        while !is_sorted {
            let unsorted = if sqlite_ledger.sorting.is_urgent() {
                sqlite_ledger.clone().look(unsorted).await?
            } else {
                sqlite_ledger.clone().look_gently(unsorted).await?
            };
            is_sorted = unsorted.is_all;
            sort(sqlite_ledger, unsorted).await?;
        }
        Ok(())
    }
}

fn unsorted(sqlite_ledger: &Connection) -> rusqlite::Result<Unsorted> {
    let mut last: i64 = sqlite_ledger.query_row(MARK, [], |row| row.get(0))?;
    let mut query = sqlite_ledger.prepare(UNSORTED)?;
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
    Ok(Unsorted { calls, last, is_all: seen < PASS })
}

async fn sort(sqlite_ledger: &Arc<SqliteLedger>, unsorted: Unsorted) -> Result<(), StoreError> {
    for step in unsorted.calls.chunks(STEP) {
        let step = step.to_vec();
        sqlite_ledger.clone().write(move |change| sort_step(change, &step)).await?;
        if !sqlite_ledger.sorting.is_urgent() {
            tokio::time::sleep(PAUSE).await;
        }
    }
    let move_mark = move |change: Transaction<'_>| {
        change.prepare_cached(MOVE_MARK)?.execute([unsorted.last])?;
        change.commit()
    };
    sqlite_ledger.clone().write(move_mark).await
}

fn sort_step(change: Transaction<'_>, calls: &[(i64, i64)]) -> rusqlite::Result<()> {
    let mut sort = change.prepare_cached(SORT)?;
    for call in calls {
        sort.execute(*call)?;
    }
    drop(sort);
    change.commit()
}

/// Makes calls of an account nobody's, at most so many; none are left where fewer are found.
pub(super) async fn forget_calls(
    change: &DatabaseTransaction,
    account: AccountId,
    limit: u32,
) -> Result<u64, StoreError> {
    let sorted = statement(FORGET_SORTED, [account.0.into(), limit.into()]);
    let rows = stored(change.query_all_raw(sorted).await)?;
    let calls: Vec<i64> =
        rows.iter().map(|row| column(row, "call_id")).collect::<Result<_, _>>()?;
    let forget = statement(FORGET_CALLS, [json!(calls).to_string().into()]);
    let of_sorted = stored(change.execute_raw(forget).await)?.rows_affected();
    let left = u64::from(limit).saturating_sub(of_sorted);
    let forget = statement(FORGET_UNSORTED, [account.0.into(), left.cast_signed().into()]);
    Ok(of_sorted + stored(change.execute_raw(forget).await)?.rows_affected())
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

    /// A free call of an account that is there already.
    fn call(request_id: u128, account: AccountId) -> Entry {
        let at = FixedClock::default().now() + TimeDelta::seconds(request_id as i64 % 50);
        testing::call(CallerId::Account(account), 0, request_id, at)
    }

    /// A store with two accounts, made behind the rules' back.
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
    async fn whoever_looks_sees_every_call_whether_it_was_sorted_or_not() {
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
    async fn a_pass_that_was_cut_short_is_done_again_and_nobodys_calls_are_left_out() {
        let (store, _home) = fixture().await;
        let batch: Vec<Entry> = (0..600).map(|n| call(n, ADA)).collect();
        store.settle(batch).await.expect("ok");
        let sqlite_ledger = store.sqlite_ledger.clone().expect("SQLite");
        let seen = sqlite_ledger.clone().look(unsorted).await.expect("ok");
        assert_eq!((seen.calls.len(), seen.is_all), (600, true));
        let half = seen.calls[..300].to_vec();
        sqlite_ledger.clone().write(move |change| sort_step(change, &half)).await.expect("ok");
        let nobodys: Vec<i64> = seen.calls[500..].iter().map(|(_, call)| *call).collect();
        let forget = statement(FORGET_CALLS, [json!(nobodys).to_string().into()]);
        store.writer.execute_raw(forget).await.expect("ok");
        sort(&sqlite_ledger, seen).await.expect("ok");
        assert_eq!(number(&store, "SELECT count(*) AS n FROM call_by_account").await, 500);
        store.sort_calls().await.expect("ok");
        assert_eq!(number(&store, "SELECT count(*) AS n FROM call_by_account").await, 500);
    }

    #[tokio::test]
    async fn calls_are_forgotten_sorted_and_unsorted() {
        let (store, _home) = fixture().await;
        store.settle((0..300).map(|n| call(n, ADA)).collect()).await.expect("ok");
        store.sort_calls().await.expect("ok");
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
