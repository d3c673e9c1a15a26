//! Identities at a provider, browsers on their way there and back, profiles that wait, hand-offs.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, string, string_null};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [identity(), start(), completion(), hand_off()] {
            manager.create_table(table).await?;
        }
        let index = |name: &'static str, table: &'static str, column: &'static str| {
            Index::create().name(name).table(table).col(column).to_owned()
        };
        for index in [
            index("idp_identity_account", "idp_identity", "account_id"),
            index("idp_start_made", "idp_start", "created_at"),
            index("idp_completion_made", "idp_completion", "created_at"),
            index("hand_off_made", "hand_off", "created_at"),
            index("hand_off_account", "hand_off", "account_id"),
        ] {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["hand_off", "idp_completion", "idp_start", "idp_identity"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

/// An account is known by issuer and subject; an address is not asked.
fn identity() -> TableCreateStatement {
    Table::create()
        .table("idp_identity")
        .col(string("issuer"))
        .col(string("subject"))
        .col(big_integer("account_id"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("issuer").col("subject"))
        .foreign_key(&mut of_account("idp_identity"))
        .to_owned()
}

/// State and cookie as digests; nonce and verifier follow from the state.
fn start() -> TableCreateStatement {
    Table::create()
        .table("idp_start")
        .col(blob("state").primary_key())
        .col(blob("browser"))
        .col(string_null("desktop"))
        .col(big_integer("created_at"))
        .to_owned()
}

fn completion() -> TableCreateStatement {
    Table::create()
        .table("idp_completion")
        .col(blob("digest").primary_key())
        .col(string("issuer"))
        .col(string("subject"))
        .col(string("email"))
        .col(string_null("desktop"))
        .col(big_integer("created_at"))
        .to_owned()
}

fn hand_off() -> TableCreateStatement {
    Table::create()
        .table("hand_off")
        .col(blob("digest").primary_key())
        .col(big_integer("account_id"))
        .col(string("method"))
        .col(big_integer("created_at"))
        .foreign_key(&mut of_account("hand_off"))
        .to_owned()
}

fn of_account(table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .from(table, "account_id")
        .to("account", "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}
