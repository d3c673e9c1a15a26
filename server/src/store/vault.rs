//! Wrapped secrets.

use account_core::StoreError;
use account_core::vault::{SecretKind, VaultStore, WrappedSecret};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::Store;
use super::engine::AdvisoryLock;
use super::rows::{column, named, narrow, statement, stored};

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
