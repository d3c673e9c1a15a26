//! Checks of the cap of credits a day.

use super::test_service::{ANY, TestService, client};
use crate::credits::Settlement;
use crate::guest::{Device, day};
use crate::idempotency::{Claim, Claimed, RequestDigest, Slot};
use crate::identity::{AccountId, CallerId};
use crate::notification::Notice;
use crate::spend_cap::{CapMark, CapNotice};
use crate::store::{ProfileChanges, Store};
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! spend_caps_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, spend_caps;
            the_credits_of_a_utc_day_stay_within_the_cap,
            parallel_debits_never_pass_the_cap,
            a_cap_lowered_under_what_is_spent_refuses_from_then_on,
            each_mark_of_a_cap_is_notified_of_once_a_day,
            what_passes_the_cap_is_not_kept_and_a_guest_has_no_cap,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    async fn cap(&self, account: AccountId, cap: &str) {
        let changes = ProfileChanges::parse_cap(cap).expect("a cap");
        self.accounts.update_profile(account, changes).await.expect("an account");
    }

    async fn spent(&self, account: AccountId) -> u64 {
        self.accounts.spent_credits(account, self.now()).await.expect("the store answers")
    }

    /// Settles calls of these costs, in one batch, and returns whether each was charged.
    async fn spend(&self, account: AccountId, first_id: u128, costs: &[u32]) -> Vec<bool> {
        let caller = CallerId::Account(account);
        let calls = costs.iter().zip(first_id..);
        let batch = calls.map(|(cost, id)| self.entry(caller, id, *cost, "/a")).collect();
        let settled = self.settle(batch).await;
        settled.iter().map(|one| matches!(one, Settlement::Charged { .. })).collect()
    }

    /// Returns the titles of the inbox about the cap, oldest first.
    async fn cap_notices(&self, account: AccountId) -> Vec<String> {
        let inbox = self.accounts.notifications(account, false, 100, 0).await;
        let entries = inbox.expect("the store answers").entries.into_iter().rev();
        let notices = entries.filter(|entry| entry.title.starts_with("Daily cap"));
        notices.map(|entry| entry.title).collect()
    }
}

fn title(mark: CapMark) -> &'static str {
    let (account, at) = (AccountId(1), crate::Timestamp::UNIX_EPOCH);
    Notice::of_cap(&CapNotice { account, mark, day: 0, at, spent: 0, per_day: 0 }).title()
}

/// Checks that the credits of one UTC day stay within the cap, whose refusal charges nothing, and
/// that the next day has the whole cap.
pub async fn the_credits_of_a_utc_day_stay_within_the_cap<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 100).await;
    let bob = service.funded("bob", 100).await;
    service.cap(ada, "10").await;
    let profile = service.accounts.profile(ada).await.expect("it is there");
    assert_eq!(profile.spend_cap_per_day, Some(10));
    assert_eq!(
        service.spend(ada, 1, &[5, 4, 5, 1, 1, 0]).await,
        [true, true, false, true, false, true]
    );
    assert_eq!(service.spend(bob, 10, &[50]).await, [true], "another account has no cap");
    let (caller, id) = (CallerId::Account(ada), 20);
    let refused = service.settle(vec![service.entry(caller, id, 1, "/b")]).await;
    assert_eq!(refused, [Settlement::OverCap { balance: 90, per_day: 10 }]);
    assert_eq!((service.spent(ada).await, service.balance(ada).await), (10, 90));
    let funds = service.accounts.store().funds(ada, day(service.now())).await;
    let funds = funds.expect("the store answers").expect("an account");
    assert_eq!((funds.balance, funds.available()), (90, 0));

    service.wait(86_400);
    assert_eq!(service.spent(ada).await, 0);
    assert_eq!(service.spend(ada, 30, &[10, 1]).await, [true, false]);
    service.cap(ada, "").await;
    assert_eq!(service.spend(ada, 40, &[70]).await, [true]);
    assert_eq!(service.spent(ada).await, 80);
    service.assert_ledger_holds().await;
}

/// Checks that parallel batches spend exactly what the cap allows.
pub async fn parallel_debits_never_pass_the_cap<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 1_000).await;
    service.cap(ada, "50").await;
    let batches = (0..24u128).map(|batch| service.spend_three(ada, 10 * batch));
    let charged: usize = all(batches).await.into_iter().sum();
    assert_eq!((charged, service.spent(ada).await), (16, 48), "a seventeenth call would pass 50");
    service.assert_ledger_holds().await;
}

