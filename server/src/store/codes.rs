//! Challenges: a try is counted and committed before its code is compared.

use account_core::code::{Attempt, Challenge, ChallengeId, CodeStore, Purpose, TRIES};
use account_core::identity::Email;
use account_core::outbox::SealedMessage;
use account_core::vault::Digest;
use account_core::{AccountId, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::Store;
use super::engine::{AdvisoryLock, lock_account};
use super::outbox::{insert_message, may_send};
use super::rows::{
    column, digest, digest_column, narrow, number, number_column, statement, stored, time,
    time_column,
};

impl CodeStore for Store {
    async fn send_code(
        &self,
        challenge: Challenge,
        message: SealedMessage,
    ) -> Result<(), StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&challenge.recipient)).await?;
        // An address without an account takes the same road, with a number that nobody has.
        let account = challenge.account.map_or(0, |account| account.0);
        lock_account(&change, AccountId(account)).await?;
        let verified = challenge.purpose != Purpose::Registration;
        let query = "SELECT id FROM account WHERE id = $1 AND (verified_at IS NOT NULL) = $2";
        let query = statement(query, [account.into(), verified.into()]);
        let fits = stored(change.query_one_raw(query).await)?.is_some();
        let now = message.created_at;
        let allowed = may_send(&change, &message.recipient, challenge.purpose, now).await?;
        if !allowed || (challenge.account.is_some() && !fits) {
            return Ok(());
        }
        replace_challenge(&change, &challenge).await?;
        insert_message(&change, message).await?;
        stored(change.commit().await)?;
        self.outbox_notify.notify_one();
        Ok(())
    }

    async fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
        proof: Option<ChallengeId>,
        now: Timestamp,
    ) -> Result<Option<Attempt>, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&recipient)).await?;
        let query = "SELECT id, account_id, digest, created_at, tries, token_tries FROM challenge \
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
        let (counter, count) = if proof == Some(ChallengeId(id)) {
            ("token_tries", "UPDATE challenge SET token_tries = token_tries + 1 WHERE id = $1")
        } else {
            ("tries", "UPDATE challenge SET tries = tries + 1 WHERE id = $1")
        };
        if narrow::<u32>(&row, counter)? >= TRIES {
            return Ok(None);
        }
        stored(change.execute_raw(statement(count, [number(id)])).await)?;
        stored(change.commit().await)?;
        let account: Option<i64> = column(&row, "account_id")?;
        Ok(Some(Attempt {
            challenge: ChallengeId(id),
            account: account.map(AccountId),
            digest: digest_column(&row, "digest")?,
        }))
    }
}

/// Saves a challenge in place of the address's earlier one of that purpose.
pub(super) async fn replace_challenge(
    change: &DatabaseTransaction,
    challenge: &Challenge,
) -> Result<(), StoreError> {
    let discard = "DELETE FROM challenge WHERE recipient = $1 AND purpose = $2";
    let values = [digest(&challenge.recipient), challenge.purpose.name().into()];
    stored(change.execute_raw(statement(discard, values)).await)?;
    let insert = "INSERT INTO challenge (id, account_id, purpose, recipient, digest, created_at, tries, token_tries, used) \
                  VALUES ($1, $2, $3, $4, $5, $6, 0, 0, FALSE)";
    let values = [
        number(challenge.id.0),
        challenge.account.map(|account| account.0).into(),
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
