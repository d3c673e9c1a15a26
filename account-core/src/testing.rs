//! The parts of a test: a store in memory, a settable clock, seeded randomness, a hasher without
//! cost, the messages of the outbox, and the contract of every store.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use chrono::TimeDelta;
use rand::SeedableRng;
use rand::rngs::StdRng;
use sha2::{Digest, Sha256};

use crate::code::Code;
use crate::identity::Email;
use crate::outbox::{Channel, Content, OutboundMessage};
use crate::password::{Busy, Password, PasswordHash, PasswordHasher, Verification};
use crate::random::SharedRng;
use crate::store::Store;
use crate::vault::Vault;
use crate::{StoreError, Timestamp};

pub mod contract;
mod memory;
#[cfg(feature = "model")]
pub mod model;

pub use memory::MemoryStore;

/// Returns a generator that draws the same numbers for the same seed.
#[must_use]
pub fn seeded_rng(seed: u64) -> SharedRng {
    SharedRng::new(StdRng::seed_from_u64(seed))
}

/// A clock that moves only when a test advances the clock.
#[derive(Clone)]
pub struct FixedClock(Arc<Mutex<Timestamp>>);

impl FixedClock {
    /// Makes a clock with this time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(time)))
    }

    /// Returns the time of the clock.
    ///
    /// # Panics
    ///
    /// Panics where another holder of the clock panicked.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        *self.0.lock().expect("no holder of the clock panicked")
    }

    /// Moves the clock, forward or back.
    ///
    /// # Panics
    ///
    /// Panics where another holder of the clock panicked.
    pub fn advance(&self, by: TimeDelta) {
        *self.0.lock().expect("no holder of the clock panicked") += by;
    }
}

impl Default for FixedClock {
    /// Makes a clock that shows noon of 20 November 2026.
    fn default() -> Self {
        Self::at(Timestamp::from_timestamp(1_795_176_000, 0).expect("a time of this century"))
    }
}

/// A hasher without cost, which counts its calls and yields once, so that parallel calls
/// interleave.
#[derive(Clone, Default)]
pub struct CheapHasher {
    hashes: Arc<AtomicU64>,
    compared: Arc<AtomicU64>,
}

impl CheapHasher {
    /// Returns the number of computed hashes.
    #[must_use]
    pub fn hashes(&self) -> u64 {
        self.hashes.load(Ordering::Relaxed)
    }

    /// Returns the number of passwords that were compared with the hash of an account.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.compared.load(Ordering::Relaxed)
    }

    async fn work(&self, password: &Password) -> String {
        self.hashes.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
        Sha256::digest(password.expose()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl PasswordHasher for CheapHasher {
    type Permit = ();

    async fn admit(&self) -> Result<(), Busy> {
        Ok(())
    }

    async fn hash(&self, (): (), password: &Password) -> PasswordHash {
        PasswordHash(self.work(password).await)
    }

    async fn verify(
        &self,
        (): (),
        password: &Password,
        hash: Option<&PasswordHash>,
    ) -> Verification {
        let offered = self.work(password).await;
        self.compared.fetch_add(u64::from(hash.is_some()), Ordering::Relaxed);
        Verification { matches: hash.is_some_and(|hash| hash.0 == offered), rehashed: None }
    }
}

/// The messages of a store, taken as a mail worker takes them.
pub struct Outbox<S> {
    store: S,
    vault: Arc<Vault>,
}

impl<S: Store> Outbox<S> {
    /// Makes the outbox of a store with this vault.
    pub const fn new(store: S, vault: Arc<Vault>) -> Self {
        Self { store, vault }
    }

    /// Takes all messages that are due, oldest first, without decoys.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store fails.
    ///
    /// # Panics
    ///
    /// Panics where a message cannot be opened.
    pub async fn take(&self, now: Timestamp) -> Result<Vec<OutboundMessage>, StoreError> {
        let mut messages = Vec::new();
        for due in self.store.due_messages(Channel::Mail, now, u32::MAX).await? {
            let message = OutboundMessage::unseal(due.id, &due.sealed, &self.vault);
            messages.push(message.expect("the store keeps e-mails unchanged"));
            self.store.message_sent(due.id).await?;
        }
        messages.retain(|message| !matches!(message.content, Content::Decoy { .. }));
        Ok(messages)
    }

    /// Takes all due messages, and returns the latest code that was sent to an address.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store fails.
    pub async fn code(&self, to: &Email, now: Timestamp) -> Result<Option<Code>, StoreError> {
        let messages = self.take(now).await?;
        Ok(messages.into_iter().rev().filter(|message| message.to == *to).find_map(|message| {
            match message.content {
                Content::Registration { code, .. }
                | Content::Mfa { code }
                | Content::Reset { code }
                | Content::EmailChange { code } => Some(code),
                _ => None,
            }
        }))
    }
}

/// Runs futures concurrently, and returns their results in order.
pub async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut results: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, result) in running.iter_mut().zip(&mut results) {
            if result.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(context)
            {
                *result = Some(value);
            }
        }
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}

/// Yields to the other futures of the task, once.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn open() -> Option<(MemoryStore, ())> {
        Some((MemoryStore::new(), ()))
    }

    crate::store_contract!(open);
}
