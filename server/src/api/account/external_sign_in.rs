//! Sign-in by an identity provider, and its hand-off to pages and desktop programs.

use account_core::{
    CompletionToken, Contact, Destination, Error, HandOffCode, IdpLogin, LoopbackUrl, NewProfile,
    Username,
};
use poem::{Result, http::StatusCode};
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::{fault, refuse, refuse_by, refuse_faults},
    fields::{EXAMPLE_KEY, EXAMPLE_SESSION, text},
    registration::SignedIn,
};
use crate::api::browser::{
    client_cookie::with_client_cookie,
    oidc_flow::{LoginError, Redirect, finish, onward, send_away, to_error},
};
use crate::api::own_refusals::{
    ADDRESS_LIMIT, EMAIL_TAKEN, GUEST, OwnRefusal, OwnRefusals, SUSPENDED, USERNAME_TAKEN,
    WRONG_CODE, own, rule,
};
use crate::auth::oidc::{IdpError, Provider};
use crate::http::{
    AccountHolder, Anonymous, Answer, ApiError, Body, JsonString, Query, RequestContext, Tag, Text,
    json_string::json_string, validation::Fault,
};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[
    (
        "sign_in_with_identity",
        &[INVALID_ID_TOKEN, SUSPENDED, UNCONFIRMED, NO_PROVIDER, PROVIDER_UNAVAILABLE],
    ),
    ("start_identity_sign_in", &[ADDRESS_LIMIT, NO_PROVIDER]),
    ("finish_identity_sign_in", &[ADDRESS_LIMIT, NO_PROVIDER]),
    ("complete_profile", &[WRONG_CODE, USERNAME_TAKEN, EMAIL_TAKEN]),
    ("mint_handoff_code", &[GUEST]),
    ("redeem_handoff_code", &[WRONG_CODE, SUSPENDED]),
];

const UNCONFIRMED: OwnRefusal =
    own("unconfirmed_identity", "The identity provider has not confirmed the e-mail.", || {
        rule(&Error::UnconfirmedIdentity)
    });
const NO_PROVIDER: OwnRefusal =
    own("no_identity_provider", "The service has no identity provider.", no_provider);
const PROVIDER_UNAVAILABLE: OwnRefusal = own(
    "identity_provider_unavailable",
    "The identity provider does not answer.",
    provider_unavailable,
);
const INVALID_ID_TOKEN: OwnRefusal =
    own("invalid_id_token", "The ID token is not valid for this service.", invalid_id_token);

/// The REST endpoints of sign-in by an identity provider, and of hand-off codes.
#[derive(Default)]
pub struct IdentityProvider;

#[OpenApi(prefix_path = "/user/auth", tag = "Tag::IdentityProvider")]
impl IdentityProvider {
    /// Sign in with an ID token.
    ///
    /// For programs that have obtained an ID token themselves. A new identity gets a
    /// `completion_token` for `POST /user/auth/complete-profile` instead of a key. Where `nonce` is
    /// sent, the ID token must contain the same nonce.
    #[oai(path = "/idp", method = "post", operation_id = "sign_in_with_identity")]
    async fn sign_in(
        &self,
        anonymous: Anonymous,
        body: Body<IdpForm>,
    ) -> Result<Answer<IdpSignedIn>> {
        let call = anonymous.context();
        let provider = provider(call)?;
        let proven = provider.verify(&body.id_token, text(&body.nonce), call.at).await;
        let proven = proven.map_err(|error| refuse_token(call, &error))?;
        let accounts = &call.state.accounts;
        let login = accounts.idp_login(&proven, &anonymous.client(), call.at).await;
        match login.map_err(|error| refuse(call, &error))? {
            IdpLogin::SignedIn(signed_in) => {
                let answer = Answer::new(IdpSignedIn::known(&signed_in));
                Ok(with_client_cookie(answer, call, &signed_in))
            }
            IdpLogin::Completion(token) => Ok(Answer::new(IdpSignedIn::newcomer(&token))),
        }
    }

