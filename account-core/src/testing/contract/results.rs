//! Checks of stored results.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService};
use crate::accounts::results::KEPT;
use crate::credits::{Entry, ResultTemplate};
use crate::identity::{AccountId, CallerId};
use crate::password::Password;
use crate::store::{ResultId, Store, StoredResult};

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
        kept.expect("the store answers")
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
