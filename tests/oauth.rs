//! The OAuth server over HTTP: each rule of the gateway's authorization, and each page.

use account_core::oauth::CodeVerifier;
use account_core::{Tier, testing::all};
use chrono::TimeDelta;
use poem::Request;
use poem::http::{Method, header};
use quant_tests::{Answer, App, MCP_URL, email};
use serde_json::{Value, json};

const PASSWORD: &str = "correct horse battery staple";
const LOOPBACK: &str = "http://127.0.0.1/callback";
const REDIRECT: &str = "http://127.0.0.1:4711/callback";
const FORM: &str = "application/x-www-form-urlencoded";

fn verifier() -> String {
    "v".repeat(43)
}

fn challenge() -> String {
    CodeVerifier::parse(&verifier()).expect("a verifier").challenge().as_str().to_owned()
}

fn encode(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// The parameters of an answer that is sent on to a client.
fn told(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 303, "{answer:?}");
    let location = answer.header("location").expect("it is sent on");
    let (uri, query) = location.split_once('?').expect("with an answer");
    assert_eq!(uri, REDIRECT);
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

fn value(pairs: &[(String, String)], name: &str) -> Option<String> {
    pairs.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone())
}

async fn register(app: &App, metadata: &Value) -> Answer {
    app.post("/oauth/register", None, &metadata.to_string()).await
}

async fn client(app: &App) -> String {
    let metadata = json!({ "client_name": "A host", "redirect_uris": [LOOPBACK] });
    register(app, &metadata).await.text("/client_id")
}

async fn form(app: &App, path: &str, pairs: &[(&str, &str)]) -> Answer {
    let request = Request::builder().method(Method::POST).uri_str(path).content_type(FORM);
    app.send(request.body(encode(pairs))).await
}

async fn exchange(app: &App, client: &str, code: &str) -> Answer {
    let verifier = verifier();
    let pairs = [
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", &verifier),
    ];
    form(app, "/oauth/token", &pairs).await
}

async fn refresh(app: &App, client: &str, token: &str) -> Answer {
    let pairs = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    form(app, "/oauth/token", &pairs).await
}

async fn opens(app: &App, token: &str) -> bool {
    let token = account_core::AccessToken::parse(token).expect("a token");
    let resource = format!("{MCP_URL}/mcp");
    app.accounts().bearer(&token, &resource, app.clock.now()).await.is_ok()
}

fn asking(client: &str) -> Vec<(&str, String)> {
    vec![
        ("response_type", "code".to_owned()),
        ("client_id", client.to_owned()),
        ("redirect_uri", REDIRECT.to_owned()),
        ("state", "a state & more".to_owned()),
        ("code_challenge", challenge()),
        ("code_challenge_method", "S256".to_owned()),
        ("scope", "mcp".to_owned()),
        ("resource", format!("{MCP_URL}/mcp")),
    ]
}

fn url(pairs: &[(&str, String)]) -> String {
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, text)| (*name, &text[..])).collect();
    format!("/oauth/authorize?{}", encode(&pairs))
}

/// The same question with one parameter changed, or left out.
fn altered(client: &str, name: &'static str, text: Option<&str>) -> String {
    let mut pairs = asking(client);
    pairs.retain(|(found, _)| *found != name);
    pairs.extend(text.map(|text| (name, text.to_owned())));
    url(&pairs)
}

/// A browser: it keeps cookies and fills in forms.
struct Browser<'a> {
    app: &'a App,
    cookies: Vec<(String, String)>,
}

impl<'a> Browser<'a> {
    fn new(app: &'a App) -> Self {
        Self { app, cookies: Vec::new() }
    }

    async fn send(&mut self, request: poem::RequestBuilder, body: String) -> Answer {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.header(header::COOKIE, cookies.join("; "));
        let answer = self.app.send(request.body(body)).await;
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            let cookie = cookie.to_str().expect("a cookie in ASCII");
            let (pair, rest) = cookie.split_once(';').expect("a cookie has attributes");
            assert!(rest.contains("HttpOnly") && rest.contains("SameSite=Lax"), "{cookie}");
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            self.cookies.retain(|(known, _)| known != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        answer
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::builder().uri_str(path), String::new()).await
    }

