//! The refusals of each operation: status, description, schema and examples.
//!
//! An example is the body that the service itself makes of the refusal, so that no documented error
//! is invented. The faults of a 422 are those that the reader of bodies finds.

use std::{collections::BTreeMap, time::Duration};

use account_core::Tier;
use serde_json::{Map, Value, json};

use super::{described::Described, headers};
use crate::{
    api::{
        account::{
            deletion, email_address, external_sign_in, guest, history, key, notification, password,
            profile, registration, second_factor, session, sign_in, subscription, usage,
        },
        batch,
        ops::health,
        own_refusals::{ADDRESS_LIMIT, CAP_PASSED, OwnRefusals, address_limit, cap_refusal},
    },
    http::{
        ApiError, Operation, Surface, idempotency, path,
        unknown_fields::{Handling, UnknownFields},
        validation::{self, Fault},
    },
    store::StoreFault,
};

/// A refusal with its example.
struct Refusal {
    /// The name of the example, the same for the same example.
    name: String,
    /// The reason, a sentence of the answer's description.
    description: &'static str,
    /// The refusal, which has status and body.
    error: ApiError,
}

impl Refusal {
    fn new(name: impl Into<String>, description: &'static str, error: ApiError) -> Self {
        Self { name: name.into(), description, error }
    }
}

/// The refusals that belong to single operations, beside those of its kind; each list is in the file
/// of its endpoints.
const OWN_REFUSALS: &[&[OwnRefusals]] = &[
    deletion::REFUSALS,
    email_address::REFUSALS,
    external_sign_in::REFUSALS,
    guest::REFUSALS,
    history::REFUSALS,
    key::REFUSALS,
    notification::REFUSALS,
    password::REFUSALS,
    profile::REFUSALS,
    registration::REFUSALS,
    second_factor::REFUSALS,
    session::REFUSALS,
    sign_in::REFUSALS,
    subscription::REFUSALS,
    usage::REFUSALS,
    batch::REFUSALS,
    health::REFUSALS,
];

/// Operations without a key that no limit of the address counts.
const UNLIMITED: [&str; 1] = ["request_password_reset"];

/// Adds the refusals of an operation to its answers, and their shared examples to `examples`.
pub(super) fn add(
    operation: &Described<'_>,
    responses: &mut Map<String, Value>,
    examples: &mut Map<String, Value>,
) {
    let mut by_status: BTreeMap<u16, Vec<Refusal>> = BTreeMap::new();
    for refusal in refusals(operation) {
        by_status.entry(refusal.error.status().as_u16()).or_default().push(refusal);
    }
    for (status, refusals) in by_status {
        let response = response(operation, &refusals, examples);
        responses.insert(status.to_string(), response);
    }
    if let Some(faults) = response_to_faults(operation, responses.get("422"), examples) {
        responses.insert("422".to_owned(), faults);
    }
}

fn refusals(operation: &Described<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let own = OWN_REFUSALS.iter().copied().flatten().filter(|(id, _)| *id == operation.id);
    let own: Vec<_> = own.flat_map(|(_, refusals)| refusals.iter()).collect();
    if operation.is_authenticated {
        refusals.extend(of_key());
    }
    refusals
        .extend(own.into_iter().map(|own| Refusal::new(own.name, own.description, (own.error)())));
    if let Some(metered) = operation.route.operation {
        refusals.extend(of_metering(metered));
    }
    if operation.has_body() {
        refusals.extend(of_body(operation.body_limit()));
    }
    if operation.is_form() && !UNLIMITED.contains(&operation.id) {
        let refusal = address_limit();
        refusals.push(Refusal::new(ADDRESS_LIMIT.name, ADDRESS_LIMIT.description, refusal));
    }
    if operation.is_authenticated || operation.is_form() {
        refusals.extend(of_failures());
    }
    refusals
}

fn of_key() -> Vec<Refusal> {
    let limit = ApiError::RateLimit {
        limit: Tier::Free.hourly_limit(),
        window: "hour",
        retry_after: Duration::from_secs(60),
    };
    vec![
        Refusal::new(
            "invalid_key",
            "The key is missing, unknown, revoked or suspended.",
            ApiError::Key,
        ),
        Refusal::new(
            "expired_guest_key",
            "The key is a guest's and has expired.",
            ApiError::GuestKeyExpired,
        ),
        Refusal::new(
            "rate_limit",
            "The limit of calls is reached; `Retry-After` has the seconds to wait.",
            limit,
        ),
    ]
}

