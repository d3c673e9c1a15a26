//! Whom an access token speaks for, remembered for a moment.

use std::{sync::Arc, time::Duration};

use account_core::digest::Digest;
use account_core::{AccessToken, AuthError, Bearer, Timestamp, Vault};

use crate::{
    auth::{
        api_keys::LookupError,
        cache::{AuthCache, CacheFreshness},
    },
    state::Accounts,
};

/// How long a bearer is remembered while nothing changes. A refused call tells the balance that is
/// remembered, which is no change that anyone announces.
const REMEMBERED: Duration = Duration::from_millis(500);
/// How many tokens are remembered at most.
const CAPACITY: u64 = 100_000;

/// The bearers seen lately.
pub struct AccessTokenCache {
    vault: Arc<Vault>,
    cache: AuthCache<Digest<AccessToken>, Bearer>,
}

impl AccessTokenCache {
    /// Remembers nobody yet.
    #[must_use]
    pub fn new(vault: Arc<Vault>, freshness: Arc<CacheFreshness>) -> Self {
        Self { vault, cache: AuthCache::new(freshness, CAPACITY, REMEMBERED) }
    }

    /// Finds whom `token` speaks for at `resource`.
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
