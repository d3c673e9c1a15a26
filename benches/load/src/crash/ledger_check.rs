//! The comparison of the charges in the database with the records of the clients.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

use super::{
    batches::{BatchCheck, PRICES},
    clients::{CallLog, Repeated},
};
use crate::{service::connect, target::Failure};

/// The credits of a call.
const COST: i64 = 5;
/// The credits of a tool call with a large result.
const LARGE_COST: i64 = 2;
/// The largest lag of the clock in a request's number behind that of this program, in milliseconds.
const SLACK: u64 = 10_000;

/// The days on which an account has spent more than its cap.
const PASSED_CAPS: &str = "SELECT count(*) AS n FROM (SELECT account.id FROM account \
    JOIN ledger ON ledger.account_id = account.id AND ledger.kind = 'usage' \
    WHERE spend_cap_per_day IS NOT NULL GROUP BY account.id, ledger.day, spend_cap_per_day \
    HAVING -sum(ledger.credits) > spend_cap_per_day) AS passed";

/// The ledger of one set of data, over many rounds.
pub(super) struct LedgerCheck {
    address: String,
    /// The charged calls of earlier rounds, so that no call is counted twice.
    charged: i64,
    /// The stored answers of earlier rounds.
    kept: i64,
    batches: BatchCheck,
}

/// The numbers of charged calls without an answer.
#[derive(Clone, Copy)]
pub(super) struct Charged {
    /// Calls that were sent one by one.
    pub(super) unanswered: u64,
    /// Calls of batches.
    pub(super) batched: u64,
}

impl LedgerCheck {
    /// Makes the check of an empty ledger.
    pub(super) fn new(address: String) -> Self {
        Self { address, charged: 0, kept: 0, batches: BatchCheck::default() }
    }

    /// Fails where a call of this round was charged wrongly. Returns the number of charged calls
    /// without an answer. The numbers of the round's calls begin with `first`.
    pub(super) async fn check(
        &mut self,
        first: u128,
        known: &CallLog,
        repeated: &Repeated,
    ) -> Result<Charged, Failure> {
        // The server may have been killed since the last round, which ends its connections.
        let database = connect(&self.address).await?;
        let checked = self.check_on(&database, first, known, repeated).await;
        database.close().await?;
        checked
    }

    async fn check_on(
        &mut self,
        database: &DatabaseConnection,
        first: u128,
        known: &CallLog,
        repeated: &Repeated,
    ) -> Result<Charged, Failure> {
        let rows = charged(database, first).await?;
        check_answered(known, &rows)?;
        if let Some(number) = known.over_cap.iter().find(|number| rows.contains_key(*number)) {
            return Err(
                format!("{} was refused and charged", uuid::Uuid::from_u128(*number)).into()
            );
        }
        let passed = count(database, PASSED_CAPS).await?;
        if passed > 0 {
            return Err(format!("{passed} days are above the cap of their account").into());
        }
        check_results(database, &known.tool_results).await?;
        let [partial, atomic] = PRICES;
        let all = format!(
            "SELECT count(*) AS n FROM usage WHERE credits > 0 \
             AND credits NOT IN ({partial}, {atomic})"
        );
        let wrong = format!(
            "SELECT count(*) AS n FROM usage \
             WHERE credits NOT IN (0, {COST}, {LARGE_COST}, {partial}, {atomic})"
        );
        let kept = "SELECT count(*) AS n FROM kept_answer WHERE body IS NOT NULL";
        let (all, wrong) = (count(database, &all).await?, count(database, &wrong).await?);
        let kept = count(database, kept).await?;
        if wrong > 0 {
            return Err(format!("{wrong} calls were charged another price").into());
        }
        // Every key is charged once, for any number of repetitions and any kill.
        let once = (known.once_answered.len() + repeated.replayed + repeated.anew) as i64;
        if kept - self.kept != once {
            let found = kept - self.kept;
            return Err(format!("{once} keys were answered, {found} answers kept").into());
        }
        let unanswered = all - self.charged - once - known.answered.len() as i64;
        if unanswered < 0 || unanswered > known.unanswered.cast_signed() {
            return Err(format!(
                "{all} calls are charged in all, {} before; {} plain answers, {} without, {once} \
                 under a key",
                self.charged,
                known.answered.len(),
                known.unanswered,
            )
            .into());
        }
        (self.charged, self.kept) = (all, kept);
        let batched = charged_in_batches(database).await?;
        let batched = self.batches.check(batched, &known.batches)?;
        Ok(Charged { unanswered: unanswered.cast_unsigned(), batched })
    }
}

