//! The schema, as dated migrations that are never edited after their release.
//!
//! A migration adds tables or columns and removes none that a running release still uses, because
//! several instances of two releases may serve during an update.

#![allow(
    elided_lifetimes_in_paths,
    reason = "the trait's signatures elide them, and async_trait holds us to that"
)]

use account_core::StoreError;
use sea_orm::{ConnectionTrait, DatabaseConnection};
use sea_orm_migration::prelude::*;

use super::backup;
use super::engine::is_postgres;
use super::open_error::OpenError;
use super::rows::{column, statement, stored};

#[cfg(feature = "failpoints")]
mod crash_test_schema;
mod m20261122_000001_first_schema;

/// The treatment of a database whose schema is older than this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migrate {
    /// Applies the missing migrations, also to a new database.
    Run,
    /// Applies the missing migrations, and refuses a new database.
    Existing,
    /// Refuses to open the database.
    Refuse,
}

/// The list of all migrations, in the order of their application.
struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let released: Vec<Box<dyn MigrationTrait>> =
            vec![Box::new(m20261122_000001_first_schema::FirstSchema)];
        #[cfg(feature = "failpoints")]
        let released = released.into_iter().chain(crash_test_schema::requested()).collect();
        released
    }
}

/// Applies the missing migrations, or reports why the schema stays as it is.
///
/// On SQLite a database with an older schema is copied first.
pub(super) async fn bring_up_to_date(
    database: &DatabaseConnection,
    migrate: Migrate,
) -> Result<(), OpenError> {
    apply_missing::<Migrator>(database, migrate).await
}

/// Applies the missing ones of the migrations of `M`, as [`bring_up_to_date`] does.
async fn apply_missing<M: MigratorTrait>(
    database: &DatabaseConnection,
    migrate: Migrate,
) -> Result<(), OpenError> {
    let known: Vec<String> = M::migrations().iter().map(|step| step.name().to_owned()).collect();
    let recorded = recorded(database).await?;
    let is_new = recorded.is_none();
    let applied = recorded.unwrap_or_default();
    if let Some(unknown) = applied.iter().find(|name| !known.contains(name)) {
        return Err(OpenError::NewerSchema(unknown.clone()));
    }
    let missing = known.into_iter().find(|name| !applied.contains(name));
    match (missing, migrate) {
        (None, _) => Ok(()),
        (Some(missing), Migrate::Refuse) => Err(OpenError::OlderSchema(missing)),
        (Some(_), Migrate::Existing) if is_new => {
            Err(OpenError::NoDatabase("the address of DATABASE_URL".to_owned()))
        }
        (Some(missing), Migrate::Run | Migrate::Existing) => {
            if !is_postgres(database) && !is_new {
                backup::copy_before(database, &missing).await?;
            }
            Ok(stored(M::up(database, None).await)?)
        }
    }
}

/// Returns the first migration that the database lacks; `None` for a database that is up to date.
pub(super) async fn missing(database: &DatabaseConnection) -> Result<Option<String>, StoreError> {
    let applied = recorded(database).await?.unwrap_or_default();
    let known = Migrator::migrations();
    let mut names = known.iter().map(|step| step.name());
    Ok(names.find(|name| !applied.iter().any(|applied| applied == name)).map(str::to_owned))
}

