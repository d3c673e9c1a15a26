//! Notices, broadcasts, who read what, preferences; the last grant, and the lanes of the outbox.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, string, string_null, text_null,
};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [notification(), broadcast(), mark(), read_mark(), preference()] {
            manager.create_table(table).await?;
        }
        let channel =
            Table::alter().table("letter").add_column(string("lane").default("mail")).to_owned();
        let last_grant = Table::alter()
            .table("account")
            .add_column(big_integer("last_grant").default(0))
            .to_owned();
        manager.alter_table(channel).await?;
        manager.alter_table(last_grant).await?;
        let database = manager.get_connection();
        database.execute_unprepared(LAST_GRANT).await?;
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let index = Index::drop().name("letter_lane").table("letter").to_owned();
        manager.drop_index(index).await?;
        let channel = Table::alter().table("letter").drop_column("lane").to_owned();
        manager.alter_table(channel).await?;
        let last_grant = Table::alter().table("account").drop_column("last_grant").to_owned();
        manager.alter_table(last_grant).await?;
        for table in ["preference", "inbox_mark", "notification_mark", "broadcast", "notification"]
        {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

/// Of the accounts that there are already.
const LAST_GRANT: &str = "UPDATE account SET last_grant = coalesce(\
    (SELECT credits FROM ledger WHERE account_id = account.id \
     AND kind IN ('signup_grant', 'admin_grant') ORDER BY id DESC LIMIT 1), 0)";

fn indexes() -> Vec<IndexCreateStatement> {
    let index = |name: &'static str, table: &'static str, columns: &[&'static str]| {
        let mut index = Index::create();
        index.name(name).table(table);
        for column in columns {
            index.col(*column);
        }
        index
    };
    let mut broadcasts = index("notification_broadcast", "notification", &["id"]);
    broadcasts.and_where(Expr::col("account_id").is_null());
    let mut unread = index("notification_unread", "notification", &["account_id"]);
    unread.and_where(Expr::col("read_at").is_null());
    let mut waiting = index("broadcast_waiting", "broadcast", &["notification_id"]);
    waiting.and_where(Expr::col("is_done").eq(false));
    let mut channel = index("letter_lane", "letter", &["lane", "due_at", "created_at"]);
    channel.and_where(Expr::col("due_at").is_not_null());
    vec![
        index("notification_account", "notification", &["account_id", "id"]),
        index("notification_written", "notification", &["created_at"]),
        index("notification_mark_of", "notification_mark", &["notification_id"]),
        broadcasts,
        unread,
        waiting,
        channel,
    ]
}

/// A notice is one account's; a broadcast is nobody's, and seen by all. They are counted together,
/// so that one number names one of them.
fn notification() -> TableCreateStatement {
    Table::create()
        .table("notification")
        .col(big_integer("id").primary_key().auto_increment())
        .col(big_integer_null("account_id"))
        .col(string("category"))
        .col(string("title"))
        .col(string_null("description"))
        .col(text_null("message"))
        .col(big_integer("created_at"))
        .col(big_integer_null("read_at"))
        .foreign_key(&mut of_account("notification"))
        .to_owned()
}

/// How far letters and messages of a broadcast have come along the accounts' numbers.
fn broadcast() -> TableCreateStatement {
    Table::create()
        .table("broadcast")
        .col(big_integer("notification_id").primary_key())
        .col(boolean("in_app"))
        .col(boolean("email"))
        .col(boolean("messaging"))
        .col(big_integer("reached"))
        .col(boolean("is_done"))
        .foreign_key(&mut of_notification("broadcast"))
        .to_owned()
}

/// That an account read or deleted one broadcast; made when it does.
fn mark() -> TableCreateStatement {
    Table::create()
        .table("notification_mark")
        .col(big_integer("account_id"))
        .col(big_integer("notification_id"))
        .col(big_integer_null("read_at"))
        .col(boolean("deleted"))
        .primary_key(Index::create().col("account_id").col("notification_id"))
        .foreign_key(&mut of_account("notification_mark"))
        .foreign_key(&mut of_notification("notification_mark"))
        .to_owned()
}

/// That an account read all broadcasts up to one.
fn read_mark() -> TableCreateStatement {
    Table::create()
        .table("inbox_mark")
        .col(big_integer("account_id"))
        .col(big_integer("up_to"))
        .col(big_integer("read_at"))
        .primary_key(Index::create().col("account_id").col("up_to"))
        .foreign_key(&mut of_account("inbox_mark"))
        .to_owned()
}

/// An account without a row has never said anything.
fn preference() -> TableCreateStatement {
    Table::create()
        .table("preference")
        .col(big_integer("account_id").primary_key())
        .col(boolean("notify_email"))
        .col(boolean("notify_messaging"))
        .col(boolean("notify_in_app"))
        .col(string_null("messaging_chat_id"))
        .col(big_integer_null("tested_at"))
        .foreign_key(&mut of_account("preference"))
        .to_owned()
}

fn of_account(table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .from(table, "account_id")
        .to("account", "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}

fn of_notification(table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .from(table, "notification_id")
        .to("notification", "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}
