//! A batch on SQLite: the balances are read under the write lock, [`credits::decide`] says who
//! pays, and the changes go in as JSON arrays, a statement a table, all sent to the connection's
//! thread at once.

use std::collections::{BTreeMap, HashMap};

use account_core::credits;
use account_core::{CallerId, Entry, KeptResult, ResultId, Settlement, StoreError};
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use serde_json::{Value as Json, json};

use super::super::results::insert_results;
use super::super::rows::{narrow, statement, stored};
use super::{MICROSECONDS_A_DAY, caller};

/// Takes what was paid off the balances, of accounts (`$1`) and guests (`$2`); books it, a row a day
/// and endpoint (`$3`); writes the calls down (`$4`), and adds them to the day's tallies (`$5`), which
/// listings read in place of the calls.
///
/// `WHERE true` tells the parser that `ON` begins the conflict clause, not a join's.
const CHARGE: &str = "\
UPDATE account SET credit_balance = credit_balance - spent.credits
FROM (SELECT value ->> 0 AS id, value ->> 1 AS credits FROM json_each($1)) AS spent
WHERE account.id = spent.id;

UPDATE guest SET credit_balance = credit_balance - spent.credits
FROM (SELECT value ->> 0 AS id, value ->> 1 AS credits FROM json_each($2)) AS spent
WHERE guest.id = spent.id;

INSERT INTO ledger
  (account_id, kind, day, endpoint, credits, balance_after, created_at, updated_at)
SELECT value ->> 0, 'usage', value ->> 1, value ->> 2, -(value ->> 3), value ->> 4, value ->> 5,
  value ->> 5
FROM json_each($3) WHERE true
ON CONFLICT (account_id, day, endpoint) DO UPDATE SET
  credits = ledger.credits + excluded.credits, balance_after = excluded.balance_after,
  updated_at = excluded.updated_at;

INSERT INTO usage
  (request_id, account_id, guest_id, endpoint, method, status, credits, response_time_ms, ip,
   created_at)
SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
  value ->> 6, value ->> 7, value ->> 8, value ->> 9
FROM json_each($4);

INSERT INTO usage_day (account_id, day, endpoint, method, requests, credits, response_time_ms)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
FROM json_each($5) WHERE true
ON CONFLICT (account_id, day, endpoint, method) DO UPDATE SET
  requests = usage_day.requests + excluded.requests,
  credits = usage_day.credits + excluded.credits,
  response_time_ms = usage_day.response_time_ms + excluded.response_time_ms";

/// Settles a batch in a transaction that is alone.
pub(in super::super) async fn settle(
    change: &DatabaseTransaction,
    batch: &[Entry],
) -> Result<Vec<Settlement>, StoreError> {
    let mut balances = balances(change, batch).await?;
    let asked = batch.iter().map(|entry| (entry.caller, entry.cost));
    let settled = credits::decide(&mut balances, asked);
    let paid: Vec<(&Entry, u64)> = batch
        .iter()
        .zip(&settled)
        .filter_map(|(entry, settlement)| match settlement {
            Settlement::Charged { balance } => Some((entry, *balance)),
            Settlement::Insufficient { .. } => None,
        })
        .collect();
    if !paid.is_empty() {
        let (accounts, guests) = spent(&paid);
        let rows = [accounts, guests, bookings(&paid), calls(&paid), tallies(&paid)];
        let charge = statement(CHARGE, rows.map(|rows| rows.to_string().into()));
        stored(change.execute_raw(charge).await)?;
        keep(change, &paid).await?;
    }
    Ok(settled)
}

/// What the callers of a batch have left.
async fn balances(
    change: &DatabaseTransaction,
    batch: &[Entry],
) -> Result<HashMap<CallerId, u64>, StoreError> {
    let (mut accounts, mut guests) = (Vec::new(), Vec::new());
    for entry in batch {
        match entry.caller {
            CallerId::Account(account) => accounts.push(account.0),
            CallerId::Guest(guest) => guests.push(guest.0),
        }
    }
    let mut balances = HashMap::with_capacity(batch.len());
    let of_accounts = "SELECT id AS account_id, NULL AS guest_id, credit_balance FROM account \
                       WHERE id IN (SELECT value FROM json_each($1))";
    let of_guests = "SELECT NULL AS account_id, id AS guest_id, credit_balance FROM guest \
                     WHERE id IN (SELECT value FROM json_each($1))";
    for (query, ids) in [(of_accounts, accounts), (of_guests, guests)] {
        if ids.is_empty() {
            continue;
        }
        let query = statement(query, [json!(ids).to_string().into()]);
        for row in stored(change.query_all_raw(query).await)? {
            balances.insert(caller(&row)?, narrow(&row, "credit_balance")?);
        }
    }
    Ok(balances)
}

