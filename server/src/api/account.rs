//! Accounts over HTTP: one file per resource.

pub mod deletion;
pub mod external_sign_in;
pub mod guest;
pub mod history;
pub mod key;
pub mod notification;
pub mod password;
pub mod profile;
pub mod registration;
pub mod second_factor;
pub mod session;
pub mod sign_in;
pub mod subscription;
pub mod usage;

use account_core::{Error, SignedIn};
use poem::http::{StatusCode, header};

use crate::http::{
    AccountHolder, Answer, ApiError, RequestContext, Text, cookies::CLIENT_COOKIE,
    json_string::rule_fault, validation::Fault,
};

/// How long the mark is kept: 90 days.
const CLIENT_COOKIE_SECONDS: u32 = 90 * 24 * 3600;
/// The example key of the document; it opens nothing.
const EXAMPLE_KEY: &str = "fk_user_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// The example session token of the document.
const EXAMPLE_SESSION: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// The moment of the examples, 2026-01-31T12:00:00Z.
const EXAMPLE_SECOND: i64 = 1_769_860_800;

/// Answers what a rule of `account-core` refuses.
fn refuse(call: &RequestContext, error: Error) -> poem::Error {
    refuse_by(call, refusal(call, error))
}

/// The refusal as an error of the endpoint.
fn refuse_by(context: &RequestContext, refusal: ApiError) -> poem::Error {
    poem::Error::from_response(refusal.into_response(context.surface))
}

fn refusal(call: &RequestContext, error: Error) -> ApiError {
    let account = |status, message, detail: &str| ApiError::Account {
        status,
        message,
        detail: detail.to_owned(),
    };
    match error {
        Error::Invalid { .. } => ApiError::Faults(vec![fault(&error)]),
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
        Error::TooManyGuests { until } => {
            ApiError::TooManyGuests { retry_after: (until - call.at).to_std().unwrap_or_default() }
        }
        Error::Busy { retry_after } => ApiError::Busy { retry_after },
        error => {
            tracing::error!(request_id = %call.id, %error, "an account call failed");
            ApiError::Internal
        }
    }
}

/// A field's fault in the words of the rule that refused it.
fn fault(error: &Error) -> Fault {
    let (kind, msg) = rule_fault(error);
    Fault::at_field(error.field().unwrap_or("body"), kind, msg)
}

/// Answers the faults of a form.
fn refuse_faults(call: &RequestContext, faults: Vec<Fault>) -> poem::Error {
    poem::Error::from_response(ApiError::Faults(faults).into_response(call.surface))
}

/// Refuses in words of its own.
fn refuse_with(
    call: &RequestContext,
    status: StatusCode,
    message: &'static str,
    detail: String,
) -> poem::Error {
    let refusal = ApiError::Account { status, message, detail };
    poem::Error::from_response(refusal.into_response(call.surface))
}

/// Marks the client of a sign-in, so that strangers cannot lock it out later.
fn with_client_cookie<T>(
    answer: Answer<T>,
    call: &RequestContext,
    signed_in: &SignedIn,
) -> Answer<T> {
    answer.with_cookie(client_cookie(call, signed_in))
}

/// The same for a sign-in on a page.
pub(crate) fn remember_client(
    response: &mut poem::Response,
    call: &RequestContext,
    signed_in: &SignedIn,
) {
    let cookie = client_cookie(call, signed_in).parse().expect("base64url makes a cookie");
    response.headers_mut().append(header::SET_COOKIE, cookie);
}

fn client_cookie(call: &RequestContext, signed_in: &SignedIn) -> String {
    let secure = if call.state.settings.is_https { "; Secure" } else { "" };
    format!(
        "{CLIENT_COOKIE}={}; Path=/; Max-Age={CLIENT_COOKIE_SECONDS}; HttpOnly; SameSite=Lax{secure}",
        signed_in.client_token.expose()
    )
}

/// Forgets what was remembered of the key that calls.
async fn forget(caller: &AccountHolder) {
    caller.context().state.callers.forget(caller.key()).await;
}

/// An optional text, as the rules take it.
fn text(value: &Option<Text>) -> Option<&str> {
    value.as_ref().map(AsRef::as_ref)
}
