//! Checks of one-time codes: purpose, number of attempts and validity.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService, another, email, fault};
use crate::Result;
use crate::accounts::SignedIn;
use crate::code::Purpose;
use crate::store::Store;
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! codes_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, codes;
            thirty_two_parallel_right_codes_make_one_account,
            the_sixth_try_fails_though_it_is_right,
            a_code_is_good_until_just_before_ten_minutes,
            a_clock_going_back_revives_no_code,
            a_day_of_wrong_codes_and_resends_compares_at_most_fifty,
            emails_of_a_clock_that_was_ahead_do_not_count,
            taking_an_expired_username_over_refills_no_email_quota,
            a_code_passes_for_its_own_purpose_and_address_alone,
        );
    };
}

/// Checks that the transaction which uses a code consumes the code.
pub async fn thirty_two_parallel_right_codes_make_one_account<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    for round in 0..4 {
        let address = format!("ada{round}@example.com");
        service.register(&format!("ada{round}"), &address, PASSWORD).await.expect("a free name");
        let code = service.code(&address).await;
        let results = all((0..32).map(|_| service.verify(&address, &code))).await;
        let successes: Vec<SignedIn> = results.into_iter().filter_map(Result::ok).collect();
        assert_eq!(successes.len(), 1);
        assert_eq!(service.balance(successes[0].account).await, 350);
    }
    service.assert_ledger_holds().await;
}

/// Checks that a code has five attempts, each counted before the comparison.
pub async fn the_sixth_try_fails_though_it_is_right<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    for (name, wrong, expected) in [("four", 4, "success"), ("five", 5, "wrong_code")] {
        let address = format!("{name}@example.com");
        service.register(name, &address, PASSWORD).await.expect("a free name");
        let right = service.code(&address).await;
        let wrong_code = another(&right);
        let wrong_tries = all((0..wrong).map(|_| service.verify(&address, &wrong_code))).await;
        assert!(wrong_tries.into_iter().all(|result| fault(result) == "wrong_code"));
        assert_eq!(fault(service.verify(&address, &right).await), expected, "{wrong} wrong tries");
    }
}

/// Checks the validity of ten minutes, to the millisecond.
pub async fn a_code_is_good_until_just_before_ten_minutes<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    for (name, milliseconds, expected) in [
        ("before", 599_999, "success"),
        ("sharp", 600_000, "wrong_code"),
        ("after", 600_001, "wrong_code"),
    ] {
        let address = format!("{name}@example.com");
        service.register(name, &address, PASSWORD).await.expect("a free name");
        let right = service.code(&address).await;
        service.clock.advance(TimeDelta::milliseconds(milliseconds));
        assert_eq!(fault(service.verify(&address, &right).await), expected, "{name}");
    }
}

/// Checks that an expired code stays invalid after the clock is set back, and that a code from the
/// future is invalid.
pub async fn a_clock_going_back_revives_no_code<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let right = service.code("ada@example.com").await;
    service.wait(-1);
    assert_eq!(fault(service.verify("ada@example.com", &right).await), "wrong_code");
    service.wait(601);
    assert_eq!(fault(service.verify("ada@example.com", &right).await), "wrong_code");
    service.wait(-300);
    assert_eq!(fault(service.verify("ada@example.com", &right).await), "wrong_code");
}

/// Checks that an attacker has ten e-mails of five attempts each in 24 hours.
pub async fn a_day_of_wrong_codes_and_resends_compares_at_most_fifty<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let recipient = service.recipient("ada@example.com");
    let (mut compared, mut messages) = (0, 0);
    for _ in 0..(24 * 60 - 1) {
        messages += service.messages().await.len();
        for _ in 0..6 {
            let store = service.accounts.store();
            let attempt = store.attempt(recipient, Purpose::Registration, None).await;
            compared += u32::from(attempt.expect("the store answers").is_some());
        }
        service.wait(60);
        let ada = email("ada@example.com");
        service.accounts.resend_registration_code(&ada, service.now()).await.expect("ok");
    }
    assert_eq!((messages, compared), (10, 50));
    service.wait(60);
    service
        .accounts
        .resend_registration_code(&email("ada@example.com"), service.now())
        .await
        .expect("ok");
    assert_eq!(service.messages().await.len(), 1, "the next day has e-mails of its own");
}

/// Checks that e-mails of a clock that was ahead silence no address once the clock is right, and that
/// those of another instance, whose clock is slightly ahead, count.
pub async fn emails_of_a_clock_that_was_ahead_do_not_count<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = email("ada@example.com");
    let send = async || {
        service.accounts.resend_registration_code(&ada, service.now()).await.expect("ok");
        service.messages().await.len()
    };
    service.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    service.messages().await;
    let ahead = 7 * 86_400;
    service.wait(ahead);
    for _ in 0..10 {
        assert_eq!(send().await, 1);
        service.wait(60);
    }
    assert_eq!(send().await, 0, "ten a day");
    service.wait(-ahead);
    assert_eq!(send().await, 1, "the clock is right again");
    service.wait(-30);
    assert_eq!(send().await, 0, "an e-mail that is half a minute ahead was sent just now");
}

/// Checks that the quota of e-mails belongs to the address and not to the form.
pub async fn taking_an_expired_username_over_refills_no_email_quota<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let mut messages = 0;
    for round in 0..20 {
        service.register("victim", "ada@example.com", PASSWORD).await.expect("the same answer");
        let sent = service.messages().await;
        messages += sent.iter().filter(|message| message.to == email("ada@example.com")).count();
        service.wait(600);
        let other = format!("m{round}@example.com");
        service.register("victim", &other, PASSWORD).await.expect("the name is free again");
        service.wait(600);
    }
    assert_eq!(messages, 10);
}

/// Checks every combination of purpose and address, of which only the matching ones pass.
pub async fn a_code_passes_for_its_own_purpose_and_address_alone<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account_with_mfa("ada", "ada@example.com").await;
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    let bobs = service.code("bob@example.com").await;
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    let adas = service.code("ada@example.com").await;

    for (address, code) in
        [("bob@example.com", &adas), ("ada@example.com", &adas), ("ada@example.com", &bobs)]
    {
        assert_eq!(fault(service.verify(address, code).await), "wrong_code");
    }
    for (address, code) in
        [("ada@example.com", &bobs), ("bob@example.com", &bobs), ("bob@example.com", &adas)]
    {
        let result = service.complete(address, code, None).await;
        assert_eq!(fault(result), "wrong_code");
    }
    assert!(service.verify("bob@example.com", &bobs).await.is_ok());
    assert!(service.complete("ada@example.com", &adas, None).await.is_ok());
}
