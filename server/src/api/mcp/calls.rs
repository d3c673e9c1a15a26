//! A tool's call, sent through the same endpoint as a REST call, with the caller's account.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use account_core::{Caller, Timestamp};
use poem::{
    Endpoint, Request, Response,
    endpoint::BoxEndpoint,
    http::{HeaderMap, Method, StatusCode},
};
use rmcp::model::JsonObject;
use serde_json::{Map, Value};

use super::{
    tools::{Entry, Operation, Target},
    transport::McpContext,
};
use crate::http::{Identified, Keep, SMALL_BODY};

/// The largest data that are kept in the transaction of their charge, in bytes.
const LARGEST_WITH_CHARGE: usize = 64 * 1024;

/// A call of a tool that was made.
pub(super) struct Called {
    /// Its tool.
    pub(super) entry: &'static Entry,
    /// The status of the answer.
    pub(super) status: StatusCode,
    /// The id of the request that answered, which is also the result's.
    pub(super) id: u128,
    /// When it was called.
    pub(super) at: Timestamp,
    /// What it cost.
    pub(super) cost: u64,
}

/// What a call came to.
pub(super) struct Outcome {
    /// The call.
    pub(super) called: Called,
    /// Whether the envelope was kept with the charge.
    pub(super) was_kept: bool,
    /// What is left.
    pub(super) balance: u64,
    /// How the hourly limit stands: calls left, and when one is free again, in seconds since 1970.
    pub(super) limit: Option<(u64, u64)>,
    /// When to come again, in seconds, where the call came too early.
    pub(super) retry_after: Option<u64>,
    /// The data of a success, or the refusal.
    pub(super) answer: Result<Value, Failure>,
    /// Whether the answer is so large that shaping it must not hold up others.
    pub(super) is_large: bool,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// For programs.
    pub(super) code: &'static str,
    /// For people and models: what is wrong, and what to do.
    pub(super) message: String,
}

/// Calls a tool that is an operation of the document; `None` for the gateway's own.
pub(super) async fn call(
    rest: &BoxEndpoint<'static>,
    context: &McpContext,
    entry: &'static Entry,
    arguments: JsonObject,
) -> Option<Outcome> {
    let Target::Operation(operation) = &entry.target else { return None };
    let mut request = request(context, operation, arguments).await;
    let caller = Caller::Account(context.caller.clone());
    let was_kept = Arc::new(AtomicBool::new(false));
    let keep = keep(entry, was_kept.clone());
    request.set_data(Identified { caller, address: context.address, keep });
    let response = rest.get_response(request).await;
    let was_kept = response.status().is_success() && was_kept.load(Ordering::Relaxed);
    Some(outcome(context, entry, operation, response, was_kept).await)
}

/// What the ledger keeps of the answer, in the transaction of its charge: the envelope, where that
/// is not so large that others would wait for it.
fn keep(entry: &'static Entry, was_kept: Arc<AtomicBool>) -> Keep {
    Arc::new(move |call, cost, data| {
        if data.len() > LARGEST_WITH_CHARGE {
            return None;
        }
        was_kept.store(true, Ordering::Relaxed);
        let (id, cost) = (call.id.as_u128(), cost.into());
        let called = Called { entry, status: StatusCode::OK, id, at: call.at, cost };
        Some(called.envelope(Ok(data)))
    })
}

async fn request(context: &McpContext, operation: &Operation, arguments: JsonObject) -> Request {
    let request = Request::builder().method(operation.method.clone());
    if operation.method == Method::GET {
        return request.uri_str(path_with_query(&operation.path, &arguments)).finish();
    }
    let write = move || Value::Object(arguments).to_string();
    // What came in a large message is written in a place where it holds up nobody.
    let body = if context.is_large { run_blocking(write).await } else { write() };
    request.uri_str(&operation.path).content_type("application/json").body(body)
}

/// Runs what takes more than a moment where no other request waits for it.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    tokio::task::spawn_blocking(work).await.expect("writing JSON does not panic")
}

