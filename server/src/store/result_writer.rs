//! The result writer, which stores in batches the results that no debit carries because they are
//! large.

use std::sync::Arc;

use account_core::store::LedgerStore;
use account_core::{StoreError, StoredResult};

use super::batch_writer::{BatchBackend, BatchWriter};
use super::handle::Store;
use crate::failpoint;

/// The number of results that may wait. Further results wait before the queue.
const CAPACITY: usize = 1_024;
/// The largest number of results in one transaction; each may hold megabytes.
const LARGEST_BATCH: usize = 128;

/// A handle to the one task that stores results.
#[derive(Clone)]
pub struct ResultWriter(Arc<BatchWriter<StoredResult, ()>>);

impl ResultWriter {
    /// Starts the task that stores results. The task ends after [`close`](Self::close), or once every
    /// clone of the returned handle is dropped.
    #[must_use]
    pub fn start(store: Store) -> Self {
        Self(Arc::new(BatchWriter::start("result", vec![ResultBatches(store)], CAPACITY)))
    }

    /// Stores a result; every instance can read the result once this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store fails or the writer was closed; the result is not stored
    /// then.
    pub async fn keep(&self, result: StoredResult) -> Result<(), StoreError> {
        self.0.submit(0, result).await
    }

    /// Stores the waiting results and ends the task. Later results are refused.
    pub async fn close(&self) {
        self.0.close().await;
    }
}

struct ResultBatches(Store);

impl BatchBackend for ResultBatches {
    type Job = StoredResult;
    type Answer = ();

    const LARGEST_BATCH: usize = LARGEST_BATCH;

    async fn write(&mut self, results: Vec<StoredResult>) -> Vec<Result<(), StoreError>> {
        failpoint::hit("results_taken");
        let stored = self.write_together(results).await;
        failpoint::hit("results_committed");
        stored
    }
}

impl ResultBatches {
    /// Stores results in one transaction, or each alone where that fails.
    async fn write_together(&self, results: Vec<StoredResult>) -> Vec<Result<(), StoreError>> {
        if let [_] = results[..] {
            return vec![self.0.keep_results(results).await];
        }
        match self.0.keep_results(results.clone()).await {
            Ok(()) => results.iter().map(|_| Ok(())).collect(),
            Err(error) => self.write_singly(results, &error).await,
        }
    }

    /// Stores each result of a failed batch alone, so that one faulty result fails no other. The
    /// failed transaction left nothing behind.
    async fn write_singly(
        &self,
        results: Vec<StoredResult>,
        error: &StoreError,
    ) -> Vec<Result<(), StoreError>> {
        tracing::warn!(%error, results = results.len(), "a batch failed; its results are tried singly");
        let mut stored = Vec::with_capacity(results.len());
        for result in results {
            stored.push(self.0.keep_results(vec![result]).await);
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use account_core::testing::{CheapHasher, FixedClock, all, seeded_rng};
    use account_core::{Accounts, Email, NewAccount, ResultId, Tier, Username, Vault};

    use super::*;
    use crate::store::{Migrate, open};

    #[tokio::test]
    async fn closing_keeps_what_waits_and_one_fault_costs_no_neighbour() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("test.sqlite").display().to_string();
        let store = open(&path, Migrate::Run).await.expect("a new database");
        let rng = seeded_rng(5);
        let vault = Arc::new(Vault::create(&mut rng.clone()));
        let accounts = Accounts::new(store.clone(), CheapHasher::default(), vault, rng);
        let account = NewAccount {
            email: Email::parse("ada@example.com").expect("an address"),
            username: Username::parse("ada").expect("a name"),
            password: None,
            tier: Tier::Pro,
            credits: None,
            hourly_limit: None,
            is_admin: false,
        };
        let at = FixedClock::default().now();
        let owner = accounts.create_account(account, at).await.expect("a new account").id;
        let writer = ResultWriter::start(store);
        let keep = |id| {
            let body = "{}".to_owned();
            writer.keep(StoredResult { id: ResultId(id), owner, body, at })
        };
        // Number 7 comes twice, which the database refuses.
        let waiting = (0..50).chain([7]).map(keep);
        let (kept, ()) = tokio::join!(all(waiting), writer.close());
        assert_eq!(kept.iter().filter(|kept| kept.is_ok()).count(), 50);
        for id in 0..50 {
            assert!(accounts.kept_result(owner, ResultId(id), at).await.expect("ok").is_some());
        }
        assert!(keep(99).await.is_err());
    }
}
