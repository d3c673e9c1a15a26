//! Guests: the digest of their key and the device they named, and how many are made in a day.

use std::collections::HashMap;
use std::net::IpAddr;

use account_core::guest::{self, CreationLimits, GuestStore, NetworkCount, NewGuest};
use account_core::{GuestId, StoreError, Timestamp};
use sea_orm::ConnectionTrait;

use super::Store;
use super::rows::{
    address_column, column, credits, digest, malformed, narrow, statement, stored, time,
};

const MICROSECONDS_A_MINUTE: i64 = 60_000_000;

impl GuestStore for Store {
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
                // What was counted until here goes with the transaction.
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
        // Along the live guests: theirs are the only calls that still count.
        let query = "SELECT guest.ip, usage.created_at / $2 AS minute, count(*) AS calls \
                     FROM guest JOIN usage ON usage.guest_id = guest.id \
                     WHERE guest.expires_at > $1 AND usage.created_at >= $1 \
                     AND usage.status <> 429 GROUP BY guest.ip, minute";
        let values = [time(since), MICROSECONDS_A_MINUTE.into()];
        let rows = stored(self.readers.query_all_raw(statement(query, values)).await)?;
        let mut counts: HashMap<(IpAddr, i64), u32> = HashMap::new();
        for row in &rows {
            let network = guest::network(address_column(row, "ip")?);
            *counts.entry((network, column(row, "minute")?)).or_default() +=
                narrow::<u32>(row, "calls")?;
        }
        let count = |((network, minute), calls)| NetworkCount { network, minute, calls };
        Ok(counts.into_iter().map(count).collect())
    }
}
