//! The catalogue of errors and limits: `/docs/errors`, and `docs/errors.md` of the repository.
//!
//! The catalogue is made from the OpenAPI document, the types of faults and the tiers. What happens
//! before a request has an operation is added here.

use std::{collections::BTreeMap, fmt::Write as _};

use account_core::{Tier, tier};
use askama::Template;
use poem::http::{HeaderValue, StatusCode};
use serde_json::{Map, Value};

use super::{
    markdown,
    operation::{self, Group},
    sizes,
};
use crate::{
    api::openapi::DOCUMENT,
    http::{ApiError, Surface, fault_types::FAULT_TYPES},
};

/// The remedy of the caller for each status.
#[rustfmt::skip]
const REMEDIES: &[(u16, &str)] = &[
    (400, "Correct what `detail` names; the same request fails again."),
    (401, "Send a valid key in `X-API-Key`, or sign in again. A guest's key is valid for 24 hours."),
    (402, "Ask the operator for credits. The balance is in `X-Credits-Balance` and `GET /user/profile`."),
    (403, "Use a key of a higher tier, or an account in place of a guest's key. The operator moves an account to a tier by `quant-server account set-tier EMAIL TIER`; with `QS_TIER_GATE=guests` tiers hold for guests alone."),
    (404, "Correct the path or the name; `/docs` lists every operation."),
    (405, "Use a method that the header `Allow` names."),
    (408, "Send the whole body without a pause, on a new connection."),
    (409, "With `Retry-After`: send the same request again after that time. Otherwise the state is reached already, or the name is taken."),
    (413, "Send a smaller body, in several calls where needed. The limits are listed below."),
    (415, "Send `Content-Type: application/json`, and no `Content-Encoding`."),
    (421, "Send the request to the host of the service's own address."),
    (422, "Correct every fault of the list; the types are listed below."),
    (423, "Wait until the time in `detail`, or reset the password."),
    (429, "Wait for the seconds in `Retry-After`. `X-RateLimit-Remaining` tells the calls that are left."),
    (431, "Send fewer or shorter headers."),
    (500, "Report the `X-Request-Id` to the operator. Nothing was charged."),
    (502, "Send the request again later; the identity provider or the channel does not answer."),
    (503, "Send the request again after the seconds in `Retry-After`, with the same `Idempotency-Key`."),
];

/// The headers of HTTP that the document does not declare.
const STANDARD_HEADERS: [(&str, &str); 3] = [
    ("Allow", "The methods of the path, in a 405."),
    ("Cache-Control", "`no-store` on every answer with data of an account."),
    ("Connection", "`close` where the service ends the connection: 400, 408 and 413."),
];

#[derive(Template)]
#[template(path = "site/errors.html")]
struct ErrorPage {
    groups: Vec<Group>,
    current: &'static str,
    content: String,
}

/// Writes the page.
pub(super) fn page(_base_url: &str) -> String {
    // A wide table scrolls on a phone, and the keyboard must reach what scrolls.
    let content = markdown::html(&text()).replace("<table>", "<table tabindex=\"0\">");
    let page = ErrorPage { groups: operation::groups(|_| true), current: "", content };
    page.render().expect("a page that compiles renders into a string")
}

/// Writes the catalogue as Markdown.
#[must_use]
pub fn text() -> String {
    let mut text = "# Errors and limits\n\n\
        Made by `quant-server openapi --errors` from the OpenAPI document; `/docs/errors` of a\n\
        running service has the same text.\n\n\
        A refusal costs nothing. Its body has one of three schemas:\n\n\
        | schema | meaning | example |\n|---|---|---|\n"
        .to_owned();
    for name in ["ComputationError", "AccountError", "ValidationError"] {
        let schema = &DOCUMENT["components"]["schemas"][name];
        let description = schema["description"].as_str().unwrap_or_default();
        line(&mut text, [&format!("`{name}`"), description, &format!("`{}`", schema["example"])]);
    }
    add_statuses(&mut text);
    add_fault_types(&mut text);
    add_headers(&mut text);
    add_limits(&mut text);
    text
}

