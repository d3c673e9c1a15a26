//! The removal of expired rows, in small batches along an index.

use account_core::accounts::results::{MOST_BYTES, MOST_RESULTS};
use account_core::code::VALIDITY;
use account_core::oauth::grant::StaleOauth;
use account_core::store::{CleanUpStore, Stale};
use account_core::{AccountId, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction, Value};
use serde_json::json;

use super::engine::{AdvisoryLock, elements, is_postgres};
use super::handle::Store;
use super::ledger::{MICROSECONDS_A_DAY, remove_excess};
use super::rows::{column, number, statement, stored, time};
use super::usage_index::forget_calls;
use super::usage_partitions::drop_before;

pub(super) const CODES: &str = "DELETE FROM oauth_code WHERE digest IN \
    (SELECT digest FROM oauth_code WHERE created_at <= $1 LIMIT $2)";

pub(super) const TOKENS: &str = "DELETE FROM oauth_token WHERE digest IN \
    (SELECT digest FROM oauth_token WHERE expires_at <= $1 LIMIT $2)";

pub(super) const GRANTS: &str = "DELETE FROM oauth_grant WHERE id IN \
    (SELECT id FROM oauth_grant WHERE expires_at <= $1 LIMIT $2)";

pub(super) const UNUSED: &str = "DELETE FROM oauth_client WHERE last_used_at IS NULL AND id IN \
    (SELECT id FROM oauth_client WHERE last_used_at IS NULL AND created_at <= $1 LIMIT $2)";

pub(super) const IDLE_CLIENTS: &str = "DELETE FROM oauth_client WHERE last_used_at <= $1 AND id IN \
    (SELECT id FROM oauth_client WHERE last_used_at <= $1 LIMIT $2)";

pub(super) const CHALLENGES: &str = "DELETE FROM challenge WHERE id IN \
    (SELECT id FROM challenge WHERE created_at <= $1 LIMIT $2)";

pub(super) const GUEST_COUNTS: &str = "DELETE FROM guest_count WHERE (day, scope) IN \
    (SELECT day, scope FROM guest_count WHERE day < $1 LIMIT $2)";

pub(super) const SESSIONS: &str = "DELETE FROM session WHERE digest IN \
    (SELECT digest FROM session WHERE last_used_at <= $1 OR created_at <= $2 LIMIT $3)";

/// Unconfirmed forms, except those whose code was sent again lately and may still be confirmed.
pub(super) const FORMS: &str = "DELETE FROM account WHERE verified_at IS NULL AND id IN \
    (SELECT id FROM account WHERE verified_at IS NULL AND created_at <= $1 AND NOT EXISTS \
     (SELECT 1 FROM challenge WHERE account_id = account.id AND created_at > $2) LIMIT $3)";

pub(super) const LOCKOUTS: &str = "DELETE FROM lockout WHERE (recipient, counter) IN \
    (SELECT recipient, counter FROM lockout WHERE last_try_at <= $1 \
     AND (locked_until IS NULL OR locked_until <= $2) LIMIT $3)";

pub(super) const CLIENTS: &str = "DELETE FROM known_client WHERE (recipient, mark) IN \
    (SELECT recipient, mark FROM known_client WHERE seen_at <= $1 LIMIT $2)";

pub(super) const TRIES: &str = "DELETE FROM login_try WHERE id IN \
    (SELECT id FROM login_try WHERE created_at <= $1 LIMIT $2)";

pub(super) const NOBODYS_TRIES: &str = "DELETE FROM login_try WHERE id IN \
    (SELECT id FROM login_try WHERE account_id IS NULL AND created_at <= $1 \
     ORDER BY created_at LIMIT $2)";

pub(super) const MESSAGES: &str = "DELETE FROM outbound_message WHERE due_at IS NULL \
    AND id IN (SELECT id FROM outbound_message WHERE due_at IS NULL AND created_at <= $1 LIMIT $2)";

/// Results of `$1` and before. Their ids are below `$3`, because an id begins with its time.
pub(super) const RESULTS: &str = "DELETE FROM result WHERE id IN \
    (SELECT id FROM result WHERE id < $3 AND created_at <= $1 ORDER BY id LIMIT $2)";

pub(super) const ANSWERS: &str = "DELETE FROM kept_answer WHERE slot IN \
    (SELECT slot FROM kept_answer WHERE expires_at <= $1 LIMIT $2)";

