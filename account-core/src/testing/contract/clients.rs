//! Checks of known and unknown clients.

use std::net::IpAddr;

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService, client, stranger};
use crate::client::{Client, ClientToken};
use crate::store::Store;
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! clients_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, clients;
            strangers_cannot_lock_a_known_client_out,
            a_known_client_has_five_tries_of_its_own,
            a_token_is_known_at_its_own_address_alone_and_until_the_next_sign_in,
            a_network_is_known_from_an_earlier_sign_in,
            an_address_knows_sixteen_clients_at_most,
            a_client_on_the_same_network_learns_nothing_of_another_sign_in,
        );
    };
}

fn from(address: [u8; 4]) -> Client {
    Client::new(IpAddr::from(address), Some("contract"))
}

fn with_token(client: Client, token: &ClientToken) -> Client {
    client.with_token(Some(token.clone()))
}

/// Checks that constant wrong passwords from an unknown client do not prevent a known client from
/// signing in.
pub async fn strangers_cannot_lock_a_known_client_out<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    let mut token = service.signed_in(&client(), "ada@example.com", PASSWORD).await.client_token;
    let before = service.hasher.compared();
    let mut logins = 0;
    for minute in 0..24 * 60 {
        let attack = service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
        assert!(["wrong_credentials", "locked"].contains(&attack), "{attack}");
        if minute % 10 == 0 {
            // The address changes as a telephone's does, so that the client is known by its token
            // alone.
            let phone = with_token(from([10, (minute % 250) as u8, 3, 4]), &token);
            token = service.signed_in(&phone, "ada@example.com", PASSWORD).await.client_token;
            logins += 1;
        }
        service.wait(60);
    }
    // A lock begins with the fifth wrong password and lasts half an hour.
    let compared = service.hasher.compared() - before - logins;
    assert!(compared <= 5 * 48, "{compared} wrong passwords were looked at");
    assert_eq!(
        service.login_code_from(&from([198, 51, 100, 1]), "ada@example.com", PASSWORD).await,
        "locked"
    );
}

/// Checks that a known client has exactly five attempts of its own.
pub async fn a_known_client_has_five_tries_of_its_own<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    let token = service.signed_in(&client(), "ada@example.com", PASSWORD).await.client_token;
    let known = with_token(client(), &token);
    let before = service.hasher.compared();
    let tries = (0..200).map(|_| service.login_code_from(&known, "ada@example.com", "wrong"));
    let wrong = all(tries).await.into_iter().filter(|answer| *answer == "wrong_credentials");
    assert_eq!((wrong.count(), service.hasher.compared() - before), (5, 5));
    assert_eq!(service.login_code_from(&known, "ada@example.com", PASSWORD).await, "locked");
    let elsewhere = service.login_code_from(&stranger(), "ada@example.com", PASSWORD).await;
    assert_eq!(elsewhere, "signed_in", "its lock is not the strangers'");
}

/// Checks that a client token has an effect at its own address alone, and is replaced by the next
/// sign-in.
pub async fn a_token_is_known_at_its_own_address_alone_and_until_the_next_sign_in<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.account("bob", "bob@example.com").await;
    let first = service.signed_in(&from([10, 0, 1, 1]), "ada@example.com", PASSWORD).await;
    let elsewhere = with_token(from([10, 0, 2, 2]), &first.client_token);
    let second = service.signed_in(&elsewhere, "ada@example.com", PASSWORD).await;
    for address in ["ada@example.com", "bob@example.com"] {
        for _ in 0..5 {
            service.login_code_from(&stranger(), address, "wrong").await;
        }
    }
    let away = |token| with_token(from([10, 0, 3, 3]), token);
    let answer = |client, address| {
        let service = &service;
        async move { service.login_code_from(&client, address, PASSWORD).await }
    };
    assert_eq!(answer(away(&first.client_token), "ada@example.com").await, "locked");
    assert_eq!(answer(away(&second.client_token), "bob@example.com").await, "locked");
    assert_eq!(answer(away(&second.client_token), "ada@example.com").await, "signed_in");
}

/// Checks that a program without cookies is known by its network, for ninety days.
pub async fn a_network_is_known_from_an_earlier_sign_in<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.signed_in(&from([10, 0, 1, 1]), "ada@example.com", PASSWORD).await;
    let locked = || async {
        for _ in 0..5 {
            service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
        }
    };
    locked().await;
    let neighbour = from([10, 0, 1, 200]);
    assert_eq!(service.login_code_from(&neighbour, "ada@example.com", PASSWORD).await, "signed_in");
    let other = from([10, 0, 2, 1]);
    assert_eq!(service.login_code_from(&other, "ada@example.com", PASSWORD).await, "locked");
    service.clock.advance(TimeDelta::days(90));
    locked().await;
    assert_eq!(service.login_code_from(&neighbour, "ada@example.com", PASSWORD).await, "locked");
}

/// Checks that the number of known clients is bounded, and with it the number of guesses by their
/// tokens.
pub async fn an_address_knows_sixteen_clients_at_most<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    let mut tokens = Vec::new();
    for number in 0..40 {
        service.wait(1);
        let visit = service.signed_in(&from([10, 0, number, 1]), "ada@example.com", PASSWORD).await;
        tokens.push(visit.client_token);
    }
    for _ in 0..5 {
        service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    let mut known = 0;
    for token in &tokens {
        // The password is wrong, so that no visit renews the client's mark.
        let visit = with_token(from([172, 16, 0, 1]), token);
        let answer = service.login_code_from(&visit, "ada@example.com", "wrong").await;
        known += u32::from(answer == "wrong_credentials");
    }
    assert_eq!(known, 8, "each visit has a token and a network");
}

/// Checks that a client on the owner's network gets the same answers, hashes and storage calls as
/// at an unknown address, at every step of an attack from that network and from others.
pub async fn a_client_on_the_same_network_learns_nothing_of_another_sign_in<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.account("bob", "bob@example.com").await;
    service.signed_in(&from([10, 0, 1, 1]), "ada@example.com", PASSWORD).await;
    let neighbour = from([10, 0, 1, 200]);
    let probe = |address: &'static str| {
        let (service, neighbour) = (&service, &neighbour);
        async move {
            let hashes = service.hasher.hashes();
            let mut seen = Vec::new();
            for step in 0..24 {
                let client = if step % 3 == 2 { &stranger() } else { neighbour };
                seen.push(service.login_code_from(client, address, "wrong").await);
            }
            (seen, service.hasher.hashes() - hashes)
        }
    };
    let unknown = probe("nobody@example.com").await;
    assert_eq!(
        unknown.0[..6],
        ["wrong_credentials"; 5].into_iter().chain(["locked"]).collect::<Vec<_>>()[..]
    );
    assert_eq!(probe("ada@example.com").await, unknown, "known, and from this network");
    assert_eq!(probe("bob@example.com").await, unknown, "known, and from nowhere");
    // The attempts of the network are used up together with those of unknown clients. The visible
    // effect is that of a right password.
    service.wait(30 * 60);
    for _ in 0..5 {
        service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    assert_eq!(service.login_code_from(&neighbour, "ada@example.com", "wrong").await, "locked");
    assert_eq!(service.login_code_from(&neighbour, "ada@example.com", PASSWORD).await, "signed_in");
    let elsewhere =
        service.login_code_from(&from([10, 9, 9, 9]), "ada@example.com", PASSWORD).await;
    assert_eq!(elsewhere, "locked", "what let the owner in opened nothing for strangers");
}
