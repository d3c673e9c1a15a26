//! Cleaning up.

use chrono::TimeDelta;

use super::activity;
use super::house::{ANY, House, PASSWORD, client, email, stranger};
use crate::accounts::{Cleaned, Store};
use crate::credits::CallerId;
use crate::guest::{Device, GuestIssued};
use crate::key::Refusal;

impl<S: Store + Clone> House<S> {
    async fn clean_up(&self, limit: u32) -> Cleaned {
        self.accounts.clean_up(self.now(), limit, Some(30)).await.expect("the store answers")
    }

    async fn guest(&self, device: &str) -> GuestIssued {
        let device = Device::parse(device, None, None).expect("a device");
        let issued = self.accounts.create_guest(device, client().address, ANY, self.now()).await;
        issued.expect("the store answers")
    }
}

/// Whatever still counts is there afterwards, to the last moment.
pub async fn a_clean_up_touches_nothing_alive<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let ada = house.account("ada", "ada@example.com").await;
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    house.letters().await;
    let guest = house.guest("device-1").await;
    house.clock.advance(TimeDelta::hours(24) - TimeDelta::milliseconds(1));
    // The guest's day of three counts is over, its key is not.
    let expected = Cleaned { challenges: 2, guest_counts: 3, ..Cleaned::default() };
    assert_eq!(house.clean_up(100).await, expected);
    assert!(house.is_live(&ada).await && house.caller(&ada.api_key).await.is_some());
    assert!(house.accounts.authenticate(&guest.api_key, house.now()).await.is_ok());

    // An old form whose code was sent again may be confirmed still.
    house.clock.advance(TimeDelta::days(7));
    let bob = email("bob@example.com");
    house.accounts.resend_registration_code(&bob, house.now()).await.expect("ok");
    house.wait(599);
    let token = house.signed_in(&client(), "ada@example.com", PASSWORD).await;
    for _ in 0..5 {
        house.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    house.clean_up(100).await;
    let right = house.code("bob@example.com").await;
    assert!(house.verify("bob@example.com", &right).await.is_ok());
    assert!(house.is_live(&token).await);
    house.wait(30 * 60 - 1);
    house.clean_up(100).await;
    assert_eq!(house.login_code_from(&stranger(), "ada@example.com", PASSWORD).await, "locked");
    house.assert_books_hold().await;
}

/// Expired for seven days, and not a moment earlier.
pub async fn guests_go_seven_days_after_their_end_and_no_live_key_goes<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let old = house.guest("old").await;
    let (old_id, start) = (CallerId::Guest(old.id), house.now());
    house.settle(vec![house.entry(old_id, 1, 0, "/a")]).await;
    house.clock.advance(TimeDelta::days(8) - TimeDelta::milliseconds(1));
    let young = house.guest("young").await;
    let young_id = CallerId::Guest(young.id);
    house.settle(vec![house.entry(young_id, 2, 0, "/a")]).await;
    assert_eq!(house.clean_up(100).await.guests, 0);
    let refusal = house.accounts.authenticate(&old.api_key, house.now()).await;
    assert!(matches!(refusal, Err(Refusal::GuestExpired)), "it is told so as long as it is there");

    house.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(house.clean_up(100).await.guests, 1);
    let refusal = house.accounts.authenticate(&old.api_key, house.now()).await;
    assert!(matches!(refusal, Err(Refusal::Unknown)));
    assert!(house.accounts.authenticate(&young.api_key, house.now()).await.is_ok());
    let counts = house.accounts.store().calls_per_minute(start, start).await.expect("ok");
    assert!(counts.iter().all(|count| count.caller == young_id), "the old one's are nobody's");
    let next = house.guest("next").await;
    assert!(next.id != old.id, "no number is given twice");
}

/// A hundred of each, ten at a time; a second run finds nothing.
pub async fn what_is_over_goes_in_batches_and_once<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    for number in 0..25 {
        house.guest(&format!("device-{number}")).await;
        let (name, address) = (format!("form{number}"), format!("form{number}@example.com"));
        house.register(&name, &address, PASSWORD).await.expect("a free name");
        house.signed_in(&client(), "ada@example.com", PASSWORD).await;
        house.login_code(&format!("nobody{number}@example.com"), "wrong").await;
    }
    house.clock.advance(TimeDelta::days(367));
    let mut sum = Cleaned::default();
    let mut rounds = 0;
    loop {
        let cleaned = house.clean_up(10).await;
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
    let again = house.clean_up(10).await;
    assert_eq!((again.guests, again.forms, again.sessions, again.tries), (0, 0, 0, 0));
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
    house.assert_books_hold().await;
}

/// A day is kept or not, and the audit holds with a day half gone.
pub async fn usage_is_kept_for_whole_utc_days_and_the_books_hold_all_the_while<S: Store + Clone>(
    store: S,
) {
    let house = House::new(store);
    let ada = house.funded("ada", 1_000).await;
    // Every six hours from noon, so that the first day has two calls and the others four.
    for id in 0..30 {
        house.settle(vec![house.entry(CallerId::Account(ada), id, 1, "/a")]).await;
        house.clock.advance(TimeDelta::hours(6));
    }
    let shown = |house: &House<S>| {
        let (accounts, now) = (house.accounts.clone(), house.now());
        let query = activity::everything();
        async move { accounts.usage(ada, &query, now).await.expect("ok") }
    };
    let keep = |days, limit| {
        let (accounts, now) = (house.accounts.clone(), house.now());
        async move { accounts.clean_up(now, limit, days).await.expect("ok") }
    };
    assert_eq!(keep(None, 100).await.usage, 0);
    // It is 00:00 of the ninth day; seven whole days before it are days two to eight.
    assert_eq!((house.now().timestamp() % 86_400, keep(Some(7), 100).await.usage), (0, 2));
    assert_eq!(shown(&house).await.summary.total_requests, 28);
    house.assert_books_hold().await;
    for expected in [3, 3, 2, 0] {
        assert_eq!(keep(Some(5), 3).await.usage, expected);
        house.assert_books_hold().await;
    }
    let report = shown(&house).await;
    assert_eq!((report.requests.len(), report.summary.total_requests), (20, 20));
    assert_eq!(keep(Some(0), 100).await.usage, 16, "yesterday is always kept");
    assert_eq!(house.balance(ada).await, 970);
    house.assert_books_hold().await;
}
