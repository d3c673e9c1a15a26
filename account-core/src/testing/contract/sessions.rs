//! Sessions.

use chrono::TimeDelta;

use super::house::{House, PASSWORD, email};
use crate::accounts::{Login, SignedIn, Store};
use crate::identity::AccountId;
use crate::session::{IDLE, LONGEST};

/// A session is one account's, and ends in each of the ways that end it.
pub async fn a_session_ends_by_logout_idleness_age_and_suspension<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let ada = house.account("ada", "ada@example.com").await;
    let bob = house.account("bob", "bob@example.com").await;
    let live = |signed_in: &SignedIn, account: AccountId| {
        let (house, token) = (&house, signed_in.session_token.clone());
        async move { house.accounts.session(&token, account, house.now()).await.expect("ok") }
    };
    assert!(live(&ada, ada.account).await);
    assert!(!live(&ada, bob.account).await, "another account's session");
    assert!(house.accounts.logout(&bob.session_token, bob.account).await.expect("ok"));
    assert!(!live(&bob, bob.account).await);
    assert!(!house.accounts.logout(&bob.session_token, bob.account).await.expect("ok"));

    let start = house.now();
    while house.now() + IDLE - TimeDelta::seconds(1) < start + LONGEST {
        house.clock.advance(IDLE - TimeDelta::seconds(1));
        assert!(live(&ada, ada.account).await, "{}", house.now() - start);
    }
    house.clock.advance(start + LONGEST - house.now());
    assert!(!live(&ada, ada.account).await, "thirty days old");

    let Ok(Login::SignedIn(idle)) = house.login("ada@example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    house.clock.advance(IDLE);
    assert!(!live(&idle, ada.account).await, "idle for a day");
    let Ok(Login::SignedIn(fresh)) = house.login("ada@example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    house.accounts.suspend(&email("ada@example.com")).await.expect("the account is there");
    assert!(!live(&fresh, ada.account).await, "suspended");
}
