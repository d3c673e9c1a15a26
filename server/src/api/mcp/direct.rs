//! A tool call that leaves nothing to negotiate, which is answered without the SDK. The SDK starts a
//! service with two tasks and three channels for each message, which costs more than the call.
//!
//! Every other message, and every one that is to be refused, goes to the SDK, which alone decides on
//! refusals.

use poem::http::{HeaderMap, HeaderName};
use rmcp::model::{ClientCapabilities, ProtocolVersion, RequestId};
use serde::Deserialize as _;
use serde_json::Value;

use super::{
    head::{META_VERSION, RpcMessage},
    tool_calls::CallOptions,
    tool_result::ToolResult,
    tools::{CATALOGUE, Entry},
};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The method that calls a tool.
pub(super) const CALLS_TOOL: &str = "tools/call";

/// A tool call that every check of the SDK passes.
pub(super) struct DirectCall {
    /// The id of the request.
    pub(super) id: RequestId,
    /// The tool.
    pub(super) entry: &'static Entry,
    /// The options of the call.
    pub(super) options: CallOptions,
}

impl DirectCall {
    /// Returns the call; `None` where the SDK has to judge the message.
    pub(super) fn of(headers: &HeaderMap, message: &RpcMessage) -> Option<Self> {
        let id = message.head.id.clone().filter(|_| message.head.method == CALLS_TOOL)?;
        let params = message.rest.get("params")?.as_object()?;
        if params.keys().any(|name| !matches!(name.as_str(), "name" | "_meta")) {
            return None;
        }
        let name = params.get("name")?.as_str()?;
        let meta = params.get("_meta");
        if meta.is_some_and(|meta| !meta.is_object()) {
            return None;
        }
        let version = match &message.head.version {
            None if meta.is_none_or(|meta| meta.get(META_VERSION).is_none()) => legacy(headers)?,
            None => return None,
            Some(version) => current(headers, version, name, meta?)?,
        };
        let options = CallOptions::new(version, meta.and_then(Value::as_object)).ok()?;
        Some(Self { id, entry: CATALOGUE.find(name)?, options })
    }

    /// Writes the answer of the call.
    pub(super) fn answer(&self, result: &ToolResult) -> String {
        let id = serde_json::to_string(&self.id).expect("an id is JSON");
        let result = result.write(self.options.is_current());
        ["{\"jsonrpc\":\"2.0\",\"id\":", &id, ",\"result\":", &result, "}"].concat()
    }
}

/// Returns the version of a message of a revision with a handshake.
fn legacy(headers: &HeaderMap) -> Option<&'static str> {
    if !headers.contains_key(VERSION) {
        return Some("2025-03-26");
    }
    let named = single(headers, &VERSION)?;
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|known| known.as_str() == named)?;
    (known.as_str() < ProtocolVersion::V_2026_07_28.as_str()).then(|| known.as_str())
}

/// Returns the version of a message without a handshake: its headers repeat the message, and its
/// `_meta` states what the client is capable of.
fn current(headers: &HeaderMap, version: &str, name: &str, meta: &Value) -> Option<&'static str> {
    let version_2026 = ProtocolVersion::V_2026_07_28.as_str();
    let is_repeated = version == version_2026
        && single(headers, &VERSION)? == version
        && single(headers, &METHOD)? == CALLS_TOOL
        && single(headers, &NAME)? == name;
    let capabilities = meta.get(META_CAPABILITIES).filter(|stated| stated.is_object())?;
    let is_stated = ClientCapabilities::deserialize(capabilities).is_ok();
    (is_repeated && is_stated).then_some("2026-07-28")
}

/// Returns the value of a header that is sent once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;

    const TOOL: &str = "search_tools";

    fn is_direct(headers: &[(&'static str, &str)], params: &Value) -> bool {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": CALLS_TOOL, "params": params });
        let message = RpcMessage::read(&Bytes::from(message.to_string())).expect("a message");
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }
        DirectCall::of(&map, &message).is_some()
    }

    #[test]
    fn only_a_message_that_no_check_refuses_bypasses_the_sdk() {
        let version = ("mcp-protocol-version", "2026-07-28");
        let method = ("mcp-method", CALLS_TOOL);
        let name = ("mcp-name", TOOL);
        let call = |meta: Value| json!({ "name": TOOL, "arguments": {}, "_meta": meta });
        let full = || json!({ META_VERSION: "2026-07-28", META_CAPABILITIES: {} });
        let old = json!({ META_VERSION: "2025-11-25", META_CAPABILITIES: {} });
        #[rustfmt::skip]
        let rows = [
            (vec![],                                            json!({ "name": TOOL }),                       true),
            (vec![("mcp-protocol-version", "2025-11-25")],      json!({ "name": TOOL, "arguments": {} }),      true),
            (vec![("mcp-protocol-version", "2025-11-25")],      call(json!({ "progressToken": 1 })),           true),
            (vec![version, method, name],                       call(full()),                                  true),
            (vec![],                                            json!({ "name": "unheard_of" }),               false),
            (vec![],                                            json!({ "name": TOOL, "task": {} }),           false),
            (vec![],                                            json!({ "name": TOOL, "arguments": null }),    false),
            (vec![],                                            json!({ "name": TOOL, "_meta": 1 }),           false),
            (vec![],                                            call(full()),                                  false),
            (vec![version, method, name],                       json!({ "name": TOOL }),                       false),
            (vec![version, method],                             call(full()),                                  false),
            (vec![version, method, name, name],                 call(full()),                                  false),
            (vec![version, ("mcp-method", "ping"), name],       call(full()),                                  false),
            (vec![version, method, ("mcp-name", "x")],          call(full()),                                  false),
            (vec![version, method, name],                       call(json!({ META_VERSION: "2026-07-28" })),   false),
            (vec![version, method, name],                       call(old),                                     false),
            (vec![version, method, name],                       call(json!({ META_VERSION: 1 })),              false),
            (vec![("mcp-protocol-version", "1999-01-01")],      json!({ "name": TOOL }),                       false),
        ];
        for (headers, params, expected) in rows {
            assert_eq!(is_direct(&headers, &params), expected, "{headers:?} {params}");
        }
    }
}
