//! The readers of MCP messages, with what must hold for every message.

use bytes::Bytes;
use serde_json::Value;

use super::{
    addresses::{address, parse, parse_address, parse_chart_address},
    direct::DirectCall,
    head::{LONGEST_NAME, RpcMessage},
    message::{self, MOST_WITHOUT_ARGUMENTS},
    progress::Progress,
    request_headers::{accepts_event_stream, accepts_json, api_key, bearer_token},
};
use crate::http::fuzzing::lines;

/// The most bytes of an error, whatever the message holds: an id of 1,024 bytes, each at most six bytes of
/// JSON, and a text.
const LONGEST_ERROR: usize = 6 * LONGEST_NAME + 500;

/// Reads a message. The two parts together are what serde_json reads, with the white space around a message
/// and without; an error is short.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn mcp_message(bytes: &[u8]) {
    let whole = serde_json::from_slice::<Value>(bytes);
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len() + MOST_WITHOUT_ARGUMENTS, b' ');
    for (bytes, is_padded) in [(Bytes::copy_from_slice(bytes), false), (padded.into(), true)] {
        match RpcMessage::read(&bytes) {
            Ok(message) => check(&message, whole.as_ref().ok(), &bytes),
            Err(error) => {
                let text = serde_json::to_string(&error).expect("an error is JSON");
                assert!(text.len() <= LONGEST_ERROR, "{} bytes: {text}", text.len());
                let is_syntax = text.contains("Parse error");
                assert!(!is_syntax || whole.is_err() || is_padded, "{text}");
            }
        }
    }
    let bytes = Bytes::copy_from_slice(bytes);
    if let Ok((small, large)) = message::split_off(&bytes, "arguments") {
        assert!(!small.contains_key("arguments"));
        if let Ok(Value::Object(mut whole)) = serde_json::from_slice(&bytes) {
            let expected = whole.shift_remove("arguments");
            assert_eq!(large.and_then(|large| serde_json::from_str(large.get()).ok()), expected);
            assert_eq!(small, whole);
        }
    }
}

fn check(message: &RpcMessage, whole: Option<&Value>, bytes: &Bytes) {
    let (head, rest) = (&message.head, &message.rest);
    assert!(head.method.len() <= LONGEST_NAME);
    assert!(head.version.as_ref().is_none_or(|version| version.len() <= LONGEST_NAME));
    // A message without an id is a notification, which is not answered.
    assert_eq!(head.id.is_some(), rest.get("id").is_some(), "{rest}");
    assert!(rest.to_string().len() <= 6 * MOST_WITHOUT_ARGUMENTS);
    if let Some(arguments) = &message.arguments {
        assert!(arguments.trim_ascii_start().starts_with(b"{") && arguments.len() <= bytes.len());
        assert!(rest.pointer("/params/arguments").is_none(), "{rest}");
    }
    if let Some(whole) = whole {
        let mut whole = whole.clone();
        if let Some(arguments) = &message.arguments {
            let params = whole.get_mut("params").and_then(Value::as_object_mut);
            let sent = params.and_then(|params| params.shift_remove("arguments"));
            let text = match sent.expect("arguments") {
                Value::String(text) => text.into_bytes(),
                object => {
                    let read: Value = serde_json::from_slice(arguments).expect("JSON");
                    assert_eq!(read, object);
                    arguments.to_vec()
                }
            };
            assert_eq!(text, *arguments);
        }
        assert_eq!(*rest, whole);
    }
    let headers = lines(b"accept: application/json, text/event-stream");
    Progress::asked(&headers, rest);
    if let Some(call) = DirectCall::of(&headers, message) {
        assert_eq!(Some(&call.id), head.id.as_ref());
    }
}

/// Reads the address of a result, which has one spelling.
///
/// # Panics
///
/// Panics where an address that is read is written otherwise.
pub fn result_address(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(id) = parse_address(text) {
        assert_eq!(address(id.0), text);
        assert_eq!(parse_chart_address(&format!("{text}/chart")), Some(id));
    }
    if let Some(id) = parse_chart_address(text) {
        assert_eq!(format!("{}/chart", address(id.0)), text);
    }
    if let Some(id) = parse(text) {
        assert!(address(id.0).ends_with(text), "{text}");
    }
}

/// Reads the credentials and media types of a message from the lines of its head. A credential is one that
/// its line holds, sent once.
///
/// # Panics
///
/// Panics where another credential is read.
pub fn credentials(bytes: &[u8]) {
    let headers = lines(bytes);
    let count = |name: &str| headers.get_all(name).iter().count();
    let holds = |name: &str, text: &str| {
        headers
            .get(name)
            .and_then(|line| line.to_str().ok())
            .is_some_and(|line| line.ends_with(text))
    };
    if let Some(key) = api_key(&headers) {
        let is_sent = |name| count(name) == 1 && holds(name, key.expose());
        assert!(is_sent("x-api-key") || is_sent("authorization"));
    }
    let (token, was_sent) = bearer_token(&headers);
    assert_eq!(was_sent, count("authorization") > 0);
    if let Some(token) = token {
        assert!(count("authorization") == 1 && holds("authorization", token.expose()));
    }
    assert!(accepts_json(&headers) || headers.contains_key("accept"));
    assert!(!accepts_event_stream(&headers) || headers.contains_key("accept"));
}
