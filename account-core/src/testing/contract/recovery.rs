//! Checks of the recovery from a forgotten password.

use super::test_service::{PASSWORD, TestService, another, client, code, email, fault, stranger};
use crate::Result;
use crate::code::{Code, Purpose};
use crate::identity::Email;
use crate::outbox::{Content, OutboundMessage};
use crate::password::Password;
use crate::store::Store;
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! recovery_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, recovery;
            a_reset_needs_the_code_of_its_email_and_gives_no_key_away,
            a_reset_lifts_the_lock_and_ends_all_sessions,
            a_reset_does_not_bypass_the_second_factor,
            a_forgotten_password_is_answered_alike_for_every_address,
            thirty_two_parallel_right_reset_codes_change_one_password_once,
            a_day_of_wrong_reset_codes_compares_at_most_fifty,
            a_reset_code_opens_nothing_else_and_no_other_account,
            whoever_resets_logs_in_while_strangers_hold_the_lock,
            a_suspended_account_stays_suspended_after_a_reset,
        );
    };
}

/// The password after a reset.
pub(super) const NEW: &str = "another one of hers";

impl<S: Store + Clone> TestService<S> {
    pub(super) async fn forgot(&self, address: &str) {
        self.accounts.forgot_password(&email(address), self.now()).await.expect("the same answer");
    }

    pub(super) async fn reset(&self, address: &str, code: &Code) -> Result<()> {
        self.reset_to(address, code, NEW).await
    }

    pub(super) async fn reset_to(&self, address: &str, code: &Code, text: &str) -> Result<()> {
        let (email, password) = (email(address), Password::attempt(text));
        self.accounts.reset_password(&email, code, &password, &client(), self.now()).await
    }

    pub(super) async fn reset_code(&self, address: &str) -> Code {
        self.forgot(address).await;
        self.code(address).await
    }
}

/// Checks that a reset leaves the key unchanged, and that only a login returns the key.
pub async fn a_reset_needs_the_code_of_its_email_and_gives_no_key_away<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let before = service.account("ada", "ada@example.com").await;
    let right = service.reset_code("ada@example.com").await;
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    assert_eq!(fault(service.reset("ada@example.com", &another(&right)).await), "wrong_code");
    service.reset("ada@example.com", &right).await.expect("the right code");
    assert_eq!(fault(service.reset("ada@example.com", &right).await), "wrong_code", "used");

    let messages = service.messages().await;
    assert!(matches!(messages[..], [OutboundMessage { content: Content::PasswordChanged, .. }]));
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "wrong_credentials");
    let after = service.signed_in(&client(), "ada@example.com", NEW).await;
    assert_eq!(after.api_key.expose(), before.api_key.expose());
}

/// Checks the lock by unknown clients, the lock by the owner's attempts, and all sessions.
pub async fn a_reset_lifts_the_lock_and_ends_all_sessions<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let first = service.account("ada", "ada@example.com").await;
    let second = service.signed_in(&client(), "ada@example.com", PASSWORD).await;
    for _ in 0..5 {
        service.login_code("ada@example.com", "wrong").await;
        service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    for client in [client(), stranger()] {
        assert_eq!(service.login_code_from(&client, "ada@example.com", PASSWORD).await, "locked");
    }
    let right = service.reset_code("ada@example.com").await;
    service.reset("ada@example.com", &right).await.expect("the right code");
    assert!(!service.is_live(&first).await && !service.is_live(&second).await);
    assert!(service.caller(&first.api_key).await.is_some(), "the key goes on");
    for client in [client(), stranger()] {
        assert_eq!(service.login_code_from(&client, "ada@example.com", NEW).await, "signed_in");
    }
}

/// Checks that a reset returns no session, and ends an unfinished login.
pub async fn a_reset_does_not_bypass_the_second_factor<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account_with_mfa("ada", "ada@example.com").await;
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    let half_done = service.code("ada@example.com").await;
    let right = service.reset_code("ada@example.com").await;
    service.reset("ada@example.com", &right).await.expect("the right code");
    let old = service.complete("ada@example.com", &half_done, None).await;
    assert_eq!(fault(old), "wrong_code", "that login was begun with the old password");
    service.wait(60);
    assert_eq!(service.login_code("ada@example.com", NEW).await, "mfa_required");
    let code = service.code("ada@example.com").await;
    assert!(service.complete("ada@example.com", &code, None).await.is_ok());
}

