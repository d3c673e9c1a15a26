//! The refusals that belong to single operations, for the OpenAPI document.
//!
//! A file of endpoints lists those of its operations in a constant `REFUSALS`, and
//! `openapi/refusals.rs` joins the lists. What several files name is here.

use std::time::Duration;

use account_core::Error;

use super::account::errors::rule_refusal;
use crate::http::ApiError;

/// The id of an operation, and the refusals that other operations of its kind do not have.
pub(super) type OwnRefusals = (&'static str, &'static [OwnRefusal]);

/// A refusal that belongs to some operations only.
pub(super) struct OwnRefusal {
    /// The name of its example in the document, the same for the same example.
    pub(super) name: &'static str,
    /// The reason, a sentence of the answer's description.
    pub(super) description: &'static str,
    /// Makes the refusal, so that its example is true.
    pub(super) error: fn() -> ApiError,
}

pub(super) const fn own(
    name: &'static str,
    description: &'static str,
    error: fn() -> ApiError,
) -> OwnRefusal {
    OwnRefusal { name, description, error }
}

/// Returns the refusal by a rule of `account-core`.
pub(super) fn rule(error: &Error) -> ApiError {
    rule_refusal(error).expect("a rule has a refusal")
}

pub(super) const USERNAME_TAKEN: OwnRefusal =
    own("username_taken", "Another account has the user name.", || rule(&Error::UsernameTaken));
pub(super) const EMAIL_TAKEN: OwnRefusal =
    own("email_taken", "The e-mail address has an account.", || rule(&Error::EmailTaken));
pub(super) const WRONG_CODE: OwnRefusal =
    own("wrong_code", "The code or token is wrong, used or expired.", || rule(&Error::WrongCode));
pub(super) const SUSPENDED: OwnRefusal =
    own("suspended", "The account is suspended.", || rule(&Error::Suspended));
// The next description, which is a constant, names the time.
const _: () = assert!(account_core::lockout::LOCK.num_minutes() == 30);
pub(super) const LOCKED: OwnRefusal =
    own("locked", "Five wrong passwords: locked for 30 minutes.", || {
        rule(&Error::Locked { until: account_core::Timestamp::UNIX_EPOCH })
    });
pub(super) const WRONG_CONFIRMATION: OwnRefusal =
    own("wrong_confirmation", "The password or other confirmation is wrong.", || {
        rule(&Error::WrongConfirmation)
    });
pub(super) const GUEST: OwnRefusal =
    own("registered_account_required", "The key is a guest's; the call needs an account.", || {
        ApiError::GuestNotAllowed
    });
pub(super) const INVALID_SESSION: OwnRefusal =
    own("invalid_session", "The session token is not valid.", || ApiError::Session);
pub(super) const ADDRESS_LIMIT: OwnRefusal =
    own("address_limit", "Too many calls from this address.", address_limit);

/// The reason of the refusal by the account's own cap.
pub(super) const CAP_PASSED: &str =
    "The call would pass the account's own cap of credits a day. Nothing is charged.";

/// Makes the refusal by a cap of credits a day.
pub(super) fn cap_refusal(cost: u32) -> ApiError {
    let until = account_core::guest::end_of_day(account_core::Timestamp::UNIX_EPOCH);
    ApiError::SpendCap { cost, per_day: 100, until }
}

/// Makes the refusal by the limit of calls a minute and address.
pub(super) fn address_limit() -> ApiError {
    let (limit, window) = (120, "minute and address");
    ApiError::RateLimit { limit, window, retry_after: Duration::from_secs(20) }
}
