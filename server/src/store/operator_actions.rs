//! The record of operators' actions on accounts.

use account_core::{AccountId, Operation, OperatorAction, Reason, StoreError};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult};

use super::rows::{column, malformed, named, statement, stored, time, time_column};

/// Records an operator's action, where there is one.
pub(super) async fn record(
    change: &DatabaseTransaction,
    account: AccountId,
    operation: Option<Operation>,
) -> Result<(), StoreError> {
    let Some(Operation { action, detail, reason, at }) = operation else { return Ok(()) };
    let insert = "INSERT INTO operator_action (account_id, action, detail, reason, created_at) \
                  VALUES ($1, $2, $3, $4, $5)";
    let reason = reason.map(|reason| reason.as_str().to_owned());
    let values = [account.0.into(), action.name().into(), detail.into(), reason.into(), time(at)];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}

/// Lists the latest actions on an account, newest first.
pub(super) async fn list(
    connection: &impl ConnectionTrait,
    account: AccountId,
    limit: u32,
) -> Result<Vec<Operation>, StoreError> {
    let query = "SELECT action, detail, reason, created_at FROM operator_action \
                 WHERE account_id = $1 ORDER BY id DESC LIMIT $2";
    let query = statement(query, [account.0.into(), limit.into()]);
    let rows = stored(connection.query_all_raw(query).await)?;
    rows.iter().map(operation).collect()
}

fn operation(row: &QueryResult) -> Result<Operation, StoreError> {
    let reason: Option<String> = column(row, "reason")?;
    let reason = reason.map(|text| Reason::parse(&text)).transpose();
    Ok(Operation {
        action: named(row, "action", &OperatorAction::ALL, OperatorAction::name)?,
        detail: column(row, "detail")?,
        reason: reason.map_err(|_| malformed("reason"))?,
        at: time_column(row, "created_at")?,
    })
}
