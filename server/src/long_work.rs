//! Computations that may take over a millisecond, away from the threads that answer.

use std::time::Duration;

use tokio::sync::Semaphore;

use crate::http::Refusal;

/// How long a computation may wait for a core before the caller is told to come back.
const PATIENCE: Duration = Duration::from_secs(30);

/// As many long computations at once as there are cores.
pub struct LongWork {
    places: Semaphore,
}

impl LongWork {
    /// Room for `places` at once.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self { places: Semaphore::new(places) }
    }

    /// Runs `work` once there is a place.
    ///
    /// # Errors
    ///
    /// [`Refusal::Busy`] where no place came free in time.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let busy = Refusal::Busy { retry_after: Duration::from_secs(1) };
        let Ok(place) = tokio::time::timeout(PATIENCE, self.places.acquire()).await else {
            return Err(busy);
        };
        let outcome = tokio::task::spawn_blocking(work).await;
        drop(place);
        outcome.map_err(|error| {
            tracing::error!(%error, "a long computation failed");
            Refusal::Internal
        })
    }
}