pub(super) const STARTS: &str = "DELETE FROM idp_start WHERE state IN \
    (SELECT state FROM idp_start WHERE created_at <= $1 LIMIT $2)";

pub(super) const COMPLETIONS: &str = "DELETE FROM idp_completion WHERE digest IN \
    (SELECT digest FROM idp_completion WHERE created_at <= $1 LIMIT $2)";

pub(super) const HAND_OFFS: &str = "DELETE FROM hand_off WHERE digest IN \
    (SELECT digest FROM hand_off WHERE created_at <= $1 LIMIT $2)";

pub(super) const EMAIL_UNDOS: &str = "DELETE FROM email_undo WHERE id IN \
    (SELECT id FROM email_undo WHERE created_at <= $1 LIMIT $2)";

pub(super) const NOTIFICATIONS: &str = "DELETE FROM notification WHERE id IN \
    (SELECT id FROM notification WHERE created_at <= $1 LIMIT $2)";

pub(super) const GUESTS: &str = "DELETE FROM guest WHERE id IN \
    (SELECT id FROM guest WHERE expires_at <= $1 LIMIT $2) RETURNING id";

pub(super) const OF_GUESTS: &str = "UPDATE usage SET guest_id = NULL, ip = '' WHERE guest_id IN ";

pub(super) const OF_ACCOUNT: &str = "UPDATE usage SET account_id = NULL, ip = '' WHERE id IN \
    (SELECT id FROM usage WHERE account_id = $1 LIMIT $2)";

pub(super) const USAGE: &str = "DELETE FROM usage WHERE id IN \
    (SELECT id FROM usage WHERE created_at < $1 ORDER BY created_at, id LIMIT $2)";

/// The removal of calls from the index. The next usage rows to be removed are no longer indexed.
pub(super) const SORTED: &str = "DELETE FROM call_by_account \
    WHERE (account_id, created_at, call_id) IN (SELECT account_id, created_at, id FROM usage \
     WHERE created_at < $1 ORDER BY created_at, id LIMIT $2)";

pub(super) const TALLIES: &str = "DELETE FROM usage_day WHERE (account_id, day, endpoint, method) IN \
    (SELECT account_id, day, endpoint, method FROM usage_day WHERE day < $1 LIMIT $2)";

impl CleanUpStore for Store {
    async fn reap(&self, stale: StaleOauth, limit: u32) -> Result<u64, StoreError> {
        let change = self.write_locked(AdvisoryLock::CleanUp).await?;
        let most: Value = limit.into();
        let removed = match stale {
            StaleOauth::Codes(made) => execute(&change, CODES, [time(made), most]).await?,
            StaleOauth::Expired(at) => {
                let tokens = execute(&change, TOKENS, [time(at), most.clone()]).await?;
                tokens.max(execute(&change, GRANTS, [time(at), most]).await?)
            }
            StaleOauth::Clients(unused, idle) => {
                let never = execute(&change, UNUSED, [time(unused), most.clone()]).await?;
                never.max(execute(&change, IDLE_CLIENTS, [time(idle), most]).await?)
            }
        };
        stored(change.commit().await)?;
        Ok(removed)
    }

