//! Several instances of the service on one store.

use std::time::Duration;

use account_core::{Tier, testing::all};
use chrono::TimeDelta;
use quant_server::{app, clock::Clock, config::Config};
use quant_test_services::Redis;
use quant_tests::{App, config, email};
use tempfile::TempDir;

/// The path of a computation that costs one credit.
const DERIVATIVE: &str = "/quantlib/numerical/differentiation/derivative";
const EXP: &str = r#"{"func_name": "exp", "x": 1}"#;

/// The time within which a change reaches the other instances.
const A_SECOND: Duration = Duration::from_secs(1);
/// The pause between two polls. Each poll counts as a call; 1,000 in a second are within the limit.
const PAUSE: Duration = Duration::from_millis(1);

async fn credits_are_spent_once_by_four_times_as_many_callers(credits: u64) {
    let first = App::start().await;
    let (second, third) = (first.beside().await, first.beside().await);
    let key = first.account("ada", Tier::Enterprise, credits).await;
    let instances = [&first, &second, &third];

    let calls = (0..4 * credits as usize).map(async |call: usize| {
        // A 503 charges nothing, so the call is repeated, as a client would.
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
    credits_are_spent_once_by_four_times_as_many_callers(1).await;
}

#[tokio::test]
async fn seven_credits_buy_seven_answers_whichever_instance_is_asked() {
    credits_are_spent_once_by_four_times_as_many_callers(7).await;
}

#[tokio::test]
async fn a_thousand_credits_buy_a_thousand_answers_whichever_instance_is_asked() {
    credits_are_spent_once_by_four_times_as_many_callers(1_000).await;
}

/// Polls until the answer has this status, and fails after one second.
async fn wait_for_status(app: &App, key: &str, status: u16) {
    let ask = async {
        while app.get("/auth/validate", Some(key)).await.status != status {
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(A_SECOND, ask).await.expect("within a second");
}

#[tokio::test]
async fn a_suspended_regenerated_or_activated_key_changes_on_other_instances_within_a_second() {
    let here = App::start().await;
    let elsewhere = here.beside().await;
    let key = here.account("ada", Tier::Pro, 10).await;
    elsewhere.get("/auth/validate", Some(&key)).await.expect(200);

    here.accounts().suspend(&email("ada")).await.expect("ada is there");
    wait_for_status(&elsewhere, &key, 401).await;
    here.accounts().activate(&email("ada")).await.expect("ada is there");
    wait_for_status(&elsewhere, &key, 200).await;
    let new = here.post("/user/regenerate-api-key", Some(&key), "").await;
    wait_for_status(&elsewhere, &key, 401).await;
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
    // SQLite sends no notifications, so the tests above cover this case.
    let Some(database) = app.database() else { return };
    app.get("/auth/validate", Some(&key)).await.expect(200);

    database
        .execute(
            "BEGIN; UPDATE api_key SET status = 'suspended'; \
             UPDATE sequence SET value = value + 1 WHERE name = 'revision'; COMMIT",
        )
        .await;

    wait_for_status(&app, &key, 401).await;
}

#[tokio::test]
async fn a_cached_caller_costs_no_query() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    app.post(DERIVATIVE, Some(&key), EXP).await.expect(200);
    let before = app.misses();
    for _ in 0..50 {
        app.post(DERIVATIVE, Some(&key), EXP).await.expect(200);
    }
    assert_eq!(app.misses(), before);
}

/// The number of parallel calls. All wait for one lease, and none longer than the time limit.
const AT_ONCE: usize = 60;

/// The number of admitted calls among `calls`, spread over the instances.
async fn admitted_calls(instances: &[&App], key: &str, calls: usize) -> usize {
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
    // On SQLite there is one instance, so no limit is shared.
    if first.database().is_none() {
        return;
    }
    let (second, third) = (first.beside().await, first.beside().await);
    assert_one_hourly_limit(&first, &second, &third).await;
}

async fn assert_one_hourly_limit(first: &App, second: &App, third: &App) {
    let key = first.account("ada", Tier::Free, 0).await;
    let instances = [first, second, third];

    // Two instances hold a lease with unused calls. When the lease expires, the others get the calls.
    assert_eq!(admitted_calls(&[second, third], &key, 2).await, 2);
    assert_eq!(admitted_calls(&[first], &key, 600).await, 490);
    first.clock.advance(TimeDelta::seconds(61));
    for instance in instances {
        instance.service().limits.give_back_expired(first.clock.now()).await;
    }
    assert_eq!(admitted_calls(&instances, &key, 60).await, 8);

    first.clock.advance(TimeDelta::seconds(3_000));
    assert_eq!(admitted_calls(&instances, &key, 6).await, 0, "the hour is not over");
    first.clock.advance(TimeDelta::seconds(700));
    assert_eq!(admitted_calls(&instances, &key, 600).await, 500, "the hour is over");
}

#[tokio::test]
async fn a_new_instance_admits_no_call_beyond_a_used_up_limit() {
    let first = App::start().await;
    if first.database().is_none() {
        return;
    }
    let key = first.account("ada", Tier::Free, 0).await;
    assert_eq!(admitted_calls(&[&first], &key, 600).await, 500);
    assert_eq!(admitted_calls(&[&first.beside().await], &key, 2).await, 0);
}

/// Three instances that lease from one Redis, on either engine; `None` without Redis.
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
    assert_one_hourly_limit(&first, &second, &third).await;
}

/// The number of admitted metered calls among `calls`, spread over the instances. The usage row of
/// each is written before its answer.
async fn admitted_computations(instances: &[&App], key: &str, calls: usize) -> usize {
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
async fn without_redis_instances_serve_their_leases_then_answer_503_and_recover_with_redis() {
    let Some((mut redis, [first, second, third])) = three_on_redis().await else { return };
    let instances = [&first, &second, &third];
    let key = first.account("ada", Tier::Basic, 10_000).await;
    assert_eq!(admitted_computations(&instances, &key, 36).await, 36);
    first.get("/ready", None).await.expect(200);

    redis.kill();
    let mut admitted = 36;
    for instance in instances {
        let gone = loop {
            let answer = instance.post(DERIVATIVE, Some(&key), EXP).await;
            if answer.status != 200 {
                break answer;
            }
            admitted += 1;
        };
        assert!(gone.headers.contains_key("retry-after"), "{gone:?}");
        gone.expect(503);
        let unready = instance.get("/ready", None).await;
        assert!(unready.expect(503).to_string().contains("Redis"), "{unready:?}");
    }
    assert!((37..=60).contains(&admitted), "leases of ten calls, and {admitted} were admitted");

    // Redis is empty again; the admitted calls are counted from the usage rows.
    redis.start_again();
    assert_eq!(admitted + admitted_computations(&instances, &key, 1_200).await, 1_000);
    first.get("/ready", None).await.expect(200);
}

#[tokio::test]
async fn an_unreachable_redis_is_reported_at_the_start() {
    let Some(mut redis) = Redis::start() else { return };
    redis.kill();
    let folder = TempDir::new().expect("a folder");
    let mut config = config(&folder);
    config.redis = Some(redis.address().parse().expect("an address"));
    let opened = app::open(&config.storage, config.migrate).await.expect("data open");
    let Err(refusal) = app::App::over(opened, &config, Clock::system()).await else {
        panic!("the service started without its Redis");
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
    assert_eq!(admitted_calls(&instances, &key, 30).await, 0);
}

#[tokio::test]
async fn without_the_store_an_instance_serves_its_leases_and_then_answers_503() {
    let app = App::start().await;
    let Some(database) = app.database() else { return };
    let key = app.account("ada", Tier::Pro, 0).await;
    let guest = app.guest().await;
    for key in [&key, &guest] {
        app.get("/user/transactions", Some(key)).await;
    }
    // Leased calls and cached callers are served without the table.
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
