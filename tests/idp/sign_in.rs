//! Sign-in by an identity provider over HTTP, against a provider that the test runs: the accepted
//! tokens, the redirects of browsers, and the pages.

use std::sync::{Arc, Mutex};

use account_core::Tier;
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use chrono::TimeDelta;
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKeyId, PrivateSigningKey};
use poem::{
    EndpointExt, IntoResponse, Request, Response, Route, Server,
    endpoint::make_sync,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
};
use quant_server::config::IdpRoute;
use quant_tests::browser::{Browser, encode, sealed};
use quant_tests::{Answer, App, MCP_URL, START};
use serde_json::{Value, json};

const WEBSITE: &str = "https://www.example.com";
const PUBLIC_URL: &str = "https://api.example.com";
const CLIENT: &str = "quant";
const SECRET: &str = "a secret of the client";

/// An OpenID Connect provider on the loopback.
struct Provider {
    issuer: String,
    state: Arc<Mutex<State>>,
}

struct State {
    /// The seed of the signing key.
    seed: u8,
    /// The ID token that the exchange of a code returns.
    id_token: String,
    is_down: bool,
    descriptions: u32,
}

/// The signing key of a seed.
fn key(seed: u8) -> CoreEdDsaPrivateSigningKey {
    // An Ed25519 key in PKCS #8 is a fixed prefix and 32 bytes (RFC 8410, section 7).
    let head = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];
    let der = [&head[..], &[seed; 32]].concat();
    let label = "PRIVATE KEY";
    let pem = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der));
    let kid = Some(JsonWebKeyId::new(format!("key-{seed}")));
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, kid).expect("a key")
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// A token with this header, signed with EdDSA by the key of `seed`, also where the header names
/// another algorithm.
fn token_with(header: &Value, claims: &Value, seed: u8) -> String {
    let message = format!("{}.{}", part(header), part(claims));
    let signature = key(seed).sign(&CoreJwsSigningAlgorithm::EdDsa, message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.expect("signed")))
}

fn token(claims: &Value, seed: u8) -> String {
    token_with(&json!({ "alg": "EdDSA", "kid": format!("key-{seed}") }), claims, seed)
}

impl Provider {
    async fn start() -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port");
        let address = acceptor.local_addr().remove(0);
        let address = *address.as_socket_addr().expect("a socket");
        let issuer = format!("http://{address}");
        let state = State { seed: 1, id_token: String::new(), is_down: false, descriptions: 0 };
        let state = Arc::new(Mutex::new(state));
        let answer = |answer: fn(&mut State, &str) -> Value| {
            let (state, issuer) = (state.clone(), issuer.clone());
            make_sync(move |_| {
                let mut state = state.lock().expect("no panic");
                if state.is_down {
                    return StatusCode::BAD_GATEWAY.into_response();
                }
                let body = answer(&mut state, &issuer).to_string();
                Response::builder().content_type("application/json").body(body)
            })
            .boxed()
        };
        let route = Route::new()
            .at("/.well-known/openid-configuration", answer(|state, issuer| {
                state.descriptions += 1;
                json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("{issuer}/token"),
                    "jwks_uri": format!("{issuer}/jwks"),
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["EdDSA"],
                })
            }))
            .at("/jwks", answer(|state, _| {
                let key = key(state.seed).as_verification_key();
                json!({ "keys": [serde_json::to_value(key).expect("JSON")] })
            }))
            .at("/token", answer(|state, _| {
                json!({ "access_token": "x", "token_type": "Bearer", "id_token": state.id_token })
            }));
        tokio::spawn(Server::new_with_acceptor(acceptor).run(route));
        Self { issuer, state }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    fn route(&self) -> IdpRoute {
        IdpRoute {
            issuer: self.issuer.clone(),
            client_id: CLIENT.to_owned(),
            client_secret: Some(SECRET.to_owned()),
            public_url: PUBLIC_URL.to_owned(),
        }
    }

    /// The claims of a valid token for "ada".
    fn claims(&self, nonce: Option<&str>) -> Value {
        json!({
            "iss": self.issuer, "aud": CLIENT, "sub": "1", "iat": START, "exp": START + 300,
            "nonce": nonce, "email": "ada@example.com", "email_verified": true,
        })
    }

    fn changed(&self, field: &str, value: Value) -> Value {
        let mut claims = self.claims(None);
        claims[field] = value;
        claims
    }
}

