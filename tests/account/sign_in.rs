//! Accounts over HTTP: registration, sign-in, keys, sessions, suspension.

use account_core::Tier;
use chrono::TimeDelta;
use poem::Request;
use quant_tests::{Answer, App, email};
use serde_json::{Value, json};

const PASSWORD: &str = "a long and private sentence";

/// Registers `name` and returns the code of the registration email.
async fn registered(app: &App, name: &str) -> String {
    let form = json!({ "username": name, "email": email(name).as_str(), "password": PASSWORD });
    let answer = app.post("/user/register", None, &form.to_string()).await;
    let body = answer.expect(200);
    assert_eq!(body["message"], body["data"]["message"], "clients read it in either place");
    app.emailed_code(name).await
}

async fn verify(app: &App, name: &str, code: &str) -> Answer {
    let body = json!({ "email": email(name).as_str(), "otp": code });
    app.post("/user/verify-otp", None, &body.to_string()).await
}

#[tokio::test]
async fn registration_verification_and_login_give_one_key() {
    let app = App::start().await;
    let code = registered(&app, "ada").await;

    let verified = verify(&app, "ada", &code).await;
    let key = verified.text("/data/api_key");
    assert!(key.starts_with("fk_user_") && key.len() == 8 + 43, "{key}");
    assert_eq!(verified.text("/data/session_token").len(), 43);
    let login = app.log_in("ada", PASSWORD).await;
    assert_eq!(login.text("/data/api_key"), key);
    assert_eq!(login.body["data"].get("mfa_required"), None);

    let profile = app.get("/user/profile", Some(&key)).await;
    let data = &profile.expect(200)["data"];
    assert_eq!(data["username"], "ada");
    assert_eq!(data["account_type"], "free");
    assert_eq!(data["credit_balance"], 350);
    assert_eq!(data["api_key_status"], "active");
    assert_eq!(data["rate_limit"]["limit"], 500);
    let validated = app.get("/auth/validate", Some(&key)).await;
    let data = &validated.expect(200)["data"];
    assert_eq!((&data["valid"], &data["user_type"]), (&json!(true), &json!("registered")));
    assert_eq!(data["user"]["email"], "ada@example.com");
}

#[tokio::test]
async fn a_code_works_once_and_for_ten_minutes() {
    let app = App::start().await;
    let late = registered(&app, "late").await;
    app.clock.advance(TimeDelta::minutes(10));
    assert_eq!(verify(&app, "late", &late).await.expect(400)["message"], "Invalid or expired code");

    let code = registered(&app, "ada").await;
    verify(&app, "ada", &code).await.expect(200);
    verify(&app, "ada", &code).await.expect(400);
}

#[tokio::test]
async fn the_sixth_attempt_fails_even_with_the_right_code() {
    let app = App::start().await;
    let code = registered(&app, "ada").await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    for _ in 0..5 {
        verify(&app, "ada", wrong).await.expect(400);
    }
    verify(&app, "ada", &code).await.expect(400);
}

#[tokio::test]
async fn parallel_uses_of_one_code_create_one_account() {
    let app = App::start().await;
    let code = registered(&app, "ada").await;
    let uses = (0..32).map(|_| verify(&app, "ada", &code));

    let answers = account_core::testing::all(uses).await;

    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert!(app.accounts().audit().await.expect("the store answers").holds());
}

#[tokio::test]
async fn a_strangers_password_is_not_confirmed_by_the_owners_code() {
    let app = App::start().await;
    let code = registered(&app, "ada").await;
    // A second registration within the 60-second cooldown changes nothing.
    let stranger =
        json!({ "username": "eve", "email": "ada@example.com", "password": "evil evil evil" });
    app.post("/user/register", None, &stranger.to_string()).await.expect(200);

    verify(&app, "ada", &code).await.expect(200);

    app.log_in("ada", PASSWORD).await.expect(200);
    app.log_in("ada", "evil evil evil").await.expect(401);
}

#[tokio::test]
async fn a_fresh_code_replaces_the_old_one_after_the_cooldown() {
    let app = App::start().await;
    let first = registered(&app, "ada").await;
    let resend = r#"{"email": "ada@example.com"}"#;
    app.post("/user/resend-otp", None, resend).await.expect(200);
    assert!(app.code("ada").await.is_none(), "no email is sent within the cooldown");
    app.clock.advance(TimeDelta::seconds(60));

    app.post("/user/resend-otp", None, resend).await.expect(200);

    let second = app.emailed_code("ada").await;
    if first != second {
        verify(&app, "ada", &first).await.expect(400);
    }
    verify(&app, "ada", &second).await.expect(200);
}

#[tokio::test]
async fn registration_does_not_reveal_whether_an_account_exists() {
    let app = App::start().await;
    let code = registered(&app, "ada").await;
    verify(&app, "ada", &code).await.expect(200);
    let form = |name: &str, address: &str| {
        json!({ "username": name, "email": address, "password": PASSWORD }).to_string()
    };

    let known = app.post("/user/register", None, &form("bob", "ada@example.com")).await;
    let unknown = app.post("/user/register", None, &form("carol", "new@example.com")).await;

    assert_eq!(known.expect(200), unknown.expect(200));
    let taken = app.post("/user/register", None, &form("ada", "other@example.com")).await;
    assert_eq!(taken.expect(409)["message"], "Username taken");
}

#[tokio::test]
async fn an_unverified_account_is_reported_only_after_the_right_password() {
    let app = App::start().await;
    registered(&app, "ada").await;
    app.log_in("ada", "wrong wrong wrong").await.expect(401);
    assert_eq!(app.log_in("ada", PASSWORD).await.expect(403)["message"], "Email not verified");
}

