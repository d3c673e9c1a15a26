//! Clients that a metadata document describes: the flow over a website with HTTPS, its cache, and
//! what is refused.

use account_core::{Tier, oauth::ClientId};
use chrono::TimeDelta;
use poem::Request;
use quant_tests::{
    Answer, App,
    browser::Browser,
    document_site::{DocumentSite, HOST, INSIDE_HOST, OTHER_HOST},
    oauth::{
        LOOPBACK, REDIRECT, authorization_parameters, exchange, is_valid_token,
        redirect_parameters, refresh, url, value,
    },
};
use serde_json::{Value, json};

const PATH: &str = "/oauth/client.json";
/// The reason for an unknown host, a private one, and one that does not speak HTTPS: a stranger
/// learns nothing of the names that the network of the service knows.
const NOT_ANSWERED: &str = "does not answer by HTTPS at a public address";

fn document(url: &str) -> Value {
    json!({
        "client_id": url, "client_name": "A host", "redirect_uris": [LOOPBACK],
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code"],
        "response_types": ["code"], "logo_uri": "https://app.example.com/logo.png",
    })
}

/// A service with the account "ada" and a website, whose document is valid for two minutes.
async fn app_and_site() -> (App, DocumentSite, String) {
    let site = DocumentSite::start().await;
    let app = App::start_on(site.network(), |config| {
        config.service.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
    });
    let app = app.await;
    app.account("ada", Tier::Pro, 100).await;
    let url = format!("https://{HOST}{PATH}");
    site.serve_json(PATH, "Cache-Control: max-age=120\r\n", &document(&url).to_string());
    (app, site, url)
}

/// The answer to an authorization request from another address than those of other calls.
async fn ask_from(app: &App, number: usize, client: &str) -> Answer {
    let question = url(&authorization_parameters(client));
    let address = format!("198.51.100.{}", number + 1);
    let request = Request::builder().uri_str(question).header("X-Forwarded-For", address);
    app.send(request.finish()).await
}

async fn is_stored(app: &App, client: &str) -> bool {
    let id = ClientId::parse(client).expect("the id of a client");
    app.accounts().client(&id).await.is_ok()
}

#[tokio::test]
async fn a_described_client_gets_tokens_after_a_consent_that_names_its_website() {
    let (app, site, client) = app_and_site().await;
    let metadata = app.get("/.well-known/oauth-authorization-server", None).await;
    assert_eq!(metadata.expect(200)["client_id_metadata_document_supported"], true);
    let mut browser = Browser::new(&app);
    let page = browser.consent_page("ada", &url(&authorization_parameters(&client))).await;
    for text in
        ["A host", "the website <strong>app.example.com</strong>", "Any program on this device"]
    {
        assert!(page.body_text.contains(text), "{text}: {page:?}");
    }
    assert!(!page.body_text.contains("logo.png"), "{page:?}");
    assert!(!is_stored(&app, &client).await, "nothing is stored before the consent");
    let answered = redirect_parameters(&browser.decide(&page, "allow").await);
    let tokens = exchange(&app, &client, &value(&answered, "code").expect("a code")).await;
    tokens.expect(200);
    assert!(is_valid_token(&app, &tokens.text("/access_token")).await);
    refresh(&app, &client, &tokens.text("/refresh_token")).await.expect(200);
    assert_eq!(site.requests(PATH), 1, "the flow needs one fetch");
    let applications = browser.get("/account/applications").await;
    let shown = "The website <strong>app.example.com</strong> describes it.";
    assert!(applications.body_text.contains(shown), "{applications:?}");
}

#[tokio::test]
async fn a_client_whose_owner_says_no_is_not_stored() {
    let (app, _site, client) = app_and_site().await;
    let mut browser = Browser::new(&app);
    let page = browser.consent_page("ada", &url(&authorization_parameters(&client))).await;
    let answered = redirect_parameters(&browser.decide(&page, "deny").await);
    assert_eq!(value(&answered, "error").as_deref(), Some("access_denied"));
    assert!(!is_stored(&app, &client).await);
}

