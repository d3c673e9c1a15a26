//! The routes that a host calls before a user signs in: metadata, cross-origin rules, registration.

use poem::{Request, http::Method};
use quant_tests::{
    App, MCP_URL,
    oauth::{LOOPBACK, form, register},
};
use serde_json::json;

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
async fn any_origin_may_call_the_routes_that_use_no_cookie() {
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
async fn another_method_gets_405_with_the_allowed_ones() {
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
    let challenge = |sent| quant_server::api::oauth::challenge(settings, sent);
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
async fn an_invalid_registration_is_refused_with_its_error_code() {
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
async fn an_address_that_calls_too_often_gets_429_with_a_retry_time() {
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