/// A service with a website and the provider.
async fn app(provider: &Provider) -> App {
    let route = provider.route();
    App::start_with(|config| {
        config.idp = Some(route);
        config.address_limit = 10_000.try_into().expect("not zero");
        config.service.website_url = Some(WEBSITE.to_owned());
    })
    .await
}

/// A redirect to the provider: its address, and the cookie of the browser.
struct ProviderRedirect {
    location: String,
    cookie: String,
}

impl ProviderRedirect {
    fn parameter(&self, name: &str) -> String {
        let url = openidconnect::url::Url::parse(&self.location).expect("an address");
        let found = url.query_pairs().find(|(found, _)| found == name);
        found.unwrap_or_else(|| panic!("no {name} in {url}")).1.into_owned()
    }
}

fn location(answer: &Answer) -> String {
    answer.expect(302);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    answer.header("location").expect("a place to go").to_owned()
}

async fn start(app: &App, query: &str) -> ProviderRedirect {
    let answer = app.get(&format!("/user/auth/idp/start{query}"), None).await;
    let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    ProviderRedirect { location: location(&answer), cookie }
}

async fn return_from_provider(app: &App, query: &str, cookie: &str) -> String {
    let path = format!("/user/auth/idp/callback?{query}");
    let request = Request::builder().uri_str(path).header("Cookie", cookie).finish();
    location(&app.send(request).await)
}

/// Signs in through the provider with a token of these claims, and returns the last redirect.
async fn sign_in(app: &App, provider: &Provider, query: &str, claims: Option<Value>) -> String {
    let away = start(app, query).await;
    let nonce = away.parameter("nonce");
    let claims = claims.unwrap_or_else(|| provider.claims(Some(&nonce)));
    let seed = provider.state().seed;
    provider.state().id_token = token(&claims, seed);
    let query = format!("code=abc&state={}", away.parameter("state"));
    return_from_provider(app, &query, &away.cookie).await
}

fn last<'a>(location: &'a str, prefix: &str) -> &'a str {
    location.strip_prefix(prefix).unwrap_or_else(|| panic!("{location} is not {prefix}…"))
}

async fn complete(app: &App, completion_token: &str) -> Answer {
    let body = json!({
        "completion_token": completion_token, "phone": "+39 1", "country": "Italy",
        "username": "ada",
    });
    app.post("/user/auth/complete-profile", None, &body.to_string()).await
}

async fn redeem(app: &App, code: &str) -> Answer {
    let body = json!({ "token": code }).to_string();
    app.post("/user/auth/desktop-handoff/redeem", None, &body).await
}

fn error_text(location: &str) -> String {
    let query = last(location, &format!("{WEBSITE}/login?error="));
    assert!(!query.contains(['+', '<', '&', '=']), "one parameter, percent-encoded: {query}");
    let pairs = format!("e={query}");
    let mut pairs = form_urlencoded::parse(pairs.as_bytes());
    pairs.next().expect("a pair").1.into_owned()
}