#[tokio::test]
async fn a_document_is_fetched_again_after_its_validity_and_takes_effect() {
    let (app, site, client) = app_and_site().await;
    ask_from(&app, 0, &client).await.expect(200);
    let changed = json!({ "client_id": client, "redirect_uris": ["https://app.example.com/cb"] });
    site.serve_json(PATH, "", &changed.to_string());
    app.clock.advance(TimeDelta::seconds(119));
    ask_from(&app, 0, &client).await.expect(200);
    assert_eq!(site.requests(PATH), 1);
    app.clock.advance(TimeDelta::seconds(1));
    let refused = ask_from(&app, 0, &client).await;
    refused.expect(400);
    assert!(refused.body_text.contains("an address that it has not registered"), "{refused:?}");
    assert_eq!(site.requests(PATH), 2);
}

#[tokio::test]
async fn a_redirect_address_outside_the_document_gets_no_answer() {
    let (app, _site, client) = app_and_site().await;
    for elsewhere in ["https://evil.example/cb", "http://127.0.0.1:4711/other"] {
        let mut pairs = authorization_parameters(&client);
        for (name, text) in &mut pairs {
            if *name == "redirect_uri" {
                assert_eq!(text, REDIRECT);
                *text = elsewhere.to_owned();
            }
        }
        let answer = app.get(&url(&pairs), None).await;
        answer.expect(400);
        assert_eq!(answer.header("location"), None);
    }
}

/// Sets a field of the good document, or removes the field for null.
fn altered(client: &str, name: &str, field: Value) -> String {
    let mut altered = document(client);
    let fields = altered.as_object_mut().expect("an object");
    match field {
        Value::Null => drop(fields.remove(name)),
        field => drop(fields.insert(name.to_owned(), field)),
    }
    altered.to_string()
}

#[tokio::test]
async fn a_document_that_cannot_be_used_is_refused_with_the_reason_and_without_its_text() {
    let (app, site, good) = app_and_site().await;
    const SECRET: &str = "<script>echo me</script>";
    let head = |status: &str, kind: &str| {
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}", SECRET.len())
    };
    let raw = |status: &str, kind: &str| format!("{}\r\n\r\n{SECRET}", head(status, kind));
    let large = format!("\"{}\"", "x".repeat(5_120));
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{large}\r\n0\r\n\r\n",
        large.len()
    );
    let cut = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
    let moved = format!(
        "HTTP/1.1 302 Found\r\nLocation: {good}\r\nX-Text: {SECRET}\r\nContent-Length: 0\r\n\r\n"
    );
    let raws = [
        (raw("404 Not Found", "application/json"), "answers with status 404"),
        (raw("201 Created", "application/json"), "answers with status 201"),
        (raw("200 OK", "text/html"), "not served as application/json"),
        (raw("200 OK", "application/json"), "not a JSON object"),
        (moved, "redirects are not followed"),
        (chunked, "more than 5120 bytes"),
        (cut.to_owned(), NOT_ANSWERED),
        (SECRET.to_owned(), NOT_ANSWERED),
    ];
    let fields = [
        ("client_id", Value::Null, "client_id must equal"),
        ("client_id", json!(good), "client_id must equal"),
        ("client_id", json!(1), "client_id must be a text"),
        ("client_secret", json!(SECRET), "no client secret"),
        ("client_secret_expires_at", json!(0), "no client secret"),
        ("token_endpoint_auth_method", json!("client_secret_basic"), "must be none"),
        ("token_endpoint_auth_method", json!("private_key_jwt"), "must be none"),
        ("client_name", json!([SECRET]), "client_name must be a text"),
        ("redirect_uris", Value::Null, "1 to 10 redirect URIs"),
        ("redirect_uris", json!([SECRET]), "absolute URI"),
        ("redirect_uris", json!(["javascript:alert(1)"]), "scheme"),
        ("grant_types", json!(["client_credentials"]), "authorization_code"),
        ("response_types", json!(["token"]), "must hold code"),
        ("client_uri", json!(large), "more than 5120 bytes"),
    ];
    let mut refused: Vec<(String, &str)> = Vec::new();
    for (index, (raw, reason)) in raws.iter().enumerate() {
        refused.push((site.answer(&format!("/raw/{index}"), raw), reason));
    }
    for (index, (name, field, reason)) in fields.iter().enumerate() {
        let path = format!("/field/{index}");
        let altered = altered(&format!("https://{HOST}{path}"), name, field.clone());
        refused.push((site.serve_json(&path, "", &altered), reason));
    }
    refused.push((site.serve_json("/list", "", "[]"), "not a JSON object"));
    refused.push((site.never_answer("/silent"), "does not answer in time"));
    refused.push((format!("https://{OTHER_HOST}{PATH}"), NOT_ANSWERED));
    refused.push((format!("https://{INSIDE_HOST}{PATH}"), NOT_ANSWERED));
    refused.push(("https://unknown.example.com/x".to_owned(), NOT_ANSWERED));
    refused.push(("https://127.0.0.1/x".to_owned(), "by a domain name"));
    refused.push((format!("http://{HOST}{PATH}"), "https URL"));
    for (index, (client, reason)) in refused.iter().enumerate() {
        let answer = ask_from(&app, index, client).await;
        answer.expect(400);
        assert!(answer.body_text.contains("cannot be connected"), "{client}: {answer:?}");
        assert!(answer.body_text.contains(reason), "{client} {reason}: {answer:?}");
        assert!(!answer.body_text.contains("echo me"), "{client}: {answer:?}");
        assert_eq!(answer.header("location"), None, "{client}");
    }
    assert_eq!(site.requests(PATH), 0, "no redirect was followed, no other host was believed");
}

