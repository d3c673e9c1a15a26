//! The head of a request as it comes over a socket: one host, each credential once.

use std::{net::SocketAddr, time::Duration};

use account_core::Tier;
use quant_tests::App;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

const PATIENCE: Duration = Duration::from_secs(20);

/// The whole answer to a request of HTTP/1; the server closes the connection after it.
async fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("a request is taken");
    let mut answer = String::new();
    let read = timeout(PATIENCE, stream.read_to_string(&mut answer)).await;
    read.unwrap_or_else(|_| panic!("no end after {answer:?} to {request:?}")).expect("text");
    answer
}

/// The status of the answer to these lines, which `{address}` may occur in.
async fn status(address: SocketAddr, target: &str, lines: &[&str]) -> u16 {
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let request = format!("{target}\r\n{lines}Connection: close\r\n\r\n");
    let answer = exchange(address, &request.replace("{address}", &address.to_string())).await;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.unwrap_or_else(|| panic!("{answer:?} to {request:?}"))
}

#[tokio::test]
async fn a_request_of_http_1_names_one_host_which_the_target_agrees_with() {
    let app = App::start_with(|config| {
        config.service.public_url = Some("https://api.example.com".to_owned());
    })
    .await;
    let address = app.listen().await;
    let own = "Host: {address}";
    #[rustfmt::skip]
    let rows: [(&str, &[&str], u16); 25] = [
        ("GET /health HTTP/1.1",                               &[own],                              200),
        ("GET /health HTTP/1.1",                               &["Host: any.name.example"],         200),
        ("GET /health HTTP/1.1",                               &["hOST: [::1]:80"],                 200),
        ("GET /health HTTP/1.1",                               &[],                                 400),
        ("GET /nowhere HTTP/1.1",                              &[],                                 400),
        ("GET /health HTTP/1.0",                               &[],                                 200),
        ("GET /health HTTP/1.1",                               &[own, own],                         400),
        ("GET /health HTTP/1.0",                               &[own, own],                         400),
        ("GET /health HTTP/1.1",                               &[own, "Host: evil.example"],        400),
        ("GET /health HTTP/1.1",                               &["Host:"],                          400),
        ("GET /health HTTP/1.1",                               &["Host: a b"],                      400),
        ("GET /health HTTP/1.1",                               &["Host: user@evil.example"],        400),
        ("GET /health HTTP/1.1",                               &["Host: evil.example/path"],        400),
        ("GET /health HTTP/1.1",                               &["Host: a, b"],                     400),
        ("GET http://{address}/health HTTP/1.1",               &[own],                              200),
        ("GET http://{address}/health HTTP/1.1",               &[],                                 400),
        ("GET http://{address}/health HTTP/1.0",               &[],                                 200),
        ("GET http://API.example.com/health HTTP/1.1",         &["Host: api.example.com:80"],       200),
        ("GET https://mcp.example.com/health HTTP/1.1",        &["Host: mcp.example.com:443"],      200),
        ("GET http://evil.example/health HTTP/1.1",            &[own],                              400),
        ("GET http://evil.example/health HTTP/1.1",            &["Host: evil.example"],             400),
        ("GET http://evil.example/health HTTP/1.0",            &[],                                 400),
        ("GET http://{address}/health HTTP/1.1",               &["Host: evil.example"],             400),
        ("GET http://api.example.com:81/health HTTP/1.1",      &["Host: api.example.com"],          400),
        ("GET http://192.0.2.1/health HTTP/1.1",               &["Host: 192.0.2.1"],                400),
    ];
    for (target, lines, expected) in rows {
        assert_eq!(status(address, target, lines).await, expected, "{target} {lines:?}");
    }
}

