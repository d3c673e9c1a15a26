//! The form of a JSON-RPC message, and the members that every message must have.

use bytes::Bytes;
use rmcp::{
    ErrorData,
    model::{ErrorCode, JsonRpcError, RequestId},
};
use serde_json::Value;

use super::message::{self, MOST_WITHOUT_ARGUMENTS, SplitError, SplitMessage};
use crate::http::echo;

/// The most bytes of a name, an address, an id or a header that an error may repeat.
pub(super) const LONGEST_NAME: usize = 1024;
/// The member of `_meta` with the version of the protocol.
pub(super) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The members of a well-formed JSON-RPC message.
#[derive(Debug)]
pub(super) struct Head {
    /// The id of a request; `None` for a notification.
    pub(super) id: Option<RequestId>,
    /// The method.
    pub(super) method: String,
    /// The version of the protocol that the message names; `None` where the message names none.
    pub(super) version: Option<String>,
}

/// A well-formed message.
#[derive(Debug)]
pub(super) struct RpcMessage {
    /// The members of every message.
    pub(super) head: Head,
    /// The message without the arguments of its tool.
    pub(super) rest: Value,
    /// The arguments of the tool as JSON text.
    pub(super) arguments: Option<Bytes>,
}

impl RpcMessage {
    /// Reads a message.
    pub(super) fn read(bytes: &Bytes) -> Result<Self, Box<JsonRpcError>> {
        let SplitMessage { rest, arguments } = message::split(bytes).map_err(refuse_text)?;
        let head = read_head(&rest)?;
        Ok(Self { head, rest, arguments })
    }
}

fn refuse(id: Option<RequestId>, error: ErrorData) -> Box<JsonRpcError> {
    Box::new(JsonRpcError::new(id, error))
}

fn refuse_text(error: SplitError) -> Box<JsonRpcError> {
    let error = match error {
        SplitError::Syntax(error) => ErrorData::parse_error(format!("Parse error: {error}"), None),
        SplitError::TooLarge => {
            let limit = MOST_WITHOUT_ARGUMENTS;
            let message =
                format!("A message without the arguments of its tool has at most {limit} bytes");
            ErrorData::invalid_request(message, None)
        }
    };
    refuse(None, error)
}

/// Reads the members that every message must have.
fn read_head(message: &Value) -> Result<Head, Box<JsonRpcError>> {
    let invalid = |id, what: &'static str| refuse(id, ErrorData::invalid_request(what, None));
    let Some(fields) = message.as_object() else {
        let what = match message {
            Value::Array(_) => "Batches are not served; send one message at a time",
            _ => "A message is a JSON object",
        };
        return Err(invalid(None, what));
    };
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.len() > LONGEST_NAME);
    let id = match fields.get("id") {
        None => None,
        Some(id) if is_long(id) => return Err(invalid(None, "An id has at most 1024 bytes")),
        Some(id) if id.is_string() || id.is_i64() => serde_json::from_value(id.clone()).ok(),
        Some(_) => return Err(invalid(None, "An id is a string or a whole number")),
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(id, "A message says \"jsonrpc\": \"2.0\""));
    }
    if fields.contains_key("result") || fields.contains_key("error") {
        return Err(invalid(id, "Nothing was asked, so no answer is taken"));
    }
    let Some(method) = fields.get("method").and_then(Value::as_str) else {
        return Err(invalid(id, "A message names its method"));
    };
    if method.len() > LONGEST_NAME {
        let message = format!("Method not found: {}", echo::value(method));
        return Err(refuse(id, ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)));
    }
    let params = fields.get("params");
    if params.is_some_and(|params| !params.is_object()) {
        return Err(refuse(id, ErrorData::invalid_params("Parameters are an object", None)));
    }
    let version = params.and_then(|params| params.get("_meta")?.get(META_VERSION));
    let names = ["name", "uri", "protocolVersion"].map(|name| params.and_then(|of| of.get(name)));
    if names.into_iter().chain([version]).flatten().any(is_long) {
        let what = "A name, an address or a version has at most 1024 bytes";
        return Err(refuse(id, ErrorData::invalid_params(what, None)));
    }
    let version = version.and_then(Value::as_str);
    Ok(Head { id, method: method.to_owned(), version: version.map(str::to_owned) })
}
