//! Registration, and the code that confirms it.

use account_core as core;
use account_core::{Code, Contact, Email, Password, Username};
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::{fault, refuse, refuse_faults},
    fields::{EXAMPLE_KEY, EXAMPLE_SESSION, text},
};
use crate::api::own_refusals::{OwnRefusals, USERNAME_TAKEN, WRONG_CODE};
use crate::{
    http::{
        Anonymous, Answer, Body, JsonString, RequestContext, Tag, Text, json_string::json_string,
        validation::Fault,
    },
    limits::Dropped,
};

/// The answer to every well-formed registration, for registered e-mail addresses too.
const SENT: &str = "A verification code has been sent. Check your e-mail.";
/// The answer to every request for a code.
const NEUTRAL: &str = "If the e-mail is registered, a code has been sent to it.";

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] =
    &[("register_account", &[USERNAME_TAKEN]), ("verify_registration", &[WRONG_CODE])];

/// The endpoints of registration.
#[derive(Default)]
pub struct Registration;

#[OpenApi(prefix_path = "/user", tag = "Tag::Registration")]
impl Registration {
    /// Register an account.
    ///
    /// Sends an e-mail with a code of six digits, valid for 10 minutes, to confirm with `POST
    /// /user/verify-otp`. Registering an unverified e-mail again, a minute later or more, sends a
    /// new code for the latest form. Only the e-mail reveals whether the address already has an
    /// account; the answer does not.
    #[oai(path = "/register", method = "post", operation_id = "register_account")]
    async fn register(
        &self,
        anonymous: Anonymous,
        form: Body<RegistrationForm>,
    ) -> Result<Answer<Registered>> {
        let call = anonymous.context();
        let form = form.0.check().map_err(|faults| refuse_faults(call, faults))?;
        let registered = call.state.accounts.register(form, call.at).await;
        registered.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(Registered { message: SENT.to_owned() }).with_root_message(SENT))
    }

    /// Send the registration code again.
    ///
    /// At most one e-mail a minute and ten a day are sent. The answer is the same for an e-mail
    /// with and without an unconfirmed registration.
    #[oai(path = "/resend-otp", method = "post", operation_id = "resend_registration_code")]
    async fn resend(&self, anonymous: Anonymous, body: Body<EmailForm>) -> Result<Answer<Message>> {
        let call = anonymous.context();
        neutral(call, resend_code(call, &body.email).await)
    }

    /// Confirm a registration.
    ///
    /// Creates the account with 350 credits, and returns its API key.
    #[oai(path = "/verify-otp", method = "post", operation_id = "verify_registration")]
    async fn verify(&self, anonymous: Anonymous, body: Body<CodeForm>) -> Result<Answer<SignedIn>> {
        let call = anonymous.context();
        let accounts = &call.state.accounts;
        let (email, otp, client) = (&body.email, &body.otp, anonymous.client());
        let signed_in = accounts.verify_registration(email, otp, &client, call.at).await;
        let signed_in = signed_in.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(SignedIn::new(&signed_in, "E-mail verified. Keep your API key.")))
    }
}

/// Sends the code of a registration again, within the bounds of such requests.
pub(in crate::api) async fn resend_code(call: &RequestContext, email: &Email) -> core::Result<()> {
    let work = call.state.accounts.resend_registration_code(email, call.at);
    counted(call, call.state.code_requests.run(work).await)
}

/// Returns the result of a request for a code. One for which a bound left nothing to be done is counted,
/// and has the result of the others.
pub(super) fn counted(
    call: &RequestContext,
    sent: std::result::Result<core::Result<()>, Dropped>,
) -> core::Result<()> {
    sent.unwrap_or_else(|dropped| {
        call.state.metrics.count_dropped_code_request(dropped.name());
        Ok(())
    })
}

/// Answers a request for a code: alike for every e-mail address, and where nothing was done.
pub(super) fn neutral(call: &RequestContext, sent: core::Result<()>) -> Result<Answer<Message>> {
    sent.map_err(|error| refuse(call, &error))?;
    Ok(Answer::new(Message::new(NEUTRAL)))
}

