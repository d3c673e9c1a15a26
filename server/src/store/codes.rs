//! Challenges: a try is counted and committed before its code is compared.

use account_core::code::{Attempt, Challenge, ChallengeId, CodeStore, Purpose, TRIES};
use account_core::identity::Email;
use account_core::vault::Digest;
use account_core::{AccountId, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::Store;
use super::rows::{
    column, digest, digest_column, narrow, number, number_column, statement, stored, time,
    time_column,
};

impl CodeStore for Store {
    async fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
        now: Timestamp,
    ) -> Result<Option<Attempt>, StoreError> {
        let change = self.write().await?;
        let query = "SELECT id, account_id, digest, created_at, tries FROM challenge \
                     WHERE recipient = $1 AND purpose = $2 AND NOT used";
        let values = [digest(&recipient), purpose.name().into()];
        let row = stored(change.query_one_raw(statement(query, values)).await)?;
        let Some(row) = row else { return Ok(None) };
        let id = number_column(&row, "id")?;
        let created_at = time_column(&row, "created_at")?;
        if !Challenge::is_live(created_at, now) {
            if created_at <= now {
                let end = "UPDATE challenge SET used = TRUE WHERE id = $1";
                stored(change.execute_raw(statement(end, [number(id)])).await)?;
                stored(change.commit().await)?;
            }
            return Ok(None);
        }
        if narrow::<u32>(&row, "tries")? >= TRIES {
            return Ok(None);
        }
        let count = "UPDATE challenge SET tries = tries + 1 WHERE id = $1";
        stored(change.execute_raw(statement(count, [number(id)])).await)?;
        stored(change.commit().await)?;
        let account = AccountId(column(&row, "account_id")?);
        Ok(Some(Attempt {
            challenge: ChallengeId(id),
            account,
            digest: digest_column(&row, "digest")?,
        }))
    }
}

/// Saves a challenge in place of the account's earlier one of that purpose.
pub(super) async fn replace_challenge(
    change: &DatabaseTransaction,
    challenge: &Challenge,
) -> Result<(), StoreError> {
    let discard = "DELETE FROM challenge WHERE account_id = $1 AND purpose = $2";
    let values = [challenge.account.0.into(), challenge.purpose.name().into()];
    stored(change.execute_raw(statement(discard, values)).await)?;
    let insert = "INSERT INTO challenge (id, account_id, purpose, recipient, digest, created_at, tries, used) \
                  VALUES ($1, $2, $3, $4, $5, $6, 0, FALSE)";
    let values = [
        number(challenge.id.0),
        challenge.account.0.into(),
        challenge.purpose.name().into(),
        digest(&challenge.recipient),
        digest(&challenge.digest),
        time(challenge.created_at),
    ];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}

/// Uses a challenge up; `false` where it was used, replaced or has expired.
pub(super) async fn use_up(
    change: &DatabaseTransaction,
    challenge: ChallengeId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let query = "SELECT created_at FROM challenge WHERE id = $1 AND NOT used";
    let row = stored(change.query_one_raw(statement(query, [number(challenge.0)])).await)?;
    let Some(row) = row else { return Ok(false) };
    if !Challenge::is_live(time_column(&row, "created_at")?, now) {
        return Ok(false);
    }
    let use_up = "UPDATE challenge SET used = TRUE WHERE id = $1 AND NOT used";
    let used = stored(change.execute_raw(statement(use_up, [number(challenge.0)])).await)?;
    Ok(used.rows_affected() == 1)
}
