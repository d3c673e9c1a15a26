//! The pages of sign-in, consent and connected applications, and their redirects to clients.

use account_core::Tier;
use chrono::TimeDelta;
use quant_tests::{
    App, MCP_URL,
    browser::{Browser, sealed},
    oauth::{
        self, LOOPBACK, app_with_ada, authorization_parameters, changed_authorization_url, client,
        connected, exchange, form, is_valid_token, redirect_parameters, register, url, value,
    },
    requests::PASSWORD,
};
use serde_json::json;

#[tokio::test]
async fn consent_ends_in_tokens_that_the_gateway_accepts() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.consent_page("ada", &url(&authorization_parameters(&client))).await;
    let answered = redirect_parameters(&browser.decide(&page, "allow").await);
    assert_eq!(value(&answered, "state").as_deref(), Some("a state & more"));
    assert_eq!(value(&answered, "iss").as_deref(), Some(MCP_URL));
    assert_eq!(value(&answered, "error"), None);
    let tokens = exchange(&app, &client, &value(&answered, "code").expect("a code")).await;
    let body = tokens.expect(200);
    assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(3_600)));
    assert_eq!(body["scope"], "mcp");
    assert_eq!(tokens.header("cache-control"), Some("no-store"));
    assert!(is_valid_token(&app, &tokens.text("/access_token")).await);
    let key = app.get("/user/profile", Some(&tokens.text("/access_token"))).await;
    key.expect(401);
}

#[tokio::test]
async fn an_error_without_a_valid_client_and_redirect_uri_is_shown_in_the_browser() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    for question in [
        changed_authorization_url(&client, "client_id", None),
        changed_authorization_url(&client, "client_id", Some("unknown")),
        changed_authorization_url(&client, "client_id", Some("<script>alert(1)</script>")),
        changed_authorization_url(&client, "redirect_uri", Some("https://evil.example/cb")),
        changed_authorization_url(&client, "redirect_uri", Some("http://127.0.0.1:4711/other")),
        changed_authorization_url(&client, "redirect_uri", Some("http://localhost:4711/callback")),
        changed_authorization_url(&client, "redirect_uri", Some("javascript:alert(1)")),
        format!("{}&redirect_uri=https://evil.example/", url(&authorization_parameters(&client))),
        format!("{}&client_id=other", url(&authorization_parameters(&client))),
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
    let app = app_with_ada().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    browser.consent_page("ada", &url(&authorization_parameters(&client))).await;
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
        let question = changed_authorization_url(&client, name, text);
        let answered = redirect_parameters(&browser.get(&question).await);
        assert_eq!(value(&answered, "error").as_deref(), Some(code), "{name} {text:?}");
        assert_eq!(value(&answered, "state").as_deref(), Some("a state & more"));
        assert_eq!(value(&answered, "iss").as_deref(), Some(MCP_URL));
        assert_eq!(value(&answered, "code"), None);
    }
    let twice = format!("{}&code_challenge_method=S256", url(&authorization_parameters(&client)));
    let answered = redirect_parameters(&browser.get(&twice).await);
    assert_eq!(value(&answered, "error").as_deref(), Some("invalid_request"));
    let mut stateless = authorization_parameters(&client);
    stateless.retain(|(name, _)| !matches!(*name, "state" | "response_type"));
    let answered = redirect_parameters(&browser.get(&url(&stateless)).await);
    assert_eq!(value(&answered, "state"), None);
}

/// Otherwise a stranger who registers an address has an open redirect under this service's name
/// (RFC 9700, section 4.11.2).
#[tokio::test]
async fn nobody_is_sent_to_a_self_registered_address_before_signing_in() {
    let app = app_with_ada().await;
    let uri = "https://evil.example/landing";
    let metadata = json!({ "redirect_uris": [uri], "client_name": "A stranger" });
    let client = register(&app, &metadata).await.text("/client_id");
    for (name, text) in [
        ("response_type", Some("token")),
        ("code_challenge", None),
        ("code_challenge_method", Some("plain")),
        ("scope", Some("openid")),
        ("resource", Some("https://other.example.com/mcp")),
    ] {
        let mut pairs = authorization_parameters(&client);
        pairs.retain(|(found, _)| *found != name && *found != "redirect_uri");
        pairs.extend(text.map(|text| (name, text.to_owned())));
        let mut browser = Browser::new(&app);

        let page = browser.get(&url(&pairs)).await;

        page.expect(400);
        assert_eq!(page.header("location"), None, "{name}");
        assert!(page.body_text.contains("the website evil.example"), "{page:?}");
        assert!(page.body_text.contains("does not grant"), "{page:?}");
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("form-action 'self' https://evil.example;"), "{policy}");
        let wrong = browser.sign_in(&page, "ada", "a wrong password").await;
        assert_eq!((wrong.status.as_u16(), wrong.header("location")), (403, None));
        let signed_in = browser.sign_in(&page, "ada", PASSWORD).await;
        let answer = browser.follow(&signed_in).await;
        let location = answer.header("location").expect("it is sent on");
        assert!(location.starts_with("https://evil.example/landing?error="), "{location}");
    }
}

