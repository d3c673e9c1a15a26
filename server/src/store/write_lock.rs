//! The lock of all writers to a SQLite file within this process.

use std::sync::Arc;
use std::time::Duration;

use account_core::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The longest wait of a writer for the lock.
const PATIENCE: Duration = Duration::from_secs(30);

/// A fair lock in front of SQLite's own file lock.
///
/// SQLite allows one writer at a time. A writer that finds the file locked sleeps and retries, and
/// a longer wait earns no precedence; this lock serves writers in the order of their arrival. A
/// pool of one connection would be fair too, but the pool tests a returned connection before its
/// next use, which takes longer than most transactions.
pub(super) struct WriteLock(Arc<Semaphore>);

/// The held lock, released on drop.
pub(super) struct WriteGuard {
    _permit: OwnedSemaphorePermit,
}

impl Default for WriteLock {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl WriteLock {
    /// Waits for the lock, at most [`PATIENCE`].
    pub(super) async fn acquire(&self) -> Result<WriteGuard, StoreError> {
        let permit = tokio::time::timeout(PATIENCE, self.0.clone().acquire_owned()).await;
        let permit =
            permit.map_err(|_| StoreError::new("other writers held the lock for too long"))?;
        let _permit = permit.map_err(|_| StoreError::new("the database is closed"))?;
        Ok(WriteGuard { _permit })
    }

    /// Lets earlier writers finish and refuses later ones.
    pub(super) async fn close(&self) {
        // A writer that still holds the lock after the longest wait is not waited for.
        let _last = self.acquire().await;
        self.0.close();
    }
}