#[tokio::test]
async fn the_host_of_a_message_is_checked_for_the_gateway_too() {
    let app = App::start().await;
    let address = app.listen().await;
    let own = "Host: mcp.example.com";
    #[rustfmt::skip]
    let rows: [(&str, &[&str], u16); 8] = [
        // The check of the host comes before that of the token, which is missing.
        ("POST /mcp HTTP/1.1",                        &[own],                         401),
        ("POST /mcp HTTP/1.1",                        &["Host: evil.example"],        403),
        ("POST /mcp HTTP/1.1",                        &[],                            400),
        ("POST /mcp HTTP/1.1",                        &[own, own],                    400),
        ("POST /mcp HTTP/1.1",                        &[own, "Host: evil.example"],   400),
        ("POST http://mcp.example.com/mcp HTTP/1.1",  &[own],                         401),
        ("POST http://evil.example/mcp HTTP/1.1",     &[own],                         400),
        ("POST http://mcp.example.com/mcp HTTP/1.1",  &["Host: evil.example"],        400),
    ];
    for (target, lines, expected) in rows {
        let lines = [lines, &["Content-Length: 0"]].concat();
        assert_eq!(status(address, target, &lines).await, expected, "{target} {lines:?}");
    }
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags];
    [&head, &stream.to_be_bytes()[..], payload].concat()
}

/// The fields of a request as literals without an index and without Huffman coding (RFC 7541 §6.2.2).
fn header_block(fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| {
        let length = u8::try_from(text.len()).expect("a short text");
        [&[length], text.as_bytes()].concat()
    };
    fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

/// The status at the start of the fields of an answer: an index of the static table, or a literal of
/// three digits, plain or in the Huffman code of RFC 7541, appendix B.
fn status_of(block: &[u8]) -> u16 {
    match block {
        [0x88, ..] => 200,
        [0x8c, ..] => 400,
        [0x8d, ..] => 404,
        [0x48, 3, a, b, c, ..] => [a, b, c].iter().fold(0, |n, d| n * 10 + u16::from(*d - b'0')),
        [0x48, length, code @ ..] if length & 0x80 != 0 => {
            let code = &code[..usize::from(length & 0x7f)];
            let mut bits =
                code.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
            let mut digits = 0;
            for _ in 0..3 {
                let mut code =
                    bits.by_ref().take(5).fold(0_u16, |code, bit| code << 1 | u16::from(bit));
                // '0' to '2' have the five bits of their value, '3' to '9' six bits from 011001 on.
                if code > 2 {
                    code = code << 1 | u16::from(bits.next().expect("a sixth bit"));
                    code -= 0b01_1001 - 3;
                }
                digits = digits * 10 + code;
            }
            digits
        }
        block => panic!("no status in {block:02x?}"),
    }
}

/// The end of a request's fields, in the flags of a frame of HTTP/2.
const END_HEADERS: u8 = 0x4;
/// The end of a request without a body.
const END_STREAM: u8 = 0x1;

/// The status of the answer to a request of HTTP/2 with these fields. Without `END_STREAM` in `flags`
/// the body never ends.
async fn http2_status(address: SocketAddr, fields: &[(&str, &str)], flags: u8) -> u16 {
    const PING: u8 = 6;
    const ACKNOWLEDGED: u8 = 1;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let mut start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    start.extend(frame(4, 0, 0, &[]));
    start.extend(frame(1, flags | END_HEADERS, 1, &header_block(fields)));
    stream.write_all(&start).await.expect("a request is taken");
    let answer = async {
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).await.expect("a frame");
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; usize::try_from(length).expect("a length")];
            stream.read_exact(&mut payload).await.expect("its payload");
            if head[3] == 1 {
                return status_of(&payload);
            }
            if head[3] == PING && head[4] & ACKNOWLEDGED == 0 {
                let answer = frame(PING, ACKNOWLEDGED, 0, &payload);
                stream.write_all(&answer).await.expect("the answer to a ping is taken");
            }
        }
    };
    timeout(PATIENCE, answer).await.expect("an answer")
}

