//! A batch on PostgreSQL: one statement, and so one round trip, where every caller can pay for all
//! of its calls.
//!
//! The statement locks the callers in the order of their numbers, as every instance does, debits
//! the callers without a cap whose balance covers their part of the batch, and writes their rows. For
//! the other callers a second transaction follows: under lock, [`credits::decide_within_caps`] decides
//! which of their calls are paid, and the same statement charges these calls.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use account_core::{
    AccountId, CallerId, Entry, GuestId, Notice, Settlement, SpendCap, Spending, StoreError,
    credits,
};
use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::postgres::{PgConnection, PgPool, PgRow};
use sea_orm::sqlx::{self, Connection, Postgres, Row};

use super::batch_parts::{Settled, day, tallies};
use super::statements::{INSERT_NOTICE, SPENT, set_told};
use crate::failpoint;
use crate::store::fault::UndecidedCharge;

/// The longest wait of a batch for a server that was lost during the write. A caller that has not
/// heard whether a call was charged is better kept waiting; a server that is started anew, or whose
/// standby takes over, is back by then.
const PATIENCE: Duration = Duration::from_secs(20);
/// The pause between two attempts to reach a lost server.
const PAUSE: Duration = Duration::from_millis(100);
/// The number of further attempts for a batch that the server refused as a whole.
const TRIES: u32 = 2;

/// Charges the callers that can pay for their part of the batch.
///
/// `$1` to `$4`: accounts and guests with their costs. `$5` to `$10`: rows of the ledger, where
/// `later` is the cost after the row's last call. `$11` to `$20`: the calls. `$21` to `$27`: the
/// daily sums. `$28` to `$33`: stored results, whose text is split around the balance. `$34`: true
/// where the caps of the accounts were decided under lock; otherwise an account with a cap and a paid
/// call is charged for nothing, because the statement does not see debits that were committed after
/// its start.
const CHARGE: &str = "\
WITH account_held AS MATERIALIZED (
  SELECT id, credit_balance, spend_cap_per_day FROM account
  WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE
), guest_held AS MATERIALIZED (
  SELECT id, credit_balance FROM guest WHERE id = ANY ($3) ORDER BY id FOR NO KEY UPDATE
), account_paid AS MATERIALIZED (
  SELECT held.id, asked.credits, held.credit_balance - asked.credits AS balance
  FROM unnest($1, $2) AS asked (id, credits) JOIN account_held AS held ON held.id = asked.id
  WHERE held.credit_balance >= asked.credits
    AND ($34 OR held.spend_cap_per_day IS NULL OR asked.credits = 0)
), guest_paid AS MATERIALIZED (
  SELECT held.id, asked.credits, held.credit_balance - asked.credits AS balance
  FROM unnest($3, $4) AS asked (id, credits) JOIN guest_held AS held ON held.id = asked.id
  WHERE held.credit_balance >= asked.credits
), account_debit AS (
  UPDATE account SET credit_balance = account.credit_balance - paid.credits
  FROM account_paid AS paid WHERE account.id = paid.id AND paid.credits > 0
), guest_debit AS (
  UPDATE guest SET credit_balance = guest.credit_balance - paid.credits
  FROM guest_paid AS paid WHERE guest.id = paid.id AND paid.credits > 0
), booked AS (
  INSERT INTO ledger
    (account_id, kind, day, endpoint, credits, balance_after, created_at, updated_at)
  SELECT paid.id, 'usage', entry.day, entry.endpoint, -entry.credits, paid.balance + entry.later,
    entry.at, entry.at
  FROM unnest($5, $6, $7, $8, $9, $10) AS entry (id, day, endpoint, credits, later, at)
  JOIN account_paid AS paid ON paid.id = entry.id
  ON CONFLICT (account_id, day, endpoint) DO UPDATE SET
    credits = ledger.credits + excluded.credits, balance_after = excluded.balance_after,
    updated_at = excluded.updated_at
), written AS (
  INSERT INTO usage
    (request_id, account_id, guest_id, endpoint, method, status, credits, response_time_ms, ip,
     created_at)
  SELECT * FROM unnest($11, $12, $13, $14, $15, $16, $17, $18, $19, $20) AS entry
    (request_id, account_id, guest_id, endpoint, method, status, credits, response_time_ms, ip,
     created_at)
  WHERE entry.account_id IN (SELECT id FROM account_paid)
    OR entry.guest_id IN (SELECT id FROM guest_paid)
), tallied AS (
  INSERT INTO usage_day
    (account_id, day, endpoint, method, requests, credits, response_time_ms)
  SELECT entry.* FROM unnest($21, $22, $23, $24, $25, $26, $27) AS entry
    (account_id, day, endpoint, method, requests, credits, response_time_ms)
  JOIN account_paid AS paid ON paid.id = entry.account_id
  ON CONFLICT (account_id, day, endpoint, method) DO UPDATE SET
    requests = usage_day.requests + excluded.requests,
    credits = usage_day.credits + excluded.credits,
    response_time_ms = usage_day.response_time_ms + excluded.response_time_ms
), kept AS (
  INSERT INTO result (id, account_id, body, created_at)
  SELECT entry.id, paid.id, entry.head || (paid.balance + entry.later) || entry.tail, entry.at
  FROM unnest($28, $29, $30, $31, $32, $33) AS entry (id, account_id, head, later, tail, at)
  JOIN account_paid AS paid ON paid.id = entry.account_id
)
SELECT held.id AS account_id, NULL::bigint AS guest_id, paid.balance
FROM account_held AS held LEFT JOIN account_paid AS paid ON paid.id = held.id
UNION ALL
SELECT NULL, held.id, paid.balance
FROM guest_held AS held LEFT JOIN guest_paid AS paid ON paid.id = held.id";