/// Adds a row of a table.
fn line<const CELLS: usize>(text: &mut String, cells: [&str; CELLS]) {
    for cell in cells {
        write!(text, "| {} ", cell.replace('|', "\\|")).expect("a string takes every line");
    }
    text.push_str("|\n");
}

/// A reason of a refusal, with the operations that give it.
struct RefusalReason<'d> {
    summary: &'d str,
    body: Value,
    operations: Vec<&'d str>,
}

fn add_statuses(text: &mut String) {
    text.push_str("\n## Statuses\n");
    for (status, reasons) in reasons() {
        let name = StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason());
        let remedy = REMEDIES.iter().find(|(of, _)| *of == status).map_or("", |(_, text)| text);
        write!(text, "\n### {status} {}\n\n{remedy}\n", name.unwrap_or_default())
            .expect("a string takes every line");
        if !reasons.is_empty() {
            text.push_str("\n| reason | `message` | `detail` | operations |\n|---|---|---|---|\n");
        }
        for reason in reasons {
            let part = |key: &str| reason.body[key].as_str().map_or("–", |text| text).to_owned();
            let operations = told(&reason.operations);
            line(text, [reason.summary, &part("message"), &part("detail"), &operations]);
        }
    }
}

/// Returns the names of few operations, or the number of many.
fn told(operations: &[&str]) -> String {
    match operations.len() {
        0 => "any request".to_owned(),
        1..=4 => operations.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", "),
        many => format!("{many} operations"),
    }
}

/// Returns the reasons of every status, each once.
fn reasons() -> BTreeMap<u16, Vec<RefusalReason<'static>>> {
    let mut found: BTreeMap<u16, Vec<RefusalReason<'static>>> = BTreeMap::new();
    for (summary, error) in before_an_operation() {
        let reason =
            RefusalReason { summary, body: error.body(Surface::Account), operations: Vec::new() };
        found.entry(error.status().as_u16()).or_default().push(reason);
    }
    for operation in described() {
        let id = operation["operationId"].as_str().unwrap_or_default();
        for (status, response) in operation["responses"].as_object().into_iter().flatten() {
            let Some(status) = status.parse().ok().filter(|status| *status >= 400) else {
                continue;
            };
            let reasons = found.entry(status).or_default();
            shared_examples(response).for_each(|example| add_reason(reasons, id, example));
        }
    }
    found
}

/// Returns every operation of the document.
fn described() -> impl Iterator<Item = &'static Value> {
    let paths = DOCUMENT["paths"].as_object().into_iter().flat_map(Map::values);
    paths.filter_map(Value::as_object).flat_map(Map::values)
}

