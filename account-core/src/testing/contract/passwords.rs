//! Checks of wrong passwords, and of the information that their answers contain.

use super::recovery::NEW;
use super::test_service::{
    PASSWORD, TestService, another, client, email, fault, stranger, username,
};
use crate::Result;
use crate::accounts::NewAccount;
use crate::identity::AccountId;
use crate::outbox::{Content, OutboundMessage};
use crate::password::Password;
use crate::store::{LoginMethod, Store, TryStatus};
use crate::testing::all;
use crate::tier::Tier;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! passwords_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, passwords;
            a_wrong_password_and_an_unknown_address_are_one_and_the_same,
            an_unverified_account_is_told_so_after_the_right_password_only,
            five_wrong_passwords_lock_known_and_unknown_addresses_for_thirty_minutes,
            two_hundred_parallel_wrong_passwords_are_five_looked_at,
            right_passwords_count_as_no_failure,
            every_try_is_in_the_login_history_locked_ones_too,
            one_password_signs_in_however_it_is_encoded,
            an_accounts_address_or_name_is_no_password_of_its,
            a_signed_in_owner_changes_the_password_and_all_sessions_end,
            of_parallel_changes_with_one_password_one_is_made,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    pub(super) async fn change(&self, account: AccountId, current: &str, new: &str) -> Result<()> {
        let [current, new] = [current, new].map(Password::attempt);
        self.accounts.change_password(account, &current, &new, &client(), self.now()).await
    }
}

/// Checks that answer and work are the same for an address with and without an account.
pub async fn a_wrong_password_and_an_unknown_address_are_one_and_the_same<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    service.funded("no-password", 0).await;
    for address in
        ["ada@example.com", "bob@example.com", "no-password@example.com", "nobody@example.com"]
    {
        let before = service.hasher.hashes();
        let answer = service.login_code(address, "a wrong password").await;
        assert_eq!(
            (answer, service.hasher.hashes() - before),
            ("wrong_credentials", 1),
            "{address}"
        );
    }
    for (name, address) in [("carl", "ada@example.com"), ("dora", "nobody@example.com")] {
        let before = service.hasher.hashes();
        service.wait(60);
        service.register(name, address, PASSWORD).await.expect("the same answer");
        assert_eq!(service.hasher.hashes() - before, 1, "{address}");
    }
}

/// Checks that only the right password reveals that an address is unverified.
pub async fn an_unverified_account_is_told_so_after_the_right_password_only<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    service.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "unverified");
    assert_eq!(service.login_code("ada@example.com", "another one").await, "wrong_credentials");
}

/// Checks that a lock reveals no account, and that the lock ends.
pub async fn five_wrong_passwords_lock_known_and_unknown_addresses_for_thirty_minutes<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let key = service.account("ada", "ada@example.com").await.api_key;
    for address in ["ada@example.com", "nobody@example.com"] {
        for _ in 0..5 {
            assert_eq!(service.login_code(address, "wrong").await, "wrong_credentials");
        }
        let before = service.hasher.compared();
        assert_eq!(service.login_code(address, PASSWORD).await, "locked");
        assert_eq!(service.hasher.compared(), before, "no password was looked at");
    }
    assert!(service.caller(&key).await.is_some(), "the key goes on");
    service.wait(30 * 60 - 1);
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "locked");
    service.wait(1);
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
}

/// Checks that an attempt is reserved before its hash is computed.
pub async fn two_hundred_parallel_wrong_passwords_are_five_looked_at<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    let before = service.hasher.compared();
    let answers = all((0..200).map(|_| service.login_code("ada@example.com", "wrong"))).await;
    assert_eq!(service.hasher.compared() - before, 5);
    assert_eq!(answers.iter().filter(|answer| **answer == "wrong_credentials").count(), 5);
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "locked");
}

/// Checks that only a wrong password counts.
pub async fn right_passwords_count_as_no_failure<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    for _ in 0..3 {
        for _ in 0..4 {
            assert_eq!(service.login_code("ada@example.com", "wrong").await, "wrong_credentials");
        }
        assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    }
    for _ in 0..20 {
        assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    }
}

/// Checks that the owner sees every attempt.
pub async fn every_try_is_in_the_login_history_locked_ones_too<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    for _ in 0..6 {
        service.wait(1);
        service.login_code("ada@example.com", "wrong").await;
    }
    let history = service.accounts.login_history(ada, 20, 0).await.expect("the store answers");
    let statuses: Vec<TryStatus> = history.entries.iter().map(|entry| entry.status).collect();
    use TryStatus::{Failed, Locked, Success};
    assert_eq!(statuses, [Locked, Failed, Failed, Failed, Failed, Failed, Success]);
    assert_eq!((history.total, history.successful, history.failed), (7, 1, 6));
    let newest = &history.entries[0];
    assert_eq!((newest.address, newest.at), (client().address, service.now()));
    assert_eq!((newest.user_agent.as_str(), newest.method), ("contract", LoginMethod::Password));
    let page = service.accounts.login_history(ada, 2, 5).await.expect("the store answers");
    assert_eq!(page.entries, history.entries[5..7]);
    for limit in [0, 101] {
        assert_eq!(fault(service.accounts.login_history(ada, limit, 0).await), "range");
    }
}