    /// Send the browser to the identity provider.
    ///
    /// Redirects to the provider's consent page. `desktop_cb` is the address of a waiting desktop
    /// program: `http://127.0.0.1:PORT/…`, `http://[::1]:PORT/…` or `http://localhost:PORT/…`, with
    /// a port of 1024 or above. The program receives a hand-off code in `code`. Every error
    /// redirects to the login page.
    #[oai(path = "/idp/start", method = "get", operation_id = "start_identity_sign_in")]
    async fn start(
        &self,
        anonymous: Anonymous,
        /// The address of a waiting desktop program.
        desktop_cb: Query<Option<String>>,
    ) -> Result<Redirect> {
        let call = anonymous.context();
        let provider = provider(call)?;
        let destination = match desktop_cb.as_deref().map(LoopbackUrl::parse) {
            Some(None) => return Ok(to_error(call, LoginError::Desktop)),
            Some(Some(url)) => Destination::Program(url),
            None => Destination::Login,
        };
        Ok(send_away(call, provider, destination).await)
    }

    /// Take the browser back from the identity provider.
    ///
    /// Redirects a known identity, with a hand-off code, to the website or to the waiting desktop
    /// program. A new identity is redirected to the website's `/complete-profile`. Every error
    /// redirects to `/login`, with a text in `error`.
    #[oai(path = "/idp/callback", method = "get", operation_id = "finish_identity_sign_in")]
    async fn callback(
        &self,
        anonymous: Anonymous,
        /// The authorization code of the provider.
        code: Query<Option<String>>,
        /// The `state` of the authorization request.
        state: Query<Option<String>>,
        /// The provider's error, where the sign-in failed.
        error: Query<Option<String>>,
    ) -> Result<Redirect> {
        let call = anonymous.context();
        let provider = provider(call)?;
        let finished = finish(&anonymous, provider, &code, &state, error.is_some()).await;
        Ok(finished.unwrap_or_else(|error| to_error(call, error)))
    }

    /// Complete the profile of a new account.
    ///
    /// Creates the account of the identity that the `completion_token` belongs to, and its first
    /// session. The token is valid for 15 minutes and one account; a taken user name (409) does not
    /// consume it.
    #[oai(path = "/complete-profile", method = "post", operation_id = "complete_profile")]
    async fn complete(
        &self,
        anonymous: Anonymous,
        body: Body<CompletionForm>,
    ) -> Result<Answer<ProfileCompleted>> {
        let call = anonymous.context();
        let (token, profile) = body.0.check().map_err(|faults| refuse_faults(call, faults))?;
        let token = token.ok_or_else(|| refuse(call, &Error::WrongCode))?;
        let accounts = &call.state.accounts;
        let completed =
            accounts.complete_profile(&token, &profile, &anonymous.client(), call.at).await;
        let completed = completed.map_err(|error| refuse(call, &error))?;
        let desktop_redirect = onward(call, &completed).await;
        let desktop_redirect = desktop_redirect.map_err(|error| refuse(call, &error))?;
        let answer = Answer::new(ProfileCompleted {
            api_key: completed.signed_in.api_key.expose().to_owned(),
            session_token: completed.signed_in.session_token.expose().to_owned(),
            desktop_redirect,
            message: COMPLETED.to_owned(),
        });
        Ok(with_client_cookie(answer, call, &completed.signed_in))
    }

    /// Create a hand-off code.
    ///
    /// The client that redeems the code is signed in to this account: once, and within 60 seconds.
    /// Not for guests.
    #[oai(path = "/desktop-handoff", method = "post", operation_id = "mint_handoff_code")]
    async fn hand_off(&self, caller: AccountHolder) -> Result<Answer<HandOff>> {
        let call = caller.context();
        let account = caller.caller();
        let code = call.state.accounts.hand_off(account, call.at).await;
        let code = code.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(HandOff {
            code: code.expose().to_owned(),
            expires_in: account_core::hand_off::VALIDITY.num_seconds(),
        }))
    }

    /// Redeem a hand-off code.
    ///
    /// The code is the only credential; no key is needed. Send the code as `token` or as `code`.
    #[oai(path = "/desktop-handoff/redeem", method = "post", operation_id = "redeem_handoff_code")]
    async fn redeem(
        &self,
        anonymous: Anonymous,
        body: Body<RedeemForm>,
    ) -> Result<Answer<SignedIn>> {
        let call = anonymous.context();
        let code = body.0.check().map_err(|faults| refuse_faults(call, faults))?;
        let code = code.ok_or_else(|| refuse(call, &Error::WrongCode))?;
        let accounts = &call.state.accounts;
        let signed_in = accounts.redeem_hand_off(&code, &anonymous.client(), call.at).await;
        let signed_in = signed_in.map_err(|error| refuse(call, &error))?;
        let answer = Answer::new(SignedIn::new(&signed_in, "Signed in."));
        Ok(with_client_cookie(answer, call, &signed_in))
    }
}

