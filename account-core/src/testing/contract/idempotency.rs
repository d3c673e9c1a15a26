//! Checks of repeated requests with an idempotency key.

use chrono::TimeDelta;

use super::test_service::{ANY, TestService, client};
use crate::credits::Settlement;
use crate::guest::Device;
use crate::idempotency::{Claim, Claimed, HELD, IdempotencyKey, KEPT, RequestDigest, Slot};
use crate::identity::CallerId;
use crate::store::Store;
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! idempotency_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, idempotency;
            a_repeat_gets_the_first_answer_and_is_not_charged,
            calls_are_paid_together_or_not_at_all,
            a_key_is_one_requests_and_one_callers,
            of_many_claims_at_once_one_runs_and_is_charged,
            a_run_that_is_not_heard_of_loses_its_slot,
            what_is_not_paid_is_not_kept,
            kept_answers_go_in_batches,
        );
    };
}

const PATH: &str = "/a";

impl<S: Store + Clone> TestService<S> {
    fn claim(&self, caller: CallerId, key: &str, body: &str, run: u128) -> Claim {
        let key = IdempotencyKey::parse(key.as_bytes()).expect("a key");
        let slot = Slot::of(caller, "POST", PATH, &key);
        Claim { slot, request: RequestDigest::of(body.as_bytes()), run }
    }

    async fn try_claim(&self, claim: Claim) -> Claimed {
        self.accounts.store().claim(claim).await.expect("the store answers")
    }

    async fn is_claimed(&self, claim: Claim) -> bool {
        let claimed = self.accounts.store().is_claimed(claim.slot, self.now()).await;
        claimed.expect("the store answers")
    }

    async fn answer(
        &self,
        claim: Claim,
        caller: CallerId,
        cost: u32,
        body: &str,
    ) -> Option<Settlement> {
        let entry = self.entry(caller, claim.run, cost, PATH);
        let settled = self.accounts.store().settle_and_keep(claim, entry, body.to_owned()).await;
        settled.expect("the store answers")
    }

    /// Repeats the request, and returns its stored answer, charge and balance.
    async fn again(&self, claim: Claim) -> Option<(String, u32, u64)> {
        match self.try_claim(Claim { run: claim.run + 1_000, ..claim }).await {
            Claimed::Answered(kept) => Some((kept.body, kept.cost, kept.balance)),
            _ => None,
        }
    }
}

/// Checks that a repetition gets the first answer, byte for byte, with the balance of that time,
/// for a day.
pub async fn a_repeat_gets_the_first_answer_and_is_not_charged<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 10).await;
    let caller = CallerId::Account(ada);
    let claim = service.claim(caller, "k", "{}", 1);
    let body = "{\"a\": 0.1, \"ä\": \"\\u0000 '\"}";
    assert_eq!(service.try_claim(claim).await, Claimed::Yours);
    let charged = service.answer(claim, caller, 4, body).await;
    assert_eq!(charged, Some(Settlement::Charged { balance: 6 }));
    service.settle(vec![service.entry(caller, 2, 6, PATH)]).await;

    service.clock.advance(KEPT - TimeDelta::milliseconds(1));
    assert_eq!(service.again(claim).await, Some((body.to_owned(), 4, 6)));
    assert!(service.is_claimed(claim).await);
    assert_eq!(service.answer(claim, caller, 4, "another").await, None, "it is answered");
    assert_eq!(service.balance(ada).await, 0);

    service.clock.advance(TimeDelta::milliseconds(1));
    assert!(!service.is_claimed(claim).await);
    assert_eq!(service.try_claim(claim).await, Claimed::Yours, "a day is over");
    service.assert_ledger_holds().await;
}

/// Checks that calls which are settled together are all paid or none, with their common answer.
pub async fn calls_are_paid_together_or_not_at_all<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 10).await;
    let caller = CallerId::Account(ada);
    let calls = |first: u128, costs: &[u32]| {
        let call = |(place, cost): (usize, &u32)| {
            service.entry(
                caller,
                first + place as u128,
                *cost,
                if place == 0 { PATH } else { "/b" },
            )
        };
        costs.iter().enumerate().map(call).collect::<Vec<_>>()
    };
    let claim = service.claim(caller, "k", "{}", 1);
    assert_eq!(service.try_claim(claim).await, Claimed::Yours);
    let kept = |body: &str| Some((claim, body.to_owned()));
    let store = service.accounts.store();
    let settled = store.settle_together(calls(10, &[5, 6, 5]), kept("no")).await.expect("ok");
    assert_eq!(settled, Some(Settlement::Insufficient { balance: 10 }));
    assert_eq!(service.balance(ada).await, 10, "not even the first");
    assert_eq!(service.again(claim).await, None);
    let settled = store.settle_together(calls(20, &[5, 0, 4]), kept("yes")).await.expect("ok");
    assert_eq!(settled, Some(Settlement::Charged { balance: 1 }));
    assert_eq!(service.again(claim).await, Some(("yes".to_owned(), 9, 1)));
    let settled = store.settle_together(calls(30, &[1]), kept("late")).await.expect("ok");
    assert_eq!(settled, None, "it is answered");
    let settled = store.settle_together(calls(40, &[1]), None).await.expect("ok");
    assert_eq!(settled, Some(Settlement::Charged { balance: 0 }));
    let (transactions, _) = store.transactions(ada, 0, 10).await.expect("ok");
    let mut paid: Vec<i64> =
        transactions.iter().map(|row| row.credits).filter(|n| *n < 0).collect();
    paid.sort_unstable();
    assert_eq!(paid, [-6, -4], "a row for each endpoint");
    service.assert_ledger_holds().await;
}