#[tokio::test]
async fn a_new_identity_completes_its_profile_and_signs_in_directly_the_second_time() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let away = start(&app, "").await;
    assert!(away.location.starts_with(&format!("{}/authorize?", provider.issuer)));
    assert_eq!(away.parameter("client_id"), CLIENT);
    assert_eq!(away.parameter("code_challenge_method"), "S256");
    assert_eq!(away.parameter("redirect_uri"), format!("{PUBLIC_URL}/user/auth/idp/callback"));
    assert!(away.parameter("scope").contains("openid"));

    let place = sign_in(&app, &provider, "", None).await;
    let token = last(&place, &format!("{WEBSITE}/complete-profile?completion_token="));
    let completed = complete(&app, token).await;
    let key = completed.text("/data/api_key");
    app.get("/auth/validate", Some(&key)).await.expect(200);
    assert_eq!(completed.body["data"].get("desktop_redirect"), None);
    assert_eq!(complete(&app, token).await.expect(400)["message"], "Invalid or expired code");

    let place = sign_in(&app, &provider, "", None).await;
    let code = last(&place, &format!("{WEBSITE}/login?code="));
    let again = redeem(&app, code).await;
    assert_eq!(again.text("/data/api_key"), key);
    assert_ne!(again.text("/data/session_token"), completed.text("/data/session_token"));
    redeem(&app, code).await.expect(400);
    let history = app.get("/user/login-history", Some(&key)).await;
    let methods = history.expect(200)["data"]["login_history"].as_array().expect("tries").clone();
    assert!(methods.iter().all(|entry| entry["method"] == "idp"), "{methods:?}");
}

#[tokio::test]
async fn a_desktop_program_gets_its_code_on_the_loopback() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let query = "?desktop_cb=http%3A%2F%2F127.0.0.1%3A8123%2Fdone%3Fapp%3D1";
    let place = sign_in(&app, &provider, query, None).await;
    let token = last(&place, &format!("{WEBSITE}/complete-profile?completion_token="));
    let completed = complete(&app, token).await;
    let redirect = completed.text("/data/desktop_redirect");
    let code = last(&redirect, "http://127.0.0.1:8123/done?app=1&code=").to_owned();
    redeem(&app, &code).await.expect(200);

    let place = sign_in(&app, &provider, query, None).await;
    let code = last(&place, "http://127.0.0.1:8123/done?app=1&code=").to_owned();
    let redeemed = redeem(&app, &code).await;
    let key = redeemed.text("/data/api_key");
    let history = app.get("/user/login-history?limit=1", Some(&key)).await;
    assert_eq!(history.expect(200)["data"]["login_history"][0]["method"], "desktop");

    let minted = app.post("/user/auth/desktop-handoff", Some(&key), "{}").await;
    assert_eq!(minted.expect(200)["data"]["expires_in"], 60);
    let body = json!({ "code": minted.text("/data/code") }).to_string();
    app.post("/user/auth/desktop-handoff/redeem", None, &body).await.expect(200);
}

#[tokio::test]
async fn sixty_four_parallel_redeems_open_one_session() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let ada = app.account("ada", Tier::Free, 0).await;
    let code = app.post("/user/auth/desktop-handoff", Some(&ada), "").await.text("/data/code");
    let answers = account_core::testing::all((0..64).map(|_| redeem(&app, &code))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 400).count(), 63);
    let late = app.post("/user/auth/desktop-handoff", Some(&ada), "").await.text("/data/code");
    app.clock.advance(TimeDelta::seconds(60));
    redeem(&app, &late).await.expect(400);
    for body in ["{}", r#"{"token": 5}"#] {
        app.post("/user/auth/desktop-handoff/redeem", None, body).await.expect(422);
    }
}

