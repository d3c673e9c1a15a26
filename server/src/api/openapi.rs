//! The OpenAPI document: what poem-openapi makes of the handlers, completed from the table of
//! tiers and costs, and repaired where generators trip over it.

use std::{fmt::Write as _, sync::LazyLock};

use poem::{Endpoint, Response, endpoint::make_sync};
use poem_openapi::{LicenseObject, OpenApiService};
use serde_json::{Map, Value, json};

use super::{
    documented::Api,
    operations::{self, MeteredOperation},
};
use crate::http::validation::Fault;

/// The version of the interface.
pub const VERSION: &str = "3.0.0";

const DESCRIPTION: &str = "Exact financial computations behind API keys, tiers, credits and hourly \
limits.\n\nGet a key: `POST /guest/create` (FREE endpoints only), or `POST /user/register`, then \
`POST /user/verify-otp` with the code from the letter. Send the key in `X-API-Key`.\n\nA success is \
`{\"success\": true, \"data\": …}`. Every refusal carries `detail`: a text, or, for a 422, the list \
of all faults of the request. A refused call costs nothing.";

/// The document as text, two spaces a level, with a line break at the end.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = serde_json::to_string_pretty(&*DOCUMENT).expect("a document is JSON");
    text.push('\n');
    text
});

/// The document.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(generate);

/// Serves the document.
pub fn endpoint() -> impl Endpoint<Output = Response> {
    make_sync(|_| Response::builder().content_type("application/json").body(TEXT.as_str()))
}

/// A line for each operation: id, method, path, tier and cost.
#[must_use]
pub fn operations_table() -> String {
    let mut table = String::new();
    each_operation(&DOCUMENT, |path, method, operation| {
        let id = operation["operationId"].as_str().unwrap_or_default();
        let tier = operation["x-tier"].as_str().unwrap_or("-");
        let credits = operation["x-credits"].as_u64().map_or("-".to_owned(), |n| n.to_string());
        let method = method.to_uppercase();
        writeln!(table, "{id:<32} {method:<6} {path:<52} {tier:<10} {credits:>2}")
            .expect("a string takes every line");
    });
    table
}

fn each_operation(document: &Value, mut visit: impl FnMut(&str, &str, &Value)) {
    let paths = document["paths"].as_object().into_iter().flatten();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            visit(path, method, operation);
        }
    }
}

fn generate() -> Value {
    let service = OpenApiService::new(Api::default(), "quant-server", VERSION)
        .description(DESCRIPTION)
        .license(LicenseObject::new("MIT").url("https://opensource.org/license/mit"))
        .server("/");
    let mut document: Value =
        serde_json::from_str(&service.spec()).expect("the generator writes JSON");
    complete_operations(&mut document);
    complete_components(&mut document);
    let mut defaults = Map::new();
    collapse_wrappers(&mut document, &mut defaults);
    for (schema, default) in defaults {
        document["components"]["schemas"][schema]["default"] = default;
    }
    document
}

fn complete_operations(document: &mut Value) {
    let paths = document["paths"].as_object_mut().expect("there are paths");
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        complete(operation);
    }
}

fn complete(operation: &mut Value) {
    let id = operation["operationId"].as_str().expect("every operation has an id").to_owned();
    let metered = operations::find(&id);
    let is_authenticated = operation.get("security").is_some();
    if let Some(metered) = metered {
        say_cost(operation, metered);
        operation["parameters"] = json!([key_of_repeats()]);
    }
    if !is_authenticated {
        operation["security"] = json!([]);
    }
    let has_body = operation.get("requestBody").is_some();
    let is_visited = !is_authenticated && operation["responses"].get("200").is_some() && has_body;
    let responses = operation["responses"].as_object_mut().expect("every operation has answers");
    let own = OWN_REFUSALS.iter().filter(|(operation, ..)| *operation == id);
    let own = own.map(|&(_, status, description)| (status, description));
    for (status, description) in
        own.chain(refusals(metered, is_authenticated, has_body, is_visited))
    {
        responses.entry(status).or_insert_with(|| refusal(description));
    }
    responses.sort_keys();
    if is_authenticated {
        add_headers(responses, metered.is_some());
    }
}

