//! Whom an access token speaks for, remembered for a moment.
//!
//! As with keys, the warm path asks no storage, and what is remembered lives for half a second: a
//! revoked token or a suspended account is turned away within it on every instance.

use std::{sync::Arc, time::Duration};

use account_core::{AccessToken, Bearer, Refusal, Timestamp, Vault, vault::Digest};
use moka::future::Cache;

use crate::{callers::Unidentified, service::Accounts};

/// How long an answer of the store is believed.
const REMEMBERED: Duration = Duration::from_millis(500);
/// How many tokens are remembered at most.
const CAPACITY: u64 = 100_000;
/// Unknown tokens are remembered apart, so that they push out nobody.
const UNKNOWN_CAPACITY: u64 = 10_000;

/// The bearers seen lately.
pub struct Bearers {
    vault: Arc<Vault>,
    known: Cache<Digest<AccessToken>, Bearer>,
    unknown: Cache<Digest<AccessToken>, ()>,
}

impl Bearers {
    /// Remembers nobody yet.
    #[must_use]
    pub fn new(vault: Arc<Vault>) -> Self {
        let known = Cache::builder().max_capacity(CAPACITY).time_to_live(REMEMBERED).build();
        let unknown =
            Cache::builder().max_capacity(UNKNOWN_CAPACITY).time_to_live(REMEMBERED).build();
        Self { vault, known, unknown }
    }

    /// Finds whom `token` speaks for at `resource`.
    ///
    /// # Errors
    ///
    /// [`Unidentified::Unknown`] or [`Unidentified::Unavailable`].
    pub async fn identify(
        &self,
        accounts: &Accounts,
        token: &AccessToken,
        resource: &str,
        now: Timestamp,
    ) -> Result<Bearer, Unidentified> {
        let digest = self.vault.access_token_digest(token);
        if self.unknown.get(&digest).await.is_some() {
            return Err(Unidentified::Unknown);
        }
        // Callers with one token wait for one look-up.
        let found = self.known.try_get_with(digest, accounts.bearer(token, resource, now)).await;
        match found {
            Ok(bearer) if now < bearer.expires_at => Ok(bearer),
            Ok(_) => Err(Unidentified::Unknown),
            Err(refusal) => match &*refusal {
                Refusal::Store(error) => {
                    tracing::error!(%error, "an access token could not be looked up");
                    Err(Unidentified::Unavailable)
                }
                _ => {
                    self.unknown.insert(digest, ()).await;
                    Err(Unidentified::Unknown)
                }
            },
        }
    }

    /// Forgets everyone, as half a second does.
    pub async fn forget_all(&self) {
        self.known.invalidate_all();
        self.unknown.invalidate_all();
        self.known.run_pending_tasks().await;
        self.unknown.run_pending_tasks().await;
    }
}
