//! What was answered to an account through the gateway, kept for a day.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, text};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(result()).await?;
        for (name, column) in [("result_owner", "account_id"), ("result_made", "created_at")] {
            let index = Index::create().name(name).table("result").col(column).to_owned();
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("result").to_owned()).await
    }
}

fn result() -> TableCreateStatement {
    Table::create()
        .table("result")
        .col(blob("id").primary_key())
        .col(big_integer("account_id"))
        .col(text("body"))
        .col(big_integer("created_at"))
        .foreign_key(
            ForeignKey::create()
                .from("result", "account_id")
                .to("account", "id")
                .on_delete(ForeignKeyAction::Cascade),
        )
        .to_owned()
}