/// The refusals that belong to one operation.
const OWN_REFUSALS: &[(&str, &str, &str)] = &[
    ("register_account", "409", "Another account has the user name."),
    ("verify_registration", "400", "The code is wrong, used or expired."),
    ("log_in", "401", "The e-mail or the password is wrong."),
    ("log_in", "403", "The e-mail is not verified, or the account is suspended."),
    ("log_in", "423", LOCKED),
    ("verify_second_factor", "400", "The code is wrong, used or expired."),
    ("reset_password", "400", "The code is wrong, used or expired."),
    ("regenerate_key", "403", GUEST),
    ("get_profile", "403", GUEST),
    ("update_profile", "403", GUEST),
    ("update_profile", "409", "Another account has the user name."),
    ("enable_second_factor", "403", GUEST),
    ("disable_second_factor", "403", "The password is wrong, or the key is a guest's."),
    ("disable_second_factor", "423", LOCKED),
    ("log_out", "403", GUEST),
    ("validate_session", "403", GUEST),
    ("pulse_session", "403", GUEST),
    ("get_usage", "403", GUEST),
    ("get_usage", "422", "Everything that is wrong with the parameters, at once."),
    ("list_login_history", "403", GUEST),
    ("list_login_history", "422", "Everything that is wrong with the parameters, at once."),
    ("list_transactions", "403", GUEST),
    ("list_transactions", "422", "Everything that is wrong with the parameters, at once."),
    ("subscribe_database", "403", GUEST),
    ("subscribe_database", "404", "There is no such database."),
    ("subscribe_database", "409", "The account has this subscription already."),
    ("list_subscriptions", "403", GUEST),
    ("sign_in_with_identity", "401", "The ID token is not valid for this service."),
    ("sign_in_with_identity", "403", "The account is suspended, or the e-mail not confirmed."),
    ("sign_in_with_identity", "503", NO_PROVIDER),
    ("start_identity_sign_in", "429", "Too many calls from this address."),
    ("start_identity_sign_in", "503", NO_PROVIDER),
    ("finish_identity_sign_in", "429", "Too many calls from this address."),
    ("finish_identity_sign_in", "503", NO_PROVIDER),
    ("complete_profile", "400", "The token is wrong, used or expired."),
    ("complete_profile", "409", "The user name or the e-mail has an account."),
    ("mint_handoff_code", "403", GUEST),
    ("redeem_handoff_code", "400", "The code is wrong, used or expired."),
    ("redeem_handoff_code", "403", "The account is suspended."),
    ("list_notifications", "403", GUEST),
    ("list_notifications", "422", "Everything that is wrong with the parameters, at once."),
    ("read_notification", "403", GUEST),
    ("read_notification", "404", NO_NOTIFICATION),
    ("read_notification", "422", "The number in the path is none."),
    ("read_all_notifications", "403", GUEST),
    ("delete_notification", "403", GUEST),
    ("delete_notification", "404", NO_NOTIFICATION),
    ("delete_notification", "422", "The number in the path is none."),
    ("get_notification_preferences", "403", GUEST),
    ("update_notification_preferences", "403", GUEST),
    ("send_test_message", "403", GUEST),
    ("send_test_message", "422", "The account has no chat."),
    ("send_test_message", "503", "The service has no messaging channel, or is too busy."),
    ("broadcast_notification", "403", "The account is no administrator's."),
    ("delete_account", "403", "The confirmation is wrong, or the key is a guest's."),
    ("delete_account", "423", LOCKED),
    ("get_readiness", "503", "The store does not answer."),
];
const NO_PROVIDER: &str = "The service has no identity provider, or it does not answer.";
const NO_NOTIFICATION: &str = "The account's inbox has no such notification.";
const GUEST: &str = "The key is a guest's; this needs an account.";
const LOCKED: &str = "Five wrong passwords: locked for 30 minutes.";

