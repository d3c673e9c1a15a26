//! Who a key belongs to, remembered for a moment.
//!
//! The warm path asks no storage. What is remembered lives for half a second, so that a
//! revoked, suspended, re-tiered or topped-up account is seen within a second wherever the
//! change was made; a change made here is forgotten at once.

use std::{sync::Arc, time::Duration};

use account_core::{ApiKey, Caller, KeyDigest, Refusal, Timestamp, Vault};
use moka::future::Cache;

use crate::service::Accounts;

/// How long an answer of the store is believed.
const REMEMBERED: Duration = Duration::from_millis(500);
/// How many callers are remembered at most.
const CAPACITY: u64 = 1_000_000;
/// Unknown keys are remembered apart, so that they push out no caller.
const UNKNOWN_CAPACITY: u64 = 10_000;

/// Why nobody could be identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unidentified {
    /// The key opens nothing.
    Unknown,
    /// The key was a guest's, and its day is over.
    GuestExpired,
    /// The store did not answer.
    Unavailable,
}

/// The callers seen lately.
pub struct Callers {
    vault: Arc<Vault>,
    known: Cache<KeyDigest, Caller>,
    unknown: Cache<KeyDigest, Unidentified>,
}

impl Callers {
    /// Remembers nobody yet.
    #[must_use]
    pub fn new(vault: Arc<Vault>) -> Self {
        let known = Cache::builder().max_capacity(CAPACITY).time_to_live(REMEMBERED).build();
        let unknown =
            Cache::builder().max_capacity(UNKNOWN_CAPACITY).time_to_live(REMEMBERED).build();
        Self { vault, known, unknown }
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
    ) -> Result<Caller, Unidentified> {
        let digest = self.vault.key_digest(key);
        if let Some(caller) = self.known.get(&digest).await {
            return still_valid(caller, now);
        }
        if let Some(reason) = self.unknown.get(&digest).await {
            return Err(reason);
        }
        // Callers with one key wait for one look-up.
        let found = self.known.try_get_with(digest, look_up(accounts, key, now)).await;
        match found {
            Ok(caller) => still_valid(caller, now),
            Err(reason) => {
                if *reason != Unidentified::Unavailable {
                    self.unknown.insert(digest, *reason).await;
                }
                Err(*reason)
            }
        }
    }

    /// Forgets everyone, as half a second does.
    pub async fn forget_all(&self) {
        self.known.invalidate_all();
        self.unknown.invalidate_all();
        self.known.run_pending_tasks().await;
        self.unknown.run_pending_tasks().await;
    }

    /// Forgets `key`, which has just been revoked or changed.
    pub async fn forget(&self, key: &ApiKey) {
        self.known.invalidate(&self.vault.key_digest(key)).await;
    }
}

async fn look_up(
    accounts: &Accounts,
    key: &ApiKey,
    now: Timestamp,
) -> Result<Caller, Unidentified> {
    accounts.authenticate(key, now).await.map_err(|refusal| match refusal {
        Refusal::Unknown => Unidentified::Unknown,
        Refusal::GuestExpired => Unidentified::GuestExpired,
        failure => {
            tracing::error!(%failure, "a key could not be looked up");
            Unidentified::Unavailable
        }
    })
}

/// A guest's day may end while it is remembered.
fn still_valid(caller: Caller, now: Timestamp) -> Result<Caller, Unidentified> {
    match &caller {
        Caller::Guest(guest) if now >= guest.expires_at => Err(Unidentified::GuestExpired),
        _ => Ok(caller),
    }
}
