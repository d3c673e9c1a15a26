//! Guest keys over HTTP: the routes that they reach, and the budgets that they share.

use account_core::Tier;
use chrono::TimeDelta;
use poem::{Request, http::Method};
use quant_server::api::openapi;
use quant_tests::{Answer, App};
use serde_json::{Value, json};

const VALIDATE: &str = "/auth/validate";

async fn make(app: &App, device: &str) -> Answer {
    app.post("/guest/create", None, &json!({ "device_id": device }).to_string()).await
}

/// Every operation that takes a key: its method, its path with parameters filled in, its tier.
fn keyed_operations() -> Vec<(Method, String, Option<String>)> {
    let paths = openapi::DOCUMENT["paths"].as_object().expect("paths");
    let mut operations = Vec::new();
    for (path, methods) in paths {
        let filled: Vec<&str> =
            path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect();
        for (method, operation) in methods.as_object().expect("methods") {
            let Ok(method) = method.to_uppercase().parse::<Method>() else { continue };
            let takes_key = operation["security"]
                .as_array()
                .is_some_and(|list| list.iter().any(|scheme| scheme.get("ApiKey").is_some()));
            if takes_key {
                let columns = operation["x-columns"]["tier"].as_str();
                let tier = operation["x-tier"].as_str().or(columns).map(str::to_lowercase);
                operations.push((method, filled.join("/"), tier));
            }
        }
    }
    operations
}

#[tokio::test]
async fn a_guest_key_reaches_its_own_validation_and_free_computations_only() {
    // Beside the FREE computations a guest may only validate its own key. A batch checks each of its calls.
    const OWN: [&str; 2] = [VALIDATE, "/quantlib/batch"];
    // Each operation is called by a guest of its own, all from one address.
    let set = |config: &mut quant_server::config::Config| {
        config.address_limit = 1000.try_into().expect("not zero");
    };
    let app = App::start_with(set).await;
    let operations = keyed_operations();
    assert!(operations.len() > 25, "{operations:?}");
    let mut faults = Vec::new();
    for (method, path, tier) in operations {
        let key = app.guest().await;
        let request = Request::builder().method(method.clone()).uri_str(&path);
        let request = request.header("X-API-Key", &key).content_type("application/json");
        let status = app.send(request.body("{}")).await.status.as_u16();
        let opens = OWN.contains(&path.as_str()) || tier.as_deref() == Some("free");
        if opens == (status == 403) {
            faults.push(format!("{method} {path} answers {status}"));
        }
        app.clock.advance(TimeDelta::hours(25));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[tokio::test]
async fn ten_guest_keys_of_one_address_share_one_budget_that_a_restart_does_not_refill() {
    let set = |config: &mut quant_server::config::Config| {
        config.service.guests_per_network = 2.try_into().expect("not zero");
    };
    let app = App::start_with(set).await;
    let mut granted = 0;
    let mut last = None;
    for _ in 0..10 {
        let key = app.guest().await;
        for _ in 0..11 {
            let answer = app.get(VALIDATE, Some(&key)).await;
            granted += u32::from(answer.status == 200);
            last = Some((key.clone(), answer));
        }
    }
    assert_eq!(granted, 2 * 50);
    let (key, answer) = last.expect("calls were made");
    let detail = answer.expect(429)["detail"].as_str().expect("words").to_owned();
    assert!(detail.contains("100 requests per day"), "{detail}");
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("0"));

    let app = app.restart_with(set).await;
    app.get(VALIDATE, Some(&key)).await.expect(429);
    // Every test begins at noon UTC, so the hour ends before the day.
    app.clock.advance(TimeDelta::hours(2));
    app.get(VALIDATE, Some(&key)).await.expect(429);
    app.clock.advance(TimeDelta::hours(10) - TimeDelta::seconds(1));
    app.get(VALIDATE, Some(&key)).await.expect(429);
    app.clock.advance(TimeDelta::seconds(1));
    app.get(VALIDATE, Some(&key)).await.expect(200);
}

#[tokio::test]
async fn guests_do_not_use_up_the_limits_of_accounts_at_the_same_address() {
    let app = App::start_with(|config| {
        config.service.guests_per_network = 1.try_into().expect("not zero");
    })
    .await;
    let account = app.account("ada", Tier::Free, 0).await;
    let (first, second) = (app.guest().await, app.guest().await);
    for _ in 0..50 {
        app.get(VALIDATE, Some(&first)).await.expect(200);
    }
    app.get(VALIDATE, Some(&second)).await.expect(429);
    app.get(VALIDATE, Some(&account)).await.expect(200);
}

#[tokio::test]
async fn an_address_beyond_its_daily_guest_keys_is_refused_with_a_retry_time() {
    let app = App::start_with(|config| {
        config.service.guest_keys.per_network = 3.try_into().expect("not zero");
    })
    .await;
    for device in ["a", "b", "c"] {
        make(&app, device).await.expect(200);
    }
    let refused = make(&app, "d").await;
    let body = refused.expect(429);
    assert_eq!(
        (&body["success"], &body["message"]),
        (&Value::Bool(false), &json!("Too many guest keys"))
    );
    assert_eq!(refused.header("retry-after"), Some("43200"), "from noon to midnight");
    app.clock.advance(TimeDelta::hours(12));
    make(&app, "d").await.expect(200);
}
