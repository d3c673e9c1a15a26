//! A batch on PostgreSQL: one statement, and so one round trip, where every caller can pay for all
//! that it asks.
//!
//! The statement locks the callers in the order of their numbers, which every instance keeps to,
//! debits those whose balance covers their part of the batch, and writes their rows. Callers who
//! cannot pay for everything take a second road: under lock, [`credits::decide`] says which of
//! their calls are paid, and the same statement charges these.

use std::collections::{BTreeMap, HashMap};

use account_core::credits;
use account_core::{AccountId, CallerId, Entry, GuestId, Settlement, StoreError};
use sea_orm::DatabaseConnection;
use sea_orm::sqlx::postgres::{PgConnection, PgRow};
use sea_orm::sqlx::{self, Connection, Row};

use super::MICROSECONDS_A_DAY;

/// Charges whom it can. `$1` to `$4`: accounts and guests with what they ask for. `$5` to `$10`: rows of
/// the ledger, `later` being what is paid after the row's last call. `$11` to `$20`: the calls.
/// `$21` to `$27`: the day's tallies.
const CHARGE: &str = "\
WITH account_held AS MATERIALIZED (
  SELECT id, credit_balance FROM account WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE
), guest_held AS MATERIALIZED (
  SELECT id, credit_balance FROM guest WHERE id = ANY ($3) ORDER BY id FOR NO KEY UPDATE
), account_paid AS MATERIALIZED (
  SELECT held.id, asked.credits, held.credit_balance - asked.credits AS balance
  FROM unnest($1, $2) AS asked (id, credits) JOIN account_held AS held ON held.id = asked.id
  WHERE held.credit_balance >= asked.credits
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
)
SELECT held.id AS account_id, NULL::bigint AS guest_id, paid.balance
FROM account_held AS held LEFT JOIN account_paid AS paid ON paid.id = held.id
UNION ALL
SELECT NULL, held.id, paid.balance
FROM guest_held AS held LEFT JOIN guest_paid AS paid ON paid.id = held.id";

/// What callers have, read under lock. `$1`: accounts, `$2`: guests.
const BALANCES: &str = "\
WITH account_held AS MATERIALIZED (
  SELECT id, credit_balance FROM account WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE
), guest_held AS MATERIALIZED (
  SELECT id, credit_balance FROM guest WHERE id = ANY ($2) ORDER BY id FOR NO KEY UPDATE
)
SELECT id AS account_id, NULL::bigint AS guest_id, credit_balance AS balance FROM account_held
UNION ALL SELECT NULL, id, credit_balance FROM guest_held";

/// Settles a batch.
pub(super) async fn settle(
    pool: &DatabaseConnection,
    batch: Vec<Entry>,
) -> Result<Vec<Settlement>, StoreError> {
    let connection = pool.get_postgres_connection_pool().acquire().await;
    let mut connection = connection.map_err(StoreError::new)?;
    settle_on(&mut connection, &batch).await.map_err(StoreError::new)
}

async fn settle_on(
    connection: &mut PgConnection,
    batch: &[Entry],
) -> Result<Vec<Settlement>, sqlx::Error> {
    let everything: Vec<&Entry> = batch.iter().collect();
    let held = charge(connection, &everything).await?;
    // Callers that are not held are gone; those that are held and did not pay cannot pay for all.
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
        let from = if held.get(&entry.caller) == Some(&None) { &mut decided } else { &mut charged };
        from.next().expect("one for each entry")
    });
    Ok(in_order.collect())
}

/// Settles calls of callers who may not be able to pay for all of them.
async fn decide_under_lock(
    connection: &mut PgConnection,
    entries: &[&Entry],
) -> Result<Vec<Settlement>, sqlx::Error> {
    let mut change = connection.begin().await?;
    let (accounts, guests) = callers(entries.iter().map(|entry| (entry.caller, 0)));
    let query = sqlx::query(BALANCES)
        .bind(accounts.into_keys().collect::<Vec<_>>())
        .bind(guests.into_keys().collect::<Vec<_>>());
    let rows = query.fetch_all(&mut *change).await?;
    let mut balances = HashMap::new();
    for (caller, balance) in rows.iter().map(held).collect::<Result<Vec<_>, _>>()? {
        balances.insert(caller, balance.unwrap_or(0));
    }
    let asked = entries.iter().map(|entry| (entry.caller, entry.cost));
    let settled = credits::decide(&mut balances, asked);
    let paid: Vec<&Entry> = entries
        .iter()
        .zip(&settled)
        .filter(|(_, settlement)| matches!(settlement, Settlement::Charged { .. }))
        .map(|(entry, _)| *entry)
        .collect();
    if !paid.is_empty() {
        charge(&mut change, &paid).await?;
    }
    change.commit().await?;
    Ok(settled)
}

/// Charges every caller that can pay for all of its entries; answers what each has left, and
/// nothing for whoever could not pay.
async fn charge(
    connection: &mut PgConnection,
    entries: &[&Entry],
) -> Result<HashMap<CallerId, Option<u64>>, sqlx::Error> {
    let (accounts, guests) =
        callers(entries.iter().map(|entry| (entry.caller, i64::from(entry.cost))));
    let mut query = sqlx::query(CHARGE);
    for asked in [accounts, guests] {
        let (ids, credits): (Vec<i64>, Vec<i64>) = asked.into_iter().unzip();
        query = query.bind(ids).bind(credits);
    }
    query = bind_bookings(query, entries);
    query = bind_calls(query, entries);
    query = bind_tallies(query, entries);
    query.fetch_all(connection).await?.iter().map(held).collect()
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// What accounts pay: one row a day and endpoint.
fn bind_bookings<'q>(query: Query<'q>, entries: &[&Entry]) -> Query<'q> {
    let mut left: HashMap<i64, i64> = HashMap::new();
    let mut rows: BTreeMap<(i64, i64, String), (i64, i64, i64)> = BTreeMap::new();
    // From the last call to the first: what was seen already is paid later.
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

/// The calls themselves.
fn bind_calls<'q>(query: Query<'q>, entries: &[&Entry]) -> Query<'q> {
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

/// The calls of accounts, summed by day, endpoint and method, which listings read in their place.
fn bind_tallies<'q>(query: Query<'q>, entries: &[&Entry]) -> Query<'q> {
    let mut tallies = BTreeMap::new();
    for entry in entries {
        let CallerId::Account(account) = entry.caller else { continue };
        let usage = &entry.usage;
        let day = day(usage.at.timestamp_micros());
        let key = (account.0, day, usage.endpoint.to_string(), usage.method.to_string());
        let (requests, credits, time) = tallies.entry(key).or_insert((0, 0, 0));
        *requests += 1;
        *credits += i64::from(entry.cost);
        *time += i64::from(usage.response_time_ms);
    }
    let mut columns = (vec![], vec![], vec![], vec![], vec![], vec![], vec![]);
    for ((account, day, endpoint, method), (requests, credits, time)) in tallies {
        columns.0.push(account);
        columns.1.push(day);
        columns.2.push(endpoint);
        columns.3.push(method);
        columns.4.push(requests);
        columns.5.push(credits);
        columns.6.push(time);
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

/// Accounts and guests, each once and in order, with the sum of their numbers.
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

const fn day(at: i64) -> i64 {
    at.div_euclid(MICROSECONDS_A_DAY)
}
