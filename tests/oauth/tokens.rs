//! The token endpoint: codes and refresh tokens exchanged, rotated, replayed and revoked.

use std::time::Duration;

use account_core::{Confirmation, Password, Tier, testing::all};
use chrono::TimeDelta;
use poem::{Request, http::Method};
use quant_tests::{
    Answer, App,
    browser::{Browser, FORM, encode},
    email,
    mcp::{Era, Host},
    oauth::{
        self, REDIRECT, app_with_ada, bearer, client, connected, exchange, form, is_valid_token,
        refresh, verifier,
    },
    requests::PASSWORD,
};
use serde_json::json;

/// The time within which other instances refuse access that has ended.
const A_SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn an_invalid_exchange_is_refused_with_its_error_code() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let code = Browser::new(&app).code("ada", &client).await;
    let verifier = verifier();
    let right = [
        ("grant_type", "authorization_code"),
        ("client_id", &client[..]),
        ("code", &code[..]),
        ("redirect_uri", REDIRECT),
        ("code_verifier", &verifier[..]),
        ("resource", "https://mcp.example.com/mcp/"),
    ];
    let wrong_verifier = "w".repeat(43);
    for (name, text, status, code) in [
        ("grant_type", "", 400, "invalid_request"),
        ("grant_type", "password", 400, "unsupported_grant_type"),
        ("client_id", "", 400, "invalid_request"),
        ("client_id", "unknown", 401, "invalid_client"),
        ("code", "", 400, "invalid_request"),
        ("code", "nonsense", 400, "invalid_grant"),
        ("redirect_uri", "http://127.0.0.1:4712/callback", 400, "invalid_grant"),
        ("code_verifier", "", 400, "invalid_request"),
        ("code_verifier", &wrong_verifier, 400, "invalid_grant"),
        ("resource", "https://other.example.com/mcp", 400, "invalid_target"),
        ("client_secret", "a secret", 401, "invalid_client"),
    ] {
        let mut pairs = right.to_vec();
        pairs.retain(|(found, _)| *found != name);
        pairs.push((name, text));
        let answer = form(&app, "/oauth/token", &pairs).await;
        assert_eq!(answer.expect(status)["error"], code, "{name} {text:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    let mut twice = right.to_vec();
    twice.push(("code", "x"));
    let answer = form(&app, "/oauth/token", &twice).await;
    assert_eq!(answer.expect(400)["error"], "invalid_request");
    let as_json = app.post("/oauth/token", None, "{}").await;
    assert_eq!(as_json.expect(400)["error"], "invalid_request");
    let basic = Request::builder().method(Method::POST).uri_str("/oauth/token").content_type(FORM);
    let basic = app.send(basic.header("Authorization", "Basic eDp5").body(encode(&right))).await;
    assert_eq!(basic.expect(401)["error"], "invalid_client");
    assert!(basic.header("www-authenticate").is_some_and(|scheme| scheme.starts_with("Basic")));
    form(&app, "/oauth/token", &right).await.expect(200);
}

#[tokio::test]
async fn a_code_ends_after_a_minute_and_its_replay_ends_the_grant() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let late = browser.code("ada", &client).await;
    app.clock.advance(TimeDelta::seconds(60));
    assert_eq!(exchange(&app, &client, &late).await.expect(400)["error"], "invalid_grant");
    let code = browser.code("ada", &client).await;
    let tokens = exchange(&app, &client, &code).await;
    assert!(is_valid_token(&app, &tokens.text("/access_token")).await);
    exchange(&app, &client, &code).await.expect(400);
    assert!(!is_valid_token(&app, &tokens.text("/access_token")).await);
}

#[tokio::test]
async fn of_sixty_four_exchanges_of_one_code_one_wins() {
    let app = App::start_with(|config| config.address_limit = 1_000.try_into().unwrap()).await;
    app.account("ada", Tier::Pro, 100).await;
    let client = client(&app).await;
    let code = Browser::new(&app).code("ada", &client).await;
    let answers = all((0..64).map(|_| exchange(&app, &client, &code))).await;
    let won: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(won.len(), 1);
    assert!(!is_valid_token(&app, &won[0].text("/access_token")).await, "the others were replays");
}