/// What accounts and guests paid.
fn spent(paid: &[(&Entry, u64)]) -> (Json, Json) {
    let (mut accounts, mut guests) = (BTreeMap::new(), BTreeMap::new());
    for (entry, _) in paid.iter().filter(|(entry, _)| entry.cost > 0) {
        let spent = match entry.caller {
            CallerId::Account(account) => accounts.entry(account.0).or_insert(0),
            CallerId::Guest(guest) => guests.entry(guest.0).or_insert(0),
        };
        *spent += u64::from(entry.cost);
    }
    let rows = |spent: BTreeMap<i64, u64>| json!(spent.into_iter().collect::<Vec<_>>());
    (rows(accounts), rows(guests))
}

/// What accounts paid: one row a day and endpoint.
fn bookings(paid: &[(&Entry, u64)]) -> Json {
    let mut rows: BTreeMap<(i64, i64, &str), (u64, u64, i64)> = BTreeMap::new();
    for (entry, balance) in paid.iter().filter(|(entry, _)| entry.cost > 0) {
        let CallerId::Account(account) = entry.caller else { continue };
        let at = entry.usage.at.timestamp_micros();
        let key = (account.0, at.div_euclid(MICROSECONDS_A_DAY), entry.usage.endpoint.as_ref());
        let (credits, balance_after, latest) = rows.entry(key).or_insert((0, *balance, at));
        *credits += u64::from(entry.cost);
        *balance_after = *balance;
        *latest = at.max(*latest);
    }
    rows.into_iter()
        .map(|((account, day, endpoint), (credits, balance, at))| {
            json!([account, day, endpoint, credits, balance, at])
        })
        .collect()
}

/// The calls themselves.
fn calls(paid: &[(&Entry, u64)]) -> Json {
    paid.iter()
        .map(|(entry, _)| {
            let usage = &entry.usage;
            let (account, guest) = match entry.caller {
                CallerId::Account(account) => (Some(account.0), None),
                CallerId::Guest(guest) => (None, Some(guest.0)),
            };
            json!([
                format!("{:032x}", usage.request_id),
                account,
                guest,
                usage.endpoint,
                usage.method,
                usage.status,
                entry.cost,
                usage.response_time_ms,
                usage.ip,
                usage.at.timestamp_micros(),
            ])
        })
        .collect()
}

/// The calls of accounts: one row a day, endpoint and method.
fn tallies(paid: &[(&Entry, u64)]) -> Json {
    let mut tallies = BTreeMap::new();
    for (entry, _) in paid {
        let CallerId::Account(account) = entry.caller else { continue };
        let usage = &entry.usage;
        let day = usage.at.timestamp_micros().div_euclid(MICROSECONDS_A_DAY);
        let key = (account.0, day, usage.endpoint.as_ref(), usage.method.as_ref());
        let (requests, credits, time) = tallies.entry(key).or_insert((0u64, 0u64, 0u64));
        *requests += 1;
        *credits += u64::from(entry.cost);
        *time += u64::from(usage.response_time_ms);
    }
    tallies
        .into_iter()
        .map(|((account, day, endpoint, method), (requests, credits, time))| {
            json!([account, day, endpoint, method, requests, credits, time])
        })
        .collect()
}

/// Keeps the answers that are to be found again.
async fn keep(change: &DatabaseTransaction, paid: &[(&Entry, u64)]) -> Result<(), StoreError> {
    let kept = paid.iter().filter_map(|(entry, balance)| {
        let CallerId::Account(owner) = entry.caller else { return None };
        let body = entry.kept.as_ref()?.with(*balance);
        Some(KeptResult { id: ResultId(entry.usage.request_id), owner, body, at: entry.usage.at })
    });
    insert_results(change, &kept.collect::<Vec<_>>()).await
}
