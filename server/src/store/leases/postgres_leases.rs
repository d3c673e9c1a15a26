//! Leases on PostgreSQL, for many callers at once: one statement reads the texts, and another
//! replaces each text that is unchanged since. A text that another instance changed meanwhile is
//! read again.
//!
//! Each statement is a transaction of its own and locks rows in the order of their keys. So there
//! are no deadlocks, and no lock is held between the two statements.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use account_core::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};
use account_core::{AccountId, CallerId, GuestId, StoreError};
use sea_orm::sqlx::postgres::{PgPool, PgRow};
use sea_orm::sqlx::{self, Row};

use super::super::rows::malformed;

/// Reads the texts of several callers. `$1` and `$2`: keys.
pub(in super::super) const READ_ALL: &str = "\
SELECT held.is_guest, held.caller_id, held.shared
FROM unnest($1, $2) AS asked (is_guest, caller_id)
JOIN shared_limit AS held ON held.is_guest = asked.is_guest AND held.caller_id = asked.caller_id";

/// Replaces the unchanged texts and returns their keys. `$1` and `$2`: keys, `$3`: texts as read,
/// `$4`: new texts, `$5`: the times of leases, NULL where calls were only returned.
pub(in super::super) const REPLACE_ALL: &str = "\
WITH held AS MATERIALIZED (
  SELECT held.is_guest, held.caller_id, asked.shared, asked.leased_at
  FROM unnest($1, $2, $3, $4, $5) AS asked (is_guest, caller_id, read, shared, leased_at)
  JOIN shared_limit AS held ON held.is_guest = asked.is_guest AND held.caller_id = asked.caller_id
  WHERE held.shared = asked.read
  ORDER BY held.is_guest, held.caller_id FOR NO KEY UPDATE OF held
)
UPDATE shared_limit SET shared = held.shared,
  leased_at = greatest(shared_limit.leased_at, held.leased_at)
FROM held
WHERE shared_limit.is_guest = held.is_guest AND shared_limit.caller_id = held.caller_id
RETURNING shared_limit.is_guest, shared_limit.caller_id";

/// Inserts the rows that are still missing and returns their keys. `$1` and `$2`: keys, `$3`:
/// texts, `$4`: the times of leases.
pub(in super::super) const INSERT_ALL: &str = "\
INSERT INTO shared_limit (is_guest, caller_id, shared, leased_at)
SELECT * FROM unnest($1, $2, $3, $4) AS asked (is_guest, caller_id, shared, leased_at)
ORDER BY asked.is_guest, asked.caller_id
ON CONFLICT (is_guest, caller_id) DO NOTHING
RETURNING is_guest, caller_id";

/// The changes of one caller's limit in a batch.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) unused: Vec<ReturnedCalls>,
    pub(super) asks: Vec<Ask>,
}

impl Changes {
    fn apply(&self, shared: &mut SharedWindow) -> Vec<Lease> {
        for unused in &self.unused {
            shared.give_back(*unused);
        }
        self.asks.iter().map(|ask| shared.lease(ask)).collect()
    }

    /// Returns the latest time of a lease, in microseconds.
    fn leased_at(&self) -> Option<i64> {
        self.asks.iter().map(|ask| ask.now.timestamp_micros()).max()
    }
}

/// The leases that each caller got, in the order of the caller's requests, or the failure.
pub(super) type Changed = HashMap<CallerId, Result<Vec<Lease>, Arc<StoreError>>>;

/// Changes the limits of all callers, repeatedly where other instances interfere.
pub(super) async fn change_all(pool: &PgPool, mut open: BTreeMap<CallerId, Changes>) -> Changed {
    let mut changed = Changed::new();
    while !open.is_empty() {
        let tried = change_unchanged(pool, &open, &mut changed).await;
        open.retain(|caller, _| !changed.contains_key(caller));
        if let Err(error) = tried {
            let error = Arc::new(StoreError::new(error));
            changed.extend(open.into_keys().map(|caller| (caller, Err(error.clone()))));
            break;
        }
    }
    changed
}