#[tokio::test]
async fn five_wrong_passwords_lock_sign_in_for_half_an_hour() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    for _ in 0..5 {
        let refused = app.log_in("ada", "wrong wrong wrong").await;
        assert_eq!(refused.expect(401)["message"], "Invalid email or password");
    }

    let locked = app.log_in("ada", "correct horse battery staple").await;

    let message = "Account temporarily locked due to failed attempts";
    assert_eq!(locked.expect(423)["message"], message);
    app.get("/auth/validate", Some(&key)).await.expect(200);
    app.clock.advance(TimeDelta::minutes(30));
    app.log_in("ada", "correct horse battery staple").await.expect(200);
}

#[tokio::test]
async fn a_regenerated_key_replaces_the_old_one_at_once() {
    let app = App::start().await;
    let old = app.account("ada", Tier::Free, 0).await;
    app.get("/auth/validate", Some(&old)).await.expect(200);

    let new = app.post("/user/regenerate-api-key", Some(&old), "{}").await.text("/data/api_key");

    app.get("/auth/validate", Some(&old)).await.expect(401);
    app.get("/auth/validate", Some(&new)).await.expect(200);
    let login = app.log_in("ada", "correct horse battery staple").await;
    assert_eq!(login.text("/data/api_key"), new);
}

#[tokio::test]
async fn two_parallel_regenerations_make_one_key() {
    let app = App::start().await;
    let old = app.account("ada", Tier::Free, 0).await;
    let both = (0..2).map(|_| app.post("/user/regenerate-api-key", Some(&old), ""));

    let answers = account_core::testing::all(both).await;

    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401]);
}

#[tokio::test]
async fn a_suspended_key_is_refused_until_it_is_activated() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.get("/auth/validate", Some(&key)).await.expect(200);

    app.accounts().suspend(&email("ada")).await.expect("an account");
    app.forget_callers();
    app.get("/auth/validate", Some(&key)).await.expect(401);

    app.accounts().activate(&email("ada")).await.expect("an account");
    app.forget_callers();
    app.get("/auth/validate", Some(&key)).await.expect(200);
}

#[tokio::test]
async fn a_guest_is_refused_where_an_account_is_required() {
    let app = App::start().await;
    let key = app.guest().await;
    app.get("/user/profile", Some(&key)).await.expect(403);
    app.post("/user/regenerate-api-key", Some(&key), "").await.expect(403);
    let validated = app.get("/auth/validate", Some(&key)).await;
    let data = &validated.expect(200)["data"];
    assert_eq!(data["user_type"], "guest");
    assert_eq!(data["guest"]["device_id"], "test");
    assert_eq!(data["guest"]["requests_today"], 3);
    assert_eq!(data["guest"]["daily_limit"], 50);
}

#[tokio::test]
async fn a_session_token_is_checked_wherever_it_is_sent() {
    let app = App::start().await;
    let code = registered(&app, "ada").await;
    let verified = verify(&app, "ada", &code).await;
    let (key, token) = (verified.text("/data/api_key"), verified.text("/data/session_token"));
    let with_token = |token: &str| {
        Request::builder()
            .uri_str("/auth/validate")
            .header("X-API-Key", &key)
            .header("X-Session-Token", token)
            .finish()
    };

    app.send(with_token(&token)).await.expect(200);
    let wrong = app.send(with_token(&"A".repeat(43))).await;
    assert_eq!(wrong.expect(401)["message"], "Session expired");
    app.clock.advance(TimeDelta::hours(25));
    app.send(with_token(&token)).await.expect(401);
}

#[tokio::test]
async fn every_invalid_field_of_a_form_is_reported_at_once() {
    let app = App::start().await;
    let form = r#"{"username": "a b\n", "email": "nobody", "password": "password", "phone": 7}"#;
    let answer = app.post("/user/register", None, form).await;
    let places: Vec<&Value> = faults(&answer).iter().map(|fault| &fault["loc"][1]).collect();
    assert_eq!(places, ["username", "email", "password", "phone"]);
    assert_eq!(faults(&answer)[1]["msg"], "value is not a valid email address");
}

fn faults(answer: &Answer) -> &Vec<Value> {
    answer.expect(422)["detail"].as_array().expect("a list of faults")
}

#[tokio::test]
async fn unauthenticated_calls_are_limited_by_address() {
    let app =
        App::start_with(|config| config.address_limit = 3.try_into().expect("not zero")).await;
    let mut refused = None;
    for _ in 0..4 {
        let answer = app.post("/guest/create", None, r#"{"device_id": "x"}"#).await;
        refused = Some(answer);
    }
    let refused = refused.expect("an answer");
    assert_eq!(refused.expect(429)["message"], "Rate limit exceeded");
    assert!(refused.header("retry-after").is_some());
    let forgot = r#"{"email": "ada@example.com"}"#;
    app.post("/user/forgot-password", None, forgot).await.expect(200);
}

#[tokio::test]
async fn an_empty_object_and_unknown_fields_are_accepted() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let key = app.post("/user/regenerate-api-key", Some(&key), "{}").await.text("/data/api_key");
    let unknown = r#"{"start_date": "2024-01-31", "tenor": "1m", "surprise": [1, {"x": null}]}"#;
    let answer = app.post("/quantlib/core/types/tenor/add-to-date", Some(&key), unknown).await;
    assert_eq!(answer.expect(200)["data"]["tenor"], "1M");
}
