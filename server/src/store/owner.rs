//! What owners change: profile, second factor, the end of the account.

use account_core::accounts::owner::{Deletion, OwnerStore, ProfileChanges, Updated};
use account_core::accounts::sign_in::ReservedTry;
use account_core::code::Purpose;
use account_core::credits::TransactionKind;
use account_core::identity::{Email, Username};
use account_core::lockout::{Counter, Counters, Reservation};
use account_core::outbox::SealedMessage;
use account_core::vault::Digest;
use account_core::{AccountId, Notice, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction, Value};

use super::Store;
use super::clean_up::forget_caller;
use super::engine::{AdvisoryLock, lock_account};
use super::notifications::notify;
use super::outbox::insert_message;
use super::registration::name_taken;
use super::rows::{column, digest, statement, stored, time, unless_taken};
use super::sign_in::{conclude, reserve};

/// Usage rows that a deletion makes nobody's before it answers; the rest is left to the clean-up.
const AT_ONCE: u32 = 1_000;

impl OwnerStore for Store {
    async fn update_profile(
        &self,
        account: AccountId,
        changes: ProfileChanges,
        now: Timestamp,
    ) -> Result<Updated, StoreError> {
        let change = self.write().await?;
        lock_account(&change, account).await?;
        let query = "SELECT email FROM account WHERE id = $1 AND verified_at IS NOT NULL";
        let query = statement(query, [account.0.into()]);
        let Some(row) = stored(change.query_one_raw(query).await)? else {
            return Ok(Updated::NotFound);
        };
        let email: String = column(&row, "email")?;
        let email = Email::parse(&email).map_err(StoreError::new)?;
        if let Some(username) = &changes.username {
            if name_taken(&change, username, &email, Some(account), now).await? {
                return Ok(Updated::UsernameTaken);
            }
            if !rename(&change, account, username).await? {
                return Ok(Updated::UsernameTaken);
            }
        }
        let update = "UPDATE account SET phone = CASE WHEN $2 THEN $3 ELSE phone END, \
                      country = CASE WHEN $4 THEN $5 ELSE country END, \
                      country_code = CASE WHEN $6 THEN $7 ELSE country_code END WHERE id = $1";
        let mut values = vec![account.0.into()];
        for detail in [changes.phone, changes.country, changes.country_code] {
            values.extend::<[Value; 2]>([detail.is_some().into(), detail.flatten().into()]);
        }
        stored(change.execute_raw(statement(update, values)).await)?;
        stored(change.commit().await)?;
        Ok(Updated::Done)
    }

    async fn set_mfa(
        &self,
        account: AccountId,
        enabled: bool,
        notice: SealedMessage,
    ) -> Result<bool, StoreError> {
        let change = self.write().await?;
        let update = "UPDATE account SET mfa_enabled = $2 \
                      WHERE id = $1 AND mfa_enabled <> $2 AND verified_at IS NOT NULL";
        let update = statement(update, [account.0.into(), enabled.into()]);
        if stored(change.execute_raw(update).await)?.rows_affected() == 0 {
            return Ok(false);
        }
        if !enabled {
            let half_done = "DELETE FROM challenge WHERE account_id = $1 AND purpose = $2";
            let values = [account.0.into(), Purpose::Mfa.name().into()];
            stored(change.execute_raw(statement(half_done, values)).await)?;
        }
        let switched = if enabled { Notice::MfaEnabled } else { Notice::MfaDisabled };
        notify(&change, account, &switched, notice.created_at).await?;
        insert_message(&change, notice).await?;
        stored(change.commit().await)?;
        self.outbox_notify.notify_one();
        Ok(true)
    }

    async fn reserve_confirmation(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        now: Timestamp,
    ) -> Result<ReservedTry, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&recipient)).await?;
        let counters = Counters::only(Counter::Confirmations);
        let reserved = reserve(&change, email, &recipient, counters, now).await?;
        stored(change.commit().await)?;
        Ok(reserved)
    }

    async fn conclude_confirmation(
        &self,
        recipient: Digest<Email>,
        reservation: Reservation,
        right: bool,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&recipient)).await?;
        conclude(&change, &recipient, &reservation, right, now).await?;
        stored(change.commit().await)
    }

    async fn delete_account(&self, deletion: Deletion) -> Result<bool, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&deletion.recipient)).await?;
        lock_account(&change, deletion.account).await?;
        let account = deletion.account.0;
        let query = "SELECT id FROM account WHERE id = $1 AND verified_at IS NOT NULL \
                     AND NOT ($2 AND password_hash IS NOT NULL)";
        let query = statement(query, [account.into(), deletion.only_without_password.into()]);
        if stored(change.query_one_raw(query).await)?.is_none() {
            return Ok(false);
        }
        write_off(&change, deletion.account, deletion.at).await?;
        let left = "INSERT INTO departed (account_id, created_at) VALUES ($1, $2)";
        let left = statement(left, [account.into(), time(deletion.at)]);
        stored(change.execute_raw(left).await)?;
        forget_caller(&change, deletion.account, AT_ONCE).await?;
        let recipient = || digest(&deletion.recipient);
        // Keys, sessions, codes, history and subscriptions go with the account.
        for forget in [
            statement("DELETE FROM usage_day WHERE account_id = $1", [account.into()]),
            statement("DELETE FROM lockout WHERE recipient = $1", [recipient()]),
            statement("DELETE FROM known_client WHERE recipient = $1", [recipient()]),
            statement("DELETE FROM challenge WHERE recipient = $1", [recipient()]),
            statement("DELETE FROM account WHERE id = $1", [account.into()]),
        ] {
            stored(change.execute_raw(forget).await)?;
        }
        insert_message(&change, deletion.notice).await?;
        self.commit_revised(change).await?;
        self.outbox_notify.notify_one();
        Ok(true)
    }
}

/// Gives an account a name that is free, and takes it from forms whose code has expired; `false`
/// where another was faster.
async fn rename(
    change: &DatabaseTransaction,
    account: AccountId,
    username: &Username,
) -> Result<bool, StoreError> {
    let discard = "DELETE FROM account WHERE username_key = $1 AND verified_at IS NULL";
    stored(change.execute_raw(statement(discard, [username.key().into()])).await)?;
    let rename = "UPDATE account SET username = $2, username_key = $3 WHERE id = $1";
    let values = [account.0.into(), username.as_str().into(), username.key().into()];
    unless_taken(change.execute_raw(statement(rename, values)).await)
}

/// Books what is left of a balance as gone, so that the ledger of nobody sums to nothing.
async fn write_off(
    change: &DatabaseTransaction,
    account: AccountId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let book = "INSERT INTO ledger (account_id, kind, credits, balance_after, description, created_at, updated_at) \
                SELECT id, $2, -credit_balance, 0, 'The account was deleted', $3, $3 \
                FROM account WHERE id = $1 AND credit_balance > 0";
    let values = [account.0.into(), TransactionKind::Adjustment.name().into(), time(now)];
    stored(change.execute_raw(statement(book, values)).await)?;
    Ok(())
}
