//! The headers of requests and answers, which the handlers do not declare: their stages read and
//! write them.

use serde_json::{Map, Value, json};

use super::described::Described;

/// The calls whose answer depends on the session token.
const READ_SESSION: [&str; 6] = [
    "log_out",
    "validate_session",
    "pulse_session",
    "list_sessions",
    "end_sessions",
    "confirm_email_change",
];
/// The call that is refused without a session token.
const REQUIRES_SESSION: &str = "pulse_session";

/// Returns the headers that a request of the operation may have, as parameters.
pub(super) fn parameters(operation: &Described<'_>) -> Vec<Value> {
    let mut parameters = Vec::new();
    if operation.is_charged() {
        parameters.push(idempotency_key());
    }
    if READ_SESSION.contains(&operation.id) {
        parameters.push(session_token(operation.id == REQUIRES_SESSION));
    }
    parameters.extend(preference(operation.has_body(), operation.is_charged()));
    parameters
}

/// Returns the header that makes a metered call safe to repeat.
fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" },
        "description": format!(
            "Makes the call safe to send again: for {} hours, a repeat with the same key and the \
             same body gets the first success, byte for byte, with `Idempotent-Replayed: true` and \
             without another charge. The same key with another body is refused with 422. Refusals \
             are not kept. Visible ASCII characters; each account and endpoint has keys of its own.",
            account_core::idempotency::KEPT.num_hours(),
        ),
    })
}

fn session_token(is_required: bool) -> Value {
    json!({
        "name": "X-Session-Token",
        "in": "header",
        "required": is_required,
        "schema": { "type": "string", "pattern": "^[A-Za-z0-9_-]{43}$" },
        "description": "The `session_token` of a sign-in, beside the key. A token that is sent and \
                        not valid is refused with 401.",
    })
}

/// Returns the header with preferences; `None` for an operation that knows none.
fn preference(has_body: bool, has_quotes: bool) -> Option<Value> {
    let strict = "With `handling=strict` (RFC 7240), a field that the body's schema does not have \
                  is refused with 422, which names the nearest field. By default such a field is \
                  ignored, and `X-Ignored-Fields` names it.";
    let quote = "With `quote`, nothing is computed or charged: the request is checked, and `data` \
                 is `{operation, credits_cost, pricing, balance, hourly_limit, limit_remaining, \
                 would_pass, reason}`. `credits_cost` is the most that the request can cost, and \
                 `pricing` a sentence with the rule that gives it. \
                 `reason` is null, `insufficient_tier`, `insufficient_credits`, \
                 `daily_cap_reached` or `rate_limited`. A quote counts as one call against the \
                 hourly limit.";
    let known = [has_body.then_some(strict), has_quotes.then_some(quote)];
    let known: Vec<&str> = known.into_iter().flatten().collect();
    (!known.is_empty()).then(|| {
        let mut header = json!({
            "name": "Prefer",
            "in": "header",
            "required": false,
            "schema": { "type": "string" },
        });
        // `quote` is no example: a tool that sends the examples expects the data of the schema.
        if has_body {
            header["example"] = "handling=strict".into();
        }
        header["description"] = known.join("\n\n").into();
        header
    })
}

/// Refers from an answer to a header.
pub(super) fn add(response: &mut Value, name: &str) {
    response["headers"][name] = json!({ "$ref": format!("#/components/headers/{name}") });
}

/// Adds the headers that depend on the operation and the status.
pub(super) fn add_to_answers(operation: &Described<'_>, responses: &mut Map<String, Value>) {
    for (status, response) in responses {
        rename(response);
        add(response, "X-Request-Id");
        if operation.is_authenticated && !matches!(status.as_str(), "401" | "500" | "503") {
            add(response, "X-RateLimit-Limit");
            add(response, "X-RateLimit-Remaining");
            add(response, "X-RateLimit-Reset");
        }
        if status == "200" && operation.is_charged() {
            add(response, "X-Credits-Cost");
            add(response, "X-Credits-Balance");
            add(response, "Idempotent-Replayed");
        }
        let is_checked = matches!(status.as_str(), "200" | "422");
        if operation.has_body() && is_checked {
            add(response, "X-Ignored-Fields");
        }
        if (operation.has_body() && is_checked) || (operation.is_charged() && status == "200") {
            add(response, "Preference-Applied");
        }
    }
}

/// Writes declared headers in their usual case: poem-openapi writes capitals only.
fn rename(response: &mut Value) {
    let Some(declared) = response.get_mut("headers").and_then(Value::as_object_mut) else { return };
    *declared = std::mem::take(declared)
        .into_iter()
        .map(|(name, header)| (usual_case(&name), header))
        .collect();
}

/// Returns a header's name with a capital at the start of each word.
fn usual_case(name: &str) -> String {
    if name.chars().any(|c| c.is_ascii_lowercase()) {
        return name.to_owned();
    }
    let word = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => format!("{first}{}", rest.to_ascii_lowercase()),
        None => String::new(),
    };
    name.split('-').map(word).collect::<Vec<_>>().join("-")
}

/// Returns the headers to which the answers refer.
pub(super) fn components() -> Value {
    let number = |unit: &str, description: &str| {
        json!({
            "description": description,
            "schema": { "type": "integer", "format": "int64", "minimum": 0, "x-unit": unit },
        })
    };
    let text = |description: &str, example: &str| json!({ "description": description, "schema": { "type": "string" }, "example": example });
    json!({
        "Accept-Encoding": text("The encodings that a body may have.", "identity"),
        "Idempotent-Replayed": {
            "description": "`true` where this is the answer to an earlier call with this key; \
                            absent otherwise.",
            "schema": { "type": "boolean" },
        },
        "Preference-Applied": text(
            "The preference that was met; absent where none was sent.",
            "handling=strict",
        ),
        "Retry-After": number("seconds", "The time to wait before the next call."),
        "X-Credits-Balance": number("credits", "Credits that are left."),
        "X-Credits-Cost": number("credits", "Credits that this call cost."),
        "X-Ignored-Fields": text(
            "The fields of the body that the schema does not have and that were ignored, separated \
             by commas; at most 1 KiB, with `...` at the end where names are missing. Absent where \
             every field is known.",
            "dividend_yeild, instruments[1].ratte",
        ),
        "X-RateLimit-Limit": number("count", "Calls that the limit allows."),
        "X-RateLimit-Remaining": number("count", "Calls that are left now."),
        "X-RateLimit-Reset": number("Unix seconds", "The time at which a call is free again."),
        "X-Request-Id": {
            "description": "The id of the request, which is also in the log of the service.",
            "schema": { "type": "string", "format": "uuid" },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_in_capitals_gets_its_usual_case() {
        let names = ["LOCATION", "SET-COOKIE", "X-RateLimit-Limit"].map(usual_case);
        assert_eq!(names, ["Location", "Set-Cookie", "X-RateLimit-Limit"]);
    }
}