/// The refusals that an operation shares with its kind.
fn refusals(
    metered: Option<&MeteredOperation>,
    is_authenticated: bool,
    has_body: bool,
    is_visited: bool,
) -> Vec<(&'static str, &'static str)> {
    let mut refusals = Vec::new();
    let mut add = |condition: bool, refusal| refusals.extend(condition.then_some(refusal));
    add(is_authenticated, ("401", "The key is missing, unknown, revoked, suspended or expired."));
    add(metered.is_some(), ("402", "The balance is below the cost. Nothing is charged."));
    add(metered.is_some(), ("403", "The account's tier is too low."));
    add(
        metered.is_some(),
        ("409", "The same call, under its `Idempotency-Key`, is being answered."),
    );
    add(has_body, ("413", "The body is too large."));
    add(has_body, ("415", "The body is announced as something else than JSON."));
    add(has_body, ("422", "Everything that is wrong with the request, at once."));
    add(
        is_authenticated || is_visited,
        ("429", "The limit is reached; `Retry-After` says when to come again."),
    );
    add(is_authenticated || is_visited, ("500", "A bug on our side. Nothing is charged."));
    add(
        is_authenticated || is_visited,
        ("503", "Too busy; `Retry-After` says when to come again. Nothing is charged."),
    );
    refusals
}

fn refusal(description: &str) -> Value {
    json!({
        "description": description,
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    })
}

/// The header that makes a metered call safe to send again.
fn key_of_repeats() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
        "description": "Makes the call safe to send again: for 24 hours, a repeat with the same key \
                        and the same body gets the first success, byte for byte, with \
                        `Idempotent-Replayed: true` and without another charge. Refusals are not \
                        kept. Visible ASCII characters; each account and endpoint has keys of its own.",
    })
}

/// Says tier and cost in words and in fields.
fn say_cost(operation: &mut Value, metered: &MeteredOperation) {
    let (title, cost) = (metered.tier.title(), metered.cost);
    let sentence = match cost {
        0 => format!("Tier {title}, free of charge."),
        1 => format!("Tier {title}, 1 credit."),
        _ => format!("Tier {title}, {cost} credits."),
    };
    let parts = [operation["description"].as_str(), Some(&sentence), metered.remark];
    let description = parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    operation["description"] = description.into();
    operation["x-tier"] = metered.tier.name().to_uppercase().into();
    operation["x-credits"] = cost.into();
}

fn add_headers(responses: &mut Map<String, Value>, is_metered: bool) {
    for (status, response) in responses {
        let mut headers = Map::new();
        let mut add = |name: &str, description: &str| {
            let header = json!({ "description": description, "schema": { "type": "integer", "format": "int64" } });
            headers.insert(name.to_owned(), header);
        };
        if !matches!(status.as_str(), "401" | "500" | "503") {
            add("X-RateLimit-Limit", "Calls that the limit allows.");
            add("X-RateLimit-Remaining", "Calls that are left now.");
            add("X-RateLimit-Reset", "When a call is free again, in seconds since 1970.");
        }
        if status == "200" && is_metered {
            add("X-Credits-Cost", "Credits that this call cost.");
            add("X-Credits-Balance", "Credits that are left.");
        }
        if matches!(status.as_str(), "409" | "429" | "503") && (is_metered || status != "409") {
            add("Retry-After", "Seconds to wait before the next call.");
        }
        if status == "200" && is_metered {
            let description = "True where this is the answer to an earlier call with this key.";
            let header = json!({ "description": description, "schema": { "type": "boolean" } });
            headers.insert("Idempotent-Replayed".to_owned(), header);
        }
        if !headers.is_empty() {
            response["headers"] = Value::Object(headers);
        }
    }
}

fn complete_components(document: &mut Value) {
    let fault = fault_schema();
    let schemas = document["components"]["schemas"].as_object_mut().expect("there are schemas");
    schemas.insert("Fault".to_owned(), fault);
    schemas.insert("Error".to_owned(), error_schema());
    add_answer_examples(schemas);
    describe_root_message(schemas);
    name_enum_values(schemas);
    schemas.sort_keys();
}

