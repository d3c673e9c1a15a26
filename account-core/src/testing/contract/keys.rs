//! Checks of the keys of accounts and guests.

use chrono::TimeDelta;

use super::test_service::{ANY, PASSWORD, TestService, client, email, fault};
use crate::KeyStatus;
use crate::accounts::Login;
use crate::guest::Device;
use crate::key::{ApiKey, AuthError, Caller, KeyKind};
use crate::store::Store;
use crate::testing::{all, seeded_rng};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! keys_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, keys;
            a_regenerated_key_replaces_the_old_one_at_once,
            of_two_parallel_regenerations_one_wins,
            a_suspended_key_is_unknown_until_it_is_activated,
            an_unknown_key_opens_nothing,
            a_guest_key_is_good_for_a_day,
            stored_keys_open_for_no_other_account,
        );
    };
}

/// Checks that the old key is refused at the next call, and that a login returns the new key.
pub async fn a_regenerated_key_replaces_the_old_one_at_once<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let old = service.account("ada", "ada@example.com").await.api_key;
    let caller = service.caller(&old).await.expect("the key is good");
    service.wait(7);
    let new = service.accounts.regenerate(&caller, service.now()).await.expect("the key is good");
    assert!(service.caller(&old).await.is_none());
    assert!(service.caller(&new).await.is_some());
    let Ok(Login::SignedIn(login)) = service.login("ada@example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    assert_eq!(login.api_key.expose(), new.expose());
    let profile = service.accounts.profile(caller.id).await.expect("the account is there");
    assert_eq!(profile.api_key_created_at, Some(service.now()));
}

/// Checks that no caller gets a key that the other call has replaced.
pub async fn of_two_parallel_regenerations_one_wins<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let old = service.account("ada", "ada@example.com").await.api_key;
    let caller = service.caller(&old).await.expect("the key is good");
    let results = all((0..8).map(|_| service.accounts.regenerate(&caller, service.now()))).await;
    let mut keys = Vec::new();
    for result in results {
        match result {
            Ok(key) => keys.push(key),
            Err(error) => assert_eq!(error.code(), "unauthorised"),
        }
    }
    assert_eq!(keys.len(), 1);
    assert!(service.caller(&keys[0]).await.is_some());
}

/// Checks that a suspended key is refused in the same way as an unknown one.
pub async fn a_suspended_key_is_unknown_until_it_is_activated<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let key = service.account("ada", "ada@example.com").await.api_key;
    let caller = service.caller(&key).await.expect("the key is good");
    let ada = email("ada@example.com");
    for _ in 0..2 {
        service.accounts.suspend(&ada).await.expect("the account is there");
        let refusal = service.accounts.authenticate(&key, service.now()).await;
        assert!(matches!(refusal, Err(AuthError::Unknown)));
    }
    assert_eq!(fault(service.accounts.regenerate(&caller, service.now()).await), "unauthorised");
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "suspended");
    assert_eq!(service.login_code("ada@example.com", "wrong").await, "wrong_credentials");
    let profile = service.accounts.profile(caller.id).await.expect("the account is there");
    assert_eq!(profile.api_key_status, KeyStatus::Suspended);
    service.accounts.activate(&ada).await.expect("the account is there");
    assert!(service.caller(&key).await.is_some());
    assert_eq!(fault(service.accounts.suspend(&email("nobody@example.com")).await), "not_found");
}

/// Checks that a well-formed unknown key is refused in the same way as any other.
pub async fn an_unknown_key_opens_nothing<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let mut rng = seeded_rng(404);
    for kind in [KeyKind::User, KeyKind::Guest] {
        let key = ApiKey::generate(kind, &mut rng);
        let refusal = service.accounts.authenticate(&key, service.now()).await;
        assert!(matches!(refusal, Err(AuthError::Unknown)));
    }
}

/// Checks that a guest has 24 hours and 50 credits.
pub async fn a_guest_key_is_good_for_a_day<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let device = Device::parse("device-1", None, Some("linux")).expect("a device");
    let guest = service
        .accounts
        .create_guest(device, client().address, ANY, service.now())
        .await
        .expect("ok");
    assert_eq!(guest.credit_balance, 50);
    assert_eq!(guest.expires_at - service.now(), TimeDelta::hours(24));
    service.clock.advance(TimeDelta::hours(24) - TimeDelta::microseconds(1));
    let Ok(Caller::Guest(caller)) =
        service.accounts.authenticate(&guest.api_key, service.now()).await
    else {
        panic!("the key was refused");
    };
    assert_eq!(
        (caller.device_id.as_str(), caller.platform.as_deref()),
        ("device-1", Some("linux"))
    );
    assert_eq!((caller.credit_balance, caller.expires_at), (50, guest.expires_at));
    service.clock.advance(TimeDelta::microseconds(1));
    let refusal = service.accounts.authenticate(&guest.api_key, service.now()).await;
    assert!(matches!(refusal, Err(AuthError::GuestExpired)));
}

/// Checks that a ciphertext in another account's row causes an error, and never reveals another
/// account's key.
pub async fn stored_keys_open_for_no_other_account<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.account("bob", "bob@example.com").await;
    let store = service.accounts.store();
    let mut stored = Vec::new();
    for address in ["ada@example.com", "bob@example.com"] {
        let recipient = service.recipient(address);
        let email = email(address);
        let marks = service.accounts.marks(&recipient, &client());
        let reserved = store.reserve_try(&email, recipient, marks).await;
        let known = reserved.expect("ok").credentials.expect("the account is there");
        stored.push((known.account, known.key.expect("a verified account has a key")));
    }
    let [(ada, adas), (bob, bobs)] = &stored[..] else { panic!("two accounts") };
    assert!(
        service.accounts.open_key(*ada, adas).is_ok()
            && service.accounts.open_key(*bob, bobs).is_ok()
    );
    assert_eq!(fault(service.accounts.open_key(*ada, bobs)), "sealed");
    assert_eq!(fault(service.accounts.open_key(*bob, adas)), "sealed");
}
