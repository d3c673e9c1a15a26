//! Computations that may take over a millisecond, away from the threads that answer.

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use crate::http::Refusal;

/// How long a computation may wait for a core before the caller is told to come back.
const PATIENCE: Duration = Duration::from_secs(30);

/// As many long computations at once as there are cores.
pub struct LongWork {
    places: Arc<Semaphore>,
}

impl LongWork {
    /// Room for `places` at once.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)) }
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
        let place = self.places.clone().acquire_owned();
        let Ok(Ok(place)) = tokio::time::timeout(PATIENCE, place).await else { return Err(busy) };
        let outcome = tokio::task::spawn_blocking(move || {
            // The place is taken until the work is done, also where nobody waits for it any more.
            let _place = place;
            work()
        });
        outcome.await.map_err(|error| {
            tracing::error!(%error, "a long computation failed");
            Refusal::Internal
        })
    }
}
