//! The transport of the MCP gateway: required headers and message forms, and the error of each fault.

use account_core::Tier;
use poem::{
    Request,
    http::{Method, StatusCode},
};
use quant_tests::{
    Answer, App, MCP_URL,
    mcp::{CURRENT, Era, Host, LEGACY, meta, post},
};
use serde_json::{Value, json};

/// The headers of a message, by name and value.
type Headers = &'static [(&'static str, &'static str)];

const VERSION: &str = "MCP-Protocol-Version";
const VERSION_2026: (&str, &str) = (VERSION, CURRENT);

fn assert_error(answer: &Answer, status: u16, code: i64, case: &str) {
    let body = answer.expect(status);
    assert_eq!(body["jsonrpc"], "2.0", "{case}: {answer:?}");
    assert_eq!(body["error"]["code"], code, "{case}: {answer:?}");
    assert!(body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{case}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{case}");
}

#[tokio::test]
async fn without_a_valid_token_the_answer_is_401_with_the_metadata_url() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10).await;
    let guest = app.guest().await;
    let unknown = "A".repeat(43);
    let metadata = format!("{MCP_URL}/.well-known/oauth-protected-resource/mcp");
    let plain = &format!("Bearer resource_metadata=\"{metadata}\", scope=\"mcp\"");
    let invalid = format!("{plain}, error=\"invalid_token\"");
    let rows: [(Vec<(&str, String)>, &str); 12] = [
        (vec![], plain),
        (vec![("X-API-Key", key.clone())], plain),
        (vec![("Authorization", "Bearer".to_owned())], &invalid),
        (vec![("Authorization", "Bearer ".to_owned())], &invalid),
        (vec![("Authorization", format!("Bearer {unknown}"))], &invalid),
        (vec![("Authorization", format!("Bearer {unknown}A"))], &invalid),
        (vec![("Authorization", format!("Bearer {key}"))], &invalid),
        (vec![("Authorization", format!("Bearer {guest}"))], &invalid),
        (vec![("Authorization", "Basic YTpi".to_owned())], &invalid),
        (vec![("Authorization", "Bearer ä".to_owned())], &invalid),
        (
            vec![
                ("Authorization", format!("Bearer {unknown}")),
                ("Authorization", "Bearer x".to_owned()),
            ],
            &invalid,
        ),
        (vec![("Cookie", format!("access_token={unknown}"))], plain),
    ];
    for (headers, expected) in rows {
        let request = headers
            .iter()
            .fold(post("/mcp"), |request, (name, value)| request.header(*name, value.as_str()));
        let answer = app.send(request.body("not even JSON")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{headers:?}");
        assert_eq!(answer.header("www-authenticate"), Some(expected), "{headers:?}");
    }
}

