//! The cache of access tokens: the account and client that each token stands for.

use std::{sync::Arc, time::Duration};

use account_core::digest::Digest;
use account_core::{AccessToken, AuthError, Bearer, Timestamp, Vault};

use crate::auth::{
    accounts::Accounts,
    cache::{AuthCache, CacheFreshness},
    lookup_error::LookupError,
};

/// Time to live of a cached bearer, short because the answer to a refused call shows the cached
/// balance, and a change of a balance does not move the store's revision.
const REMEMBERED: Duration = Duration::from_millis(500);
/// Largest number of cached tokens.
const CAPACITY: u64 = 100_000;

/// The cache of accounts by access token.
pub struct AccessTokenCache {
    vault: Arc<Vault>,
    cache: AuthCache<Digest<AccessToken>, Bearer>,
}

impl AccessTokenCache {
    /// Makes an empty cache, which `freshness` invalidates.
    #[must_use]
    pub fn new(vault: Arc<Vault>, freshness: Arc<CacheFreshness>) -> Self {
        Self { vault, cache: AuthCache::new(freshness, CAPACITY, REMEMBERED) }
    }

    /// Returns the account and client that `token` stands for at `resource`.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] or [`LookupError::Unavailable`].
    pub async fn identify(
        &self,
        accounts: &Accounts,
        token: &AccessToken,
        resource: &str,
        now: Timestamp,
    ) -> Result<Bearer, LookupError> {
        let look_up = move || async move {
            accounts.bearer(token, resource, now).await.map_err(unidentified)
        };
        let bearer = self.cache.get_or_load(self.vault.access_token_digest(token), look_up).await?;
        if now < bearer.expires_at { Ok(bearer) } else { Err(LookupError::Unknown) }
    }
}

fn unidentified(refusal: AuthError) -> LookupError {
    match refusal {
        AuthError::Store(error) => {
            tracing::error!(%error, "an access token could not be looked up");
            LookupError::Unavailable
        }
        _ => LookupError::Unknown,
    }
}
