//! What several instances have leased of each caller's limit.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, boolean, text};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // No index on the time: a change of a row then touches no index at all.
        let shared = Table::create()
            .table("shared_limit")
            .col(boolean("is_guest"))
            .col(big_integer("caller_id"))
            .col(text("shared"))
            .col(big_integer("leased_at"))
            .primary_key(Index::create().col("is_guest").col("caller_id"))
            .to_owned();
        manager.create_table(shared).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("shared_limit").to_owned()).await
    }
}
