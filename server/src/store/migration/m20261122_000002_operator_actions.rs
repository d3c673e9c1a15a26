//! The record of operators' actions on accounts.
//!
//! Rows outlive their account, so there is no foreign key. Expand step: nothing of an older release
//! reads or writes the table.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, pk_auto, string, string_null};

#[derive(DeriveMigrationName)]
pub(super) struct OperatorActions;

#[derive(DeriveIden)]
enum OperatorAction {
    Table,
    Id,
    AccountId,
    Action,
    Detail,
    Reason,
    CreatedAt,
}

#[async_trait::async_trait]
impl MigrationTrait for OperatorActions {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut table = Table::create();
        table
            .table(OperatorAction::Table)
            .col(pk_auto(OperatorAction::Id))
            .col(big_integer(OperatorAction::AccountId))
            .col(string(OperatorAction::Action))
            .col(string_null(OperatorAction::Detail))
            .col(string_null(OperatorAction::Reason))
            .col(big_integer(OperatorAction::CreatedAt));
        manager.create_table(table).await?;
        let mut index = Index::create();
        index
            .name("operator_action_account")
            .table(OperatorAction::Table)
            .col(OperatorAction::AccountId)
            .col(OperatorAction::Id);
        manager.create_index(index).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(OperatorAction::Table).to_owned()).await
    }
}
