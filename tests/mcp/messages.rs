//! The size of a message: weighed by its bytes, bounded, and answered without an echo.

use account_core::Tier;
use poem::{Request, http::Method};
use quant_tests::{
    App,
    mcp::{Era, Host},
};
use serde_json::{Value, json};

const BOTH: [Era; 2] = [Era::Legacy, Era::Current];

/// A list of so many bytes.
fn junk(length: usize) -> String {
    format!("[{}0]", "0,".repeat(length / 2))
}

/// The text of a call with raw arguments, in the revision with a handshake.
fn call(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

fn told(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

#[tokio::test]
async fn junk_is_refused_in_the_arguments_of_a_tool_and_elsewhere() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    let junk = junk(900_000);
    let date = r#""start_date":"2024-01-31","tenor":"1M""#;
    let arguments = format!(r#"{{"junk":{junk},{date}}}"#);
    let answer = host.send(&[], &call("add_tenor_to_date", &arguments)).await;
    let too_large = &answer.expect(200)["result"];
    assert_eq!(too_large["isError"], true, "a free operation takes 256 KiB");
    assert!(told(too_large).contains("262144"), "{too_large}");
    let arguments = format!(r#"{{"junk":{junk},"probabilities":[0.5,0.5],"base":2}}"#);
    let answer = host.send(&[], &call("measure_shannon_entropy", &arguments)).await;
    let result = &answer.expect(200)["result"];
    assert!(told(result).starts_with("junk: extra fields not permitted"), "{result}");
    for elsewhere in [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{junk}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":{junk}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"x":{junk},"name":"get_profile"}}}}"#
        ),
        call("search_tools", "1").replace("\"arguments\":1", &format!("\"arguments\":{junk}")),
    ] {
        let answer = host.send(&[], &elsewhere).await;
        assert_eq!(answer.expect(400)["error"]["code"], -32600, "{}", &elsewhere[..60]);
    }
    for tool in ["search_tools", "describe_tool", "read_result", "get_usage"] {
        let answer = host.send(&[], &call(tool, &format!(r#"{{"x":{junk}}}"#))).await;
        let result = &answer.expect(200)["result"];
        assert_eq!(result["isError"], true, "{tool}");
        assert!(told(result).contains("65536"), "{tool}: {result}");
    }
}

#[tokio::test]
async fn a_tool_is_called_by_name_with_large_arguments() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let zeros = "0,".repeat(200_000);
    let inner = format!(r#"{{"probabilities":[{zeros}1],"base":2}}"#);
    let arguments = format!(r#"{{"arguments":{inner},"name":"measure_shannon_entropy"}}"#);
    let host = Host::new(&app, &token, Era::Legacy);
    let answer = host.send(&[], &call("call_tool", &arguments)).await;
    let result = &answer.expect(200)["result"];
    assert_eq!(result["structuredContent"]["data"]["shannon_entropy"], 0.0, "{result}");
    // The SDK drops the message after the answer.
    while app.service().body_memory.in_use() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_account_of_tier_free_sends_at_most_256_kibibytes() {
    let app = App::start().await;
    let free = app.bearer_of("ada", Tier::Free, 100).await;
    let host = Host::new(&app, &free, Era::Legacy);
    let date = r#""start_date":"2024-01-31","tenor":"1M""#;
    let message =
        |length: usize| call("add_tenor_to_date", &format!("{{{}{date}}}", " ".repeat(length)));
    let answer = host.send(&[], &message(200_000)).await;
    assert_eq!(answer.expect(200)["result"]["structuredContent"]["result_date"], "2024-02-29");
    host.send(&[], &message(262_144)).await.expect(413);
}

#[tokio::test]
async fn a_refusal_repeats_little_of_a_long_message() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let long = "x".repeat(50_000);
    for era in BOTH {
        let host = Host::new(&app, &token, era);
        for (tool, arguments) in [
            ("add_tenor_to_date", json!({ "start_date": "2024-01-31", "tenor": long })),
            ("describe_tool", json!({ "name": long })),
            ("call_tool", json!({ "name": long })),
            ("read_result", json!({ "id": long })),
            ("get_usage", json!({ "days": long })),
            ("get_usage", json!({ long.as_str(): 1 })),
            ("search_tools", json!({ long.as_str(): 1 })),
            ("price_european_option", json!({ long.as_str(): 1 })),
            ("find_min_variance_portfolio", json!({ "expected_returns": vec!["x"; 500] })),
        ] {
            let result = host.call(tool, arguments).await;
            assert_eq!(result["isError"], true, "{tool}");
            assert!(told(&result).len() <= 2048, "{tool}: {} bytes", told(&result).len());
            assert!(result["_meta"]["result"].is_null(), "{tool}: a refusal is not stored");
        }
    }
    let host = Host::new(&app, &token, Era::Legacy);
    for message in [
        call(&long, "{}"),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"ping"}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{long}"}}}}"#
        ),
    ] {
        let answer = host.send(&[], &message).await;
        assert!(answer.body["error"].is_object(), "{answer:?}");
        assert!(answer.body_text.len() <= 2048, "{} bytes", answer.body_text.len());
    }
    let version = [("MCP-Protocol-Version", long.as_str())];
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let answer = host.send(&version, ping).await;
    assert!(answer.body_text.len() <= 2048, "{} bytes", answer.body_text.len());
}

#[tokio::test]
async fn a_compressed_message_is_refused() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let request = Request::builder().method(Method::POST).uri_str("/mcp");
    let request = request.header("Authorization", format!("Bearer {token}"));
    let request = request.content_type("application/json").header("Content-Encoding", "gzip");
    let answer = app.send(request.body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await;
    answer.expect(415);
    assert_eq!(answer.header("accept-encoding"), Some("identity"));
}
