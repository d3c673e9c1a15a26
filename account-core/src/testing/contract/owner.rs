//! Checks of the changes by an owner.

use super::activity;
use super::test_service::{PASSWORD, TestService, email, fault, stranger, username};
use crate::accounts::Confirmation;
use crate::credits::Settlement;
use crate::identity::{AccountId, CallerId, Contact};
use crate::key::AuthError;
use crate::outbox::{Content, OutboundMessage};
use crate::password::Password;
use crate::store::{ProfileChanges, Store};
use crate::testing::all;
use crate::{Error, Result};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! owner_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, owner;
            a_profile_changes_where_it_is_told_to_and_nowhere_else,
            a_name_is_taken_as_at_a_registration_but_ones_own_is_not,
            a_database_is_subscribed_to_once,
            a_subscription_ends_once,
            a_deleted_account_leaves_no_key_session_or_history_and_books_that_hold,
            a_deleted_address_and_name_are_free_again,
            a_deletion_wants_the_right_confirmation,
            wrong_confirmations_lock_themselves_and_no_login,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    async fn delete(&self, account: AccountId, password: &str) -> Result<()> {
        let confirmation = Confirmation::Password(Password::attempt(password));
        self.accounts.delete_account(account, &confirmation, self.now()).await
    }

    async fn rename(&self, account: AccountId, name: &str) -> Result<String> {
        let changes = ProfileChanges { username: Some(username(name)), ..Default::default() };
        let profile = self.accounts.update_profile(account, changes).await?;
        Ok(profile.username.as_str().to_owned())
    }
}

/// Checks that absent fields are unchanged, and that an owner cannot change tier, credits or limit.
pub async fn a_profile_changes_where_it_is_told_to_and_nowhere_else<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let bob = service.account("bob", "bob@example.com").await.account;
    let before = service.accounts.profile(ada).await.expect("it is there");
    let bobs = service.accounts.profile(bob).await.expect("it is there");
    let change = |phone, country, code| {
        let changes = ProfileChanges::parse(None, phone, country, code).expect("valid");
        service.accounts.update_profile(ada, changes)
    };
    let changed = change(Some(Some("+39 1")), Some(Some("Italy")), None).await.expect("a change");
    let contact = Contact::parse(Some("+39 1"), Some("Italy"), None).expect("valid");
    assert_eq!(changed, crate::Profile { contact, ..before.clone() });
    assert_eq!(service.accounts.profile(ada).await.expect("it is there"), changed);

    let changed = change(Some(None), None, Some(Some("IT"))).await.expect("a change");
    let contact = Contact::parse(None, Some("Italy"), Some("IT")).expect("valid");
    assert_eq!(changed, crate::Profile { contact, ..before });
    assert_eq!(change(None, None, None).await.expect("no change"), changed);
    assert_eq!(service.accounts.profile(bob).await.expect("it is there"), bobs);
    let nobody = service.accounts.update_profile(AccountId(99), ProfileChanges::default());
    assert_eq!(fault(nobody.await), "not_found");
}

/// Checks that another account's name is taken, that the name of an expired form is free, and that
/// an account may change the case of its own.
pub async fn a_name_is_taken_as_at_a_registration_but_ones_own_is_not<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    service.account("bob", "bob@example.com").await;
    service.register("carl", "carl@example.com", PASSWORD).await.expect("a free name");
    assert_eq!(fault(service.rename(ada, "BOB").await), "username_taken");
    assert_eq!(fault(service.rename(ada, "Carl").await), "username_taken");
    assert_eq!(service.rename(ada, "Ada").await.expect("her own"), "Ada");
    service.wait(600);
    assert_eq!(service.rename(ada, "Carl").await.expect("free again"), "Carl");
    let taken = service.register("carl", "other@example.com", PASSWORD).await;
    assert_eq!(fault(taken), "username_taken");
    assert!(service.register("ada", "other@example.com", PASSWORD).await.is_ok(), "left behind");
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
}

/// Checks that each account has its own subscriptions.
pub async fn a_database_is_subscribed_to_once<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let bob = service.account("bob", "bob@example.com").await.account;
    let subscribe = |account, name| service.accounts.subscribe(account, name, service.now());
    let first = subscribe(ada, "prices").await.expect("a first time");
    assert_eq!((first.database_name.as_str(), first.is_active), ("prices", true));
    assert_eq!(first.subscribed_at, service.now());
    assert_eq!(fault(subscribe(ada, "prices").await), "already_subscribed");
    let second = subscribe(ada, "rates").await.expect("a first time");
    subscribe(bob, "prices").await.expect("his first time");
    let listed = service.accounts.subscriptions(ada).await.expect("the store answers");
    assert_eq!(listed, [first, second]);
    assert_eq!(service.accounts.subscriptions(bob).await.expect("the store answers").len(), 1);
}

/// Checks that a subscription ends for its own account alone, and once.
pub async fn a_subscription_ends_once<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let bob = service.account("bob", "bob@example.com").await.account;
    let subscribe = |account| service.accounts.subscribe(account, "prices", service.now());
    for account in [ada, bob] {
        subscribe(account).await.expect("a first time");
    }
    service.accounts.unsubscribe(ada, "prices").await.expect("it is there");
    assert_eq!(fault(service.accounts.unsubscribe(ada, "prices").await), "not_found");
    assert_eq!(fault(service.accounts.unsubscribe(bob, "rates").await), "not_found");
    assert_eq!(service.accounts.subscriptions(ada).await.expect("the store answers"), []);
    assert_eq!(service.accounts.subscriptions(bob).await.expect("the store answers").len(), 1);
    subscribe(ada).await.expect("a second subscription after the first has ended");
}

