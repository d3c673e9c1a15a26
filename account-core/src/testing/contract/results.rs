//! Checks of stored results.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService};
use crate::accounts::results::{KEPT, MOST_BYTES, MOST_RESULTS};
use crate::credits::{Entry, ResultTemplate};
use crate::identity::{AccountId, CallerId};
use crate::password::Password;
use crate::store::{ListedResult, ResultId, Store, StoredResult};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! results_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, results;
            a_result_is_read_by_its_owner_alone,
            an_answer_is_kept_with_its_charge_or_not_at_all,
            a_result_is_kept_for_a_day,
            the_newest_results_of_an_account_are_kept,
            recent_results_are_listed_for_their_owner,
            results_go_with_their_account,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    async fn keep(&self, owner: AccountId, ids: impl IntoIterator<Item = u128>) {
        let kept = ids.into_iter().map(|id| StoredResult {
            id: ResultId(id),
            owner,
            body: format!("{{\"number\":{id}}}"),
            at: self.now(),
        });
        let kept = kept.collect();
        self.accounts.store().keep_results(kept).await.expect("the store answers");
    }

    async fn kept(&self, owner: AccountId, id: u128) -> Option<String> {
        let kept = self.accounts.kept_result(owner, ResultId(id), self.now()).await;
        let kept = kept.expect("the store answers")?;
        assert_eq!((kept.owner, kept.id), (owner, ResultId(id)));
        Some(kept.body)
    }
}

/// Checks that another account cannot read a result by its number.
pub async fn a_result_is_read_by_its_owner_alone<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let (ada, bob) = (service.funded("ada", 1).await, service.funded("bob", 1).await);
    service.keep(ada, [1, u128::MAX]).await;
    service.keep(bob, [2]).await;
    assert_eq!(service.kept(ada, 1).await.as_deref(), Some("{\"number\":1}"));
    assert!(service.kept(ada, u128::MAX).await.is_some());
    assert!(service.kept(bob, 2).await.is_some());
    assert_eq!(service.kept(bob, 1).await, None);
    assert_eq!(service.kept(ada, 2).await, None);
    assert_eq!(service.kept(ada, 3).await, None);
}

/// Checks that of simultaneous calls each result is stored with the balance after its charge, and
/// that an unpaid call stores nothing.
pub async fn an_answer_is_kept_with_its_charge_or_not_at_all<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let (ada, bob) = (service.funded("ada", 5).await, service.funded("bob", 100).await);
    let entry = |owner, id, cost| Entry {
        kept: Some(ResultTemplate { before: "{\"left\":".to_owned(), after: "}".to_owned() }),
        ..service.entry(CallerId::Account(owner), id, cost, "/a")
    };
    let unkept = service.entry(CallerId::Account(bob), 5, 7, "/a");
    let batch =
        vec![entry(ada, 1, 3), entry(bob, 2, 10), entry(ada, 3, 4), entry(bob, 4, 0), unkept];
    service.settle(batch).await;
    assert_eq!(service.kept(ada, 1).await.as_deref(), Some("{\"left\":2}"));
    assert_eq!(service.kept(bob, 2).await.as_deref(), Some("{\"left\":90}"));
    assert_eq!(service.kept(ada, 3).await, None, "two credits do not buy it");
    assert_eq!(service.kept(bob, 4).await.as_deref(), Some("{\"left\":90}"));
    assert_eq!(service.kept(bob, 5).await, None);
    assert_eq!(service.kept(bob, 1).await, None, "it is another's");
    service.assert_ledger_holds().await;
}

/// Checks that a result is kept until the last moment of its day, and then removed in batches.
pub async fn a_result_is_kept_for_a_day<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 1).await;
    service.keep(ada, 0..25).await;
    service.clock.advance(KEPT - TimeDelta::milliseconds(1));
    assert!(service.kept(ada, 24).await.is_some());
    service.keep(ada, [100]).await;
    service.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(service.kept(ada, 24).await, None, "the clean-up has not come by yet");
    for expected in [10, 10, 5, 0] {
        let cleaned = service.accounts.clean_up(service.now(), 10, None).await.expect("ok");
        assert_eq!((cleaned.results, cleaned.more), (expected, expected == 10));
    }
    assert!(service.kept(ada, 100).await.is_some());
}

