//! Checks of the clean-up.

use chrono::TimeDelta;

use super::activity;
use super::test_service::{ANY, PASSWORD, TestService, client, email, stranger};
use crate::accounts::Cleaned;
use crate::guest::{Device, GuestIssued};
use crate::identity::CallerId;
use crate::key::AuthError;
use crate::store::Store;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! clean_up_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, clean_up;
            a_clean_up_touches_nothing_alive,
            guests_go_seven_days_after_their_end_and_no_live_key_goes,
            what_is_over_goes_in_batches_and_once,
            requests_for_codes_leave_nothing_after_a_day,
            usage_is_kept_for_whole_utc_days_and_the_books_hold_all_the_while,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    async fn clean_up(&self, limit: u32) -> Cleaned {
        self.accounts.clean_up(self.now(), limit, Some(30)).await.expect("the store answers")
    }

    async fn guest(&self, device: &str) -> GuestIssued {
        let device = Device::parse(device, None, None).expect("a device");
        let issued = self.accounts.create_guest(device, client().address, ANY, self.now()).await;
        issued.expect("the store answers")
    }
}

/// Checks that rows which still have an effect stay until the last moment.
pub async fn a_clean_up_touches_nothing_alive<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    service.messages().await;
    let guest = service.guest("device-1").await;
    service.clock.advance(TimeDelta::hours(24) - TimeDelta::milliseconds(1));
    // The day of the three counts is over, while the guest's key is still valid.
    let expected = Cleaned { challenges: 2, guest_counts: 3, ..Cleaned::default() };
    assert_eq!(service.clean_up(100).await, expected);
    assert!(service.is_live(&ada).await && service.caller(&ada.api_key).await.is_some());
    assert!(service.accounts.authenticate(&guest.api_key, service.now()).await.is_ok());

    // An old form whose code was sent again may still be confirmed.
    service.clock.advance(TimeDelta::days(7));
    let bob = email("bob@example.com");
    service.accounts.resend_registration_code(&bob, service.now()).await.expect("ok");
    service.wait(599);
    let token = service.signed_in(&client(), "ada@example.com", PASSWORD).await;
    for _ in 0..5 {
        service.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    service.clean_up(100).await;
    let right = service.code("bob@example.com").await;
    assert!(service.verify("bob@example.com", &right).await.is_ok());
    assert!(service.is_live(&token).await);
    service.wait(30 * 60 - 1);
    service.clean_up(100).await;
    assert_eq!(service.login_code_from(&stranger(), "ada@example.com", PASSWORD).await, "locked");
    service.assert_ledger_holds().await;
}

/// Checks that guests are removed seven days after they expired, and not before.
pub async fn guests_go_seven_days_after_their_end_and_no_live_key_goes<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let old = service.guest("old").await;
    let (old_id, start) = (CallerId::Guest(old.id), service.now());
    service.settle(vec![service.entry(old_id, 1, 0, "/a")]).await;
    service.clock.advance(TimeDelta::days(8) - TimeDelta::milliseconds(1));
    let young = service.guest("young").await;
    let young_id = CallerId::Guest(young.id);
    service.settle(vec![service.entry(young_id, 2, 0, "/a")]).await;
    assert_eq!(service.clean_up(100).await.guests, 0);
    let refusal = service.accounts.authenticate(&old.api_key, service.now()).await;
    assert!(
        matches!(refusal, Err(AuthError::GuestExpired)),
        "it is told so as long as it is there"
    );

    service.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(service.clean_up(100).await.guests, 1);
    let refusal = service.accounts.authenticate(&old.api_key, service.now()).await;
    assert!(matches!(refusal, Err(AuthError::Unknown)));
    assert!(service.accounts.authenticate(&young.api_key, service.now()).await.is_ok());
    let counts = service.accounts.store().calls_per_minute(start, start).await.expect("ok");
    assert!(counts.iter().all(|count| count.caller == young_id), "the old one's are nobody's");
    let next = service.guest("next").await;
    assert!(next.id != old.id, "no number is given twice");
}

