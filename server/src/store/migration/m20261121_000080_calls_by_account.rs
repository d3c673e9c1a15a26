//! On SQLite the calls of each account are sorted into a table of their own, some time after they
//! were made; see `calls_by_account`. PostgreSQL keeps its index.

use sea_orm::DbBackend;
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

/// What is there already is sorted at once.
const UP: &str = "\
    CREATE TABLE call_by_account ( \
      account_id bigint NOT NULL, created_at bigint NOT NULL, call_id bigint NOT NULL, \
      PRIMARY KEY (account_id, created_at, call_id) \
    ) WITHOUT ROWID; \
    INSERT INTO call_by_account SELECT account_id, created_at, id FROM usage \
      WHERE account_id IS NOT NULL ORDER BY account_id, created_at, id; \
    INSERT INTO sequence (name, value) SELECT 'calls_sorted', coalesce(max(id), 0) FROM usage; \
    DROP INDEX usage_account";

const DOWN: &str = "\
    DELETE FROM sequence WHERE name = 'calls_sorted'; \
    DROP TABLE call_by_account";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Sqlite {
            manager.get_connection().execute_unprepared(UP).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() != DbBackend::Sqlite {
            return Ok(());
        }
        manager.get_connection().execute_unprepared(DOWN).await?;
        let mut index = Index::create();
        index.name("usage_account").table("usage").col("account_id").col("created_at");
        manager.create_index(index).await
    }
}
