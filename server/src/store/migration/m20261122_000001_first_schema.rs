//! The first schema: every table and index, and the initial counters.
//!
//! The SQL is written once for each engine, because types, generated ids and the partitions of
//! `usage` differ.

use sea_orm::DbBackend;
use sea_orm_migration::prelude::*;

const SQLITE: &str = include_str!("first_schema/sqlite.sql");
const POSTGRES: &str = include_str!("first_schema/postgres.sql");
const DOWN: &str = include_str!("first_schema/down.sql");

#[derive(DeriveMigrationName)]
pub(super) struct FirstSchema;

#[async_trait::async_trait]
impl MigrationTrait for FirstSchema {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let up = match manager.get_database_backend() {
            DbBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        manager.get_connection().execute_unprepared(up).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared(DOWN).await?;
        Ok(())
    }
}
