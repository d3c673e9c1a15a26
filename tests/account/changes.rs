//! Changes of the password and the e-mail address, and the list of sessions, over HTTP.

use account_core::{Tier, outbox::Content};
use chrono::TimeDelta;
use poem::{Request, http::Method};
use quant_tests::{Answer, App, email, requests::PASSWORD};
use serde_json::{Value, json};

const OTHER: &str = "another long and private sentence";
const NEW: &str = "ada@example.org";

async fn call(app: &App, method: Method, path: &str, key: &str, token: Option<&str>) -> Answer {
    let mut request = Request::builder().method(method).uri_str(path).header("X-API-Key", key);
    if let Some(token) = token {
        request = request.header("X-Session-Token", token);
    }
    app.send(request.finish()).await
}

async fn post(app: &App, path: &str, key: &str, body: Value) -> Answer {
    app.post(path, Some(key), &body.to_string()).await
}

async fn ask_for(app: &App, key: &str, to: &str) -> Answer {
    post(app, "/user/change-email", key, json!({ "password": PASSWORD, "new_email": to })).await
}

async fn address(app: &App, key: &str) -> String {
    app.get("/user/profile", Some(key)).await.text("/data/email")
}

/// The codes of a change of address in all e-mails that wait: those of the new and the present one.
async fn codes(app: &App) -> (Option<String>, Option<String>) {
    let mut found = (None, None);
    for message in app.emails().await {
        match message.content {
            Content::EmailChange { code } => found.0 = Some(code.expose().to_owned()),
            Content::EmailChangeRequested { code, .. } => {
                found.1 = code.map(|code| code.expose().to_owned());
            }
            _ => {}
        }
    }
    found
}

/// Moves an account to [`NEW`] and returns the token that its former address got.
async fn moved(app: &App, key: &str) -> String {
    ask_for(app, key, NEW).await.expect(200);
    let (code, _) = codes(app).await;
    let body = json!({ "new_email": NEW, "otp": code.expect("a code to the new address") });
    post(app, "/user/confirm-email", key, body).await.expect(200);
    let undo = app.emails().await.into_iter().find_map(|message| match message.content {
        Content::EmailChanged { undo, .. } => Some(undo.expose().to_owned()),
        _ => None,
    });
    undo.expect("an e-mail to the former address")
}

#[tokio::test]
async fn a_password_changes_with_the_present_one_and_all_sessions_end() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let token = app.log_in("ada", PASSWORD).await.text("/data/session_token");
    let change = |password: &str, new: &str| json!({ "password": password, "new_password": new });
    let path = "/user/change-password";
    post(&app, path, &key, change("wrong wrong wrong", OTHER)).await.expect(403);
    post(&app, path, &key, change(PASSWORD, "password")).await.expect(422);
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&token)).await.expect(200);

    let answer = post(&app, path, &key, change(PASSWORD, OTHER)).await;

    assert_eq!(
        answer.expect(200)["data"].get("api_key"),
        None,
        "no answer but a sign-in has a key"
    );
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&token)).await.expect(401);
    app.get("/auth/validate", Some(&key)).await.expect(200);
    app.log_in("ada", PASSWORD).await.expect(401);
    app.log_in("ada", OTHER).await.expect(200);
    let told = app.emails().await;
    assert!(told.iter().any(|message| matches!(message.content, Content::PasswordChanged)));
}

#[tokio::test]
async fn five_wrong_confirmations_lock_every_call_that_takes_the_password_and_no_sign_in() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let wrong = json!({ "password": "wrong wrong", "new_password": OTHER, "new_email": NEW });
    let right = json!({ "password": PASSWORD, "new_password": OTHER, "new_email": NEW });
    let paths = ["/user/change-password", "/user/change-email"];
    for attempt in 0..5 {
        post(&app, paths[attempt % 2], &key, wrong.clone()).await.expect(403);
    }
    for path in paths {
        post(&app, path, &key, right.clone()).await.expect(423);
    }
    app.log_in("ada", PASSWORD).await.expect(200);
    app.clock.advance(TimeDelta::minutes(30));
    post(&app, paths[0], &key, right).await.expect(200);
}

#[tokio::test]
async fn an_address_changes_with_the_code_of_its_mailbox_and_not_before() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 7).await;
    let [token, other] = [app.log_in("ada", PASSWORD).await, app.log_in("ada", PASSWORD).await]
        .map(|login| login.text("/data/session_token"));
    let own = ask_for(&app, &key, "Ada@example.com").await;
    assert_eq!(own.expect(422)["detail"][0]["loc"], json!(["body", "new_email"]));
    ask_for(&app, &key, NEW).await.expect(200);
    let (code, present) = codes(&app).await;
    assert!(present.is_none(), "no second factor is on");
    assert_eq!(address(&app, &key).await, "ada@example.com");

    let code = code.expect("a code to the new address");
    let confirm = json!({ "new_email": NEW, "otp": code });
    let elsewhere = json!({ "new_email": "eve@example.org", "otp": code });
    post(&app, "/user/confirm-email", &key, elsewhere).await.expect(400);
    let request = Request::builder().method(Method::POST).uri_str("/user/confirm-email");
    let request = request.header("X-API-Key", &key).header("X-Session-Token", &token);
    app.send(request.content_type("application/json").body(confirm.to_string())).await.expect(200);

    assert_eq!(address(&app, &key).await, NEW);
    post(&app, "/user/confirm-email", &key, confirm).await.expect(400);
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&token)).await.expect(200);
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&other)).await.expect(401);
    app.log_in("ada", PASSWORD).await.expect(401);
    let body = json!({ "email": NEW, "password": PASSWORD }).to_string();
    assert_eq!(app.post("/user/login", None, &body).await.text("/data/api_key"), key);
}

