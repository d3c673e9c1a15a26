//! API keys, found by digest and replaced by a conditional update, and the guests with guest keys.

use std::collections::HashMap;
use std::net::IpAddr;

use account_core::guest::{self, CreationLimits, NetworkCount, NewGuest, network};
use account_core::key::{AccountCaller, GuestCaller, KeyDigest, KeyId, NewKey};
use account_core::store::KeyStore;
use account_core::{AccountId, GuestId, Notice, Operation, SecurityEvent, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::engine::lock_account;
use super::handle::Store;
use super::notifications::notify;
use super::operator_actions::record;
use super::revocation::end_credentials;
use super::rows::{
    address_column, column, credits, digest, malformed, narrow, number, number_column, statement,
    stored, tier_and_limit, time, time_column,
};

const MICROSECONDS_A_MINUTE: i64 = 60_000_000;

impl KeyStore for Store {
    async fn account_by_key(&self, key: &KeyDigest) -> Result<Option<AccountCaller>, StoreError> {
        let query = "SELECT account.id, api_key.id AS key_id, tier, hourly_limit, credit_balance, last_grant, \
                     spend_cap_per_day IS NOT NULL AS is_capped, is_admin \
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
            is_capped: column(&row, "is_capped")?,
            is_admin: column(&row, "is_admin")?,
        }))
    }

    async fn current_key(&self, account: AccountId) -> Result<Option<KeyId>, StoreError> {
        let query = "SELECT id FROM api_key WHERE account_id = $1 AND status <> 'revoked'";
        let query = statement(query, [account.0.into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.map(|row| number_column(&row, "id").map(KeyId)).transpose()
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
        operation: Option<Operation>,
    ) -> Result<bool, StoreError> {
        let change = self.write().await?;
        lock_account(&change, account).await?;
        // The old ciphertext is wiped, so that the old key can never be returned again.
        let revoke = "UPDATE api_key SET status = 'revoked', sealed = $3 \
                      WHERE account_id = $1 AND id = $2 AND status = 'active'";
        let values = [account.0.into(), number(old.0), Vec::<u8>::new().into()];
        let revoked = stored(change.execute_raw(statement(revoke, values)).await)?;
        if revoked.rows_affected() == 0 {
            return Ok(false);
        }
        insert_key(&change, account, new, now).await?;
        let event = SecurityEvent::KeyRegenerated;
        end_credentials(&change, account, event, None).await?;
        notify(&change, account, &Notice::KeyRegenerated, now).await?;
        record(&change, account, operation).await?;
        self.commit_event(change, event).await?;
        Ok(true)
    }

    async fn create_guest(
        &self,
        guest: NewGuest,
        limits: CreationLimits,
    ) -> Result<Option<GuestId>, StoreError> {
        let change = self.write().await?;
        let day = guest::day(guest.created_at);
        for (scope, limit) in limits.counts(&guest) {
            let count = "INSERT INTO guest_count (scope, day, guests) VALUES ($1, $2, 1) \
                         ON CONFLICT (scope, day) DO UPDATE SET guests = guest_count.guests + 1 \
                         WHERE guest_count.guests < $3";
            let values = [scope.into(), day.into(), i64::from(limit.get()).into()];
            let counted = stored(change.execute_raw(statement(count, values)).await)?;
            if counted.rows_affected() == 0 {
                // The rollback of the transaction removes the counts that were increased before.
                return Ok(None);
            }
        }
        let insert = "INSERT INTO guest (digest, device_id, device_name, platform, ip, credit_balance, created_at, expires_at) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id";
        let values = [
            digest(&guest.digest),
            guest.device.device_id.into(),
            guest.device.device_name.into(),
            guest.device.platform.into(),
            guest.address.to_string().into(),
            credits(guest.credits),
            time(guest.created_at),
            time(guest.expires_at),
        ];
        let row = stored(change.query_one_raw(statement(insert, values)).await)?;
        let id = GuestId(column(&row.ok_or_else(|| malformed("id"))?, "id")?);
        stored(change.commit().await)?;
        Ok(Some(id))
    }

    async fn guest_calls(&self, since: Timestamp) -> Result<Vec<NetworkCount>, StoreError> {
        // The query reads the unexpired guests, because only their calls still count.
        let query = "SELECT guest.ip, usage.created_at / $2 AS minute, count(*) AS calls \
                     FROM guest JOIN usage ON usage.guest_id = guest.id \
                     WHERE guest.expires_at > $1 AND usage.created_at >= $1 \
                     AND usage.status <> 429 GROUP BY guest.ip, minute";
        let values = [time(since), MICROSECONDS_A_MINUTE.into()];
        let rows = stored(self.readers.query_all_raw(statement(query, values)).await)?;
        let mut counts: HashMap<(IpAddr, i64), u32> = HashMap::new();
        for row in &rows {
            let network = network(address_column(row, "ip")?);
            *counts.entry((network, column(row, "minute")?)).or_default() +=
                narrow::<u32>(row, "calls")?;
        }
        let count = |((network, minute), calls)| NetworkCount { network, minute, calls };
        Ok(counts.into_iter().map(count).collect())
    }
}

/// Inserts the row of an account's active key.
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
