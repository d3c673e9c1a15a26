//! A host of the Model Context Protocol that sends messages to the service in-process.

use account_core::Tier;
use poem::{Request, RequestBuilder, http::Method};
use serde_json::{Value, json};

use crate::{Answer, App};

/// The revision that needs no handshake.
pub const CURRENT: &str = "2026-07-28";
/// The last revision with a handshake.
pub const LEGACY: &str = "2025-11-25";

impl App {
    /// An access token of a new account that may call everything.
    pub async fn bearer(&self, name: &str) -> String {
        self.bearer_of(name, Tier::Enterprise, 1000).await
    }

    /// An access token of a new account.
    pub async fn bearer_of(&self, name: &str, tier: Tier, credits: u64) -> String {
        self.account(name, tier, credits).await;
        self.access_token(name).await
    }
}

/// The revision of the protocol that a host uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// The version is in a header.
    Legacy,
    /// Version and capabilities are in each message, method and name also in headers.
    Current,
}

/// A host with an access token.
pub struct Host<'a> {
    app: &'a App,
    token: String,
    era: Era,
    /// The query of the address, as `?toolsets=all`.
    pub query: &'static str,
}

impl<'a> Host<'a> {
    /// A host that sends `token`.
    #[must_use]
    pub fn new(app: &'a App, token: &str, era: Era) -> Self {
        Self { app, token: token.to_owned(), era, query: "" }
    }

    /// Sends a request in the form of the revision.
    pub async fn ask(&self, method: &str, params: Value) -> Answer {
        self.app.send(self.request(method, params)).await
    }

    /// The request that [`ask`](Self::ask) sends.
    #[must_use]
    pub fn request(&self, method: &str, mut params: Value) -> Request {
        let mut request = self.post();
        match self.era {
            Era::Legacy => request = request.header("MCP-Protocol-Version", LEGACY),
            Era::Current => {
                let given = params["_meta"].take();
                params["_meta"] = meta();
                for (name, value) in given.as_object().into_iter().flatten() {
                    params["_meta"][name] = value.clone();
                }
                request =
                    request.header("MCP-Protocol-Version", CURRENT).header("Mcp-Method", method);
                let name = params["name"].as_str().or_else(|| params["uri"].as_str());
                if let Some(name) = name {
                    request = request.header("Mcp-Name", name);
                }
            }
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        request.body(message.to_string())
    }

    /// The start of a message with the token.
    #[must_use]
    pub fn post(&self) -> RequestBuilder {
        post(&format!("/mcp{}", self.query))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Accept", "application/json, text/event-stream")
    }

    /// Sends a text as a message, with these headers.
    pub async fn send(&self, headers: &[(&str, &str)], text: &str) -> Answer {
        let request = headers
            .iter()
            .fold(self.post(), |request, (name, value)| request.header(*name, *value));
        self.app.send(request.body(text.to_owned())).await
    }

    /// Calls a tool and returns its result.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let result = answer.expect(200)["result"].clone();
        assert!(result.is_object(), "{tool}: {answer:?}");
        result
    }

    /// The names of the listed tools.
    pub async fn tools(&self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).await;
        let tools = answer.expect(200)["result"]["tools"].as_array().expect("tools").clone();
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }
}

/// A message without a token.
#[must_use]
pub fn post(path: &str) -> RequestBuilder {
    Request::builder().method(Method::POST).uri_str(path).content_type("application/json")
}

/// The `_meta` of a message of the current revision.
#[must_use]
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": CURRENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
