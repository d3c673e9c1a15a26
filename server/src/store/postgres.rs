//! The connections to PostgreSQL, and the lock of the migrations.

use std::time::Duration;

use account_core::StoreError;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sea_orm::sqlx::{self, ConnectOptions as _, Connection as _};
use sea_orm::{ConnectionTrait, DatabaseConnection};

use super::engine::AdvisoryLock;
use super::open_error::OpenError;
use super::rows::{statement, stored};

/// The longest wait of a request for a connection; after it the store counts as unavailable.
const PATIENCE: Duration = Duration::from_secs(5);
/// The idle time after which a connection is tested before its use.
const TEST_AFTER: Duration = Duration::from_secs(1);

/// Returns whether an address names a PostgreSQL database.
pub(super) fn is_address(address: &str) -> bool {
    ["postgres:", "postgresql:"].iter().any(|scheme| address.starts_with(scheme))
}

/// Connects once, so that a server that refuses is named at once. A pool repeats a refused attempt
/// until its timeout and reports the timeout alone.
///
/// # Errors
///
/// [`OpenError::Unreachable`], which names the server but not the user nor the password.
pub(super) async fn check(address: &str) -> Result<(), OpenError> {
    let options = parse(address)?;
    let unreachable = |cause| OpenError::Unreachable { server: server(&options), cause };
    let Ok(attempt) = tokio::time::timeout(PATIENCE, options.connect()).await else {
        return Err(unreachable(format!("no answer within {} seconds", PATIENCE.as_secs())));
    };
    let connection = attempt.map_err(|error| unreachable(cause(&error)))?;
    connection.close().await.map_err(StoreError::new)?;
    Ok(())
}

/// Returns the host and the port of a server, or its socket.
fn server(options: &PgConnectOptions) -> String {
    let (host, port) = (options.get_host(), options.get_port());
    match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None if host.contains(':') => format!("[{host}]:{port}"),
        None => format!("{host}:{port}"),
    }
}

/// Returns the reason of a failed attempt without the words of the client library.
fn cause(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Database(error) => error.message().to_owned(),
        other => other.to_string(),
    }
}

/// Opens a pool of at most `connections` connections.
pub(super) async fn connect(
    address: &str,
    connections: u32,
) -> Result<DatabaseConnection, StoreError> {
    // In memory or on flash, a random page costs little more than a sequential one. A statement or
    // a lock that exceeds its timeout is stuck and would block its connection.
    let settings = [
        ("random_page_cost", "1.1"),
        ("statement_timeout", "30s"),
        ("lock_timeout", "10s"),
        ("idle_in_transaction_session_timeout", "30s"),
    ];
    let options = parse(address)?.options(settings);
    pool(options, connections).await
}

/// Opens a connection that holds [`AdvisoryLock::Migrations`] until it is closed, without a timeout
/// of statements.
pub(super) async fn connect_to_migrate(address: &str) -> Result<DatabaseConnection, StoreError> {
    let connection = pool(parse(address)?, 1).await?;
    let wait = statement("SELECT pg_advisory_lock($1)", [AdvisoryLock::Migrations.key().into()]);
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
        // The task of sqlx 0.9 that closes idle or old connections may loop 2⁶⁴ times and occupy a
        // core (sqlx issue 3645), so both limits are off.
        .idle_timeout(None)
        .max_lifetime(None)
        // A test before each use costs a fifth of the throughput. A test after an idle second costs
        // little and finds the connections that a restart of the server broke.
        .test_before_acquire(false)
        .before_acquire(|connection, state| {
            Box::pin(
                async move { Ok(state.idle_for < TEST_AFTER || connection.ping().await.is_ok()) },
            )
        })
        .connect_with(options);
    Ok(DatabaseConnection::from(pool.await.map_err(StoreError::new)?))
}