/// Checks that personal data is removed when the call returns, and that the audit succeeds.
pub async fn a_deleted_account_leaves_no_key_session_or_history_and_books_that_hold<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let bob = service.account("bob", "bob@example.com").await;
    let callers = [ada.account, bob.account].map(CallerId::Account);
    let batch = (0..40).map(|id| service.entry(callers[id as usize % 2], id, 3, "/a")).collect();
    service.settle(batch).await;
    service.accounts.subscribe(ada.account, "prices", service.now()).await.expect("a first time");
    service.login_code("ada@example.com", "wrong").await;
    service.messages().await;

    service.delete(ada.account, PASSWORD).await.expect("the right password");

    assert!(matches!(
        service.messages().await[..],
        [OutboundMessage { content: Content::AccountDeleted, .. }]
    ));
    let refusal = service.accounts.authenticate(&ada.api_key, service.now()).await;
    assert!(matches!(refusal, Err(AuthError::Unknown)));
    assert!(!service.is_live(&ada).await);
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "wrong_credentials");
    assert_eq!(fault(service.accounts.profile(ada.account).await), "not_found");
    let history = service.accounts.login_history(ada.account, 10, 0).await.expect("ok");
    assert_eq!(history.total, 0);
    assert!(service.accounts.subscriptions(ada.account).await.expect("ok").is_empty());
    let query = activity::everything();
    let report = service.accounts.usage(ada.account, &query, service.now()).await.expect("ok");
    assert_eq!((report.summary.total_requests, report.requests.len()), (0, 0));
    let late = service.settle(vec![service.entry(callers[0], 99, 1, "/a")]).await;
    assert_eq!(late, [Settlement::Insufficient { balance: 0 }]);
    assert_eq!(fault(service.delete(ada.account, PASSWORD).await), "not_found");

    service.assert_ledger_holds().await;
    assert_eq!(service.balance(bob.account).await, 350 - 60);
    let bobs = service.accounts.usage(bob.account, &query, service.now()).await.expect("ok");
    assert_eq!(bobs.summary.total_requests, 20);
    let counts =
        service.accounts.store().calls_per_minute(service.now(), service.now()).await.expect("ok");
    assert!(counts.iter().all(|count| count.caller == callers[1]), "hers are nobody's");
    service.accounts.clean_up(service.now(), 10, None).await.expect("ok");
    service.assert_ledger_holds().await;
}

/// Checks that a deleted account may register again, as a new account.
pub async fn a_deleted_address_and_name_are_free_again<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let first = service.account("ada", "ada@example.com").await;
    service.delete(first.account, PASSWORD).await.expect("the right password");
    service.wait(60);
    let second = service.account("ada", "ada@example.com").await;
    assert_ne!(first.account, second.account);
    assert_eq!(service.balance(second.account).await, 350);
    assert!(service.caller(&second.api_key).await.is_some());
    assert!(service.caller(&first.api_key).await.is_none());
    service.assert_ledger_holds().await;
}

/// Checks that the address confirms a deletion only for an account without a password.
pub async fn a_deletion_wants_the_right_confirmation<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let without = service.funded("without", 5).await;
    let delete = |account, address: &str| {
        let confirmation = Confirmation::Email(email(address));
        let (accounts, now) = (service.accounts.clone(), service.now());
        async move { accounts.delete_account(account, &confirmation, now).await }
    };
    assert_eq!(fault(service.delete(ada, "wrong").await), "wrong_confirmation");
    assert_eq!(fault(delete(ada, "ada@example.com").await), "wrong_confirmation");
    assert_eq!(fault(service.delete(without, PASSWORD).await), "wrong_confirmation");
    assert_eq!(fault(delete(without, "ada@example.com").await), "wrong_confirmation");
    assert!(service.accounts.profile(ada).await.is_ok() && service.balance(without).await == 5);
    delete(without, "WITHOUT@example.com").await.expect("its own address");
    assert_eq!(fault(service.accounts.profile(without).await), "not_found");
    service.assert_ledger_holds().await;
}

/// Checks that wrong confirmations with a stolen key are limited to five, and lock no login.
pub async fn wrong_confirmations_lock_themselves_and_no_login<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let before = service.hasher.hashes();
    let answers = all((0..40).map(|_| service.delete(ada, "wrong"))).await;
    let wrong =
        answers.into_iter().filter(|answer| matches!(answer, Err(Error::WrongConfirmation)));
    assert_eq!((wrong.count(), service.hasher.hashes() - before), (5, 5));
    assert_eq!(fault(service.delete(ada, PASSWORD).await), "locked");
    let password = Password::attempt(PASSWORD);
    let disable = service.accounts.disable_mfa(ada, &password, service.now()).await;
    assert_eq!(fault(disable), "locked");
    let change = service.change(ada, PASSWORD, "another one of hers").await;
    assert_eq!(fault(change), "locked");
    assert_eq!(fault(service.ask_for(ada, "ada@example.org", PASSWORD).await), "locked");
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    for _ in 0..5 {
        service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    service.wait(30 * 60);
    service.delete(ada, PASSWORD).await.expect("the lock is over, and the strangers' is not hers");
}
