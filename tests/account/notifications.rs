//! The inbox over HTTP: notices, broadcasts, preferences, the messaging channel.

use account_core::{NewAccount, Tier, Username};
use poem::{Request, http::Method};
use quant_tests::{Answer, App, email};
use serde_json::{Value, json};

async fn call(app: &App, method: Method, path: &str, key: &str, body: &str) -> Answer {
    let request = Request::builder().method(method).uri_str(path).header("X-API-Key", key);
    app.send(request.content_type("application/json").body(body.to_owned())).await
}

/// The API key of a new administrator.
async fn admin(app: &App) -> String {
    let account = NewAccount {
        email: email("root"),
        username: Username::parse("root").expect("a name"),
        password: None,
        tier: Tier::Free,
        credits: Some(100),
        hourly_limit: None,
        is_admin: true,
    };
    let created = app.accounts().create_account(account, app.clock.now()).await;
    created.expect("a new account").api_key.expose().to_owned()
}

async fn broadcast(app: &App, key: &str, body: &Value) -> Answer {
    app.post("/user/admin/notifications/broadcast", Some(key), &body.to_string()).await
}

async fn inbox(app: &App, key: &str) -> Value {
    app.get("/user/notifications", Some(key)).await.expect(200)["data"].clone()
}

#[tokio::test]
async fn a_broadcast_is_listed_read_and_deleted() {
    let app = App::start().await;
    let (root, ada) = (admin(&app).await, app.account("ada", Tier::Free, 0).await);
    let answer = broadcast(&app, &root, &json!({ "title": "News", "description": "Short" })).await;
    assert_eq!(answer.expect(200)["data"]["recipients"], 2);

    let list = inbox(&app, &ada).await;
    assert_eq!((&list["unread_count"], &list["total"]), (&json!(1), &json!(1)));
    let broadcast = &list["notifications"][0];
    assert_eq!(broadcast["title"], "News");
    assert_eq!(broadcast["description"], "Short");
    assert_eq!((&broadcast["message"], &broadcast["read_at"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (&broadcast["category"], &broadcast["is_read"]),
        (&json!("announcement"), &json!(false))
    );

    let path = format!("/user/notifications/{}", broadcast["id"]);
    call(&app, Method::PUT, &format!("{path}/read"), &ada, "").await.expect(200);
    let list = inbox(&app, &ada).await;
    assert_eq!(list["notifications"][0]["is_read"], true);
    assert_eq!(list["unread_count"], 0);
    let unread = app.get("/user/notifications?unread_only=true", Some(&ada)).await;
    assert_eq!(unread.expect(200)["data"]["notifications"], json!([]));
    call(&app, Method::DELETE, &path, &ada, "").await.expect(200);
    assert_eq!(inbox(&app, &ada).await["total"], 0);
    assert_eq!(inbox(&app, &root).await["total"], 1, "deleted for ada alone");
    call(&app, Method::PUT, "/user/notifications/read-all", &root, "{}").await.expect(200);
    assert_eq!(inbox(&app, &root).await["unread_count"], 0);
}

#[tokio::test]
async fn every_call_with_another_accounts_notification_is_answered_404() {
    let app = App::start().await;
    let (root, ada) = (admin(&app).await, app.account("ada", Tier::Free, 0).await);
    broadcast(&app, &root, &json!({ "title": "Before eve was there" })).await.expect(200);
    let old = inbox(&app, &ada).await["notifications"][0]["id"].to_string();
    app.clock.advance(chrono::TimeDelta::seconds(1));
    let eve = app.account("eve", Tier::Free, 0).await;
    let ada = app.post("/user/regenerate-api-key", Some(&ada), "").await.text("/data/api_key");
    let before = inbox(&app, &ada).await;
    let hers = before["notifications"][0]["id"].to_string();
    assert_ne!(hers, old);
    let calls = [(Method::PUT, "/read"), (Method::DELETE, "")];
    for id in [hers, old, "0".into(), "-1".into(), i64::MAX.to_string()] {
        for (method, tail) in &calls {
            let path = format!("/user/notifications/{id}{tail}");
            let refused = call(&app, method.clone(), &path, &eve, "{}").await;
            assert_eq!(refused.expect(404)["message"], "Notification not found", "{path}");
        }
    }
    for id in ["x", "1.5", "99999999999999999999"] {
        let path = format!("/user/notifications/{id}/read");
        let refused = call(&app, Method::PUT, &path, &eve, "").await;
        let fault = &refused.expect(422)["detail"][0];
        assert_eq!(fault["loc"], json!(["path", "notification_id"]));
        assert_eq!(fault["type"], "type_error.integer");
    }
    assert_eq!(inbox(&app, &eve).await["total"], 0);
    call(&app, Method::PUT, "/user/notifications/read-all", &eve, "").await.expect(200);
    let body = r#"{"notify_in_app": false, "account_id": 1, "user_id": 1}"#;
    let preferences = "/user/notifications/preferences";
    call(&app, Method::PUT, preferences, &eve, body).await.expect(200);
    assert_eq!(inbox(&app, &ada).await, before, "untouched");
    let hers = app.get(preferences, Some(&ada)).await;
    assert_eq!(hers.expect(200)["data"]["notify_in_app"], true, "untouched as well");
}

#[tokio::test]
async fn guests_have_no_inbox_and_only_administrators_broadcast() {
    let app = App::start().await;
    let (guest, ada) = (app.guest().await, app.account("ada", Tier::Enterprise, 0).await);
    for (method, path) in [
        (Method::GET, "/user/notifications"),
        (Method::PUT, "/user/notifications/1/read"),
        (Method::PUT, "/user/notifications/read-all"),
        (Method::DELETE, "/user/notifications/1"),
        (Method::GET, "/user/notifications/preferences"),
        (Method::PUT, "/user/notifications/preferences"),
        (Method::POST, "/user/notifications/messaging/test"),
        (Method::POST, "/user/admin/notifications/broadcast"),
    ] {
        let body = r#"{"title": "x"}"#;
        let refused = call(&app, method.clone(), path, &guest, body).await;
        assert_eq!(refused.expect(403)["message"], "Registered account required", "{path}");
        call(&app, method, path, "fk_user_x", body).await.expect(401);
    }
    let refused = broadcast(&app, &ada, &json!({ "title": "Mine" })).await;
    assert_eq!(refused.expect(403)["message"], "Admin access required");
}

#[tokio::test]
async fn every_invalid_field_of_a_broadcast_is_reported_at_once() {
    let app = App::start().await;
    let root = admin(&app).await;
    let body = json!({ "title": "", "message": 5, "channels": ["in_app", "pigeon"], "x": 1 });
    let refused = broadcast(&app, &root, &body).await;
    let faults = refused.expect(422)["detail"].as_array().expect("faults").clone();
    let places: Vec<_> = faults.iter().map(|fault| fault["loc"].clone()).collect();
    let expected =
        [json!(["body", "title"]), json!(["body", "message"]), json!(["body", "channels", 1])];
    assert_eq!(places, expected);
    for title in ["   ", "two\nlines"] {
        let refused = broadcast(&app, &root, &json!({ "title": title })).await;
        assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["body", "title"]));
    }
    let refused = broadcast(&app, &root, &json!({ "title": "x", "channels": ["messaging"] })).await;
    assert_eq!(refused.expect(503)["message"], "Messaging not configured");
    assert_eq!(inbox(&app, &root).await["total"], 0, "nothing was sent");
}

