//! The result of a tool call, written as JSON text once. Its structured content is never a JSON value
//! in memory.

use std::{fmt::Write as _, sync::LazyLock};

use rmcp::model::{CallToolResult, Resource};
use serde_json::{Map, Value, json};

use crate::api::openapi::VERSION;

/// The member of `_meta` with the name and version of the server.
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The name and version of the server, as every result without a handshake states them.
pub(super) static SERVER: LazyLock<Value> =
    LazyLock::new(|| json!({ "name": "svc", "title": super::TITLE, "version": VERSION }));

/// The result of a tool call.
pub(super) struct ToolResult {
    content: Vec<ResultBlock>,
    structured: Option<String>,
    is_error: bool,
    meta: Map<String, Value>,
}

/// A block of the content.
enum ResultBlock {
    Text(String),
    Link(Box<Resource>),
}

impl ToolResult {
    /// Makes a result with structured content, which is JSON, and the same JSON as text.
    pub(super) fn structured(data: String) -> Self {
        let content = vec![ResultBlock::Text(data.clone())];
        Self { content, structured: Some(data), is_error: false, meta: Map::new() }
    }

    /// Makes the result of a failed call.
    pub(super) fn failed(text: String) -> Self {
        let content = vec![ResultBlock::Text(text)];
        Self { content, structured: None, is_error: true, meta: Map::new() }
    }

    /// Adds a block of text.
    pub(super) fn with_text(mut self, text: String) -> Self {
        self.content.push(ResultBlock::Text(text));
        self
    }

    /// Adds a link to a resource.
    pub(super) fn with_link(mut self, link: Resource) -> Self {
        self.content.push(ResultBlock::Link(Box::new(link)));
        self
    }

    /// Adds the members of `_meta`.
    pub(super) fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = meta;
        self
    }

    /// Writes the result in the form of a revision; `is_current` is true for those without a
    /// handshake.
    pub(super) fn write(&self, is_current: bool) -> String {
        let length = self.structured.as_ref().map_or(0, String::len);
        let mut json = String::with_capacity(1024 + 2 * length);
        json.push_str(if is_current {
            r#"{"resultType":"complete","content":["#
        } else {
            r#"{"content":["#
        });
        for (at, content) in self.content.iter().enumerate() {
            json.push_str(if at == 0 { "" } else { "," });
            content.write(&mut json);
        }
        json.push(']');
        if let Some(structured) = &self.structured {
            json.extend([r#","structuredContent":"#, structured]);
        }
        json.push_str(if self.is_error { r#","isError":true"# } else { r#","isError":false"# });
        self.write_meta(&mut json, is_current);
        json.push('}');
        json
    }

    fn write_meta(&self, json: &mut String, is_current: bool) {
        let server = is_current.then(|| (SERVER_INFO, &*SERVER));
        let members = self.meta.iter().map(|(name, value)| (name.as_str(), value)).chain(server);
        for (at, (name, value)) in members.enumerate() {
            json.push_str(if at == 0 { r#","_meta":{"# } else { "," });
            write!(json, "{}:{value}", quoted(name)).expect("a string takes everything");
        }
        if is_current || !self.meta.is_empty() {
            json.push('}');
        }
    }

    /// Returns the result as the type of the SDK.
    pub(super) fn into_sdk(self) -> CallToolResult {
        serde_json::from_str(&self.write(true)).expect("the result of a tool has this form")
    }
}

impl ResultBlock {
    fn write(&self, json: &mut String) {
        match self {
            Self::Text(text) => {
                json.extend([r#"{"type":"text","text":"#, &quoted(text), "}"]);
            }
            Self::Link(link) => {
                let fields = serde_json::to_string(link).expect("a resource is JSON");
                let fields = fields.strip_prefix('{').expect("a resource is an object");
                json.extend([r#"{"type":"resource_link","#, fields]);
            }
        }
    }
}

/// Returns a text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_written_in_the_form_of_the_revision_that_asks() {
        let result = || {
            ToolResult::structured(r#"{"price":1.5,"note":"\"x\""}"#.to_owned())
                .with_text("Short.".to_owned())
                .with_link(Resource::new("svc://results/1", "result"))
        };
        let read = |text: String| -> Value { serde_json::from_str(&text).expect("JSON") };
        let legacy = read(result().write(false));
        assert_eq!(legacy["structuredContent"], json!({ "price": 1.5, "note": "\"x\"" }));
        assert_eq!(legacy["content"][0]["text"], r#"{"price":1.5,"note":"\"x\""}"#);
        assert_eq!(legacy["content"][1], json!({ "type": "text", "text": "Short." }));
        assert_eq!(legacy["content"][2]["uri"], "svc://results/1");
        assert!(legacy.get("_meta").is_none() && legacy.get("resultType").is_none());
        let current = read(result().write(true));
        assert_eq!(
            (&current["resultType"], &current["isError"]),
            (&json!("complete"), &json!(false))
        );
        assert_eq!(current["_meta"][SERVER_INFO]["name"], "svc");
        let meta = json!({ "credits": { "cost": 5 } });
        let meta = meta.as_object().expect("an object").clone();
        let failed = read(ToolResult::failed("no\n".to_owned()).with_meta(meta).write(false));
        assert_eq!(failed["_meta"], json!({ "credits": { "cost": 5 } }));
        assert_eq!(
            (&failed["isError"], &failed["content"][0]["text"]),
            (&json!(true), &json!("no\n"))
        );
        let sdk = serde_json::to_value(result().into_sdk()).expect("JSON");
        assert_eq!(sdk["content"], current["content"]);
    }
}
