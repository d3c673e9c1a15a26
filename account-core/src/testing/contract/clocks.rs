//! Clocks that differ: two instances on one database, or a clock that was put back.

use chrono::TimeDelta;

use super::oauth::refused;
use super::test_service::{PASSWORD, TestService, fault};
use crate::oauth::token::ACCESS_VALIDITY;
use crate::store::Store;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! clocks_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, clocks;
            a_second_refresh_is_reuse_whichever_clock_shows_less,
            the_leeway_is_measured_from_the_rotation,
            a_name_is_held_by_a_form_of_a_clock_that_is_ahead,
            a_grant_of_a_clock_that_is_behind_is_not_the_oldest,
            a_session_is_not_used_earlier_than_it_was,
        );
    };
}

/// The use is a fact of the database, and the order of the uses that of its transactions.
pub async fn a_second_refresh_is_reuse_whichever_clock_shows_less<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    for milliseconds in [0, -1, -5_000, -600_000] {
        let tokens = service.connected(&ada, &client).await;
        let next = service.refresh(&client, &tokens.refresh).await.expect("the first use");
        service.clock.advance(TimeDelta::milliseconds(milliseconds));
        let again = service.refresh(&client, &tokens.refresh).await;
        assert_eq!(refused(again), "invalid_grant", "{milliseconds}");
        assert!(!service.opens(&next.access).await, "{milliseconds}: the grant has ended");
        service.clock.advance(TimeDelta::milliseconds(-milliseconds));
        assert_eq!(refused(service.refresh(&client, &next.refresh).await), "invalid_grant");
    }
}

/// An answer within the leeway states the lifetime that is left of the tokens, never a longer one.
pub async fn the_leeway_is_measured_from_the_rotation<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let tokens = service.connected(&ada, &client).await;
    service.wait(5);
    let next = service.refresh(&client, &tokens.refresh).await.expect("the first use");
    service.wait(-3);
    let again = service.refresh_within(&client, &tokens.refresh, 10).await.expect("at once");
    assert_eq!(again.refresh.expose(), next.refresh.expose());
    assert_eq!(again.expires_in, ACCESS_VALIDITY);
    service.wait(3 + 9);
    let again = service.refresh_within(&client, &tokens.refresh, 10).await.expect("within");
    assert_eq!(again.expires_in, ACCESS_VALIDITY - TimeDelta::seconds(9));
    service.wait(1);
    let late = service.refresh_within(&client, &tokens.refresh, 10).await;
    assert_eq!(refused(late), "invalid_grant");
}

/// Two registrants are never both told that they have the name.
pub async fn a_name_is_held_by_a_form_of_a_clock_that_is_ahead<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.register("ada", "first@example.com", PASSWORD).await.expect("a free name");
    service.clock.advance(TimeDelta::milliseconds(-1));
    let second = service.register("ada", "second@example.com", PASSWORD).await;
    assert_eq!(fault(second), "username_taken");
    let bob = service.account("bob", "bob@example.com").await.account;
    let changes = crate::ProfileChanges::parse(Some("ADA"), None, None, None).expect("a name");
    let renamed = service.accounts.update_profile(bob, changes).await;
    assert_eq!(fault(renamed), "username_taken");
    service.clock.advance(TimeDelta::milliseconds(1));
    let code = service.code("first@example.com").await;
    service.verify("first@example.com", &code).await.expect("the form is still there");
}

/// The tokens that were just handed out serve.
pub async fn a_grant_of_a_clock_that_is_behind_is_not_the_oldest<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    service.wait(60);
    let first = service.connected(&ada, &client).await;
    for _ in 0..19 {
        service.wait(1);
        service.connected(&ada, &client).await;
    }
    service.wait(-40);
    let last = service.connected(&ada, &client).await;
    assert!(service.opens(&last.access).await);
    assert!(!service.opens(&first.access).await, "the oldest of the others");
    let grants = service.accounts.grants(ada.account, service.now()).await.expect("ok");
    assert_eq!(grants.len(), 20);
}

/// A call that waited does not shorten the session of a later call.
pub async fn a_session_is_not_used_earlier_than_it_was<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let (token, store) = (&ada.session_token, service.accounts.store());
    let digest = service.outbox.vault.token_digest(token);
    let early = service.now();
    service.wait(120);
    store.touch_session(&digest, service.now()).await.expect("ok");
    store.touch_session(&digest, early).await.expect("ok");
    let session = store.session(&digest).await.expect("ok").expect("it is there");
    assert_eq!(session.last_used_at, service.now());
}