    async fn post(&mut self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        let request = Request::builder().method(Method::POST).uri_str(path).content_type(FORM);
        self.send(request, encode(pairs)).await
    }

    async fn follow(&mut self, answer: &Answer) -> Answer {
        assert_eq!(answer.status, 303, "{answer:?}");
        let location = answer.header("location").expect("it is sent on").to_owned();
        self.get(&location).await
    }

    async fn sign_in(&mut self, page: &Answer, name: &str, password: &str) -> Answer {
        let (form, address) = (sealed(page), email(name));
        let pairs = [("form", &form[..]), ("email", address.as_str()), ("password", password)];
        self.post("/oauth/sign-in", &pairs).await
    }

    /// Signs in where that is asked for, and answers the page of consent.
    async fn consent_page(&mut self, name: &str, question: &str) -> Answer {
        let page = self.get(question).await;
        if page.body_text.contains("Allow access?") {
            return page;
        }
        let signed_in = self.sign_in(&page, name, PASSWORD).await;
        let page = self.follow(&signed_in).await;
        assert!(page.body_text.contains("Allow access?"), "{page:?}");
        page
    }

    async fn decide(&mut self, page: &Answer, decision: &str) -> Answer {
        let form = sealed(page);
        self.post("/oauth/consent", &[("form", &form), ("decision", decision)]).await
    }

    async fn code(&mut self, name: &str, client: &str) -> String {
        let page = self.consent_page(name, &url(&asking(client))).await;
        value(&told(&self.decide(&page, "allow").await), "code").expect("a code")
    }
}

/// What a page's form must bring back.
fn sealed(page: &Answer) -> String {
    let found = page.body_text.split_once("name=\"form\" value=\"");
    let (_, rest) = found.unwrap_or_else(|| panic!("no form: {page:?}"));
    rest.split_once('"').expect("an attribute ends").0.to_owned()
}

/// A service with Ada's account.
async fn house() -> App {
    let app = App::start().await;
    app.account("ada", Tier::Pro, 100).await;
    app
}

/// Ada's tokens for a new client.
async fn connected(app: &App) -> (String, Answer) {
    let client = client(app).await;
    let code = Browser::new(app).code("ada", &client).await;
    let tokens = exchange(app, &client, &code).await;
    tokens.expect(200);
    (client, tokens)
}

#[tokio::test]
async fn metadata_comes_from_the_configuration_and_never_from_the_host_header() {
    let app = App::start().await;
    for path in
        ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]
    {
        let request = Request::builder().uri_str(path).header("Host", "evil.example").finish();
        let answer = app.send(request).await;
        let body = answer.expect(200);
        assert_eq!(body["resource"], format!("{MCP_URL}/mcp"));
        assert_eq!(body["authorization_servers"], json!([MCP_URL]));
        assert_eq!(body["scopes_supported"], json!(["mcp"]));
        assert_eq!(body["bearer_methods_supported"], json!(["header"]));
        assert!(!body.to_string().contains("evil"));
    }
    let path = "/.well-known/oauth-authorization-server";
    let request = Request::builder().uri_str(path).header("Host", "evil.example").finish();
    let answer = app.send(request).await;
    let body = answer.expect(200);
    assert_eq!(body["issuer"], MCP_URL, "byte for byte, without a slash");
    assert_eq!(body["code_challenge_methods_supported"], json!(["S256"]));
    for field in ["token_endpoint", "revocation_endpoint"] {
        assert_eq!(body[format!("{field}_auth_methods_supported")], json!(["none"]));
    }
    assert_eq!(body["authorization_response_iss_parameter_supported"], true);
    for endpoint in ["authorization", "token", "registration", "revocation"] {
        let at = body[format!("{endpoint}_endpoint")].as_str().expect("an address");
        assert!(at.starts_with(&format!("{MCP_URL}/oauth/")), "{at}");
    }
    assert!(!body.to_string().contains("evil"));
}