#[tokio::test]
async fn an_id_token_with_a_wrong_claim_or_signature_is_refused() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let good = provider.claims(None);
    let header = json!({ "alg": "EdDSA", "kid": "key-1" });
    let hs256 = |secret: &[u8]| {
        use openidconnect::core::CoreHmacKey;
        let header = json!({ "alg": "HS256", "kid": "key-1" });
        let message = format!("{}.{}", part(&header), part(&good));
        let signed = CoreHmacKey::new(secret.to_vec())
            .sign(&CoreJwsSigningAlgorithm::HmacSha256, message.as_bytes())
            .expect("signed");
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signed))
    };
    let public = serde_json::to_vec(&key(1).as_verification_key()).expect("JSON");
    let mut flipped = token(&good, 1);
    let end = flipped.pop().expect("a signature");
    let last = flipped.pop().expect("a signature");
    flipped.push(if last == 'A' { 'B' } else { 'A' });
    flipped.push(end);
    let none = format!("{}.{}.", part(&json!({ "alg": "none" })), part(&good));
    let forged_kid = json!({ "alg": "EdDSA", "kid": "../../key-1" });
    let swapped = json!({ "alg": "RS256", "kid": "key-1" });
    let crit = json!({ "alg": "EdDSA", "kid": "key-1", "crit": ["exp"] });
    let embedded = json!({ "alg": "EdDSA", "jwk": key(2).as_verification_key() });
    for (name, token) in [
        ("another key under the same id", token_with(&header, &good, 2)),
        ("an unknown key id", token_with(&forged_kid, &good, 1)),
        ("a key that came with the token", token_with(&embedded, &good, 2)),
        ("another algorithm's name", token_with(&swapped, &good, 1)),
        ("a header that must be understood", token_with(&crit, &good, 1)),
        ("no signature", none),
        ("the client's secret as the key", hs256(SECRET.as_bytes())),
        ("the public key as a secret", hs256(&public)),
        ("a flipped signature", flipped),
        ("another audience", token(&provider.changed("aud", json!("other")), 1)),
        ("a list with others", token(&provider.changed("aud", json!([CLIENT, "other"])), 1)),
        ("no audience", token(&provider.changed("aud", json!([])), 1)),
        ("another party", token(&provider.changed("azp", json!("other")), 1)),
        ("another issuer", token(&provider.changed("iss", json!("https://evil.example")), 1)),
        ("a minute after its end", token(&provider.changed("exp", json!(START - 60)), 1)),
        ("two minutes before its beginning", token(&provider.changed("nbf", json!(START + 61)), 1)),
        ("issued tomorrow", token(&provider.changed("iat", json!(START + 86_400)), 1)),
        ("no subject", token(&provider.changed("sub", json!("")), 1)),
        ("no token", "x".to_owned()),
        ("three dots", "...".to_owned()),
        ("an end cut off", token(&good, 1)[..100].to_owned()),
    ] {
        let body = json!({ "id_token": token }).to_string();
        let refused = app.post("/user/auth/idp", None, &body).await;
        assert_eq!(refused.status, 401, "{name}: {refused:?}");
        assert_eq!(refused.body["message"], "Invalid identity token", "{name}");
    }
    for (name, claims) in [
        ("just before its end, with skew", provider.changed("exp", json!(START - 59))),
        ("its beginning, with skew", provider.changed("nbf", json!(START + 60))),
        ("the audience as a list", provider.changed("aud", json!([CLIENT]))),
        ("ours by name", provider.changed("azp", json!(CLIENT))),
    ] {
        let body = json!({ "id_token": token(&claims, 1) }).to_string();
        let answer = app.post("/user/auth/idp", None, &body).await;
        assert_eq!(answer.expect(200)["data"]["requires_completion"], true, "{name}");
    }
    let with_nonce = token(&provider.claims(Some("hers")), 1);
    for (nonce, status) in [(json!("hers"), 200), (json!("another"), 401), (Value::Null, 200)] {
        let body = json!({ "id_token": with_nonce, "nonce": nonce }).to_string();
        assert_eq!(app.post("/user/auth/idp", None, &body).await.status, status, "{nonce}");
    }
    let unconfirmed = token(&provider.changed("email_verified", json!(false)), 1);
    let body = json!({ "id_token": unconfirmed }).to_string();
    let refused = app.post("/user/auth/idp", None, &body).await;
    assert_eq!(refused.expect(403)["message"], "Email not confirmed");
}

