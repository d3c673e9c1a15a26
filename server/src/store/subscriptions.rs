//! Subscriptions to databases.

use account_core::accounts::SubscriptionStore;
use account_core::{AccountId, StoreError, Subscription, Timestamp};
use sea_orm::{ConnectionTrait, QueryResult};

use super::Store;
use super::rows::{column, statement, stored, time, time_column};

impl SubscriptionStore for Store {
    async fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> Result<Option<Subscription>, StoreError> {
        let insert = "INSERT INTO subscription (account_id, database_name, is_active, created_at) \
                      VALUES ($1, $2, TRUE, $3) ON CONFLICT DO NOTHING \
                      RETURNING id, database_name, is_active, created_at";
        let values = [account.0.into(), database_name.into(), time(now)];
        let change = self.write().await?;
        let row = stored(change.query_one_raw(statement(insert, values)).await)?;
        stored(change.commit().await)?;
        row.as_ref().map(subscription).transpose()
    }

    async fn subscriptions(&self, account: AccountId) -> Result<Vec<Subscription>, StoreError> {
        let query = "SELECT id, database_name, is_active, created_at FROM subscription \
                     WHERE account_id = $1 ORDER BY id";
        let query = statement(query, [account.0.into()]);
        let rows = stored(self.readers.query_all_raw(query).await)?;
        rows.iter().map(subscription).collect()
    }
}

fn subscription(row: &QueryResult) -> Result<Subscription, StoreError> {
    Ok(Subscription {
        id: column(row, "id")?,
        database_name: column(row, "database_name")?,
        is_active: column(row, "is_active")?,
        subscribed_at: time_column(row, "created_at")?,
    })
}
