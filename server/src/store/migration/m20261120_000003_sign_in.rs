//! Codes, letters, wrong passwords and the login history.

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
        for table in [challenge(), message(), lockout(), login_try()] {
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
        let mut due = index("letter_due", "letter", &["due_at"]);
        due.and_where(Expr::col("due_at").is_not_null());
        let mut sent = index("letter_sent", "letter", &["created_at"]);
        sent.and_where(Expr::col("due_at").is_null());
        let mut one_challenge =
            index("challenge_recipient", "challenge", &["recipient", "purpose"]);
        one_challenge.unique();
        let mut nobodys = index("login_try_nobody", "login_try", &["created_at"]);
        nobodys.and_where(Expr::col("account_id").is_null());
        for index in [
            one_challenge,
            index("challenge_made", "challenge", &["created_at"]),
            index("challenge_account", "challenge", &["account_id", "purpose"]),
            index("letter_recipient", "letter", &["recipient", "purpose", "created_at"]),
            index("lockout_quiet", "lockout", &["last_try_at"]),
            index("login_try_account", "login_try", &["account_id", "id"]),
            index("login_try_status", "login_try", &["account_id", "status"]),
            index("login_try_made", "login_try", &["created_at"]),
            nobodys,
            due,
            sent,
        ] {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["login_try", "lockout", "letter", "challenge"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

/// A challenge at an address without an account is nobody's: it stands in for one.
fn challenge() -> TableCreateStatement {
    Table::create()
        .table("challenge")
        .col(blob("id").primary_key())
        .col(big_integer_null("account_id"))
        .col(string("purpose"))
        .col(blob("recipient"))
        .col(blob("digest"))
        .col(big_integer("created_at"))
        .col(integer("tries"))
        .col(integer("token_tries"))
        .col(boolean("used"))
        .foreign_key(&mut of_account("challenge"))
        .to_owned()
}

/// Letters count for their recipient's budget whether or not there is an account, and after they
/// were sent: then their text is wiped and they are due no more.
fn message() -> TableCreateStatement {
    Table::create()
        .table("letter")
        .col(blob("id").primary_key())
        .col(blob("recipient"))
        .col(string_null("purpose"))
        .col(blob("sealed"))
        .col(integer("data_key"))
        .col(big_integer("created_at"))
        .col(big_integer_null("due_at"))
        .col(integer("failures"))
        .to_owned()
}

/// Tries are counted for all strangers together, and apart for each client that is known.
fn lockout() -> TableCreateStatement {
    Table::create()
        .table("lockout")
        .col(blob("recipient"))
        .col(blob("counter"))
        .col(integer("tries"))
        .col(integer("failures"))
        .col(big_integer("last_try_at"))
        .col(big_integer_null("locked_until"))
        .primary_key(Index::create().col("recipient").col("counter"))
        .to_owned()
}

/// A try at an unknown address has no account.
fn login_try() -> TableCreateStatement {
    Table::create()
        .table("login_try")
        .col(big_integer("id").primary_key().auto_increment())
        .col(big_integer_null("account_id"))
        .col(string("ip"))
        .col(string("user_agent"))
        .col(string("status"))
        .col(string("method"))
        .col(big_integer("created_at"))
        .foreign_key(&mut of_account("login_try"))
        .to_owned()
}

fn of_account(table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .from(table, "account_id")
        .to("account", "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}
