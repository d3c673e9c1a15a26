//! The monthly partitions of PostgreSQL's usage rows: created ahead, and dropped whole after their
//! retention.
//!
//! A call of a month without a partition goes to `usage_rest`, so that no debit waits for a
//! partition.

use account_core::{StoreError, Timestamp};
use chrono::{Datelike, Months, NaiveDate, NaiveTime};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::engine::{AdvisoryLock, is_postgres};
use super::handle::Store;
use super::ledger::MICROSECONDS_A_DAY;
use super::rows::{column, statement, stored};

/// The autovacuum settings of a partition. The rows of a partition rarely change and are found by
/// their keys alone, so frequent analysis and vacuum of a growing partition would occupy a core for
/// little gain.
const STORAGE_PARAMETERS: &str =
    "autovacuum_analyze_scale_factor = 1, autovacuum_vacuum_insert_scale_factor = 1";
/// The number of months with a partition, beginning with the current one.
const MONTHS_AHEAD: u32 = 3;

impl Store {
    /// Creates the missing partitions of this month and the next ones; does nothing on SQLite.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database reports an error.
    pub async fn prepare_partitions(&self, now: Timestamp) -> Result<(), StoreError> {
        if !is_postgres(&self.writer) {
            return Ok(());
        }
        let this = first_of_month(now.date_naive());
        for month in (0..MONTHS_AHEAD).map(|ahead| this + Months::new(ahead)) {
            let change = self.write_locked(AdvisoryLock::CleanUp).await?;
            let query = "SELECT to_regclass($1) IS NOT NULL AS is_there";
            let query = statement(query, [table(month).into()]);
            let row = stored(change.query_one_raw(query).await)?;
            if row.is_some_and(|row| column(&row, "is_there").unwrap_or(true)) {
                continue;
            }
            create(&change, month).await?;
            stored(change.commit().await)?;
        }
        Ok(())
    }
}

/// Creates the partition of a month and moves the calls of the month from `usage_rest`.
async fn create(change: &DatabaseTransaction, month: NaiveDate) -> Result<(), StoreError> {
    let (table, since, until) = (table(month), start(month), start(month + Months::new(1)));
    stored(
        change
            .execute_unprepared(&format!(
                "SET LOCAL lock_timeout = '1s'; \
                 LOCK TABLE usage_rest IN ACCESS EXCLUSIVE MODE; \
                 CREATE TABLE {table} (LIKE usage INCLUDING DEFAULTS INCLUDING CONSTRAINTS) \
                  WITH ({STORAGE_PARAMETERS}); \
                 WITH moved AS (DELETE FROM usage_rest \
                  WHERE created_at >= {since} AND created_at < {until} RETURNING *) \
                 INSERT INTO {table} SELECT * FROM moved; \
                 ALTER TABLE usage ATTACH PARTITION {table} FOR VALUES FROM ({since}) TO ({until})"
            ))
            .await,
    )?;
    Ok(())
}

/// Drops the partitions of months that ended before a day. A concurrent reader makes the drop fail
/// after a second; the next clean-up tries again.
pub(super) async fn drop_before(change: &DatabaseTransaction, day: i64) -> Result<(), StoreError> {
    if !is_postgres(change) {
        return Ok(());
    }
    let query = "SELECT CAST(CAST(inhrelid AS regclass) AS text) AS name FROM pg_inherits \
                 WHERE inhparent = CAST('usage' AS regclass)";
    for row in stored(change.query_all_raw(statement(query, [])).await)? {
        let name: String = column(&row, "name")?;
        let Some(month) = month(&name) else { continue };
        if start(month + Months::new(1)) <= day.saturating_mul(MICROSECONDS_A_DAY) {
            // Calls wait behind this lock, so the wait for it is short.
            let drop = format!("SET LOCAL lock_timeout = '1s'; DROP TABLE {}", table(month));
            stored(change.execute_unprepared(&drop).await)?;
        }
    }
    Ok(())
}

fn first_of_month(day: NaiveDate) -> NaiveDate {
    day.with_day(1).expect("every month has a first")
}

/// Returns the start of a month, in microseconds since 1970.
fn start(month: NaiveDate) -> i64 {
    month.and_time(NaiveTime::MIN).and_utc().timestamp_micros()
}

fn table(month: NaiveDate) -> String {
    format!("usage_{:04}_{:02}", month.year(), month.month())
}

/// Returns the month of a partition by its name; `None` for the name of another table.
fn month(table: &str) -> Option<NaiveDate> {
    let (year, month) = table.strip_prefix("usage_")?.split_once('_')?;
    NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use account_core::store::LedgerStore;
    use account_core::testing::{CheapHasher, FixedClock, seeded_rng};
    use account_core::{Accounts, CallerId, Email, NewAccount, Tier, Username, Vault};
    use chrono::TimeDelta;

    use super::*;
    use crate::store::testing::{self, postgres};

    /// Counts the calls in each partition.
    async fn tables(store: &Store) -> Vec<(String, i64)> {
        let query = "SELECT CAST(CAST(inhrelid AS regclass) AS text) AS name, \
                     (SELECT count(*) FROM usage WHERE usage.tableoid = inhrelid) AS calls \
                     FROM pg_inherits WHERE inhparent = CAST('usage' AS regclass) ORDER BY name";
        let rows = store.readers.query_all_raw(statement(query, [])).await.expect("ok");
        let row =
            |row| (column(row, "name").expect("text"), column(row, "calls").expect("a number"));
        rows.iter().map(row).collect()
    }

    fn named(tables: &[(&str, i64)]) -> Vec<(String, i64)> {
        tables.iter().map(|(name, calls)| ((*name).to_owned(), *calls)).collect()
    }

    #[tokio::test]
    async fn calls_are_in_the_partition_of_their_month_and_are_dropped_with_it() {
        let Some((store, _home)) = postgres().await else { return };
        let rng = seeded_rng(6);
        let vault = Arc::new(Vault::create(&mut rng.clone()));
        let accounts = Accounts::new(store.clone(), CheapHasher::default(), vault, rng);
        let now = FixedClock::default().now();
        let account = NewAccount {
            email: Email::parse("ada@example.com").expect("an address"),
            username: Username::parse("ada").expect("a name"),
            password: None,
            tier: Tier::Pro,
            credits: Some(100),
            hourly_limit: None,
            is_admin: false,
        };
        let ada = accounts.create_account(account, now).await.expect("a new account").id;
        let call = async |request_id, at| {
            let entry = testing::call(CallerId::Account(ada), 1, request_id, at);
            store.settle(vec![entry]).await.expect("paid");
        };

        call(1, now).await;
        assert_eq!(tables(&store).await, named(&[("usage_rest", 1)]));
        store.prepare_partitions(now).await.expect("ok");
        store.prepare_partitions(now).await.expect("once is enough");
        call(2, now).await;
        call(3, now + TimeDelta::days(31)).await;
        call(4, now + TimeDelta::days(400)).await;
        let expected =
            [("usage_2026_11", 2), ("usage_2026_12", 1), ("usage_2027_01", 0), ("usage_rest", 1)];
        assert_eq!(tables(&store).await, named(&expected));

        let later = now + TimeDelta::days(400);
        store.prepare_partitions(later).await.expect("ok");
        while accounts.clean_up(later, 100, Some(30)).await.expect("ok").more {}
        let expected =
            [("usage_2027_12", 1), ("usage_2028_01", 0), ("usage_2028_02", 0), ("usage_rest", 0)];
        assert_eq!(tables(&store).await, named(&expected));
        assert!(accounts.audit().await.expect("ok").holds());
    }
}
