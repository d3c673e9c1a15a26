//! The migration of a later release, by which `quant-load instances` changes the schema under load.
//!
//! The migration expands the schema, as every migration must that runs while instances of an older
//! release serve: one new table and one nullable column. The migration locks a single table that
//! the older instances write, so that a deadlock with their calls is impossible.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text_null};

/// Returns the migration where the environment variable `QS_NEXT_SCHEMA` requests it.
pub(super) fn requested() -> Option<Box<dyn MigrationTrait>> {
    std::env::var_os("QS_NEXT_SCHEMA")?;
    Some(Box::new(CrashTestSchema))
}

struct CrashTestSchema;

impl MigrationName for CrashTestSchema {
    fn name(&self) -> &str {
        "m29991231_000001_next"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CrashTestSchema {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut table = Table::create();
        table.table("usage_note").col(big_integer("usage_id").primary_key());
        manager.create_table(table).await?;
        let mut column = Table::alter();
        column.table("usage").add_column(text_null("note"));
        manager.alter_table(column).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut column = Table::alter();
        column.table("usage").drop_column("note");
        manager.alter_table(column).await?;
        manager.drop_table(Table::drop().table("usage_note").to_owned()).await
    }
}