#[tokio::test]
async fn every_error_redirects_to_the_login_page_with_a_fixed_text() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let now = |field: &str, value: Value| Some(provider.changed(field, value));
    for (name, claims, expected) in [
        ("wrong audience", now("aud", json!("other")), "could not be verified"),
        ("expired", now("exp", json!(START - 3600)), "could not be verified"),
        ("foreign nonce", now("nonce", json!("another")), "could not be verified"),
    ] {
        let text = error_text(&sign_in(&app, &provider, "", claims).await);
        assert!(text.contains(expected), "{name}: {text}");
    }
    let away = start(&app, "").await;
    let query = format!("error=access_denied%3Cscript%3E&state={}", away.parameter("state"));
    let text = error_text(&return_from_provider(&app, &query, &away.cookie).await);
    assert!(text.contains("cancelled") && !text.contains("script"), "{text}");

    provider.state().is_down = true;
    let text = error_text(&sign_in(&app, &provider, "", Some(json!({}))).await);
    assert!(text.contains("does not answer"), "the keys are known, the exchange failed: {text}");
    app.clock.advance(TimeDelta::hours(2));
    let other = self::app(&provider).await;
    let answer = other.get("/user/auth/idp/start", None).await;
    assert!(error_text(&location(&answer)).contains("does not answer"));
    let body = json!({ "id_token": token(&provider.claims(None), 1) }).to_string();
    let refused = other.post("/user/auth/idp", None, &body).await;
    assert_eq!(refused.expect(503)["message"], "Identity provider unavailable");
}

#[tokio::test]
async fn a_state_is_bound_to_one_browser_and_used_once() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let (ada, eve) = (start(&app, "").await, start(&app, "").await);
    provider.state().id_token = token(&provider.claims(Some(&ada.parameter("nonce"))), 1);
    let query = format!("code=abc&state={}", ada.parameter("state"));
    for cookie in ["", "qs_idp=", "qs_idp=x", eve.cookie.as_str()] {
        let text = error_text(&return_from_provider(&app, &query, cookie).await);
        assert!(text.contains("another browser"), "{cookie}: {text}");
    }
    let place = return_from_provider(&app, &query, &ada.cookie).await;
    assert!(place.starts_with(&format!("{WEBSITE}/complete-profile?")), "{place}");
    let text = error_text(&return_from_provider(&app, &query, &ada.cookie).await);
    assert!(text.contains("start again"), "used twice: {text}");
    app.clock.advance(TimeDelta::minutes(10));
    let query = format!("code=abc&state={}", eve.parameter("state"));
    error_text(&return_from_provider(&app, &query, &eve.cookie).await);
}

#[tokio::test]
async fn a_rotated_key_is_fetched_and_forged_tokens_cause_one_fetch_in_30_seconds() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let try_in = |seed: u8| {
        let body = json!({ "id_token": token(&provider.claims(None), seed) }).to_string();
        let app = &app;
        async move { app.post("/user/auth/idp", None, &body).await.status.as_u16() }
    };
    assert_eq!(try_in(1).await, 200);
    provider.state().seed = 2;
    app.clock.advance(TimeDelta::seconds(31));
    assert_eq!(try_in(2).await, 200, "the new key");
    assert_eq!(try_in(1).await, 401, "the old one");
    let before = provider.state().descriptions;
    for seed in 3..40 {
        assert_eq!(try_in(seed).await, 401);
    }
    assert_eq!(
        provider.state().descriptions,
        before,
        "the keys are fetched at most once in 30 seconds"
    );
    app.clock.advance(TimeDelta::seconds(31));
    for seed in 3..40 {
        assert_eq!(try_in(seed).await, 401);
    }
    assert_eq!(provider.state().descriptions, before + 1);
}

#[tokio::test]
async fn every_redirect_leads_to_the_website_the_provider_or_the_loopback() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let hostile = [
        "https://evil.example/",
        "//evil.example",
        "http://127.0.0.1:8123@evil.example/",
        "http://127.0.0.1.evil.example:8123/",
        "http://evil.example:8123/",
        "javascript:alert(1)",
        "http://127.0.0.1:80/",
        "http://127.0.0.1:8123/#x",
        "http://localhost.evil.example:8123",
        "http://127.0.0.1:8123\\@evil.example",
        "http://127.0.0.1:8123/\r\nX: y",
        "http://[::2]:8123",
        "http://127.0.0.1:8123/?code=stolen",
        "https://127.0.0.1:8123/",
        "http://0x7f.1:8123/",
        "",
    ];
    for text in hostile {
        let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let answer = app.get(&format!("/user/auth/idp/start?desktop_cb={text}"), None).await;
        let place = location(&answer);
        assert!(error_text(&place).contains("desktop program"), "{text}: {place}");
    }
    let junk =
        ["", "x", "%0d%0aLocation:%20http://evil.example", "http://evil.example", "%3Cscript%3E"];
    for state in junk {
        for code in junk {
            for error in junk {
                let query = format!("code={code}&state={state}&error={error}");
                error_text(&return_from_provider(&app, &query, "qs_idp=x").await);
            }
        }
    }
}

