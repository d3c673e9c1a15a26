//! The memory and the limits of bodies: what a body may cost before it is known to be paid for.

use std::{sync::Arc, time::Duration};

use account_core::Tier;
use poem::{
    Body, Request, RequestBuilder,
    http::{Method, Version},
};
use quant_server::state::TierGate;
use quant_tests::{Answer, App, requests::PRICE};
use tokio::{
    io::{AsyncWriteExt, DuplexStream, duplex},
    task::JoinHandle,
};

const SHANNON: &str = "/quantlib/physics/entropy/shannon";
const TENOR: &str = "/quantlib/core/types/tenor/add-to-date";
const REGISTER: &str = "/oauth/register";
const CLIENT: &str = r#"{"redirect_uris": ["http://127.0.0.1/callback"]}"#;
/// Paths that take a body without a key.
const OPEN: [&str; 3] = ["/guest/create", "/user/login", "/user/forgot-password"];
/// Ample time for an answer: a test fails here where a request waits for other clients.
const HANG: Duration = Duration::from_secs(30);

fn post(path: &str, key: Option<&str>) -> RequestBuilder {
    let request = Request::builder().method(Method::POST).uri_str(path);
    let request = request.content_type("application/json");
    match key {
        Some(key) => request.header("X-API-Key", key),
        None => request,
    }
}

/// Sends a request whose body comes from the returned end, as a client of a connection sends it.
fn send_slowly(app: &Arc<App>, request: RequestBuilder) -> (DuplexStream, JoinHandle<Answer>) {
    let (client, server) = duplex(1 << 20);
    let (app, request) = (app.clone(), request.body(Body::from_async_read(server)));
    (client, tokio::spawn(async move { app.send(request).await }))
}

/// A body of so many bytes.
fn padded(body: &str, length: usize) -> String {
    format!("{}{body}", " ".repeat(length - body.len()))
}

/// A distribution of so many bytes, as JSON.
fn distribution(length: usize) -> String {
    padded(r#"{"probabilities": [0.5, 0.5], "base": 2}"#, length)
}

/// Waits until unfinished bodies hold as many bytes.
async fn held(app: &App, expected: impl Fn(usize) -> bool) {
    let waited = tokio::time::timeout(HANG, async {
        while !expected(app.service().body_memory.in_use()) {
            tokio::task::yield_now().await;
        }
    });
    waited.await.expect("the bytes are counted");
}

#[tokio::test]
async fn silent_bodies_hold_nothing_and_delay_no_large_body() {
    let app = Arc::new(App::start().await);
    let payer = app.account("ada", Tier::Enterprise, 100).await;
    let guest = app.guest().await;
    let mut silent = Vec::new();
    for number in 0..60 {
        let path = if number % 4 == 3 { TENOR } else { OPEN[number % 4] };
        let key = (number % 4 == 3).then_some(guest.as_str());
        let request = post(path, key).header("Content-Length", "100000");
        silent.push(send_slowly(&app, request));
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let body = distribution(140_000);
    let answer = tokio::time::timeout(HANG, app.post(SHANNON, Some(&payer), &body)).await;
    answer.expect("nobody waits for a silent client").expect(200);
    assert_eq!(app.service().body_memory.in_use(), 0);
    assert!(silent.iter().all(|(_, answer)| !answer.is_finished()), "the others still wait");
}

#[tokio::test]
async fn the_bytes_of_an_unfinished_body_are_counted_until_it_ends() {
    let app = Arc::new(App::start().await);
    let request = post("/guest/create", None).header("Content-Length", "200000");
    let (mut client, answer) = send_slowly(&app, request);
    client.write_all(&[b' '; 150_000]).await.expect("the service reads");
    held(&app, |bytes| (150_000..=200_000).contains(&bytes)).await;
    drop(client);
    answer.await.expect("an answer").expect(422);
    held(&app, |bytes| bytes == 0).await;
}

#[tokio::test]
async fn a_body_without_memory_is_refused_with_a_time_to_wait_and_a_payer_is_served() {
    let small = |config: &mut quant_server::config::Config| {
        config.body_memory = 500_000.try_into().expect("not zero");
        config.service.body_limit = 250_000;
    };
    let app = Arc::new(App::start_with(small).await);
    let payer = app.account("ada", Tier::Enterprise, 100).await;
    let request = || post("/guest/create", None).header("Content-Length", "200000");
    let (mut client, _first) = send_slowly(&app, request());
    client.write_all(&[b' '; 150_000]).await.expect("the service reads");
    held(&app, |bytes| bytes >= 150_000).await;
    let (mut second, answer) = send_slowly(&app, request());
    second.write_all(&[b' '; 150_000]).await.expect("the service reads");
    let answer = tokio::time::timeout(HANG, answer).await.expect("it is refused at once");
    let answer = answer.expect("an answer");
    answer.expect(503);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("connection"), Some("close"));
    app.post(SHANNON, Some(&payer), &distribution(140_000)).await.expect(200);
}

#[tokio::test]
async fn each_operation_has_its_own_limit_and_tier_free_the_common_one() {
    let app = App::start_with(|config| config.service.tier_gate = TierGate::Guests).await;
    let payer = app.account("ada", Tier::Enterprise, 1000).await;
    let free = app.account("bob", Tier::Free, 1000).await;
    let option = |length: usize| {
        let example = quant_tests::requests::OPTION;
        format!("{}{example}", " ".repeat(length - example.len()))
    };
    let common = 256 * 1024;
    app.post(PRICE, Some(&payer), &option(common)).await.expect(200);
    app.post(PRICE, Some(&payer), &option(common + 1)).await.expect(413);
    app.post(SHANNON, Some(&payer), &distribution(common + 1)).await.expect(200);
    app.post(SHANNON, Some(&free), &distribution(common)).await.expect(200);
    app.post(SHANNON, Some(&free), &distribution(common + 1)).await.expect(413);
}

#[tokio::test]
async fn a_body_without_a_length_has_the_same_limits() {
    let app = App::start().await;
    let payer = app.account("ada", Tier::Enterprise, 1000).await;
    let unannounced = async |path: &str, version: Version, body: String| {
        let mut request = post(path, Some(&payer)).version(version);
        if version == Version::HTTP_11 {
            request = request.header("Transfer-Encoding", "chunked");
        }
        let body = Body::from_async_read(std::io::Cursor::new(body.into_bytes()));
        app.send(request.body(body)).await
    };
    let limit = 16 * 1024 * 1024;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        unannounced(SHANNON, version, distribution(300_000)).await.expect(200);
        unannounced(SHANNON, version, distribution(limit + 1)).await.expect(413);
        unannounced(TENOR, version, distribution(256 * 1024 + 1)).await.expect(413);
        unannounced(REGISTER, version, padded(CLIENT, 64 * 1024)).await.expect(201);
        unannounced(REGISTER, version, padded(CLIENT, 64 * 1024 + 1)).await.expect(413);
        assert_eq!(app.service().body_memory.in_use(), 0);
    }
}

