//! The opening of a database: connections, migrations, and the handle to both.

use std::sync::Arc;

use account_core::StoreError;

use super::handle::Store;
use super::ledger::sqlite_ledger::SqliteLedger;
use super::migration::{self, Migrate};
use super::open_error::OpenError;
use super::{postgres, sqlite};

/// The default number of connections to PostgreSQL: enough for the few milliseconds that each is
/// used, and few enough for several instances.
pub const POOL: u32 = 16;

/// Opens a database by its address and brings its schema up to date.
///
/// The address is `sqlite:PATH`, `sqlite://PATH` or a path alone, whose file [`Migrate::Run`] creates where it is
/// missing, or `postgres://USER:PASSWORD@HOST/DATABASE`.
///
/// # Errors
///
/// [`OpenError`], whose message names the remedy.
pub async fn open(address: &str, migrate: Migrate) -> Result<Store, OpenError> {
    open_pooled(address, POOL, migrate).await
}

/// Checks that the file of a SQLite database is there where `migrate` may not make it. PostgreSQL has
/// no file; its database is checked once it is open.
///
/// # Errors
///
/// [`OpenError::NoDatabase`]; [`OpenError::UnknownEngine`].
pub fn check_file(address: &str, migrate: Migrate) -> Result<(), OpenError> {
    if postgres::is_address(address) || migrate == Migrate::Run || sqlite::exists(address)? {
        return Ok(());
    }
    Err(OpenError::NoDatabase(sqlite::path(address)?.display().to_string()))
}

/// Opens a database as [`open`] does, with at most `pool` connections to PostgreSQL.
///
/// # Errors
///
/// [`OpenError`], whose message names the remedy.
pub async fn open_pooled(address: &str, pool: u32, migrate: Migrate) -> Result<Store, OpenError> {
    check_file(address, migrate)?;
    if !postgres::is_address(address) {
        let (writer, readers) = sqlite::connect(address).await?;
        migration::bring_up_to_date(&writer, migrate).await?;
        let ledger = Arc::new(SqliteLedger::beside(&writer));
        return Ok(Store::new(writer, readers, Some(ledger)));
    }
    postgres::check(address).await?;
    let pool = postgres::connect(address, pool).await?;
    match migrate {
        Migrate::Refuse => migration::bring_up_to_date(&pool, migrate).await?,
        Migrate::Run | Migrate::Existing => {
            // The connection's lock makes instances that start simultaneously migrate one after the
            // other.
            let locked = postgres::connect_to_migrate(address).await?;
            migration::bring_up_to_date(&locked, migrate).await?;
            locked.close().await.map_err(StoreError::new)?;
        }
    }
    Ok(Store::new(pool.clone(), pool, None))
}
