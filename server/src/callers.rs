//! Who a key belongs to, remembered for a moment.
//!
//! The warm path asks no storage. Every change that makes a memory wrong, as of a key revoked or
//! suspended, a tier, a limit or a grant, moves the store's revision. A watcher reads it a few times
//! a second, and at once where the database announces it; where it has moved, everyone is
//! forgotten. So a change is seen within a second wherever it was made, also where no announcement
//! comes, and where the watcher hears nothing from the store, nothing is believed any longer. A
//! change made here is forgotten at once.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use account_core::{ApiKey, Caller, KeyDigest, Refusal, Timestamp, Vault};
use moka::future::Cache;

use crate::{service::Accounts, store::Store};

/// How long a caller is remembered while nothing changes.
const REMEMBERED: Duration = Duration::from_secs(60);
/// How long a key is remembered to open nothing; it may be a new one's soon.
const REMEMBERED_UNKNOWN: Duration = Duration::from_millis(500);
/// How often the store is asked whether anything changed.
const WATCHED: Duration = Duration::from_millis(300);
/// How long what is remembered is believed after the store last said that nothing changed.
const BELIEVED: Duration = Duration::from_millis(900);
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
    known: Cache<KeyDigest, Remembered>,
    unknown: Cache<KeyDigest, Unidentified>,
    /// Moves whenever everyone is forgotten; what was looked up before counts no longer.
    epoch: AtomicU64,
    /// When the store last said that nothing had changed.
    confirmed: Mutex<Instant>,
    look_ups: AtomicU64,
}

#[derive(Clone)]
struct Remembered {
    caller: Caller,
    epoch: u64,
}

impl Callers {
    /// Remembers nobody yet.
    #[must_use]
    pub fn new(vault: Arc<Vault>) -> Self {
        let known = Cache::builder().max_capacity(CAPACITY).time_to_live(REMEMBERED).build();
        let unknown = Cache::builder()
            .max_capacity(UNKNOWN_CAPACITY)
            .time_to_live(REMEMBERED_UNKNOWN)
            .build();
        Self {
            vault,
            known,
            unknown,
            epoch: AtomicU64::new(0),
            confirmed: Mutex::new(Instant::now()),
            look_ups: AtomicU64::new(0),
        }
    }

    /// Forgets everyone whenever the store's revision moves from `seen`, until the task is ended.
    pub async fn watch(&self, store: &Store, mut seen: i64) {
        let mut news = None;
        loop {
            if news.is_none() {
                news = store.news().await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "the database announces nothing; it is asked instead");
                    None
                });
            }
            let asked = Instant::now();
            match store.revision().await {
                Ok(revision) if revision == seen => {}
                Ok(revision) => {
                    seen = revision;
                    self.forget_all().await;
                }
                Err(error) => {
                    tracing::error!(%error, "the store does not tell whether a key has changed");
                    tokio::time::sleep(WATCHED).await;
                    continue;
                }
            }
            *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) = asked;
            match &mut news {
                None => tokio::time::sleep(WATCHED).await,
                Some(heard) => {
                    if let Ok(Err(error)) = tokio::time::timeout(WATCHED, heard.next()).await {
                        tracing::warn!(%error, "the database's announcements are lost");
                        news = None;
                    }
                }
            }
        }
    }

    /// How often the store was asked who a key belongs to.
    #[must_use]
    pub fn look_ups(&self) -> u64 {
        self.look_ups.load(Ordering::Relaxed)
    }

    fn is_believed(&self, remembered: &Remembered) -> bool {
        remembered.epoch == self.epoch.load(Ordering::SeqCst)
            && self.confirmed.lock().unwrap_or_else(PoisonError::into_inner).elapsed() < BELIEVED
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
        match self.known.get(&digest).await {
            Some(remembered) if self.is_believed(&remembered) => {
                return still_valid(remembered.caller, now);
            }
            Some(_) => self.known.invalidate(&digest).await,
            None => {}
        }
        if let Some(reason) = self.unknown.get(&digest).await {
            return Err(reason);
        }
        // Callers with one key wait for one look-up.
        let found = self.known.try_get_with(digest, self.look_up(accounts, key, now)).await;
        match found {
            Ok(remembered) => still_valid(remembered.caller, now),
            Err(reason) => {
                if *reason != Unidentified::Unavailable {
                    self.unknown.insert(digest, *reason).await;
                }
                Err(*reason)
            }
        }
    }

    /// Forgets everyone.
    pub async fn forget_all(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.unknown.invalidate_all();
        self.unknown.run_pending_tasks().await;
    }

    /// Forgets `key`, which has just been revoked or changed.
    pub async fn forget(&self, key: &ApiKey) {
        self.known.invalidate(&self.vault.key_digest(key)).await;
    }

    async fn look_up(
        &self,
        accounts: &Accounts,
        key: &ApiKey,
        now: Timestamp,
    ) -> Result<Remembered, Unidentified> {
        self.look_ups.fetch_add(1, Ordering::Relaxed);
        // Read before the store is asked: a change in between makes the answer an old one.
        let epoch = self.epoch.load(Ordering::SeqCst);
        let found = accounts.authenticate(key, now).await;
        let caller = found.map_err(|refusal| match refusal {
            Refusal::Unknown => Unidentified::Unknown,
            Refusal::GuestExpired => Unidentified::GuestExpired,
            failure => {
                tracing::error!(%failure, "a key could not be looked up");
                Unidentified::Unavailable
            }
        })?;
        Ok(Remembered { caller, epoch })
    }
}

/// A guest's day may end while it is remembered.
fn still_valid(caller: Caller, now: Timestamp) -> Result<Caller, Unidentified> {
    match &caller {
        Caller::Guest(guest) if now >= guest.expires_at => Err(Unidentified::GuestExpired),
        _ => Ok(caller),
    }
}