/// Changes the limits of the callers that no other instance changes at the same time.
///
/// A failed read is repeated once, since the first statement after an outage reports the lost
/// connection. A write is never repeated, because a lost answer may have granted leases.
async fn change_unchanged(
    pool: &PgPool,
    open: &BTreeMap<CallerId, Changes>,
    changed: &mut Changed,
) -> Result<(), sqlx::Error> {
    let mut texts = match read(pool, open).await {
        Ok(texts) => texts,
        Err(_) => read(pool, open).await?,
    };
    let (mut known, mut new) = (Rows::default(), Rows::default());
    for (caller, changes) in open {
        match texts.remove(caller) {
            // Without a row there is no lease to return calls to.
            None if changes.asks.is_empty() => drop(changed.insert(*caller, Ok(Vec::new()))),
            None => new.push(*caller, String::new(), SharedWindow::default(), changes),
            Some(text) => match text.parse() {
                Ok(shared) => known.push(*caller, text, shared, changes),
                Err(_) => drop(changed.insert(*caller, Err(Arc::new(malformed("shared"))))),
            },
        }
    }
    changed.extend(known.replace(pool).await?);
    changed.extend(new.insert(pool).await?);
    Ok(())
}

/// Reads the texts of the callers that have a row.
async fn read(
    pool: &PgPool,
    callers: &BTreeMap<CallerId, Changes>,
) -> Result<HashMap<CallerId, String>, sqlx::Error> {
    let (is_guest, ids): (Vec<bool>, Vec<i64>) = callers.keys().map(|caller| key(*caller)).unzip();
    let rows = sqlx::query(READ_ALL).bind(is_guest).bind(ids).fetch_all(pool).await?;
    rows.iter().map(|row| Ok((caller(row)?, row.try_get("shared")?))).collect()
}

/// The rows of a write, column by column, with the leases of their callers.
#[derive(Default)]
struct Rows {
    is_guest: Vec<bool>,
    ids: Vec<i64>,
    read: Vec<String>,
    shared: Vec<String>,
    leased_at: Vec<Option<i64>>,
    leases: HashMap<CallerId, Vec<Lease>>,
}

impl Rows {
    fn push(
        &mut self,
        caller: CallerId,
        read: String,
        mut shared: SharedWindow,
        changes: &Changes,
    ) {
        self.leases.insert(caller, changes.apply(&mut shared));
        let (is_guest, id) = key(caller);
        self.is_guest.push(is_guest);
        self.ids.push(id);
        self.read.push(read);
        self.shared.push(shared.to_string());
        self.leased_at.push(changes.leased_at());
    }

    async fn replace(self, pool: &PgPool) -> Result<Changed, sqlx::Error> {
        if self.ids.is_empty() {
            return Ok(Changed::new());
        }
        let query = sqlx::query(REPLACE_ALL).bind(self.is_guest).bind(self.ids);
        let query = query.bind(self.read).bind(self.shared).bind(self.leased_at);
        written(&query.fetch_all(pool).await?, self.leases)
    }

    async fn insert(self, pool: &PgPool) -> Result<Changed, sqlx::Error> {
        if self.ids.is_empty() {
            return Ok(Changed::new());
        }
        let query = sqlx::query(INSERT_ALL).bind(self.is_guest).bind(self.ids);
        let query = query.bind(self.shared).bind(self.leased_at);
        written(&query.fetch_all(pool).await?, self.leases)
    }
}

/// Returns the leases of the callers whose rows were written.
fn written(
    rows: &[PgRow],
    mut leases: HashMap<CallerId, Vec<Lease>>,
) -> Result<Changed, sqlx::Error> {
    let lease = |row| {
        let caller = caller(row)?;
        Ok((caller, Ok(leases.remove(&caller).unwrap_or_default())))
    };
    rows.iter().map(lease).collect()
}

const fn key(caller: CallerId) -> (bool, i64) {
    match caller {
        CallerId::Account(account) => (false, account.0),
        CallerId::Guest(guest) => (true, guest.0),
    }
}

fn caller(row: &PgRow) -> Result<CallerId, sqlx::Error> {
    let id = row.try_get("caller_id")?;
    Ok(match row.try_get("is_guest")? {
        true => CallerId::Guest(GuestId(id)),
        false => CallerId::Account(AccountId(id)),
    })
}
