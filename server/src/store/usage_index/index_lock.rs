//! The lock of the one pass at a time that brings the usage index up to date.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Mutex, MutexGuard};

/// The lock of the indexing pass, with the number of queries that wait for the pass.
#[derive(Default)]
pub(in super::super) struct IndexLock {
    pass: Mutex<()>,
    waiting_queries: AtomicUsize,
}

/// The registration of a query that waits for the pass; it ends on drop.
pub(in super::super) struct WaitingQuery<'a>(&'a AtomicUsize);

impl IndexLock {
    /// Waits until no other pass is running.
    pub(in super::super) async fn acquire(&self) -> MutexGuard<'_, ()> {
        self.pass.lock().await
    }

    /// Registers a query that waits, so that the pass runs without pauses.
    pub(in super::super) fn register_query(&self) -> WaitingQuery<'_> {
        self.waiting_queries.fetch_add(1, Ordering::Relaxed);
        WaitingQuery(&self.waiting_queries)
    }

    /// Returns whether a query waits for the pass.
    pub(in super::super) fn is_urgent(&self) -> bool {
        self.waiting_queries.load(Ordering::Relaxed) > 0
    }
}

impl Drop for WaitingQuery<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
