//! Several instances of the service on one store.

use std::time::Duration;

use account_core::{Tier, testing::all};
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
