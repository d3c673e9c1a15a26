//! Wrapped secrets, and numbers that are handed out once.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, integer, string};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let secret = Table::create()
            .table("secret")
            .col(string("kind"))
            .col(integer("id"))
            .col(blob("wrapped"))
            .primary_key(Index::create().col("kind").col("id"))
            .to_owned();
        manager.create_table(secret).await?;
        let sequence = Table::create()
            .table("sequence")
            .col(string("name").primary_key())
            .col(big_integer("value"))
            .to_owned();
        manager.create_table(sequence).await?;
        // `account` counts the numbers of accounts, `revision` the changes that make cached keys
        // wrong.
        let start = Query::insert()
            .into_table("sequence")
            .columns(["name", "value"])
            .values_panic(["account".into(), 0.into()])
            .values_panic(["revision".into(), 0.into()])
            .to_owned();
        manager.execute(start).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["sequence", "secret"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}
