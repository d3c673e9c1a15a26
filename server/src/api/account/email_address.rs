//! The change of the account's e-mail address, its confirmation and its undoing.

use account_core as core;
use account_core::{Code, Email, EmailUndoToken, Password};
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::{refuse, refuse_faults},
    fields::EXAMPLE_SESSION,
    registration::Message,
};
use crate::api::own_refusals::{
    EMAIL_TAKEN, GUEST, INVALID_SESSION, LOCKED, OwnRefusals, WRONG_CODE, WRONG_CONFIRMATION,
};
use crate::http::{
    AccountHolder, Anonymous, Answer, Body, JsonString, Tag, Text, json_string::json_string,
    validation::Fault,
};

/// The answer to every well-formed request, for taken addresses too.
const REQUESTED: &str = "If the address is free, a code has been sent to it. Nothing has changed.";
/// The answer to a confirmation.
const CHANGED: &str = "The e-mail address is changed. The former one was told how to undo this.";
/// The answer to an undoing.
const RESTORED: &str = "The former e-mail address is restored. Choose a password with POST \
                        /user/forgot-password; sign-in then answers the new API key.";

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[
    ("request_email_change", &[WRONG_CONFIRMATION, GUEST, LOCKED]),
    ("confirm_email_change", &[WRONG_CODE, GUEST, EMAIL_TAKEN, INVALID_SESSION]),
    ("undo_email_change", &[WRONG_CODE, EMAIL_TAKEN]),
];

/// The endpoints.
#[derive(Default)]
pub struct EmailAddresses;

#[OpenApi(prefix_path = "/user", tag = "Tag::Security")]
impl EmailAddresses {
    /// Ask for another e-mail address.
    ///
    /// Requires the account's password and sends a code, valid for 10 minutes, to the new address.
    /// The present address gets a notice and, with a second factor, a code too. Nothing changes
    /// before `POST /user/confirm-email`. The answer is the same where the address has an account. At
    /// most one request a minute and ten a day. Another password, or the end of all sessions, cancels
    /// the change. Not for guests.
    #[oai(path = "/change-email", method = "post", operation_id = "request_email_change")]
    async fn request(
        &self,
        caller: AccountHolder,
        body: Body<EmailChangeForm>,
    ) -> Result<Answer<Message>> {
        let (context, account) = (caller.context(), caller.caller());
        let password = Password::attempt(&body.password);
        let accounts = &context.state.accounts;
        let asked =
            accounts.request_email_change(account.id, &password, &body.new_email, context.at);
        asked.await.map_err(|error| refuse(context, &error))?;
        Ok(Answer::new(Message::new(REQUESTED)))
    }

    /// Confirm another e-mail address.
    ///
    /// Requires the code from the e-mail to the new address and, for an account with a second
    /// factor, the code from the e-mail to the present address. Five attempts. Connected
    /// applications, all sessions except that of `X-Session-Token`, and codes that were sent to the
    /// former address end; the key stays valid. For 72 hours the former address can undo the change.
    /// Not for guests.
    #[oai(path = "/confirm-email", method = "post", operation_id = "confirm_email_change")]
    async fn confirm(
        &self,
        caller: AccountHolder,
        body: Body<EmailConfirmationForm>,
    ) -> Result<Answer<Message>> {
        let (context, account) = (caller.context(), caller.caller());
        let (to, codes, client) = (&body.new_email, body.codes(), caller.client());
        let accounts = &context.state.accounts;
        let kept = caller.session();
        let changed =
            accounts.confirm_email_change(account.id, to, &codes, kept, &client, context.at);
        changed.await.map_err(|error| refuse(context, &error))?;
        Ok(Answer::new(Message::new(CHANGED)))
    }

    /// Undo a change of the e-mail address.
    ///
    /// Requires the token from the e-mail to the former address, at most 72 hours old. The account
    /// gets that address back, and later changes are undone as well. All sessions, codes and
    /// connected applications end, the API key is replaced, and the password no longer works: choose
    /// one with `POST /user/forgot-password`.
    #[oai(path = "/undo-email-change", method = "post", operation_id = "undo_email_change")]
    async fn undo(
        &self,
        anonymous: Anonymous,
        body: Body<EmailUndoForm>,
    ) -> Result<Answer<Message>> {
        let context = anonymous.context();
        let token = body.token().map_err(|faults| refuse_faults(context, faults))?;
        let undone = context.state.accounts.undo_email_change(&token, context.at).await;
        undone.map_err(|error| refuse(context, &error))?;
        Ok(Answer::new(Message::new(RESTORED)))
    }
}

/// Another e-mail address, and the account's password.
#[derive(Clone, Object)]
#[oai(rename = "EmailChangeRequest", example)]
pub struct EmailChangeForm {
    /// The account's password.
    pub password: Text,
    /// The address that the account is to have; another than it has.
    pub new_email: JsonString<Email>,
}

/// The codes that confirm another e-mail address.
#[derive(Clone, Object)]
#[oai(rename = "EmailConfirmation", example)]
pub struct EmailConfirmationForm {
    /// The address that the code was sent to.
    pub new_email: JsonString<Email>,
    /// The six digits of the code that was sent to the new address.
    pub otp: JsonString<Code>,
    /// The six digits of the code that was sent to the present address, where a second factor is
    /// on.
    #[oai(nullable)]
    pub current_otp: Option<JsonString<Code>>,
}

impl EmailConfirmationForm {
    fn codes(&self) -> core::EmailChangeCodes {
        let present = self.current_otp.as_ref().map(|code| code.0.clone());
        core::EmailChangeCodes { new: self.otp.0.clone(), present }
    }
}

/// The token that undoes a change of the e-mail address.
#[derive(Clone, Object)]
#[oai(rename = "EmailUndoRequest", example)]
pub struct EmailUndoForm {
    /// The 43 characters from the e-mail to the former address.
    pub token: Text,
}

impl EmailUndoForm {
    fn token(&self) -> Result<EmailUndoToken, Vec<Fault>> {
        EmailUndoToken::parse(&self.token).ok_or_else(|| {
            let msg = "must be the token from the e-mail to the former address";
            vec![Fault::at_field("token", "value_error.token", msg)]
        })
    }
}

impl Example for EmailChangeForm {
    fn example() -> Self {
        Self {
            password: "a long and private sentence".into(),
            new_email: json_string("ada@example.org"),
        }
    }
}

impl Example for EmailConfirmationForm {
    fn example() -> Self {
        Self {
            new_email: json_string("ada@example.org"),
            otp: json_string("271828"),
            current_otp: None,
        }
    }
}

impl Example for EmailUndoForm {
    fn example() -> Self {
        Self { token: EXAMPLE_SESSION.into() }
    }
}