/// The address of the authorization request of a new client.
async fn question(app: &App) -> String {
    let redirect = "http://127.0.0.1:4711/callback";
    let metadata = json!({ "redirect_uris": [redirect] }).to_string();
    let client = app.post("/oauth/register", None, &metadata).await.text("/client_id");
    let challenge = "c".repeat(43);
    let pairs = [
        ("response_type", "code"),
        ("client_id", &client),
        ("redirect_uri", redirect),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    format!("/oauth/authorize?{}", encode(&pairs))
}

/// Goes from a sign-in page to the provider and back, and returns the last redirect.
async fn by_provider(browser: &mut Browser<'_>, provider: &Provider, page: &Answer) -> String {
    let (_, link) = page.body_text.split_once(&format!("href=\"{PUBLIC_URL}")).expect("a link");
    let away = browser.get(link.split('"').next().expect("an attribute ends")).await;
    let away = ProviderRedirect { location: location(&away), cookie: String::new() };
    provider.state().id_token = token(&provider.claims(Some(&away.parameter("nonce"))), 1);
    let query = format!("code=abc&state={}", away.parameter("state"));
    location(&browser.get(&format!("/user/auth/idp/callback?{query}")).await)
}

#[tokio::test]
async fn an_application_is_connected_by_a_sign_in_at_the_provider() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let question = question(&app).await;
    let mut ada = Browser::new(&app);
    let page = ada.get(&question).await;
    let place = by_provider(&mut ada, &provider, &page).await;
    let token = last(&place, &format!("{WEBSITE}/complete-profile?completion_token="));
    let onward = complete(&app, token).await.text("/data/desktop_redirect");
    let onward = last(&onward, MCP_URL);
    let consent = ada.get(onward).await;
    let consent = ada.follow(&consent).await;
    assert!(consent.body_text.contains("ada@example.com"), "{consent:?}");

    let mut later = Browser::new(&app);
    let page = later.get(&question).await;
    let place = by_provider(&mut later, &provider, &page).await;
    let onward = last(&place, MCP_URL);
    let stranger = Browser::new(&app).get(onward).await;
    assert!(stranger.expect(400).is_null() && stranger.body_text.contains("has expired"));
    assert_eq!(stranger.header("set-cookie"), None, "another browser is not signed in");
    let consent = later.get(onward).await;
    let consent = later.follow(&consent).await;
    let allowed = later.decide(&consent, "allow").await;
    allowed.expect(303);
    assert!(allowed.header("location").expect("the client").contains("code="));
    let twice = later.get(onward).await;
    assert!(twice.expect(400).is_null() && twice.body_text.contains("has been used"));
    let page = later.get("/account/applications").await;
    assert!(page.body_text.contains("Sign out"), "the second use has ended no session");

    app.accounts().suspend(&quant_tests::email("ada")).await.expect("there");
    let mut late = Browser::new(&app);
    let page = late.get(&question).await;
    let text = error_text(&by_provider(&mut late, &provider, &page).await);
    assert!(text.contains("suspended"), "{text}");
}

#[tokio::test]
async fn a_forged_form_completes_no_sign_in_at_the_provider() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let long = "a".repeat(16 * 1024 + 1);
    for form in ["", "/", "//evil.example", "https://evil.example", "a b", "a&code=b", &long] {
        let form: String = form_urlencoded::byte_serialize(form.as_bytes()).collect();
        let refused = app.get(&format!("/oauth/sign-in/provider?form={form}"), None).await;
        assert_eq!((refused.status.as_u16(), refused.header("location")), (400, None), "{form}");
    }
    let mut ada = Browser::new(&app);
    let away = location(&ada.get("/oauth/sign-in/provider?form=forged").await);
    assert!(away.starts_with(&format!("{}/authorize?", provider.issuer)), "{away}");
    for query in ["", "?form=forged", "?form=forged&code=x"] {
        let refused = ada.get(&format!("/oauth/sign-in/return{query}")).await;
        assert_eq!((refused.status.as_u16(), refused.header("location")), (400, None), "{query}");
    }
}