#[tokio::test]
async fn a_refresh_token_rotates_and_its_second_use_ends_the_grant() {
    let app = app_with_ada().await;
    let (client, first) = connected(&app).await;
    let old = first.text("/refresh_token");
    let second = refresh(&app, &client, &old).await;
    second.expect(200);
    assert_ne!(second.text("/refresh_token"), old);
    assert_eq!(refresh(&app, &client, &old).await.expect(400)["error"], "invalid_grant");
    refresh(&app, &client, &second.text("/refresh_token")).await.expect(400);
    assert!(!is_valid_token(&app, &second.text("/access_token")).await);
}

#[tokio::test]
async fn of_sixty_four_refreshes_of_one_token_one_wins() {
    let app = App::start_with(|config| config.address_limit = 1_000.try_into().unwrap()).await;
    app.account("ada", Tier::Pro, 100).await;
    let (client, first) = connected(&app).await;
    let old = first.text("/refresh_token");
    let answers = all((0..64).map(|_| refresh(&app, &client, &old))).await;
    let won: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(won.len(), 1);
    for token in [&first, won[0]] {
        assert!(
            !is_valid_token(&app, &token.text("/access_token")).await,
            "the others were a second use"
        );
    }
    refresh(&app, &client, &won[0].text("/refresh_token")).await.expect(400);
}

#[tokio::test]
async fn within_the_leeway_the_same_successor_is_answered() {
    let app =
        App::start_with(|config| config.service.refresh_leeway = TimeDelta::seconds(10)).await;
    app.account("ada", Tier::Pro, 100).await;
    let (client, first) = connected(&app).await;
    let old = first.text("/refresh_token");
    let answers = all((0..64).map(|_| refresh(&app, &client, &old))).await;
    for answer in &answers {
        assert_eq!(answer.expect(200)["refresh_token"], answers[0].body["refresh_token"]);
    }
    app.clock.advance(TimeDelta::seconds(10));
    refresh(&app, &client, &old).await.expect(400);
    assert!(!is_valid_token(&app, &answers[0].text("/access_token")).await);
}

#[tokio::test]
async fn a_refused_refresh_consumes_no_token() {
    let app = app_with_ada().await;
    let (client, tokens) = connected(&app).await;
    let token = tokens.text("/refresh_token");
    let other = oauth::client(&app).await;
    assert_eq!(refresh(&app, &other, &token).await.expect(400)["error"], "invalid_grant");
    for (name, text, code) in [
        ("resource", "https://other.example.com/mcp", "invalid_target"),
        ("scope", "openid", "invalid_scope"),
    ] {
        let pairs = [
            ("grant_type", "refresh_token"),
            ("client_id", &client[..]),
            ("refresh_token", &token[..]),
            (name, text),
        ];
        let answer = form(&app, "/oauth/token", &pairs).await;
        assert_eq!(answer.expect(400)["error"], code);
    }
    refresh(&app, &client, &token).await.expect(200);
}

#[tokio::test]
async fn revocation_answers_200_for_unknown_tokens_and_ends_known_grants() {
    let app = app_with_ada().await;
    let (client, tokens) = connected(&app).await;
    let (access, token) = (tokens.text("/access_token"), tokens.text("/refresh_token"));
    for (pairs, status) in [
        (vec![("token", "nonsense"), ("client_id", &client[..])], 200),
        (vec![("token", &"A".repeat(43)[..])], 200),
        (vec![("client_id", &client[..])], 400),
        (vec![("token", &access[..]), ("client_id", "unknown")], 401),
    ] {
        form(&app, "/oauth/revoke", &pairs).await.expect(status);
    }
    assert!(is_valid_token(&app, &access).await);
    let hinted = [("token", &access[..]), ("token_type_hint", "refresh_token")];
    form(&app, "/oauth/revoke", &hinted).await.expect(200);
    assert!(!is_valid_token(&app, &access).await);
    let next = refresh(&app, &client, &token).await;
    let next_token = next.text("/refresh_token");
    let pairs = [("token", &next_token[..]), ("client_id", &client[..])];
    form(&app, "/oauth/revoke", &pairs).await.expect(200);
    assert!(!is_valid_token(&app, &next.text("/access_token")).await);
    refresh(&app, &client, &next_token).await.expect(400);
}