#[tokio::test]
async fn a_refused_document_is_not_remembered() {
    let (app, site, client) = app_and_site().await;
    site.serve_json(PATH, "Cache-Control: max-age=86400\r\n", "[]");
    ask_from(&app, 0, &client).await.expect(400);
    site.serve_json(PATH, "", &document(&client).to_string());
    ask_from(&app, 0, &client).await.expect(200);
}

#[tokio::test]
async fn an_address_has_few_documents_fetched_and_known_ones_without_limit() {
    let (app, site, client) = app_and_site().await;
    ask_from(&app, 0, &client).await.expect(200);
    let mut limited = None;
    for index in 0..60 {
        let path = format!("/{index}");
        let client = format!("https://{HOST}{path}");
        site.serve_json(&path, "", &document(&client).to_string());
        let answer = ask_from(&app, 0, &client).await;
        if answer.status != 200 {
            assert_eq!(site.requests(&path), 0);
            limited = Some(answer);
            break;
        }
    }
    let limited = limited.expect("60 fetches are not allowed at once");
    limited.expect(429);
    assert!(limited.header("retry-after").is_some());
    ask_from(&app, 0, &client).await.expect(200);
    assert_eq!(site.requests(PATH), 1);
    let other = format!("https://{HOST}/other");
    site.serve_json("/other", "", &document(&other).to_string());
    ask_from(&app, 1, &other).await.expect(200);
}

#[tokio::test]
async fn nothing_is_fetched_where_the_setting_is_off() {
    let site = DocumentSite::start().await;
    let off = |config: &mut quant_server::config::Config| {
        config.service.mcp_client_documents = false;
    };
    let app = App::start_on(site.network(), off).await;
    let client = format!("https://{HOST}{PATH}");
    site.serve_json(PATH, "", &document(&client).to_string());
    let metadata = app.get("/.well-known/oauth-authorization-server", None).await;
    assert_eq!(metadata.expect(200)["client_id_metadata_document_supported"], false);
    let answer = app.get(&url(&authorization_parameters(&client)), None).await;
    answer.expect(400);
    assert!(answer.body_text.contains("fetches no such documents"), "{answer:?}");
    assert_eq!(site.requests(PATH), 0);
}

#[tokio::test]
async fn the_token_endpoint_fetches_no_document() {
    let (app, site, client) = app_and_site().await;
    let answer = exchange(&app, &client, "a-code-that-nobody-has-issued").await;
    assert_eq!(answer.expect(401)["error"], "invalid_client");
    assert_eq!(site.requests(PATH), 0);
}
