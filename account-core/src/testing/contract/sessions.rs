//! Checks of sessions.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService, client, email, fault, stranger};
use crate::accounts::{Login, SignedIn};
use crate::identity::AccountId;
use crate::session::{IDLE, LONGEST, SessionId};
use crate::store::{ListedSession, Store};
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! sessions_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, sessions;
            a_session_ends_by_logout_idleness_age_and_suspension,
            an_owner_sees_live_sessions_and_the_clients_that_began_them,
            an_owner_ends_one_session_and_nobody_elses,
            a_sign_out_everywhere_leaves_no_session_and_no_sign_in_under_way,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    /// Returns the first live sessions of an account, and the number of all.
    async fn listed(&self, account: AccountId, limit: u32) -> (Vec<ListedSession>, u64) {
        let page = self.accounts.sessions(account, limit, 0, self.now()).await;
        let page = page.expect("the store answers");
        (page.sessions, page.total)
    }

    /// Returns the number of a session in its owner's list.
    async fn number_of(&self, signed_in: &SignedIn) -> SessionId {
        let (sessions, _) = self.listed(signed_in.account, u32::MAX).await;
        let token = &signed_in.session_token;
        let found =
            sessions.iter().find(|listed| self.accounts.is_session_of(&listed.session, token));
        found.expect("a live session").id
    }
}

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

/// Checks that the list has the live sessions of one account, newest first, with their clients.
pub async fn an_owner_sees_live_sessions_and_the_clients_that_began_them<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let first = service.account("ada", "ada@example.com").await;
    service.account("bob", "bob@example.com").await;
    let start = service.now();
    service.wait(60);
    let second = service.signed_in(&stranger(), "ada@example.com", PASSWORD).await;
    service.wait(60);
    assert!(service.is_live(&first).await, "a use of the first session");

    let (sessions, total) = service.listed(first.account, 10).await;
    let seen: Vec<_> = sessions
        .iter()
        .map(|listed| (listed.address, listed.user_agent.as_str(), listed.session.created_at))
        .collect();
    let expected = [(stranger(), start + TimeDelta::seconds(60)), (client(), start)];
    let expected =
        expected.each_ref().map(|(client, at)| (client.address, client.user_agent.as_str(), *at));
    assert_eq!((&seen[..], total), (&expected[..], 2));
    assert_eq!(sessions[1].session.last_used_at, service.now());
    let opens = |listed: &ListedSession, by: &SignedIn| {
        service.accounts.is_session_of(&listed.session, &by.session_token)
    };
    assert!(opens(&sessions[0], &second) && opens(&sessions[1], &first));
    assert!(!opens(&sessions[0], &first));

    let page = service.accounts.sessions(first.account, 1, 1, service.now()).await.expect("ok");
    assert_eq!((page.sessions.len(), page.sessions[0].id, page.total), (1, sessions[1].id, 2));
    service.clock.advance(IDLE - TimeDelta::seconds(60));
    let (left, total) = service.listed(first.account, 10).await;
    assert_eq!((left.len(), left[0].id, total), (1, sessions[1].id, 1), "the second is idle");
}

/// Checks that a number ends the session of its own account, once, and no other.
pub async fn an_owner_ends_one_session_and_nobody_elses<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let other = service.signed_in(&stranger(), "ada@example.com", PASSWORD).await;
    let bob = service.account("bob", "bob@example.com").await;
    let number = service.number_of(&other).await;
    let end = |account| service.accounts.end_session(account, number);
    assert_eq!(fault(end(bob.account).await), "not_found");
    assert!(service.is_live(&other).await);
    let ended = all((0..8).map(|_| end(ada.account))).await;
    assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1);
    assert_eq!(fault(end(ada.account).await), "not_found");
    assert!(!service.is_live(&other).await);
    assert!(service.is_live(&ada).await && service.is_live(&bob).await);
}

/// Checks that a sign-out everywhere ends all sessions but the spared one, and unfinished sign-ins.
pub async fn a_sign_out_everywhere_leaves_no_session_and_no_sign_in_under_way<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let bob = service.account("bob", "bob@example.com").await;
    let others = [
        service.signed_in(&client(), "ada@example.com", PASSWORD).await,
        service.signed_in(&stranger(), "ada@example.com", PASSWORD).await,
    ];
    let code = service.hand_off(&ada).await;

    let kept = Some(&ada.session_token);
    assert_eq!(service.accounts.end_sessions(ada.account, kept).await.expect("ok"), 2);
    assert!(service.is_live(&ada).await);
    for other in &others {
        assert!(!service.is_live(other).await);
    }
    let redeemed = service.accounts.redeem_hand_off(&code, &client(), service.now()).await;
    assert_eq!(fault(redeemed), "wrong_code");
    assert_eq!(service.accounts.end_sessions(ada.account, kept).await.expect("ok"), 0);

    service.accounts.enable_mfa(ada.account, service.now()).await.expect("ok");
    service.messages().await;
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    let half_done = service.code("ada@example.com").await;
    assert_eq!(service.accounts.end_sessions(ada.account, None).await.expect("ok"), 1);
    assert!(!service.is_live(&ada).await);
    let completed = service.complete("ada@example.com", &half_done, None).await;
    assert_eq!(fault(completed), "wrong_code");
    assert!(service.caller(&ada.api_key).await.is_some(), "the key stays");
    assert!(service.is_live(&bob).await);
}