#[tokio::test]
async fn a_token_in_the_query_or_on_a_rest_route_is_not_accepted() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    for path in [format!("/mcp?access_token={token}"), format!("/mcp?token={token}")] {
        let answer = app.send(post(&path).body("{}")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(!answer.header("www-authenticate").expect("a challenge").contains("invalid_token"));
    }
    let profile = Request::builder().uri_str("/user/profile");
    let bearer = format!("Bearer {token}");
    let answer = app.send(profile.header("Authorization", bearer).finish()).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(app.get("/user/profile", Some(&token)).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_token_is_checked_before_the_body_is_read() {
    let app = App::start().await;
    let endless = poem::Body::from_async_read(Endless);
    let request = post("/mcp").header("Transfer-Encoding", "chunked").body(endless);
    assert_eq!(app.send(request).await.status, StatusCode::UNAUTHORIZED);
}

/// A body whose bytes never arrive.
struct Endless;

impl tokio::io::AsyncRead for Endless {
    fn poll_read(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        _: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Pending
    }
}

#[tokio::test]
async fn only_post_is_accepted() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    for method in
        [Method::GET, Method::DELETE, Method::PUT, Method::PATCH, Method::HEAD, Method::OPTIONS]
    {
        let request = Request::builder().method(method.clone()).uri_str("/mcp");
        let bearer = format!("Bearer {token}");
        let request = request.header("Authorization", bearer).header("Accept", "text/event-stream");
        let answer = app.send(request.finish()).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(answer.header("allow"), Some("POST"), "{method}");
    }
}

#[tokio::test]
async fn a_foreign_origin_or_host_is_refused_before_anything_else() {
    let allowed = |config: &mut quant_server::config::Config| {
        config.service.allowed_origins = vec!["https://host.example".to_owned()];
        config.service.mcp_url = "http://127.0.0.1:8080".to_owned();
    };
    let app = App::start_with(allowed).await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    #[rustfmt::skip]
    let rows: [(Headers, u16); 18] = [
        (&[],                                           200),
        (&[("Origin", "https://host.example")],         200),
        (&[("Origin", "HTTPS://Host.example")],         200),
        (&[("Origin", "http://127.0.0.1:8080")],        200),
        (&[("Origin", "http://host.example")],          403),
        (&[("Origin", "https://host.example:8443")],    403),
        (&[("Origin", "https://host.example.evil.com")],403),
        (&[("Origin", "https://evil.com")],             403),
        (&[("Origin", "http://127.0.0.1:8081")],        403),
        (&[("Origin", "null")],                         403),
        (&[("Origin", "")],                             403),
        (&[("Host", "127.0.0.1:8080")],                 200),
        (&[("Host", "localhost:8080")],                 200),
        (&[("Host", "[::1]:1")],                        200),
        (&[("Host", "evil.com")],                       403),
        (&[("Host", "evil.com:8080")],                  403),
        (&[("Host", "127.0.0.1.evil.com")],             403),
        (&[("Host", "a b")],                            400),
    ];
    for (headers, status) in rows {
        assert_eq!(host.send(headers, ping).await.status.as_u16(), status, "{headers:?}");
    }
    let public = App::start().await;
    let token = public.bearer("ada").await;
    let host = Host::new(&public, &token, Era::Legacy);
    #[rustfmt::skip]
    let rows: [(Headers, u16); 6] = [
        (&[("Host", "mcp.example.com")],                200),
        (&[("Host", "MCP.example.com:443")],            200),
        (&[("Origin", MCP_URL)],                        200),
        (&[("Host", "localhost")],                      403),
        (&[("Host", "example.com")],                    403),
        (&[("Origin", "http://localhost:3000")],        403),
    ];
    for (headers, status) in rows {
        assert_eq!(host.send(headers, ping).await.status.as_u16(), status, "{headers:?}");
    }
    let nobody = post("/mcp").header("Origin", "https://evil.com").body(ping);
    assert_eq!(app.send(nobody).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_allowed_origin_may_send_requests_and_read_the_challenge() {
    let allowed = |config: &mut quant_server::config::Config| {
        config.service.allowed_origins = vec!["https://host.example".to_owned()];
    };
    let app = App::start_with(allowed).await;
    let ask = |origin: &str| {
        let request = Request::builder().method(Method::OPTIONS).uri_str("/mcp");
        let request = request.header("Access-Control-Request-Method", "POST");
        request.header("Origin", origin.to_owned()).finish()
    };
    let answer = app.send(ask("https://host.example")).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://host.example"));
    assert!(answer.header("access-control-allow-headers").expect("them").contains("Authorization"));
    let answer = app.send(ask("https://evil.com")).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.header("access-control-allow-origin").is_none());
    let answer = app.send(post("/mcp").header("Origin", "https://host.example").body("")).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(
        answer.header("access-control-expose-headers").expect("them").contains("WWW-Authenticate")
    );
}

#[tokio::test]
async fn an_invalid_message_is_refused_with_the_json_rpc_error() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    #[rustfmt::skip]
    let rows = [
        // text                                                             code    the id of the answer
        ("",                                                                -32700, Value::Null),
        ("   ",                                                             -32700, Value::Null),
        ("{",                                                               -32700, Value::Null),
        ("nonsense",                                                        -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#,                  -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}"#, -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}"#,  -32700, Value::Null),
        ("\u{feff}{}",                                                      -32700, Value::Null),
        ("[]",                                                              -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,                   -32600, Value::Null),
        ("null",                                                            -32600, Value::Null),
        ("1",                                                               -32600, Value::Null),
        ("\"ping\"",                                                        -32600, Value::Null),
        ("{}",                                                              -32600, Value::Null),
        (r#"{"id":7,"method":"ping"}"#,                                     -32600, json!(7)),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,                     -32600, json!(7)),
        (r#"{"jsonrpc":2.0,"id":7,"method":"ping"}"#,                       -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":"a"}"#,                                   -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":null}"#,                     -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":1}"#,                        -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,                  -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,                   -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,                  -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,                   -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,                    -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,                         -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,    -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,         -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,         -32602, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#,        -32602, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,       -32602, json!(1)),
    ];
    for (text, code, id) in rows {
        let answer = host.send(&[], text).await;
        assert_error(&answer, 400, code, text);
        assert_eq!(answer.body["id"], id, "{text}");
    }
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_error(&host.send(&[], &nested).await, 400, -32700, "nested");
    let invalid = host.post().body(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}".to_vec());
    assert_error(&app.send(invalid).await, 400, -32700, "no UTF-8");
}

#[tokio::test]
async fn a_notification_is_accepted_without_an_answer() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    #[rustfmt::skip]
    let rows: [(&str, Headers); 6] = [
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,                                &[]),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,         &[]),
        (r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,                         &[(VERSION, LEGACY)]),
        (r#"{"jsonrpc":"2.0","method":"notifications/unheard/of"}"#,                                 &[]),
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_profile"}}"#,               &[]),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#,       &[VERSION_2026, ("Mcp-Method", "notifications/cancelled")]),
    ];
    for (text, headers) in rows {
        let answer = host.send(headers, text).await;
        assert_eq!((answer.status, &answer.body), (StatusCode::ACCEPTED, &Value::Null), "{text}");
    }
}

#[tokio::test]
async fn media_types_are_accepted_as_clients_send_them() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let send = async |kind: Option<&str>, accept: Option<&str>| {
        let mut request = Request::builder().method(Method::POST).uri_str("/mcp");
        request = request.header("Authorization", format!("Bearer {token}"));
        for (name, value) in [("Content-Type", kind), ("Accept", accept)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        app.send(request.body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await.status.as_u16()
    };
    let (json, both) = (Some("application/json"), Some("application/json, text/event-stream"));
    #[rustfmt::skip]
    let rows = [
        (json,                                     both,                       200),
        (Some("application/json; charset=utf-8"),  both,                       200),
        (Some("APPLICATION/JSON"),                 both,                       200),
        (None,                                     both,                       200),
        (json,                                     None,                       200),
        (json,                                     Some("*/*"),                200),
        (json,                                     Some("application/json"),   200),
        (json,                                     Some("text/event-stream"),  406),
        (json,                                     Some("text/html"),          406),
        (json,                                     Some("application/json;q=0"), 406),
        (Some("text/plain"),                       both,                       415),
        (Some("application/x-www-form-urlencoded"), both,                      415),
        (Some("nonsense"),                         both,                       415),
    ];
    for (kind, accept, expected) in rows {
        assert_eq!(send(kind, accept).await, expected, "{kind:?} {accept:?}");
    }
}

#[tokio::test]
async fn a_message_has_a_limit_of_its_own() {
    let app = App::start_with(|config| config.service.mcp_body_limit = 400_000).await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    let message = |length: usize| {
        let frame = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"build_curve","arguments":{"x":""}}}"#;
        frame.replace(r#""x":"""#, &format!(r#""x":"{}""#, "a".repeat(length - frame.len())))
    };
    for (length, expected) in [(60_000, 200), (70_000, 200), (400_000, 200), (400_001, 413)] {
        let answer = host.send(&[], &message(length)).await;
        assert_eq!(answer.status.as_u16(), expected, "{length}");
        let announced = length.to_string();
        let request = host.post().header("Content-Length", announced).body(message(length));
        assert_eq!(app.send(request).await.status.as_u16(), expected, "{length}, announced");
    }
}

#[tokio::test]
async fn the_legacy_revision_needs_no_handshake_and_reports_errors_with_200() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    let ask = async |headers: Headers, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        host.send(headers, &message.to_string()).await
    };
    for headers in [
        &[] as Headers,
        &[(VERSION, "2024-11-05")],
        &[(VERSION, "2025-03-26")],
        &[(VERSION, "2025-06-18")],
        &[(VERSION, LEGACY)],
        &[(VERSION, LEGACY), ("Mcp-Session-Id", "made-up")],
        &[(VERSION, LEGACY), ("Mcp-Method", "tools/list"), ("Mcp-Name", "x")],
    ] {
        let answer = ask(headers, "ping", json!({})).await;
        assert_eq!(answer.expect(200)["result"], json!({}), "{headers:?}");
        assert!(answer.header("mcp-session-id").is_none());
    }
    #[rustfmt::skip]
    let rows = [
        ("tools/call",               json!({ "name": "unheard_of" }),               -32602),
        ("tools/call",               json!({ "name": "Get_Usage" }),                -32602),
        ("tools/call",               json!({ "name": "" }),                         -32602),
        ("tools/call",               json!({}),                                     -32602),
        ("tools/call",               json!({ "name": 1 }),                          -32602),
        ("tools/call",               json!({ "name": "get_usage", "arguments": 1 }), -32602),
        ("tools/call",               json!({ "name": "get_usage", "arguments": [] }), -32602),
        ("tools/list",               json!({ "cursor": "x" }),                      -32602),
        ("resources/list",           json!({ "cursor": "x" }),                      -32602),
        ("resources/templates/list", json!({ "cursor": "x" }),                      -32602),
        ("resources/read",           json!({}),                                     -32602),
        ("resources/read",           json!({ "uri": 1 }),                           -32602),
        ("resources/read",           json!({ "uri": "svc://results/none" }),        -32002),
        ("resources/subscribe",      json!({ "uri": "svc://results/none" }),        -32601),
        ("resources/unsubscribe",    json!({ "uri": "svc://results/none" }),        -32601),
        ("prompts/list",             json!({ "cursor": "x" }),                      -32602),
        ("prompts/get",              json!({ "name": "x" }),                        -32602),
        ("completion/complete",      json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "b" } }), -32602),
        ("logging/setLevel",         json!({ "level": "info" }),                    -32601),
        ("tasks/get",                json!({ "taskId": "x" }),                      -32601),
        ("unheard/of",               json!({}),                                     -32601),
        ("",                         json!({}),                                     -32601),
        ("initialize",               json!({}),                                     -32602),
    ];
    for (method, params, code) in rows {
        let case = format!("{method} {params}");
        let answer = ask(&[(VERSION, LEGACY)], method, params).await;
        assert_error(&answer, 200, code, &case);
        assert_eq!(answer.body["id"], 1);
    }
}

