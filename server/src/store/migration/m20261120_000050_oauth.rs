//! Clients of the OAuth server, the codes and grants they were given, and their tokens.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, blob, blob_null, string, text};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [client(), code(), grant(), token()] {
            manager.create_table(table).await?;
        }
        let index = |name: &'static str, table: &'static str, columns: &[&'static str]| {
            let mut index = Index::create();
            index.name(name).table(table);
            for column in columns {
                index.col(*column);
            }
            index
        };
        let mut unused = index("oauth_client_unused", "oauth_client", &["created_at"]);
        unused.and_where(Expr::col("last_used_at").is_null());
        for index in [
            unused,
            index("oauth_client_idle", "oauth_client", &["last_used_at"]),
            index("oauth_code_made", "oauth_code", &["created_at"]),
            index("oauth_code_account", "oauth_code", &["account_id"]),
            index("oauth_code_client", "oauth_code", &["client_id"]),
            index("oauth_grant_account", "oauth_grant", &["account_id", "created_at"]),
            index("oauth_grant_client", "oauth_grant", &["client_id"]),
            index("oauth_grant_expires", "oauth_grant", &["expires_at"]),
            index("oauth_token_grant", "oauth_token", &["grant_id"]),
            index("oauth_token_expires", "oauth_token", &["expires_at"]),
        ] {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["oauth_token", "oauth_grant", "oauth_code", "oauth_client"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

/// The redirect URIs are a JSON array: they are read and written together.
fn client() -> TableCreateStatement {
    Table::create()
        .table("oauth_client")
        .col(string("id").primary_key())
        .col(text("name"))
        .col(text("redirect_uris"))
        .col(big_integer("created_at"))
        .col(big_integer_null("last_used_at"))
        .to_owned()
}

/// A code names the grant that came of it, even where that has ended.
fn code() -> TableCreateStatement {
    Table::create()
        .table("oauth_code")
        .col(blob("digest").primary_key())
        .col(big_integer("account_id"))
        .col(string("client_id"))
        .col(text("redirect_uri"))
        .col(string("challenge"))
        .col(text("resource"))
        .col(big_integer("created_at"))
        .col(blob_null("grant_id"))
        .foreign_key(&mut of("oauth_code", "account_id", "account"))
        .foreign_key(&mut of("oauth_code", "client_id", "oauth_client"))
        .to_owned()
}

/// A grant expires with its last refresh token.
fn grant() -> TableCreateStatement {
    Table::create()
        .table("oauth_grant")
        .col(blob("id").primary_key())
        .col(big_integer("account_id"))
        .col(string("client_id"))
        .col(text("resource"))
        .col(big_integer("created_at"))
        .col(big_integer("last_used_at"))
        .col(big_integer("expires_at"))
        .foreign_key(&mut of("oauth_grant", "account_id", "account"))
        .foreign_key(&mut of("oauth_grant", "client_id", "oauth_client"))
        .to_owned()
}

/// Access tokens and refresh tokens; the latter stay after their use.
fn token() -> TableCreateStatement {
    Table::create()
        .table("oauth_token")
        .col(blob("digest").primary_key())
        .col(blob("grant_id"))
        .col(string("kind"))
        .col(big_integer("created_at"))
        .col(big_integer("expires_at"))
        .col(big_integer_null("used_at"))
        .foreign_key(&mut of("oauth_token", "grant_id", "oauth_grant"))
        .to_owned()
}

fn of(table: &'static str, column: &'static str, whose: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .from(table, column)
        .to(whose, "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}
