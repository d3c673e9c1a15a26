//! Who a key belongs to, remembered for a moment.

use std::{sync::Arc, time::Duration};

use account_core::{ApiKey, AuthError, Caller, KeyDigest, Timestamp, Vault};

use crate::auth::{
    accounts::Accounts,
    cache::{AuthCache, CacheFreshness},
};

/// How long a caller is remembered at most while nothing changes.
const REMEMBERED: Duration = Duration::from_secs(60);
/// How many callers are remembered at most.
const CAPACITY: u64 = 1_000_000;

/// Why nobody could be identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupError {
    /// The key opens nothing.
    Unknown,
    /// The key was a guest's, and its day is over.
    GuestExpired,
    /// The store did not answer.
    Unavailable,
}

/// The callers seen lately.
pub struct ApiKeyCache {
    vault: Arc<Vault>,
    cache: AuthCache<KeyDigest, Caller>,
}

impl ApiKeyCache {
    /// Remembers nobody yet.
    #[must_use]
    pub fn new(vault: Arc<Vault>, freshness: Arc<CacheFreshness>) -> Self {
        Self { vault, cache: AuthCache::new(freshness, CAPACITY, REMEMBERED) }
    }

    /// How often the store was asked who a key belongs to.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.cache.misses()
    }

    /// Finds who `key` belongs to.
    ///
    /// # Errors
    ///
    /// Why nobody was found.
    pub async fn identify(
        &self,
        accounts: &Accounts,
        key: &ApiKey,
        now: Timestamp,
    ) -> Result<Caller, LookupError> {
        let look_up =
            move || async move { accounts.authenticate(key, now).await.map_err(unidentified) };
        let caller = self.cache.get_or_load(self.vault.key_digest(key), look_up).await?;
        still_valid(caller, now)
    }

    /// Forgets `key`, of which something is remembered that no longer holds.
    pub async fn forget(&self, key: &ApiKey) {
        self.cache.forget(&self.vault.key_digest(key)).await;
    }
}

fn unidentified(refusal: AuthError) -> LookupError {
    match refusal {
        AuthError::Unknown => LookupError::Unknown,
        AuthError::GuestExpired => LookupError::GuestExpired,
        failure => {
            tracing::error!(%failure, "a key could not be looked up");
            LookupError::Unavailable
        }
    }
}

/// A guest's day may end while it is remembered.
fn still_valid(caller: Caller, now: Timestamp) -> Result<Caller, LookupError> {
    match &caller {
        Caller::Guest(guest) if now >= guest.expires_at => Err(LookupError::GuestExpired),
        _ => Ok(caller),
    }
}