/// Checks that only an address with an account gets an e-mail, and that neither answer nor work
/// differs.
pub async fn a_forgotten_password_is_answered_alike_for_every_address<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    service.funded("no-password", 0).await;
    service.messages().await;
    let addresses =
        ["ada@example.com", "bob@example.com", "no-password@example.com", "nobody@example.com"];
    for address in addresses {
        let before = service.hasher.hashes();
        service.forgot(address).await;
        service.forgot(address).await;
        assert_eq!(service.hasher.hashes(), before, "{address}");
        assert_eq!(fault(service.reset(address, &code("000000")).await), "wrong_code", "{address}");
        assert_eq!(service.hasher.hashes(), before + 1, "{address}");
    }
    let mut reached: Vec<Email> =
        service.messages().await.into_iter().map(|found| found.to).collect();
    reached.sort();
    assert_eq!(reached, [email("ada@example.com"), email("no-password@example.com")]);
}

/// Checks that the transaction which uses a code consumes the code.
pub async fn thirty_two_parallel_right_reset_codes_change_one_password_once<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    let right = service.reset_code("ada@example.com").await;
    let results = all((0..32).map(|_| service.reset("ada@example.com", &right))).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(service.messages().await.len(), 1, "one notice");
}

/// Checks that an attacker has ten e-mails of five attempts each in 24 hours.
pub async fn a_day_of_wrong_reset_codes_compares_at_most_fifty<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    for address in ["ada@example.com", "nobody@example.com"] {
        let recipient = service.recipient(address);
        let mut compared = 0;
        for _ in 0..(24 * 30 - 1) {
            service.forgot(address).await;
            for _ in 0..6 {
                let store = service.accounts.store();
                let attempt = store.attempt(recipient, Purpose::Reset, None).await;
                compared += u32::from(attempt.expect("the store answers").is_some());
            }
            service.wait(120);
        }
        assert_eq!(compared, 50, "{address}");
    }
}

/// Checks every combination of purpose and address, of which only the matching ones pass.
pub async fn a_reset_code_opens_nothing_else_and_no_other_account<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account_with_mfa("ada", "ada@example.com").await;
    service.account("bob", "bob@example.com").await;
    service.register("carl", "carl@example.com", PASSWORD).await.expect("a free name");
    let registration = service.code("carl@example.com").await;
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    let mfa = service.code("ada@example.com").await;
    let adas = service.reset_code("ada@example.com").await;
    service.forgot("bob@example.com").await;

    assert_eq!(fault(service.reset("bob@example.com", &adas).await), "wrong_code");
    assert_eq!(fault(service.reset("ada@example.com", &mfa).await), "wrong_code");
    assert_eq!(fault(service.reset("carl@example.com", &registration).await), "wrong_code");
    assert_eq!(fault(service.complete("ada@example.com", &adas, None).await), "wrong_code");
    assert_eq!(fault(service.verify("ada@example.com", &adas).await), "wrong_code");
    assert!(service.verify("carl@example.com", &registration).await.is_ok());
    assert!(service.complete("ada@example.com", &mfa, None).await.is_ok());
    assert!(service.reset("ada@example.com", &adas).await.is_ok());
}

/// Checks that constant wrong passwords do not lock out a client that has just reset the password.
pub async fn whoever_resets_logs_in_while_strangers_hold_the_lock<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    let right = service.reset_code("ada@example.com").await;
    service.reset("ada@example.com", &right).await.expect("the right code");
    for _ in 0..6 {
        service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    assert_eq!(service.login_code_from(&stranger(), "ada@example.com", NEW).await, "locked");
    assert_eq!(service.login_code("ada@example.com", NEW).await, "signed_in");
}

/// Checks that only an operator ends a suspension.
pub async fn a_suspended_account_stays_suspended_after_a_reset<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let key = service.account("ada", "ada@example.com").await.api_key;
    service.accounts.suspend(&email("ada@example.com")).await.expect("the account is there");
    let right = service.reset_code("ada@example.com").await;
    service.reset("ada@example.com", &right).await.expect("the right code");
    assert_eq!(service.login_code("ada@example.com", NEW).await, "suspended");
    assert!(service.caller(&key).await.is_none());
}