/// Locks callers and reads their balances and caps. `$1`: accounts, `$2`: guests.
const BALANCES: &str = "\
WITH account_held AS MATERIALIZED (
  SELECT id, credit_balance, spend_cap_per_day, cap_near_on, cap_reached_on FROM account
  WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE
), guest_held AS MATERIALIZED (
  SELECT id, credit_balance FROM guest WHERE id = ANY ($2) ORDER BY id FOR NO KEY UPDATE
)
SELECT id AS account_id, NULL::bigint AS guest_id, credit_balance AS balance,
  spend_cap_per_day, cap_near_on, cap_reached_on FROM account_held
UNION ALL SELECT NULL, id, credit_balance, NULL, NULL, NULL FROM guest_held";

/// Settles a batch of calls in one transaction on PostgreSQL.
pub(super) async fn settle(pool: &PgPool, batch: &[Entry]) -> Result<Vec<Settlement>, StoreError> {
    let mut connection = pool.acquire().await.map_err(StoreError::new)?;
    settle_on(&mut connection, batch).await.map_err(StoreError::new)
}

/// The connection of one task of the ledger writer, with the recovery from its loss.
pub(in super::super) struct PostgresLedger {
    pool: PgPool,
    connection: Option<PoolConnection<Postgres>>,
}

/// The failure to settle a batch.
struct BatchFailure {
    error: sqlx::Error,
    /// True if the batch may have been committed: the connection was lost before the answer.
    may_be_committed: bool,
}

impl BatchFailure {
    /// Returns a failure before the batch was sent.
    const fn unsent(error: sqlx::Error) -> Self {
        Self { error, may_be_committed: false }
    }

    /// Returns a failure after the batch was sent. An error of the server means a rollback, except
    /// during a shutdown or crash. A broken pipe means that the end of the message, which commits,
    /// was never sent. After any other error the batch may be committed.
    fn sent(error: sqlx::Error) -> Self {
        let may_be_committed = match &error {
            sqlx::Error::Database(refusal) => refusal.code().is_none_or(|code| {
                ["08", "57P", "58", "XX"].iter().any(|class| code.starts_with(class))
            }),
            sqlx::Error::Io(error) => error.kind() != ErrorKind::BrokenPipe,
            _ => true,
        };
        Self { error, may_be_committed }
    }

    /// Returns whether a single call caused the failure, for example by a stored request id.
    fn is_of_one_call(&self) -> bool {
        let code = self.error.as_database_error().and_then(DatabaseError::code);
        code.is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
    }
}

