//! The cache of identified callers: a cached caller needs no query.
//!
//! Every change that invalidates an entry moves the store's revision: a key revoked or suspended, a
//! tier, a limit, a grant of credits or to a client. A watcher reads the revision a few times a
//! second, and at once after a notification of the database. Where the revision has moved, all
//! entries are dropped. So every instance sees a change within a second, also where no notification
//! arrives. While the store does not answer the watcher, no entry is used. A change made by this
//! instance drops its entry at once.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use moka::{Expiry, future::Cache};

use crate::{
    auth::lookup_error::LookupError,
    store::{Generation, Store},
};

/// The time between two reads of the store's revision.
pub const WATCHED: Duration = Duration::from_millis(300);
/// Time for which entries are used after the last confirmation that the revision had not moved.
const BELIEVED: Duration = Duration::from_millis(900);
/// Time to live of an unknown credential, which may become valid soon.
const REMEMBERED_UNKNOWN: Duration = Duration::from_millis(500);
/// Largest number of unknown credentials, whose cache is separate so that they evict no caller.
const UNKNOWN_CAPACITY: u64 = 10_000;

/// The freshness of the caches, which decides whether entries may be used.
pub struct CacheFreshness {
    generation: Arc<Generation>,
    /// The moment of the last confirmation that the revision had not moved.
    confirmed: Mutex<Instant>,
}

impl CacheFreshness {
    /// Makes the freshness of caches over `store`.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self { generation: store.generation().clone(), confirmed: Mutex::new(Instant::now()) }
    }

    /// Bumps the generation whenever the store's revision moves from `seen`. Ends only when aborted.
    pub async fn watch(&self, store: &Store, mut seen: i64) {
        let mut revision_listener = None;
        loop {
            if revision_listener.is_none() {
                revision_listener = store.revision_listener().await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "no notifications of the database; polling its revision");
                    None
                });
            }
            let asked = Instant::now();
            match store.revision().await {
                Ok(revision) if revision == seen => {}
                Ok(revision) => {
                    seen = revision;
                    self.forget_all();
                }
                Err(error) => {
                    tracing::error!(%error, "the revision of the store cannot be read");
                    tokio::time::sleep(WATCHED).await;
                    continue;
                }
            }
            *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) = asked;
            match &mut revision_listener {
                None => tokio::time::sleep(WATCHED).await,
                Some(listener) => {
                    if let Ok(Err(error)) = tokio::time::timeout(WATCHED, listener.next()).await {
                        tracing::warn!(%error, "the notifications of the database are lost");
                        revision_listener = None;
                    }
                }
            }
        }
    }

    /// Invalidates all entries, whatever their age.
    pub fn forget_all(&self) {
        self.generation.bump();
    }

    fn is_fresh(&self) -> bool {
        self.confirmed.lock().unwrap_or_else(PoisonError::into_inner).elapsed() < BELIEVED
    }
}

/// A generator of times to live, between half of the longest and the longest. With equal times,
/// entries that were made together, as after a start, would expire and be loaded together.
struct TtlJitter {
    longest: Duration,
    fraction: RandomState,
}

impl TtlJitter {
    fn over(longest: Duration) -> Self {
        Self { longest, fraction: RandomState::new() }
    }
}

impl<N: Hash, T> Expiry<N, T> for TtlJitter {
    fn expire_after_create(&self, name: &N, _known: &T, _now: Instant) -> Option<Duration> {
        let fraction = self.fraction.hash_one(name) as f64 / u64::MAX as f64;
        Some(self.longest.mul_f64(f64::midpoint(1.0, fraction)))
    }
}

/// A cache of callers by credential.
pub struct AuthCache<N, T> {
    freshness: Arc<CacheFreshness>,
    known: Cache<N, Remembered<T>>,
    unknown: Cache<N, Remembered<LookupError>>,
    misses: AtomicU64,
}

/// An answer of the store, with the generation in which the store was asked.
#[derive(Clone)]
struct Remembered<T> {
    answer: T,
    generation: u64,
}

