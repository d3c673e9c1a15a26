//! The ledger writers: each settles whatever waits for it at once, and waits for nothing itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use account_core::{CallerId, Entry, Settlement, StoreError};
use prometheus::Histogram;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::ledger::LedgerBackend;
use super::{Store, writer_of};
use crate::failpoint;

/// How many calls may wait, for all writers together; more are refused at once.
const WAITING: usize = 8_192;
/// How many are settled at once, so that a transaction stays short.
const LARGEST_BATCH: usize = 512;

type Answer = oneshot::Sender<Result<Settlement, StoreError>>;
type Queue = mpsc::Sender<(Entry, Answer)>;

/// A handle to the tasks that debit: one on SQLite, a few on PostgreSQL, where a caller always
/// comes to the same one. While one commits a batch, its next one gathers; an idle writer settles a
/// single call at once.
#[derive(Clone)]
pub struct LedgerWriter {
    /// None once it is closed.
    queues: Arc<Mutex<Vec<Queue>>>,
    tasks: Arc<tokio::sync::Mutex<Vec<JoinHandle<()>>>>,
    lost: Arc<AtomicU64>,
}

impl LedgerWriter {
    /// Starts the writers, which tell `batches` how many calls they settle at once. They end with
    /// [`close`](Self::close) or with the last handle.
    #[must_use]
    pub fn start(store: &Store, batches: &Histogram) -> Self {
        let desks = LedgerBackend::of(store);
        let room = WAITING / desks.len();
        let lost = Arc::new(AtomicU64::new(0));
        let (queues, tasks) = desks
            .into_iter()
            .map(|backend| {
                let (sender, receiver) = mpsc::channel(room);
                let is_apart = backend.keeps_its_thread();
                let task = write(backend, receiver, batches.clone(), lost.clone());
                let task = if is_apart {
                    tokio::task::spawn_blocking(|| Handle::current().block_on(task))
                } else {
                    tokio::spawn(task)
                };
                (sender, task)
            })
            .unzip();
        Self {
            queues: Arc::new(Mutex::new(queues)),
            tasks: Arc::new(tokio::sync::Mutex::new(tasks)),
            lost,
        }
    }

    /// Settles a call: durable once answered. A caller that stops waiting may have been charged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where too many calls wait already or the writers were closed, and then
    /// nothing was charged; or where the store fails. A store that was lost while it wrote and does
    /// not come back in time leaves open whether the call was charged.
    pub async fn settle(&self, entry: Entry) -> Result<Settlement, StoreError> {
        let closed = || StoreError::new("the ledger is closed");
        let queue = self.queue(entry.caller).ok_or_else(closed)?;
        let (answer, settled) = oneshot::channel();
        queue.try_send((entry, answer)).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::new("too many calls wait for the ledger"),
            TrySendError::Closed(_) => closed(),
        })?;
        settled.await.map_err(|_| closed())?
    }

    /// How many calls wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.iter().map(|queue| queue.max_capacity() - queue.capacity()).sum()
    }

    /// Whether no writer takes another call.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.waiting() >= WAITING
    }

    /// Writes a call down that nobody waits for, because it costs nothing. Where too many calls
    /// wait it is not written down, and the log counts it.
    pub fn record(&self, entry: Entry) {
        let Some(queue) = self.queue(entry.caller) else {
            tracing::error!("a call came after the ledger was closed and was not written down");
            return;
        };
        let (nobody, _) = oneshot::channel();
        if queue.try_send((entry, nobody)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The queue of the writer that a caller always comes to.
    fn queue(&self, caller: CallerId) -> Option<Queue> {
        // A panic of another holder leaves the queues as they were.
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if queues.is_empty() { None } else { Some(queues[writer_of(caller, queues.len())].clone()) }
    }

    /// Settles what waits and ends the writers. Later calls are refused.
    pub async fn close(&self) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).clear();
        for task in self.tasks.lock().await.drain(..) {
            if task.await.is_err() {
                tracing::error!("a ledger writer panicked");
            }
        }
    }
}

async fn write(
    mut backend: LedgerBackend,
    mut queue: mpsc::Receiver<(Entry, Answer)>,
    batches: Histogram,
    lost: Arc<AtomicU64>,
) {
    let mut waiting = Vec::with_capacity(LARGEST_BATCH);
    while queue.recv_many(&mut waiting, LARGEST_BATCH).await > 0 {
        let (entries, answers): (Vec<Entry>, Vec<Answer>) = waiting.drain(..).unzip();
        batches.observe(entries.len() as f64);
        failpoint::hit("ledger_taken");
        let settled = backend.settle(&entries).await;
        failpoint::hit("ledger_committed");
        for (answer, settlement) in answers.into_iter().zip(settled) {
            // Whoever asked may be gone; what was settled stays.
            let _ = answer.send(settlement);
        }
        let calls = lost.swap(0, Ordering::Relaxed);
        if calls > 0 {
            tracing::error!(calls, "the ledger's queue was full: free calls are not written down");
        }
    }
}

#[cfg(test)]
mod tests {
    use account_core::store::LedgerStore;
    use account_core::testing::{CheapHasher, FixedClock, all, seeded_rng};
    use account_core::{AccountId, Accounts, Email, NewAccount, Tier, Timestamp, Username, Vault};