/// Checks that a key identifies one request of one caller at one endpoint.
pub async fn a_key_is_one_requests_and_one_callers<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let [ada, bob] =
        [service.funded("ada", 10).await, service.funded("bob", 10).await].map(CallerId::Account);
    let first = service.claim(ada, "k", "{\"a\":1}", 1);
    assert_eq!(service.try_claim(first).await, Claimed::Yours);
    let other = service.claim(ada, "k", "{\"a\": 1}", 2);
    assert_eq!(service.try_claim(other).await, Claimed::OtherRequest);
    service.answer(first, ada, 1, "1").await;
    assert_eq!(service.try_claim(other).await, Claimed::OtherRequest);
    let of_bob = service.claim(bob, "k", "{\"a\": 1}", 3);
    assert_eq!(service.try_claim(of_bob).await, Claimed::Yours);
    let another_key = service.claim(ada, "l", "{\"a\":1}", 4);
    assert_eq!(service.try_claim(another_key).await, Claimed::Yours);
}

/// Checks that one of sixty-four simultaneous requests runs, and that the others are refused or get
/// its answer.
pub async fn of_many_claims_at_once_one_runs_and_is_charged<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 640).await;
    let caller = CallerId::Account(ada);
    let calls = (0..64).map(|run| {
        let service = &service;
        async move {
            let claim = service.claim(caller, "k", "{}", run);
            match service.try_claim(claim).await {
                Claimed::Yours => {
                    service.answer(claim, caller, 10, "done").await.map(|_| "done".to_owned())
                }
                Claimed::Answered(kept) => Some(kept.body),
                Claimed::Running => None,
                Claimed::OtherRequest => panic!("they are all the same"),
            }
        }
    });
    let answers = all(calls).await;
    assert!(answers.iter().flatten().all(|answer| answer == "done"));
    assert!(answers.iter().any(Option::is_some), "one ran");
    assert_eq!(service.balance(ada).await, 630);
    service.assert_ledger_holds().await;
}

/// Checks that the slot of a crashed run becomes free, and that a slow run is not charged in
/// addition to its successor.
pub async fn a_run_that_is_not_heard_of_loses_its_slot<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 10).await;
    let caller = CallerId::Account(ada);
    let (slow, next) = (service.claim(caller, "k", "{}", 1), service.claim(caller, "k", "{}", 2));
    assert_eq!(service.try_claim(slow).await, Claimed::Yours);
    service.clock.advance(HELD - TimeDelta::milliseconds(1));
    assert_eq!(service.try_claim(next).await, Claimed::Running);
    assert!(service.is_claimed(next).await);
    service.clock.advance(TimeDelta::milliseconds(1));
    assert!(!service.is_claimed(next).await);
    assert_eq!(service.try_claim(next).await, Claimed::Yours);

    assert_eq!(service.answer(slow, caller, 5, "slow").await, None);
    service.accounts.store().release(slow).await.expect("it is not the slow one's to give back");
    assert_eq!(
        service.answer(next, caller, 5, "next").await,
        Some(Settlement::Charged { balance: 5 })
    );
    assert_eq!(service.again(slow).await, Some(("next".to_owned(), 5, 5)));
    service.assert_ledger_holds().await;
}

/// Checks that no answer is stored without its charge, and that a call without enough credits
/// releases its slot.
pub async fn what_is_not_paid_is_not_kept<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 4).await;
    let caller = CallerId::Account(ada);
    let claim = service.claim(caller, "k", "{}", 1);
    assert_eq!(service.try_claim(claim).await, Claimed::Yours);
    let refused = service.answer(claim, caller, 5, "dear").await;
    assert_eq!(refused, Some(Settlement::Insufficient { balance: 4 }));
    assert!(service.is_claimed(claim).await, "it runs until its slot is given back");
    service.accounts.store().release(claim).await.expect("ok");
    assert!(!service.is_claimed(claim).await);

    let other = service.claim(caller, "k", "{\"cheaper\":true}", 2);
    assert_eq!(service.try_claim(other).await, Claimed::Yours);
    assert_eq!(
        service.answer(other, caller, 4, "").await,
        Some(Settlement::Charged { balance: 0 })
    );
    assert_eq!(service.again(other).await, Some((String::new(), 4, 0)));
    service.assert_ledger_holds().await;
}

/// Checks that the free call of a guest is stored too, and that stored answers are removed in
/// batches after a day.
pub async fn kept_answers_go_in_batches<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let device = Device::parse("device", None, None).expect("a device");
    let guest = service.accounts.create_guest(device, client().address, ANY, service.now()).await;
    let caller = CallerId::Guest(guest.expect("the store answers").id);
    for run in 0..25 {
        let claim = service.claim(caller, &run.to_string(), "{}", run);
        assert_eq!(service.try_claim(claim).await, Claimed::Yours);
        if run % 2 == 0 {
            assert!(service.answer(claim, caller, 0, "free").await.is_some());
        }
    }
    service.clock.advance(KEPT - TimeDelta::milliseconds(1));
    let kept = service.accounts.clean_up(service.now(), 10, None).await.expect("ok");
    assert_eq!(kept.answers, 0);
    service.clock.advance(TimeDelta::milliseconds(1));
    for expected in [10, 10, 5, 0] {
        let cleaned = service.accounts.clean_up(service.now(), 10, None).await.expect("ok");
        assert_eq!((cleaned.answers, cleaned.more), (expected, expected == 10));
    }
}
