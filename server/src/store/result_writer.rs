//! The writer of results that no charge carries with it, as large ones and refusals: whatever waits
//! goes into one transaction, and nothing waits for more.

use std::sync::{Arc, Mutex, PoisonError};

use account_core::store::LedgerStore;
use account_core::{StoreError, StoredResult};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::Store;

/// How many results may wait; more wait before the queue.
const WAITING: usize = 1_024;
/// How many are written at once. Each may hold megabytes.
const LARGEST_BATCH: usize = 128;

type Answer = oneshot::Sender<Result<(), StoreError>>;
type Queue = mpsc::Sender<(StoredResult, Answer)>;

/// A handle to the one task that writes results.
#[derive(Clone)]
pub struct ResultWriter {
    queue: Arc<Mutex<Option<Queue>>>,
    task: Arc<tokio::sync::Mutex<Option<JoinHandle<()>>>>,
}

impl ResultWriter {
    /// Starts the writer. It ends with [`close`](Self::close) or with its last handle.
    #[must_use]
    pub fn start(store: Store) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let task = tokio::spawn(write(store, receiver));
        Self {
            queue: Arc::new(Mutex::new(Some(sender))),
            task: Arc::new(tokio::sync::Mutex::new(Some(task))),
        }
    }

    /// Keeps a result: every instance reads it once this has answered.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store fails or the writer was closed; it is not kept then.
    pub async fn keep(&self, result: StoredResult) -> Result<(), StoreError> {
        let closed = || StoreError::new("the results are closed");
        // A panic of another holder leaves the option as it was.
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (answer, kept) = oneshot::channel();
        queue.ok_or_else(closed)?.send((result, answer)).await.map_err(|_| closed())?;
        kept.await.map_err(|_| closed())?
    }

    /// Writes what waits and ends the writer. Later results are refused.
    pub async fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = self.task.lock().await.take()
            && task.await.is_err()
        {
            tracing::error!("the writer of results panicked");
        }
    }
}

async fn write(store: Store, mut queue: mpsc::Receiver<(StoredResult, Answer)>) {
    let mut waiting = Vec::with_capacity(LARGEST_BATCH);
    while queue.recv_many(&mut waiting, LARGEST_BATCH).await > 0 {
        let (results, answers): (Vec<StoredResult>, Vec<Answer>) = waiting.drain(..).unzip();
        if let [_] = results[..] {
            answer_all(answers, store.keep_results(results).await);
            continue;
        }
        match store.keep_results(results.clone()).await {
            Ok(()) => answer_all(answers, Ok(())),
            Err(error) => keep_singly(&store, results, answers, &error).await,
        }
    }
}

/// Whoever asked may be gone; what was kept stays.
fn answer_all(answers: Vec<Answer>, outcome: Result<(), StoreError>) {
    let mut outcome = Some(outcome);
    for answer in answers {
        let _ = answer.send(outcome.take().unwrap_or(Ok(())));
    }
}

/// Lets no result be lost for another's fault. A batch that failed left nothing behind.
async fn keep_singly(
    store: &Store,
    results: Vec<StoredResult>,
    answers: Vec<Answer>,
    error: &StoreError,
) {
    tracing::warn!(%error, results = results.len(), "a batch failed; its results are tried singly");
    for (result, answer) in results.into_iter().zip(answers) {
        let _ = answer.send(store.keep_results(vec![result]).await);
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