fn of_metering(metered: &Operation) -> Vec<Refusal> {
    let (tier, cost) = (metered.tier, metered.cost);
    let mut refusals = vec![Refusal::new(
        "still_running",
        "The same call, under its `Idempotency-Key`, is being answered.",
        ApiError::StillRunning,
    )];
    if tier > Tier::Free {
        refusals.push(Refusal::new(
            format!("insufficient_tier_{}", tier.name()),
            "The account's tier is too low. Nothing is charged.",
            ApiError::Tier(tier),
        ));
    }
    if cost > 0 {
        refusals.push(Refusal::new(
            format!("insufficient_credits_{cost}"),
            "The balance is below the cost. Nothing is charged.",
            ApiError::Credits { cost },
        ));
        refusals.push(Refusal::new(format!("daily_cap_{cost}"), CAP_PASSED, cap_refusal(cost)));
    }
    refusals
}

fn of_body(limit: usize) -> Vec<Refusal> {
    vec![
        Refusal::new(
            format!("body_too_large_{limit}"),
            "The body is too large.",
            ApiError::BodyTooLarge { limit },
        ),
        Refusal::new(
            "no_json",
            "The body is announced as something else than JSON.",
            ApiError::MediaType,
        ),
        Refusal::new(
            "compressed_body",
            "The body is announced as compressed.",
            ApiError::ContentEncoding,
        ),
    ]
}

fn of_failures() -> Vec<Refusal> {
    vec![
        Refusal::new(
            "internal",
            "An error of the service. Nothing is charged.",
            ApiError::Internal,
        ),
        Refusal::new(
            "busy",
            "The service is too busy; `Retry-After` has the seconds to wait.",
            ApiError::busy(),
        ),
        Refusal::new(
            "storage",
            "The database cannot serve the call. Nothing is charged.",
            ApiError::Storage { fault: StoreFault::DiskFull },
        ),
    ]
}

/// Makes the answer of one status.
fn response(
    operation: &Described<'_>,
    refusals: &[Refusal],
    examples: &mut Map<String, Value>,
) -> Value {
    let surface = Surface::of(&operation.route.path);
    let mut sentences: Vec<&str> = Vec::new();
    let (mut schema, mut own_examples) = ("", Map::new());
    for refusal in refusals {
        if !sentences.contains(&refusal.description) {
            sentences.push(refusal.description);
        }
        let body = refusal.error.body(surface);
        let of_body = schema_of(&body);
        assert!(schema.is_empty() || schema == of_body, "{} has two schemas", operation.id);
        schema = of_body;
        own_examples.insert(refusal.name.clone(), shared(refusal, &body, examples));
    }
    let mut response = json!({
        "description": sentences.join(" "),
        "content": { "application/json": {
            "schema": { "$ref": format!("#/components/schemas/{schema}") },
            "examples": own_examples,
        } },
    });
    if refusals.iter().any(|refusal| refusal.error.retry_after_seconds().is_some()) {
        headers::add(&mut response, "Retry-After");
    }
    if refusals.iter().any(|refusal| refusal.error == ApiError::ContentEncoding) {
        headers::add(&mut response, "Accept-Encoding");
    }
    response
}

/// Returns the schema that the body of a refusal has.
fn schema_of(body: &Value) -> &'static str {
    if body["detail"].is_array() {
        "ValidationError"
    } else if body.get("success").is_some() {
        "AccountError"
    } else {
        "ComputationError"
    }
}

/// Stores an example once, and returns a reference to the example.
fn shared(refusal: &Refusal, body: &Value, examples: &mut Map<String, Value>) -> Value {
    let prefix = match schema_of(body) {
        "ComputationError" => "computation_",
        _ => "",
    };
    let name = format!("{prefix}{}", refusal.name);
    let example = json!({ "summary": refusal.description, "value": body });
    let stored = examples.entry(name.clone()).or_insert_with(|| example.clone());
    assert_eq!(*stored, example, "two examples have the name {name}");
    json!({ "$ref": format!("#/components/examples/{name}") })
}

