//! No cache keeps an answer that holds a secret or belongs to one caller.

use account_core::Tier;
use poem::Request;
use quant_tests::{Answer, App, PASSWORD, documented::requests};
use serde_json::json;

fn assert_no_store(answer: &Answer, what: &str) {
    let lines: Vec<_> = answer.headers.get_all("cache-control").iter().collect();
    assert_eq!(lines, ["no-store"], "{what}: {answer:?}");
}

/// Asserts that the answer holds a secret at `pointer` and that no cache keeps the answer.
fn assert_secret(answer: &Answer, pointer: &str) {
    assert!(!answer.text(pointer).is_empty());
    assert_no_store(answer, pointer);
}

#[tokio::test]
async fn no_cache_keeps_the_answer_of_any_documented_operation() {
    let app = App::start_with(|config| {
        config.address_limit = 10_000.try_into().expect("not zero");
    })
    .await;
    let operations = requests();
    assert!(operations.len() > 50, "{} operations", operations.len());
    let mut successes = 0;
    for (number, (method, path, body)) in operations.into_iter().enumerate() {
        let what = format!("{method} {path}");
        let request = || {
            let request = Request::builder().method(method.clone()).uri_str(path.as_str());
            request.content_type("application/json")
        };
        // Some operations end a key or an account.
        let key = app.account(&format!("user{number}"), Tier::Enterprise, 100).await;
        let with_key = app.send(request().header("X-API-Key", &key).body(body.clone())).await;
        let without = app.send(request().body(body)).await;
        assert_no_store(&with_key, &what);
        assert_no_store(&without, &what);
        successes += usize::from(with_key.status == 200);
    }
    assert!(successes > 30, "{successes} operations have succeeded");
}

#[tokio::test]
async fn no_cache_keeps_a_key_a_token_or_a_code() {
    let app = App::start().await;
    let form = json!({ "username": "ada", "email": "ada@example.com", "password": PASSWORD });
    app.post("/user/register", None, &form.to_string()).await.expect(200);
    let code = app.emailed_code("ada").await;
    let code = json!({ "email": "ada@example.com", "otp": code }).to_string();

    let verified = app.post("/user/verify-otp", None, &code).await;
    assert_secret(&verified, "/data/session_token");
    let key = verified.text("/data/api_key");
    assert_secret(&app.log_in("ada", PASSWORD).await, "/data/api_key");
    let hand_off = app.post("/user/auth/desktop-handoff", Some(&key), "").await;
    assert_secret(&hand_off, "/data/code");
    app.post("/user/mfa/enable", Some(&key), "").await.expect(200);
    assert_secret(&app.log_in("ada", PASSWORD).await, "/data/mfa_token");
    let regenerated = app.post("/user/regenerate-api-key", Some(&key), "").await;
    assert_secret(&regenerated, "/data/api_key");
    let guest = app.post("/guest/create", None, r#"{"device_id": "x"}"#).await;
    assert_secret(&guest, "/data/api_key");
}

#[tokio::test]
async fn pages_are_not_kept_and_public_files_are() {
    let app = App::start().await;
    for path in ["/login", "/account/applications", "/nowhere", "/user/login", "/mcp"] {
        assert_no_store(&app.get(path, None).await, path);
    }
    let stylesheet = app.get("/pages.css", None).await;
    assert_eq!(stylesheet.header("cache-control"), Some("public, max-age=3600"));
    // A cache may keep these and asks by their tags each time.
    for path in ["/", "/docs", "/playground", "/openapi.json", "/site.js"] {
        assert_eq!(app.get(path, None).await.header("cache-control"), Some("no-cache"), "{path}");
    }
}