/// Returns the examples that a response shares with others: one for each reason.
fn shared_examples(response: &'static Value) -> impl Iterator<Item = &'static Value> {
    let examples = response["content"]["application/json"]["examples"].as_object();
    examples.into_iter().flatten().filter_map(|(_, example)| {
        let name = example["$ref"].as_str()?.strip_prefix("#/components/examples/")?;
        Some(&DOCUMENT["components"]["examples"][name])
    })
}

/// Adds an operation to its reason. The account's shape, which has the message too, is preferred.
fn add_reason(
    reasons: &mut Vec<RefusalReason<'static>>,
    operation: &'static str,
    example: &'static Value,
) {
    let (summary, body) = (example["summary"].as_str().unwrap_or_default(), &example["value"]);
    match reasons.iter_mut().find(|reason| reason.summary == summary) {
        Some(reason) => {
            if reason.body["message"].is_null() {
                reason.body = body.clone();
            }
            if !reason.operations.is_empty() && !reason.operations.contains(&operation) {
                reason.operations.push(operation);
            }
        }
        None => {
            let (body, operations) = (body.clone(), vec![operation]);
            reasons.push(RefusalReason { summary, body, operations });
        }
    }
}

/// Returns the refusals of requests that have no operation yet, or a broken form.
fn before_an_operation() -> [(&'static str, ApiError); 5] {
    let allow = HeaderValue::from_static("POST, OPTIONS");
    [
        ("No route has the path.", ApiError::NotFound),
        ("The path has other methods.", ApiError::MethodNotAllowed { allow }),
        ("The body did not arrive in time.", ApiError::BodyTooSlow),
        ("The body ended early, or its framing is wrong.", ApiError::BodyBroken),
        ("The service is too busy; `Retry-After` has the seconds to wait.", ApiError::busy()),
    ]
}

fn add_fault_types(text: &mut String) {
    text.push_str(
        "\n## Types of faults\n\n\
         Each fault of a 422 has `loc`, the place from `body`, `query`, `path` or `header` on;\n\
         `msg`, for people; and `type`, for programs. A list has at most 100 faults.\n\n\
         | `type` | meaning | what to do |\n|---|---|---|\n",
    );
    for fault in FAULT_TYPES {
        line(text, [&format!("`{}`", fault.name), fault.meaning, fault.remedy]);
    }
}

fn add_headers(text: &mut String) {
    let flat = |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ");
    text.push_str("\n## Headers\n\n| header of a request | meaning |\n|---|---|\n");
    let mut sent = BTreeMap::new();
    for scheme in DOCUMENT["components"]["securitySchemes"].as_object().into_iter().flatten() {
        let (_, scheme) = scheme;
        if let (Some(name), "header") = (scheme["name"].as_str(), &*flat(&scheme["in"])) {
            sent.insert(name, flat(&scheme["description"]));
        }
    }
    let parameters =
        described().filter_map(|operation| operation["parameters"].as_array()).flatten();
    for parameter in parameters.filter(|parameter| parameter["in"] == "header") {
        let name = parameter["name"].as_str().unwrap_or_default();
        sent.entry(name).or_insert_with(|| flat(&parameter["description"]));
    }
    for (name, meaning) in sent {
        line(text, [&format!("`{name}`"), &meaning]);
    }
    text.push_str("\n| header of an answer | meaning |\n|---|---|\n");
    let declared = DOCUMENT["components"]["headers"].as_object().into_iter().flatten();
    let mut answered: BTreeMap<&str, String> =
        declared.map(|(name, header)| (name.as_str(), flat(&header["description"]))).collect();
    answered.extend(STANDARD_HEADERS.map(|(name, meaning)| (name, meaning.to_owned())));
    for (name, meaning) in answered {
        line(text, [&format!("`{name}`"), &meaning]);
    }
}

fn add_limits(text: &mut String) {
    text.push_str(
        "\n## Calls and credits\n\n\
         A call counts when its key is valid, also where it is refused later. `QS_ADDRESS_LIMIT`\n\
         of the service limits the calls without a key, in calls a minute and address.\n\n\
         | caller | calls an hour | calls a day | credits of a computation of the tier |\n\
         |---|---:|---:|---:|\n",
    );
    let (hour, day) = (tier::GUEST_HOURLY_LIMIT.to_string(), tier::GUEST_DAILY_LIMIT.to_string());
    line(text, ["guest", &hour, &day, "–"]);
    for tier in Tier::ALL {
        let (hour, credits) = (tier.hourly_limit().to_string(), tier.credits().to_string());
        line(text, [&tier.name().to_uppercase(), &hour, "–", &credits]);
    }
    text.push_str(
        "\n## Sizes of requests\n\n\
         The bytes of the body, then the largest number of items of each list and of characters\n\
         of each text. `[]` stands for an item of a list, `*` for a name of the caller's choice.\n\n\
         | operation | body | lists | texts |\n|---|---:|---|---|\n",
    );
    for sizes in sizes::of_operations() {
        let operation = format!("`{}`", sizes.operation);
        line(text, [&operation, &sizes.body.to_string(), &sizes.lists, &sizes.texts]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_a_remedy() {
        for status in reasons().keys() {
            assert!(REMEDIES.iter().any(|(of, _)| of == status), "{status} has no remedy");
        }
    }
}
