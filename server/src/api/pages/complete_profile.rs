//! The page `/complete-profile` for the missing fields of a new account, where the operator has no
//! website.

use account_core::accounts::external_sign_in::Completed;
use account_core::{CompletionToken, Contact, Destination, Error, NewProfile, Username};
use askama::Template;
use poem::{Request, Response, http::StatusCode};
use serde_json::{Map, Value, json};

use super::login;
use crate::api::browser::{
    oidc_flow::onward,
    page,
    sealed_form::{self, Browser},
};
use crate::http::{Anonymous, RequestContext, form::Form};

const FAULTY: &str = "Please look at the fields below.";
const NAME_TAKEN: &str = "Another account has this user name. Please choose another one.";
const EMAIL_TAKEN: &str =
    "An account with your e-mail address exists by now. Please sign in again.";

#[derive(Template)]
#[template(path = "pages/complete_profile.html")]
struct CompleteProfile<'a> {
    fault: Option<&'a str>,
    form: String,
    fields: Vec<Field>,
}

/// A field of the form, with the entered value and its fault.
struct Field {
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    autocomplete: &'static str,
    /// The note of an optional field; empty for a mandatory field.
    hint: &'static str,
    value: String,
    fault: Option<String>,
}

/// Shows the form that completes the profile of a new identity.
pub(super) async fn show(anonymous: Anonymous, request: Request) -> Response {
    let call = anonymous.context();
    let query = Form::of_query(request.uri().query().unwrap_or_default());
    let Some(token) = CompletionToken::parse(query.field("completion_token")) else {
        return login::failed(call, &Error::WrongCode);
    };
    let browser = Browser::of(&request, &call.state.settings);
    let form = browser
        .seal(call, sealed_form::object(json!({ "step": "profile", "token": token.expose() })));
    let shown = CompleteProfile { fault: None, form, fields: fields(&query) };
    let mut response = page::render(StatusCode::OK, &shown, leads_to(call));
    browser.remember(&mut response, &call.state.settings);
    response
}

/// Takes the filled-in form and creates the account, or shows the form with its faults.
pub(super) async fn complete(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((form, sealed)) = sealed_form::returned(&mut request, call, "profile").await else {
        return page::expired();
    };
    let (fields, profile) = check(&form);
    let again = |status, fault, fields| {
        let form = Browser::of(&request, &call.state.settings).seal(call, sealed.clone());
        page::render(status, &CompleteProfile { fault: Some(fault), form, fields }, leads_to(call))
    };
    let Some(profile) = profile else {
        return again(StatusCode::UNPROCESSABLE_ENTITY, FAULTY, fields);
    };
    match make_account(&anonymous, &sealed, &profile).await {
        Ok(completed) => welcome(call, &completed).await,
        Err(Error::UsernameTaken) => again(StatusCode::CONFLICT, NAME_TAKEN, fields),
        Err(Error::EmailTaken) => again(StatusCode::CONFLICT, EMAIL_TAKEN, fields),
        Err(error) => login::failed(call, &error),
    }
}

async fn make_account(
    anonymous: &Anonymous,
    sealed: &Map<String, Value>,
    profile: &NewProfile,
) -> Result<Completed, Error> {
    let call = anonymous.context();
    let token = sealed["token"].as_str().and_then(CompletionToken::parse);
    let token = token.ok_or(Error::WrongCode)?;
    call.state.accounts.complete_profile(&token, profile, &anonymous.client(), call.at).await
}

async fn welcome(call: &RequestContext, completed: &Completed) -> Response {
    let onward = match onward(call, completed).await {
        Ok(onward) => onward,
        Err(error) => return login::failed(call, &error),
    };
    match (&completed.destination, onward) {
        (Destination::Page(_), Some(page)) => page::see_other(&page),
        (_, program) => {
            let heading = "Your account is ready";
            login::show_key(call, heading, &completed.signed_in, program.as_deref()).await
        }
    }
}

/// Returns the second origin that the form may lead to: the sign-in of an application.
fn leads_to(call: &RequestContext) -> &str {
    &call.state.settings.mcp_url
}

/// Returns the fields of the form, with the entered values.
fn fields(form: &Form) -> Vec<Field> {
    let field = |name, label, kind, autocomplete, hint| Field {
        name,
        label,
        kind,
        autocomplete,
        hint,
        value: form.field(name).trim().to_owned(),
        fault: None,
    };
    vec![
        field("phone", "Telephone number", "tel", "tel", ""),
        field("country", "Country", "text", "country-name", ""),
        field("country_code", "Country code", "text", "country", "optional, such as IT"),
        field(
            "username",
            "User name",
            "text",
            "username",
            "optional, else made of your e-mail address",
        ),
    ]
}

/// Checks every field; returns the profile where all are valid.
fn check(form: &Form) -> (Vec<Field>, Option<NewProfile>) {
    let mut fields = fields(form);
    let optional = |name| Some(form.field(name).trim()).filter(|text| !text.is_empty());
    let mut errors = Vec::new();
    let (phone, country) = (optional("phone"), optional("country"));
    let contact = Contact::parse(phone, country, optional("country_code"));
    let contact = contact.map_err(|faults| errors.extend(faults)).ok();
    let username = optional("username").map(Username::parse).transpose();
    let username = username.map_err(|fault| errors.push(fault)).ok();
    for field in &mut fields {
        let fault = errors.iter().find(|error| error.field() == Some(field.name));
        field.fault = match fault {
            Some(Error::Invalid { requirement, .. }) => Some(format!("Must be {requirement}.")),
            _ if field.hint.is_empty() && field.value.is_empty() => {
                Some("Please fill this in.".into())
            }
            _ => None,
        };
    }
    let profile = match (contact, username) {
        (Some(contact), Some(username)) => Some(NewProfile { username, contact }),
        _ => None,
    };
    let holds = fields.iter().all(|field| field.fault.is_none());
    (fields, profile.filter(|_| holds))
}
