//! Headers, cookies and cache rules of every route, as one table.

use account_core::Tier;
use poem::{Request, http::Method};
use quant_server::state::MetricsToken;
use quant_tests::{Answer, App, documented::requests, requests::PASSWORD};
use serde_json::json;

const METRICS_TOKEN: &str = "0123456789abcdef";
/// A page of another website.
const STRANGER: &str = "https://stranger.example";
/// The origin of the operator's own website.
const WEBSITE: &str = "https://www.example.com";

/// The rule of a route for caches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cache {
    /// No cache keeps the answer.
    Never,
    /// A cache asks by the tag each time.
    Asks,
    /// A cache keeps the answer for a minute.
    Minute,
    /// A cache keeps the answer for an hour.
    Hour,
}

impl Cache {
    const fn header(self) -> &'static str {
        match self {
            Self::Never => "no-store",
            Self::Asks => "no-cache",
            Self::Minute => "public, max-age=60",
            Self::Hour => "public, max-age=3600",
        }
    }
}

/// The pages of other websites that may read an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cors {
    Nobody,
    Everybody,
}

use Cache::{Asks, Hour, Minute, Never};
use Cors::{Everybody, Nobody};

/// The routes that the document does not describe. A route without `GET` is asked for its refusal.
#[rustfmt::skip]
const ROUTES: [(&str, Cache, Cors); 44] = [
    ("/",                                            Asks,   Nobody),
    ("/docs",                                        Asks,   Nobody),
    ("/docs/",                                       Asks,   Nobody),
    ("/docs/errors",                                 Asks,   Nobody),
    ("/docs/price_european_option",                  Asks,   Nobody),
    ("/playground",                                  Asks,   Nobody),
    ("/playground/price_european_option",            Asks,   Nobody),
    ("/llms.txt",                                    Asks,   Nobody),
    ("/site.css",                                    Asks,   Nobody),
    ("/site.js",                                     Asks,   Nobody),
    ("/playground.js",                               Asks,   Nobody),
    ("/chart.js",                                    Asks,   Nobody),
    ("/favicon.ico",                                 Asks,   Nobody),
    ("/openapi.json",                                Asks,   Nobody),
    ("/pages.css",                                   Hour,   Nobody),
    ("/console/console.css",                         Hour,   Nobody),
    ("/metrics",                                     Never,  Nobody),
    ("/mcp",                                         Never,  Nobody),
    ("/mcp/",                                        Never,  Nobody),
    ("/login",                                       Never,  Nobody),
    ("/complete-profile",                            Never,  Nobody),
    ("/console",                                     Never,  Nobody),
    ("/console/activity",                            Never,  Nobody),
    ("/console/notifications",                       Never,  Nobody),
    ("/console/databases",                           Never,  Nobody),
    ("/console/security",                            Never,  Nobody),
    ("/console/register",                            Never,  Nobody),
    ("/console/forgot",                              Never,  Nobody),
    ("/console/verify",                              Never,  Nobody),
    ("/console/reset",                               Never,  Nobody),
    ("/account/applications",                        Never,  Nobody),
    ("/oauth/authorize",                             Never,  Nobody),
    ("/oauth/sign-in",                               Never,  Nobody),
    ("/oauth/sign-in/provider",                      Never,  Nobody),
    ("/oauth/sign-in/return",                        Never,  Nobody),
    ("/oauth/consent",                               Never,  Nobody),
    ("/oauth/token",                                 Never,  Everybody),
    ("/oauth/register",                              Never,  Everybody),
    ("/oauth/revoke",                                Never,  Everybody),
    ("/.well-known/oauth-authorization-server",      Never,  Everybody),
    ("/.well-known/oauth-protected-resource",        Never,  Everybody),
    ("/.well-known/oauth-protected-resource/mcp",    Never,  Everybody),
    ("/.well-known/quant-receipts.json",             Minute, Everybody),
    ("/nowhere",                                     Never,  Nobody),
];

/// Asserts what holds for every answer, with these rules.
fn check(answer: &Answer, what: &str, cache: Cache, cors: Cors) {
    let all = |name: &str| answer.headers.get_all(name).iter().collect::<Vec<_>>();
    assert_eq!(all("cache-control"), [cache.header()], "{what}: {answer:?}");
    assert_eq!(all("x-content-type-options"), ["nosniff"], "{what}: {answer:?}");
    assert_eq!(all("x-request-id").len(), 1, "{what}: {answer:?}");
    assert!(answer.header("server").is_none() && answer.header("x-powered-by").is_none(), "{what}");
    assert!(answer.header("access-control-allow-credentials").is_none(), "{what}");
    let allowed = answer.header("access-control-allow-origin");
    // A method that a route does not have is refused before the route adds its headers.
    let is_routed = answer.status != 405;
    assert_eq!(allowed == Some("*"), cors == Everybody && is_routed, "{what}: {answer:?}");
    assert_eq!(allowed.is_some(), cors == Everybody && is_routed, "{what}: {answer:?}");
    for cookie in all("set-cookie") {
        let cookie = cookie.to_str().expect("a text");
        for part in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/"] {
            assert!(cookie.contains(part), "{what}: {cookie}");
        }
        assert!(cookie.starts_with("__Host-") && !cookie.contains("Domain"), "{what}: {cookie}");
    }
    assert_eq!(all("content-security-policy").len(), 1, "{what}: {answer:?}");
    let policy = answer.header("content-security-policy").expect("a policy");
    for part in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{what}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{what}: {policy}");
    let kind = answer.header("content-type").unwrap_or_default();
    if kind.starts_with("text/") || kind.contains("+xml") {
        assert!(kind.ends_with("; charset=utf-8"), "{what}: {kind}");
    }
    if kind.starts_with("text/html") {
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{what}");
    }
}

