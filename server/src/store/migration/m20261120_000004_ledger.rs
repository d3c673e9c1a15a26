//! The ledger, whose sum is the balance, and the calls behind its usage rows.

use sea_orm::DbBackend;
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, blob, integer, string, string_null,
};

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(ledger()).await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            manager.get_connection().execute_unprepared(USAGE_BY_MONTH).await?;
        } else {
            manager.create_table(usage()).await?;
        }
        let index = |name: &'static str, table: &'static str, columns: &[&'static str]| {
            let mut index = Index::create();
            index.name(name).table(table);
            for column in columns {
                index.col(*column);
            }
            index
        };
        // Rows that are no usage have no day and no endpoint, and nothing is distinct from that.
        let mut one_row_a_day = index("ledger_usage", "ledger", &["account_id", "day", "endpoint"]);
        one_row_a_day.unique();
        for index in [
            one_row_a_day,
            index("ledger_account", "ledger", &["account_id", "id"]),
            index("usage_account", "usage", &["account_id", "created_at"]),
            index("usage_time", "usage", &["created_at"]),
        ] {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["usage", "ledger"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

/// The books outlive their account, so they point to it without a foreign key.
fn ledger() -> TableCreateStatement {
    Table::create()
        .table("ledger")
        .col(big_integer("id").primary_key().auto_increment())
        .col(big_integer("account_id"))
        .col(string("kind"))
        .col(big_integer_null("day"))
        .col(string_null("endpoint"))
        .col(big_integer("credits"))
        .col(big_integer("balance_after"))
        .col(string_null("description"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .to_owned()
}

/// The same on PostgreSQL, in parts by the time of the call, which every unique key has to name: a
/// call that is written twice has the same time both times. `usage_rest` holds what has no part.
const USAGE_BY_MONTH: &str = "\
    CREATE TABLE usage ( \
      id bigserial NOT NULL, request_id bytea NOT NULL, account_id bigint, guest_id bigint, \
      endpoint varchar NOT NULL, method varchar NOT NULL, status integer NOT NULL, \
      credits integer NOT NULL, response_time_ms bigint NOT NULL, ip varchar NOT NULL, \
      created_at bigint NOT NULL, \
      PRIMARY KEY (id, created_at), UNIQUE (request_id, created_at) \
    ) PARTITION BY RANGE (created_at); \
    CREATE TABLE usage_rest PARTITION OF usage DEFAULT";

/// Calls outlive their caller, so they point to it without a foreign key.
fn usage() -> TableCreateStatement {
    Table::create()
        .table("usage")
        .col(big_integer("id").primary_key().auto_increment())
        .col(blob("request_id").unique_key())
        .col(big_integer_null("account_id"))
        .col(big_integer_null("guest_id"))
        .col(string("endpoint"))
        .col(string("method"))
        .col(integer("status"))
        .col(integer("credits"))
        .col(big_integer("response_time_ms"))
        .col(string("ip"))
        .col(big_integer("created_at"))
        .to_owned()
}
