//! The cache of API keys: the caller that each key belongs to.

use std::{sync::Arc, time::Duration};

use account_core::{ApiKey, AuthError, Caller, KeyDigest, Timestamp, Vault};

use crate::auth::{
    accounts::Accounts,
    cache::{AuthCache, CacheFreshness},
    lookup_error::LookupError,
};

/// Longest time to live of a cached caller.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Largest number of cached callers.
const CAPACITY: u64 = 1_000_000;

/// The cache of callers by API key.
pub struct ApiKeyCache {
    vault: Arc<Vault>,
    cache: AuthCache<KeyDigest, Caller>,
}

impl ApiKeyCache {
    /// Makes an empty cache, which `freshness` invalidates.
    #[must_use]
    pub fn new(vault: Arc<Vault>, freshness: Arc<CacheFreshness>) -> Self {
        Self { vault, cache: AuthCache::new(freshness, CAPACITY, REMEMBERED) }
    }

    /// Returns the number of cache misses.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.cache.misses()
    }

    /// Returns the caller that `key` belongs to.
    ///
    /// # Errors
    ///
    /// [`LookupError`] where no caller was found.
    pub async fn identify(
        &self,
        accounts: &Accounts,
        key: &ApiKey,
        now: Timestamp,
    ) -> Result<Caller, LookupError> {
        // Boxed, so that the future of a request with a cached key has no room for the query.
        let look_up = move || {
            Box::pin(async move { accounts.authenticate(key, now).await.map_err(unidentified) })
        };
        let caller = self.cache.get_or_load(self.vault.key_digest(key), look_up).await?;
        still_valid(caller, now)
    }

    /// Removes `key`, whose cached caller is out of date.
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

/// Refuses a guest whose key expired after the key was cached.
fn still_valid(caller: Caller, now: Timestamp) -> Result<Caller, LookupError> {
    match &caller {
        Caller::Guest(guest) if now >= guest.expires_at => Err(LookupError::GuestExpired),
        _ => Ok(caller),
    }
}
