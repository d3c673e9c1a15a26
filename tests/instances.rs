//! Several instances of the service on one store.

use std::time::Duration;

use account_core::{Tier, testing::all};
use chrono::TimeDelta;
use quant_tests::{App, email};

/// Costs one credit.
const DERIVATIVE: &str = "/quantlib/numerical/differentiation/derivative";
const EXP: &str = r#"{"func_name": "exp", "x": 1}"#;

/// How long a change may take to be seen by the others.
const A_SECOND: Duration = Duration::from_secs(1);

async fn four_times_as_many_callers_as_credits(credits: u64) {
    let first = App::start().await;
    let (second, third) = (first.beside().await, first.beside().await);
    let key = first.account("ada", Tier::Enterprise, credits).await;
    let instances = [&first, &second, &third];

    let calls =
        (0..4 * credits as usize).map(|call| instances[call % 3].post(DERIVATIVE, Some(&key), EXP));
    let answers = all(calls).await;

    let with = |status: u16| answers.iter().filter(|answer| answer.status == status).count() as u64;
    assert_eq!((with(200), with(402)), (credits, 3 * credits));
    let profile = second.get("/user/profile", Some(&key)).await;
    assert_eq!(profile.number("/data/credit_balance"), 0.0);
    let audit = third.accounts().audit().await.expect("the store answers");
    assert!(audit.holds(), "{:?}", audit.faults);
}

#[tokio::test]
async fn one_credit_buys_one_answer_whichever_instance_is_asked() {
    four_times_as_many_callers_as_credits(1).await;
}

#[tokio::test]
async fn seven_credits_buy_seven_answers_whichever_instance_is_asked() {
    four_times_as_many_callers_as_credits(7).await;
}

#[tokio::test]
async fn a_thousand_credits_buy_a_thousand_answers_whichever_instance_is_asked() {
    four_times_as_many_callers_as_credits(1_000).await;
}

