//! Answers kept for requests that are sent again under their key.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, blob, text_null};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(kept_answer()).await?;
        let mut index = Index::create();
        index.name("kept_answer_end").table("kept_answer").col("expires_at");
        manager.create_index(index).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("kept_answer").to_owned()).await
    }
}

/// A slot is the digest of a caller, an endpoint and a key, so nothing points to an account.
fn kept_answer() -> TableCreateStatement {
    Table::create()
        .table("kept_answer")
        .col(blob("slot").primary_key())
        .col(blob("request"))
        .col(blob("run"))
        .col(big_integer("held_until"))
        .col(big_integer("expires_at"))
        .col(text_null("body"))
        .col(big_integer_null("cost"))
        .col(big_integer_null("balance"))
        .to_owned()
}
