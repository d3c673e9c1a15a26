//! Accounts over HTTP: one file per resource.

pub mod guest;
pub mod key;
pub mod profile;
pub mod registration;
pub mod sign_in;

use account_core::Error;
use poem::http::StatusCode;

use crate::http::{Call, Refusal, Text, faults::Fault};

/// The example key of the document; it opens nothing.
const EXAMPLE_KEY: &str = "fk_user_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// The example session token of the document.
const EXAMPLE_SESSION: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// The moment of the examples, 2026-01-31T12:00:00Z.
const EXAMPLE_SECOND: i64 = 1_769_860_800;

/// Answers what a rule of `account-core` refuses.
fn refuse(call: &Call, error: Error) -> poem::Error {
    poem::Error::from_response(refusal(call, error).into_response(call.surface))
}

fn refusal(call: &Call, error: Error) -> Refusal {
    let account = |status, message, detail: &str| Refusal::Account {
        status,
        message,
        detail: detail.to_owned(),
    };
    match error {
        Error::Invalid { .. } => Refusal::Faults(vec![fault(&error)]),
        Error::UsernameTaken => account(
            StatusCode::CONFLICT,
            "Username taken",
            "Another account has this username. Choose another one.",
        ),
        Error::EmailTaken => account(
            StatusCode::CONFLICT,
            "Email taken",
            "An account with this e-mail exists already.",
        ),
        Error::WrongCredentials => account(
            StatusCode::UNAUTHORIZED,
            "Invalid email or password",
            "Invalid email or password. POST /user/forgot-password sends a code to choose another.",
        ),
        Error::Unverified => account(
            StatusCode::FORBIDDEN,
            "Email not verified",
            "Verify the e-mail with POST /user/verify-otp; POST /user/resend-otp sends a new code.",
        ),
        Error::Suspended => account(
            StatusCode::FORBIDDEN,
            "Account suspended",
            "This account is suspended. Ask the operator of the service.",
        ),
        Error::Locked { .. } => account(
            StatusCode::LOCKED,
            "Account temporarily locked due to failed attempts",
            "Try again in 30 minutes, or reset the password with POST /user/forgot-password.",
        ),
        Error::WrongCode => account(
            StatusCode::BAD_REQUEST,
            "Invalid or expired code",
            "The code is wrong, used or expired. Ask for a new one.",
        ),
        Error::Unauthorised => Refusal::Key,
        Error::NotFound => Refusal::NotFound,
        Error::Busy { retry_after } => Refusal::Busy { retry_after },
        error => {
            tracing::error!(request_id = %call.id, %error, "an account call failed");
            Refusal::Internal
        }
    }
}

/// A field's fault in the words of the rule that refused it.
fn fault(error: &Error) -> Fault {
    match error {
        Error::Invalid { field, requirement, code } => {
            Fault::at_field(field, format!("value_error.{code}"), requirement.to_string())
        }
        other => Fault::at_field("body", "value_error", other.to_string()),
    }
}

/// Refuses a guest where only accounts may go.
fn guests_may_not(call: &Call) -> poem::Error {
    let refusal = Refusal::Account {
        status: StatusCode::FORBIDDEN,
        message: "Registered account required",
        detail: "Guest keys cannot do this. Register with POST /user/register.".to_owned(),
    };
    poem::Error::from_response(refusal.into_response(call.surface))
}

/// An optional text, as the rules take it.
fn text(value: &Option<Text>) -> Option<&str> {
    value.as_ref().map(AsRef::as_ref)
}
