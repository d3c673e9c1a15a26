//! What owners look at, known clients, and what a clean-up needs to find what is over.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, boolean, string};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [usage_day(), subscription(), known_client(), departed()] {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        // The first day of which no usage row was removed yet.
        let start = Query::insert()
            .into_table("sequence")
            .columns(["name", "value"])
            .values_panic(["usage_since".into(), 0.into()])
            .to_owned();
        manager.execute(start).await?;
        manager.get_connection().execute_unprepared(TALLY).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let end = Query::delete()
            .from_table("sequence")
            .and_where(Expr::col("name").eq("usage_since"))
            .to_owned();
        manager.execute(end).await?;
        for (name, table) in [
            ("guest_expired", "guest"),
            ("session_used", "session"),
            ("session_begun", "session"),
            ("account_form", "account"),
            ("usage_guest", "usage"),
        ] {
            manager.drop_index(Index::drop().name(name).table(table).to_owned()).await?;
        }
        for table in ["departed", "known_client", "subscription", "usage_day"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

/// Sums the calls that were written down before there were tallies.
const TALLY: &str = "INSERT INTO usage_day \
    (account_id, day, endpoint, method, requests, credits, response_time_ms) \
    SELECT account_id, created_at / 86400000000, endpoint, method, count(*), sum(credits), \
    sum(response_time_ms) FROM usage WHERE account_id IS NOT NULL GROUP BY 1, 2, 3, 4";

fn indexes() -> Vec<IndexCreateStatement> {
    let index = |name: &'static str, table: &'static str, column: &'static str| {
        Index::create().name(name).table(table).col(column).to_owned()
    };
    let mut form = index("account_form", "account", "created_at");
    form.and_where(Expr::col("verified_at").is_null());
    let mut of_guest = index("usage_guest", "usage", "guest_id");
    of_guest.and_where(Expr::col("guest_id").is_not_null());
    vec![
        index("guest_expired", "guest", "expires_at"),
        index("session_used", "session", "last_used_at"),
        index("session_begun", "session", "created_at"),
        form,
        of_guest,
        index("usage_day_day", "usage_day", "day"),
        index("known_client_seen", "known_client", "seen_at"),
    ]
}

/// The calls of one account, day, endpoint and method, summed.
fn usage_day() -> TableCreateStatement {
    Table::create()
        .table("usage_day")
        .col(big_integer("account_id"))
        .col(big_integer("day"))
        .col(string("endpoint"))
        .col(string("method"))
        .col(big_integer("requests"))
        .col(big_integer("credits"))
        .col(big_integer("response_time_ms"))
        .primary_key(Index::create().col("account_id").col("day").col("endpoint").col("method"))
        .to_owned()
}

fn subscription() -> TableCreateStatement {
    Table::create()
        .table("subscription")
        .col(big_integer("id").primary_key().auto_increment())
        .col(big_integer("account_id"))
        .col(string("database_name"))
        .col(boolean("is_active"))
        .col(big_integer("created_at"))
        .index(Index::create().unique().col("account_id").col("database_name"))
        .foreign_key(
            ForeignKey::create()
                .from("subscription", "account_id")
                .to("account", "id")
                .on_delete(ForeignKeyAction::Cascade),
        )
        .to_owned()
}

/// Tokens and networks of earlier sign-ins, as digests.
fn known_client() -> TableCreateStatement {
    Table::create()
        .table("known_client")
        .col(blob("recipient"))
        .col(blob("mark"))
        .col(big_integer("seen_at"))
        .primary_key(Index::create().col("recipient").col("mark"))
        .to_owned()
}

/// Deleted accounts whose usage rows are not all nobody's yet.
fn departed() -> TableCreateStatement {
    Table::create()
        .table("departed")
        .col(big_integer("account_id").primary_key())
        .col(big_integer("created_at"))
        .to_owned()
}
