//! The cap of credits a day that an account sets for itself, over HTTP.

use account_core::{Tier, testing::all};
use chrono::TimeDelta;
use poem::{Request, http::Method};
use quant_tests::{
    Answer, App,
    requests::{OPTION, PRICE},
};
use serde_json::{Value, json};

const BATCH: &str = "/quantlib/batch";

const PROFILE: &str = "/user/profile";
const INBOX: &str = "/user/notifications";
/// The time at which the day of the tests ends; a test begins at noon.
const DAY_ENDS: &str = "2026-02-01T00:00:00Z";

async fn set_cap(app: &App, key: &str, cap: Value) -> Answer {
    let body = json!({ "spend_cap_per_day": cap }).to_string();
    let request = Request::builder().method(Method::PUT).uri_str(PROFILE);
    let request = request.header("X-API-Key", key).content_type("application/json");
    app.send(request.body(body)).await
}

/// Sends a batch of so many priced options.
async fn batch(app: &App, key: &str, calls: usize, mode: &str) -> Answer {
    let option: Value = serde_json::from_str(OPTION).expect("JSON");
    let call = json!({ "path": PRICE, "body": option });
    app.post(BATCH, Some(key), &json!({ "calls": vec![call; calls], "mode": mode }).to_string())
        .await
}

/// The credits that the account has spent today.
async fn spent_today(app: &App, key: &str) -> Value {
    app.get(PROFILE, Some(key)).await.body["data"]["credits_spent_today"].clone()
}

async fn price(app: &App, key: &str) -> Answer {
    app.post(PRICE, Some(key), OPTION).await
}

/// The titles of the inbox, oldest first.
async fn titles(app: &App, key: &str) -> Vec<String> {
    let inbox = app.get(INBOX, Some(key)).await;
    let entries = inbox.body["data"]["notifications"].as_array().expect("a list").iter().rev();
    entries.map(|entry| entry["title"].as_str().expect("a text").to_owned()).collect()
}

#[tokio::test]
async fn a_call_that_would_pass_the_cap_is_refused_until_the_day_ends() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1_000).await;
    let profile = app.get(PROFILE, Some(&key)).await;
    assert_eq!(profile.body["data"]["spend_cap_per_day"], Value::Null);
    assert_eq!(profile.body["data"]["credits_spent_today"], 0);
    price(&app, &key).await.expect(200);
    let changed = set_cap(&app, &key, json!(12)).await;
    changed.expect(200);
    assert_eq!(changed.body["data"]["spend_cap_per_day"], 12);
    assert_eq!(changed.body["data"]["credits_spent_today"], 5, "credits before the cap count");
    price(&app, &key).await.expect(200);

    let refused = price(&app, &key).await;

    let detail = refused.expect(402)["detail"].as_str().expect("a text").to_owned();
    assert!(detail.contains("12 credits a day") && detail.contains(DAY_ENDS), "{detail}");
    let profile = app.get(PROFILE, Some(&key)).await;
    assert_eq!(profile.number("/data/credit_balance"), 990.0, "a refusal charges nothing");
    assert_eq!(titles(&app, &key).await, ["Daily cap nearly reached", "Daily cap reached"]);

    app.clock.advance(TimeDelta::hours(12));
    price(&app, &key).await.expect(200);
    set_cap(&app, &key, Value::Null).await.expect(200);
    for _ in 0..3 {
        price(&app, &key).await.expect(200);
    }
    let profile = app.get(PROFILE, Some(&key)).await;
    assert_eq!(profile.body["data"]["credits_spent_today"], 20);
}

#[tokio::test]
async fn parallel_calls_of_three_instances_never_pass_the_cap() {
    let first = App::start().await;
    let (second, third) = (first.beside().await, first.beside().await);
    let key = first.account("ada", Tier::Enterprise, 10_000).await;
    // The other instances have read the account without a cap.
    for app in [&second, &third] {
        price(app, &key).await.expect(200);
    }
    set_cap(&first, &key, json!(102)).await.expect(200);
    let instances = [&first, &second, &third];
    let calls = (0..60).map(async |call: usize| {
        loop {
            let answer = price(instances[call % 3], &key).await;
            if answer.status != 503 {
                return answer.status.as_u16();
            }
        }
    });

    let answers = all(calls).await;

    let with = |status| answers.iter().filter(|answer| **answer == status).count();
    assert_eq!((with(200), with(402)), (18, 42), "20 calls of 5 credits fit into 102");
    let profile = second.get(PROFILE, Some(&key)).await;
    assert_eq!(profile.body["data"]["credits_spent_today"], 100);
    let titles = titles(&third, &key).await;
    let reached = titles.iter().filter(|title| *title == "Daily cap reached").count();
    assert_eq!(reached, 1, "one notice of three instances: {titles:?}");
    let audit = third.accounts().audit().await.expect("the store answers");
    assert!(audit.holds(), "{:?}", audit.faults);
}