#[tokio::test]
async fn an_unknown_version_is_refused_with_the_supported_ones() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for version in ["2099-01-01", "1.0", "2025-11-26", "nonsense", ""] {
        for text in [request, notification] {
            let answer = host.send(&[(VERSION, version)], text).await;
            assert_error(&answer, 400, -32022, version);
            let supported = answer.body["error"]["data"]["supported"].as_array().expect("a list");
            assert!(supported.contains(&json!(LEGACY)) && supported.contains(&json!(CURRENT)));
        }
    }
    let mut unknown = meta();
    unknown["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    for method in ["tools/list", "server/discover"] {
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": unknown } });
        let headers = [(VERSION, "2099-01-01"), ("Mcp-Method", method)];
        let answer = host.send(&headers, &message.to_string()).await;
        assert_error(&answer, 400, -32022, method);
        assert!(answer.body["error"]["data"]["supported"].is_array());
    }
}

#[tokio::test]
async fn the_current_revision_requires_that_metadata_and_headers_agree() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Current);
    let (list, call, read) = ("tools/list", "tools/call", "resources/read");
    let with_meta = |mut params: Value| {
        params["_meta"] = meta();
        params
    };
    let without = |key: &str| {
        let mut meta = meta();
        meta.as_object_mut().expect("an object").remove(&format!("io.modelcontextprotocol/{key}"));
        json!({ "_meta": meta })
    };
    let balance = || with_meta(json!({ "name": "get_balance" }));
    let missing = || with_meta(json!({ "uri": "svc://results/x" }));
    let method = |name| ("Mcp-Method", name);
    #[rustfmt::skip]
    let rows = [
        // headers                                                                    method  parameters                       status code
        (vec![VERSION_2026, method(list)],                                            list,   with_meta(json!({})),            200,   0),
        (vec![VERSION_2026, method(call), ("Mcp-Name", "get_balance")],               call,   balance(),                       200,   0),
        (vec![VERSION_2026, method(call), ("Mcp-Name", "=?base64?Z2V0X2JhbGFuY2U=?=")], call, balance(),                       200,   0),
        (vec![VERSION_2026],                                                          list,   with_meta(json!({})),            400,   -32020),
        (vec![VERSION_2026, method("tools/call")],                                    list,   with_meta(json!({})),            400,   -32020),
        (vec![VERSION_2026, method("TOOLS/LIST")],                                    list,   with_meta(json!({})),            400,   -32020),
        (vec![VERSION_2026, method(call)],                                            call,   balance(),                       400,   -32020),
        (vec![VERSION_2026, method(call), ("Mcp-Name", "get_usage")],                 call,   balance(),                       400,   -32020),
        (vec![VERSION_2026, method(read)],                                            read,   missing(),                       400,   -32020),
        (vec![VERSION_2026, method(read), ("Mcp-Name", "svc://results/y")],           read,   missing(),                       400,   -32020),
        (vec![VERSION_2026, method(read), ("Mcp-Name", "svc://results/x")],           read,   missing(),                       200,   -32602),
        (vec![method(list)],                                                          list,   with_meta(json!({})),            400,   -32020),
        (vec![(VERSION, LEGACY), method(list)],                                       list,   with_meta(json!({})),            400,   -32020),
        (vec![VERSION_2026, method(list)],                                            list,   json!({}),                       400,   -32602),
        (vec![VERSION_2026, method(list)],                                            list,   json!({ "_meta": {} }),          400,   -32602),
        (vec![VERSION_2026, method(list)],                                            list,   without("protocolVersion"),      400,   -32602),
        (vec![VERSION_2026, method(list)],                                            list,   without("clientCapabilities"),   400,   -32602),
        (vec![VERSION_2026, method("server/discover")],                   "server/discover",  json!({}),                       400,   -32602),
        (vec![VERSION_2026, method("server/discover")],                   "server/discover",  without("clientCapabilities"),   400,   -32602),
        (vec![VERSION_2026, method("unheard/of")],                             "unheard/of",  with_meta(json!({})),            404,   -32601),
        (vec![VERSION_2026, method("initialize")],                             "initialize",  with_meta(json!({})),            404,   -32601),
        (vec![VERSION_2026, method("ping")],                                         "ping",  with_meta(json!({})),            404,   -32601),
        (vec![VERSION_2026, method("prompts/list")],                         "prompts/list",  with_meta(json!({})),            200,   0),
        (vec![VERSION_2026, method("prompts/get"), ("Mcp-Name", "x")],        "prompts/get",  with_meta(json!({ "name": "x" })), 200, -32602),
        (vec![VERSION_2026, method("logging/setLevel")],                 "logging/setLevel",  with_meta(json!({ "level": "info" })), 404, -32601),
        (vec![VERSION_2026, method("resources/subscribe"), ("Mcp-Name", "x")],           "resources/subscribe",  with_meta(json!({ "uri": "x" })), 404,  -32601),
        (vec![VERSION_2026, method("subscriptions/listen")],         "subscriptions/listen",  with_meta(json!({ "notifications": {} })), 404, -32601),
        (vec![VERSION_2026, method(call), ("Mcp-Name", "unheard_of")],                call,   with_meta(json!({ "name": "unheard_of" })), 200, -32602),
        (vec![VERSION_2026, method(list)],                                            list,   with_meta(json!({ "cursor": "x" })), 200, -32602),
    ];
    for (headers, method, params, status, code) in rows {
        let message = json!({ "jsonrpc": "2.0", "id": "q", "method": method, "params": params });
        let answer = host.send(&headers, &message.to_string()).await;
        let case = format!("{headers:?} {message}");
        if code == 0 {
            assert_eq!(answer.expect(status)["result"]["resultType"], "complete", "{case}");
        } else {
            assert_error(&answer, status, code, &case);
        }
        assert_eq!(answer.body["id"], "q", "{case}");
    }
}

