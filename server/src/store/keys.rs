//! API keys: found by digest, replaced under guard.

use account_core::guest::network;
use account_core::key::{AccountCaller, GuestCaller, KeyDigest, KeyId, KeyStore, NewKey};
use account_core::{AccountId, GuestId, Notice, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::Store;
use super::engine::lock_account;
use super::notifications::notify;
use super::rows::{
    address_column, column, digest, narrow, number, number_column, statement, stored,
    tier_and_limit, time, time_column,
};

impl KeyStore for Store {
    async fn account_by_key(&self, key: &KeyDigest) -> Result<Option<AccountCaller>, StoreError> {
        let query = "SELECT account.id, api_key.id AS key_id, tier, hourly_limit, credit_balance, last_grant, is_admin \
                     FROM api_key JOIN account ON account.id = api_key.account_id \
                     WHERE digest = $1 AND status = 'active' AND verified_at IS NOT NULL";
        let row = stored(self.readers.query_one_raw(statement(query, [digest(key)])).await)?;
        let Some(row) = row else { return Ok(None) };
        let (tier, hourly_limit) = tier_and_limit(&row)?;
        Ok(Some(AccountCaller {
            id: AccountId(column(&row, "id")?),
            key_id: KeyId(number_column(&row, "key_id")?),
            tier,
            hourly_limit,
            credit_balance: narrow(&row, "credit_balance")?,
            last_grant: narrow(&row, "last_grant")?,
            is_admin: column(&row, "is_admin")?,
        }))
    }

    async fn guest_by_key(&self, key: &KeyDigest) -> Result<Option<GuestCaller>, StoreError> {
        let query = "SELECT id, ip, device_id, platform, credit_balance, created_at, expires_at \
                     FROM guest WHERE digest = $1";
        let row = stored(self.readers.query_one_raw(statement(query, [digest(key)])).await)?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(GuestCaller {
            id: GuestId(column(&row, "id")?),
            network: network(address_column(&row, "ip")?),
            device_id: column(&row, "device_id")?,
            platform: column(&row, "platform")?,
            credit_balance: narrow(&row, "credit_balance")?,
            created_at: time_column(&row, "created_at")?,
            expires_at: time_column(&row, "expires_at")?,
        }))
    }

    async fn replace_key(
        &self,
        account: AccountId,
        old: KeyId,
        new: NewKey,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = self.write().await?;
        lock_account(&change, account).await?;
        // The old ciphertext is wiped: nobody can hand the old key back.
        let revoke = "UPDATE api_key SET status = 'revoked', sealed = $3 \
                      WHERE account_id = $1 AND id = $2 AND status = 'active'";
        let values = [account.0.into(), number(old.0), Vec::<u8>::new().into()];
        let revoked = stored(change.execute_raw(statement(revoke, values)).await)?;
        if revoked.rows_affected() == 0 {
            return Ok(false);
        }
        insert_key(&change, account, new, now).await?;
        notify(&change, account, &Notice::KeyRegenerated, now).await?;
        self.commit_revised(change).await?;
        Ok(true)
    }
}

/// Saves an account's active key.
pub(super) async fn insert_key(
    change: &DatabaseTransaction,
    account: AccountId,
    key: NewKey,
    now: Timestamp,
) -> Result<(), StoreError> {
    let insert = "INSERT INTO api_key (id, account_id, digest, sealed, data_key, status, created_at) \
                  VALUES ($1, $2, $3, $4, $5, 'active', $6)";
    let values = [
        number(key.id.0),
        account.0.into(),
        digest(&key.digest),
        key.sealed.bytes.into(),
        key.sealed.data_key.into(),
        time(now),
    ];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}
