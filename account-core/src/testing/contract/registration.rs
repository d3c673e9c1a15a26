//! Registrations, and what they tell.

use super::house::{House, PASSWORD, email, fault};
use crate::KeyStatus;
use crate::accounts::{Login, Store};
use crate::letter::{Content, Letter};
use crate::tier::Tier;

/// Registration, verification and login answer one and the same key.
pub async fn a_newcomer_registers_verifies_and_gets_the_same_key_at_login<S: Store + Clone>(
    store: S,
) {
    let house = House::new(store);
    let signed_in = house.account("ada", "ada@example.com").await;

    let profile = house.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(
        (profile.tier, profile.credit_balance, profile.hourly_limit),
        (Tier::Free, 350, 500)
    );
    assert!(profile.is_verified && !profile.is_admin && !profile.mfa_enabled);
    assert_eq!((profile.username.as_str(), profile.email.as_str()), ("ada", "ada@example.com"));
    assert_eq!(profile.api_key_status, KeyStatus::Active);
    assert_eq!((profile.created_at, profile.last_login_at), (house.now(), None));

    house.wait(5);
    let Ok(Login::SignedIn(login)) = house.login("ADA@Example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    assert_eq!(login.api_key.expose(), signed_in.api_key.expose());
    let caller = house.caller(&login.api_key).await.expect("the key is good");
    assert_eq!((caller.id, caller.credit_balance), (signed_in.account, 350));
    let profile = house.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(profile.last_login_at, Some(house.now()));
    house.assert_books_hold().await;
}

/// Registering anew replaces form and code together.
pub async fn the_letter_names_the_username_and_a_code_confirms_only_its_own_form<
    S: Store + Clone,
>(
    store: S,
) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", "her own password").await.expect("a free name");
    let [Letter { content: Content::Registration { username: name, code: hers }, .. }] =
        &house.letters().await[..]
    else {
        panic!("not one letter with a code");
    };
    assert_eq!(name.as_str(), "ada");

    house.wait(60);
    house.register("mallory", "ada@example.com", "a stranger's one").await.expect("a free name");
    let letters = house.letters().await;
    let Content::Registration { username: name, code: strangers } = &letters[0].content else {
        panic!("no letter with a code");
    };
    assert_eq!(name.as_str(), "mallory");

    assert_eq!(fault(house.verify("ada@example.com", hers).await), "wrong_code");
    assert!(house.verify("ada@example.com", strangers).await.is_ok());
    assert_eq!(house.login_code("ada@example.com", "her own password").await, "wrong_credentials");
}

/// A stranger cannot change a form while its code is young.
pub async fn inside_the_cooldown_nothing_changes_the_form_included<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let hers = house.code("ada@example.com").await;
    house.wait(59);
    house
        .register("mallory", "ada@example.com", "a stranger's one")
        .await
        .expect("the same answer");
    house
        .accounts
        .resend_registration_code(&email("ada@example.com"), house.now())
        .await
        .expect("ok");
    assert!(house.letters().await.is_empty());

    let signed_in = house.verify("ada@example.com", &hers).await.expect("the code still stands");
    let profile = house.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(profile.username.as_str(), "ada");
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
    assert!(house.register("mallory", "m@example.com", PASSWORD).await.is_ok(), "the name is free");
}

/// A resend is for a waiting form alone, and makes the earlier code worthless.
pub async fn a_resend_replaces_the_code_and_reaches_no_unknown_address<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let first = house.code("ada@example.com").await;
    house.wait(60);
    for address in ["ada@example.com", "nobody@example.com"] {
        house.accounts.resend_registration_code(&email(address), house.now()).await.expect("ok");
    }
    let letters = house.letters().await;
    assert_eq!(letters.len(), 1);
    let Content::Registration { code: second, .. } = &letters[0].content else {
        panic!("no code in the letter");
    };
    assert_eq!(fault(house.verify("ada@example.com", &first).await), "wrong_code");
    assert!(house.verify("ada@example.com", second).await.is_ok());

    house.wait(60);
    house
        .accounts
        .resend_registration_code(&email("ada@example.com"), house.now())
        .await
        .expect("ok");
    assert!(house.letters().await.is_empty(), "a verified address waits for no code");
}

/// Registering a verified address tells its owner, not the caller.
pub async fn a_known_address_gets_the_same_answer_and_another_letter<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    house.wait(60);
    house
        .register("mallory", "ada@example.com", "a stranger's one")
        .await
        .expect("the same answer");
    let letters = house.letters().await;
    assert!(matches!(letters[..], [Letter { content: Content::AccountExists, .. }]));
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
}

/// The answer to a taken name depends on the name alone, so it tells nothing of an address.
pub async fn a_taken_username_is_told_whatever_the_address<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    house.wait(60);
    for (name, address) in [
        ("ADA", "new@example.com"),
        ("ada", "bob@example.com"),
        ("ada", "ada@example.com"),
        ("Bob", "new@example.com"),
        ("bob", "ada@example.com"),
    ] {
        let result = house.register(name, address, PASSWORD).await;
        assert_eq!(fault(result), "username_taken", "{name} {address}");
    }
    assert!(house.register("bob", "bob@example.com", PASSWORD).await.is_ok(), "his own form");
}

/// Whoever never confirmed keeps no name from others.
pub async fn a_registration_whose_code_expired_holds_no_username<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "squatter@example.com", PASSWORD).await.expect("a free name");
    house.wait(599);
    let early = house.register("ada", "ada@example.com", PASSWORD).await;
    assert_eq!(fault(early), "username_taken");
    house.wait(1);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("the name is free again");
    let code = house.code("ada@example.com").await;
    assert!(house.verify("ada@example.com", &code).await.is_ok());
    assert_eq!(house.login_code("squatter@example.com", PASSWORD).await, "wrong_credentials");
}
