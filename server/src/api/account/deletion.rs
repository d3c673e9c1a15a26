//! The end of an account.

use account_core::{Confirmation, Email, Password};
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::{refuse, refuse_faults},
    key::forget,
    registration::Message,
};
use crate::api::own_refusals::{GUEST, LOCKED, OwnRefusals, WRONG_CONFIRMATION};
use crate::http::{AccountHolder, Answer, Body, JsonString, Tag, Text, validation::Fault};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] =
    &[("delete_account", &[WRONG_CONFIRMATION, GUEST, LOCKED])];

/// The endpoint of the deletion.
#[derive(Default)]
pub struct Deletion;

#[OpenApi(prefix_path = "/user", tag = "Tag::Account")]
impl Deletion {
    /// Delete the account.
    ///
    /// Confirmed by the account's `password`. An account that signs in only through an identity
    /// provider is confirmed by its e-mail in `confirm_email`. The key and all sessions end with
    /// this answer, and usage rows are kept without the account. Not for guests.
    #[oai(path = "/account", method = "delete", operation_id = "delete_account")]
    async fn delete(
        &self,
        caller: AccountHolder,
        body: Body<DeletionForm>,
    ) -> Result<Answer<Message>> {
        let call = caller.context();
        let account = caller.caller();
        let confirmation = body.0.check().map_err(|faults| refuse_faults(call, faults))?;
        let deleted = call.state.accounts.delete_account(account.id, &confirmation, call.at).await;
        deleted.map_err(|error| refuse(call, &error))?;
        forget(&caller).await;
        Ok(Answer::new(Message::new("The account is deleted.")))
    }
}

/// The confirmation of a deletion: either field.
#[derive(Clone, Object)]
#[oai(rename = "DeletionRequest", example)]
pub struct DeletionForm {
    /// The account's password.
    #[oai(nullable)]
    pub password: Option<Text>,
    /// The account's e-mail, where it has no password.
    #[oai(nullable)]
    pub confirm_email: Option<JsonString<Email>>,
}

impl DeletionForm {
    fn check(&self) -> Result<Confirmation, Vec<Fault>> {
        match (&self.password, &self.confirm_email) {
            (Some(password), _) => Ok(Confirmation::Password(Password::attempt(password))),
            (None, Some(email)) => Ok(Confirmation::Email(email.0.clone())),
            (None, None) => {
                Err(vec![Fault::at_field("password", "value_error.missing", "field required")])
            }
        }
    }
}

impl Example for DeletionForm {
    fn example() -> Self {
        Self { password: Some("a long and private sentence".into()), confirm_email: None }
    }
}