#[tokio::test]
async fn a_compressed_body_is_refused_with_the_encoding_that_is_accepted() {
    let app = App::start().await;
    let payer = app.account("ada", Tier::Enterprise, 1000).await;
    let send = async |path: &str, encoding: &str| {
        let request = post(path, Some(&payer)).header("Content-Encoding", encoding);
        app.send(request.body(distribution(100))).await
    };
    for path in [SHANNON, "/guest/create"] {
        for encoding in ["gzip", "GZIP", "identity, br", "x"] {
            let answer = send(path, encoding).await;
            let told = answer.expect(415)["detail"].as_str().expect("a text");
            assert!(told.contains("Content-Encoding"), "{told}");
            assert_eq!(answer.header("accept-encoding"), Some("identity"), "{path} {encoding}");
        }
    }
    send(SHANNON, "identity").await.expect(200);
    let refused = send(REGISTER, "gzip").await;
    assert_eq!(refused.expect(415)["error"], "invalid_request");
    assert_eq!(refused.header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn a_body_that_never_ends_is_refused_when_the_time_for_it_is_over() {
    let app = App::start_with(|config| {
        config.service.body_patience = Duration::from_millis(100);
    });
    let app = Arc::new(app.await);
    let payer = app.account("ada", Tier::Enterprise, 100).await;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        for path in [SHANNON, REGISTER, "/guest/create", "/user/login", "/user/forgot-password"] {
            let mut request = post(path, (path == SHANNON).then_some(&payer)).version(version);
            if version == Version::HTTP_11 {
                request = request.header("Transfer-Encoding", "chunked");
            }
            let (mut client, answer) = send_slowly(&app, request);
            client.write_all(b"{").await.expect("the service reads");
            let answer = tokio::time::timeout(HANG, answer).await.expect("the time is bounded");
            answer.expect("an answer").expect(408);
        }
    }
    held(&app, |bytes| bytes == 0).await;
}

#[tokio::test]
async fn a_registration_is_counted_until_it_ends() {
    let app = Arc::new(App::start().await);
    let request = post(REGISTER, None).version(Version::HTTP_2);
    let (mut client, answer) = send_slowly(&app, request);
    client.write_all(&[b' '; 50_000]).await.expect("the service reads");
    held(&app, |bytes| (50_000..=64 * 1024).contains(&bytes)).await;
    drop(client);
    answer.await.expect("an answer").expect(400);
    held(&app, |bytes| bytes == 0).await;
}