impl<S: Store + Clone> TestService<S> {
    async fn spend_three(&self, account: AccountId, first_id: u128) -> usize {
        let charged = self.spend(account, first_id, &[3, 3, 3]).await;
        charged.into_iter().filter(|charged| *charged).count()
    }
}

/// Checks that a cap that was lowered under what is spent, also beside running debits, refuses from
/// then on, and that a higher one allows the difference.
pub async fn a_cap_lowered_under_what_is_spent_refuses_from_then_on<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 1_000).await;
    service.cap(ada, "500").await;
    assert_eq!(service.spend(ada, 1, &[20]).await, [true]);
    // The first call lowers the cap, and reads what is spent after the change.
    let calls = (0..20u128).map(async |call| match call {
        0 => {
            service.cap(ada, "10").await;
            service.spent(ada).await
        }
        _ => {
            service.spend_three(ada, 100 + 10 * call).await;
            0
        }
    });
    let spent: u64 = all(calls).await.into_iter().sum();
    assert!(spent >= 20);
    assert_eq!(service.spent(ada).await, spent, "nothing is charged after the change");
    assert_eq!(service.spend(ada, 500, &[1, 0]).await, [false, true]);

    service.cap(ada, &(spent + 4).to_string()).await;
    assert_eq!(service.spend(ada, 510, &[5, 4, 1]).await, [false, true, false]);
    service.assert_ledger_holds().await;
}

/// Checks that 80 % and the cap are notified of once a day each, also where the cap changes, where a
/// notice was deleted, and where a call was refused before the ledger.
pub async fn each_mark_of_a_cap_is_notified_of_once_a_day<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let (near, reached) = (title(CapMark::Near), title(CapMark::Reached));
    let ada = service.funded("ada", 1_000).await;
    service.cap(ada, "100").await;
    service.spend(ada, 1, &[79]).await;
    assert!(service.cap_notices(ada).await.is_empty());
    service.spend(ada, 2, &[1, 5]).await;
    assert_eq!(service.cap_notices(ada).await, [near]);
    service.spend(ada, 4, &[16]).await;
    assert_eq!(service.cap_notices(ada).await, [near, reached], "of a refused call");
    service.spend(ada, 5, &[15]).await;
    service.cap(ada, "200").await;
    service.spend(ada, 6, &[90, 30]).await;
    let (store, now) = (service.accounts.store(), service.now());
    store.notify_of_refusal(ada, now).await.expect("the store answers");
    assert_eq!(service.cap_notices(ada).await, [near, reached], "once a day");

    let inbox = service.accounts.notifications(ada, false, 100, 0).await.expect("ok");
    for entry in inbox.entries {
        service.accounts.delete_notification(ada, entry.id).await.expect("it is there");
    }
    service.spend(ada, 8, &[90]).await;
    assert!(service.cap_notices(ada).await.is_empty(), "a deleted notice stays deleted");
    service.wait(86_400);
    for _ in 0..2 {
        let now = service.now();
        store.notify_of_refusal(ada, now).await.expect("the store answers");
    }
    assert_eq!(service.cap_notices(ada).await, [reached], "the next day has notices of its own");
    let nobody = store.notify_of_refusal(AccountId(987_654), service.now());
    nobody.await.expect("nobody is notified");
}

/// Checks that an answer whose charge would pass the cap is not stored, and that a guest has no cap.
pub async fn what_passes_the_cap_is_not_kept_and_a_guest_has_no_cap<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 100).await;
    service.cap(ada, "7").await;
    let claim = Claim { slot: Slot([7; 32]), request: RequestDigest::of(b"a"), run: 1 };
    let store = service.accounts.store();
    assert_eq!(store.claim(claim).await.expect("the store answers"), Claimed::Yours);
    for (id, cost, expected) in [
        (1, 8, Settlement::OverCap { balance: 100, per_day: 7 }),
        (2, 7, Settlement::Charged { balance: 93 }),
    ] {
        let entry = service.entry(CallerId::Account(ada), id, cost, "/a");
        let settled = store.settle_and_keep(claim, entry, "{}".to_owned()).await;
        assert_eq!(settled.expect("the store answers"), Some(expected));
    }
    let device = Device::parse("device-1", None, None).expect("a device");
    let guest = service.accounts.create_guest(device, client().address, ANY, service.now()).await;
    let guest = CallerId::Guest(guest.expect("a guest").id);
    let settled = service.settle(vec![service.entry(guest, 3, 50, "/a")]).await;
    assert_eq!(settled, [Settlement::Charged { balance: 0 }]);
    service.assert_ledger_holds().await;
}
