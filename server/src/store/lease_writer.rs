//! The lease writer, which leases calls from the database in batches.

use account_core::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};
use account_core::store::LeaseStore;
use account_core::{CallerId, StoreError};

use super::batch_writer::{BatchBackend, BatchWriter, partition_of};
use super::handle::Store;
use super::leases::LARGEST_BATCH;

/// The number of tasks: while one waits for a commit, the other works.
const TASKS: usize = 2;
/// The number of requests that may wait for one task. Further requests wait before the queue.
const CAPACITY: usize = 4_096;

/// A handle to the tasks that lease. Requests that arrive together, as after a start, share a
/// connection and a commit. All requests of a caller go to one task.
pub struct LeaseWriter {
    store: Store,
    writer: BatchWriter<(CallerId, Ask), Lease>,
}

impl LeaseWriter {
    /// Starts the tasks, which end with the handle.
    #[must_use]
    pub fn start(store: &Store) -> Self {
        let backends = vec![LeaseBatches(store.clone()); TASKS];
        Self { store: store.clone(), writer: BatchWriter::start("lease", backends, CAPACITY) }
    }

    /// Returns the store that holds the leases.
    #[must_use]
    pub const fn store(&self) -> &Store {
        &self.store
    }
}

impl LeaseStore for LeaseWriter {
    async fn lease(&self, caller: CallerId, ask: Ask) -> Result<Lease, StoreError> {
        self.writer.submit(partition_of(caller), (caller, ask)).await
    }

    async fn give_back(&self, caller: CallerId, unused: ReturnedCalls) -> Result<(), StoreError> {
        self.store.give_back(caller, unused).await
    }

    async fn shared(&self, caller: CallerId) -> Result<SharedWindow, StoreError> {
        self.store.shared(caller).await
    }
}

/// The backend of one lease writer, which writes a batch of leases in one transaction.
#[derive(Clone)]
struct LeaseBatches(Store);

impl BatchBackend for LeaseBatches {
    type Job = (CallerId, Ask);
    type Answer = Lease;

    const LARGEST_BATCH: usize = LARGEST_BATCH;
    /// No caller would use the leased calls.
    const SKIPS_ABANDONED: bool = true;

    async fn write(&mut self, asks: Vec<(CallerId, Ask)>) -> Vec<Result<Lease, StoreError>> {
        self.0.lease_all(&asks).await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use account_core::AccountId;
    use account_core::limit::lease::Allowance;
    use account_core::testing::{FixedClock, all};
    use quant_test_services::Postgres;
    use sea_orm::ConnectionTrait;

    use super::*;
    use crate::store::testing::{open_again, postgres};

    account_core::leases_checks!(writer);

    async fn writer() -> Option<(LeaseWriter, Postgres)> {
        let (store, database) = postgres().await?;
        Some((LeaseWriter::start(&store), database))
    }

    fn account(number: i64) -> CallerId {
        CallerId::Account(AccountId(number))
    }

    fn ask(hourly: u32) -> Ask {
        let now = FixedClock::default().now();
        Ask { allowance: Allowance::hourly(hourly), now, unused: None }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_thousand_callers_of_two_instances_get_at_once_what_the_rule_gives() {
        let Some((here, database)) = writer().await else { return };
        let there = LeaseWriter::start(&open_again(&database.address()).await);
        // Every fifth caller requests more than its limit. Half of the callers are known from an
        // earlier lease.
        let hourly = |id: i64| if id % 5 == 0 { 3 } else { 1_000 };
        let times = |id: i64| if id % 5 == 0 { 6 } else { 1 + id % 3 };
        let earlier = all((0..500).map(|id| here.lease(account(id), ask(hourly(id)))));
        let asks = (0..1_000).flat_map(|id| (0..times(id)).map(move |round| (id, round)));
        assert_eq!(earlier.await.into_iter().filter(Result::is_ok).count(), 500);

        let leases = all(asks.map(async |(id, round)| {
            let instance = if round % 2 == 0 { &here } else { &there };
            (id, instance.lease(account(id), ask(hourly(id))).await.expect("the store answers"))
        }));
        let mut given: HashMap<i64, Vec<Lease>> = HashMap::new();
        for (id, lease) in leases.await {
            given.entry(id).or_default().push(lease);
        }

        for (id, mut leases) in given {
            let mut model = SharedWindow::default();
            let earlier = (id < 500).then(|| model.lease(&ask(hourly(id))));
            let mut expected: Vec<Lease> =
                leases.iter().map(|_| model.lease(&ask(hourly(id)))).collect();
            let order = |lease: &Lease| (lease.limit_status.remaining, lease.calls);
            leases.sort_by_key(order);
            expected.sort_by_key(order);
            assert_eq!(leases, expected, "caller {id}");
            let calls: u32 = earlier.iter().chain(&leases).map(|lease| lease.calls).sum();
            assert!(calls <= hourly(id), "caller {id}");
            assert_eq!(here.shared(account(id)).await.expect("the store answers"), model);
        }
    }

    #[tokio::test]
    async fn a_malformed_text_fails_its_caller_alone_and_stays() {
        let Some((writer, _database)) = writer().await else { return };
        let store = writer.store();
        let bad = "INSERT INTO shared_limit VALUES (false, 7, 'something else', 0)";
        store.writer.execute_unprepared(bad).await.expect("a row");
        let asks: Vec<(CallerId, Ask)> =
            (0..20).chain([7, 8]).map(|id| (account(id), ask(100))).collect();
        let leases = store.lease_all(&asks).await;
        for ((caller, _), lease) in asks.iter().zip(leases) {
            assert_eq!(lease.is_err(), *caller == account(7), "{caller:?}");
        }
        assert!(store.shared(account(7)).await.is_err());
    }

    #[tokio::test]
    async fn unused_calls_of_many_callers_are_returned_and_create_no_row() {
        let Some((writer, _database)) = writer().await else { return };
        let (store, known) = (writer.store(), (0..600).map(account));
        let leases = all(known.clone().map(|caller| writer.lease(caller, ask(1_000)))).await;
        let leases = leases.into_iter().map(|lease| lease.expect("the store answers"));
        let unused = leases.map(|lease| ReturnedCalls { cell: lease.cell, calls: lease.calls });
        let mut unused: Vec<(CallerId, ReturnedCalls)> = known.clone().zip(unused).collect();
        unused.push((account(600), unused[0].1));
        store.give_back_all(&unused).await.expect("the store answers");
        for caller in known {
            let shared = store.shared(caller).await.expect("the store answers");
            let limit_status = shared.limit_status(ask(1).now, &ask(1_000).allowance);
            assert_eq!(limit_status.remaining, 1_000, "{caller:?}");
        }
        let untouched = store.shared(account(600)).await.expect("the store answers");
        assert_eq!(untouched, SharedWindow::default());
    }

    #[tokio::test]
    async fn nothing_is_leased_for_a_caller_that_no_longer_waits() {
        let Some((writer, _database)) = writer().await else { return };
        let abandoned = (account(2), ask(100));
        assert!(writer.writer.enqueue(partition_of(account(2)), abandoned).is_ok());
        writer.lease(account(4), ask(100)).await.expect("the store answers");
        let untouched = writer.shared(account(2)).await.expect("the store answers");
        assert_eq!(untouched, SharedWindow::default());
    }
}
