//! Computations that may take over a millisecond, away from the threads that answer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use thiserror::Error;
use tokio::sync::Semaphore;

/// How long a computation may wait for a core before the caller is told to come back.
const PATIENCE: Duration = Duration::from_secs(30);

/// The reason why long work has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ComputeError {
    /// No place came free in time.
    #[error("no core came free in time")]
    Busy,
    /// The work panicked.
    #[error("a long computation failed")]
    Panicked,
}

/// As many long computations at once as there are cores.
pub struct ComputePool {
    size: usize,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl ComputePool {
    /// Room for `places` at once.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self {
            size: places,
            places: Arc::new(Semaphore::new(places)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// How many computations run, and how many wait.
    #[must_use]
    pub fn load(&self) -> (usize, usize) {
        (self.size - self.places.available_permits(), self.waiting.load(Ordering::Relaxed))
    }

    /// Runs `work` once there is a place.
    ///
    /// # Errors
    ///
    /// [`ComputeError::Busy`] where no place came free in time, [`ComputeError::Panicked`] where the
    /// work panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let place = {
            let _waiting = Waiting::one_more(&self.waiting);
            tokio::time::timeout(PATIENCE, self.places.clone().acquire_owned()).await
        };
        let Ok(Ok(place)) = place else { return Err(ComputeError::Busy) };
        let outcome = tokio::task::spawn_blocking(move || {
            // The place is taken until the work is done, also where nobody waits for it any more.
            let _place = place;
            work()
        });
        outcome.await.map_err(|error| {
            tracing::error!(%error, "a long computation failed");
            ComputeError::Panicked
        })
    }
}

/// Counts who waits, also where the wait is given up.
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
