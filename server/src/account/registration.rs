//! Registration, and the code that confirms it.

use account_core as core;
use account_core::{Code, Contact, Email, Password, Username};
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{EXAMPLE_KEY, EXAMPLE_SESSION, fault, refuse, text};
use crate::http::{Answer, Body, Refusal, Tag, Text, Visitor, faults::Fault};

/// What every well-formed registration is answered, whoever has the e-mail.
const SENT: &str = "A verification code has been sent. Check your e-mail.";
/// What every request for a code is answered.
const NEUTRAL: &str = "If the e-mail is registered, a code has been sent to it.";

/// The endpoints.
pub struct Registration;

#[OpenApi(prefix_path = "/user", tag = "Tag::Account")]
impl Registration {
    /// Register an account.
    ///
    /// Sends a letter with a code of six digits, valid for 10 minutes, to confirm with
    /// `POST /user/verify-otp`. Registering an unverified e-mail again, a minute later or more,
    /// sends a fresh code for the newest form. The answer does not tell whether the e-mail has an
    /// account already: its letter does.
    #[oai(path = "/register", method = "post", operation_id = "register_account")]
    async fn register(
        &self,
        visitor: Visitor,
        form: Body<RegistrationForm>,
    ) -> Result<Answer<Message>> {
        let call = visitor.call();
        let form = form.0.check().map_err(|faults| {
            poem::Error::from_response(Refusal::Faults(faults).into_response(call.surface))
        })?;
        let registered = call.service.accounts.register(form, call.at).await;
        registered.map_err(|error| refuse(call, error))?;
        Ok(Answer::new(Message::new(SENT)).with_root_message(SENT))
    }

    /// Send the registration code again.
    ///
    /// At most one letter a minute and ten a day. The answer is the same whether or not there is
    /// a registration to confirm.
    #[oai(path = "/resend-otp", method = "post", operation_id = "resend_registration_code")]
    async fn resend(&self, visitor: Visitor, body: Body<EmailForm>) -> Result<Answer<Message>> {
        let call = visitor.call();
        let email = Email::parse(&body.email).map_err(|error| refuse(call, error))?;
        let sent = call.service.accounts.resend_registration_code(&email, call.at).await;
        sent.map_err(|error| refuse(call, error))?;
        Ok(Answer::new(Message::new(NEUTRAL)))
    }

    /// Confirm a registration.
    ///
    /// Opens the account, credits it with 350 credits and answers its API key.
    #[oai(path = "/verify-otp", method = "post", operation_id = "verify_registration")]
    async fn verify(&self, visitor: Visitor, body: Body<CodeForm>) -> Result<Answer<SignedIn>> {
        let call = visitor.call();
        let (email, code) = body.0.check().map_err(|faults| {
            poem::Error::from_response(Refusal::Faults(faults).into_response(call.surface))
        })?;
        let accounts = &call.service.accounts;
        let signed_in = accounts.verify_registration(&email, &code, call.at).await;
        let signed_in = signed_in.map_err(|error| refuse(call, error))?;
        Ok(Answer::new(SignedIn::new(&signed_in, "E-mail verified. Keep your API key.")))
    }
}

/// Who registers.
#[derive(Clone, Object)]
#[oai(rename = "RegistrationRequest", example)]
pub struct RegistrationForm {
    /// The name of the account; not taken by another one.
    #[oai(validator(min_length = 1, max_length = 255))]
    pub username: Text,
    /// The address that codes are sent to.
    #[oai(validator(min_length = 1, max_length = 255))]
    pub email: Text,
    /// 8 to 1,024 bytes, and none of the commonest.
    pub password: Text,
    /// A telephone number.
    #[oai(nullable)]
    pub phone: Option<Text>,
    /// The name of a country.
    #[oai(nullable)]
    pub country: Option<Text>,
    /// The country's code, as in `GB` or `+44`.
    #[oai(nullable)]
    pub country_code: Option<Text>,
}

impl RegistrationForm {
    /// Every field by its rule; all faults at once.
    fn check(&self) -> Result<core::Registration, Vec<Fault>> {
        let mut faults = Vec::new();
        let username = Username::parse(&self.username).map_err(|e| faults.push(fault(&e)));
        let email = Email::parse(&self.email).map_err(|e| faults.push(fault(&e)));
        let password = Password::choose(&self.password).map_err(|e| faults.push(fault(&e)));
        let contact =
            Contact::parse(text(&self.phone), text(&self.country), text(&self.country_code))
                .map_err(|errors| faults.extend(errors.iter().map(fault)));
        match (username, email, password, contact) {
            (Ok(username), Ok(email), Ok(password), Ok(contact)) => {
                Ok(core::Registration { username, email, password, contact })
            }
            _ => Err(faults),
        }
    }
}

/// An e-mail address.
#[derive(Clone, Object)]
#[oai(rename = "EmailRequest", example)]
pub struct EmailForm {
    /// The address that the code is sent to.
    #[oai(validator(min_length = 1, max_length = 255))]
    pub email: Text,
}

/// A code and the address that it was sent to.
#[derive(Clone, Object)]
#[oai(rename = "CodeRequest", example)]
pub struct CodeForm {
    /// The address that the code was sent to.
    #[oai(validator(min_length = 1, max_length = 255))]
    pub email: Text,
    /// The six digits of the code.
    pub otp: Text,
}

impl CodeForm {
    /// Both fields by their rules; all faults at once.
    pub(super) fn check(&self) -> Result<(Email, Code), Vec<Fault>> {
        match (Email::parse(&self.email), Code::parse(&self.otp)) {
            (Ok(email), Ok(code)) => Ok((email, code)),
            (email, code) => {
                let errors = email.err().into_iter().chain(code.err());
                Err(errors.map(|error| fault(&error)).collect())
            }
        }
    }
}

/// A word to a person.
#[derive(Clone, Object)]
#[oai(example)]
pub struct Message {
    /// What happened.
    pub message: String,
}

impl Message {
    pub(super) fn new(message: &str) -> Self {
        Self { message: message.to_owned() }
    }
}

/// What a sign-in hands out.
#[derive(Clone, Object)]
#[oai(rename = "SignedIn", example)]
pub struct SignedIn {
    /// The account's API key, for the header `X-API-Key`.
    pub api_key: String,
    /// The session, for the header `X-Session-Token`; ends after 24 hours without use.
    pub session_token: String,
    /// What happened.
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
            username: "ada".into(),
            email: "ada@example.com".into(),
            password: "a long and private sentence".into(),
            phone: None,
            country: Some("United Kingdom".into()),
            country_code: Some("GB".into()),
        }
    }
}

impl Example for EmailForm {
    fn example() -> Self {
        Self { email: "ada@example.com".into() }
    }
}

impl Example for CodeForm {
    fn example() -> Self {
        Self { email: "ada@example.com".into(), otp: "271828".into() }
    }
}

impl Example for Message {
    fn example() -> Self {
        Self::new(SENT)
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