    async fn remove(&self, stale: Stale, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let change = self.write_locked(AdvisoryLock::CleanUp).await?;
        let most: Value = limit.into();
        let removed = match stale {
            Stale::Guests(expired) => remove_guests(&change, expired, limit).await?,
            Stale::GuestCounts(day) => execute(&change, GUEST_COUNTS, [day.into(), most]).await?,
            Stale::Challenges(made) => execute(&change, CHALLENGES, [time(made), most]).await?,
            Stale::Sessions(used, begun) => {
                execute(&change, SESSIONS, [time(used), time(begun), most]).await?
            }
            Stale::Forms(filled_in) => {
                execute(&change, FORMS, [time(filled_in), time(now - VALIDITY), most]).await?
            }
            Stale::Lockouts(last_try) => {
                execute(&change, LOCKOUTS, [time(last_try), time(now), most]).await?
            }
            Stale::Clients(seen) => execute(&change, CLIENTS, [time(seen), most]).await?,
            Stale::Tries(made, by_nobody) => {
                let tries = execute(&change, TRIES, [time(made), most.clone()]).await?;
                tries.max(execute(&change, NOBODYS_TRIES, [time(by_nobody), most]).await?)
            }
            Stale::Messages(written) => execute(&change, MESSAGES, [time(written), most]).await?,
            Stale::Answers => execute(&change, ANSWERS, [time(now), most]).await?,
            Stale::Results(made) => {
                execute(&change, RESULTS, [time(made), most, first_id_after(made)]).await?
            }
            Stale::ExcessResults => remove_excess_results(self, &change, limit).await?,
            Stale::SignIns(made) => {
                let mut most_gone = 0;
                for sql in [STARTS, COMPLETIONS, HAND_OFFS] {
                    let gone = execute(&change, sql, [time(made), most.clone()]).await?;
                    most_gone = gone.max(most_gone);
                }
                most_gone
            }
            Stale::EmailUndos(made) => execute(&change, EMAIL_UNDOS, [time(made), most]).await?,
            Stale::Notifications(written) => {
                execute(&change, NOTIFICATIONS, [time(written), most]).await?
            }
            Stale::Departed => forget_departed(&change, limit).await?,
            Stale::Usage(day) => remove_usage(&change, day, limit).await?,
        };
        stored(change.commit().await)?;
        Ok(removed)
    }
}

/// Returns the smallest id of a request, version 7 of a UUID, that began a second after `at` or
/// later. An id may be older than the time of its result by the time for which a message arrives.
fn first_id_after(at: Timestamp) -> Value {
    let milliseconds = u64::try_from(at.timestamp_millis()).unwrap_or_default() + 1000;
    number(u128::from(milliseconds) << 80)
}

/// The accounts with more results than their quota, at most `$3`: an account of so many results, `$1`,
/// or bytes, `$2`. The index `result_owner` has every column.
const OVER_QUOTA: &str = "SELECT account_id AS over_quota FROM result \
    GROUP BY account_id HAVING count(*) > $1 OR sum(bytes) > $2 LIMIT $3";

/// Removes the oldest results of accounts beyond their quota.
async fn remove_excess_results(
    store: &Store,
    change: &DatabaseTransaction,
    limit: u32,
) -> Result<u64, StoreError> {
    let most_bytes = i64::try_from(MOST_BYTES).unwrap_or(i64::MAX);
    let over = [MOST_RESULTS.into(), most_bytes.into(), limit.into()];
    let over = stored(store.readers.query_all_raw(statement(OVER_QUOTA, over)).await)?;
    let mut removed = 0;
    for row in over {
        let left = u64::from(limit).saturating_sub(removed);
        let account = AccountId(column(&row, "over_quota")?);
        removed += remove_excess(change, account, u32::try_from(left).unwrap_or(limit)).await?;
    }
    Ok(removed)
}

async fn execute<const N: usize>(
    change: &DatabaseTransaction,
    sql: &str,
    values: [Value; N],
) -> Result<u64, StoreError> {
    Ok(stored(change.execute_raw(statement(sql, values)).await)?.rows_affected())
}

async fn remove_guests(
    change: &DatabaseTransaction,
    expired: Timestamp,
    limit: u32,
) -> Result<u64, StoreError> {
    let delete = statement(GUESTS, [time(expired), limit.into()]);
    let rows = stored(change.query_all_raw(delete).await)?;
    let ids: Vec<i64> = rows.iter().map(|row| column(row, "id")).collect::<Result<_, _>>()?;
    if !ids.is_empty() {
        let of_guests = format!("{OF_GUESTS}{}", elements(change));
        execute(change, &of_guests, [json!(ids).to_string().into()]).await?;
    }
    Ok(ids.len() as u64)
}

/// Removes caller and address from the usage rows of deleted accounts.
async fn forget_departed(change: &DatabaseTransaction, limit: u32) -> Result<u64, StoreError> {
    let mut forgotten = 0;
    while forgotten < u64::from(limit) {
        let next = "SELECT account_id FROM departed ORDER BY account_id LIMIT 1";
        let row = stored(change.query_one_raw(statement(next, [])).await)?;
        let Some(row) = row else { break };
        let left = limit - u32::try_from(forgotten).unwrap_or(limit);
        forgotten += forget_caller(change, AccountId(column(&row, "account_id")?), left).await?;
    }
    Ok(forgotten)
}