/// Returns the error of a commit of debits.
pub(in super::super) fn failed_commit(error: sqlx::Error) -> StoreError {
    let BatchFailure { error, may_be_committed } = BatchFailure::sent(error);
    failed(Arc::new(error), may_be_committed)
}

/// Returns the error of debits that failed, and that may be committed all the same.
fn failed(error: Arc<sqlx::Error>, may_be_committed: bool) -> StoreError {
    if may_be_committed { StoreError::new(UndecidedCharge(error)) } else { StoreError::new(error) }
}

impl PostgresLedger {
    pub(super) const fn new(pool: PgPool) -> Self {
        Self { pool, connection: None }
    }

    /// Settles a batch. After a lost connection, the stored request ids show which calls were
    /// committed, and only the others are sent again.
    pub(super) async fn settle(&mut self, batch: &[Entry]) -> Settled {
        let mut failure = match self.at_once(batch).await {
            Ok(settled) => return settled.into_iter().map(Ok).collect(),
            Err(failure) => failure,
        };
        let give_up = Instant::now() + PATIENCE;
        let mut may_be_written = false;
        let mut tries = 0;
        loop {
            may_be_written |= failure.may_be_committed;
            tries += 1;
            if tries == 1 {
                let (error, entries) = (&failure.error, batch.len());
                tracing::warn!(%error, entries, may_be_written, "a batch failed");
            }
            if batch.len() > 1 && failure.is_of_one_call() {
                return self.singly(batch, may_be_written).await;
            }
            let is_over = if may_be_written { Instant::now() >= give_up } else { tries > TRIES };
            if is_over {
                let error = Arc::new(failure.error);
                return batch.iter().map(|_| Err(failed(error.clone(), may_be_written))).collect();
            }
            if may_be_written {
                tokio::time::sleep(PAUSE).await;
            }
            failure = match self.anew(batch, may_be_written).await {
                Ok(settled) => return settled,
                Err(failure) => failure,
            };
        }
    }

    /// Settles each call of a failed batch separately, so that one faulty call does not affect the
    /// others.
    async fn singly(&mut self, batch: &[Entry], may_be_written: bool) -> Settled {
        let mut settled = Vec::with_capacity(batch.len());
        for entry in batch {
            match self.anew(std::slice::from_ref(entry), may_be_written).await {
                Ok(one) => settled.extend(one),
                Err(BatchFailure { error, may_be_committed }) => {
                    settled.push(Err(failed(Arc::new(error), may_be_written || may_be_committed)));
                }
            }
        }
        settled
    }

    async fn at_once(&mut self, batch: &[Entry]) -> Result<Vec<Settlement>, BatchFailure> {
        let mut connection = self.connect().await?;
        let settled = settle_on(&mut connection, batch).await.map_err(BatchFailure::sent)?;
        self.connection = Some(connection);
        Ok(settled)
    }

    /// Settles a batch that has failed before. A call with a stored request id counts as charged
    /// where the batch may be committed, and as a duplicate of another call otherwise.
    async fn anew(
        &mut self,
        batch: &[Entry],
        may_be_written: bool,
    ) -> Result<Settled, BatchFailure> {
        let mut connection = self.connect().await?;
        let settled = settle_anew(&mut connection, batch, may_be_written).await;
        let settled = settled.map_err(BatchFailure::sent)?;
        self.connection = Some(connection);
        Ok(settled)
    }

    /// Returns the task's connection, or a new one. A connection is not put back after a failure.
    async fn connect(&mut self) -> Result<PoolConnection<Postgres>, BatchFailure> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        self.pool.acquire().await.map_err(BatchFailure::unsent)
    }
}