/// A keyboard that composes letters and one that does not send one password.
pub async fn one_password_signs_in_however_it_is_encoded<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let (composed, decomposed) = ("caf\u{e9}\u{a0}au lait", "cafe\u{301} au\u{2003}lait");
    for (name, chosen, offered) in [("ada", composed, decomposed), ("bob", decomposed, composed)] {
        let address = format!("{name}@example.com");
        service.register(name, &address, chosen).await.expect("a free name");
        let code = service.code(&address).await;
        service.verify(&address, &code).await.expect("the right code");
        assert_eq!(service.login_code(&address, offered).await, "signed_in");
        assert_eq!(service.login_code(&address, "cafe au lait").await, "wrong_credentials");
        let reset = service.reset_code(&address).await;
        service.reset_to(&address, &reset, offered).await.expect("the right code");
        assert_eq!(service.login_code(&address, chosen).await, "signed_in");
        let password = Password::attempt(chosen);
        let account = service.accounts.store().account_of(&email(&address)).await.expect("ok");
        let account = account.expect("it is there");
        service.accounts.enable_mfa(account, service.now()).await.expect("it is there");
        let disabled = service.accounts.disable_mfa(account, &password, service.now()).await;
        disabled.expect("the right password");
    }
}

/// At registration, by an operator, and at a reset, where only the right code is told.
pub async fn an_accounts_address_or_name_is_no_password_of_its<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let personal = ["ADA.Lovelace@example.com", "adalovelace", " AdaLovelace "];
    for text in personal {
        let registered = service.register("AdaLovelace", "ada.lovelace@example.com", text).await;
        assert_eq!(fault(registered), "password_personal", "{text}");
        let account = NewAccount {
            email: email("ada.lovelace@example.com"),
            username: username("AdaLovelace"),
            password: Some(Password::attempt(text)),
            tier: Tier::Free,
            credits: None,
            hourly_limit: None,
            is_admin: false,
        };
        let created = service.accounts.create_account(account, service.now()).await;
        assert_eq!(fault(created), "password_personal", "{text}");
    }
    service.account("AdaLovelace", "ada.lovelace@example.com").await;
    let reset = service.reset_code("ada.lovelace@example.com").await;
    for text in personal {
        let refused = service.reset_to("ada.lovelace@example.com", &reset, text).await;
        assert_eq!(fault(refused), "password_personal", "{text}");
    }
    let wrong = another(&reset);
    let refused = service.reset_to("ada.lovelace@example.com", &wrong, "adalovelace").await;
    assert_eq!(fault(refused), "wrong_code", "a wrong code tells nothing of the name");
    let taken = service.reset_to("ada.lovelace@example.com", &reset, "adalovelace1815").await;
    taken.expect("the code was not used up");
}

/// Checks that the present password is required, that sessions end, and that the key stays.
pub async fn a_signed_in_owner_changes_the_password_and_all_sessions_end<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let other = service.signed_in(&stranger(), "ada@example.com", PASSWORD).await;
    let hand_off = service.hand_off(&ada).await;
    for _ in 0..5 {
        service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    service.messages().await;
    assert_eq!(fault(service.change(ada.account, "wrong", NEW).await), "wrong_confirmation");
    assert!(service.is_live(&ada).await && service.messages().await.is_empty());

    service.change(ada.account, PASSWORD, NEW).await.expect("the right password");

    assert!(matches!(
        service.messages().await[..],
        [OutboundMessage { content: Content::PasswordChanged, .. }]
    ));
    assert!(!service.is_live(&ada).await && !service.is_live(&other).await);
    let redeemed = service.accounts.redeem_hand_off(&hand_off, &client(), service.now()).await;
    assert_eq!(fault(redeemed), "wrong_code");
    assert!(service.caller(&ada.api_key).await.is_some(), "the key goes on");
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "wrong_credentials");
    let login = service.login_code_from(&stranger(), "ada@example.com", NEW).await;
    assert_eq!(login, "signed_in", "the lock is lifted");
    let inbox = service.accounts.notifications(ada.account, false, 10, 0).await.expect("ok");
    assert!(inbox.entries.iter().any(|notice| notice.title == "Password changed"));

    let without = service.funded("without", 5).await;
    assert_eq!(fault(service.change(without, PASSWORD, NEW).await), "wrong_confirmation");
}

/// Checks that a change is made only while the password is the one that confirmed the change.
pub async fn of_parallel_changes_with_one_password_one_is_made<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let new: Vec<String> = (0..4).map(|number| format!("her password number {number}")).collect();
    let changes = all(new.iter().map(|new| service.change(ada, PASSWORD, new))).await;
    let made: Vec<&String> =
        new.iter().zip(&changes).filter(|(_, made)| made.is_ok()).map(|(new, _)| new).collect();
    let faults: Vec<_> = changes.into_iter().map(fault).collect();
    assert_eq!(made.len(), 1, "{faults:?}");
    assert_eq!(faults.iter().filter(|fault| **fault == "wrong_confirmation").count(), 3);
    assert_eq!(service.login_code("ada@example.com", made[0]).await, "signed_in");
    assert_eq!(service.messages().await.len(), 1, "one notice");
}