/// Makes the answer to faults in the input of an operation; `None` for one without input. The
/// `Idempotency-Key` of a metered operation is an input too.
///
/// `own` is the answer 422 with the faults that only this operation has.
fn response_to_faults(
    operation: &Described<'_>,
    own: Option<&Value>,
    examples: &mut Map<String, Value>,
) -> Option<Value> {
    let faults = faults(operation);
    if faults.is_none() && operation.metered.is_none() {
        return None;
    }
    let what = if operation.has_body() { "the request" } else { "the parameters" };
    let mut description = format!("Every fault of {what}, at once.");
    let mut named = Map::new();
    let mut add = |name: &str, summary: &str, faults: &[Fault]| {
        let value = validation::body(faults);
        named.insert(name.to_owned(), json!({ "summary": summary, "value": value }));
    };
    if let Some(faults) = faults {
        add("faults", "Every fault of the input.", &faults);
    }
    if let Some(faults) = fault_of_unknown_field(operation) {
        description.push_str(" With `Prefer: handling=strict` an unknown field is a fault.");
        add("unknown_field", "A misspelt field, with `Prefer: handling=strict`.", &faults);
    }
    if operation.is_charged() {
        let summary = "The `Idempotency-Key` was sent with another request.";
        description
            .push_str(" An `Idempotency-Key` that was sent with another request is a fault.");
        let refusal = Refusal::new("reused_idempotency_key", summary, idempotency::other_request());
        let body = refusal.error.body(Surface::Computation);
        named.insert(refusal.name.clone(), shared(&refusal, &body, examples));
    }
    if let Some(own) = own {
        description = format!("{} {description}", own["description"].as_str().unwrap_or_default());
        let own = own["content"]["application/json"]["examples"].as_object();
        named.extend(
            own.into_iter().flatten().map(|(name, example)| (name.clone(), example.clone())),
        );
    }
    Some(json!({
        "description": description,
        "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/ValidationError" },
            "examples": named,
        } },
    }))
}

/// Returns the faults of an input that is wrong for the operation: an empty object, a list in place
/// of an object whose fields are all optional, or words in place of numbers.
fn faults(operation: &Described<'_>) -> Option<Vec<Fault>> {
    if let Some(schema) = &operation.route.body {
        let read = |body: &[u8]| validation::read(schema, body, &mut UnknownFields::default());
        return read(b"{}").err().or_else(|| read(b"[]").err());
    }
    let names = operation.route.parameter_names();
    let pairs: Vec<_> = names.map(|name| (name.to_owned(), "many".to_owned())).collect();
    let faults = operation.route.parameter_faults(&pairs);
    if !faults.is_empty() {
        return Some(faults);
    }
    let segments = operation.route.path.split('/');
    let mut parameters = segments.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    parameters.next().map(|name| vec![path::no_integer(name)])
}

/// Returns the fault of the example of the body with one misspelt field more.
fn fault_of_unknown_field(operation: &Described<'_>) -> Option<Vec<Fault>> {
    let schema = operation.route.body.as_ref()?;
    let mut body = operation.body.clone();
    let field = body.as_object()?.keys().next()?.clone();
    let last = field.chars().next_back()?;
    body[format!("{field}{last}")] = json!(1);
    validation::read(schema, body.to_string().as_bytes(), &mut UnknownFields::new(Handling::Strict))
        .err()
}

/// Returns the schemas of all refusals.
pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let detail = text("The explanation with its remedy, for people.");
    let never = json!({ "type": "boolean", "enum": [false], "description": "Always false." });
    let message = text("The reason in a few words.");
    vec![
        (
            "AccountError",
            json!({
                "type": "object",
                "description": "A refusal of a call that is no computation, and of any request that the \
                                service could not read.",
                "required": ["success", "message", "detail"],
                "properties": { "success": never, "message": message, "detail": detail },
                "example": ApiError::Key.body(Surface::Account),
            }),
        ),
        (
            "ComputationError",
            json!({
                "type": "object",
                "description": "A refusal of a computation.",
                "required": ["detail"],
                "properties": { "detail": detail },
                "example": ApiError::Key.body(Surface::Computation),
            }),
        ),
        (
            "ValidationError",
            json!({
                "type": "object",
                "description": "The refusal of a faulty request, with every fault.",
                "required": ["detail"],
                "properties": { "detail": {
                    "type": "array",
                    "description": "The faults, in the order of the fields; at most 100.",
                    "items": { "$ref": "#/components/schemas/Fault" },
                } },
                "example": validation::body(&[example_fault()]),
            }),
        ),
        (
            "Fault",
            json!({
                "type": "object",
                "description": "One fault of a request.",
                "required": ["loc", "msg", "type"],
                "properties": {
                    "loc": {
                        "type": "array",
                        "description": "The place: `body`, `query`, `path` or `header`, then field names \
                                        and indices.",
                        "items": { "anyOf": [
                            { "type": "string" },
                            { "type": "integer", "x-unit": "position, from 0" },
                        ] },
                    },
                    "msg": text("The explanation, for people."),
                    "type": text("The kind of the fault, for programs, as in `value_error.missing`."),
                },
                "example": example_fault().to_json(),
            }),
        ),
    ]
}

fn example_fault() -> Fault {
    Fault::at_field("spot", "value_error.missing", "field required")
}
