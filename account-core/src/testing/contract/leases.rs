//! Checks of the limits that instances share.

use chrono::TimeDelta;

use crate::identity::{AccountId, CallerId, GuestId};
use crate::limit::lease::{Allowance, Ask, ReturnedCalls, SharedWindow};
use crate::store::LeaseStore;
use crate::testing::{FixedClock, all};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! leases_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, leases;
            leases_are_those_of_the_rule,
            every_caller_has_a_limit_of_its_own,
            parallel_leases_never_add_up_to_more_than_the_limit,
        );
    };
}

const ADA: CallerId = CallerId::Account(AccountId(1));

fn ask(allowance: Allowance) -> Ask {
    Ask { allowance, now: FixedClock::default().now(), unused: None }
}

/// Checks that each lease follows the rule from the state before, and that returned calls are
/// leased again.
pub async fn leases_are_those_of_the_rule<S: LeaseStore>(store: S) {
    let mut model = SharedWindow::default();
    let mut ask = ask(Allowance::hourly(1_000));
    for _ in 0..30 {
        let lease = store.lease(ADA, ask).await.expect("the store answers");
        assert_eq!(lease, model.lease(&ask));
        ask.unused = (lease.calls > 1).then_some(ReturnedCalls { cell: lease.cell, calls: 1 });
        ask.now += TimeDelta::seconds(17);
    }
    let unused = ReturnedCalls { cell: model.lease(&ask).cell, calls: 2 };
    store.lease(ADA, ask).await.expect("the store answers");
    store.give_back(ADA, unused).await.expect("the store answers");
    model.give_back(unused);
    assert_eq!(store.shared(ADA).await.expect("the store answers"), model);
}

/// Checks that an account and a guest with the same number have separate limits.
pub async fn every_caller_has_a_limit_of_its_own<S: LeaseStore>(store: S) {
    let guest = CallerId::Guest(GuestId(1));
    store.lease(ADA, ask(Allowance::hourly(1))).await.expect("the store answers");
    let lease = store.lease(guest, ask(Allowance::GUEST)).await.expect("the store answers");
    assert_eq!((lease.calls, lease.limit_status.remaining), (1, 49));
    let untouched = store.shared(CallerId::Guest(GuestId(2))).await.expect("the store answers");
    assert_eq!(untouched, SharedWindow::default());
}

/// Checks that simultaneous leases never exceed the limit.
pub async fn parallel_leases_never_add_up_to_more_than_the_limit<S: LeaseStore>(store: S) {
    let leases = all((0..64).map(|_| store.lease(ADA, ask(Allowance::hourly(40))))).await;
    let calls: u32 = leases.into_iter().map(|lease| lease.expect("the store answers").calls).sum();
    assert_eq!(calls, 40);
}