#[tokio::test]
async fn preferences_change_only_in_the_fields_that_are_sent() {
    let app = App::start().await;
    let ada = app.account("ada", Tier::Free, 0).await;
    let path = "/user/notifications/preferences";
    let before = app.get(path, Some(&ada)).await.expect(200)["data"].clone();
    assert_eq!(
        before,
        json!({
            "notify_email": true, "notify_messaging": false, "notify_in_app": true,
            "messaging_chat_id": null, "messaging_connected": false,
        })
    );
    let body = r#"{"notify_messaging": true, "messaging_chat_id": "-100123", "is_admin": true}"#;
    let after = call(&app, Method::PUT, path, &ada, body).await.expect(200)["data"].clone();
    assert_eq!((&after["notify_messaging"], &after["notify_email"]), (&json!(true), &json!(true)));
    assert_eq!(after["messaging_chat_id"], "-100123");
    assert_eq!(app.get(path, Some(&ada)).await.expect(200)["data"], after);
    for (body, field) in [
        (r#"{"notify_email": "yes"}"#, "notify_email"),
        (r#"{"notify_email": null}"#, "notify_email"),
        (r#"{"notify_in_app": 1}"#, "notify_in_app"),
        (r#"{"messaging_chat_id": 5}"#, "messaging_chat_id"),
        (r#"{"messaging_chat_id": "a/../b"}"#, "messaging_chat_id"),
    ] {
        let refused = call(&app, Method::PUT, path, &ada, body).await;
        assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["body", field]), "{body}");
    }
    let body = r#"{"messaging_chat_id": null}"#;
    let none = call(&app, Method::PUT, path, &ada, body).await.expect(200)["data"].clone();
    assert_eq!(none["messaging_chat_id"], Value::Null);
}

#[tokio::test]
async fn a_test_message_needs_a_channel_and_a_chat() {
    let path = "/user/notifications/messaging/test";
    let without = App::start().await;
    let ada = without.account("ada", Tier::Free, 0).await;
    let refused = without.post(path, Some(&ada), "{}").await;
    let detail = refused.expect(503)["detail"].as_str().expect("a text").to_owned();
    assert!(detail.contains("QS_MESSAGING_URL"), "{detail}");

    let app = App::start_with(|config| config.service.has_messaging = true).await;
    let ada = app.account("ada", Tier::Free, 0).await;
    let refused = app.post(path, Some(&ada), "").await;
    let fault = &refused.expect(422)["detail"][0];
    assert_eq!(fault["loc"], json!(["body", "messaging_chat_id"]));
    let chat = r#"{"messaging_chat_id": "42"}"#;
    let set = call(&app, Method::PUT, "/user/notifications/preferences", &ada, chat).await;
    assert_eq!(set.expect(200)["data"]["messaging_connected"], true);
    app.post(path, Some(&ada), "").await.expect(200);
    let again = app.post(path, Some(&ada), "").await;
    assert_eq!((again.status.as_u16(), again.header("Retry-After")), (429, Some("60")));
}

#[tokio::test]
async fn credit_notices_are_sent_at_a_fifth_of_the_last_grant_and_at_zero() {
    let app = App::start().await;
    let ada = app.account("ada", Tier::Pro, 25).await;
    let price = || async {
        let body = r#"{"spot": 42, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2,
                       "time_to_maturity": 0.5}"#;
        app.post("/quantlib/pricing/bs/price", Some(&ada), body).await.status.as_u16()
    };
    let mut titles = Vec::new();
    for _ in 0..6 {
        price().await;
        let list = inbox(&app, &ada).await;
        let newest = list["notifications"][0]["title"].as_str().unwrap_or("none").to_owned();
        titles.push((newest, list["total"].as_u64()));
    }
    let (none, low, gone) = ("none", "Credits running low", "No credits left");
    let expected = [(none, 0), (none, 0), (none, 0), (low, 1), (gone, 2), (gone, 2)];
    assert_eq!(titles, expected.map(|(title, total)| (title.to_owned(), Some(total))));

    app.accounts().grant(&email("ada"), 10, app.clock.now()).await.expect("a grant");
    app.forget_callers();
    assert_eq!((price().await, price().await, price().await), (200, 200, 402));
    let list = inbox(&app, &ada).await;
    assert_eq!(list["notifications"][0]["title"], gone, "of the new grant again");
    assert_eq!(list["total"], 3);
}
