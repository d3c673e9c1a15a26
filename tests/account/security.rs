//! Passwords, second factor, sessions, history and the end of an account, over HTTP.

use account_core::Tier;
use chrono::TimeDelta;
use poem::{Request, http::Method};
use quant_tests::{
    Answer, App,
    requests::{DATE, OPTION, PASSWORD, PRICE, TENOR},
};
use serde_json::{Value, json};

const OTHER: &str = "another long and private sentence";

async fn reset(app: &App, code: &str, password: &str) -> Answer {
    let body = json!({ "email": "ada@example.com", "otp": code, "new_password": password });
    app.post("/user/reset-password", None, &body.to_string()).await
}

async fn with_session(app: &App, method: Method, path: &str, key: &str, token: &str) -> Answer {
    let request = Request::builder()
        .method(method)
        .uri_str(path)
        .header("X-API-Key", key)
        .header("X-Session-Token", token);
    app.send(request.finish()).await
}

async fn send(app: &App, method: Method, path: &str, key: &str, body: &Value) -> Answer {
    let request = Request::builder().method(method).uri_str(path).header("X-API-Key", key);
    app.send(request.content_type("application/json").body(body.to_string())).await
}

#[tokio::test]
async fn a_reset_changes_the_password_ends_sessions_and_lifts_the_lock() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let token = app.log_in("ada", PASSWORD).await.text("/data/session_token");
    for _ in 0..5 {
        app.log_in("ada", "wrong wrong wrong").await.expect(401);
    }
    app.log_in("ada", PASSWORD).await.expect(423);

    app.post("/user/forgot-password", None, r#"{"email": "ada@example.com"}"#).await.expect(200);
    let code = app.emailed_code("ada").await;
    let answer = reset(&app, &code, OTHER).await;

    assert_eq!(answer.expect(200)["data"].get("api_key"), None, "a reset hands out no key");
    app.log_in("ada", OTHER).await.expect(200);
    app.log_in("ada", PASSWORD).await.expect(401);
    with_session(&app, Method::GET, "/user/session-pulse", &key, &token).await.expect(401);
    app.get("/auth/validate", Some(&key)).await.expect(200);
    reset(&app, &code, PASSWORD).await.expect(400);
}

#[tokio::test]
async fn a_reset_request_does_not_reveal_whether_an_account_exists() {
    let app = App::start().await;
    app.account("ada", Tier::Free, 0).await;
    let known = app.post("/user/forgot-password", None, r#"{"email": "ada@example.com"}"#).await;
    let unknown = app.post("/user/forgot-password", None, r#"{"email": "eve@example.com"}"#).await;
    assert_eq!(known.expect(200), unknown.expect(200));
    assert!(app.code("eve").await.is_none());
}

#[tokio::test]
async fn a_second_factor_makes_sign_in_two_steps() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.post("/user/mfa/enable", Some(&key), "").await.expect(200);

    let first = app.log_in("ada", PASSWORD).await;
    let data = &first.expect(200)["data"];
    assert_eq!(data["mfa_required"], true);
    assert_eq!(data.get("api_key"), None);
    let otp = app.emailed_code("ada").await;
    let body = json!({ "email": "ada@example.com", "otp": otp, "mfa_token": data["mfa_token"] });
    let second = app.post("/user/verify-mfa", None, &body.to_string()).await;
    assert_eq!(second.text("/data/api_key"), key);
    app.post("/user/verify-mfa", None, &body.to_string()).await.expect(400);

    let wrong = app.post("/user/mfa/disable", Some(&key), r#"{"password": "wrong"}"#).await;
    wrong.expect(403);
    let right = json!({ "password": PASSWORD }).to_string();
    app.post("/user/mfa/disable", Some(&key), &right).await.expect(200);
    assert_eq!(app.log_in("ada", PASSWORD).await.text("/data/api_key"), key);
}

#[tokio::test]
async fn a_session_lives_until_it_is_ended() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let token = app.log_in("ada", PASSWORD).await.text("/data/session_token");
    let pulse = "/user/session-pulse";
    app.get(pulse, Some(&key)).await.expect(401);
    with_session(&app, Method::GET, pulse, &key, &token).await.expect(200);
    let without = app.post("/user/validate-session", Some(&key), "").await;
    assert_eq!(without.expect(200)["data"]["valid"], false);
    let with = with_session(&app, Method::POST, "/user/validate-session", &key, &token).await;
    assert_eq!(with.expect(200)["data"]["valid"], true);

    with_session(&app, Method::POST, "/user/logout", &key, &token).await.expect(200);

    with_session(&app, Method::GET, pulse, &key, &token).await.expect(401);
    app.get("/auth/validate", Some(&key)).await.expect(200);
}

#[tokio::test]
async fn a_profile_update_changes_the_documented_fields_and_no_other() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 7).await;
    app.account("bob", Tier::Free, 7).await;
    let wish = json!({
        "username": "lovelace", "phone": "+44 20", "country": "UK", "id": 99, "is_admin": true,
        "credit_balance": 1_000_000, "account_type": "enterprise", "email": "eve@example.com",
    });

    let answer = send(&app, Method::PUT, "/user/profile", &key, &wish).await;

    let data = &answer.expect(200)["data"];
    assert_eq!((&data["username"], &data["phone"]), (&json!("lovelace"), &json!("+44 20")));
    assert_eq!(data["email"], "ada@example.com");
    assert_eq!((&data["credit_balance"], &data["is_admin"]), (&json!(7), &json!(false)));
    assert_eq!(data["account_type"], "free");
    let cleared = send(&app, Method::PUT, "/user/profile", &key, &json!({ "phone": null })).await;
    let data = &cleared.expect(200)["data"];
    assert_eq!((&data["phone"], &data["country"]), (&Value::Null, &json!("UK")));
    let taken = json!({ "username": "bob" });
    send(&app, Method::PUT, "/user/profile", &key, &taken).await.expect(409);
}