const COMPLETED: &str = "Your account is ready. Keep your API key.";

/// Returns the provider, or the refusal of a service without one.
fn provider(call: &RequestContext) -> Result<&Provider> {
    call.state.idp.as_ref().ok_or_else(|| refuse_by(call, no_provider()))
}

/// Makes the refusal of a service without an identity provider.
fn no_provider() -> ApiError {
    let detail = "This service has no identity provider: its operator sets QS_IDP_ISSUER.";
    let status = StatusCode::SERVICE_UNAVAILABLE;
    ApiError::account(status, "Identity provider not configured", detail)
}

/// Makes the refusal where the identity provider does not answer.
fn provider_unavailable() -> ApiError {
    let detail = "The identity provider does not answer. Try again later.";
    let status = StatusCode::SERVICE_UNAVAILABLE;
    ApiError::account(status, "Identity provider unavailable", detail)
}

/// Makes the refusal of an ID token of another service, or with another fault.
fn invalid_id_token() -> ApiError {
    let detail = "The ID token is not valid for this service. Sign in at the provider again.";
    ApiError::account(StatusCode::UNAUTHORIZED, "Invalid identity token", detail)
}

/// Makes the refusal of an ID token; the detailed reason is in the log.
fn refuse_token(call: &RequestContext, error: &IdpError) -> poem::Error {
    tracing::warn!(request_id = %call.id, %error, "an ID token was not taken");
    let refusal = match error {
        IdpError::Unavailable(_) => provider_unavailable(),
        _ => invalid_id_token(),
    };
    refuse_by(call, refusal)
}

/// An ID token of the identity provider.
#[derive(Clone, Object)]
#[oai(rename = "IdentityRequest", example)]
pub struct IdpForm {
    /// The ID token.
    #[oai(validator(min_length = 1, max_length = 16384))]
    pub id_token: Text,
    /// The nonce of the program's authorization request.
    #[oai(nullable)]
    pub nonce: Option<Text>,
}

/// A sign-in, or a profile to complete.
#[derive(Clone, Object)]
#[oai(rename = "IdentitySignIn", example, skip_serializing_if_is_none)]
pub struct IdpSignedIn {
    /// The account's API key; absent for a new identity.
    pub api_key: Option<String>,
    /// The session, for the header `X-Session-Token`; absent for a new identity.
    pub session_token: Option<String>,
    /// True for a new identity; absent otherwise.
    pub requires_completion: Option<bool>,
    /// The token for `POST /user/auth/complete-profile`; present for a new identity.
    pub completion_token: Option<String>,
    /// The result in words.
    pub message: String,
}

/// The profile of a new account.
#[derive(Clone, Object)]
#[oai(rename = "CompletionRequest", example)]
pub struct CompletionForm {
    /// The `completion_token` of the sign-in.
    pub completion_token: Text,
    /// A telephone number.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub phone: Text,
    /// The name of a country.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub country: Text,
    /// The country's code.
    #[oai(nullable, validator(max_length = 100))]
    pub country_code: Option<Text>,
    /// The user name; one is derived from the e-mail where the field is omitted.
    #[oai(nullable)]
    pub username: Option<JsonString<Username>>,
}