#[tokio::test]
async fn deviations_of_real_hosts_are_accepted() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    for question in [
        url(&authorization_parameters(&client)),
        changed_authorization_url(&client, "redirect_uri", Some(LOOPBACK)),
        changed_authorization_url(&client, "redirect_uri", Some("http://127.0.0.1:59999/callback")),
        changed_authorization_url(&client, "redirect_uri", None),
        changed_authorization_url(&client, "scope", None),
        changed_authorization_url(&client, "scope", Some("mcp offline_access")),
        changed_authorization_url(&client, "state", None),
        changed_authorization_url(&client, "resource", None),
        changed_authorization_url(&client, "resource", Some("https://mcp.example.com/mcp/")),
        changed_authorization_url(
            &client,
            "resource",
            Some("HTTPS://MCP.example.com:443/mcp?toolsets=all"),
        ),
    ] {
        let answer = app.get(&question, None).await;
        answer.expect(200);
        assert!(answer.body_text.contains("<h1>Sign in</h1>"), "{question}");
    }
}

#[tokio::test]
async fn every_page_forbids_frames_scripts_caches_and_referrers() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let sign_in = browser.get(&url(&authorization_parameters(&client))).await;
    let consent = browser.consent_page("ada", &url(&authorization_parameters(&client))).await;
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
async fn the_consent_page_names_the_unverified_client_its_host_the_account_and_the_scope() {
    let app = app_with_ada().await;
    let metadata = json!({
        "client_name": "<b>Bank</b> \u{202e}evil", "redirect_uris": ["https://a.example:8443/cb"],
    });
    let client = register(&app, &metadata).await.text("/client_id");
    let mut browser = Browser::new(&app);
    let question = changed_authorization_url(&client, "redirect_uri", None);
    let page = browser.consent_page("ada", &question).await;
    for shown in [
        "unverified",
        "the website a.example:8443",
        "ada@example.com",
        "spends your credits",
        "ends after 30 days without use, and after 365 days in any case",
        "Deny",
    ] {
        assert!(page.body_text.contains(shown), "{shown}: {page:?}");
    }
    assert!(!page.body_text.contains("<b>Bank") && !page.body_text.contains('\u{202e}'));
    let again = browser.get(&question).await;
    assert!(again.body_text.contains("Allow access?"), "consent is always asked");
}

#[tokio::test]
async fn a_denial_redirects_with_access_denied() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.consent_page("ada", &url(&authorization_parameters(&client))).await;
    let answered = redirect_parameters(&browser.decide(&page, "deny").await);
    assert_eq!(value(&answered, "error").as_deref(), Some("access_denied"));
    assert_eq!(value(&answered, "state").as_deref(), Some("a state & more"));
    assert_eq!(value(&answered, "iss").as_deref(), Some(MCP_URL));
    assert_eq!(value(&answered, "code"), None);
}

#[tokio::test]
async fn a_wrong_password_shows_the_form_again_and_five_lock_the_account() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let mut page = browser.get(&url(&authorization_parameters(&client))).await;
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
    assert!(
        unknown.body_text.contains("password is wrong"),
        "the answer does not reveal whether an account exists"
    );
}

