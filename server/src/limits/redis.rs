//! Leases in Redis: one text per caller, replaced by compare-and-set.
//!
//! A text expires after the calls that it counts. Where a text is missing, as after a loss of data
//! in Redis, the usage rows in the database are counted.

use std::{fmt, str::FromStr, sync::LazyLock, time::Duration};

use account_core::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};
use account_core::store::LeaseStore;
use account_core::{CallerId, StoreError};
pub use redis::RedisError;
use redis::{
    AsyncCommands, Client, ConnectionInfo, IntoConnectionInfo, Script,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use crate::store::Store;

/// The timeout of a connection to Redis, and of a command.
const PATIENCE: Duration = Duration::from_secs(1);

/// Replaces a text where it equals the expected one, and returns nil; otherwise returns the present
/// text. A missing text is an empty one.
static REPLACE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local held = redis.call('GET', KEYS[1]) or '' \
         if held ~= ARGV[1] then return held end \
         redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3]) \
         return false",
    )
});

/// The address of a Redis server. `Debug` hides the address, which may hold a password.
#[derive(Clone)]
pub struct RedisAddress(ConnectionInfo);

impl FromStr for RedisAddress {
    type Err = RedisError;

    fn from_str(url: &str) -> Result<Self, RedisError> {
        let address = url.into_connection_info()?;
        Client::open(address.clone())?;
        Ok(Self(address))
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedisAddress(…)")
    }
}

/// The store of leases in Redis.
pub struct RedisLeases {
    connection: ConnectionManager,
    /// The database with the usage rows.
    store: Store,
}

impl RedisLeases {
    /// Connects to Redis. A lost connection is opened again by the next command.
    ///
    /// # Errors
    ///
    /// [`RedisError`] where Redis does not answer.
    pub async fn connect(address: &RedisAddress, store: Store) -> Result<Self, RedisError> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE))
            .set_number_of_retries(0);
        let client = Client::open(address.0.clone())?;
        let connection = ConnectionManager::new_with_config(client, config).await?;
        let leases = Self { connection, store };
        leases.connection.clone().ping::<()>().await?;
        Ok(leases)
    }

    /// Checks that Redis answers.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where Redis does not answer.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let mut connection = self.connection.clone();
        if connection.ping::<()>().await.is_ok() {
            return Ok(());
        }
        connection.ping().await.map_err(StoreError::new)
    }

    /// Reads the text of a caller; a missing text is empty. A failed command is repeated once,
    /// since the first command after an outage reports the lost connection.
    async fn read(&self, caller: CallerId) -> Result<String, StoreError> {
        let mut connection = self.connection.clone();
        let text: Option<String> = match connection.get(key(caller)).await {
            Ok(text) => text,
            Err(_) => connection.get(key(caller)).await.map_err(StoreError::new)?,
        };
        Ok(text.unwrap_or_default())
    }

    /// Replaces the text `read`, or returns the text that is there instead. The command is never
    /// repeated, because a lost answer may have granted a lease.
    async fn replace(
        &self,
        caller: CallerId,
        read: &str,
        shared: &SharedWindow,
    ) -> Result<Option<String>, StoreError> {
        let mut replace = REPLACE.key(key(caller));
        replace.arg(read).arg(shared.to_string()).arg(shared.kept_for().as_secs().max(1));
        replace.invoke_async(&mut self.connection.clone()).await.map_err(StoreError::new)
    }

    /// Counts the usage rows of a caller without a text.
    async fn count_usage(&self, caller: CallerId, ask: &Ask) -> Result<SharedWindow, StoreError> {
        let since = SharedWindow::looks_back_to(ask.now, &ask.allowance);
        let calls = self.store.calls_of(caller, since).await?.into_iter();
        let calls: Vec<_> = calls.map(|count| count.not_after(ask.now)).collect();
        Ok(SharedWindow::of_calls(&calls))
    }
}

impl LeaseStore for RedisLeases {
    async fn lease(&self, caller: CallerId, mut ask: Ask) -> Result<Lease, StoreError> {
        let mut text = self.read(caller).await?;
        loop {
            let mut shared = if text.is_empty() {
                // The returned calls belong to a lease that no text counts.
                ask.unused = None;
                self.count_usage(caller, &ask).await?
            } else {
                parse(&text)?
            };
            let lease = shared.lease(&ask);
            match self.replace(caller, &text, &shared).await? {
                None => return Ok(lease),
                Some(other) => text = other,
            }
        }
    }

