//! The result of a tool call, written as JSON text once. Its structured content is never a JSON value
//! in memory.

use std::sync::LazyLock;

use rmcp::model::{CallToolResult, Resource};
use serde_json::{Value, json};

use crate::api::openapi::VERSION;

/// The member of `_meta` with the name and version of the server.
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The name and version of the server, as every result without a handshake states them.
pub(super) static SERVER: LazyLock<Value> =
    LazyLock::new(|| json!({ "name": "svc", "title": super::TITLE, "version": VERSION }));
/// The member of `_meta` with the name and version of the server, as JSON.
static SERVER_MEMBER: LazyLock<String> =
    LazyLock::new(|| format!("{}:{}", quoted(SERVER_INFO), *SERVER));

/// The result of a tool call.
pub(super) struct ToolResult {
    content: Vec<ResultBlock>,
    structured: Option<String>,
    is_error: bool,
    meta: ResultMeta,
}

/// A block of the content.
enum ResultBlock {
    /// The structured content as text.
    Structured,
    Text(String),
    Link(Box<Resource>),
}

/// The members of `_meta`, written as JSON.
#[derive(Default)]
pub(super) struct ResultMeta(String);

impl ResultMeta {
    /// Makes the members of a result that states its cost and the balance after it.
    pub(super) fn of_credits(cost: u64, balance: u64) -> Self {
        let mut meta = Self::default();
        meta.add("credits", &format!(r#"{{"cost":{cost},"balance":{balance}}}"#));
        meta
    }

    /// Adds a member with a value that is JSON.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        let comma = if self.0.is_empty() { "" } else { "," };
        self.0.extend([comma, "\"", name, "\":", value]);
    }
}

impl ToolResult {
    /// Makes a result with structured content, which is JSON, and the same JSON as text.
    pub(super) fn structured(data: String) -> Self {
        let content = vec![ResultBlock::Structured];
        Self { content, structured: Some(data), is_error: false, meta: ResultMeta::default() }
    }

    /// Makes the result of a failed call.
    pub(super) fn failed(text: String) -> Self {
        let content = vec![ResultBlock::Text(text)];
        Self { content, structured: None, is_error: true, meta: ResultMeta::default() }
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
    pub(super) fn with_meta(self, meta: ResultMeta) -> Self {
        Self { meta, ..self }
    }

    /// Writes the result in the form of a revision; `is_current` is true for those without a
    /// handshake.
    pub(super) fn write(&self, is_current: bool) -> String {
        let structured = self.structured.as_deref().unwrap_or_default();
        let length = structured.len();
        let mut json = String::with_capacity(1024 + 2 * length);
        json.push_str(if is_current {
            r#"{"resultType":"complete","content":["#
        } else {
            r#"{"content":["#
        });
        for (at, content) in self.content.iter().enumerate() {
            json.push_str(if at == 0 { "" } else { "," });
            content.write(&mut json, structured);
        }
        json.push(']');
        if self.structured.is_some() {
            json.extend([r#","structuredContent":"#, structured]);
        }
        json.push_str(if self.is_error { r#","isError":true"# } else { r#","isError":false"# });
        self.write_meta(&mut json, is_current);
        json.push('}');
        json
    }

    fn write_meta(&self, json: &mut String, is_current: bool) {
        let server = if is_current { &**SERVER_MEMBER } else { "" };
        let members = &*self.meta.0;
        let comma = if members.is_empty() || server.is_empty() { "" } else { "," };
        if is_current || !members.is_empty() {
            json.extend([r#","_meta":{"#, members, comma, server, "}"]);
        }
    }

    /// Returns the result as the type of the SDK.
    pub(super) fn into_sdk(self) -> CallToolResult {
        serde_json::from_str(&self.write(true)).expect("the result of a tool has this form")
    }
}

impl ResultBlock {
    fn write(&self, json: &mut String, structured: &str) {
        let mut write_text =
            |text: &str| json.extend([r#"{"type":"text","text":"#, &quoted(text), "}"]);
        match self {
            Self::Structured => write_text(structured),
            Self::Text(text) => write_text(text),
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
        let mut meta = ResultMeta::of_credits(5, 7);
        meta.add("result", "null");
        let failed = read(ToolResult::failed("no\n".to_owned()).with_meta(meta).write(false));
        let credits = json!({ "cost": 5, "balance": 7 });
        assert_eq!(failed["_meta"], json!({ "credits": credits, "result": null }));
        assert_eq!(
            (&failed["isError"], &failed["content"][0]["text"]),
            (&json!(true), &json!("no\n"))
        );
        let sdk = serde_json::to_value(result().into_sdk()).expect("JSON");
        assert_eq!(sdk["content"], current["content"]);
    }
}
