//! How many guest keys were made in a UTC day, by whom.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, string};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // The day first: whole days go at once.
        let count = Table::create()
            .table("guest_count")
            .col(big_integer("day"))
            .col(string("scope"))
            .col(big_integer("guests"))
            .primary_key(Index::create().col("day").col("scope"))
            .to_owned();
        manager.create_table(count).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("guest_count").to_owned()).await
    }
}