#[tokio::test]
async fn a_second_factor_is_asked_for_on_a_page_of_its_own() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    app.post("/user/mfa/enable", Some(&key), "").await.expect(200);
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.get(&url(&authorization_parameters(&client))).await;
    let page = browser.sign_in(&page, "ada", PASSWORD).await;
    assert!(page.body_text.contains("Enter your code"), "{page:?}");
    assert!(
        browser
            .get(&url(&authorization_parameters(&client)))
            .await
            .body_text
            .contains("<h1>Sign in</h1>")
    );
    let code = app.emailed_code("ada").await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let again = browser.post("/oauth/sign-in", &[("form", &sealed(&page)), ("code", wrong)]).await;
    again.expect(400);
    let form = sealed(&again);
    let signed_in = browser.post("/oauth/sign-in", &[("form", &form), ("code", &code)]).await;
    let consent = browser.follow(&signed_in).await;
    let answered = redirect_parameters(&browser.decide(&consent, "allow").await);
    exchange(&app, &client, &value(&answered, "code").expect("a code")).await.expect(200);
}

#[tokio::test]
async fn a_form_is_valid_in_its_own_browser_for_fifteen_minutes() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let mut ada = Browser::new(&app);
    let page = ada.consent_page("ada", &url(&authorization_parameters(&client))).await;
    let mut eve = Browser::new(&app);
    eve.get(&url(&authorization_parameters(&client))).await;
    let decided = eve.decide(&page, "allow").await;
    assert!(decided.expect(400).is_null() && decided.body_text.contains("expired"));
    let bare =
        form(&app, "/oauth/consent", &[("form", &sealed(&page)), ("decision", "allow")]).await;
    bare.expect(400);
    let mut forged = sealed(&page).into_bytes();
    forged[20] ^= 1;
    let forged = String::from_utf8(forged).expect("ASCII");
    ada.post("/oauth/consent", &[("form", &forged), ("decision", "allow")]).await.expect(400);
    let of_sign_in = sealed(&eve.get(&url(&authorization_parameters(&client))).await);
    eve.post("/oauth/consent", &[("form", &of_sign_in), ("decision", "allow")]).await.expect(400);
    app.clock.advance(TimeDelta::minutes(15));
    let late = ada.decide(&page, "allow").await;
    assert!(late.expect(400).is_null() && late.body_text.contains("expired"));
}

#[tokio::test]
async fn consent_for_one_account_grants_no_access_to_another() {
    let app = app_with_ada().await;
    app.account("bob", Tier::Pro, 100).await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let of_ada = browser.consent_page("ada", &url(&authorization_parameters(&client))).await;
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
async fn a_consent_page_is_invalid_after_a_password_reset() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let mut browser = Browser::new(&app);
    let page = browser.consent_page("ada", &url(&authorization_parameters(&client))).await;
    app.post("/user/forgot-password", None, r#"{"email": "ada@example.com"}"#).await.expect(200);
    let otp = app.emailed_code("ada").await;
    let reset =
        json!({ "email": "ada@example.com", "otp": otp, "new_password": "a new sentence of hers" });
    app.post("/user/reset-password", None, &reset.to_string()).await.expect(200);
    let decided = browser.decide(&page, "allow").await;
    assert!(browser.follow(&decided).await.body_text.contains("<h1>Sign in</h1>"));
}

#[tokio::test]
async fn cookies_are_bound_to_this_host_where_clients_use_https() {
    let app = app_with_ada().await;
    let client = client(&app).await;
    let page = app.get(&url(&authorization_parameters(&client)), None).await;
    let cookie = page.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("__Host-qs_form=") && cookie.contains("; Secure"), "{cookie}");
    let plain = App::start_with(|c| c.service.mcp_url = "http://127.0.0.1:8080".to_owned()).await;
    let client = oauth::client(&plain).await;
    let page = plain.get(&changed_authorization_url(&client, "resource", None), None).await;
    let cookie = page.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("qs_form=") && !cookie.contains("Secure"), "{cookie}");
}

#[tokio::test]
async fn an_owner_sees_connected_applications_and_disconnects_them() {
    let app = app_with_ada().await;
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
    assert!(is_valid_token(&app, &tokens.text("/access_token")).await);
    let done = browser.post(path, &pairs).await;
    assert!(browser.follow(&done).await.body_text.contains("No application has access"));
    assert!(!is_valid_token(&app, &tokens.text("/access_token")).await);
    let out = browser.post(path, &[("form", &sealed(&page)), ("sign_out", "yes")]).await;
    assert!(browser.follow(&out).await.body_text.contains("<h1>Sign in</h1>"));
}