/// Checks that the result of every answered tool call is stored.
async fn check_results(database: &DatabaseConnection, calls: &[u128]) -> Result<(), Failure> {
    for number in calls {
        let query = "SELECT count(*) AS n FROM result WHERE id = $1";
        let id = number.to_be_bytes().to_vec();
        let query = Statement::from_sql_and_values(backend(database), query, [id.into()]);
        let row = database.query_one_raw(query).await?.ok_or("no row")?;
        if row.try_get::<i64>("", "n")? != 1 {
            let id = uuid::Uuid::from_u128(*number);
            return Err(format!("{id} was answered, and its result is not stored").into());
        }
    }
    Ok(())
}

/// Checks that every answered call is charged once, at its price.
fn check_answered(known: &CallLog, rows: &HashMap<u128, Vec<i64>>) -> Result<(), Failure> {
    for number in &known.answered {
        match rows.get(number).map(Vec::as_slice) {
            Some([COST | LARGE_COST]) => {}
            found => {
                let id = uuid::Uuid::from_u128(*number);
                return Err(format!("{id} was answered, charged {found:?}").into());
            }
        }
    }
    Ok(())
}

/// Returns the number of charged calls of each kind of batch.
async fn charged_in_batches(database: &DatabaseConnection) -> Result<[u64; 2], Failure> {
    let mut charged = [0; 2];
    for (charged, price) in charged.iter_mut().zip(PRICES) {
        let query = format!("SELECT count(*) AS n FROM usage WHERE credits = {price}");
        *charged = count(database, &query).await?.cast_unsigned();
    }
    Ok(charged)
}

/// Returns the charges of each call from a number on. A refused call has a row without credits.
async fn charged(
    database: &DatabaseConnection,
    first: u128,
) -> Result<HashMap<u128, Vec<i64>>, Failure> {
    let query = "SELECT request_id, CAST(credits AS BIGINT) AS credits FROM usage \
                 WHERE request_id >= $1 AND credits > 0";
    let first = first.to_be_bytes().to_vec();
    let statement = Statement::from_sql_and_values(backend(database), query, [first.into()]);
    let mut rows: HashMap<u128, Vec<i64>> = HashMap::new();
    for row in database.query_all_raw(statement).await? {
        let id: Vec<u8> = row.try_get("", "request_id")?;
        let id = u128::from_be_bytes(id.try_into().map_err(|_| "a number of another length")?);
        rows.entry(id).or_default().push(row.try_get("", "credits")?);
    }
    Ok(rows)
}

async fn count(database: &DatabaseConnection, query: &str) -> Result<i64, Failure> {
    let statement = Statement::from_string(backend(database), query.to_owned());
    let row = database.query_one_raw(statement).await?.ok_or("no row")?;
    Ok(row.try_get("", "n")?)
}

fn backend(database: &DatabaseConnection) -> DbBackend {
    database.get_database_backend()
}

/// Returns the least number of a call from now on; numbers are ordered by time.
pub(super) fn first_number() -> u128 {
    let now = quant_server::clock::Clock::system().now().timestamp_millis().cast_unsigned();
    u128::from(now.saturating_sub(SLACK)) << 80
}
