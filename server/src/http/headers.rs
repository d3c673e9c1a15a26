//! The names of headers that the HTTP library has no constant for. A constant is parsed when the
//! program is compiled; a name as text would be parsed for every look-up.

use poem::http::{HeaderMap, HeaderName};

/// The key of the caller.
pub(super) const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The token of a session, beside the key.
pub(super) const X_SESSION_TOKEN: HeaderName = HeaderName::from_static("x-session-token");
/// The key under which a request may be sent again.
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// True in an answer that was stored for an earlier request.
pub(super) const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// The preferences of a request.
pub(super) const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The preferences that an answer has met.
pub(super) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
/// The unknown fields of a body that were ignored.
pub(super) const X_IGNORED_FIELDS: HeaderName = HeaderName::from_static("x-ignored-fields");
/// The addresses that most proxies write.
pub(super) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The id of a request: the client's own in a request, the service's in an answer.
pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The number of calls that the limit allows.
pub(super) const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
/// The number of calls that are left.
pub(super) const X_RATELIMIT_REMAINING: HeaderName =
    HeaderName::from_static("x-ratelimit-remaining");
/// The time at which more calls are allowed, in seconds since 1970.
pub(super) const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
/// The credits that a call took.
pub(super) const X_CREDITS_COST: HeaderName = HeaderName::from_static("x-credits-cost");
/// The credits that are left.
pub(super) const X_CREDITS_BALANCE: HeaderName = HeaderName::from_static("x-credits-balance");

/// Returns the first line of a header, where it is text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
