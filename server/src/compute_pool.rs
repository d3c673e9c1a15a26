//! The pool for computations that may take over a millisecond, off the asynchronous threads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::Semaphore;

/// Longest wait of a computation for a slot before the caller is refused.
const PATIENCE: Duration = Duration::from_secs(30);

/// A computation that gave no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeError {
    /// No slot came free in time.
    Busy {
        /// Time after which the caller may try again.
        retry_after: Duration,
    },
    /// The computation panicked, which is a defect.
    Failed,
}

/// A pool that runs as many long computations at once as there are cores.
pub struct ComputePool {
    size: usize,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl ComputePool {
    /// Makes a pool of `places` slots.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self {
            size: places,
            places: Arc::new(Semaphore::new(places)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Returns the numbers of running and of waiting computations.
    #[must_use]
    pub fn load(&self) -> (usize, usize) {
        (self.size - self.places.available_permits(), self.waiting.load(Ordering::Relaxed))
    }

    /// Runs `work` once a slot is free.
    ///
    /// # Errors
    ///
    /// [`ComputeError::Busy`] where no slot came free in time.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let busy = ComputeError::Busy { retry_after: Duration::from_secs(1) };
        let place = {
            let _waiting = Waiting::one_more(&self.waiting);
            tokio::time::timeout(PATIENCE, self.places.clone().acquire_owned()).await
        };
        let Ok(Ok(place)) = place else { return Err(busy) };
        let outcome = tokio::task::spawn_blocking(move || {
            // The slot is taken until the work is done, also where the caller has hung up.
            let _place = place;
            work()
        });
        outcome.await.map_err(|error| {
            tracing::error!(%error, "a long computation failed");
            ComputeError::Failed
        })
    }
}

/// A waiting computation, counted until its wait ends.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn one_more(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
