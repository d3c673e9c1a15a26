//! Sign-in with a password.

use account_core as core;
use account_core::{Email, Error, Password};
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::refuse,
    fields::{EXAMPLE_KEY, EXAMPLE_SESSION},
};
use crate::api::browser::client_cookie::with_client_cookie;
use crate::api::own_refusals::{LOCKED, OwnRefusal, OwnRefusals, SUSPENDED, own, rule};
use crate::http::{Anonymous, Answer, Body, JsonString, Tag, Text, json_string::json_string};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] =
    &[("log_in", &[WRONG_CREDENTIALS, UNVERIFIED, SUSPENDED, LOCKED])];

const WRONG_CREDENTIALS: OwnRefusal =
    own("wrong_credentials", "The e-mail or the password is wrong.", || {
        rule(&Error::WrongCredentials)
    });
const UNVERIFIED: OwnRefusal =
    own("unverified", "The e-mail is not verified.", || rule(&Error::Unverified));

/// The endpoint of sign-in.
#[derive(Default)]
pub struct SignIn;

#[OpenApi(prefix_path = "/user", tag = "Tag::SignIn")]
impl SignIn {
    /// Sign in with a password.
    ///
    /// Returns the account's existing API key and a session token. Where the account requires a
    /// second step, `mfa_required` is true instead, and a code for `POST /user/verify-mfa` is sent
    /// by e-mail. Five wrong passwords lock sign-in for 30 minutes (423).
    #[oai(path = "/login", method = "post", operation_id = "log_in")]
    async fn log_in(
        &self,
        anonymous: Anonymous,
        body: Body<LoginForm>,
    ) -> Result<Answer<LoggedIn>> {
        let call = anonymous.context();
        let password = Password::attempt(&body.password);
        let accounts = &call.state.accounts;
        let login = accounts.login(&body.email, &password, &anonymous.client(), call.at).await;
        match login.map_err(|error| refuse(call, &error))? {
            core::Login::SignedIn(signed_in) => {
                let answer = Answer::new(LoggedIn::new(&signed_in));
                Ok(with_client_cookie(answer, call, &signed_in))
            }
            core::Login::MfaRequired { mfa_token } => {
                Ok(Answer::new(LoggedIn::second_step(&mfa_token)))
            }
        }
    }
}

/// An e-mail address and its password.
#[derive(Clone, Object)]
#[oai(rename = "LoginRequest", example)]
pub struct LoginForm {
    /// The account's e-mail address.
    pub email: JsonString<Email>,
    /// The account's password.
    pub password: Text,
}

/// A sign-in, or the first of its two steps.
#[derive(Clone, Object)]
#[oai(rename = "Login", example, skip_serializing_if_is_none)]
pub struct LoggedIn {
    /// The account's API key; absent where a second step is required.
    pub api_key: Option<String>,
    /// The session, for the header `X-Session-Token`; absent where a second step is required.
    pub session_token: Option<String>,
    /// True where a code was sent for the second step; absent otherwise.
    pub mfa_required: Option<bool>,
    /// The token to send with the code to `POST /user/verify-mfa`, which gives the client attempts
    /// of its own; present where a second step is required.
    pub mfa_token: Option<String>,
    /// The result in words.
    pub message: String,
}

impl LoggedIn {
    fn new(signed_in: &core::SignedIn) -> Self {
        Self {
            api_key: Some(signed_in.api_key.expose().to_owned()),
            session_token: Some(signed_in.session_token.expose().to_owned()),
            mfa_required: None,
            mfa_token: None,
            message: "Signed in.".to_owned(),
        }
    }

    fn second_step(mfa_token: &core::MfaToken) -> Self {
        Self {
            api_key: None,
            session_token: None,
            mfa_required: Some(true),
            mfa_token: Some(mfa_token.expose().to_owned()),
            message: "A code has been sent. Finish with POST /user/verify-mfa.".to_owned(),
        }
    }
}

impl Example for LoginForm {
    fn example() -> Self {
        Self {
            email: json_string("ada@example.com"),
            password: "a long and private sentence".into(),
        }
    }
}

impl Example for LoggedIn {
    fn example() -> Self {
        Self {
            api_key: Some(EXAMPLE_KEY.to_owned()),
            session_token: Some(EXAMPLE_SESSION.to_owned()),
            mfa_required: None,
            mfa_token: None,
            message: "Signed in.".to_owned(),
        }
    }
}