/// Locks the callers, so that no earlier attempt of this batch is still running, and settles the
/// calls without a usage row.
async fn settle_anew(
    connection: &mut PgConnection,
    batch: &[Entry],
    may_be_written: bool,
) -> Result<Settled, sqlx::Error> {
    let mut change = connection.begin().await?;
    let everything: Vec<&Entry> = batch.iter().collect();
    let (mut balances, mut spending) = lock(&mut change, &everything).await?;
    let written = written(&mut change, batch).await?;
    let is_written = |entry: &Entry| written.contains(&entry.usage.request_id);
    let open: Vec<&Entry> = everything.iter().copied().filter(|entry| !is_written(entry)).collect();
    let asked = open.iter().map(|entry| entry.asked());
    let decided = credits::decide_within_caps(&mut balances, &mut spending, asked);
    charge_paid(&mut change, &open, &decided).await?;
    notify_of_caps(&mut change, &spending).await?;
    change.commit().await?;
    let mut decided = decided.into_iter();
    let in_order = batch.iter().map(|entry| {
        if !is_written(entry) {
            Ok(decided.next().expect("one for each open entry"))
        } else if may_be_written {
            Ok(Settlement::Charged { balance: balances.get(&entry.caller).copied().unwrap_or(0) })
        } else {
            Err(StoreError::new("the request id is another call's"))
        }
    });
    Ok(in_order.collect())
}

/// Returns the request ids of a batch that have a usage row.
async fn written(
    connection: &mut PgConnection,
    batch: &[Entry],
) -> Result<HashSet<u128>, sqlx::Error> {
    let ids: Vec<Vec<u8>> =
        batch.iter().map(|entry| entry.usage.request_id.to_be_bytes().to_vec()).collect();
    let times: Vec<i64> = batch.iter().map(|entry| entry.usage.at.timestamp_micros()).collect();
    let query = sqlx::query_scalar(
        "SELECT request_id FROM usage WHERE request_id = ANY ($1) AND created_at = ANY ($2)",
    );
    let found: Vec<Vec<u8>> = query.bind(ids).bind(times).fetch_all(connection).await?;
    Ok(found.into_iter().filter_map(|id| id.try_into().ok()).map(u128::from_be_bytes).collect())
}

/// Settles a batch, within the transaction of the connection if there is one.
pub(in super::super) async fn settle_on(
    connection: &mut PgConnection,
    batch: &[Entry],
) -> Result<Vec<Settlement>, sqlx::Error> {
    let everything: Vec<&Entry> = batch.iter().collect();
    let held = charge(connection, &everything, Caps::Undecided).await?;
    // A caller without a row was deleted; a caller without a payment cannot pay for all of its
    // calls, or has a cap.
    let (fall_short, charged): (Vec<&Entry>, Vec<&Entry>) =
        everything.iter().partition(|entry| held.get(&entry.caller) == Some(&None));
    let mut balances: HashMap<CallerId, u64> =
        held.iter().filter_map(|(caller, left)| Some((*caller, (*left)?))).collect();
    for entry in &charged {
        if let Some(balance) = balances.get_mut(&entry.caller) {
            *balance += u64::from(entry.cost);
        }
    }
    let asked = charged.iter().map(|entry| (entry.caller, entry.cost));
    let mut charged = credits::decide(&mut balances, asked).into_iter();
    if fall_short.is_empty() {
        return Ok(charged.collect());
    }
    let mut decided = decide_under_lock(connection, &fall_short).await?.into_iter();
    let in_order = everything.iter().map(|entry| {
        let falls_short = held.get(&entry.caller) == Some(&None);
        let settled = if falls_short { decided.next() } else { charged.next() };
        settled.expect("one for each entry")
    });
    Ok(in_order.collect())
}

/// Settles calls of callers that may not be able to pay for all of their calls, or that have a cap.
async fn decide_under_lock(
    connection: &mut PgConnection,
    entries: &[&Entry],
) -> Result<Vec<Settlement>, sqlx::Error> {
    let mut change = connection.begin().await?;
    let (mut balances, mut spending) = lock(&mut change, entries).await?;
    let asked = entries.iter().map(|entry| entry.asked());
    let settled = credits::decide_within_caps(&mut balances, &mut spending, asked);
    charge_paid(&mut change, entries, &settled).await?;
    notify_of_caps(&mut change, &spending).await?;
    failpoint::hit("ledger_written");
    change.commit().await?;
    Ok(settled)
}

