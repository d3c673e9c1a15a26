//! Calls of the pages of `QS_WEBSITE_URL`, across origins.

use account_core::Tier;
use poem::{Request, RequestBuilder, http::Method};
use quant_server::api::openapi::DOCUMENT;
use quant_tests::{
    Answer, App, PASSWORD, email,
    requests::{OPTION, PRICE},
};
use serde_json::json;

/// The website's pages are below a path of their own; an origin has none.
const WEBSITE: &str = "https://www.example.com/app";
const ORIGIN: &str = "https://www.example.com";

async fn with_website() -> App {
    App::start_with(|config| config.service.website_url = Some(WEBSITE.to_owned())).await
}

fn from(origin: &str, method: &Method, path: &str) -> RequestBuilder {
    let request = Request::builder().method(method.clone()).uri_str(path);
    request.header("Origin", origin).content_type("application/json")
}

fn preflight(origin: &str, method: &str, path: &str) -> Request {
    let request = from(origin, &Method::OPTIONS, path);
    let request = request.header("Access-Control-Request-Method", method);
    request.header("Access-Control-Request-Headers", "content-type,x-api-key").finish()
}

/// The names in a header, in lower case.
fn names(answer: &Answer, header: &str) -> Vec<String> {
    let list = answer.header(header).unwrap_or_else(|| panic!("no {header}: {answer:?}"));
    list.split(", ").map(str::to_lowercase).collect()
}

fn assert_readable(answer: &Answer) {
    assert_eq!(answer.header("access-control-allow-origin"), Some(ORIGIN), "{answer:?}");
    assert_eq!(answer.header("access-control-allow-credentials"), Some("true"));
    assert_eq!(answer.header("vary"), Some("Origin"));
}

#[tokio::test]
async fn a_page_of_the_website_may_prepare_every_documented_call() {
    let app = with_website().await;
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    for (path, methods) in paths {
        let segments = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
        let path = segments.collect::<Vec<_>>().join("/");
        for method in methods.as_object().expect("methods").keys() {
            let method = method.to_uppercase();
            let answer = app.send(preflight(ORIGIN, &method, &path)).await;
            assert_eq!(answer.status, 204, "{method} {path}");
            assert_readable(&answer);
            assert!(answer.header("access-control-allow-methods").expect("them").contains(&method));
            let allowed = names(&answer, "access-control-allow-headers");
            for name in ["content-type", "idempotency-key", "x-api-key", "x-session-token"] {
                assert!(allowed.iter().any(|allowed| allowed == name), "{name}");
            }
            assert!(answer.header("access-control-max-age").is_some());
            assert!(answer.header("x-request-id").is_some());
        }
    }
    app.send(preflight(ORIGIN, "DELETE", "/user/login")).await.expect(405);
}

#[tokio::test]
async fn a_page_of_the_website_reads_answers_refusals_and_limits() {
    let app = with_website().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let price = async || {
        let request = from(ORIGIN, &Method::POST, PRICE).header("X-API-Key", &key);
        app.send(request.body(OPTION)).await
    };
    for status in [200, 402] {
        let answer = price().await;
        answer.expect(status);
        assert_readable(&answer);
        let exposed = names(&answer, "access-control-expose-headers");
        for name in answer.headers.keys().map(poem::http::HeaderName::as_str) {
            if name.starts_with("x-") && name != "x-content-type-options" {
                assert!(exposed.iter().any(|exposed| exposed == name), "{name}");
            }
        }
    }
    app.accounts().set_hourly_limit(&email("ada"), Some(1)).await.expect("an account");
    app.forget_callers();
    let limited = price().await;
    limited.expect(429);
    assert!(names(&limited, "access-control-expose-headers").contains(&"retry-after".to_owned()));
    let login = json!({ "email": email("ada").as_str(), "password": PASSWORD }).to_string();
    let login = app.send(from(ORIGIN, &Method::POST, "/user/login").body(login)).await;
    login.expect(200);
    assert_readable(&login);
    assert!(login.header("set-cookie").is_some(), "the cookie that marks the client");
}

#[tokio::test]
async fn no_other_origin_and_no_other_page_is_let_in() {
    let website = with_website().await;
    let none = App::start().await;
    for (app, origin) in [
        (&website, "https://evil.example"),
        (&website, "http://www.example.com"),
        (&website, "https://www.example.com:8443"),
        (&website, "https://www.example.com.evil.example"),
        (&website, "null"),
        (&none, ORIGIN),
    ] {
        let answer = app.send(preflight(origin, "POST", "/user/login")).await;
        answer.expect(405);
        assert!(answer.header("access-control-allow-origin").is_none(), "{origin}");
        let answer = app.send(from(origin, &Method::GET, "/auth/validate").finish()).await;
        answer.expect(401);
        assert!(answer.header("access-control-allow-origin").is_none(), "{origin}");
    }
    for path in ["/metrics", "/account/applications", "/oauth/authorize", "/openapi.json"] {
        let answer = website.send(from(ORIGIN, &Method::GET, path).finish()).await;
        assert!(answer.header("access-control-allow-origin").is_none(), "{path}");
    }
    let twice = from(ORIGIN, &Method::GET, "/auth/validate").header("Origin", ORIGIN);
    let twice = website.send(twice.finish()).await;
    assert!(twice.header("access-control-allow-origin").is_none());
}