#[tokio::test]
async fn usage_and_transactions_add_up_to_the_balance() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    for _ in 0..3 {
        app.post(PRICE, Some(&key), OPTION).await.expect(200);
    }
    app.post(PRICE, Some(&key), "{}").await.expect(422);
    app.post(TENOR, Some(&key), DATE).await.expect(200);

    let priced = app.get("/user/usage?endpoint_filter=/quantlib/pricing", Some(&key)).await;
    let data = &priced.expect(200)["data"];
    assert_eq!(data["account"]["credit_balance"], 85);
    assert_eq!(data["summary"]["total_requests"], 4);
    assert_eq!(data["summary"]["total_credits_used"], 15);
    assert_eq!(data["endpoint_breakdown"][0]["endpoint"], PRICE);
    assert_eq!(data["daily_usage"][0]["date"], "2026-01-31");
    let paged = app.get("/user/usage?page=2&page_size=2&method_filter=post", Some(&key)).await;
    let data = &paged.expect(200)["data"];
    assert_eq!(
        data["pagination"],
        json!({ "page": 2, "page_size": 2, "total": 5, "total_pages": 3 })
    );
    assert_eq!(data["requests"].as_array().expect("a list").len(), 2);

    let transactions = app.get("/user/transactions", Some(&key)).await;
    let list = transactions.expect(200)["data"]["transactions"].as_array().expect("a list").clone();
    let sum: i64 = list.iter().filter_map(|one| one["credits"].as_i64()).sum();
    assert_eq!(sum, 85, "{list:?}");
    assert_eq!(list[0]["kind"], "usage");
    assert_eq!(list[0]["balance_after"], 85);
}

#[tokio::test]
async fn query_parameters_are_as_strict_as_bodies_and_reported_all_at_once() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let answer = app.get("/user/usage?days=0&page=x&page_size=501", Some(&key)).await;
    let expected = json!([
        { "loc": ["query", "days"], "msg": "ensure this value is greater than or equal to 1", "type": "value_error.number.not_ge" },
        { "loc": ["query", "page"], "msg": "value is not a valid integer", "type": "type_error.integer" },
        { "loc": ["query", "page_size"], "msg": "ensure this value is less than or equal to 500", "type": "value_error.number.not_le" },
    ]);
    assert_eq!(answer.expect(422)["detail"], expected);
    assert!(answer.header("x-ratelimit-limit").is_some());
    app.get("/user/usage?days=0", None).await.expect(401);
}

#[tokio::test]
async fn every_sign_in_attempt_is_in_the_login_history() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.log_in("ada", "wrong wrong wrong").await.expect(401);
    app.clock.advance(TimeDelta::seconds(1));
    app.log_in("ada", PASSWORD).await.expect(200);

    let answer = app.get("/user/login-history?limit=1", Some(&key)).await;

    let data = &answer.expect(200)["data"];
    assert_eq!((&data["total"], &data["successful_logins"]), (&json!(2), &json!(1)));
    let newest = &data["login_history"][0];
    assert_eq!((&newest["status"], &newest["method"]), (&json!("success"), &json!("password")));
    assert_eq!(newest["timestamp"], newest["created_at"]);
    assert_eq!(data["login_history"].as_array().expect("a list").len(), 1);
}

#[tokio::test]
async fn a_known_database_is_subscribed_once() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 3).await;
    let prices = r#"{"database_name": "prices"}"#;
    app.post("/user/subscribe", Some(&key), r#"{"database_name": "secrets"}"#).await.expect(404);
    app.post("/user/subscribe", Some(&key), prices).await.expect(200);
    app.post("/user/subscribe", Some(&key), prices).await.expect(409);
    let list = app.get("/user/subscriptions", Some(&key)).await;
    let data = &list.expect(200)["data"];
    assert_eq!((&data["total"], &data["credit_balance"]), (&json!(1), &json!(3)));
    assert_eq!(data["subscriptions"][0]["database_name"], "prices");
}

