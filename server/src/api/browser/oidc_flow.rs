//! The sign-in of a browser by the identity provider: the redirect to the provider, the return with
//! a code, and the redirect to the page or program that required the sign-in.

use std::time::Duration;

use account_core::accounts::external_sign_in::Completed;
use account_core::{BrowserToken, Destination, Error, HandOffCode, OidcOutcome, StateToken};
use poem_openapi::ApiResponse;

use crate::{
    auth::oidc::{IdpError, Provider},
    http::{Anonymous, Query, RequestContext, cookies},
    store::StoreFault,
};

/// Path on the MCP endpoint's host to which a browser returns from the identity provider.
pub(crate) const RETURN_PATH: &str = "/oauth/sign-in/return";
/// Time for which a browser keeps the cookie of a sign-in, as long as the sign-in is valid.
const COOKIE_MAX_AGE: Duration =
    Duration::from_secs(account_core::id_token::START_VALIDITY.num_seconds().cast_unsigned());
const NO_STORE: &str = "no-store";

/// A redirect of the browser.
#[derive(ApiResponse)]
pub(crate) enum Redirect {
    /// To the identity provider, to the website, or to the program or page that waits for the
    /// sign-in.
    #[oai(status = 302)]
    Found(
        /// The address.
        #[oai(header = "Location")]
        String,
        /// The secret that binds the sign-in to this browser.
        #[oai(header = "Set-Cookie")]
        Option<String>,
        /// `no-store`, because the address may contain a code.
        #[oai(header = "Cache-Control")]
        String,
    ),
}

/// The reason why a browser is sent to the login page. The texts are fixed: no text of a provider or
/// of a request is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoginError {
    /// The identity provider refused the sign-in.
    Refused,
    /// The state or the cookie of the sign-in does not match.
    Stale,
    /// The identity provider does not answer.
    Unavailable,
    /// The provider's answer could not be verified.
    Unverified,
    /// The identity provider did not confirm the e-mail address.
    Unconfirmed,
    /// The account of the identity is suspended.
    Suspended,
    /// The address of the desktop program is not allowed.
    Desktop,
    /// The hand-off code is used or expired.
    Code,
    /// The database cannot serve the sign-in now.
    Storage,
    /// A defect of the service, or a failure of the store.
    Internal,
}

impl LoginError {
    /// All reasons of a failed sign-in.
    pub(crate) const ALL: [Self; 10] = [
        Self::Refused,
        Self::Stale,
        Self::Unavailable,
        Self::Unverified,
        Self::Unconfirmed,
        Self::Suspended,
        Self::Desktop,
        Self::Code,
        Self::Storage,
        Self::Internal,
    ];

    /// Returns the text for the login page.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Refused => "The sign-in was cancelled, or the identity provider refused it.",
            Self::Stale => {
                "The sign-in took too long or was begun in another browser. Please start again."
            }
            Self::Unavailable => "The identity provider does not answer. Please try again later.",
            Self::Unverified => {
                "The identity provider's answer could not be verified. Please start again."
            }
            Self::Unconfirmed => {
                "The identity provider has not confirmed your e-mail address. Confirm it there \
                 first."
            }
            Self::Suspended => "This account is suspended. Please ask the operator of the service.",
            Self::Desktop => "The desktop program's address is not acceptable.",
            Self::Code => "This sign-in has been used or has expired. Please start again.",
            Self::Storage => {
                "The database of the service cannot be used now. Please try again later."
            }
            Self::Internal => "Something went wrong on our side. Please try again later.",
        }
    }

    /// Converts an error of `account-core`.
    pub(crate) fn of(call: &RequestContext, error: &Error) -> Self {
        match error {
            Error::WrongCode => Self::Stale,
            Error::UnconfirmedIdentity => Self::Unconfirmed,
            Error::Suspended => Self::Suspended,
            error => {
                tracing::error!(request_id = %call.id, %error, "a sign-in failed");
                match error {
                    Error::Store(cause) if StoreFault::of(cause).is_some() => Self::Storage,
                    _ => Self::Internal,
                }
            }
        }
    }

    fn of_provider(call: &RequestContext, error: &IdpError) -> Self {
        tracing::warn!(request_id = %call.id, %error, "a sign-in by the provider failed");
        match error {
            IdpError::Unavailable(_) => Self::Unavailable,
            _ => Self::Unverified,
        }
    }
}