#[tokio::test]
async fn pages_of_any_website_may_call_what_goes_by_no_cookie() {
    let app = App::start().await;
    for (path, method) in [
        ("/.well-known/oauth-protected-resource/mcp", "GET"),
        ("/.well-known/oauth-authorization-server", "GET"),
        ("/oauth/register", "POST"),
        ("/oauth/token", "POST"),
        ("/oauth/revoke", "POST"),
    ] {
        let preflight = Request::builder().method(Method::OPTIONS).uri_str(path);
        let preflight = app.send(preflight.header("Origin", "https://a.example").finish()).await;
        assert_eq!(preflight.status, 204, "{path}");
        assert_eq!(preflight.header("access-control-allow-origin"), Some("*"));
        let methods = preflight.header("access-control-allow-methods").expect("methods");
        assert!(methods.contains(method), "{path}: {methods}");
        let method: Method = method.parse().expect("a method");
        let answer = app.send(Request::builder().method(method).uri_str(path).finish()).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.header("access-control-expose-headers"), Some("WWW-Authenticate"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
    let authorize = app.get("/oauth/authorize", None).await;
    assert_eq!(authorize.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn another_method_is_told_which_there_are() {
    let app = App::start().await;
    for (path, allow) in [
        ("/oauth/token", "OPTIONS, POST"),
        ("/oauth/consent", "POST"),
        ("/.well-known/oauth-authorization-server", "GET, HEAD, OPTIONS"),
    ] {
        let delete = Request::builder().method(Method::DELETE).uri_str(path).finish();
        let answer = app.send(delete).await;
        answer.expect(405);
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
    }
}

#[tokio::test]
async fn a_challenge_names_the_metadata_and_the_scope_and_an_error_only_where_a_token_was_sent() {
    let app = App::start().await;
    let settings = &app.service().settings;
    let quoted = format!(
        "Bearer resource_metadata=\"{MCP_URL}/.well-known/oauth-protected-resource/mcp\", scope=\"mcp\""
    );
    let challenge = |sent| quant_server::oauth::challenge(settings, sent);
    assert_eq!(challenge(false), quoted.as_str());
    assert_eq!(challenge(true), format!("{quoted}, error=\"invalid_token\"").as_str());
}

#[tokio::test]
async fn a_client_registers_without_a_secret_whatever_it_asks_for() {
    let app = App::start().await;
    let metadata = json!({
        "client_name": "A host", "redirect_uris": [LOOPBACK, "https://a.example/cb", "app.x:/cb"],
        "token_endpoint_auth_method": "client_secret_basic", "logo_uri": "javascript:alert(1)",
        "grant_types": ["authorization_code", "refresh_token", "urn:x"],
        "response_types": ["code"], "application_type": "native", "unknown": { "member": 1 },
    });
    let answer = register(&app, &metadata).await;
    let body = answer.expect(201);
    assert_eq!(body["token_endpoint_auth_method"], "none");
    assert_eq!(body["redirect_uris"], metadata["redirect_uris"]);
    assert_eq!(body["client_name"], "A host");
    assert_eq!(body["grant_types"], json!(["authorization_code", "refresh_token"]));
    for absent in ["client_secret", "unknown", "logo_uri"] {
        assert!(body.get(absent).is_none(), "{absent}");
    }
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let other = register(&app, &metadata).await;
    assert_ne!(other.text("/client_id"), answer.text("/client_id"));
}

#[tokio::test]
async fn a_registration_that_does_not_fit_is_refused_by_name() {
    let app = App::start().await;
    let uri = "https://a.example/cb";
    let long = format!("{uri}{}", "a".repeat(2_048));
    for (metadata, code) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": uri }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [1] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": vec![uri; 11] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [long] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["http://a.example/cb"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["data:text/html,x"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["file:///etc/passwd"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["blob:https://a.example/x"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://a.example/#x"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://eve@a.example/"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [uri], "client_name": 7 }), "invalid_client_metadata"),
        (
            json!({ "redirect_uris": [uri], "grant_types": ["client_credentials"] }),
            "invalid_client_metadata",
        ),
        (json!({ "redirect_uris": [uri], "response_types": ["token"] }), "invalid_client_metadata"),
        (json!([uri]), "invalid_client_metadata"),
    ] {
        let answer = register(&app, &metadata).await;
        assert_eq!(answer.expect(400)["error"], code, "{metadata}");
        assert!(answer.body["error_description"].is_string());
    }
    let broken = app.post("/oauth/register", None, "{").await;
    assert_eq!(broken.expect(400)["error"], "invalid_client_metadata");
}

#[tokio::test]
async fn consent_ends_in_tokens_that_open_the_gateway() {
    let app = house().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.consent_page("ada", &url(&asking(&client))).await;
    let answered = told(&browser.decide(&page, "allow").await);
    assert_eq!(value(&answered, "state").as_deref(), Some("a state & more"));
    assert_eq!(value(&answered, "iss").as_deref(), Some(MCP_URL));
    assert_eq!(value(&answered, "error"), None);
    let tokens = exchange(&app, &client, &value(&answered, "code").expect("a code")).await;
    let body = tokens.expect(200);
    assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(3_600)));
    assert_eq!(body["scope"], "mcp");
    assert_eq!(tokens.header("cache-control"), Some("no-store"));
    assert!(opens(&app, &tokens.text("/access_token")).await);
    let key = app.get("/user/profile", Some(&tokens.text("/access_token"))).await;
    key.expect(401);
}

#[tokio::test]
async fn where_nobody_knows_whom_to_tell_the_browser_is_told() {
    let app = house().await;
    let client = client(&app).await;
    for question in [
        altered(&client, "client_id", None),
        altered(&client, "client_id", Some("unknown")),
        altered(&client, "client_id", Some("<script>alert(1)</script>")),
        altered(&client, "redirect_uri", Some("https://evil.example/cb")),
        altered(&client, "redirect_uri", Some("http://127.0.0.1:4711/other")),
        altered(&client, "redirect_uri", Some("http://localhost:4711/callback")),
        altered(&client, "redirect_uri", Some("javascript:alert(1)")),
        format!("{}&redirect_uri=https://evil.example/", url(&asking(&client))),
        format!("{}&client_id=other", url(&asking(&client))),
    ] {
        let answer = app.get(&question, None).await;
        answer.expect(400);
        assert_eq!(answer.header("location"), None, "{question}");
        assert!(answer.body_text.contains("cannot be connected"), "{answer:?}");
        assert!(!answer.body_text.contains("<script"), "{answer:?}");
    }
}

#[tokio::test]
async fn every_other_error_goes_to_the_client_with_state_and_issuer() {
    let app = house().await;
    let client = client(&app).await;
    let short = "a".repeat(42);
    let long = "a".repeat(129);
    for (name, text, code) in [
        ("response_type", None, "invalid_request"),
        ("response_type", Some("token"), "unsupported_response_type"),
        ("code_challenge", None, "invalid_request"),
        ("code_challenge", Some(short.as_str()), "invalid_request"),
        ("code_challenge", Some(long.as_str()), "invalid_request"),
        ("code_challenge_method", None, "invalid_request"),
        ("code_challenge_method", Some("plain"), "invalid_request"),
        ("scope", Some("openid"), "invalid_scope"),
        ("resource", Some("https://other.example.com/mcp"), "invalid_target"),
        ("resource", Some("https://mcp.example.com/"), "invalid_target"),
    ] {
        let answered = told(&app.get(&altered(&client, name, text), None).await);
        assert_eq!(value(&answered, "error").as_deref(), Some(code), "{name} {text:?}");
        assert_eq!(value(&answered, "state").as_deref(), Some("a state & more"));
        assert_eq!(value(&answered, "iss").as_deref(), Some(MCP_URL));
        assert_eq!(value(&answered, "code"), None);
    }
    let twice = format!("{}&code_challenge_method=S256", url(&asking(&client)));
    let answered = told(&app.get(&twice, None).await);
    assert_eq!(value(&answered, "error").as_deref(), Some("invalid_request"));
    let mut stateless = asking(&client);
    stateless.retain(|(name, _)| !matches!(*name, "state" | "response_type"));
    let answered = told(&app.get(&url(&stateless), None).await);
    assert_eq!(value(&answered, "state"), None);
}

#[tokio::test]
async fn what_real_hosts_write_otherwise_is_taken() {
    let app = house().await;
    let client = client(&app).await;
    for question in [
        url(&asking(&client)),
        altered(&client, "redirect_uri", Some(LOOPBACK)),
        altered(&client, "redirect_uri", Some("http://127.0.0.1:59999/callback")),
        altered(&client, "redirect_uri", None),
        altered(&client, "scope", None),
        altered(&client, "scope", Some("mcp offline_access")),
        altered(&client, "state", None),
        altered(&client, "resource", None),
        altered(&client, "resource", Some("https://mcp.example.com/mcp/")),
        altered(&client, "resource", Some("HTTPS://MCP.example.com:443/mcp?toolsets=all")),
    ] {
        let answer = app.get(&question, None).await;
        answer.expect(200);
        assert!(answer.body_text.contains("<h1>Sign in</h1>"), "{question}");
    }
}

#[tokio::test]
async fn every_page_forbids_frames_scripts_caches_and_referrers() {
    let app = house().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let sign_in = browser.get(&url(&asking(&client))).await;
    let consent = browser.consent_page("ada", &url(&asking(&client))).await;
    let applications = browser.get("/account/applications").await;
    let expired = browser.post("/oauth/consent", &[("form", "nonsense")]).await;
    for page in [&sign_in, &consent, &applications, &expired] {
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; form-action 'self'"));
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert!(!page.body_text.contains("<script") && !page.body_text.contains(" style="));
    }
    let policy = consent.header("content-security-policy").expect("a policy");
    assert!(policy.contains("form-action 'self' http://127.0.0.1:4711;"), "{policy}");
    app.get("/pages.css", None).await.expect(200);
}

#[tokio::test]
async fn consent_names_the_client_as_unverified_the_host_the_account_and_what_it_may() {
    let app = house().await;
    let metadata = json!({
        "client_name": "<b>Bank</b> \u{202e}evil", "redirect_uris": ["https://a.example:8443/cb"],
    });
    let client = register(&app, &metadata).await.text("/client_id");
    let mut browser = Browser::new(&app);
    let question = altered(&client, "redirect_uri", None);
    let page = browser.consent_page("ada", &question).await;
    for shown in [
        "unverified",
        "the website a.example:8443",
        "ada@example.com",
        "spends your credits",
        "Deny",
    ] {
        assert!(page.body_text.contains(shown), "{shown}: {page:?}");
    }
    assert!(!page.body_text.contains("<b>Bank") && !page.body_text.contains('\u{202e}'));
    let again = browser.get(&question).await;
    assert!(again.body_text.contains("Allow access?"), "consent is always asked");
}

#[tokio::test]
async fn whoever_denies_sends_the_client_away() {
    let app = house().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.consent_page("ada", &url(&asking(&client))).await;
    let answered = told(&browser.decide(&page, "deny").await);
    assert_eq!(value(&answered, "error").as_deref(), Some("access_denied"));
    assert_eq!(value(&answered, "state").as_deref(), Some("a state & more"));
    assert_eq!(value(&answered, "iss").as_deref(), Some(MCP_URL));
    assert_eq!(value(&answered, "code"), None);
}

#[tokio::test]
async fn a_wrong_password_gets_the_form_again_and_five_a_lock() {
    let app = house().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let mut page = browser.get(&url(&asking(&client))).await;
    for _ in 0..5 {
        page = browser.sign_in(&page, "ada", "wrong wrong wrong").await;
        page.expect(403);
        assert!(
            page.body_text.contains("password is wrong")
                && page.body_text.contains("role=\"alert\"")
        );
    }
    browser.sign_in(&page, "ada", PASSWORD).await.expect(423);
    let unknown = browser.sign_in(&page, "eve", "wrong wrong wrong").await;
    assert!(unknown.body_text.contains("password is wrong"), "nobody is told who has an account");
}

#[tokio::test]
async fn a_second_factor_is_asked_for_on_a_page_of_its_own() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    app.post("/user/mfa/enable", Some(&key), "").await.expect(200);
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.get(&url(&asking(&client))).await;
    let page = browser.sign_in(&page, "ada", PASSWORD).await;
    assert!(page.body_text.contains("Enter your code"), "{page:?}");
    assert!(browser.get(&url(&asking(&client))).await.body_text.contains("<h1>Sign in</h1>"));
    let code = app.code("ada").await.expect("a letter").expose().to_owned();
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let again = browser.post("/oauth/sign-in", &[("form", &sealed(&page)), ("code", wrong)]).await;
    again.expect(400);
    let form = sealed(&again);
    let signed_in = browser.post("/oauth/sign-in", &[("form", &form), ("code", &code)]).await;
    let consent = browser.follow(&signed_in).await;
    let answered = told(&browser.decide(&consent, "allow").await);
    exchange(&app, &client, &value(&answered, "code").expect("a code")).await.expect(200);
}

#[tokio::test]
async fn a_form_serves_its_own_browser_for_ten_minutes() {
    let app = house().await;
    let client = client(&app).await;
    let mut ada = Browser::new(&app);
    let page = ada.consent_page("ada", &url(&asking(&client))).await;
    let mut eve = Browser::new(&app);
    eve.get(&url(&asking(&client))).await;
    let decided = eve.decide(&page, "allow").await;
    assert!(decided.expect(400).is_null() && decided.body_text.contains("expired"));
    let bare =
        form(&app, "/oauth/consent", &[("form", &sealed(&page)), ("decision", "allow")]).await;
    bare.expect(400);
    let mut forged = sealed(&page).into_bytes();
    forged[20] ^= 1;
    let forged = String::from_utf8(forged).expect("ASCII");
    ada.post("/oauth/consent", &[("form", &forged), ("decision", "allow")]).await.expect(400);
    let of_sign_in = sealed(&eve.get(&url(&asking(&client))).await);
    eve.post("/oauth/consent", &[("form", &of_sign_in), ("decision", "allow")]).await.expect(400);
    app.clock.advance(TimeDelta::minutes(10));
    let late = ada.decide(&page, "allow").await;
    assert!(late.expect(400).is_null() && late.body_text.contains("expired"));
}

#[tokio::test]
async fn consent_shown_for_one_account_allows_in_no_other() {
    let app = house().await;
    app.account("bob", Tier::Pro, 100).await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let of_ada = browser.consent_page("ada", &url(&asking(&client))).await;
    let switched = browser.decide(&of_ada, "switch").await;
    let sign_in = browser.follow(&switched).await;
    assert!(sign_in.body_text.contains("<h1>Sign in</h1>"));
    let signed_in = browser.sign_in(&sign_in, "bob", PASSWORD).await;
    browser.follow(&signed_in).await;
    let decided = browser.decide(&of_ada, "allow").await;
    let shown = browser.follow(&decided).await;
    assert!(shown.body_text.contains("bob@example.com"), "it is asked again: {shown:?}");
}

#[tokio::test]
async fn a_page_of_consent_is_worth_nothing_after_a_reset() {
    let app = house().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.consent_page("ada", &url(&asking(&client))).await;
    app.post("/user/forgot-password", None, r#"{"email": "ada@example.com"}"#).await.expect(200);
    let otp = app.code("ada").await.expect("a letter").expose().to_owned();
    let reset =
        json!({ "email": "ada@example.com", "otp": otp, "new_password": "a new sentence of hers" });
    app.post("/user/reset-password", None, &reset.to_string()).await.expect(200);
    let decided = browser.decide(&page, "allow").await;
    assert!(browser.follow(&decided).await.body_text.contains("<h1>Sign in</h1>"));
}

#[tokio::test]
async fn an_exchange_that_does_not_fit_is_refused_by_name() {
    let app = house().await;
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
    let app = house().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let late = browser.code("ada", &client).await;
    app.clock.advance(TimeDelta::seconds(60));
    assert_eq!(exchange(&app, &client, &late).await.expect(400)["error"], "invalid_grant");
    let code = browser.code("ada", &client).await;
    let tokens = exchange(&app, &client, &code).await;
    assert!(opens(&app, &tokens.text("/access_token")).await);
    exchange(&app, &client, &code).await.expect(400);
    assert!(!opens(&app, &tokens.text("/access_token")).await);
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
    assert!(!opens(&app, &won[0].text("/access_token")).await, "the others were replays");
}

#[tokio::test]
async fn a_refresh_token_rotates_and_its_second_use_ends_the_grant() {
    let app = house().await;
    let (client, first) = connected(&app).await;
    let old = first.text("/refresh_token");
    let second = refresh(&app, &client, &old).await;
    second.expect(200);
    assert_ne!(second.text("/refresh_token"), old);
    assert_eq!(refresh(&app, &client, &old).await.expect(400)["error"], "invalid_grant");
    refresh(&app, &client, &second.text("/refresh_token")).await.expect(400);
    assert!(!opens(&app, &second.text("/access_token")).await);
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
    assert!(!opens(&app, &answers[0].text("/access_token")).await);
}

#[tokio::test]
async fn a_refused_refresh_spends_nothing() {
    let app = house().await;
    let (client, tokens) = connected(&app).await;
    let token = tokens.text("/refresh_token");
    let other = self::client(&app).await;
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
async fn revoking_answers_200_for_unknown_tokens_and_ends_what_it_should() {
    let app = house().await;
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
    assert!(opens(&app, &access).await);
    let hinted = [("token", &access[..]), ("token_type_hint", "refresh_token")];
    form(&app, "/oauth/revoke", &hinted).await.expect(200);
    assert!(!opens(&app, &access).await);
    let next = refresh(&app, &client, &token).await;
    let next_token = next.text("/refresh_token");
    let pairs = [("token", &next_token[..]), ("client_id", &client[..])];
    form(&app, "/oauth/revoke", &pairs).await.expect(200);
    assert!(!opens(&app, &next.text("/access_token")).await);
    refresh(&app, &client, &next_token).await.expect(400);
}

#[tokio::test]
async fn suspension_and_deletion_end_what_was_allowed() {
    let app = house().await;
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
        assert!(!opens(&app, &tokens.text("/access_token")).await);
        refresh(&app, &client, &tokens.text("/refresh_token")).await.expect(400);
    }
}

#[tokio::test]
async fn an_owner_sees_connected_applications_and_disconnects_them() {
    let app = house().await;
    let (_, tokens) = connected(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.get("/account/applications").await;
    let signed_in = browser.sign_in(&page, "ada", PASSWORD).await;
    let page = browser.follow(&signed_in).await;
    assert!(
        page.body_text.contains("A host") && page.body_text.contains("31 January 2026"),
        "{page:?}"
    );
    let (_, rest) = page.body_text.split_once("name=\"disconnect\" value=\"").expect("a button");
    let grant = rest.split_once('"').expect("an attribute ends").0.to_owned();
    let path = "/account/applications";
    let mut eve = Browser::new(&app);
    let pairs = [("form", &sealed(&page)[..]), ("disconnect", &grant)];
    eve.post(path, &pairs).await.expect(400);
    assert!(opens(&app, &tokens.text("/access_token")).await);
    let done = browser.post(path, &pairs).await;
    assert!(browser.follow(&done).await.body_text.contains("No application has access"));
    assert!(!opens(&app, &tokens.text("/access_token")).await);
    let out = browser.post(path, &[("form", &sealed(&page)), ("sign_out", "yes")]).await;
    assert!(browser.follow(&out).await.body_text.contains("<h1>Sign in</h1>"));
}

#[tokio::test]
async fn an_address_that_calls_too_often_is_told_to_wait() {
    let app = App::start_with(|config| config.address_limit = 2.try_into().unwrap()).await;
    for _ in 0..2 {
        form(&app, "/oauth/token", &[]).await.expect(400);
    }
    let answer = form(&app, "/oauth/token", &[]).await;
    assert_eq!(answer.expect(429)["error"], "temporarily_unavailable");
    assert!(answer.header("retry-after").is_some());
    let page = app.get("/oauth/authorize?client_id=x", None).await;
    page.expect(429);
    assert!(page.body_text.contains("Please wait"));
}

#[tokio::test]
async fn cookies_are_bound_to_this_host_where_clients_use_https() {
    let app = house().await;
    let client = client(&app).await;
    let page = app.get(&url(&asking(&client)), None).await;
    let cookie = page.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("__Host-qs_form=") && cookie.contains("; Secure"), "{cookie}");
    let plain = App::start_with(|c| c.service.mcp_url = "http://127.0.0.1:8080".to_owned()).await;
    let client = self::client(&plain).await;
    let page = plain.get(&altered(&client, "resource", None), None).await;
    let cookie = page.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("qs_form=") && !cookie.contains("Secure"), "{cookie}");
}