/// Removes caller and address from at most `limit` usage rows of a deleted account. Fewer changed
/// rows than the limit mean that none are left.
pub(super) async fn forget_caller(
    change: &DatabaseTransaction,
    account: AccountId,
    limit: u32,
) -> Result<u64, StoreError> {
    let forgotten = if is_postgres(change) {
        execute(change, OF_ACCOUNT, [account.0.into(), limit.into()]).await?
    } else {
        forget_calls(change, account, limit).await?
    };
    if forgotten < u64::from(limit) {
        let done = "DELETE FROM departed WHERE account_id = $1";
        execute(change, done, [account.0.into()]).await?;
    }
    Ok(forgotten)
}

/// Removes usage rows, after moving the first retained day, so that the audit compares no day that
/// is half removed.
async fn remove_usage(
    change: &DatabaseTransaction,
    day: i64,
    limit: u32,
) -> Result<u64, StoreError> {
    let since = "UPDATE sequence SET value = $1 WHERE name = 'usage_since' AND value < $1";
    execute(change, since, [day.into()]).await?;
    drop_before(change, day).await?;
    let start = day.saturating_mul(MICROSECONDS_A_DAY);
    if !is_postgres(change) {
        execute(change, SORTED, [start.into(), limit.into()]).await?;
    }
    let calls = execute(change, USAGE, [start.into(), limit.into()]).await?;
    let tallies = execute(change, TALLIES, [day.into(), limit.into()]).await?;
    Ok(calls.max(tallies))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use account_core::store::LedgerStore;
    use account_core::testing::{CheapHasher, FixedClock, seeded_rng};
    use account_core::{
        Accounts, CallerId, Confirmation, Email, NewAccount, Tier, Username, Vault,
    };

    use super::*;
    use crate::store::testing::{call, on_each_engine};

    on_each_engine!(a_busy_account_is_gone_at_once_and_its_many_calls_are_nobodys_soon);

    async fn count(store: &Store, query: &str) -> i64 {
        let row = store.writer.query_one_raw(statement(query, [])).await.expect(query);
        column(&row.expect("a row"), "count").expect("a number")
    }

    async fn a_busy_account_is_gone_at_once_and_its_many_calls_are_nobodys_soon(
        store: Store,
        _address: String,
    ) {
        let rng = seeded_rng(6);
        let vault = Arc::new(Vault::create(&mut rng.clone()));
        let accounts = Accounts::new(store.clone(), CheapHasher::default(), vault, rng);
        let now = FixedClock::default().now();
        let email = Email::parse("ada@example.com").expect("an address");
        let account = NewAccount {
            email: email.clone(),
            username: Username::parse("ada").expect("a name"),
            password: None,
            tier: Tier::Pro,
            credits: Some(10_000),
            hourly_limit: None,
            is_admin: false,
        };
        let ada = accounts.create_account(account, now).await.expect("a new account").id;
        let calls = (0..2_500).map(|request_id| call(CallerId::Account(ada), 2, request_id, now));
        store.settle(calls.collect()).await.expect("paid");

        let confirmation = Confirmation::Email(email);
        accounts.delete_account(ada, &confirmation, now).await.expect("its address");

        let left = "SELECT count(*) AS count FROM usage WHERE account_id IS NOT NULL OR ip <> ''";
        assert_eq!(count(&store, left).await, 1_500, "a thousand at once");
        assert!(accounts.audit().await.expect("ok").holds(), "half way through");
        let mut rounds = 0;
        while accounts.clean_up(now, 600, None).await.expect("ok").more {
            rounds += 1;
            assert!(accounts.audit().await.expect("ok").holds(), "round {rounds}");
        }
        assert_eq!((rounds, count(&store, left).await), (2, 0));
        assert_eq!(accounts.clean_up(now, 600, None).await.expect("ok").departed, 0);
        for (query, expected) in [
            ("SELECT count(*) AS count FROM usage", 2_500),
            ("SELECT CAST(sum(credits) AS BIGINT) AS count FROM usage", 5_000),
            ("SELECT CAST(sum(credits) AS BIGINT) AS count FROM ledger", 0),
            ("SELECT count(*) AS count FROM departed", 0),
            ("SELECT count(*) AS count FROM usage_day", 0),
            ("SELECT count(*) AS count FROM account", 0),
            ("SELECT count(*) AS count FROM api_key", 0),
        ] {
            assert_eq!(count(&store, query).await, expected, "{query}");
        }
    }
}