    use account_core::store::AccountStore;

    use super::*;
    use crate::store::testing::{call, on_each_engine};

    on_each_engine!(
        a_full_queue_refuses_at_once_and_charges_nobody,
        many_callers_of_one_account_get_exactly_its_credits,
        a_request_id_is_charged_once_and_harms_no_neighbour,
        closing_settles_what_waits_and_refuses_what_comes_later,
        the_audit_names_what_was_altered_behind_its_back,
    );

    /// An account with so many credits.
    async fn account(store: &Store, credits: u64) -> (CallerId, Timestamp) {
        let rng = seeded_rng(5);
        let vault = Arc::new(Vault::create(&mut rng.clone()));
        let accounts = Accounts::new(store.clone(), CheapHasher::default(), vault, rng);
        let account = NewAccount {
            email: Email::parse("ada@example.com").expect("an address"),
            username: Username::parse("ada").expect("a name"),
            password: None,
            tier: Tier::Pro,
            credits: Some(credits),
            hourly_limit: None,
            is_admin: false,
        };
        let now = FixedClock::default().now();
        let created = accounts.create_account(account, now).await.expect("a new account");
        (CallerId::Account(created.id), now)
    }

    fn entry(caller: CallerId, request_id: u128, at: Timestamp) -> Entry {
        call(caller, 1, request_id, at)
    }

    fn batches() -> Histogram {
        crate::metrics::Metrics::new().ledger_batches
    }

    fn charged(results: &[Result<Settlement, StoreError>]) -> usize {
        let charged = |result: &&_| matches!(result, Ok(Settlement::Charged { .. }));
        results.iter().filter(charged).count()
    }

    async fn many_callers_of_one_account_get_exactly_its_credits(store: Store, _address: String) {
        let (ada, now) = account(&store, 300).await;
        let writer = LedgerWriter::start(&store, &batches());
        let calls = (0..1_200).map(|id| {
            let writer = writer.clone();
            tokio::spawn(async move { writer.settle(entry(ada, id, now)).await })
        });
        let mut results = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            results.push(call.await.expect("no panic"));
        }
        assert_eq!(charged(&results), 300);
        let audit = store.audit().await.expect("ok");
        assert!(audit.holds(), "{:?}", audit.faults);
        writer.close().await;
    }

    async fn a_request_id_is_charged_once_and_harms_no_neighbour(store: Store, _address: String) {
        let (ada, now) = account(&store, 10).await;
        let writer = LedgerWriter::start(&store, &batches());
        let calls = [1, 2, 2, 3].map(|id| writer.settle(entry(ada, id, now)));
        assert_eq!(charged(&all(calls).await), 3);
        assert!(store.audit().await.expect("ok").holds());
    }

    async fn a_full_queue_refuses_at_once_and_charges_nobody(store: Store, _address: String) {
        let (ada, now) = account(&store, 100_000).await;
        let writer = LedgerWriter::start(&store, &batches());
        let calls = (0..3 * WAITING as u128).map(|id| writer.settle(entry(ada, id, now)));
        let results = all(calls).await;
        let charged = charged(&results);
        assert!(charged < results.len(), "the queue has an end");
        writer.close().await;
        let left = store.profile(AccountId(1)).await.expect("ok").expect("ada").credit_balance;
        assert_eq!(left, 100_000 - charged as u64);
        assert!(store.audit().await.expect("ok").holds());
    }

    async fn closing_settles_what_waits_and_refuses_what_comes_later(
        store: Store,
        _address: String,
    ) {
        let (ada, now) = account(&store, 100).await;
        let writer = LedgerWriter::start(&store, &batches());
        let waiting = (0..50).map(|id| writer.settle(entry(ada, id, now)));
        let (results, ()) = tokio::join!(all(waiting), writer.close());
        assert_eq!(charged(&results), 50);
        assert!(writer.settle(entry(ada, 99, now)).await.is_err());
    }

    async fn the_audit_names_what_was_altered_behind_its_back(store: Store, _address: String) {
        use account_core::{AuditFault, FaultKind};
        use sea_orm::ConnectionTrait;

        let (ada, now) = account(&store, 10).await;
        store.settle(vec![entry(ada, 1, now), entry(ada, 2, now)]).await.expect("ok");
        store.writer.execute_unprepared("UPDATE account SET credit_balance = 9").await.expect("ok");
        let faults = store.audit().await.expect("ok").faults;
        let expected = AuditFault { caller: ada, kind: FaultKind::Balance, expected: 8, found: 9 };
        assert_eq!(faults, [expected]);

        store.writer.execute_unprepared("UPDATE account SET credit_balance = 8").await.expect("ok");
        store.writer.execute_unprepared("DELETE FROM usage WHERE id = 2").await.expect("ok");
        let faults = store.audit().await.expect("ok").faults;
        let day = now.timestamp().div_euclid(86_400);
        let kind = FaultKind::Usage { day };
        assert_eq!(faults, [AuditFault { caller: ada, kind, expected: 2, found: 1 }]);

        let below = store.writer.execute_unprepared("UPDATE account SET credit_balance = -1").await;
        assert!(below.is_err(), "the database itself refuses a debt");
    }
}