/// Checks that a hundred rows of each kind are removed in batches of ten, and that a further run
/// removes nothing.
pub async fn what_is_over_goes_in_batches_and_once<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    for number in 0..25 {
        service.guest(&format!("device-{number}")).await;
        let (name, address) = (format!("form{number}"), format!("form{number}@example.com"));
        service.register(&name, &address, PASSWORD).await.expect("a free name");
        service.signed_in(&client(), "ada@example.com", PASSWORD).await;
        service.login_code(&format!("nobody{number}@example.com"), "wrong").await;
    }
    service.clock.advance(TimeDelta::days(367));
    let mut sum = Cleaned::default();
    let mut rounds = 0;
    loop {
        let cleaned = service.clean_up(10).await;
        assert!([cleaned.guests, cleaned.forms, cleaned.sessions].iter().all(|count| *count <= 10));
        sum.guests += cleaned.guests;
        sum.forms += cleaned.forms;
        sum.sessions += cleaned.sessions;
        sum.tries += cleaned.tries;
        rounds += 1;
        if !cleaned.more {
            break;
        }
    }
    assert_eq!((sum.guests, sum.forms, sum.sessions), (25, 25, 26));
    assert!((3..=8).contains(&rounds), "{rounds} rounds");
    let again = service.clean_up(10).await;
    assert_eq!((again.guests, again.forms, again.sessions, again.tries), (0, 0, 0, 0));
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    service.assert_ledger_holds().await;
}

/// Checks that requests for codes, which anyone may send for any address, leave no row for good.
pub async fn requests_for_codes_leave_nothing_after_a_day<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    service.messages().await;
    service.clock.advance(TimeDelta::hours(25));
    service.clean_up(100).await;
    let strangers = (0..12).map(|number| email(&format!("nobody{number}@example.com")));
    for address in strangers.chain([email("ada@example.com")]) {
        let accounts = &service.accounts;
        accounts.forgot_password(&address, service.now()).await.expect("the same answer");
        accounts.resend_registration_code(&address, service.now()).await.expect("the same answer");
    }
    service.messages().await;

    service.clock.advance(TimeDelta::hours(24) - TimeDelta::milliseconds(1));
    assert_eq!(service.clean_up(100).await, Cleaned { challenges: 26, ..Cleaned::default() });
    service.clock.advance(TimeDelta::milliseconds(1));
    for messages in [10, 10, 6, 0] {
        let more = messages == 10;
        assert_eq!(service.clean_up(10).await, Cleaned { messages, more, ..Cleaned::default() });
    }
}

/// Checks that usage is removed by whole days, and that the audit succeeds while a day is half
/// removed.
pub async fn usage_is_kept_for_whole_utc_days_and_the_books_hold_all_the_while<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 1_000).await;
    // Calls are six hours apart from noon on, so that the first day has two calls and each other
    // day four.
    for id in 0..30 {
        service.settle(vec![service.entry(CallerId::Account(ada), id, 1, "/a")]).await;
        service.clock.advance(TimeDelta::hours(6));
    }
    let shown = |service: &TestService<S>| {
        let (accounts, now) = (service.accounts.clone(), service.now());
        let query = activity::everything();
        async move { accounts.usage(ada, &query, now).await.expect("ok") }
    };
    let keep = |days, limit| {
        let (accounts, now) = (service.accounts.clone(), service.now());
        async move { accounts.clean_up(now, limit, days).await.expect("ok") }
    };
    assert_eq!(keep(None, 100).await.usage, 0);
    // The time is 00:00 of the ninth day, so the seven whole days before are days two to eight.
    assert_eq!((service.now().timestamp() % 86_400, keep(Some(7), 100).await.usage), (0, 2));
    assert_eq!(shown(&service).await.summary.total_requests, 28);
    service.assert_ledger_holds().await;
    for expected in [3, 3, 2, 0] {
        assert_eq!(keep(Some(5), 3).await.usage, expected);
        service.assert_ledger_holds().await;
    }
    let report = shown(&service).await;
    assert_eq!((report.requests.len(), report.summary.total_requests), (20, 20));
    assert_eq!(keep(Some(0), 100).await.usage, 16, "yesterday is always kept");
    assert_eq!(service.balance(ada).await, 970);
    service.assert_ledger_holds().await;
}