/// Asks until the status is another one, which it is within a second.
async fn is_answered_soon(app: &App, key: &str, status: u16) {
    let ask = async {
        while app.get("/auth/validate", Some(key)).await.status != status {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(A_SECOND, ask).await.expect("within a second");
}

#[tokio::test]
async fn a_key_suspended_regenerated_or_activated_here_is_so_elsewhere_within_a_second() {
    let here = App::start().await;
    let elsewhere = here.beside().await;
    let key = here.account("ada", Tier::Pro, 10).await;
    elsewhere.get("/auth/validate", Some(&key)).await.expect(200);

    here.accounts().suspend(&email("ada")).await.expect("ada is there");
    is_answered_soon(&elsewhere, &key, 401).await;
    here.accounts().activate(&email("ada")).await.expect("ada is there");
    is_answered_soon(&elsewhere, &key, 200).await;
    let new = here.post("/user/regenerate-api-key", Some(&key), "").await;
    is_answered_soon(&elsewhere, &key, 401).await;
    elsewhere.get("/auth/validate", Some(&new.text("/data/api_key"))).await.expect(200);
}

#[tokio::test]
async fn a_grant_and_a_tier_reach_the_other_instances_within_a_second() {
    let here = App::start().await;
    let elsewhere = here.beside().await;
    let key = here.account("ada", Tier::Free, 0).await;
    elsewhere.post(DERIVATIVE, Some(&key), EXP).await.expect(403);

    here.accounts().set_tier(&email("ada"), Tier::Basic).await.expect("ada is there");
    here.accounts().grant(&email("ada"), 5, here.clock.now()).await.expect("ada is there");
    let ask = async {
        while elsewhere.post(DERIVATIVE, Some(&key), EXP).await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(A_SECOND, ask).await.expect("within a second");
}

#[tokio::test]
async fn a_revocation_that_is_never_announced_is_seen_within_a_second() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    // SQLite announces nothing, and the tests above are this one.
    let Some(database) = app.database() else { return };
    app.get("/auth/validate", Some(&key)).await.expect(200);

    database
        .execute(
            "BEGIN; UPDATE api_key SET status = 'suspended'; \
             UPDATE sequence SET value = value + 1 WHERE name = 'revision'; COMMIT",
        )
        .await;

    is_answered_soon(&app, &key, 401).await;
}

#[tokio::test]
async fn a_warm_caller_costs_no_query() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    app.post(DERIVATIVE, Some(&key), EXP).await.expect(200);
    let before = app.look_ups();
    for _ in 0..50 {
        app.post(DERIVATIVE, Some(&key), EXP).await.expect(200);
    }
    assert_eq!(app.look_ups(), before);
}

/// How many of so many calls, spread over the instances, are let through.
async fn let_through(instances: &[&App], key: &str, calls: usize) -> usize {
    let calls =
        (0..calls).map(|call| instances[call % instances.len()].get("/auth/validate", Some(key)));
    let answers = all(calls).await;
    for answer in &answers {
        assert!([200, 429].contains(&answer.status.as_u16()), "{answer:?}");
    }
    answers.iter().filter(|answer| answer.status == 200).count()
}

#[tokio::test]
async fn three_instances_keep_one_hourly_limit() {
    let first = App::start().await;
    // On SQLite there is one instance, and no other to share a limit with.
    if first.database().is_none() {
        return;
    }
    let (second, third) = (first.beside().await, first.beside().await);
    let key = first.account("ada", Tier::Free, 0).await;
    let instances = [&first, &second, &third];

    // Two hold a block that they do not use up; with its minute it is the others'.
    assert_eq!(let_through(&[&second, &third], &key, 2).await, 2);
    assert_eq!(let_through(&[&first], &key, 600).await, 490);
    first.clock.advance(TimeDelta::seconds(61));
    for instance in instances {
        instance.service().limits.give_back_expired(first.clock.now()).await;
    }
    assert_eq!(let_through(&instances, &key, 60).await, 8);

    first.clock.advance(TimeDelta::seconds(3_000));
    assert_eq!(let_through(&instances, &key, 6).await, 0, "the hour is not over");
    // An instance that starts anew forgives nobody.
    assert_eq!(let_through(&[&first.beside().await], &key, 2).await, 0);
    first.clock.advance(TimeDelta::seconds(700));
    assert_eq!(let_through(&instances, &key, 1_500).await, 500, "a burst of all at once");
}

#[tokio::test]
async fn three_instances_keep_one_day_of_a_guest() {
    let first = App::start().await;
    if first.database().is_none() {
        return;
    }
    let (second, third) = (first.beside().await, first.beside().await);
    let key = first.guest().await;
    let instances = [&first, &second, &third];
    for expected in (0..50).rev() {
        let answer = instances[expected % 3].get("/auth/validate", Some(&key)).await;
        assert_eq!(answer.expect(200)["data"]["guest"]["requests_today"], 50 - expected);
    }
    let refused = first.get("/auth/validate", Some(&key)).await;
    assert_eq!(refused.headers["X-RateLimit-Remaining"], "0");
    refused.expect(429);
    assert_eq!(let_through(&instances, &key, 30).await, 0);
}

#[tokio::test]
async fn without_the_store_an_instance_lets_through_what_it_has_leased_and_then_answers_503() {
    let app = App::start().await;
    let Some(database) = app.database() else { return };
    let key = app.account("ada", Tier::Pro, 0).await;
    let guest = app.guest().await;
    for key in [&key, &guest] {
        app.get("/user/transactions", Some(key)).await;
    }
    // What is leased is let through without the table, as every caller that is remembered.
    database.execute("ALTER TABLE shared_limit RENAME TO elsewhere").await;
    for _ in 1..50 {
        app.get("/user/subscriptions", Some(&key)).await.expect(200);
    }
    let gone = app.get("/user/subscriptions", Some(&key)).await;
    assert!(gone.headers.contains_key("retry-after"), "{gone:?}");
    gone.expect(503);
    app.get("/auth/validate", Some(&guest)).await.expect(503);
    database.execute("ALTER TABLE elsewhere RENAME TO shared_limit").await;
    app.get("/user/subscriptions", Some(&key)).await.expect(200);
}
