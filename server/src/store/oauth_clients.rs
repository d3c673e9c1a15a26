//! Clients of the OAuth server.

use account_core::oauth::{Client, ClientId, ClientName, ClientStore, RedirectUri};
use account_core::{StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use serde_json::json;

use super::Store;
use super::rows::{column, malformed, statement, stored, time, time_column};

/// A client that was used within this time is not marked again.
const TOUCH: chrono::TimeDelta = account_core::oauth::grant::TOUCH;

impl ClientStore for Store {
    async fn register_client(&self, client: Client) -> Result<(), StoreError> {
        let uris: Vec<&str> = client.redirect_uris.iter().map(RedirectUri::as_str).collect();
        let insert = "INSERT INTO oauth_client (id, name, redirect_uris, created_at) \
                      VALUES ($1, $2, $3, $4)";
        let values = [
            client.id.as_str().into(),
            client.name.as_str().into(),
            json!(uris).to_string().into(),
            time(client.created_at),
        ];
        self.execute(statement(insert, values)).await?;
        Ok(())
    }

    async fn client(&self, id: &ClientId) -> Result<Option<Client>, StoreError> {
        let query = "SELECT name, redirect_uris, created_at FROM oauth_client WHERE id = $1";
        let query = statement(query, [id.as_str().into()]);
        let Some(row) = stored(self.readers.query_one_raw(query).await)? else { return Ok(None) };
        let uris: String = column(&row, "redirect_uris")?;
        let uris: Vec<String> = serde_json::from_str(&uris).map_err(StoreError::new)?;
        let redirect_uris = uris.iter().map(|uri| RedirectUri::parse(uri));
        Ok(Some(Client {
            id: id.clone(),
            name: ClientName::clean(&column::<String>(&row, "name")?),
            redirect_uris: redirect_uris
                .collect::<Result<_, _>>()
                .map_err(|_| malformed("redirect_uris"))?,
            created_at: time_column(&row, "created_at")?,
        }))
    }
}

/// Marks a client as used, where that was not done lately.
pub(super) async fn touch_client(
    change: &DatabaseTransaction,
    client: &ClientId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let touch = "UPDATE oauth_client SET last_used_at = $2 \
                 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
    let values = [client.as_str().into(), time(now), time(now - TOUCH)];
    stored(change.execute_raw(statement(touch, values)).await)?;
    Ok(())
}
