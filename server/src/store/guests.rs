//! Guests: the digest of their key and the device they named.

use account_core::guest::{GuestStore, NewGuest};
use account_core::{GuestId, StoreError};
use sea_orm::ConnectionTrait;

use super::Store;
use super::rows::{column, credits, digest, malformed, statement, stored, time};

impl GuestStore for Store {
    async fn create_guest(&self, guest: NewGuest) -> Result<GuestId, StoreError> {
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
        let row = stored(self.writer.query_one_raw(statement(insert, values)).await)?;
        Ok(GuestId(column(&row.ok_or_else(|| malformed("id"))?, "id")?))
    }
}