#[tokio::test]
async fn a_cap_under_what_is_spent_refuses_at_once_and_free_calls_go_on() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1_000).await;
    for _ in 0..4 {
        price(&app, &key).await.expect(200);
    }
    set_cap(&app, &key, json!(1)).await.expect(200);
    price(&app, &key).await.expect(402);
    app.get(PROFILE, Some(&key)).await.expect(200);
    set_cap(&app, &key, json!(25)).await.expect(200);
    price(&app, &key).await.expect(200);
    price(&app, &key).await.expect(402);
    assert_eq!(titles(&app, &key).await, ["Daily cap reached"], "once a day");
}

#[tokio::test]
async fn a_repeat_of_a_charged_call_is_answered_beyond_the_cap() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1_000).await;
    set_cap(&app, &key, json!(5)).await.expect(200);
    let repeat = || {
        let request = Request::builder().method(Method::POST).uri_str(PRICE);
        let request = request.header("X-API-Key", &key).header("Idempotency-Key", "order 1");
        request.content_type("application/json").body(OPTION)
    };
    app.send(repeat()).await.expect(200);
    price(&app, &key).await.expect(402);
    let again = app.send(repeat()).await;
    again.expect(200);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn a_guest_sets_no_cap_and_a_cap_is_a_whole_number_of_credits() {
    let app = App::start().await;
    let guest = app.guest().await;
    set_cap(&app, &guest, json!(5)).await.expect(403);
    let key = app.account("ada", Tier::Pro, 10).await;
    for wrong in [json!(-1), json!(1.5), json!("5"), json!(9_007_199_254_740_992_u64)] {
        let refused = set_cap(&app, &key, wrong.clone()).await;
        let faults = refused.expect(422)["detail"].clone();
        assert_eq!(faults[0]["loc"], json!(["body", "spend_cap_per_day"]), "{wrong}: {faults}");
    }
    set_cap(&app, &key, json!(0)).await.expect(200);
    price(&app, &key).await.expect(402);
}

#[tokio::test]
async fn an_atomic_batch_that_would_pass_the_cap_is_refused_as_a_whole() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1_000).await;
    set_cap(&app, &key, json!(12)).await.expect(200);

    let refused = batch(&app, &key, 3, "atomic").await;

    let detail = refused.expect(402)["detail"].as_str().expect("a text");
    assert!(detail.contains("15 credits") && detail.contains("12 credits a day"), "{detail}");
    assert!(detail.contains(DAY_ENDS), "{detail}");
    assert_eq!(spent_today(&app, &key).await, 0);
    batch(&app, &key, 2, "atomic").await.expect(200);
    assert_eq!(spent_today(&app, &key).await, 10);
}

#[tokio::test]
async fn the_calls_of_a_partial_batch_are_paid_up_to_the_cap_and_the_others_refused() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1_000).await;
    set_cap(&app, &key, json!(12)).await.expect(200);

    let answer = batch(&app, &key, 4, "partial").await;

    let results = answer.expect(200)["data"]["results"].as_array().expect("a list").clone();
    let statuses: Vec<_> = results.iter().map(|result| result["status"].clone()).collect();
    assert_eq!(statuses, [200, 200, 402, 402]);
    for refused in &results[2..] {
        let detail = refused["detail"].as_str().expect("a text");
        assert!(detail.contains("12 credits a day") && detail.contains(DAY_ENDS), "{detail}");
    }
    assert_eq!(answer.body["data"]["credits_cost"], 10);
    assert_eq!(spent_today(&app, &key).await, 10);
}

#[tokio::test]
async fn columns_that_would_pass_the_cap_are_refused_as_a_whole() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1_000).await;
    set_cap(&app, &key, json!(5)).await.expect(200);
    let body = |rows: usize| {
        let mut option: Value = serde_json::from_str(OPTION).expect("JSON");
        option["strike"] = vec![40; rows].into();
        option.to_string()
    };
    let columns = format!("{PRICE}/columns");

    let refused = app.post(&columns, Some(&key), &body(11)).await;

    let detail = refused.expect(402)["detail"].as_str().expect("a text");
    assert!(detail.contains("6 credits") && detail.contains("5 credits a day"), "{detail}");
    assert_eq!(spent_today(&app, &key).await, 0);
    app.post(&columns, Some(&key), &body(10)).await.expect(200);
    assert_eq!(spent_today(&app, &key).await, 5);
}