/// Locks the callers until the end of the transaction, and returns their balances and the spending
/// of those with a cap. The spending is read by a later statement than the lock, which therefore sees
/// every debit of the locked callers.
async fn lock(
    connection: &mut PgConnection,
    entries: &[&Entry],
) -> Result<(HashMap<CallerId, u64>, Spending), sqlx::Error> {
    let (accounts, guests) = callers(entries.iter().map(|entry| (entry.caller, 0)));
    let query = sqlx::query(BALANCES)
        .bind(accounts.into_keys().collect::<Vec<_>>())
        .bind(guests.into_keys().collect::<Vec<_>>());
    let rows = query.fetch_all(&mut *connection).await?;
    let (mut balances, mut spending) = (HashMap::new(), Spending::default());
    for row in &rows {
        let (caller, balance) = held(row)?;
        balances.insert(caller, balance.unwrap_or(0));
        if let (CallerId::Account(account), Some(cap)) = (caller, cap(row)?) {
            spending.add_cap(account, cap);
        }
    }
    for (account, day) in spending.days_of(entries.iter().map(|entry| entry.asked())) {
        let spent = sqlx::query_scalar(SPENT).bind(account.0).bind(day);
        let spent: i64 = spent.fetch_one(&mut *connection).await?;
        spending.set_spent(account, day, spent.cast_unsigned());
    }
    Ok((balances, spending))
}

fn cap(row: &PgRow) -> Result<Option<SpendCap>, sqlx::Error> {
    let per_day: Option<i64> = row.try_get("spend_cap_per_day")?;
    let Some(per_day) = per_day.map(i64::cast_unsigned) else { return Ok(None) };
    let (near_on, reached_on) = (row.try_get("cap_near_on")?, row.try_get("cap_reached_on")?);
    Ok(Some(SpendCap { per_day, near_on, reached_on }))
}

/// Writes the notices of caps that the batch has reached, and the days of these notices.
async fn notify_of_caps(
    connection: &mut PgConnection,
    spending: &Spending,
) -> Result<(), sqlx::Error> {
    for reached in spending.notices() {
        let (account, notice) = (reached.account.0, Notice::of_cap(&reached));
        let told = sqlx::query(set_told(reached.mark)).bind(account).bind(reached.day);
        told.execute(&mut *connection).await?;
        let insert = sqlx::query(INSERT_NOTICE)
            .bind(account)
            .bind(notice.category())
            .bind(notice.title())
            .bind(notice.description())
            .bind(reached.at.timestamp_micros());
        insert.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Charges the entries that were decided to be paid.
async fn charge_paid(
    connection: &mut PgConnection,
    entries: &[&Entry],
    settled: &[Settlement],
) -> Result<(), sqlx::Error> {
    let is_paid = |settlement: &Settlement| matches!(settlement, Settlement::Charged { .. });
    let paid = entries.iter().zip(settled).filter(|(_, settlement)| is_paid(settlement));
    let paid: Vec<&Entry> = paid.map(|(entry, _)| *entry).collect();
    if !paid.is_empty() {
        charge(connection, &paid, Caps::Decided).await?;
    }
    Ok(())
}

/// The state of the caps of a batch's accounts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caps {
    /// The accounts with a cap are left to a later statement.
    Undecided,
    /// No entry passes a cap, as was decided under lock.
    Decided,
}

/// Charges every caller that can pay for all of its entries. Returns the remaining balance of each
/// caller, and `None` for a caller that could not pay or whose cap is undecided.
async fn charge(
    connection: &mut PgConnection,
    entries: &[&Entry],
    caps: Caps,
) -> Result<HashMap<CallerId, Option<u64>>, sqlx::Error> {
    let (accounts, guests) =
        callers(entries.iter().map(|entry| (entry.caller, i64::from(entry.cost))));
    let mut query = sqlx::query(CHARGE);
    for asked in [accounts, guests] {
        let (ids, credits): (Vec<i64>, Vec<i64>) = asked.into_iter().unzip();
        query = query.bind(ids).bind(credits);
    }
    query = bind_debits(query, entries);
    query = bind_calls(query, entries);
    query = bind_tallies(query, entries);
    query = bind_kept(query, entries).bind(caps == Caps::Decided);
    query.fetch_all(connection).await?.iter().map(held).collect()
}

type PgQuery<'q> = sqlx::query::Query<'q, Postgres, sqlx::postgres::PgArguments>;

/// Binds the debits of accounts: one row for each day and endpoint.
fn bind_debits<'q>(query: PgQuery<'q>, entries: &[&Entry]) -> PgQuery<'q> {
    let mut left: HashMap<i64, i64> = HashMap::new();
    let mut rows: BTreeMap<(i64, i64, String), (i64, i64, i64)> = BTreeMap::new();
    // The order is from the last call to the first, so an entry seen earlier is paid later.
    for entry in entries.iter().rev().filter(|entry| entry.cost > 0) {
        let CallerId::Account(account) = entry.caller else { continue };
        let (at, cost) = (entry.usage.at.timestamp_micros(), i64::from(entry.cost));
        let later = left.entry(account.0).or_default();
        let key = (account.0, day(at), entry.usage.endpoint.to_string());
        let (credits, _, latest) = rows.entry(key).or_insert((0, *later, at));
        *credits += cost;
        *latest = at.max(*latest);
        *later += cost;
    }
    let mut columns = (vec![], vec![], vec![], vec![], vec![], vec![]);
    for ((account, day, endpoint), (credits, later, at)) in rows {
        columns.0.push(account);
        columns.1.push(day);
        columns.2.push(endpoint);
        columns.3.push(credits);
        columns.4.push(later);
        columns.5.push(at);
    }
    let (accounts, days, endpoints, credits, later, at) = columns;
    query.bind(accounts).bind(days).bind(endpoints).bind(credits).bind(later).bind(at)
}

