//! Who a key belongs to, remembered for a moment.

use std::{sync::Arc, time::Duration};

use account_core::{ApiKey, Caller, KeyDigest, Refusal, Timestamp, Vault};

use crate::{
    memory::{Belief, Memory},
    service::Accounts,
};

/// How long a caller is remembered at most while nothing changes.
const REMEMBERED: Duration = Duration::from_secs(60);
/// How many callers are remembered at most.
const CAPACITY: u64 = 1_000_000;

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
    memory: Memory<KeyDigest, Caller>,
}

impl Callers {
    /// Remembers nobody yet.
    #[must_use]
    pub fn new(vault: Arc<Vault>, belief: Arc<Belief>) -> Self {
        Self { vault, memory: Memory::new(belief, CAPACITY, REMEMBERED) }
    }

    /// How often the store was asked who a key belongs to.
    #[must_use]
    pub fn look_ups(&self) -> u64 {
        self.memory.look_ups()
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
        let look_up =
            move || async move { accounts.authenticate(key, now).await.map_err(unidentified) };
        let caller = self.memory.recall(self.vault.key_digest(key), look_up).await?;
        still_valid(caller, now)
    }

    /// Forgets `key`, of which something is remembered that no longer holds.
    pub async fn forget(&self, key: &ApiKey) {
        self.memory.forget(&self.vault.key_digest(key)).await;
    }
}

fn unidentified(refusal: Refusal) -> Unidentified {
    match refusal {
        Refusal::Unknown => Unidentified::Unknown,
        Refusal::GuestExpired => Unidentified::GuestExpired,
        failure => {
            tracing::error!(%failure, "a key could not be looked up");
            Unidentified::Unavailable
        }
    }
}

/// A guest's day may end while it is remembered.
fn still_valid(caller: Caller, now: Timestamp) -> Result<Caller, Unidentified> {
    match &caller {
        Caller::Guest(guest) if now >= guest.expires_at => Err(Unidentified::GuestExpired),
        _ => Ok(caller),
    }
}
