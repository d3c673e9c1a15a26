//! The limits that instances share, in Redis: a text for each caller, replaced where it is still
//! what was read.
//!
//! A text outlives what it counts and then goes by itself. Where there is none, as after Redis has
//! lost its data, the calls that are written down in the database count.

use std::{fmt, str::FromStr, sync::LazyLock, time::Duration};

use account_core::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};
use account_core::store::LeaseStore;
use account_core::{CallerId, StoreError};
use redis::{
    AsyncCommands, Client, ConnectionInfo, IntoConnectionInfo, RedisError, Script,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use crate::store::Store;

/// How long Redis may take to take a connection, and to answer a command.
const PATIENCE: Duration = Duration::from_secs(1);

/// Answers nothing where it replaced the text, else the text that is there; no text is an empty one.
static REPLACE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local held = redis.call('GET', KEYS[1]) or '' \
         if held ~= ARGV[1] then return held end \
         redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3]) \
         return false",
    )
});

/// Where Redis is. Never shown: it may hold a password.
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

/// Leases from Redis.
pub struct RedisLeases {
    connection: ConnectionManager,
    /// Where calls are written down.
    store: Store,
}

impl RedisLeases {
    /// Connects. A connection that is lost later is made again with the next call that needs it.
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

    /// Asks Redis whether it answers.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let mut connection = self.connection.clone();
        if connection.ping::<()>().await.is_ok() {
            return Ok(());
        }
        connection.ping().await.map_err(StoreError::new)
    }

    /// The text of a caller, empty where there is none. Asked twice, since the first to ask after
    /// an outage is told that the connection was lost.
    async fn read(&self, caller: CallerId) -> Result<String, StoreError> {
        let mut connection = self.connection.clone();
        let text: Option<String> = match connection.get(key(caller)).await {
            Ok(text) => text,
            Err(_) => connection.get(key(caller)).await.map_err(StoreError::new)?,
        };
        Ok(text.unwrap_or_default())
    }

    /// Writes a text in place of `read`; else answers the one that is there instead. Never asked
    /// twice: an answer that was lost may have been a lease.
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

    /// What is shared where there is no text: what was written down.
    async fn written_down(&self, caller: CallerId, ask: &Ask) -> Result<SharedWindow, StoreError> {
        let since = SharedWindow::looks_back_to(ask.now, &ask.allowance);
        Ok(SharedWindow::of_calls(&self.store.calls_of(caller, since).await?))
    }
}

impl LeaseStore for RedisLeases {
    async fn lease(&self, caller: CallerId, mut ask: Ask) -> Result<Lease, StoreError> {
        let mut text = self.read(caller).await?;
        loop {
            let mut shared = if text.is_empty() {
                // What is given back is of a lease that is counted nowhere.
                ask.unused = None;
                self.written_down(caller, &ask).await?
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

    account_core::store_contract!(@leases leases);

    const ADA: CallerId = CallerId::Account(AccountId(1));

    /// Leases from an empty Redis beside an empty database; `None` where there is no Redis.
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
    async fn a_caller_leaves_nothing_once_nothing_counts() {
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
    async fn a_text_that_is_none_of_ours_is_an_error_and_stays() {
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
