//! The reset of a forgotten password, and the change of a known one.

use account_core::{Code, Email, Password};
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::refuse,
    registration::{EmailForm, Message, counted, neutral},
};
use crate::api::own_refusals::{GUEST, LOCKED, OwnRefusals, WRONG_CODE, WRONG_CONFIRMATION};
use crate::http::{
    AccountHolder, Anonymous, Answer, Body, JsonString, RequestContext, Tag, Text,
    UnlimitedAnonymous, json_string::json_string,
};

/// The answer to a reset and to a change.
const RESET: &str = "The password is changed. All sessions have ended; log in with the new one.";

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] =
    &[("reset_password", &[WRONG_CODE]), ("change_password", &[WRONG_CONFIRMATION, GUEST, LOCKED])];

/// The endpoints of a password reset.
#[derive(Default)]
pub struct Passwords;

#[OpenApi(prefix_path = "/user", tag = "Tag::Security")]
impl Passwords {
    /// Request a code for a new password.
    ///
    /// The answer is the same for an e-mail with and without an account. At most one e-mail a
    /// minute and ten a day are sent; the code is valid for 10 minutes. No rate limit applies; where
    /// one client or all clients together send very many requests, the answer is the same and no
    /// e-mail is sent.
    #[oai(path = "/forgot-password", method = "post", operation_id = "request_password_reset")]
    async fn forgot(
        &self,
        anonymous: UnlimitedAnonymous,
        body: Body<EmailForm>,
    ) -> Result<Answer<Message>> {
        let call = anonymous.context();
        neutral(call, send_reset_code(call, &body.email).await)
    }

    /// Set a new password.
    ///
    /// Requires the code from the e-mail. Ends all sessions, hand-off codes and the access of
    /// applications, lifts a lock, and returns no key: sign in with the new password, and with the
    /// second factor where the account has one.
    #[oai(path = "/reset-password", method = "post", operation_id = "reset_password")]
    async fn reset(&self, anonymous: Anonymous, body: Body<ResetForm>) -> Result<Answer<Message>> {
        let call = anonymous.context();
        let ResetForm { email, otp, new_password } = &body.0;
        let client = anonymous.client();
        let accounts = &call.state.accounts;
        let reset = accounts.reset_password(email, otp, new_password, &client, call.at).await;
        reset.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(Message::new(RESET)))
    }

    /// Change the password.
    ///
    /// Requires the present password; a wrong one is answered with 403, and five wrong ones lock the
    /// call for 30 minutes. All sessions and connected applications end, as after a reset; the key
    /// stays valid, and an e-mail reports the change. An account without a password chooses one with
    /// `POST /user/forgot-password`. Not for guests.
    #[oai(path = "/change-password", method = "post", operation_id = "change_password")]
    async fn change(
        &self,
        caller: AccountHolder,
        body: Body<PasswordChangeForm>,
    ) -> Result<Answer<Message>> {
        let (context, account) = (caller.context(), caller.caller());
        let (current, new) = (Password::attempt(&body.password), &body.new_password);
        let accounts = &context.state.accounts;
        let client = caller.client();
        let changed = accounts.change_password(account.id, &current, new, &client, context.at);
        changed.await.map_err(|error| refuse(context, &error))?;
        Ok(Answer::new(Message::new(RESET)))
    }
}

/// Sends a code for a new password, within the bounds of such requests.
pub(in crate::api) async fn send_reset_code(
    call: &RequestContext,
    email: &Email,
) -> account_core::Result<()> {
    let requests = &call.state.code_requests;
    let sent = match requests.admit(call.address) {
        Ok(()) => requests.run(call.state.accounts.forgot_password(email, call.at)).await,
        Err(dropped) => Err(dropped),
    };
    counted(call, sent)
}

/// The present password and the next one.
#[derive(Clone, Object)]
#[oai(rename = "PasswordChangeRequest", example)]
pub struct PasswordChangeForm {
    /// The account's present password.
    pub password: Text,
    /// At least 8 characters and at most 1,024 bytes, and none of the commonest.
    pub new_password: JsonString<Password>,
}

/// A code with the new password.
#[derive(Clone, Object)]
#[oai(rename = "PasswordResetRequest", example)]
pub struct ResetForm {
    /// The address to which the code was sent.
    pub email: JsonString<Email>,
    /// The six digits of the code.
    pub otp: JsonString<Code>,
    /// At least 8 characters and at most 1,024 bytes of UTF-8, in Unicode Normalization Form C, and
    /// more than spaces. Not one of the most common passwords, the e-mail address or the user name.
    pub new_password: JsonString<Password>,
}

impl Example for ResetForm {
    fn example() -> Self {
        Self {
            email: json_string("ada@example.com"),
            otp: json_string("271828"),
            new_password: json_string("another long and private sentence"),
        }
    }
}

impl Example for PasswordChangeForm {
    fn example() -> Self {
        Self {
            password: "a long and private sentence".into(),
            new_password: json_string("another long and private sentence"),
        }
    }
}
