//! Checks of sessions.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService, email};
use crate::accounts::{Login, SignedIn};
use crate::identity::AccountId;
use crate::session::{IDLE, LONGEST};
use crate::store::Store;

/// Checks that a session belongs to one account, and each way in which a session ends.
pub async fn a_session_ends_by_logout_idleness_age_and_suspension<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let bob = service.account("bob", "bob@example.com").await;
    let live = |signed_in: &SignedIn, account: AccountId| {
        let (service, token) = (&service, signed_in.session_token.clone());
        async move { service.accounts.session(&token, account, service.now()).await.expect("ok") }
    };
    assert!(live(&ada, ada.account).await);
    assert!(!live(&ada, bob.account).await, "another account's session");
    assert!(service.accounts.logout(&bob.session_token, bob.account).await.expect("ok"));
    assert!(!live(&bob, bob.account).await);
    assert!(!service.accounts.logout(&bob.session_token, bob.account).await.expect("ok"));

    let start = service.now();
    while service.now() + IDLE - TimeDelta::seconds(1) < start + LONGEST {
        service.clock.advance(IDLE - TimeDelta::seconds(1));
        assert!(live(&ada, ada.account).await, "{}", service.now() - start);
    }
    service.clock.advance(start + LONGEST - service.now());
    assert!(!live(&ada, ada.account).await, "thirty days old");

    let Ok(Login::SignedIn(idle)) = service.login("ada@example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    service.clock.advance(IDLE);
    assert!(!live(&idle, ada.account).await, "idle for a day");
    let Ok(Login::SignedIn(fresh)) = service.login("ada@example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    service.accounts.suspend(&email("ada@example.com")).await.expect("the account is there");
    assert!(!live(&fresh, ada.account).await, "suspended");
}