async fn start() -> App {
    App::start_with(|config| {
        config.address_limit = 10_000.try_into().expect("not zero");
        config.service.is_https = true;
        config.service.metrics_token = Some(MetricsToken(METRICS_TOKEN.to_owned()));
    })
    .await
}

#[tokio::test]
async fn every_route_has_the_headers_cookies_and_cache_rules_of_the_table() {
    let app = start().await;
    for (path, cache, cors) in ROUTES {
        let request = Request::builder().method(Method::GET).uri_str(path);
        let request = request.header("Accept", "text/html").header("Origin", STRANGER);
        let request = request.header("Authorization", format!("Bearer {METRICS_TOKEN}"));
        check(&app.send(request.finish()).await, path, cache, cors);
    }
    let operations = requests();
    assert!(operations.len() > 50, "{} operations", operations.len());
    for (method, path, body) in operations {
        let request = Request::builder().method(method.clone()).uri_str(path.as_str());
        let request = request.content_type("application/json").header("Origin", STRANGER);
        // The front page is in the table above.
        let cache = if path == "/" { Asks } else { Never };
        check(&app.send(request.body(body)).await, &format!("{method} {path}"), cache, Nobody);
    }
}

/// Returns true if the path is one of a route, whose segments with a colon stand for any text.
fn is_of_route(path: &str, route: &str) -> bool {
    let (segments, patterns) = (path.split('/'), route.split('/'));
    segments.clone().count() == patterns.clone().count()
        && segments.zip(patterns).all(|(segment, pattern)| {
            segment == pattern || (pattern.starts_with(':') && !segment.is_empty())
        })
}

#[tokio::test]
async fn the_table_has_every_route_that_the_document_does_not_describe() {
    let app = start().await;
    let routes = app.undocumented_paths();
    assert!(routes.len() > 30, "{routes:?}");
    for route in &routes {
        let is_listed = ROUTES.iter().any(|(path, _, _)| is_of_route(path, route));
        assert!(is_listed, "add {route} to the table of this file");
    }
    for (path, _, _) in ROUTES.iter().filter(|(path, _, _)| *path != "/nowhere") {
        let is_route = routes.iter().any(|route| is_of_route(path, route));
        assert!(is_route, "{path} is no route: take it from the table of this file");
    }
}

#[tokio::test]
async fn the_pages_of_the_website_read_the_documented_routes_alone() {
    let app = App::start_with(|config| {
        config.address_limit = 10_000.try_into().expect("not zero");
        config.service.website_url = Some(WEBSITE.to_owned());
    })
    .await;
    let allowed = |answer: &Answer| {
        let header = |name| answer.header(name).map(str::to_owned);
        (header("access-control-allow-origin"), header("access-control-allow-credentials"))
    };
    for (path, _, cors) in ROUTES {
        let request = Request::builder().method(Method::GET).uri_str(path);
        let answer = app.send(request.header("Origin", WEBSITE).finish()).await;
        let is_open = cors == Everybody && answer.status != 405;
        let expected = (is_open.then(|| "*".to_owned()), None);
        assert_eq!(allowed(&answer), expected, "{path}: {answer:?}");
    }
    for (method, path, body) in requests().into_iter().filter(|(_, path, _)| path != "/") {
        let request = Request::builder().method(method.clone()).uri_str(path.as_str());
        let request = request.content_type("application/json").header("Origin", WEBSITE);
        let answer = app.send(request.body(body)).await;
        let expected = (Some(WEBSITE.to_owned()), Some("true".to_owned()));
        assert_eq!(allowed(&answer), expected, "{method} {path}: {answer:?}");
        let varies = answer.headers.get_all("vary").iter().any(|value| value == "Origin");
        assert!(varies, "{method} {path}: {answer:?}");
    }
}

#[tokio::test]
async fn the_cookie_of_a_sign_in_has_the_same_rules_and_is_read_by_its_name() {
    let app = start().await;
    app.account("ada", Tier::Free, 0).await;
    let signed_in = app.log_in("ada", PASSWORD).await;
    signed_in.expect(200);
    check(&signed_in, "POST /user/login", Never, Nobody);
    let cookie = signed_in.header("set-cookie").expect("a mark of the client");
    let (mark, _) = cookie.split_once(';').expect("attributes");
    assert!(mark.starts_with("__Host-qs_client="), "{cookie}");
    let sign_in = |cookie: &str, password: &str| {
        let body = json!({ "email": "ada@example.com", "password": password });
        let request = Request::builder().method(Method::POST).uri_str("/user/login");
        let request = request.content_type("application/json").header("Cookie", cookie);
        app.send(request.body(body.to_string()))
    };
    for _ in 0..6 {
        sign_in("", "wrong wrong wrong").await;
    }
    let unprefixed = mark.strip_prefix("__Host-").expect("a prefix");
    sign_in(unprefixed, PASSWORD).await.expect(423);
    sign_in(mark, PASSWORD).await.expect(200);
}
