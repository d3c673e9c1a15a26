//! The answers to refusals by the rules of `account-core`.

use account_core::Error;
use poem::http::StatusCode;

use crate::{
    http::{ApiError, RequestContext, json_string::rule_fault, validation::Fault},
    store::StoreFault,
};

/// Makes the answer to an error of `account-core`.
pub(super) fn refuse(call: &RequestContext, error: &Error) -> poem::Error {
    refuse_by(call, refusal(call, error))
}

/// Makes a refusal an error of the endpoint.
pub(super) fn refuse_by(context: &RequestContext, refusal: ApiError) -> poem::Error {
    poem::Error::from_response(refusal.into_response(context.surface))
}

/// Returns the refusal that stands for an error of `account-core`.
pub(super) fn refusal(call: &RequestContext, error: &Error) -> ApiError {
    if let Error::TooManyGuests { until } = error {
        let retry_after = (*until - call.at).to_std().unwrap_or_default();
        return ApiError::TooManyGuests { retry_after };
    }
    rule_refusal(error).unwrap_or_else(|| {
        tracing::error!(request_id = %call.id, %error, "an account call failed");
        let fault = match error {
            Error::Store(cause) => StoreFault::of(cause),
            _ => None,
        };
        fault.map_or(ApiError::Internal, |fault| call.storage_fault(fault))
    })
}

/// Returns the refusal by a rule of `account-core`; `None` for a failure, and for a refusal that
/// depends on the time of the request.
pub(in crate::api) fn rule_refusal(error: &Error) -> Option<ApiError> {
    let account = ApiError::account::<&str>;
    Some(match error {
        Error::Invalid { .. } => ApiError::Faults(vec![fault(error)]),
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
        Error::UnconfirmedIdentity => account(
            StatusCode::FORBIDDEN,
            "Email not confirmed",
            "The identity provider has not confirmed the e-mail address. Confirm it there first.",
        ),
        Error::Locked { .. } => {
            let minutes = account_core::lockout::LOCK.num_minutes();
            let wait = format!("Try again in {minutes} minutes, or reset the password with");
            ApiError::account(
                StatusCode::LOCKED,
                "Account temporarily locked due to failed attempts",
                format!("{wait} POST /user/forgot-password."),
            )
        }
        Error::WrongCode => account(
            StatusCode::BAD_REQUEST,
            "Invalid or expired code",
            "The code is wrong, used or expired. Ask for a new one.",
        ),
        Error::WrongConfirmation => account(
            StatusCode::FORBIDDEN,
            "Wrong confirmation",
            "The confirmation does not fit the account. Nothing was changed.",
        ),
        Error::AlreadySubscribed => account(
            StatusCode::CONFLICT,
            "Already subscribed",
            "The account has this subscription already.",
        ),
        Error::Unauthorised => ApiError::Key,
        Error::NotFound => ApiError::NotFound,
        Error::Busy { retry_after } => ApiError::Busy { retry_after: *retry_after },
        _ => return None,
    })
}

/// Returns the fault of a field, with the text of the rule that refused the field.
pub(super) fn fault(error: &Error) -> Fault {
    let (kind, msg) = rule_fault(error);
    Fault::at_field(error.field().unwrap_or("body"), kind, msg)
}

/// Makes the answer with the faults of a form.
pub(super) fn refuse_faults(call: &RequestContext, faults: Vec<Fault>) -> poem::Error {
    poem::Error::from_response(ApiError::Faults(faults).into_response(call.surface))
}
