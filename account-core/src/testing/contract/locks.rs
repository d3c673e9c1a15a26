//! Checks of the e-mails about locks.

use super::test_service::{PASSWORD, TestService, email, stranger};
use crate::outbox::Content;
use crate::store::Store;
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! locks_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, locks;
            the_owner_is_told_of_each_lock_once_and_nobody_else_is,
            an_attack_all_day_long_is_told_ten_times_at_most,
        );
    };
}

/// Returns the number of notices of a lock in the outbox for an address.
async fn notices<S: Store + Clone>(service: &TestService<S>, address: &str) -> usize {
    let messages = service.messages().await;
    let locked =
        messages.iter().filter(|message| matches!(message.content, Content::AccountLocked));
    locked.filter(|message| message.to == email(address)).count()
}

async fn lock<S: Store + Clone>(service: &TestService<S>, address: &str) {
    for _ in 0..7 {
        service.login_code_from(&stranger(), address, "wrong").await;
    }
    assert_eq!(service.login_code_from(&stranger(), address, PASSWORD).await, "locked");
}

/// Checks that the fifth wrong password sends a notice, the sixth does not, and a second lock does.
/// An address without a verified account gets none.
pub async fn the_owner_is_told_of_each_lock_once_and_nobody_else_is<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    service.messages().await;
    for _ in 0..4 {
        service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    assert_eq!(notices(&service, "ada@example.com").await, 0, "four are no lock");
    lock(&service, "ada@example.com").await;
    assert_eq!(notices(&service, "ada@example.com").await, 1);
    service.wait(30 * 60);
    lock(&service, "ada@example.com").await;
    assert_eq!(notices(&service, "ada@example.com").await, 1, "another lock");
    for address in ["bob@example.com", "nobody@example.com"] {
        lock(&service, address).await;
        assert_eq!(service.messages().await.len(), 0, "{address}");
    }
    // Two hundred simultaneous attempts cause one lock.
    service.wait(30 * 60);
    let anonymous = stranger();
    let tries = (0..200).map(|_| service.login_code_from(&anonymous, "ada@example.com", "wrong"));
    all(tries).await;
    assert_eq!(notices(&service, "ada@example.com").await, 1);
}

/// Checks that constant wrong passwords send a bounded number of notices.
pub async fn an_attack_all_day_long_is_told_ten_times_at_most<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    let mut told = 0;
    for _ in 0..46 {
        lock(&service, "ada@example.com").await;
        told += notices(&service, "ada@example.com").await;
        service.wait(30 * 60);
    }
    assert_eq!(told, 10);
}