/// A new account with its session.
#[derive(Clone, Object)]
#[oai(rename = "ProfileCompleted", example, skip_serializing_if_is_none)]
pub struct ProfileCompleted {
    /// The account's API key.
    pub api_key: String,
    /// The session, for the header `X-Session-Token`.
    pub session_token: String,
    /// The address to redirect the browser to, where a desktop program or an application started
    /// the sign-in; absent otherwise.
    pub desktop_redirect: Option<String>,
    /// The result in words.
    pub message: String,
}

/// A hand-off code.
#[derive(Clone, Object)]
#[oai(rename = "HandOff", example)]
pub struct HandOff {
    /// The code, for `POST /user/auth/desktop-handoff/redeem`.
    pub code: String,
    /// The validity of the code, in seconds.
    pub expires_in: i64,
}

/// A hand-off code to redeem, in either field.
#[derive(Clone, Object)]
#[oai(rename = "RedeemRequest", example)]
pub struct RedeemForm {
    /// The code.
    #[oai(nullable)]
    pub token: Option<Text>,
    /// The code, under its alternative name.
    #[oai(nullable)]
    pub code: Option<Text>,
}

impl CompletionForm {
    /// Checks every field; a malformed token is treated as a wrong one.
    fn check(&self) -> Result<(Option<CompletionToken>, NewProfile), Vec<Fault>> {
        let contact = Contact::parse(
            Some(&self.phone),
            Some(&self.country),
            self.country_code.as_ref().map(AsRef::as_ref),
        );
        let contact = contact.map_err(|errors| errors.iter().map(fault).collect::<Vec<_>>())?;
        let username = self.username.as_ref().map(|name| name.0.clone());
        let token = CompletionToken::parse(&self.completion_token);
        Ok((token, NewProfile { username, contact }))
    }
}

impl RedeemForm {
    /// Checks the code; a malformed code is treated as a wrong one.
    fn check(&self) -> Result<Option<HandOffCode>, Vec<Fault>> {
        let missing = || vec![Fault::at_field("token", "value_error.missing", "field required")];
        let code = self.token.as_ref().or(self.code.as_ref()).ok_or_else(missing)?;
        Ok(HandOffCode::parse(code))
    }
}

impl IdpSignedIn {
    fn known(signed_in: &account_core::SignedIn) -> Self {
        Self {
            api_key: Some(signed_in.api_key.expose().to_owned()),
            session_token: Some(signed_in.session_token.expose().to_owned()),
            requires_completion: None,
            completion_token: None,
            message: "Signed in.".to_owned(),
        }
    }

    fn newcomer(token: &CompletionToken) -> Self {
        Self {
            api_key: None,
            session_token: None,
            requires_completion: Some(true),
            completion_token: Some(token.expose().to_owned()),
            message: "Complete your profile with POST /user/auth/complete-profile.".to_owned(),
        }
    }
}

impl Example for IdpForm {
    fn example() -> Self {
        Self { id_token: "eyJhbGciOi…".into(), nonce: None }
    }
}

impl Example for IdpSignedIn {
    fn example() -> Self {
        Self {
            api_key: Some(EXAMPLE_KEY.to_owned()),
            session_token: Some(EXAMPLE_SESSION.to_owned()),
            requires_completion: None,
            completion_token: None,
            message: "Signed in.".to_owned(),
        }
    }
}

impl Example for CompletionForm {
    fn example() -> Self {
        Self {
            completion_token: EXAMPLE_SESSION.into(),
            phone: "+44 20 7946 0000".into(),
            country: "United Kingdom".into(),
            country_code: Some("GB".into()),
            username: Some(json_string("ada")),
        }
    }
}

impl Example for ProfileCompleted {
    fn example() -> Self {
        Self {
            api_key: EXAMPLE_KEY.to_owned(),
            session_token: EXAMPLE_SESSION.to_owned(),
            desktop_redirect: None,
            message: COMPLETED.to_owned(),
        }
    }
}

impl Example for HandOff {
    fn example() -> Self {
        Self { code: EXAMPLE_SESSION.to_owned(), expires_in: 60 }
    }
}

impl Example for RedeemForm {
    fn example() -> Self {
        Self { token: Some(EXAMPLE_SESSION.into()), code: None }
    }
}
