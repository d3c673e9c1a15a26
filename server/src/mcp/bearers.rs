//! Whom an access token speaks for, remembered for a moment.

use std::{sync::Arc, time::Duration};

use account_core::{AccessToken, Bearer, Refusal, Timestamp, Vault, vault::Digest};

use crate::{
    callers::Unidentified,
    memory::{Belief, Memory},
    service::Accounts,
};

/// How long a bearer is remembered while nothing changes. A refused call tells the balance that is
/// remembered, which is no change that anyone announces.
const REMEMBERED: Duration = Duration::from_millis(500);
/// How many tokens are remembered at most.
const CAPACITY: u64 = 100_000;

/// The bearers seen lately.
pub struct Bearers {
    vault: Arc<Vault>,
    memory: Memory<Digest<AccessToken>, Bearer>,
}

impl Bearers {
    /// Remembers nobody yet.
    #[must_use]
    pub fn new(vault: Arc<Vault>, belief: Arc<Belief>) -> Self {
        Self { vault, memory: Memory::new(belief, CAPACITY, REMEMBERED) }
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
        let look_up = move || async move {
            accounts.bearer(token, resource, now).await.map_err(unidentified)
        };
        let bearer = self.memory.recall(self.vault.access_token_digest(token), look_up).await?;
        if now < bearer.expires_at { Ok(bearer) } else { Err(Unidentified::Unknown) }
    }
}

fn unidentified(refusal: Refusal) -> Unidentified {
    match refusal {
        Refusal::Store(error) => {
            tracing::error!(%error, "an access token could not be looked up");
            Unidentified::Unavailable
        }
        _ => Unidentified::Unknown,
    }
}