/// Checks that the results of one account beyond its quota are removed, the oldest first.
pub async fn the_newest_results_of_an_account_are_kept<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let (ada, bob) = (service.funded("ada", 1).await, service.funded("bob", 1).await);
    service.keep(bob, [1]).await;
    let megabytes = |owner, id: u128, size: u64| {
        let body = "x".repeat(size as usize * 1_000_000);
        StoredResult { id: ResultId(id), owner, body, at: service.now() }
    };
    for id in 2..=18 {
        service.wait(1);
        let results = vec![megabytes(ada, id, 4)];
        service.accounts.store().keep_results(results).await.expect("the store answers");
    }
    // Sixteen of four megabytes fit.
    assert_eq!(MOST_BYTES, 64_000_000);
    assert_eq!(service.kept(ada, 2).await, None);
    assert!(service.kept(ada, 3).await.is_some() && service.kept(bob, 1).await.is_some());

    let entry = |id| Entry {
        kept: Some(ResultTemplate { before: String::new(), after: String::new() }),
        ..service.entry(CallerId::Account(bob), id, 0, "/a")
    };
    for ids in [100..104, 104..104 + u128::from(MOST_RESULTS)] {
        service.wait(1);
        service.settle(ids.map(entry).collect()).await;
    }
    assert!(service.kept(bob, 1).await.is_some(), "the clean-up has not come by yet");
    for expected in [3, 2, 0] {
        let cleaned = service.accounts.clean_up(service.now(), 3, None).await.expect("ok");
        assert_eq!(cleaned.excess_results, expected);
    }
    assert_eq!((service.kept(bob, 1).await, service.kept(bob, 103).await), (None, None));
    assert!(service.kept(bob, 104).await.is_some() && service.kept(ada, 3).await.is_some());
}

/// Checks that a list has the newest results of its owner first.
pub async fn recent_results_are_listed_for_their_owner<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let (ada, bob) = (service.funded("ada", 1).await, service.funded("bob", 1).await);
    service.keep(ada, [1]).await;
    let first = service.now();
    service.clock.advance(KEPT - TimeDelta::seconds(1));
    service.keep(ada, [2, u128::MAX]).await;
    service.keep(bob, [3]).await;
    let list = async |owner, limit| {
        let listed = service.accounts.recent_results(owner, limit, service.now()).await;
        listed.expect("the store answers")
    };
    let ids = |listed: &[ListedResult]| listed.iter().map(|one| one.id.0).collect::<Vec<_>>();
    let listed = list(ada, 10).await;
    assert_eq!(ids(&listed), [u128::MAX, 2, 1]);
    assert_eq!(
        (listed[2].at, listed[2].start.as_str(), listed[2].bytes),
        (first, "{\"number\":1}", 12)
    );
    assert_eq!(ids(&list(ada, 2).await), [u128::MAX, 2]);
    assert_eq!(ids(&list(bob, 10).await), [3]);
    service.wait(1);
    assert_eq!(ids(&list(ada, 10).await), [u128::MAX, 2], "a day has gone");
    let long = StoredResult {
        id: ResultId(4),
        owner: bob,
        body: "\u{e9}".repeat(1_000),
        at: service.now(),
    };
    service.accounts.store().keep_results(vec![long]).await.expect("the store answers");
    let listed = list(bob, 1).await;
    assert_eq!((listed[0].start.chars().count(), listed[0].bytes), (ListedResult::START, 2_000));
}

/// Checks that results are removed with their account, and that none is stored afterwards.
pub async fn results_go_with_their_account<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let bob = service.funded("bob", 1).await;
    service.keep(ada, [1]).await;
    let password = crate::Confirmation::Password(Password::attempt(PASSWORD));
    service
        .accounts
        .delete_account(ada, &password, service.now())
        .await
        .expect("the right password");
    assert_eq!(service.kept(ada, 1).await, None);
    let mixed = [(ada, 2), (bob, 3)].map(|(owner, id)| StoredResult {
        id: ResultId(id),
        owner,
        body: "{}".to_owned(),
        at: service.now(),
    });
    service.accounts.store().keep_results(mixed.into()).await.expect("no fault of bob's");
    assert_eq!(service.kept(ada, 2).await, None);
    assert!(service.kept(bob, 3).await.is_some());
}
