//! The second factor: a code by e-mail at each sign-in.

use account_core::{Code, Email, MfaToken, Password};
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::{refuse, refuse_faults},
    registration::{Message, SignedIn},
};
use crate::api::browser::client_cookie::with_client_cookie;
use crate::api::own_refusals::{
    GUEST, LOCKED, OwnRefusals, SUSPENDED, WRONG_CODE, WRONG_CONFIRMATION,
};
use crate::http::{
    AccountHolder, Anonymous, Answer, Body, JsonString, Tag, Text, json_string::json_string,
    validation::Fault,
};

/// The answer to `enable`.
const ON: &str = "Sign-in now asks for a code, which is sent to your e-mail.";
/// The answer to `disable`.
const OFF: &str = "Sign-in no longer asks for a code.";

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[
    ("verify_second_factor", &[WRONG_CODE, SUSPENDED]),
    ("enable_second_factor", &[GUEST]),
    ("disable_second_factor", &[WRONG_CONFIRMATION, GUEST, LOCKED]),
];

/// The endpoints of the second factor.
#[derive(Default)]
pub struct SecondFactor;

#[OpenApi(prefix_path = "/user", tag = "Tag::Security")]
impl SecondFactor {
    /// Finish a sign-in with the code from the e-mail.
    ///
    /// The second step of a sign-in, where the account requires one. The code is valid for 10
    /// minutes and five attempts. A client that sends the `mfa_token` of the first step has
    /// attempts of its own.
    #[oai(path = "/verify-mfa", method = "post", operation_id = "verify_second_factor")]
    async fn verify(
        &self,
        anonymous: Anonymous,
        body: Body<SecondStepForm>,
    ) -> Result<Answer<SignedIn>> {
        let call = anonymous.context();
        let token = body.token().map_err(|faults| refuse_faults(call, faults))?;
        let SecondStepForm { email, otp, .. } = &body.0;
        let accounts = &call.state.accounts;
        let client = anonymous.client();
        let signed_in = accounts.complete_login(email, otp, token.as_ref(), &client, call.at).await;
        let signed_in = signed_in.map_err(|error| refuse(call, &error))?;
        let answer = Answer::new(SignedIn::new(&signed_in, "Signed in."));
        Ok(with_client_cookie(answer, call, &signed_in))
    }

    /// Require a code at each sign-in.
    ///
    /// Takes effect at once, and is confirmed by an e-mail. Not for guests.
    #[oai(path = "/mfa/enable", method = "post", operation_id = "enable_second_factor")]
    async fn enable(&self, caller: AccountHolder) -> Result<Answer<Message>> {
        let call = caller.context();
        let account = caller.caller();
        let enabled = call.state.accounts.enable_mfa(account.id, call.at).await;
        enabled.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(Message::new(ON)))
    }

    /// Stop requiring a code at sign-in.
    ///
    /// Requires the account's password; a wrong one is answered with 403. Not for guests.
    #[oai(path = "/mfa/disable", method = "post", operation_id = "disable_second_factor")]
    async fn disable(
        &self,
        caller: AccountHolder,
        body: Body<PasswordForm>,
    ) -> Result<Answer<Message>> {
        let call = caller.context();
        let account = caller.caller();
        let password = Password::attempt(&body.password);
        let disabled = call.state.accounts.disable_mfa(account.id, &password, call.at).await;
        disabled.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(Message::new(OFF)))
    }
}

/// The code of the second step.
#[derive(Clone, Object)]
#[oai(rename = "SecondStepRequest", example)]
pub struct SecondStepForm {
    /// The address to which the code was sent.
    pub email: JsonString<Email>,
    /// The six digits of the code.
    pub otp: JsonString<Code>,
    /// The `mfa_token` of the first step.
    #[oai(nullable)]
    pub mfa_token: Option<Text>,
}

impl SecondStepForm {
    fn token(&self) -> Result<Option<MfaToken>, Vec<Fault>> {
        let Some(text) = &self.mfa_token else { return Ok(None) };
        let malformed = || {
            let msg = "must be the `mfa_token` that the first step answered";
            vec![Fault::at_field("mfa_token", "value_error.mfa_token", msg)]
        };
        MfaToken::parse(text).map(Some).ok_or_else(malformed)
    }
}

/// The account's password, as a confirmation.
#[derive(Clone, Object)]
#[oai(rename = "PasswordConfirmation", example)]
pub struct PasswordForm {
    /// The account's password.
    pub password: Text,
}

impl Example for SecondStepForm {
    fn example() -> Self {
        Self { email: json_string("ada@example.com"), otp: json_string("271828"), mfa_token: None }
    }
}

impl Example for PasswordForm {
    fn example() -> Self {
        Self { password: "a long and private sentence".into() }
    }
}
