//! Caps of credits a day outside a batch: the funds of an account, and the notice of a call that was
//! refused before the ledger.

use account_core::{
    AccountId, CappedDay, Funds, Notice, SpendCap, Spending, StoreError, Timestamp, guest,
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult};

use super::super::engine::lock_account;
use super::super::handle::Store;
use super::super::notifications::notify;
use super::super::rows::{column, credits_column, narrow, statement, stored};
use super::statements::{SPENT, set_told};

/// The balance and the cap of an account.
const FUNDS: &str = "SELECT credit_balance, spend_cap_per_day, cap_near_on, cap_reached_on \
                     FROM account WHERE id = $1";

impl Store {
    /// Reads an account's balance and cap, with the credits spent on a day where there is a cap.
    pub(super) async fn read_funds(
        &self,
        account: AccountId,
        day: i64,
    ) -> Result<Option<Funds>, StoreError> {
        let query = statement(FUNDS, [account.0.into()]);
        let Some(row) = stored(self.readers.query_one_raw(query).await)? else { return Ok(None) };
        let cap = match cap(&row)? {
            None => None,
            Some(cap) => {
                Some(CappedDay { cap, day, spent: spent(&self.readers, account, day).await? })
            }
        };
        Ok(Some(Funds { balance: narrow(&row, "credit_balance")?, cap }))
    }

    /// Sums the credits that an account has spent on a day.
    pub(super) async fn read_spent(&self, account: AccountId, day: i64) -> Result<u64, StoreError> {
        spent(&self.readers, account, day).await
    }

    /// Writes the notice of a call that a cap has refused before the ledger.
    pub(super) async fn write_refusal(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let change = self.write().await?;
        lock_account(&change, account).await?;
        let row = stored(change.query_one_raw(statement(FUNDS, [account.0.into()])).await)?;
        let Some(cap) = row.map(|row| cap(&row)).transpose()?.flatten() else { return Ok(()) };
        let (mut spending, day) = (Spending::default(), guest::day(at));
        spending.add_cap(account, cap);
        spending.set_spent(account, day, spent(&*change, account, day).await?);
        spending.refuse(account, at);
        notify_of_caps(&change, &spending).await?;
        stored(change.commit().await)
    }
}

async fn spent(
    connection: &impl ConnectionTrait,
    account: AccountId,
    day: i64,
) -> Result<u64, StoreError> {
    let query = statement(SPENT, [account.0.into(), day.into()]);
    let row = stored(connection.query_one_raw(query).await)?;
    row.map_or(Ok(0), |row| narrow(&row, "spent"))
}

/// Writes the notices of reached marks, and the days of these notices.
async fn notify_of_caps(
    change: &DatabaseTransaction,
    spending: &Spending,
) -> Result<(), StoreError> {
    for reached in spending.notices() {
        let values = [reached.account.0.into(), reached.day.into()];
        stored(change.execute_raw(statement(set_told(reached.mark), values)).await)?;
        notify(change, reached.account, &Notice::of_cap(&reached), reached.at).await?;
    }
    Ok(())
}

fn cap(row: &QueryResult) -> Result<Option<SpendCap>, StoreError> {
    let Some(per_day) = credits_column(row, "spend_cap_per_day")? else { return Ok(None) };
    let (near_on, reached_on) = (column(row, "cap_near_on")?, column(row, "cap_reached_on")?);
    Ok(Some(SpendCap { per_day, near_on, reached_on }))
}
