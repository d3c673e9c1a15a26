//! What is PostgreSQL's alone: connections, and the turn that migrations take.

use std::time::Duration;

use account_core::StoreError;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sea_orm::sqlx::{ConnectOptions as _, Connection as _};
use sea_orm::{ConnectionTrait, DatabaseConnection};

use super::rows::{statement, stored};

/// How long a request waits for a connection before the store counts as gone.
const PATIENCE: Duration = Duration::from_secs(5);
/// A connection that rested this long is asked whether it still answers.
const RESTED: Duration = Duration::from_secs(1);
/// The advisory lock under which one instance at a time brings the schema up to date.
const MIGRATIONS: i64 = 3;

/// Whether an address is one of PostgreSQL.
pub(super) fn is_address(address: &str) -> bool {
    ["postgres:", "postgresql:"].iter().any(|scheme| address.starts_with(scheme))
}

/// Opens a pool of so many connections.
pub(super) async fn connect(
    address: &str,
    connections: u32,
) -> Result<DatabaseConnection, StoreError> {
    // In memory or on flash a row found by an index costs little more than the next of its table. A
    // statement or a lock that takes this long is stuck, and would take its connection along.
    let settings = [
        ("random_page_cost", "1.1"),
        ("statement_timeout", "30s"),
        ("lock_timeout", "10s"),
        ("idle_in_transaction_session_timeout", "30s"),
    ];
    let options = parse(address)?.options(settings);
    pool(options, connections).await
}

/// A connection that has the migrations' turn until it is closed; it may work as long as it takes.
pub(super) async fn connect_to_migrate(address: &str) -> Result<DatabaseConnection, StoreError> {
    let connection = pool(parse(address)?, 1).await?;
    let wait = statement("SELECT pg_advisory_lock($1)", [MIGRATIONS.into()]);
    stored(connection.execute_raw(wait).await)?;
    Ok(connection)
}

fn parse(address: &str) -> Result<PgConnectOptions, StoreError> {
    let options: PgConnectOptions = address.parse().map_err(StoreError::new)?;
    Ok(options.application_name("quant-server").disable_statement_logging())
}

async fn pool(
    options: PgConnectOptions,
    connections: u32,
) -> Result<DatabaseConnection, StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .min_connections(1)
        .acquire_timeout(PATIENCE)
        // Whoever closes idle or old connections for sqlx 0.9 may count to 2⁶⁴ and keep a core for
        // good (its issue 3645), so nobody does.
        .idle_timeout(None)
        .max_lifetime(None)
        // Asking before each use costs a fifth of the throughput; after a rest it costs nothing
        // that matters, and finds what a restart of the server broke.
        .test_before_acquire(false)
        .before_acquire(|connection, state| {
            Box::pin(async move { Ok(state.idle_for < RESTED || connection.ping().await.is_ok()) })
        })
        .connect_with(options);
    Ok(DatabaseConnection::from(pool.await.map_err(StoreError::new)?))
}
