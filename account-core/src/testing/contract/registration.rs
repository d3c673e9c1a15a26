//! Checks of registrations, and of the information that their answers contain.

use super::test_service::{PASSWORD, TestService, email, fault};
use crate::KeyStatus;
use crate::accounts::Login;
use crate::outbox::{Content, OutboundMessage};
use crate::store::Store;
use crate::tier::Tier;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! registration_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, registration;
            a_newcomer_registers_verifies_and_gets_the_same_key_at_login,
            the_email_names_the_username_and_a_code_confirms_only_its_own_form,
            inside_the_cooldown_nothing_changes_the_form_included,
            a_resend_replaces_the_code_and_reaches_no_unknown_address,
            a_known_address_gets_the_same_answer_and_another_email,
            a_taken_username_is_told_whatever_the_address,
            a_registration_whose_code_expired_holds_no_username,
        );
    };
}

/// Checks that registration, verification and login return the same key.
pub async fn a_newcomer_registers_verifies_and_gets_the_same_key_at_login<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let signed_in = service.account("ada", "ada@example.com").await;

    let profile = service.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(
        (profile.tier, profile.credit_balance, profile.hourly_limit),
        (Tier::Free, 350, 500)
    );
    assert!(profile.is_verified && !profile.is_admin && !profile.mfa_enabled);
    assert_eq!((profile.username.as_str(), profile.email.as_str()), ("ada", "ada@example.com"));
    assert_eq!(profile.api_key_status, KeyStatus::Active);
    assert_eq!((profile.created_at, profile.last_login_at), (service.now(), None));

    service.wait(5);
    let Ok(Login::SignedIn(login)) = service.login("ADA@Example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    assert_eq!(login.api_key.expose(), signed_in.api_key.expose());
    let caller = service.caller(&login.api_key).await.expect("the key is good");
    assert_eq!((caller.id, caller.credit_balance), (signed_in.account, 350));
    let profile = service.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(profile.last_login_at, Some(service.now()));
    service.assert_ledger_holds().await;
}

/// Checks that a second registration replaces form and code together.
pub async fn the_email_names_the_username_and_a_code_confirms_only_its_own_form<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    service.register("ada", "ada@example.com", "her own password").await.expect("a free name");
    let [OutboundMessage { content: Content::Registration { username: name, code: hers }, .. }] =
        &service.messages().await[..]
    else {
        panic!("not one e-mail with a code");
    };
    assert_eq!(name.as_str(), "ada");

    service.wait(60);
    service.register("mallory", "ada@example.com", "a stranger's one").await.expect("a free name");
    let messages = service.messages().await;
    let Content::Registration { username: name, code: strangers } = &messages[0].content else {
        panic!("no e-mail with a code");
    };
    assert_eq!(name.as_str(), "mallory");

    assert_eq!(fault(service.verify("ada@example.com", hers).await), "wrong_code");
    assert!(service.verify("ada@example.com", strangers).await.is_ok());
    assert_eq!(
        service.login_code("ada@example.com", "her own password").await,
        "wrong_credentials"
    );
}

/// Checks that another visitor cannot replace a form while its code is new.
pub async fn inside_the_cooldown_nothing_changes_the_form_included<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let hers = service.code("ada@example.com").await;
    service.wait(59);
    service
        .register("mallory", "ada@example.com", "a stranger's one")
        .await
        .expect("the same answer");
    service
        .accounts
        .resend_registration_code(&email("ada@example.com"), service.now())
        .await
        .expect("ok");
    assert!(service.messages().await.is_empty());

    let signed_in = service.verify("ada@example.com", &hers).await.expect("the code still stands");
    let profile = service.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(profile.username.as_str(), "ada");
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    assert!(
        service.register("mallory", "m@example.com", PASSWORD).await.is_ok(),
        "the name is free"
    );
}

/// Checks that a resend affects an unverified form alone, and replaces the earlier code.
pub async fn a_resend_replaces_the_code_and_reaches_no_unknown_address<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let first = service.code("ada@example.com").await;
    service.wait(60);
    for address in ["ada@example.com", "nobody@example.com"] {
        service
            .accounts
            .resend_registration_code(&email(address), service.now())
            .await
            .expect("ok");
    }
    let messages = service.messages().await;
    assert_eq!(messages.len(), 1);
    let Content::Registration { code: second, .. } = &messages[0].content else {
        panic!("no code in the e-mail");
    };
    assert_eq!(fault(service.verify("ada@example.com", &first).await), "wrong_code");
    assert!(service.verify("ada@example.com", second).await.is_ok());

    service.wait(60);
    service
        .accounts
        .resend_registration_code(&email("ada@example.com"), service.now())
        .await
        .expect("ok");
    assert!(service.messages().await.is_empty(), "a verified address waits for no code");
}

/// Checks that the registration of a verified address informs its owner, not the client.
pub async fn a_known_address_gets_the_same_answer_and_another_email<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.wait(60);
    service
        .register("mallory", "ada@example.com", "a stranger's one")
        .await
        .expect("the same answer");
    let messages = service.messages().await;
    assert!(matches!(messages[..], [OutboundMessage { content: Content::AccountExists, .. }]));
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
}

/// Checks that the answer to a taken name depends on the name alone, and reveals nothing about an
/// address.
pub async fn a_taken_username_is_told_whatever_the_address<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    service.wait(60);
    for (name, address) in [
        ("ADA", "new@example.com"),
        ("ada", "bob@example.com"),
        ("ada", "ada@example.com"),
        ("Bob", "new@example.com"),
        ("bob", "ada@example.com"),
    ] {
        let result = service.register(name, address, PASSWORD).await;
        assert_eq!(fault(result), "username_taken", "{name} {address}");
    }
    assert!(service.register("bob", "bob@example.com", PASSWORD).await.is_ok(), "his own form");
}

/// Checks that an unconfirmed form does not reserve a name.
pub async fn a_registration_whose_code_expired_holds_no_username<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.register("ada", "squatter@example.com", PASSWORD).await.expect("a free name");
    service.wait(599);
    let early = service.register("ada", "ada@example.com", PASSWORD).await;
    assert_eq!(fault(early), "username_taken");
    service.wait(1);
    service.register("ada", "ada@example.com", PASSWORD).await.expect("the name is free again");
    let code = service.code("ada@example.com").await;
    assert!(service.verify("ada@example.com", &code).await.is_ok());
    assert_eq!(service.login_code("squatter@example.com", PASSWORD).await, "wrong_credentials");
}
