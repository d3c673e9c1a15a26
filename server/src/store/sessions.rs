//! Sessions: found by digest, ended one by one or with their account.

use account_core::session::{Session, SessionStore, SessionToken};
use account_core::vault::Digest;
use account_core::{AccountId, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::Store;
use super::rows::{column, digest, statement, stored, time, time_column};

impl SessionStore for Store {
    async fn session(&self, token: &Digest<SessionToken>) -> Result<Option<Session>, StoreError> {
        let query = "SELECT account_id, created_at, last_used_at FROM session WHERE digest = $1";
        let row = stored(self.readers.query_one_raw(statement(query, [digest(token)])).await)?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Session {
            digest: *token,
            account: AccountId(column(&row, "account_id")?),
            created_at: time_column(&row, "created_at")?,
            last_used_at: time_column(&row, "last_used_at")?,
        }))
    }

    async fn touch_session(
        &self,
        token: &Digest<SessionToken>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let touch = "UPDATE session SET last_used_at = $2 WHERE digest = $1";
        self.execute(statement(touch, [digest(token), time(now)])).await?;
        Ok(())
    }

    async fn end_session(
        &self,
        token: &Digest<SessionToken>,
        account: AccountId,
    ) -> Result<bool, StoreError> {
        let end = "DELETE FROM session WHERE digest = $1 AND account_id = $2";
        let values = [digest(token), account.0.into()];
        let ended = self.execute(statement(end, values)).await?;
        Ok(ended.rows_affected() > 0)
    }
}

/// Saves a session.
pub(super) async fn insert_session(
    change: &DatabaseTransaction,
    session: &Session,
) -> Result<(), StoreError> {
    let insert = "INSERT INTO session (digest, account_id, created_at, last_used_at) \
                  VALUES ($1, $2, $3, $4)";
    let values = [
        digest(&session.digest),
        session.account.0.into(),
        time(session.created_at),
        time(session.last_used_at),
    ];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}