/// Binds the usage rows of a batch to their `INSERT`.
fn bind_calls<'q>(query: PgQuery<'q>, entries: &[&Entry]) -> PgQuery<'q> {
    fn column<T>(entries: &[&Entry], of: impl Fn(&Entry) -> T) -> Vec<T> {
        entries.iter().map(|entry| of(entry)).collect()
    }
    query
        .bind(column(entries, |entry| entry.usage.request_id.to_be_bytes().to_vec()))
        .bind(column(entries, |entry| match entry.caller {
            CallerId::Account(account) => Some(account.0),
            CallerId::Guest(_) => None,
        }))
        .bind(column(entries, |entry| match entry.caller {
            CallerId::Account(_) => None,
            CallerId::Guest(guest) => Some(guest.0),
        }))
        .bind(column(entries, |entry| entry.usage.endpoint.to_string()))
        .bind(column(entries, |entry| entry.usage.method.to_string()))
        .bind(column(entries, |entry| i32::from(entry.usage.status)))
        .bind(column(entries, |entry| i64::from(entry.cost)))
        .bind(column(entries, |entry| i64::from(entry.usage.response_time_ms)))
        .bind(column(entries, |entry| entry.usage.ip.to_string()))
        .bind(column(entries, |entry| entry.usage.at.timestamp_micros()))
}

/// Binds the daily sums of accounts, which listings read in place of calls.
fn bind_tallies<'q>(query: PgQuery<'q>, entries: &[&Entry]) -> PgQuery<'q> {
    let mut columns = (vec![], vec![], vec![], vec![], vec![], vec![], vec![]);
    let tallies = tallies(entries.iter().copied());
    for ((account, day, endpoint, method), (requests, credits, time)) in tallies {
        columns.0.push(account);
        columns.1.push(day);
        columns.2.push(endpoint.to_owned());
        columns.3.push(method.to_owned());
        columns.4.push(requests.cast_signed());
        columns.5.push(credits.cast_signed());
        columns.6.push(time.cast_signed());
    }
    let (accounts, days, endpoints, methods, requests, credits, times) = columns;
    query
        .bind(accounts)
        .bind(days)
        .bind(endpoints)
        .bind(methods)
        .bind(requests)
        .bind(credits)
        .bind(times)
}

