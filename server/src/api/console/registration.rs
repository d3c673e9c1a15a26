//! A new account: a form, the code from the e-mail, the key.

use account_core::{Code, Contact, Email, Error, Password, Registration, Username};
use askama::Template;
use poem::{Request, Response, http::StatusCode};
use serde_json::json;

use super::{
    security::KeyPage,
    visit::{Notice, finish, status, told},
};
use crate::{
    api::{
        account::registration::resend_code,
        browser::{
            client_cookie::remember_client,
            page,
            sealed_form::{self, Browser},
            session,
        },
    },
    http::{Anonymous, RequestContext, form::Form},
};

/// The path of the form.
pub(super) const PATH: &str = "/console/register";
const STEP: &str = "register";
const CODE_STEP: &str = "verify";

#[derive(Template)]
#[template(path = "console/register.html")]
struct RegisterPage<'a> {
    notices: Vec<String>,
    form: String,
    username: &'a str,
    email: &'a str,
}

#[derive(Template)]
#[template(path = "console/verify.html")]
struct VerifyPage<'a> {
    notice: Option<Notice>,
    form: String,
    email: &'a str,
    minutes: i64,
}

/// Shows the form.
pub(super) async fn show(anonymous: Anonymous, request: Request) -> Response {
    let browser = Browser::of(&request, &anonymous.context().state.settings);
    let form = ask(anonymous.context(), &browser, "", "", Vec::new());
    finish(&anonymous, &browser, Ok(form))
}

fn ask(
    call: &RequestContext,
    browser: &Browser,
    username: &str,
    email: &str,
    notices: Vec<String>,
) -> Response {
    let status = if notices.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let form = browser.seal(call, sealed_form::object(json!({ "step": STEP })));
    page::render(status, &RegisterPage { notices, form, username, email }, "")
}

/// Takes the form, and asks for the code.
pub(super) async fn register(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((form, _)) = sealed_form::returned(&mut request, call, STEP).await else {
        return page::expired();
    };
    let browser = Browser::of(&request, &call.state.settings);
    let (username, email) = (form.field("username").trim(), form.field("email").trim());
    let again = |notices| ask(call, &browser, username, email, notices);
    let registration = match read(username, email, form.field("password")) {
        Ok(registration) => registration,
        Err(errors) => return again(errors.iter().filter_map(told).collect()),
    };
    let address = registration.email.clone();
    let registered = call.state.accounts.register(registration, call.at).await;
    match registered {
        Ok(()) => ask_code(call, &browser, &address, None),
        Err(error) => match told(&error) {
            Some(text) => again(vec![text]),
            None => page::failed(call, &error),
        },
    }
}

/// Reads the fields; every one at fault is named.
fn read(username: &str, email: &str, password: &str) -> Result<Registration, Vec<Error>> {
    let fields = (Username::parse(username), Email::parse(email), Password::choose(password));
    match fields {
        (Ok(username), Ok(email), Ok(password)) => {
            password.refuse_personal("password", &email, &username).map_err(|error| vec![error])?;
            Ok(Registration { username, email, password, contact: Contact::default() })
        }
        (username, email, password) => {
            Err([username.err(), email.err(), password.err()].into_iter().flatten().collect())
        }
    }
}

fn ask_code(
    call: &RequestContext,
    browser: &Browser,
    email: &Email,
    notice: Option<Notice>,
) -> Response {
    let fields = json!({ "step": CODE_STEP, "email": email.as_str() });
    let form = browser.seal(call, sealed_form::object(fields));
    let minutes = account_core::code::VALIDITY.num_minutes();
    let status = status(notice.as_ref());
    page::render(status, &VerifyPage { notice, form, email: email.as_str(), minutes }, "")
}

/// Takes the code, begins a session, and shows the key.
pub(super) async fn verify(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((form, sealed)) = sealed_form::returned(&mut request, call, CODE_STEP).await else {
        return page::expired();
    };
    let Ok(email) = Email::parse(sealed["email"].as_str().unwrap_or_default()) else {
        return page::expired();
    };
    let browser = Browser::of(&request, &call.state.settings);
    if form.field("action") == "resend" {
        return resend(call, &browser, &email).await;
    }
    match confirmed(&anonymous, &request, &email, &form).await {
        Ok(response) => response,
        Err(error) => match told(&error) {
            Some(text) => ask_code(call, &browser, &email, Some(Notice::fault(text))),
            None => page::failed(call, &error),
        },
    }
}

async fn confirmed(
    anonymous: &Anonymous,
    request: &Request,
    email: &Email,
    form: &Form,
) -> Result<Response, Error> {
    let call = anonymous.context();
    let code = Code::parse(form.field("code").trim()).map_err(|_| Error::WrongCode)?;
    let accounts = &call.state.accounts;
    let signed_in =
        accounts.verify_registration(email, &code, &anonymous.client(), call.at).await?;
    let shown = KeyPage {
        heading: "Your account is ready",
        api_key: signed_in.api_key.expose(),
        is_signed_in: true,
    };
    let mut response = page::render(StatusCode::OK, &shown, "");
    session::begin(request, call, &mut response, &signed_in.session_token).await?;
    remember_client(&mut response, call, &signed_in);
    Ok(response)
}

/// Sends the code again; the page is the same for every address.
async fn resend(call: &RequestContext, browser: &Browser, email: &Email) -> Response {
    if let Err(error) = resend_code(call, email).await {
        return page::failed(call, &error);
    }
    let text = "If the last e-mail is older than a minute, another one is on the way.";
    ask_code(call, browser, email, Some(Notice::done(text)))
}