/// An event that ends the access of a client.
#[derive(Clone, Copy, Debug)]
enum End {
    AccessTokenRevoked,
    RefreshTokenRevoked,
    RefreshTokenUsedTwice,
    CodeUsedTwice,
    Disconnected,
    PasswordReset,
    Suspended,
    Deleted,
}

impl End {
    const ALL: [Self; 8] = [
        Self::AccessTokenRevoked,
        Self::RefreshTokenRevoked,
        Self::RefreshTokenUsedTwice,
        Self::CodeUsedTwice,
        Self::Disconnected,
        Self::PasswordReset,
        Self::Suspended,
        Self::Deleted,
    ];

    /// Ends the access of the client to the account "ada".
    async fn come(self, app: &App, client: &str, code: &str, tokens: &Answer) {
        let (accounts, now) = (app.accounts(), app.clock.now());
        let (access, used) = (tokens.text("/access_token"), tokens.text("/refresh_token"));
        let ada = bearer(app, &access).await.expect("a live token");
        match self {
            Self::AccessTokenRevoked => {
                revoke(app, &access).await.expect(200);
            }
            Self::RefreshTokenRevoked => {
                revoke(app, &used).await.expect(200);
            }
            Self::RefreshTokenUsedTwice => {
                refresh(app, client, &used).await.expect(200);
                refresh(app, client, &used).await.expect(400);
            }
            Self::CodeUsedTwice => {
                exchange(app, client, code).await.expect(400);
            }
            Self::Disconnected => {
                let grants = accounts.grants(ada, now).await.expect("the store answers");
                let ended = accounts.end_grant(ada, grants[0].id).await;
                assert!(ended.expect("the store answers"));
            }
            Self::PasswordReset => {
                let asked = json!({ "email": "ada@example.com" }).to_string();
                app.post("/user/forgot-password", None, &asked).await.expect(200);
                let otp = app.emailed_code("ada").await;
                let reset = json!({
                    "email": "ada@example.com", "otp": otp, "new_password": "a new sentence of hers",
                });
                app.post("/user/reset-password", None, &reset.to_string()).await.expect(200);
            }
            Self::Suspended => accounts.suspend(&email("ada")).await.expect("ada is there"),
            Self::Deleted => {
                let password = Confirmation::Password(Password::attempt(PASSWORD));
                accounts.delete_account(ada, &password, now).await.expect("ada is there");
            }
        }
    }
}

async fn revoke(app: &App, token: &str) -> Answer {
    form(app, "/oauth/revoke", &[("token", token)]).await
}

#[tokio::test]
async fn ended_access_is_refused_at_once_and_within_a_second_on_other_instances() {
    for end in End::ALL {
        let app = app_with_ada().await;
        let elsewhere = app.beside().await;
        let client = client(&app).await;
        let code = Browser::new(&app).code("ada", &client).await;
        let tokens = exchange(&app, &client, &code).await;
        let token = tokens.text("/access_token");
        let (here, there) =
            (Host::new(&app, &token, Era::Legacy), Host::new(&elsewhere, &token, Era::Legacy));
        for host in [&here, &there] {
            host.ask("ping", json!({})).await.expect(200);
        }

        end.come(&app, &client, &code, &tokens).await;

        assert_eq!(here.ask("ping", json!({})).await.status, 401, "{end:?}");
        let ask = async {
            while there.ask("ping", json!({})).await.status != 401 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(A_SECOND, ask).await.unwrap_or_else(|_| panic!("{end:?}"));
    }
}

#[tokio::test]
async fn suspension_and_deletion_end_every_grant() {
    let app = app_with_ada().await;
    let bobs = app.account("bob", Tier::Pro, 100).await;
    let (client, of_ada) = connected(&app).await;
    let code = Browser::new(&app).code("bob", &client).await;
    let of_bob = exchange(&app, &client, &code).await;
    app.accounts().suspend(&email("ada")).await.expect("the account is there");
    let request = Request::builder().method(Method::DELETE).uri_str("/user/account");
    let request = request.header("X-API-Key", bobs).content_type("application/json");
    let body = json!({ "password": PASSWORD }).to_string();
    app.send(request.body(body)).await.expect(200);
    for tokens in [of_ada, of_bob] {
        assert!(!is_valid_token(&app, &tokens.text("/access_token")).await);
        refresh(&app, &client, &tokens.text("/refresh_token")).await.expect(400);
    }
}