#[tokio::test]
async fn a_request_for_an_address_does_not_reveal_whether_it_has_an_account() {
    let app = App::start().await;
    let [ada, eve] =
        [app.account("ada", Tier::Free, 0).await, app.account("eve", Tier::Free, 0).await];
    app.account("bob", Tier::Free, 0).await;
    let free = ask_for(&app, &ada, NEW).await;
    let taken = ask_for(&app, &eve, "bob@example.com").await;
    assert_eq!(free.expect(200), taken.expect(200));
    let told = app.emails().await;
    assert!(told.iter().all(|message| message.to != email("bob")), "bob hears nothing");
    let guess = |to: &str| json!({ "new_email": to, "otp": "000000" });
    // A wrong code is the same as a code for a taken address.
    let wrong = post(&app, "/user/confirm-email", &ada, guess("ada@example.net")).await;
    let none = post(&app, "/user/confirm-email", &eve, guess("bob@example.com")).await;
    assert_eq!(wrong.expect(400), none.expect(400));
}

#[tokio::test]
async fn with_a_second_factor_an_address_needs_the_codes_of_both_mailboxes() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.post("/user/mfa/enable", Some(&key), "").await.expect(200);
    ask_for(&app, &key, NEW).await.expect(200);
    let (new, present) = codes(&app).await;
    let (new, present) = (new.expect("a code"), present.expect("a code to the present address"));
    let one = json!({ "new_email": NEW, "otp": new });
    let both = json!({ "new_email": NEW, "otp": new, "current_otp": present });
    post(&app, "/user/confirm-email", &key, one).await.expect(400);
    post(&app, "/user/confirm-email", &key, both).await.expect(200);
    assert_eq!(address(&app, &key).await, NEW);
}

#[tokio::test]
async fn a_stolen_account_comes_back_by_the_token_that_its_former_address_got() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 7).await;
    let undo = json!({ "token": moved(&app, &key).await }).to_string();
    let body = json!({ "email": NEW, "password": PASSWORD }).to_string();
    let thief = app.post("/user/login", None, &body).await.text("/data/session_token");
    let path = "/user/undo-email-change";
    app.post(path, None, r#"{"token": "short"}"#).await.expect(422);
    let unknown = json!({ "token": "A".repeat(43) }).to_string();
    app.post(path, None, &unknown).await.expect(400);

    app.post(path, None, &undo).await.expect(200);

    app.get("/auth/validate", Some(&key)).await.expect(401);
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&thief)).await.expect(401);
    app.post("/user/login", None, &body).await.expect(401);
    app.log_in("ada", PASSWORD).await.expect(401);
    app.post(path, None, &undo).await.expect(400);
    app.post("/user/forgot-password", None, r#"{"email": "ada@example.com"}"#).await.expect(200);
    let otp = app.emailed_code("ada").await;
    let reset = json!({ "email": "ada@example.com", "otp": otp, "new_password": OTHER });
    app.post("/user/reset-password", None, &reset.to_string()).await.expect(200);
    let new = app.log_in("ada", OTHER).await.text("/data/api_key");
    assert_ne!(new, key);
    let profile = app.get("/user/profile", Some(&new)).await;
    let data = &profile.expect(200)["data"];
    assert_eq!((&data["email"], &data["credit_balance"]), (&json!("ada@example.com"), &json!(7)));
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one_or_all_at_once() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(app.log_in("ada", PASSWORD).await.text("/data/session_token"));
        app.clock.advance(TimeDelta::minutes(1));
    }
    let list = call(&app, Method::GET, "/user/sessions", &key, Some(&tokens[1])).await;
    let data = &list.expect(200)["data"];
    let sessions = data["sessions"].as_array().expect("a list");
    let current: Vec<_> = sessions.iter().map(|session| session["is_current"].clone()).collect();
    assert_eq!(
        (&data["total"], current),
        (&json!(3), vec![json!(false), json!(true), json!(false)])
    );
    assert_eq!(sessions[2]["created_at"], "2026-01-31T12:00:00.000000Z");
    assert_eq!(sessions[2]["expires_at"], "2026-02-01T12:00:00.000000Z");
    assert!(!list.body_text.contains(&tokens[0]), "no token is told");
    let page = app.get("/user/sessions?limit=1&offset=2", Some(&key)).await;
    assert_eq!(page.expect(200)["data"]["sessions"][0]["id"], sessions[2]["id"]);

    let first = format!("/user/sessions/{}", sessions[2]["id"]);
    let eve = app.account("eve", Tier::Free, 0).await;
    let foreign = call(&app, Method::DELETE, &first, &eve, None).await;
    assert_eq!(foreign.expect(404)["message"], "No such session");
    call(&app, Method::DELETE, &first, &key, None).await.expect(200);
    call(&app, Method::DELETE, &first, &key, None).await.expect(404);
    call(&app, Method::DELETE, "/user/sessions/first", &key, None).await.expect(422);
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&tokens[0])).await.expect(401);

    let others = "/user/sessions?keep_current=true";
    let ended = call(&app, Method::DELETE, others, &key, Some(&tokens[1])).await;
    assert_eq!(ended.expect(200)["data"]["ended"], 1);
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&tokens[1])).await.expect(200);
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&tokens[2])).await.expect(401);

    let ended = call(&app, Method::DELETE, "/user/sessions", &key, Some(&tokens[1])).await;
    assert_eq!(ended.expect(200)["data"]["ended"], 1);
    call(&app, Method::GET, "/user/session-pulse", &key, Some(&tokens[1])).await.expect(401);
    assert_eq!(app.get("/user/sessions", Some(&key)).await.expect(200)["data"]["total"], 0);
}