/// Binds the stored results of a batch to their `INSERT`.
fn bind_kept<'q>(query: PgQuery<'q>, entries: &[&Entry]) -> PgQuery<'q> {
    let mut left: HashMap<i64, i64> = HashMap::new();
    let mut columns = (vec![], vec![], vec![], vec![], vec![], vec![]);
    // The order is from the last call to the first, as for the debits.
    for entry in entries.iter().rev() {
        let CallerId::Account(account) = entry.caller else { continue };
        let later = left.entry(account.0).or_default();
        if let Some(kept) = &entry.kept {
            columns.0.push(entry.usage.request_id.to_be_bytes().to_vec());
            columns.1.push(account.0);
            columns.2.push(kept.before.clone());
            columns.3.push(*later);
            columns.4.push(kept.after.clone());
            columns.5.push(entry.usage.at.timestamp_micros());
        }
        *later += i64::from(entry.cost);
    }
    let (ids, accounts, heads, later, tails, at) = columns;
    query.bind(ids).bind(accounts).bind(heads).bind(later).bind(tails).bind(at)
}

/// Sums numbers by account and by guest, in the order of their ids.
fn callers(
    entries: impl Iterator<Item = (CallerId, i64)>,
) -> (BTreeMap<i64, i64>, BTreeMap<i64, i64>) {
    let (mut accounts, mut guests) = (BTreeMap::new(), BTreeMap::new());
    for (caller, number) in entries {
        *match caller {
            CallerId::Account(account) => accounts.entry(account.0).or_insert(0),
            CallerId::Guest(guest) => guests.entry(guest.0).or_insert(0),
        } += number;
    }
    (accounts, guests)
}