impl<N, T> AuthCache<N, T>
where
    N: Copy + Eq + Hash + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// Makes an empty cache with its largest size and its longest time to live.
    #[must_use]
    pub fn new(freshness: Arc<CacheFreshness>, capacity: u64, remembered: Duration) -> Self {
        Self::with_capacities(freshness, capacity, UNKNOWN_CAPACITY, remembered)
    }

    fn with_capacities(
        freshness: Arc<CacheFreshness>,
        known: u64,
        unknown: u64,
        remembered: Duration,
    ) -> Self {
        let known =
            Cache::builder().max_capacity(known).expire_after(TtlJitter::over(remembered)).build();
        let unknown =
            Cache::builder().max_capacity(unknown).time_to_live(REMEMBERED_UNKNOWN).build();
        Self { freshness, known, unknown, misses: AtomicU64::new(0) }
    }

    /// Returns the caller of `name`; `look_up` reads the store on a miss.
    ///
    /// # Errors
    ///
    /// [`LookupError`] where no caller was found.
    pub async fn get_or_load<F>(&self, name: N, look_up: impl Fn() -> F) -> Result<T, LookupError>
    where
        F: Future<Output = Result<T, LookupError>>,
    {
        let generation = self.freshness.generation.number();
        match self.known.get(&name).await {
            Some(known) if known.generation == generation && self.freshness.is_fresh() => {
                return Ok(known.answer);
            }
            Some(_) => self.known.invalidate(&name).await,
            None => {}
        }
        if let Some(unknown) = self.unknown.get(&name).await
            && unknown.generation == generation
        {
            return Err(unknown.answer);
        }
        self.ask(name, generation, look_up).await
    }

    /// Reads the store. Requests with one credential share one look-up, unless the generation has
    /// moved since the look-up began.
    async fn ask<F>(
        &self,
        name: N,
        generation: u64,
        look_up: impl Fn() -> F,
    ) -> Result<T, LookupError>
    where
        F: Future<Output = Result<T, LookupError>>,
    {
        loop {
            let asked = self.known.try_get_with(name, async {
                self.misses.fetch_add(1, Ordering::Relaxed);
                // The generation is read before the store: a change between the two makes the
                // answer outdated.
                let generation = self.freshness.generation.number();
                match look_up().await {
                    Ok(answer) => Ok(Remembered { answer, generation }),
                    Err(answer) => Err(Remembered { answer, generation }),
                }
            });
            match asked.await {
                Ok(known) if known.generation >= generation => return Ok(known.answer),
                Err(failure) if failure.generation >= generation => {
                    if failure.answer != LookupError::Unavailable {
                        self.unknown.insert(name, (*failure).clone()).await;
                    }
                    return Err(failure.answer);
                }
                Ok(_) => self.known.invalidate(&name).await,
                Err(_) => {}
            }
        }
    }

    /// Removes the entry of `name`, so that the next call reads the store.
    pub async fn forget(&self, name: &N) {
        self.known.invalidate(name).await;
    }

    /// Returns the number of cache misses.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOT: u64 = 0;

    fn cache() -> AuthCache<u64, u64> {
        let confirmed = Mutex::new(Instant::now());
        let freshness = Arc::new(CacheFreshness { generation: Arc::default(), confirmed });
        AuthCache::with_capacities(freshness, 10, 100, Duration::from_secs(60))
    }

    /// Asks for a name; the store knows one.
    async fn ask(cache: &AuthCache<u64, u64>, name: u64) -> Result<u64, LookupError> {
        let look_up =
            || async move { if name == HOT { Ok(name) } else { Err(LookupError::Unknown) } };
        cache.get_or_load(name, look_up).await
    }

    #[tokio::test]
    async fn a_flood_of_unknown_keys_pushes_out_no_hot_one() {
        let cache = cache();
        ask(&cache, HOT).await.expect("the hot one");
        for name in 1..=1_000 {
            assert_eq!(ask(&cache, name).await, Err(LookupError::Unknown));
        }
        cache.known.run_pending_tasks().await;
        cache.unknown.run_pending_tasks().await;
        assert_eq!(cache.known.entry_count(), 1, "none of them is among the known");
        assert!(cache.unknown.entry_count() <= 100, "they push out each other");
        assert_eq!(cache.misses(), 1_001, "each was looked up");
        // Without a watcher, entries are used only for a short time.
        *cache.freshness.confirmed.lock().expect("no panic") = Instant::now();
        ask(&cache, HOT).await.expect("the hot one");
        assert_eq!(cache.misses(), 1_001, "the hot one's check asks no storage");
    }

    #[test]
    fn who_came_at_once_is_forgotten_little_by_little() {
        let spread = TtlJitter::over(Duration::from_secs(60));
        let mut forgotten = [0; 60];
        for name in 0..3_000_u64 {
            let after = spread.expire_after_create(&name, &(), Instant::now());
            forgotten[after.expect("some time").as_secs() as usize] += 1;
        }
        assert_eq!(forgotten[..30], [0; 30]);
        assert!(forgotten[30..].iter().all(|names| (50..200).contains(names)), "{forgotten:?}");
    }

    #[tokio::test]
    async fn what_was_asked_in_an_epoch_that_is_over_is_asked_again() {
        let cache = cache();
        for _ in 0..3 {
            ask(&cache, HOT).await.expect("the hot one");
            assert_eq!(ask(&cache, 1).await, Err(LookupError::Unknown));
        }
        assert_eq!(cache.misses(), 2);
        cache.freshness.forget_all();
        ask(&cache, HOT).await.expect("the hot one");
        assert_eq!(ask(&cache, 1).await, Err(LookupError::Unknown));
        assert_eq!(cache.misses(), 4);
    }
}