/// The form of a registration.
#[derive(Clone, Object)]
#[oai(rename = "RegistrationRequest", example)]
pub struct RegistrationForm {
    /// The user name, which no other account may have.
    pub username: JsonString<Username>,
    /// The address to which codes are sent.
    pub email: JsonString<Email>,
    /// At least 8 characters and at most 1,024 bytes of UTF-8, in Unicode Normalization Form C, and
    /// more than spaces. Not one of the most common passwords, the e-mail address or the user name.
    pub password: JsonString<Password>,
    /// A telephone number.
    #[oai(nullable, validator(max_length = 100))]
    pub phone: Option<Text>,
    /// The name of a country.
    #[oai(nullable, validator(max_length = 100))]
    pub country: Option<Text>,
    /// The country's code, as in `GB` or `+44`.
    #[oai(nullable, validator(max_length = 100))]
    pub country_code: Option<Text>,
}

impl RegistrationForm {
    /// Returns the form for the rules; checks all that a schema cannot state, at once.
    fn check(self) -> Result<core::Registration, Vec<Fault>> {
        let password = self.password.refuse_personal("password", &self.email, &self.username);
        let contact =
            Contact::parse(text(&self.phone), text(&self.country), text(&self.country_code));
        match (password, contact) {
            (Ok(()), Ok(contact)) => Ok(core::Registration {
                username: self.username.0,
                email: self.email.0,
                password: self.password.0,
                contact,
            }),
            (password, contact) => {
                let errors = password.err().into_iter().chain(contact.err().into_iter().flatten());
                Err(errors.map(|error| fault(&error)).collect())
            }
        }
    }
}

/// An e-mail address.
#[derive(Clone, Object)]
#[oai(rename = "EmailRequest", example)]
pub struct EmailForm {
    /// The address to which the code is sent.
    pub email: JsonString<Email>,
}

/// A code, and the address to which it was sent.
#[derive(Clone, Object)]
#[oai(rename = "CodeRequest", example)]
pub struct CodeForm {
    /// The address to which the code was sent.
    pub email: JsonString<Email>,
    /// The six digits of the code.
    pub otp: JsonString<Code>,
}

/// A message to a person.
#[derive(Clone, Object)]
#[oai(example)]
pub struct Message {
    /// The result in words.
    pub message: String,
}

impl Message {
    pub(super) fn new(message: &str) -> Self {
        Self { message: message.to_owned() }
    }
}

/// A registration that awaits its code.
#[derive(Clone, Object)]
#[oai(rename = "Registered", example)]
pub struct Registered {
    /// The result in words, the same as beside `data`.
    pub message: String,
}

/// The key and the session of a sign-in.
#[derive(Clone, Object)]
#[oai(rename = "SignedIn", example)]
pub struct SignedIn {
    /// The account's API key, for the header `X-API-Key`.
    pub api_key: String,
    /// The session, for the header `X-Session-Token`; ends after 24 hours without use.
    pub session_token: String,
    /// The result in words.
    pub message: String,
}

impl SignedIn {
    pub(super) fn new(signed_in: &core::SignedIn, message: &str) -> Self {
        Self {
            api_key: signed_in.api_key.expose().to_owned(),
            session_token: signed_in.session_token.expose().to_owned(),
            message: message.to_owned(),
        }
    }
}

impl Example for RegistrationForm {
    fn example() -> Self {
        Self {
            username: json_string("ada"),
            email: json_string("ada@example.com"),
            password: json_string("a long and private sentence"),
            phone: None,
            country: Some("United Kingdom".into()),
            country_code: Some("GB".into()),
        }
    }
}

impl Example for EmailForm {
    fn example() -> Self {
        Self { email: json_string("ada@example.com") }
    }
}

impl Example for CodeForm {
    fn example() -> Self {
        Self { email: json_string("ada@example.com"), otp: json_string("271828") }
    }
}

impl Example for Registered {
    fn example() -> Self {
        Self { message: SENT.to_owned() }
    }
}

impl Example for Message {
    fn example() -> Self {
        Self::new(NEUTRAL)
    }
}

impl Example for SignedIn {
    fn example() -> Self {
        Self {
            api_key: EXAMPLE_KEY.to_owned(),
            session_token: EXAMPLE_SESSION.to_owned(),
            message: "E-mail verified. Keep your API key.".to_owned(),
        }
    }
}