/// The arguments as a query string; an absent and a null one are the same.
fn path_with_query(path: &str, arguments: &JsonObject) -> String {
    let mut url = reqwest::Url::parse("http://localhost").expect("an address");
    url.set_path(path);
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    for (name, value) in given {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        url.query_pairs_mut().append_pair(name, &text);
    }
    match url.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

async fn outcome(
    context: &McpContext,
    entry: &'static Entry,
    operation: &Operation,
    response: Response,
    was_kept: bool,
) -> Outcome {
    let (parts, body) = response.into_parts();
    let bytes = body.into_bytes().await.expect("an answer of this process is whole");
    let is_large = bytes.len() > SMALL_BODY;
    let read = move || serde_json::from_slice::<Value>(&bytes).unwrap_or_default();
    let body = if is_large { run_blocking(read).await } else { read() };
    let headers = &parts.headers;
    let answer = match parts.status.is_success() {
        true => Ok(data(body, operation.fields)),
        false => Err(failure(parts.status, &body)),
    };
    let id = headers.get("x-request-id").and_then(|id| id.to_str().ok());
    let id: uuid::Uuid =
        id.and_then(|id| id.parse().ok()).expect("every answer of the road has an id");
    let cost = number(headers, "x-credits-cost").unwrap_or(0);
    Outcome {
        called: Called { entry, status: parts.status, id: id.as_u128(), at: context.at, cost },
        was_kept,
        balance: number(headers, "x-credits-balance").unwrap_or(context.caller.credit_balance),
        limit: number(headers, "x-ratelimit-remaining").zip(number(headers, "x-ratelimit-reset")),
        retry_after: number(headers, "retry-after"),
        answer,
        is_large,
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// The data in the envelope of a success, or some fields of it.
fn data(mut body: Value, fields: &[&str]) -> Value {
    let mut data = body["data"].take();
    if let Some(object) = data.as_object_mut().filter(|_| !fields.is_empty()) {
        object.retain(|name, _| fields.contains(&name.as_str()));
    }
    data
}

fn failure(status: StatusCode, body: &Value) -> Failure {
    let code = match status {
        StatusCode::PAYMENT_REQUIRED => "insufficient_credits",
        StatusCode::FORBIDDEN => "insufficient_tier",
        StatusCode::UNPROCESSABLE_ENTITY => "invalid_arguments",
        StatusCode::PAYLOAD_TOO_LARGE => "too_large",
        StatusCode::TOO_MANY_REQUESTS => "rate_limited",
        StatusCode::SERVICE_UNAVAILABLE => "busy",
        status if status.is_client_error() => "refused",
        _ => "internal",
    };
    let message = match &body["detail"] {
        Value::Array(faults) => faults.iter().map(fault).collect::<Vec<_>>().join("\n"),
        detail => detail.as_str().unwrap_or("The call failed.").to_owned(),
    };
    Failure { code, message }
}

/// A fault of the arguments, as `prices[1]: field required`.
fn fault(fault: &Value) -> String {
    let mut place = String::new();
    for step in fault["loc"].as_array().into_iter().flatten().skip(1) {
        match step {
            Value::String(name) if place.is_empty() => place.push_str(name),
            Value::String(name) => place.extend([".", name]),
            index => place.push_str(&format!("[{index}]")),
        }
    }
    let message = fault["msg"].as_str().unwrap_or_default();
    if place.is_empty() { message.to_owned() } else { format!("{place}: {message}") }
}

/// The arguments of a call, where there are any.
pub(super) fn arguments(arguments: Option<JsonObject>) -> JsonObject {
    arguments.unwrap_or_else(Map::new)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn faults_are_told_by_their_place() {
        let body = json!({ "detail": [
            { "loc": ["body", "prices", 1], "msg": "value is not a valid float", "type": "type_error.float" },
            { "loc": ["body", "tenors", 0, "unit"], "msg": "field required", "type": "value_error.missing" },
            { "loc": ["query", "days"], "msg": "value is not a valid integer", "type": "type_error.integer" },
        ] });
        let failure = failure(StatusCode::UNPROCESSABLE_ENTITY, &body);
        assert_eq!(failure.code, "invalid_arguments");
        assert_eq!(
            failure.message,
            "prices[1]: value is not a valid float\ntenors[0].unit: field required\ndays: value is not a valid integer"
        );
    }

    #[test]
    fn arguments_of_a_page_become_its_query() {
        let arguments = json!({ "days": 7, "endpoint_filter": "/a b&c", "page": null });
        let Value::Object(arguments) = arguments else { panic!("an object") };
        assert_eq!(
            path_with_query("/user/usage", &arguments),
            "/user/usage?days=7&endpoint_filter=%2Fa+b%26c"
        );
        assert_eq!(path_with_query("/user/usage", &Map::new()), "/user/usage");
    }
}
