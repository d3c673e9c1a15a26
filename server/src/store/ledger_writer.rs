//! The ledger writer, which settles calls in batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use account_core::{Entry, Settlement, StoreError};
use prometheus::Histogram;

use super::batch_writer::{BatchBackend, BatchWriter, EnqueueError, partition_of};
use super::handle::Store;
use super::ledger::LedgerBackend;
use crate::failpoint;

/// The number of calls that may wait, in all queues together. Further calls are refused at once.
const CAPACITY: usize = 8_192;
/// The largest number of calls in one transaction.
const LARGEST_BATCH: usize = 512;

/// A handle to the tasks that debit callers: one task on SQLite, two on PostgreSQL. All calls of a
/// caller go to one task.
#[derive(Clone)]
pub struct LedgerWriter {
    writer: Arc<BatchWriter<Entry, Settlement>>,
    /// Free calls that a full queue refused since the last log line.
    lost: Arc<AtomicU64>,
}

impl LedgerWriter {
    /// Starts the tasks, which report the sizes of their batches to `batches`. The tasks end after
    /// [`close`](Self::close), or once every clone of the returned handle is dropped.
    #[must_use]
    pub fn start(store: &Store, batches: &Histogram) -> Self {
        let lost = Arc::new(AtomicU64::new(0));
        let backends: Vec<LedgerBatches> = LedgerBackend::all(store)
            .into_iter()
            .map(|backend| LedgerBatches { backend, sizes: batches.clone(), lost: lost.clone() })
            .collect();
        let capacity = CAPACITY / backends.len();
        Self { writer: Arc::new(BatchWriter::start("ledger", backends, capacity)), lost }
    }

    /// Settles a call; the debit is durable once this returns. A caller that stops waiting may have
    /// been charged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where too many calls wait or the writer was closed, and nothing was charged.
    /// [`StoreError`] also where the store fails. If a store is lost during the write and does not
    /// come back in time, the call may have been charged.
    pub async fn settle(&self, entry: Entry) -> Result<Settlement, StoreError> {
        self.writer.try_submit(partition_of(entry.caller), entry).await
    }

    /// Returns the number of waiting calls.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.writer.waiting()
    }

    /// Returns whether every queue is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.waiting() >= CAPACITY
    }

    /// Records a free call, for whose settlement nothing waits. A full queue drops the record, and
    /// the log counts the dropped records.
    pub fn record(&self, entry: Entry) {
        match self.writer.enqueue(partition_of(entry.caller), entry) {
            Ok(()) => {}
            Err(EnqueueError::Full) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
            Err(EnqueueError::Closed) => {
                tracing::error!("a call came after the ledger was closed and was not recorded");
            }
        }
    }

    /// Settles the waiting calls and ends the tasks. Later calls are refused.
    pub async fn close(&self) {
        self.writer.close().await;
    }
}

/// The backend of one ledger writer, which settles a batch of calls in one transaction.
struct LedgerBatches {
    backend: LedgerBackend,
    sizes: Histogram,
    lost: Arc<AtomicU64>,
}

impl BatchBackend for LedgerBatches {
    type Job = Entry;
    type Answer = Settlement;

    const LARGEST_BATCH: usize = LARGEST_BATCH;

    fn blocks_thread(&self) -> bool {
        self.backend.blocks_thread()
    }

    async fn write(&mut self, entries: Vec<Entry>) -> Vec<Result<Settlement, StoreError>> {
        self.sizes.observe(entries.len() as f64);
        failpoint::hit("ledger_taken");
        let settled = self.backend.settle(&entries).await;
        failpoint::hit("ledger_committed");
        let calls = self.lost.swap(0, Ordering::Relaxed);
        if calls > 0 {
            tracing::error!(calls, "the ledger's queue was full: free calls were not recorded");
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use account_core::store::LedgerStore;
    use account_core::testing::{CheapHasher, FixedClock, all, seeded_rng};
    use account_core::{
        AccountId, Accounts, CallerId, Email, NewAccount, Tier, Timestamp, Username, Vault,
    };

    use account_core::store::AccountStore;

    use super::*;
    use crate::store::testing::{call, on_each_engine};

    on_each_engine!(
        a_full_queue_refuses_at_once_without_a_charge,
        many_callers_of_one_account_get_exactly_its_credits,
        a_request_id_is_charged_once_and_harms_no_neighbour,
        closing_settles_what_waits_and_refuses_what_comes_later,
        the_audit_names_what_was_altered_behind_its_back,
        the_audit_names_each_figure_of_a_daily_sum_that_was_altered,
    );

    /// Creates an account with this many credits.
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

    async fn a_full_queue_refuses_at_once_without_a_charge(store: Store, _address: String) {
        let (ada, now) = account(&store, 100_000).await;
        let writer = LedgerWriter::start(&store, &batches());
        let calls = (0..3 * CAPACITY as u128).map(|id| writer.settle(entry(ada, id, now)));
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

    async fn the_audit_names_each_figure_of_a_daily_sum_that_was_altered(
        store: Store,
        _address: String,
    ) {
        use account_core::{AuditFault, FaultKind, TallyFigure};
        use sea_orm::ConnectionTrait;

        let (ada, now) = account(&store, 10).await;
        let mut other = entry(ada, 3, now);
        other.usage.endpoint = "/b".into();
        store.settle(vec![entry(ada, 1, now), entry(ada, 2, now), other]).await.expect("ok");
        assert!(store.audit().await.expect("ok").holds());
        let alter = async |change: &str| {
            store.writer.execute_unprepared(change).await.expect(change);
            store.audit().await.expect("ok").faults
        };
        let day = now.timestamp().div_euclid(86_400);
        let fault = |path: &str, figure, expected, found| {
            let kind = FaultKind::Tally { day, endpoint: format!("POST {path}"), figure };
            AuditFault { caller: ada, kind, expected, found }
        };
        use TallyFigure::{Credits, Requests, ResponseTime};

        let faults = alter("UPDATE usage_day SET requests = 9 WHERE endpoint = '/a'").await;
        assert_eq!(faults, [fault("/a", Requests, 2, 9)]);
        alter("UPDATE usage_day SET requests = 2 WHERE endpoint = '/a'").await;
        // The sum over the day stays the same.
        alter("UPDATE usage_day SET credits = credits + 1 WHERE endpoint = '/a'").await;
        let faults = alter("UPDATE usage_day SET credits = 0 WHERE endpoint = '/b'").await;
        assert_eq!(faults, [fault("/a", Credits, 2, 3), fault("/b", Credits, 1, 0)]);
        alter("UPDATE usage_day SET credits = requests").await;
        let faults = alter("DELETE FROM usage_day WHERE endpoint = '/b'").await;
        let gone = [Requests, Credits, ResponseTime].map(|figure| fault("/b", figure, 1, 0));
        assert_eq!(faults, gone);
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
        assert_eq!(faults[0], AuditFault { caller: ada, kind, expected: 2, found: 1 });

        let below = store.writer.execute_unprepared("UPDATE account SET credit_balance = -1").await;
        assert!(below.is_err(), "the database itself refuses a debt");
    }
}
