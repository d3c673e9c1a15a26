//! Several instances of the service on one store.

use std::time::Duration;

use account_core::{Tier, testing::all};
use chrono::TimeDelta;
use quant_server::{app, clock::Clock, config::Config};
use quant_test_services::Redis;
use quant_tests::{App, config, email};
use tempfile::TempDir;

/// Costs one credit.
const DERIVATIVE: &str = "/quantlib/numerical/differentiation/derivative";
const EXP: &str = r#"{"func_name": "exp", "x": 1}"#;

/// How long a change may take to be seen by the others.
const A_SECOND: Duration = Duration::from_secs(1);
/// Between two looks at it, which count: a thousand in that second are within the limit.
const PAUSE: Duration = Duration::from_millis(1);

async fn four_times_as_many_callers_as_credits(credits: u64) {
    let first = App::start().await;
    let (second, third) = (first.beside().await, first.beside().await);
    let key = first.account("ada", Tier::Enterprise, credits).await;
    let instances = [&first, &second, &third];

    let calls = (0..4 * credits as usize).map(async |call: usize| {
        // Who is asked to wait asks again, as a client does: nothing was charged.
        loop {
            let answer = instances[call % 3].post(DERIVATIVE, Some(&key), EXP).await;
            if answer.status != 503 {
                return answer.status;
            }
        }
    });
    let answers = all(calls).await;

    let with = |status: u16| answers.iter().filter(|answer| **answer == status).count() as u64;
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
            tokio::time::sleep(PAUSE).await;
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
            tokio::time::sleep(PAUSE).await;
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

/// Calls at once: all wait for one lease, and none longer than the service has patience for.
const AT_ONCE: usize = 60;

/// How many of so many calls, spread over the instances, are let through.
async fn let_through(instances: &[&App], key: &str, calls: usize) -> usize {
    let mut granted = 0;
    for first in (0..calls).step_by(AT_ONCE) {
        let at_once = (first..calls.min(first + AT_ONCE))
            .map(|call| instances[call % instances.len()].get("/auth/validate", Some(key)));
        for answer in all(at_once).await {
            assert!([200, 429].contains(&answer.status.as_u16()), "{answer:?}");
            granted += usize::from(answer.status == 200);
        }
    }
    granted
}

#[tokio::test]
async fn three_instances_keep_one_hourly_limit() {
    let first = App::start().await;
    // On SQLite there is one instance, and no other to share a limit with.
    if first.database().is_none() {
        return;
    }
    let (second, third) = (first.beside().await, first.beside().await);
    three_keep_one_hourly_limit(&first, &second, &third).await;
}

async fn three_keep_one_hourly_limit(first: &App, second: &App, third: &App) {
    let key = first.account("ada", Tier::Free, 0).await;
    let instances = [first, second, third];

    // Two hold a block that they do not use up; with its cell it is the others'.
    assert_eq!(let_through(&[second, third], &key, 2).await, 2);
    assert_eq!(let_through(&[first], &key, 600).await, 490);
    first.clock.advance(TimeDelta::seconds(61));
    for instance in instances {
        instance.service().limits.give_back_expired(first.clock.now()).await;
    }
    assert_eq!(let_through(&instances, &key, 60).await, 8);

    first.clock.advance(TimeDelta::seconds(3_000));
    assert_eq!(let_through(&instances, &key, 6).await, 0, "the hour is not over");
    first.clock.advance(TimeDelta::seconds(700));
    assert_eq!(let_through(&instances, &key, 600).await, 500, "the hour is over");
}

#[tokio::test]
async fn an_instance_that_starts_anew_forgives_nobody() {
    let first = App::start().await;
    if first.database().is_none() {
        return;
    }
    let key = first.account("ada", Tier::Free, 0).await;
    assert_eq!(let_through(&[&first], &key, 600).await, 500);
    assert_eq!(let_through(&[&first.beside().await], &key, 2).await, 0);
}

/// Three instances that lease from one Redis, on either engine; `None` where there is no Redis.
async fn three_on_redis() -> Option<(Redis, [App; 3])> {
    let redis = Redis::start()?;
    let address = redis.address();
    let set = |config: &mut Config| {
        config.redis = Some(address.parse().expect("an address"));
    };
    let first = App::start_with(set).await;
    let (second, third) = (first.beside_with(set).await, first.beside_with(set).await);
    Some((redis, [first, second, third]))
}

#[tokio::test]
async fn three_instances_on_one_redis_keep_one_hourly_limit() {
    let Some((_redis, [first, second, third])) = three_on_redis().await else { return };
    three_keep_one_hourly_limit(&first, &second, &third).await;
}

/// How many of so many metered calls, spread over the instances, are let through; each of them is
/// written down before its answer.
async fn computed(instances: &[&App], key: &str, calls: usize) -> usize {
    let mut granted = 0;
    for first in (0..calls).step_by(AT_ONCE) {
        let at_once = (first..calls.min(first + AT_ONCE))
            .map(|call| instances[call % instances.len()].post(DERIVATIVE, Some(key), EXP));
        let answers = all(at_once).await;
        granted += answers.iter().filter(|answer| answer.status == 200).count();
    }
    granted
}

#[tokio::test]
async fn without_redis_what_is_leased_is_let_through_then_503_and_once_it_is_back_it_goes_on() {
    let Some((mut redis, [first, second, third])) = three_on_redis().await else { return };
    let instances = [&first, &second, &third];
    let key = first.account("ada", Tier::Basic, 10_000).await;
    assert_eq!(computed(&instances, &key, 36).await, 36);
    first.get("/ready", None).await.expect(200);

    redis.kill();
    let mut let_through = 36;
    for instance in instances {
        let gone = loop {
            let answer = instance.post(DERIVATIVE, Some(&key), EXP).await;
            if answer.status != 200 {
                break answer;
            }
            let_through += 1;
        };
        assert!(gone.headers.contains_key("retry-after"), "{gone:?}");
        gone.expect(503);
        let unready = instance.get("/ready", None).await;
        assert!(unready.expect(503).to_string().contains("Redis"), "{unready:?}");
    }
    assert!((37..=60).contains(&let_through), "blocks of ten, and {let_through} were let through");

    // Redis has forgotten everything; what was let through is written down.
    redis.start_again();
    assert_eq!(let_through + computed(&instances, &key, 1_200).await, 1_000);
    first.get("/ready", None).await.expect(200);
}

#[tokio::test]
async fn a_redis_that_is_not_there_is_told_at_the_start() {
    let Some(mut redis) = Redis::start() else { return };
    redis.kill();
    let folder = TempDir::new().expect("a folder");
    let mut config = config(&folder);
    config.redis = Some(redis.address().parse().expect("an address"));
    let opened = app::open(&config.storage, config.migrate).await.expect("data open");
    let Err(refusal) = app::App::over(opened, &config, Clock::system()).await else {
        panic!("it started without its Redis");
    };
    assert!(refusal.to_string().contains("REDIS_URL"), "{refusal}");
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