fn fault_schema() -> Value {
    let description = "One fault of a request.";
    json!({
        "type": "object",
        "description": description,
        "required": ["loc", "msg", "type"],
        "properties": {
            "loc": {
                "type": "array",
                "description": "Where: `body`, `query` or `path`, then field names and indices.",
                "items": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
            },
            "msg": { "type": "string", "description": "What is wrong, for people." },
            "type": { "type": "string", "description": "What is wrong, for programs." },
        },
        "example": example_fault(),
    })
}

fn example_fault() -> Value {
    Fault::at_field("spot", "value_error.missing", "field required").to_json()
}

/// One schema for every refusal: some generators take no second one per operation.
fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "A refusal. Computations answer `detail` alone; the other endpoints also \
                        `success` and `message`.",
        "required": ["detail"],
        "properties": {
            "success": { "type": "boolean", "description": "Always false." },
            "message": { "type": "string", "description": "What happened, shortly." },
            "detail": {
                "description": "What happened and what to do; for a 422, every fault of the request.",
                "anyOf": [
                    { "type": "string" },
                    { "type": "array", "items": { "$ref": "#/components/schemas/Fault" } },
                ],
            },
        },
        "example": { "detail": [example_fault()] },
    })
}

/// Gives each answer the example of its data, in the envelope.
fn add_answer_examples(schemas: &mut Map<String, Value>) {
    let examples: Vec<_> = schemas
        .iter()
        .filter_map(|(name, _)| {
            let data = schemas.get(name.strip_suffix("Answer")?)?.get("example")?.clone();
            Some((name.clone(), json!({ "success": true, "data": data })))
        })
        .collect();
    for (name, example) in examples {
        schemas[&name]["example"] = example;
    }
}

/// Registration says its message beside `data` as well, where its clients read it.
fn describe_root_message(schemas: &mut Map<String, Value>) {
    let answer = &mut schemas["RegisteredAnswer"];
    answer["properties"]["message"] =
        json!({ "type": "string", "description": "What happened, as in `data`." });
    answer["example"]["message"] = answer["example"]["data"]["message"].clone();
}

/// Names enum values that are no identifiers, which generators would number.
fn name_enum_values(schemas: &mut Map<String, Value>) {
    for schema in schemas.values_mut() {
        let Some(values) = schema.get("enum").and_then(Value::as_array) else { continue };
        let texts: Vec<_> = values.iter().filter_map(Value::as_str).collect();
        let is_word = |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if texts.is_empty() || texts.iter().all(is_word) {
            continue;
        }
        let names: Vec<_> = texts.iter().map(|text| identifier(text)).collect();
        schema["x-enum-varnames"] = json!(names);
    }
}

/// A name that is an identifier in every language: no digit and no underscore in front.
fn identifier(text: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = text.chars().map(word).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("BASIS_{name}") } else { name }
}

/// Replaces `allOf: [$ref, {…}]`, over which generators drop the endpoint, by the reference.
///
/// OpenAPI 3.0 has no words beside a reference, so a default moves to the schema that is referred
/// to: each of these enumerations has the same one wherever it has one.
fn collapse_wrappers(value: &mut Value, defaults: &mut Map<String, Value>) {
    if let Some(reference) = wrapped_reference(value) {
        if let (Some(default), Some(name)) = (value.get("default"), schema_name(&reference)) {
            let before = defaults.insert(name, default.clone());
            assert!(before.is_none_or(|before| before == *default), "two defaults of {reference}");
        }
        *value = reference;
        return;
    }
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| collapse_wrappers(field, defaults));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| collapse_wrappers(item, defaults));
        }
        _ => {}
    }
}

/// The reference inside a wrapper.
fn wrapped_reference(value: &Value) -> Option<Value> {
    value.get("allOf")?.get(0).filter(|base| base.get("$ref").is_some()).cloned()
}

/// The name of the schema that a reference leads to.
fn schema_name(reference: &Value) -> Option<String> {
    reference["$ref"].as_str()?.rsplit('/').next().map(str::to_owned)
}