fn held(row: &PgRow) -> Result<(CallerId, Option<u64>), sqlx::Error> {
    let account: Option<i64> = row.try_get("account_id")?;
    let caller = match account {
        Some(id) => CallerId::Account(AccountId(id)),
        None => CallerId::Guest(GuestId(row.try_get("guest_id")?)),
    };
    let balance: Option<i64> = row.try_get("balance")?;
    Ok((caller, balance.map(i64::cast_unsigned)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    use account_core::store::LedgerStore;
    use account_core::testing::{CheapHasher, FixedClock, seeded_rng};
    use account_core::{Accounts, Email, NewAccount, Tier, Timestamp, Username, Vault};
    use quant_test_services::Postgres;
    use sea_orm::SqlxPostgresConnector;
    use sea_orm::sqlx::postgres::{PgConnectOptions, PgPoolOptions};
    use tempfile::TempDir;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{UnixListener, UnixStream};

    use super::*;
    use crate::store::Store;
    use crate::store::fault::StoreFault;
    use crate::store::testing::{call, postgres};

    /// The proxy passes the next message on to the server.
    const CARRIES: u8 = 0;
    const LOSES_THE_ANSWER: u8 = 1;
    const LOSES_THE_CALL: u8 = 2;
    const LOSES_THE_ANSWER_TO_A_COMMIT: u8 = 3;

    /// A proxy before the server that can cut the connection at a given point, once.
    async fn line(server: String, folder: &Path, next: Arc<AtomicU8>) {
        let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).expect("a socket");
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&server).await.expect("the server");
                tokio::spawn(carry(client, server, next.clone()));
            }
        });
    }

    async fn carry(mut client: UnixStream, mut server: UnixStream, next: Arc<AtomicU8>) {
        let cut =
            |at| next.compare_exchange(at, CARRIES, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        let (mut asked, mut answered) = ([0; 65_536], [0; 65_536]);
        loop {
            tokio::select! {
                read = client.read(&mut asked) => match read {
                    Ok(bytes) if bytes > 0 && !cut(LOSES_THE_CALL) => {
                        if asked[..bytes].windows(6).any(|word| word == b"COMMIT") {
                            let (at, then) = (LOSES_THE_ANSWER_TO_A_COMMIT, LOSES_THE_ANSWER);
                            let _ =
                                next.compare_exchange(at, then, Ordering::SeqCst, Ordering::SeqCst);
                        }
                        server.write_all(&asked[..bytes]).await.expect("the server reads");
                    }
                    _ => return,
                },
                read = server.read(&mut answered) => match read {
                    Ok(bytes) if bytes > 0 && !cut(LOSES_THE_ANSWER) => {
                        client.write_all(&answered[..bytes]).await.expect("the client reads");
                    }
                    _ => return,
                },
            }
        }
    }

    /// Opens a store, another pool to its server whose connections can be cut, and the next cut.
    async fn over_the_line() -> Option<(Store, Postgres, PgPool, Arc<AtomicU8>, TempDir)> {
        let (store, home) = postgres().await?;
        let options: PgConnectOptions = home.address().parse().expect("an address");
        // A server over TCP has no socket file for the proxy to connect to.
        let socket = options.get_socket()?;
        let (next, folder) = (Arc::new(AtomicU8::new(CARRIES)), TempDir::new().expect("a folder"));
        let server = socket.join(format!(".s.PGSQL.{}", options.get_port()));
        line(server.display().to_string(), folder.path(), next.clone()).await;
        let over_the_line = options.clone().socket(folder.path()).port(5432);
        let pool = PgPoolOptions::new().max_connections(2).connect_with(over_the_line).await;
        Some((store, home, pool.expect("the line holds"), next, folder))
    }

    async fn ada(accounts: &Accounts<Store, CheapHasher>, now: Timestamp) -> AccountId {
        let account = NewAccount {
            email: Email::parse("ada@example.com").expect("an address"),
            username: Username::parse("ada").expect("a name"),
            password: None,
            tier: Tier::Pro,
            credits: Some(100),
            hourly_limit: None,
            is_admin: false,
        };
        accounts.create_account(account, now).await.expect("a new account").id
    }

    fn accounts(store: &Store) -> Accounts<Store, CheapHasher> {
        let rng = seeded_rng(6);
        let vault = Arc::new(Vault::create(&mut rng.clone()));
        Accounts::new(store.clone(), CheapHasher::default(), vault, rng)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_call_whose_answer_was_lost_is_charged_once_and_told_so() {
        let Some((store, _home, pool, next, _folder)) = over_the_line().await else { return };
        let mut backend = PostgresLedger::new(pool);
        let (accounts, now) = (accounts(&store), FixedClock::default().now());
        let ada = ada(&accounts, now).await;
        let batch = |ids: std::ops::Range<u128>| -> Vec<Entry> {
            ids.map(|request_id| call(CallerId::Account(ada), 5, request_id, now)).collect()
        };
        let charged = |settled: &Settled| {
            settled.iter().filter(|one| matches!(one, Ok(Settlement::Charged { .. }))).count()
        };

        for (round, fault) in [CARRIES, LOSES_THE_ANSWER, LOSES_THE_CALL].into_iter().enumerate() {
            let first = 4 * round as u128;
            next.store(fault, Ordering::SeqCst);
            let settled = backend.settle(&batch(first..first + 4)).await;
            assert_eq!(charged(&settled), 4, "fault {fault}");
            assert_eq!(next.load(Ordering::SeqCst), CARRIES, "the line was cut");
            let left = accounts.profile(ada).await.expect("ada").credit_balance;
            assert_eq!(left, 100 - 20 * (round as u64 + 1), "fault {fault}");
        }
        let again = backend.settle(&batch(0..4)).await;
        assert_eq!(charged(&again), 0, "request ids of other calls");
        next.store(LOSES_THE_ANSWER, Ordering::SeqCst);
        let settled = backend.settle(&batch(12..24)).await;
        assert_eq!(charged(&settled), 8, "as many as the credits that are left");
        assert!(store.audit().await.expect("ok").holds());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn calls_charged_together_whose_commit_was_lost_are_not_told_that_nothing_was_charged() {
        let Some((store, _home, pool, next, _folder)) = over_the_line().await else { return };
        let cut = Store { writer: SqlxPostgresConnector::from_sqlx_postgres_pool(pool), ..store };
        let (accounts, now) = (accounts(&cut), FixedClock::default().now());
        let ada = ada(&accounts, now).await;
        let calls = [1, 2].map(|id| call(CallerId::Account(ada), 5, id, now));
        next.store(LOSES_THE_ANSWER_TO_A_COMMIT, Ordering::SeqCst);
        let error = cut.settle_together(calls.into(), None).await.expect_err("it was cut");
        assert_eq!(StoreFault::of(&error), Some(StoreFault::Undecided), "{error}");
        assert_eq!(accounts.profile(ada).await.expect("ada").credit_balance, 90);
        assert!(cut.audit().await.expect("ok").holds());
    }
}
