//! A batch on SQLite: the balances are read under the write lock, [`credits::decide`] says who
//! pays, and the changes go in as JSON arrays, a statement a table.

use std::collections::{BTreeMap, HashMap};

use account_core::credits;
use account_core::{CallerId, Entry, Settlement, StoreError};
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use serde_json::{Value as Json, json};

use super::super::rows::{narrow, statement, stored};
use super::{MICROSECONDS_A_DAY, caller};

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
    debit(change, &paid).await?;
    book_usage(change, &paid).await?;
    write_down(change, &paid).await?;
    tally(change, &paid).await?;
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

/// Takes what was paid off the balances.
async fn debit(change: &DatabaseTransaction, paid: &[(&Entry, u64)]) -> Result<(), StoreError> {
    let (mut accounts, mut guests) = (BTreeMap::new(), BTreeMap::new());
    for (entry, _) in paid.iter().filter(|(entry, _)| entry.cost > 0) {
        let spent = match entry.caller {
            CallerId::Account(account) => accounts.entry(account.0).or_insert(0),
            CallerId::Guest(guest) => guests.entry(guest.0).or_insert(0),
        };
        *spent += u64::from(entry.cost);
    }
    let from_accounts = "UPDATE account SET credit_balance = credit_balance - spent.credits FROM \
                         (SELECT value ->> 0 AS id, value ->> 1 AS credits FROM json_each($1)) AS spent \
                         WHERE account.id = spent.id";
    let from_guests = "UPDATE guest SET credit_balance = credit_balance - spent.credits FROM \
                       (SELECT value ->> 0 AS id, value ->> 1 AS credits FROM json_each($1)) AS spent \
                       WHERE guest.id = spent.id";
    for (update, spent) in [(from_accounts, accounts), (from_guests, guests)] {
        if !spent.is_empty() {
            let spent: Vec<(i64, u64)> = spent.into_iter().collect();
            let update = statement(update, [json!(spent).to_string().into()]);
            stored(change.execute_raw(update).await)?;
        }
    }
    Ok(())
}

/// Books what accounts paid: one row a day and endpoint.
async fn book_usage(
    change: &DatabaseTransaction,
    paid: &[(&Entry, u64)],
) -> Result<(), StoreError> {
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
    if rows.is_empty() {
        return Ok(());
    }
    let rows: Vec<Json> = rows
        .into_iter()
        .map(|((account, day, endpoint), (credits, balance, at))| {
            json!([account, day, endpoint, credits, balance, at])
        })
        .collect();
    // `WHERE true` tells the parser that `ON` begins the conflict clause, not a join's.
    let book = "INSERT INTO ledger (account_id, kind, day, endpoint, credits, balance_after, created_at, updated_at) \
                SELECT value ->> 0, 'usage', value ->> 1, value ->> 2, -(value ->> 3), value ->> 4, value ->> 5, value ->> 5 \
                FROM json_each($1) WHERE true \
                ON CONFLICT (account_id, day, endpoint) DO UPDATE SET credits = ledger.credits + excluded.credits, \
                balance_after = excluded.balance_after, updated_at = excluded.updated_at";
    let rows = Json::from(rows).to_string();
    stored(change.execute_raw(statement(book, [rows.into()])).await)?;
    Ok(())
}

/// Writes the calls down.
async fn write_down(
    change: &DatabaseTransaction,
    paid: &[(&Entry, u64)],
) -> Result<(), StoreError> {
    if paid.is_empty() {
        return Ok(());
    }
    let rows: Vec<Json> = paid
        .iter()
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
        .collect();
    let write = "INSERT INTO usage (request_id, account_id, guest_id, endpoint, method, status, credits, response_time_ms, ip, created_at) \
                 SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, value ->> 4, \
                 value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9 FROM json_each($1)";
    let rows = Json::from(rows).to_string();
    stored(change.execute_raw(statement(write, [rows.into()])).await)?;
    Ok(())
}

/// Adds the calls of accounts to the day's tallies, which listings read in place of the calls.
async fn tally(change: &DatabaseTransaction, paid: &[(&Entry, u64)]) -> Result<(), StoreError> {
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
    if tallies.is_empty() {
        return Ok(());
    }
    let rows: Vec<Json> = tallies
        .into_iter()
        .map(|((account, day, endpoint, method), (requests, credits, time))| {
            json!([account, day, endpoint, method, requests, credits, time])
        })
        .collect();
    let add = "INSERT INTO usage_day (account_id, day, endpoint, method, requests, credits, response_time_ms) \
               SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 \
               FROM json_each($1) WHERE true \
               ON CONFLICT (account_id, day, endpoint, method) DO UPDATE SET \
               requests = usage_day.requests + excluded.requests, \
               credits = usage_day.credits + excluded.credits, \
               response_time_ms = usage_day.response_time_ms + excluded.response_time_ms";
    let rows = Json::from(rows).to_string();
    stored(change.execute_raw(statement(add, [rows.into()])).await)?;
    Ok(())
}