    async fn give_back(&self, caller: CallerId, unused: ReturnedCalls) -> Result<(), StoreError> {
        let mut text = self.read(caller).await?;
        while !text.is_empty() {
            let mut shared = parse(&text)?;
            shared.give_back(unused);
            match self.replace(caller, &text, &shared).await? {
                None => return Ok(()),
                Some(other) => text = other,
            }
        }
        Ok(())
    }

    async fn shared(&self, caller: CallerId) -> Result<SharedWindow, StoreError> {
        match self.read(caller).await?.as_str() {
            "" => Ok(SharedWindow::default()),
            text => parse(text),
        }
    }
}

fn key(caller: CallerId) -> String {
    match caller {
        CallerId::Account(account) => format!("quant-server:limit:account:{}", account.0),
        CallerId::Guest(guest) => format!("quant-server:limit:guest:{}", guest.0),
    }
}

fn parse(text: &str) -> Result<SharedWindow, StoreError> {
    text.parse().map_err(StoreError::new)
}

#[cfg(test)]
mod tests {
    use account_core::limit::lease::Allowance;
    use account_core::testing::FixedClock;
    use account_core::{AccountId, GuestId};
    use quant_test_services::Redis;
    use tempfile::TempDir;

    use super::*;
    use crate::store::{Migrate, open};

    account_core::leases_checks!(leases);

    const ADA: CallerId = CallerId::Account(AccountId(1));

    /// Returns leases in an empty Redis beside an empty database; `None` without Redis.
    async fn leases() -> Option<(RedisLeases, (Redis, TempDir))> {
        let redis = Redis::start()?;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("test.sqlite").display().to_string();
        let store = open(&path, Migrate::Run).await.expect("a new database");
        let address = redis.address().parse().expect("an address");
        let leases = RedisLeases::connect(&address, store).await.expect("Redis answers");
        Some((leases, (redis, folder)))
    }

    fn ask(hourly: u32) -> Ask {
        let now = FixedClock::default().now();
        Ask { allowance: Allowance::hourly(hourly), now, unused: None }
    }

    #[tokio::test]
    async fn a_text_expires_with_the_calls_that_it_counts() {
        let Some((leases, _home)) = leases().await else { return };
        let mut connection = leases.connection.clone();
        leases.lease(ADA, ask(100)).await.expect("Redis answers");
        let guest = CallerId::Guest(GuestId(1));
        let of_guest = Ask { allowance: Allowance::GUEST, ..ask(1) };
        leases.lease(guest, of_guest).await.expect("Redis answers");
        for caller in [ADA, guest] {
            let kept_for = leases.shared(caller).await.expect("Redis answers").kept_for();
            let left: u64 = connection.ttl(key(caller)).await.expect("Redis answers");
            assert!((kept_for.as_secs() - 60..=kept_for.as_secs()).contains(&left), "{left}");
        }
    }

    #[tokio::test]
    async fn a_malformed_text_is_an_error_and_stays() {
        let Some((leases, _home)) = leases().await else { return };
        let mut connection = leases.connection.clone();
        let () = connection.set(key(ADA), "something else").await.expect("Redis answers");
        assert!(leases.lease(ADA, ask(100)).await.is_err());
        let text: String = connection.get(key(ADA)).await.expect("Redis answers");
        assert_eq!(text, "something else");
    }

    #[tokio::test]
    async fn without_redis_there_is_no_lease_and_once_it_is_back_the_first_call_has_one() {
        let Some((leases, (mut redis, _folder))) = leases().await else { return };
        leases.lease(ADA, ask(100)).await.expect("Redis answers");
        redis.kill();
        for _ in 0..3 {
            assert!(leases.lease(ADA, ask(100)).await.is_err());
            assert!(leases.ping().await.is_err());
        }
        redis.start_again();
        leases.lease(ADA, ask(100)).await.expect("Redis is back");
        leases.ping().await.expect("Redis is back");
    }
}
