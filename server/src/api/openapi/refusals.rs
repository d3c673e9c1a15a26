//! The refusals of each operation: status, description, schema and examples.
//!
//! An example is the body that the service itself makes of the refusal, so that no documented error
//! is invented. The faults of a 422 are those that the reader of bodies finds.

use std::{collections::BTreeMap, time::Duration};

use account_core::{Error, Tier};
use serde_json::{Map, Value, json};

use super::{described::Described, headers};
use crate::{
    api::{
        account::{errors::rule_refusal, external_sign_in, notification, session, subscription},
        batch,
    },
    http::{
        ApiError, Operation, Surface, idempotency, not_an_administrator, path,
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

/// A refusal that belongs to some operations only.
struct OwnRefusal {
    name: &'static str,
    description: &'static str,
    error: fn() -> ApiError,
}

const fn own(name: &'static str, description: &'static str, error: fn() -> ApiError) -> OwnRefusal {
    OwnRefusal { name, description, error }
}

fn rule(error: &Error) -> ApiError {
    rule_refusal(error).expect("a rule has a refusal")
}

const USERNAME_TAKEN: OwnRefusal =
    own("username_taken", "Another account has the user name.", || rule(&Error::UsernameTaken));
const EMAIL_TAKEN: OwnRefusal =
    own("email_taken", "The e-mail address has an account.", || rule(&Error::EmailTaken));
const WRONG_CODE: OwnRefusal =
    own("wrong_code", "The code or token is wrong, used or expired.", || rule(&Error::WrongCode));
const WRONG_CREDENTIALS: OwnRefusal =
    own("wrong_credentials", "The e-mail or the password is wrong.", || {
        rule(&Error::WrongCredentials)
    });
const UNVERIFIED: OwnRefusal =
    own("unverified", "The e-mail is not verified.", || rule(&Error::Unverified));
const SUSPENDED: OwnRefusal =
    own("suspended", "The account is suspended.", || rule(&Error::Suspended));
const UNCONFIRMED: OwnRefusal =
    own("unconfirmed_identity", "The identity provider has not confirmed the e-mail.", || {
        rule(&Error::UnconfirmedIdentity)
    });
// The next description, which is a constant, names the time.
const _: () = assert!(account_core::lockout::LOCK.num_minutes() == 30);
const LOCKED: OwnRefusal = own("locked", "Five wrong passwords: locked for 30 minutes.", || {
    rule(&Error::Locked { until: account_core::Timestamp::UNIX_EPOCH })
});
const WRONG_CONFIRMATION: OwnRefusal =
    own("wrong_confirmation", "The password or other confirmation is wrong.", || {
        rule(&Error::WrongConfirmation)
    });
const ALREADY_SUBSCRIBED: OwnRefusal =
    own("already_subscribed", "The account has this subscription already.", || {
        rule(&Error::AlreadySubscribed)
    });
const UNKNOWN_DATABASE: OwnRefusal = own("unknown_database", "There is no such database.", || {
    subscription::unknown_database(&["prices".to_owned()])
});
const NOT_SUBSCRIBED: OwnRefusal =
    own("not_subscribed", "The account has no such subscription.", subscription::not_subscribed);
const NO_SESSION: OwnRefusal =
    own("no_such_session", "The account has no such session.", session::no_such_session);
const NO_NOTIFICATION: OwnRefusal = own(
    "no_such_notification",
    "The account's inbox has no such notification.",
    notification::no_such_notification,
);
const NO_CHAT: OwnRefusal = own("no_chat", "The account has no chat.", notification::no_chat);
const NO_MESSAGING: OwnRefusal =
    own("no_messaging", "The service has no messaging channel.", notification::no_messaging);
const TEST_SENT_ALREADY: OwnRefusal = own(
    "test_sent_already",
    "A test message was sent within the last minute.",
    notification::test_sent_already,
);
const NO_PROVIDER: OwnRefusal = own(
    "no_identity_provider",
    "The service has no identity provider.",
    external_sign_in::no_provider,
);
const PROVIDER_UNAVAILABLE: OwnRefusal = own(
    "identity_provider_unavailable",
    "The identity provider does not answer.",
    external_sign_in::provider_unavailable,
);
const INVALID_ID_TOKEN: OwnRefusal = own(
    "invalid_id_token",
    "The ID token is not valid for this service.",
    external_sign_in::invalid_id_token,
);
const GUEST: OwnRefusal =
    own("registered_account_required", "The key is a guest's; the call needs an account.", || {
        ApiError::GuestNotAllowed
    });
const NO_ADMINISTRATOR: OwnRefusal =
    own("administrator_required", "The account is no administrator's.", not_an_administrator);
const INVALID_SESSION: OwnRefusal =
    own("invalid_session", "The session token is not valid.", || ApiError::Session);
const TOO_MANY_GUESTS: OwnRefusal = own(
    "too_many_guest_keys",
    "The guest keys of this network, of this device or of all have been made today.",
    || ApiError::TooManyGuests { retry_after: Duration::from_secs(3600) },
);
const STILL_RUNNING: OwnRefusal =
    own("still_running", "The same call, under its `Idempotency-Key`, is being answered.", || {
        ApiError::StillRunning
    });
const BATCH_TIER: OwnRefusal =
    own("insufficient_tier_pro", "The account's tier is too low. Nothing is charged.", || {
        ApiError::Tier(Tier::Pro)
    });
const BATCH_CREDITS: OwnRefusal =
    own("insufficient_credits_10", "The balance is below the cost. Nothing is charged.", || {
        ApiError::Credits { cost: 10 }
    });
const ADDRESS_LIMIT: OwnRefusal =
    own("address_limit", "Too many calls from this address.", address_limit);
const BATCH_CAP: OwnRefusal = own("daily_cap_10", CAP_PASSED, || cap_refusal(10));
const NOT_READY: OwnRefusal =
    own("not_ready", "The service cannot work now, for the reason in `detail`.", || {
        ApiError::NotReady { reason: "The store does not answer." }
    });

/// The reason of the refusal by the account's own cap.
const CAP_PASSED: &str =
    "The call would pass the account's own cap of credits a day. Nothing is charged.";

fn cap_refusal(cost: u32) -> ApiError {
    let until = account_core::guest::end_of_day(account_core::Timestamp::UNIX_EPOCH);
    ApiError::SpendCap { cost, per_day: 100, until }
}

fn address_limit() -> ApiError {
    let (limit, window) = (120, "minute and address");
    ApiError::RateLimit { limit, window, retry_after: Duration::from_secs(20) }
}

/// The refusals that belong to one operation, beside those of its kind.
const OWN_REFUSALS: &[(&str, &[OwnRefusal])] = &[
    ("register_account", &[USERNAME_TAKEN]),
    ("verify_registration", &[WRONG_CODE]),
    ("log_in", &[WRONG_CREDENTIALS, UNVERIFIED, SUSPENDED, LOCKED]),
    ("verify_second_factor", &[WRONG_CODE, SUSPENDED]),
    ("reset_password", &[WRONG_CODE]),
    ("change_password", &[WRONG_CONFIRMATION, GUEST, LOCKED]),
    ("request_email_change", &[WRONG_CONFIRMATION, GUEST, LOCKED]),
    ("confirm_email_change", &[WRONG_CODE, GUEST, EMAIL_TAKEN, INVALID_SESSION]),
    ("undo_email_change", &[WRONG_CODE, EMAIL_TAKEN]),
    ("regenerate_key", &[GUEST]),
    ("get_profile", &[GUEST]),
    ("update_profile", &[GUEST, USERNAME_TAKEN]),
    ("enable_second_factor", &[GUEST]),
    ("disable_second_factor", &[WRONG_CONFIRMATION, GUEST, LOCKED]),
    ("log_out", &[GUEST, INVALID_SESSION]),
    ("validate_session", &[GUEST, INVALID_SESSION]),
    ("pulse_session", &[GUEST, INVALID_SESSION]),
    ("list_sessions", &[GUEST, INVALID_SESSION]),
    ("end_session", &[GUEST, NO_SESSION]),
    ("end_sessions", &[GUEST, INVALID_SESSION]),
    ("get_usage", &[GUEST]),
    ("list_login_history", &[GUEST]),
    ("list_transactions", &[GUEST]),
    ("subscribe_database", &[GUEST, UNKNOWN_DATABASE, ALREADY_SUBSCRIBED]),
    ("unsubscribe_database", &[GUEST, NOT_SUBSCRIBED]),
    ("list_databases", &[GUEST]),
    ("list_subscriptions", &[GUEST]),
    (
        "sign_in_with_identity",
        &[INVALID_ID_TOKEN, SUSPENDED, UNCONFIRMED, NO_PROVIDER, PROVIDER_UNAVAILABLE],
    ),
    ("start_identity_sign_in", &[ADDRESS_LIMIT, NO_PROVIDER]),
    ("finish_identity_sign_in", &[ADDRESS_LIMIT, NO_PROVIDER]),
    ("complete_profile", &[WRONG_CODE, USERNAME_TAKEN, EMAIL_TAKEN]),
    ("mint_handoff_code", &[GUEST]),
    ("redeem_handoff_code", &[WRONG_CODE, SUSPENDED]),
    ("create_guest_key", &[TOO_MANY_GUESTS]),
    ("list_notifications", &[GUEST]),
    ("read_notification", &[GUEST, NO_NOTIFICATION]),
    ("read_all_notifications", &[GUEST]),
    ("delete_notification", &[GUEST, NO_NOTIFICATION]),
    ("get_notification_preferences", &[GUEST]),
    ("update_notification_preferences", &[GUEST]),
    ("send_test_message", &[GUEST, NO_CHAT, NO_MESSAGING, TEST_SENT_ALREADY]),
    ("broadcast_notification", &[GUEST, NO_ADMINISTRATOR, NO_MESSAGING]),
    (batch::OPERATION, &[STILL_RUNNING, BATCH_TIER, BATCH_CREDITS, BATCH_CAP]),
    ("delete_account", &[WRONG_CONFIRMATION, GUEST, LOCKED]),
    ("get_readiness", &[NOT_READY]),
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
    let own = OWN_REFUSALS.iter().filter(|(id, _)| *id == operation.id);
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
