//! The ledger writer: settles whatever waits in one transaction, and waits for nothing itself.

use std::sync::{Arc, Mutex, PoisonError};

use account_core::{Entry, Ledger, Settlement, StoreError};
use prometheus::Histogram;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::Store;

/// How many calls may wait; more wait before the queue.
const WAITING: usize = 8_192;
/// How many are settled at once, so that a transaction stays short.
const LARGEST_BATCH: usize = 512;

type Answer = oneshot::Sender<Result<Settlement, StoreError>>;
type Queue = mpsc::Sender<(Entry, Answer)>;

/// A handle to the one task that debits. While it commits a batch, the next one gathers; an idle
/// writer settles a single call at once.
#[derive(Clone)]
pub struct LedgerWriter {
    queue: Arc<Mutex<Option<Queue>>>,
    task: Arc<tokio::sync::Mutex<Option<JoinHandle<()>>>>,
}

impl LedgerWriter {
    /// Starts the writer, which tells `batches` how many calls it settles at once. It ends with [`close`](Self::close) or with its last handle.
    #[must_use]
    pub fn start(store: Store, batches: Histogram) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let task = tokio::spawn(write(store, receiver, batches));
        Self {
            queue: Arc::new(Mutex::new(Some(sender))),
            task: Arc::new(tokio::sync::Mutex::new(Some(task))),
        }
    }

    /// Settles a call: durable once answered. A caller that stops waiting may have been charged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store fails or the writer was closed; then nothing was charged.
    pub async fn settle(&self, entry: Entry) -> Result<Settlement, StoreError> {
        let closed = || StoreError::new("the ledger is closed");
        // A panic of another holder leaves the option as it was.
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (answer, settled) = oneshot::channel();
        queue.ok_or_else(closed)?.send((entry, answer)).await.map_err(|_| closed())?;
        settled.await.map_err(|_| closed())?
    }

    /// How many calls wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.as_ref().map_or(0, |queue| queue.max_capacity() - queue.capacity())
    }

    /// Whether a call would have to wait before the queue.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.waiting() >= WAITING
    }

    /// Writes a call down that nobody waits for, because it costs nothing.
    ///
    /// It is in the queue when this returns, or its sender is, so that closing loses none.
    pub fn record(&self, entry: Entry) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(queue) = queue else {
            tracing::error!("a call came after the ledger was closed and was not written down");
            return;
        };
        let (nobody, _) = oneshot::channel();
        if let Err(TrySendError::Full(waiting)) = queue.try_send((entry, nobody)) {
            tokio::spawn(async move { queue.send(waiting).await });
        }
    }

    /// Settles what waits and ends the writer. Later calls are refused.
    pub async fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = self.task.lock().await.take()
            && task.await.is_err()
        {
            tracing::error!("the ledger writer panicked");
        }
    }
}

async fn write(store: Store, mut queue: mpsc::Receiver<(Entry, Answer)>, batches: Histogram) {
    let mut waiting = Vec::with_capacity(LARGEST_BATCH);
    while queue.recv_many(&mut waiting, LARGEST_BATCH).await > 0 {
        let (entries, answers): (Vec<Entry>, Vec<Answer>) = waiting.drain(..).unzip();
        batches.observe(entries.len() as f64);
        match store.settle(entries.clone()).await {
            Ok(settled) => {
                for (answer, settlement) in answers.into_iter().zip(settled) {
                    // Whoever asked may be gone; what was settled stays.
                    let _ = answer.send(Ok(settlement));
                }
            }
            Err(error) => settle_singly(&store, entries, answers, error).await,
        }
    }
}

/// Lets no entry fail for another's fault. A batch that failed left nothing behind, and a request
/// id that is stored already is refused, so nothing is charged twice.
async fn settle_singly(
    store: &Store,
    entries: Vec<Entry>,
    answers: Vec<Answer>,
    error: StoreError,
) {
    tracing::warn!(%error, entries = entries.len(), "a batch failed; its entries are tried singly");
    for (entry, answer) in entries.into_iter().zip(answers) {
        let settled = store.settle(vec![entry]).await;
        let settled = settled.map(|settled| settled.into_iter().next());
        let none = || StoreError::new("an entry without a settlement");
        let _ = answer.send(settled.and_then(|settlement| settlement.ok_or_else(none)));
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use account_core::testing::{CheapHasher, FixedClock, SeededEntropy, all};
    use account_core::{
        Accounts, CallerId, Email, NewAccount, Tier, Timestamp, Usage, Username, Vault,
    };

    use super::*;
    use crate::store::testing::on_each_engine;

    on_each_engine!(
        many_callers_of_one_account_get_exactly_its_credits,
        a_request_id_is_charged_once_and_harms_no_neighbour,
        closing_settles_what_waits_and_refuses_what_comes_later,
        the_audit_names_what_was_altered_behind_its_back,
    );

    /// An account with so many credits.
    async fn account(store: &Store, credits: u64) -> (CallerId, Timestamp) {
        let entropy = Arc::new(SeededEntropy::new(5));
        let vault = Arc::new(Vault::create(&*entropy));
        let accounts = Accounts::new(store.clone(), CheapHasher::default(), vault, entropy);
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
        let usage = Usage {
            request_id,
            endpoint: "/a".into(),
            method: "POST".into(),
            status: 200,
            response_time_ms: 1,
            ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
            at,
        };
        Entry { caller, cost: 1, usage }
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
        let writer = LedgerWriter::start(store.clone(), batches());
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
        let writer = LedgerWriter::start(store.clone(), batches());
        let calls = [1, 2, 2, 3].map(|id| writer.settle(entry(ada, id, now)));
        assert_eq!(charged(&all(calls).await), 3);
        assert!(store.audit().await.expect("ok").holds());
    }

    async fn closing_settles_what_waits_and_refuses_what_comes_later(
        store: Store,
        _address: String,
    ) {
        let (ada, now) = account(&store, 100).await;
        let writer = LedgerWriter::start(store, batches());
        let waiting = (0..50).map(|id| writer.settle(entry(ada, id, now)));
        let (results, ()) = tokio::join!(all(waiting), writer.close());
        assert_eq!(charged(&results), 50);
        assert!(writer.settle(entry(ada, 99, now)).await.is_err());
    }

    async fn the_audit_names_what_was_altered_behind_its_back(store: Store, _address: String) {
        use account_core::{Fault, FaultKind};
        use sea_orm::ConnectionTrait;

        let (ada, now) = account(&store, 10).await;
        store.settle(vec![entry(ada, 1, now), entry(ada, 2, now)]).await.expect("ok");
        store.writer.execute_unprepared("UPDATE account SET credit_balance = 9").await.expect("ok");
        let faults = store.audit().await.expect("ok").faults;
        let expected = Fault { caller: ada, kind: FaultKind::Balance, expected: 8, found: 9 };
        assert_eq!(faults, [expected]);

        store.writer.execute_unprepared("UPDATE account SET credit_balance = 8").await.expect("ok");
        store.writer.execute_unprepared("DELETE FROM usage WHERE id = 2").await.expect("ok");
        let faults = store.audit().await.expect("ok").faults;
        let day = now.timestamp().div_euclid(86_400);
        let kind = FaultKind::Usage { day };
        assert_eq!(faults, [Fault { caller: ada, kind, expected: 2, found: 1 }]);

        let below = store.writer.execute_unprepared("UPDATE account SET credit_balance = -1").await;
        assert!(below.is_err(), "the database itself refuses a debt");
    }
}
