//! Fields that several forms and answers share: optional texts, and values for the examples of the
//! OpenAPI document.

use crate::http::Text;

/// The example key of the document; no account has it.
pub(super) const EXAMPLE_KEY: &str = "fk_user_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// The example session token of the document.
pub(super) const EXAMPLE_SESSION: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// The moment of the examples, 2026-01-31T12:00:00Z.
pub(super) const EXAMPLE_SECOND: i64 = 1_769_860_800;

/// Returns an optional text in the form that the rules of `account-core` take.
pub(super) fn text(value: &Option<Text>) -> Option<&str> {
    value.as_ref().map(AsRef::as_ref)
}