#[tokio::test]
async fn without_a_provider_its_routes_answer_503() {
    let app = App::start().await;
    let page = app.get("/account/applications", None).await;
    assert!(page.expect(200).is_null() && !page.body_text.contains("identity provider"));
    app.get("/oauth/sign-in/provider?form=forged", None).await.expect(400);
    for path in ["/user/auth/idp/start", "/user/auth/idp/callback?state=x"] {
        let refused = app.get(path, None).await;
        assert_eq!(refused.expect(503)["message"], "Identity provider not configured", "{path}");
    }
    let refused = app.post("/user/auth/idp", None, r#"{"id_token": "x"}"#).await;
    let detail = refused.expect(503)["detail"].as_str().expect("a text").to_owned();
    assert!(detail.contains("QS_IDP_ISSUER"), "{detail}");
}

#[tokio::test]
async fn the_pages_need_no_script_and_echo_no_parameter() {
    let provider = Provider::start().await;
    let route = provider.route();
    let app = App::start_with(|config| config.idp = Some(route)).await;
    let mut ada = Browser::new(&app);
    let page = ada.get("/login?error=%3Cscript%3Ealert(1)%3C/script%3ECall%20us").await;
    page.expect(200);
    let text = &page.body_text;
    assert!(!text.contains("alert(1)") && !text.contains("Call us"), "{text}");
    assert!(text.contains("role=\"alert\""));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(page.header("cache-control"), Some("no-store"));

    let place = sign_in(&app, &provider, "", None).await;
    let page = ada.get(&place).await;
    assert!(page.expect(200).is_null() && page.body_text.contains("<label for=\"phone\">"));
    let token = last(&place, "/complete-profile?completion_token=");
    assert!(!page.body_text.contains(token), "it is sealed");
    let fill_in = |page: &Answer, phone: &'static str, username: &'static str| {
        let form = sealed(page);
        [
            ("form", form),
            ("phone", phone.into()),
            ("country", "Italy".into()),
            ("username", username.into()),
        ]
    };
    let again = send(&mut ada, "/complete-profile", &fill_in(&page, "", "a b")).await;
    again.expect(422);
    let text = &again.body_text;
    assert!(text.contains("id=\"phone-fault\"") && text.contains("username-fault"));
    assert!(text.contains("value=\"a b\""), "what was typed stays");
    let good = fill_in(&again, "+39 1", "ada");
    let stranger = send(&mut Browser::new(&app), "/complete-profile", &good).await;
    assert!(stranger.expect(400).is_null() && stranger.body_text.contains("has expired"));
    let done = send(&mut ada, "/complete-profile", &good).await;
    done.expect(200);
    assert!(done.body_text.contains("fk_user_") && done.body_text.contains("ada@example.com"));
    let twice = send(&mut ada, "/complete-profile", &good).await;
    assert!(twice.expect(400).is_null() && twice.body_text.contains("has been used"));

    let place = sign_in(&app, &provider, "", None).await;
    let page = ada.get(&place).await;
    assert!(!page.body_text.contains(last(&place, "/login?code=")), "it is sealed");
    let form = [("form", sealed(&page))];
    send(&mut Browser::new(&app), "/login", &form).await.expect(400);
    let signed_in = send(&mut ada, "/login", &form).await;
    assert!(signed_in.expect(200).is_null() && signed_in.body_text.contains("fk_user_"));
    send(&mut ada, "/login", &form).await.expect(400);

    let elsewhere = self::app(&provider).await;
    for path in ["/login", "/complete-profile"] {
        elsewhere.get(path, None).await.expect(404);
    }
}

async fn send(browser: &mut Browser<'_>, path: &str, fields: &[(&str, String)]) -> Answer {
    let pairs: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (*name, &text[..])).collect();
    browser.post(path, &pairs).await
}