#[tokio::test]
async fn messages_are_limited_by_account_with_a_retry_time() {
    let few = |config: &mut quant_server::config::Config| {
        config.service.mcp_messages = 1.try_into().expect("not zero");
        config.service.mcp_burst = 3.try_into().expect("not zero");
    };
    let app = App::start_with(few).await;
    let (ada, bob) = (app.bearer("ada").await, app.bearer("bob").await);
    let ada = Host::new(&app, &ada, Era::Legacy);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    // Every message counts, including notifications and invalid messages.
    assert_eq!(ada.send(&[], ping).await.status, StatusCode::OK);
    assert_eq!(ada.send(&[], "nonsense").await.status, StatusCode::BAD_REQUEST);
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(ada.send(&[], notification).await.status, StatusCode::ACCEPTED);
    let answer = ada.send(&[], ping).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = answer.header("retry-after").expect("a wait").parse().expect("seconds");
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(Host::new(&app, &bob, Era::Legacy).send(&[], ping).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_suspended_account_is_refused_at_the_gateway() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Current);
    assert_eq!(host.ask("tools/list", json!({})).await.status, StatusCode::OK);
    app.accounts().suspend(&quant_tests::email("ada")).await.expect("it is there");
    let answer = host.ask("tools/list", json!({})).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.header("www-authenticate").expect("a challenge").contains("invalid_token"));
}
