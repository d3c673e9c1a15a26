//! Accounts, their keys and sessions, and guests.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, blob, boolean, integer, string, string_null,
};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [account(), api_key(), session(), guest()] {
            manager.create_table(table).await?;
        }
        let one_key_in_use = Index::create()
            .name("api_key_in_use")
            .table("api_key")
            .col("account_id")
            .unique()
            .and_where(Expr::col("status").ne("revoked"))
            .to_owned();
        manager.create_index(one_key_in_use).await?;
        for (name, table) in [("api_key_account", "api_key"), ("session_account", "session")] {
            let index = Index::create().name(name).table(table).col("account_id").to_owned();
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["guest", "session", "api_key", "account"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

/// An unverified registration is an account without `verified_at`.
fn account() -> TableCreateStatement {
    Table::create()
        .table("account")
        .col(big_integer("id").primary_key())
        .col(string("email").unique_key())
        .col(string("username"))
        .col(string("username_key").unique_key())
        .col(string_null("password_hash"))
        .col(string_null("phone"))
        .col(string_null("country"))
        .col(string_null("country_code"))
        .col(string("tier"))
        .col(big_integer_null("hourly_limit"))
        .col(big_integer("credit_balance"))
        .col(boolean("is_admin"))
        .col(boolean("mfa_enabled"))
        .col(big_integer("created_at"))
        .col(big_integer_null("verified_at"))
        .col(big_integer_null("last_login_at"))
        .check(Expr::col("credit_balance").gte(0))
        .to_owned()
}

fn api_key() -> TableCreateStatement {
    Table::create()
        .table("api_key")
        .col(blob("id").primary_key())
        .col(big_integer("account_id"))
        .col(blob("digest").unique_key())
        .col(blob("sealed"))
        .col(integer("data_key"))
        .col(string("status"))
        .col(big_integer("created_at"))
        .foreign_key(&mut of_account("api_key"))
        .to_owned()
}

fn session() -> TableCreateStatement {
    Table::create()
        .table("session")
        .col(blob("digest").primary_key())
        .col(big_integer("account_id"))
        .col(big_integer("created_at"))
        .col(big_integer("last_used_at"))
        .foreign_key(&mut of_account("session"))
        .to_owned()
}

fn guest() -> TableCreateStatement {
    Table::create()
        .table("guest")
        .col(big_integer("id").primary_key().auto_increment())
        .col(blob("digest").unique_key())
        .col(string("device_id"))
        .col(string_null("device_name"))
        .col(string_null("platform"))
        .col(string("ip"))
        .col(big_integer("credit_balance"))
        .col(big_integer("created_at"))
        .col(big_integer("expires_at"))
        .check(Expr::col("credit_balance").gte(0))
        .to_owned()
}

fn of_account(table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .from(table, "account_id")
        .to("account", "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}