#[tokio::test]
async fn the_authority_of_http_2_counts_as_host() {
    let app = App::start().await;
    let address = app.listen().await;
    let get = |path| [(":method", "GET"), (":scheme", "http"), (":path", path)].to_vec();
    let post = [(":method", "POST"), (":scheme", "https"), (":path", "/mcp")].to_vec();
    let with = |fields: &[_], more: &[_]| [fields, more].concat();
    let (own, foreign) = (("host", "mcp.example.com"), ("host", "evil.example"));
    let (authority, other) = ((":authority", "mcp.example.com"), (":authority", "evil.example"));
    let rows = [
        (with(&get("/health"), &[(":authority", "any.name.example")]), 200),
        (with(&get("/nowhere"), &[authority]), 404),
        (with(&get("/health"), &[authority, own]), 200),
        (with(&get("/health"), &[own]), 200),
        (with(&get("/health"), &[authority, foreign]), 400),
        (with(&get("/health"), &[authority, own, own]), 400),
        (get("/health"), 400),
        (with(&post, &[authority]), 401),
        (with(&post, &[other]), 403),
        (with(&post, &[other, own]), 400),
    ];
    for (fields, expected) in rows {
        let status = http2_status(address, &fields, END_STREAM).await;
        assert_eq!(status, expected, "{fields:?}");
    }
}

#[tokio::test]
async fn a_stream_of_http_2_that_never_ends_is_answered_though_its_client_answers_pings() {
    let app = App::start_with(|config| {
        config.service.body_patience = Duration::from_millis(100);
    })
    .await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let address = app.listen().await;
    let rows = [
        ("POST", "/oauth/register", 408),
        ("POST", "/user/login", 408),
        ("POST", "/guest/create", 408),
        ("POST", "/quantlib/core/types/tenor/add-to-date", 408),
        // The body that an operation does not take is read for a second, and dropped.
        ("GET", "/user/profile", 408),
        ("GET", "/health", 200),
        ("GET", "/nowhere", 404),
    ];
    for (method, path, expected) in rows {
        let authority = (":authority", "mcp.example.com");
        let mut fields = vec![(":method", method), (":scheme", "http"), (":path", path), authority];
        fields.push(("content-type", "application/json"));
        if !["/oauth/register", "/user/login", "/guest/create"].contains(&path) {
            fields.push(("x-api-key", &key));
        }
        assert_eq!(http2_status(address, &fields, 0).await, expected, "{method} {path}");
    }
    assert_eq!(app.service().body_memory.in_use(), 0);
}

#[tokio::test]
async fn a_credential_is_sent_once() {
    let app = App::start().await;
    let ada = format!("X-API-Key: {}", app.account("ada", Tier::Pro, 100).await);
    let bob = format!("x-api-key: {}", app.account("bob", Tier::Pro, 100).await);
    let session = format!(
        "X-Session-Token: {}",
        app.log_in("ada", quant_tests::PASSWORD).await.text("/data/session_token")
    );
    let address = app.listen().await;
    let host = "Host: localhost";
    let validate = "GET /auth/validate HTTP/1.1";
    let price = "POST /quantlib/pricing/bs/price HTTP/1.1";
    let rows: [(&str, &[&str], u16); 8] = [
        (validate, &[host, &ada], 200),
        (validate, &[host, &ada, &session], 200),
        (validate, &[host, &ada, &ada], 400),
        (validate, &[host, &ada, &bob], 400),
        (validate, &[host, &ada, "X-API-Key:"], 400),
        (price, &[host, &bob, &ada, "Content-Length: 0"], 400),
        (validate, &[host, &ada, &session, &session], 400),
        ("GET /health HTTP/1.1", &[host, &ada, &bob], 400),
    ];
    for (target, lines, expected) in rows {
        assert_eq!(status(address, target, lines).await, expected, "{target} {lines:?}");
    }
    let twice = format!("{validate}\r\n{host}\r\n{ada}\r\n{bob}\r\n\r\n");
    let answer = exchange(address, &twice).await;
    for part in ["connection: close", "x-request-id: ", "There must be one header X-API-Key."] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
}