/// Sends a browser to the provider; after the sign-in the browser goes to `destination`.
pub(crate) async fn send_away(
    call: &RequestContext,
    provider: &Provider,
    destination: Destination,
) -> Redirect {
    let started = match call.state.accounts.start_idp(destination, call.at).await {
        Ok(started) => started,
        Err(error) => return to_error(call, LoginError::of(call, &error)),
    };
    match provider.authorize_url(&started, call.at).await {
        Ok(url) => {
            let cookie = idp_cookie(call, started.browser.expose(), COOKIE_MAX_AGE);
            Redirect::Found(url, Some(cookie), NO_STORE.to_owned())
        }
        Err(error) => to_error(call, LoginError::of_provider(call, &error)),
    }
}

/// Verifies the provider's answer, and returns the next address of the browser.
pub(crate) async fn finish(
    anonymous: &Anonymous,
    provider: &Provider,
    code: &Query<Option<String>>,
    state: &Query<Option<String>>,
    is_refused: bool,
) -> Result<Redirect, LoginError> {
    let call = anonymous.context();
    let accounts = &call.state.accounts;
    let refused = |error: Error| LoginError::of(call, &error);
    let state = state.as_deref().and_then(StateToken::parse).ok_or(LoginError::Stale)?;
    let browser = anonymous.idp_browser().and_then(BrowserToken::parse);
    let browser = browser.ok_or(LoginError::Stale)?;
    let returned = accounts.finish_idp(&state, &browser).await.map_err(refused)?;
    if is_refused {
        return Err(LoginError::Refused);
    }
    let code = code.as_deref().ok_or(LoginError::Refused)?;
    let proven = provider.exchange(code, &returned, call.at).await;
    let proven = proven.map_err(|error| LoginError::of_provider(call, &error))?;
    let destination = returned.destination;
    let outcome = accounts.sign_in_by_oidc(&proven, destination.clone(), call.at).await;
    let location = match outcome.map_err(refused)? {
        OidcOutcome::Completion(token) => {
            format!("{}/complete-profile?completion_token={}", website(call), token.expose())
        }
        OidcOutcome::HandOff(code) => address(call, &destination, &code),
    };
    Ok(to(call, location))
}

/// Returns the address that takes a hand-off code.
fn address(call: &RequestContext, destination: &Destination, code: &HandOffCode) -> String {
    let code = code.expose();
    match destination {
        Destination::Login => format!("{}/login?code={code}", website(call)),
        Destination::Program(url) => url.with_code(code),
        Destination::Page(form) => {
            let mcp_url = &call.state.settings.mcp_url;
            format!("{mcp_url}{RETURN_PATH}?form={}&code={code}", form.as_str())
        }
    }
}

/// Returns the address of the website; empty, for this service itself, where there is none.
fn website(call: &RequestContext) -> &str {
    call.state.settings.website_url.as_deref().unwrap_or_default()
}

/// Redirects a browser, and removes the cookie of its sign-in.
fn to(call: &RequestContext, location: String) -> Redirect {
    Redirect::Found(location, Some(idp_cookie(call, "", Duration::ZERO)), NO_STORE.to_owned())
}

pub(crate) fn to_error(call: &RequestContext, error: LoginError) -> Redirect {
    let text: String = form_urlencoded::byte_serialize(error.text().as_bytes()).collect();
    // Only forms decode a plus as a space.
    to(call, format!("{}/login?error={}", website(call), text.replace('+', "%20")))
}

/// Returns the address that hands a new account's sign-in over to the waiting program or page.
pub(crate) async fn onward(
    call: &RequestContext,
    completed: &Completed,
) -> Result<Option<String>, Error> {
    let Completed { signed_in, destination } = completed;
    if *destination == Destination::Login {
        return Ok(None);
    }
    let accounts = &call.state.accounts;
    let (account, key) = (signed_in.account, signed_in.key);
    let code = accounts.hand_off_to(destination, account, key, call.at).await?;
    Ok(Some(address(call, destination, &code)))
}

/// Writes the cookie that ties a sign-in to its browser.
fn idp_cookie(call: &RequestContext, value: &str, max_age: Duration) -> String {
    let is_https = call.state.settings.is_https;
    cookies::write(&cookies::name(cookies::IDP, is_https), value, Some(max_age), is_https)
}
