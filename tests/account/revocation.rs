//! The end of credentials over HTTP: what an instance remembers of a caller ends with the key or the
//! grant, at once where the change is made and within a second on the other instances.

use std::time::Duration;

use account_core::revocation::Credential;
use account_core::{SecurityEvent, Tier};
use poem::Request;
use quant_tests::{App, email, oauth::is_valid_token, requests::PASSWORD};
use serde_json::json;

const A_SECOND: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);

async fn happen(app: &App, event: SecurityEvent, name: &str, key: &str) {
    let address = email(name);
    match event {
        SecurityEvent::KeyRegenerated => {
            app.post("/user/regenerate-api-key", Some(key), "").await.expect(200);
        }
        SecurityEvent::PasswordReset => {
            let form = json!({ "email": address.as_str() });
            app.post("/user/forgot-password", None, &form.to_string()).await.expect(200);
            let otp = app.emailed_code(name).await;
            let password = "another long and private sentence";
            let form = json!({ "email": address.as_str(), "otp": otp, "new_password": password });
            app.post("/user/reset-password", None, &form.to_string()).await.expect(200);
        }
        SecurityEvent::MfaChanged => {
            app.post("/user/mfa/enable", Some(key), "").await.expect(200);
        }
        SecurityEvent::Suspended => {
            app.accounts().suspend(&address).await.expect("the account is there");
        }
        SecurityEvent::Deleted => {
            let request = Request::builder().method(poem::http::Method::DELETE);
            let request = request.uri_str("/user/account").header("X-API-Key", key);
            let body = json!({ "password": PASSWORD }).to_string();
            app.send(request.content_type("application/json").body(body)).await.expect(200);
        }
        SecurityEvent::PasswordChanged => {
            let form = json!({ "password": PASSWORD, "new_password": "another private sentence" });
            app.post("/user/change-password", Some(key), &form.to_string()).await.expect(200);
        }
        SecurityEvent::SignedOutEverywhere => {
            let request = Request::builder().method(poem::http::Method::DELETE);
            let request = request.uri_str("/user/sessions").header("X-API-Key", key).finish();
            app.send(request).await.expect(200);
        }
        SecurityEvent::EmailChanged | SecurityEvent::EmailRestored => {
            panic!("the contract of the stores tests {event:?}")
        }
    }
}

async fn wait_until_ended(app: &App, key: Option<&str>, token: Option<&str>) {
    let ended = async {
        loop {
            let key_lives = match key {
                Some(key) => app.get("/auth/validate", Some(key)).await.status == 200,
                None => false,
            };
            let token_lives = match token {
                Some(token) => is_valid_token(app, token).await,
                None => false,
            };
            if !key_lives && !token_lives {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(A_SECOND, ended).await.expect("within a second");
}

#[tokio::test]
async fn remembered_callers_end_with_their_key_or_grant_on_each_instance() {
    let here = App::start().await;
    let elsewhere = here.beside().await;
    let by_email = [SecurityEvent::EmailChanged, SecurityEvent::EmailRestored];
    let events = SecurityEvent::ALL.into_iter().filter(|event| !by_email.contains(event));
    for (number, event) in events.enumerate() {
        let name = format!("ada{number}");
        let key = here.account(&name, Tier::Pro, 10).await;
        let token = here.access_token(&name).await;
        for app in [&here, &elsewhere] {
            app.get("/auth/validate", Some(&key)).await.expect(200);
            assert!(is_valid_token(app, &token).await);
        }

        happen(&here, event, &name, &key).await;

        let key_ends = event.ends(Credential::ApiKey);
        let token_ends = event.ends(Credential::Grant);
        let status = here.get("/auth/validate", Some(&key)).await.status;
        assert_eq!(status == 401, key_ends, "{event:?}");
        assert_eq!(is_valid_token(&here, &token).await, !token_ends, "{event:?}");
        let (ended_key, ended_token) =
            (key_ends.then_some(&key[..]), token_ends.then_some(&token[..]));
        wait_until_ended(&elsewhere, ended_key, ended_token).await;
        if !key_ends {
            elsewhere.get("/auth/validate", Some(&key)).await.expect(200);
        }
        if !token_ends {
            assert!(is_valid_token(&elsewhere, &token).await, "{event:?}");
        }
    }
}

#[tokio::test]
async fn a_stolen_key_leads_to_no_session_and_no_new_key_after_its_replacement() {
    let app = App::start().await;
    let stolen = app.account("ada", Tier::Pro, 10).await;
    let redeem = |code: String| {
        let body = json!({ "token": code }).to_string();
        let app = &app;
        async move { app.post("/user/auth/desktop-handoff/redeem", None, &body).await }
    };
    let mint = || async { app.post("/user/auth/desktop-handoff", Some(&stolen), "").await };
    let redeemed = redeem(mint().await.text("/data/code")).await;
    let session = redeemed.text("/data/session_token");
    let waiting = mint().await.text("/data/code");

    let new = app.post("/user/regenerate-api-key", Some(&stolen), "").await.text("/data/api_key");

    redeem(waiting).await.expect(400);
    mint().await.expect(401);
    let pulse = Request::builder().uri_str("/user/session-pulse").header("X-API-Key", &new);
    app.send(pulse.header("X-Session-Token", &session).finish()).await.expect(401);
}
