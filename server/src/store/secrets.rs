//! Wrapped secrets, and the iteration over sealed rows in the order of their numbers.

use account_core::identity::NOBODY;
use account_core::store::{Resealed, SealedRow, VaultStore};
use account_core::vault::{Sealed, SealedKind, SecretKind, WrappedSecret};
use account_core::{AccountId, StoreError};
use sea_orm::{ConnectionTrait, DatabaseTransaction, Value};

use super::engine::AdvisoryLock;
use super::handle::Store;
use super::rows::{column, named, narrow, number, number_column, statement, stored};

impl VaultStore for Store {
    async fn secrets(&self) -> Result<Vec<WrappedSecret>, StoreError> {
        read(&self.readers).await
    }

    async fn save_secrets(&self, rows: Vec<WrappedSecret>) -> Result<bool, StoreError> {
        let change = self.write_locked(AdvisoryLock::Secrets).await?;
        if !read(&*change).await?.is_empty() {
            return Ok(false);
        }
        insert(&change, rows).await?;
        stored(change.commit().await)?;
        Ok(true)
    }

    async fn replace_secrets(&self, rows: Vec<WrappedSecret>) -> Result<(), StoreError> {
        let change = self.write_locked(AdvisoryLock::Secrets).await?;
        stored(change.execute_raw(statement("DELETE FROM secret", [])).await)?;
        insert(&change, rows).await?;
        stored(change.commit().await)
    }

    async fn sealed_rows(
        &self,
        kind: SealedKind,
        after: Option<u128>,
        limit: u32,
    ) -> Result<Vec<SealedRow>, StoreError> {
        let query = match kind {
            // Sealed forms are in browsers and not in the database.
            SealedKind::Form => return Ok(Vec::new()),
            SealedKind::ApiKey => {
                "SELECT id, account_id, sealed, data_key FROM api_key \
                 WHERE id > $1 AND length(sealed) > 0 ORDER BY id LIMIT $2"
            }
            SealedKind::OutboundMessage => {
                "SELECT id, sealed, data_key FROM outbound_message \
                 WHERE id > $1 AND length(sealed) > 0 ORDER BY id LIMIT $2"
            }
        };
        // The empty byte string sorts before every number.
        let after: Value = after.map_or_else(|| Vec::<u8>::new().into(), number);
        let query = statement(query, [after, limit.into()]);
        let rows = stored(self.readers.query_all_raw(query).await)?;
        let sealed_row = |row| {
            let account = match kind {
                SealedKind::ApiKey => AccountId(column(row, "account_id")?),
                SealedKind::OutboundMessage | SealedKind::Form => NOBODY,
            };
            let sealed =
                Sealed { data_key: narrow(row, "data_key")?, bytes: column(row, "sealed")? };
            Ok(SealedRow { account, row: number_column(row, "id")?, sealed })
        };
        rows.iter().map(sealed_row).collect()
    }

    async fn reseal(&self, kind: SealedKind, rows: Vec<Resealed>) -> Result<u64, StoreError> {
        let update = match kind {
            SealedKind::Form => return Ok(0),
            SealedKind::ApiKey => {
                "UPDATE api_key SET sealed = $2, data_key = $3 WHERE id = $1 AND sealed = $4"
            }
            SealedKind::OutboundMessage => {
                "UPDATE outbound_message SET sealed = $2, data_key = $3 WHERE id = $1 AND sealed = $4"
            }
        };
        let change = self.write().await?;
        let mut changed = 0;
        for Resealed { row, old, new } in rows {
            let values = [number(row), new.bytes.into(), new.data_key.into(), old.bytes.into()];
            changed += stored(change.execute_raw(statement(update, values)).await)?.rows_affected();
        }
        stored(change.commit().await)?;
        Ok(changed)
    }
}

async fn read(connection: &impl ConnectionTrait) -> Result<Vec<WrappedSecret>, StoreError> {
    let query = statement("SELECT kind, id, wrapped FROM secret", []);
    let rows = stored(connection.query_all_raw(query).await)?;
    let secret = |row| {
        Ok(WrappedSecret {
            kind: named(row, "kind", &SecretKind::ALL, SecretKind::name)?,
            id: narrow(row, "id")?,
            wrapped: column(row, "wrapped")?,
        })
    };
    rows.iter().map(secret).collect()
}

async fn insert(change: &DatabaseTransaction, rows: Vec<WrappedSecret>) -> Result<(), StoreError> {
    for row in rows {
        let insert = "INSERT INTO secret (kind, id, wrapped) VALUES ($1, $2, $3)";
        let values = [row.kind.name().into(), row.id.into(), row.wrapped.into()];
        stored(change.execute_raw(statement(insert, values)).await)?;
    }
    Ok(())
}