#[tokio::test]
async fn the_list_of_databases_marks_subscriptions_and_a_subscription_can_end() {
    let two = vec!["prices".to_owned(), "rates".to_owned()];
    let app = App::start_with(|config| config.service.databases = two).await;
    let key = app.account("ada", Tier::Free, 0).await;
    let listed = async |app: &App| {
        let list = app.get("/user/databases", Some(&key)).await;
        let data = &list.expect(200)["data"];
        assert_eq!(data["total"], data["databases"].as_array().expect("a list").len());
        data["databases"].clone()
    };
    let databases = |prices: bool| {
        json!([
            { "database_name": "prices", "is_subscribed": prices },
            { "database_name": "rates", "is_subscribed": false },
        ])
    };
    let prices = r#"{"database_name": "prices"}"#;
    app.post("/user/subscribe", Some(&key), prices).await.expect(200);
    assert_eq!(listed(&app).await, databases(true));

    // The service does not offer the database any more.
    let app = app.restart_with(|config| config.service.databases = Vec::new()).await;
    assert_eq!(listed(&app).await, json!([]));
    let ended = app.post("/user/unsubscribe", Some(&key), prices).await;
    assert_eq!(ended.expect(200)["data"]["message"], "The subscription has ended.");

    let again = app.post("/user/unsubscribe", Some(&key), prices).await;
    assert_eq!(again.expect(404)["message"], "Not subscribed");
    let list = app.get("/user/subscriptions", Some(&key)).await;
    assert_eq!(list.expect(200)["data"]["total"], 0);
}

#[tokio::test]
async fn a_deleted_account_is_gone_with_the_answer_and_the_ledger_still_balances() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let token = app.log_in("ada", PASSWORD).await.text("/data/session_token");
    app.post(PRICE, Some(&key), OPTION).await.expect(200);
    let wrong = json!({ "password": "wrong wrong" });
    send(&app, Method::DELETE, "/user/account", &key, &wrong).await.expect(403);
    let right = json!({ "password": PASSWORD });

    send(&app, Method::DELETE, "/user/account", &key, &right).await.expect(200);

    app.get("/auth/validate", Some(&key)).await.expect(401);
    with_session(&app, Method::GET, "/user/session-pulse", &key, &token).await.expect(401);
    app.log_in("ada", PASSWORD).await.expect(401);
    assert!(app.accounts().audit().await.expect("the store answers").holds());
    app.clock.advance(TimeDelta::minutes(2));
    app.account("ada", Tier::Free, 1).await;
}

#[tokio::test]
async fn strangers_cannot_lock_out_a_client_that_has_signed_in_before() {
    let app = App::start().await;
    app.account("ada", Tier::Free, 0).await;
    let sign_in = |address: &str, cookie: &str, password: &str| {
        let body = json!({ "email": "ada@example.com", "password": password });
        Request::builder()
            .method(Method::POST)
            .uri_str("/user/login")
            .header("Cookie", cookie)
            .header("User-Agent", address)
            .content_type("application/json")
            .body(body.to_string())
    };
    let first = app.send(sign_in("home", "", PASSWORD)).await;
    let cookie = first.header("set-cookie").expect("a mark of the client").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert_eq!(first.status, 200);
    let mark = cookie.split(';').next().expect("a pair").to_owned();
    // A guessed client cookie gives no attempts of its own.
    for _ in 0..6 {
        app.send(sign_in("away", "qs_client=guess", "wrong wrong wrong")).await;
    }
    app.send(sign_in("home", &mark, PASSWORD)).await.expect(200);
}

#[tokio::test]
async fn a_session_token_planted_before_sign_in_is_never_adopted() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let strangers = app.log_in("ada", PASSWORD).await.text("/data/session_token");
    with_session(&app, Method::POST, "/user/logout", &key, &strangers).await.expect(200);
    let made_up = "A".repeat(43);

    for planted in [strangers.as_str(), made_up.as_str()] {
        let body = json!({ "email": "ada@example.com", "password": PASSWORD });
        let sign_in = Request::builder().method(Method::POST).uri_str("/user/login");
        let sign_in = sign_in.content_type("application/json").header("X-Session-Token", planted);
        let own = app.send(sign_in.body(body.to_string())).await.text("/data/session_token");
        assert_ne!(own, planted);
        let refused = with_session(&app, Method::GET, "/user/session-pulse", &key, planted).await;
        refused.expect(401);
        let pulse = with_session(&app, Method::GET, "/user/session-pulse", &key, &own).await;
        assert_eq!(pulse.expect(200)["data"]["valid"], true);
    }
}
