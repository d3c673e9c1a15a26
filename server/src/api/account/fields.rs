//! Fields that several forms and answers share: optional texts, and example values of the OpenAPI
//! document.

use crate::http::Text;

/// The example key of the document, which no account has.
pub(super) const EXAMPLE_KEY: &str = "fk_user_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// The example session token of the document.
pub(super) const EXAMPLE_SESSION: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// The time of the examples, 2026-01-31T12:00:00Z, in seconds since 1970.
pub(super) const EXAMPLE_SECOND: i64 = 1_769_860_800;

/// Returns an optional text as the rules of `account-core` take one.
pub(super) fn text(value: &Option<Text>) -> Option<&str> {
    value.as_ref().map(AsRef::as_ref)
}