/// Returns the names of the applied migrations; `None` for a new database, which has no table of
/// migrations.
async fn recorded(database: &DatabaseConnection) -> Result<Option<Vec<String>>, StoreError> {
    let manager = SchemaManager::new(database);
    if !stored(manager.has_table("seaql_migrations").await)? {
        return Ok(None);
    }
    let names = statement("SELECT version FROM seaql_migrations ORDER BY version", []);
    let rows = stored(database.query_all_raw(names).await)?;
    rows.iter().map(|row| column(row, "version")).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use account_core::testing::all;
    use quant_test_services::Postgres;
    use tempfile::TempDir;

    use super::*;
    use crate::store::engine::by_engine;
    use crate::store::open::POOL;
    use crate::store::testing::{address_in, open_again};
    use crate::store::{postgres, sqlite};

    /// The migrations of a later release: those of this one, and one that adds a table.
    struct LaterRelease;

    struct AddedTable;

    impl MigrationName for AddedTable {
        fn name(&self) -> &str {
            "m29990101_000001_added_table"
        }
    }

    #[async_trait::async_trait]
    impl MigrationTrait for AddedTable {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let mut table = Table::create();
            table.table("added").col(sea_orm_migration::schema::big_integer("id").primary_key());
            manager.create_table(table).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            manager.drop_table(Table::drop().table("added").to_owned()).await
        }
    }

    #[async_trait::async_trait]
    impl MigratorTrait for LaterRelease {
        fn migrations() -> Vec<Box<dyn MigrationTrait>> {
            let added: Box<dyn MigrationTrait> = Box::new(AddedTable);
            Migrator::migrations().into_iter().chain([added]).collect()
        }
    }

    /// Lists every table, column, index and constraint.
    async fn schema(database: &DatabaseConnection) -> Vec<String> {
        let of_sqlite = "SELECT coalesce(sql, name) AS sql FROM sqlite_master \
                         WHERE tbl_name NOT IN ('seaql_migrations', 'sqlite_sequence') ORDER BY sql";
        let of_postgres = "SELECT sql FROM (\
            SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) AS sql \
            FROM information_schema.columns WHERE table_schema = 'public' \
            AND table_name <> 'seaql_migrations' \
            UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' \
            AND tablename <> 'seaql_migrations' \
            UNION ALL SELECT concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid)) \
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace \
            AND conrelid <> to_regclass('seaql_migrations')) AS everything ORDER BY sql";
        let query = statement(by_engine(database, of_sqlite, of_postgres), []);
        let rows = database.query_all_raw(query).await.expect("the schema");
        rows.iter().map(|row| column(row, "sql").expect("text")).collect()
    }

    macro_rules! on_each_engine {
        ($($check:ident),+ $(,)?) => {
            mod on_sqlite {
                $(#[tokio::test]
                async fn $check() {
                    let (database, _folder) = super::on_sqlite_without_schema().await;
                    super::$check(&database).await;
                })+
            }

            mod on_postgres {
                $(#[tokio::test]
                async fn $check() {
                    if let Some((database, _home)) = super::on_postgres_without_schema().await {
                        super::$check(&database).await;
                    }
                })+
            }
        };
    }

    on_each_engine!(
        up_down_and_up_again_ends_where_up_ended,
        each_step_down_undoes_its_own_step_up,
        a_newer_schema_is_refused_by_name,
        an_older_schema_is_refused_where_migrations_are_forbidden,
        a_new_database_is_refused_where_only_existing_ones_are_migrated,
    );

    async fn on_sqlite_without_schema() -> (DatabaseConnection, TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        (sqlite::connect(&address_in(&folder)).await.expect("a new database").0, folder)
    }

    async fn on_postgres_without_schema() -> Option<(DatabaseConnection, Postgres)> {
        let home = Postgres::empty().await?;
        Some((postgres::connect(&home.address(), POOL).await.expect("a new database"), home))
    }

    async fn up_down_and_up_again_ends_where_up_ended(database: &DatabaseConnection) {
        bring_up_to_date(database, Migrate::Run).await.expect("up");
        let first = schema(database).await;
        assert!(first.len() > 20, "{first:?}");
        Migrator::down(database, None).await.expect("down");
        assert_eq!(schema(database).await, Vec::<String>::new());
        bring_up_to_date(database, Migrate::Run).await.expect("up again");
        assert_eq!(schema(database).await, first);
    }

    async fn each_step_down_undoes_its_own_step_up(database: &DatabaseConnection) {
        let mut seen = vec![schema(database).await];
        for _ in LaterRelease::migrations() {
            LaterRelease::up(database, Some(1)).await.expect("up");
            seen.push(schema(database).await);
        }
        for expected in seen.iter().rev().skip(1) {
            LaterRelease::down(database, Some(1)).await.expect("down");
            assert_eq!(schema(database).await, *expected);
        }
    }

    async fn a_newer_schema_is_refused_by_name(database: &DatabaseConnection) {
        bring_up_to_date(database, Migrate::Run).await.expect("up");
        let newer = "INSERT INTO seaql_migrations VALUES ('m29990101_000001_later', 0)";
        database.execute_unprepared(newer).await.expect("a row");
        let error = bring_up_to_date(database, Migrate::Run).await.expect_err("a newer schema");
        assert!(error.to_string().contains("m29990101_000001_later"), "{error}");
    }

    async fn a_new_database_is_refused_where_only_existing_ones_are_migrated(
        database: &DatabaseConnection,
    ) {
        let error = bring_up_to_date(database, Migrate::Existing).await.expect_err("no schema");
        assert!(matches!(error, OpenError::NoDatabase(_)), "{error}");
        assert!(schema(database).await.is_empty(), "nothing was made");
        Migrator::up(database, None).await.expect("an older schema");
        let older = schema(database).await;
        let error = apply_missing::<LaterRelease>(database, Migrate::Refuse).await;
        let error = error.expect_err("the schema is older than the release");
        assert!(matches!(error, OpenError::OlderSchema(_)), "{error}");
        apply_missing::<LaterRelease>(database, Migrate::Existing).await.expect("the rest");
        assert!(schema(database).await.len() > older.len(), "the later release adds a table");
    }

    async fn an_older_schema_is_refused_where_migrations_are_forbidden(
        database: &DatabaseConnection,
    ) {
        let error = bring_up_to_date(database, Migrate::Refuse).await.expect_err("no schema");
        assert!(matches!(error, OpenError::OlderSchema(_)), "{error}");
        bring_up_to_date(database, Migrate::Run).await.expect("up");
        bring_up_to_date(database, Migrate::Refuse).await.expect("up to date");
    }

    #[tokio::test]
    async fn four_instances_that_start_at_once_on_postgresql_make_one_schema() {
        let Some(home) = Postgres::empty().await else { return };
        let address = home.address();
        let stores = all((0..4).map(|_| open_again(&address))).await;
        assert_eq!(stores.len(), 4);
        for store in stores {
            assert_eq!(store.revision().await.expect("a whole schema"), 0);
        }
    }
}
