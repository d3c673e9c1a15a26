//! Sign-in on a page: a password, a code where the account asks for one, a session in a cookie.

use account_core::{Code, Email, Error, Login, MfaToken, Password, SignedIn};
use askama::Template;
use poem::{Request, Response, http::StatusCode};
use serde_json::{Map, Value, json};

use super::external_sign_in;
use crate::{
    api::{
        account::remember_client,
        pages::{self, Browser},
    },
    http::{Anonymous, RequestContext, form::Form},
};

/// What the form of the first step is sealed as.
pub(super) const FIRST_STEP: &str = "sign_in";

const WRONG: &str = "The e-mail address or the password is wrong.";
const WRONG_CODE: &str = "The code is wrong or has expired.";

#[derive(Template)]
#[template(path = "pages/sign_in.html")]
struct SignIn<'a> {
    client: Option<&'a str>,
    fault: Option<&'a str>,
    email: &'a str,
    form: String,
    /// The way to the identity provider, where there is one.
    provider: Option<String>,
}

#[derive(Template)]
#[template(path = "pages/second_step.html")]
struct SecondStep<'a> {
    fault: Option<&'a str>,
    email: &'a str,
    form: String,
}

/// Asks who it is; afterwards the browser goes to `then`, a path of this service.
pub(super) fn form(
    call: &RequestContext,
    browser: &Browser,
    then: &str,
    client: Option<&str>,
) -> Response {
    let fields = json!({ "step": FIRST_STEP, "then": then, "client": client });
    ask(call, browser, &pages::object(fields), "", StatusCode::OK, None)
}

/// Asks once more.
pub(super) fn ask(
    call: &RequestContext,
    browser: &Browser,
    sealed: &Map<String, Value>,
    email: &str,
    status: StatusCode,
    fault: Option<&str>,
) -> Response {
    let client = sealed["client"].as_str();
    let form = browser.seal(call, sealed.clone());
    let provider = external_sign_in::link(call, &form);
    pages::page(status, &SignIn { client, fault, email, form, provider }, "")
}

/// Takes either step.
pub(super) async fn sign_in(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Ok(form) = Form::of_body(&mut request).await else { return pages::expired() };
    let browser = Browser::of(&request, &call.state.settings);
    let Some(sealed) = browser.open(call, form.field("form")) else { return pages::expired() };
    match sealed["step"].as_str() {
        Some(FIRST_STEP) => {
            let (email, password) = (form.field("email"), form.field("password"));
            first_step(&anonymous, &browser, &sealed, email, password).await
        }
        Some("code") => second_step(&anonymous, &browser, &sealed, form.field("code")).await,
        _ => pages::expired(),
    }
}

async fn first_step(
    anonymous: &Anonymous,
    browser: &Browser,
    sealed: &Map<String, Value>,
    address: &str,
    password: &str,
) -> Response {
    let call = anonymous.context();
    let again = |status, fault| ask(call, browser, sealed, address, status, Some(fault));
    let Ok(email) = Email::parse(address.trim()) else {
        return again(StatusCode::FORBIDDEN, WRONG);
    };
    let password = Password::attempt(password);
    let login = call.state.accounts.login(&email, &password, &anonymous.client(), call.at).await;
    match login {
        Ok(Login::SignedIn(signed_in)) => welcome(call, sealed, &signed_in),
        Ok(Login::MfaRequired { mfa_token }) => {
            let fields = json!({
                "step": "code", "then": sealed["then"], "email": email.as_str(),
                "mfa_token": mfa_token.expose(),
            });
            let form = browser.seal(call, pages::object(fields));
            let page = SecondStep { fault: None, email: email.as_str(), form };
            pages::page(StatusCode::OK, &page, "")
        }
        Err(Error::WrongCredentials) => again(StatusCode::FORBIDDEN, WRONG),
        Err(Error::Locked { .. }) => again(
            StatusCode::LOCKED,
            "Too many wrong passwords. Try again in 30 minutes, or choose a new password.",
        ),
        Err(Error::Unverified) => again(
            StatusCode::FORBIDDEN,
            "This e-mail address is not confirmed yet. Enter the code of the letter first.",
        ),
        Err(Error::Suspended) => again(
            StatusCode::FORBIDDEN,
            "This account is suspended. Ask the operator of the service.",
        ),
        Err(error) => pages::failed(call, &error),
    }
}

async fn second_step(
    anonymous: &Anonymous,
    browser: &Browser,
    sealed: &Map<String, Value>,
    code: &str,
) -> Response {
    let call = anonymous.context();
    let address = sealed["email"].as_str().unwrap_or_default();
    let again = || {
        let form = browser.seal(call, sealed.clone());
        let page = SecondStep { fault: Some(WRONG_CODE), email: address, form };
        pages::page(StatusCode::BAD_REQUEST, &page, "")
    };
    let token = sealed["mfa_token"].as_str().and_then(MfaToken::parse);
    let Ok(email) = Email::parse(address) else { return pages::expired() };
    let Ok(code) = Code::parse(code.trim()) else { return again() };
    let (accounts, client) = (&call.state.accounts, anonymous.client());
    match accounts.complete_login(&email, &code, token.as_ref(), &client, call.at).await {
        Ok(signed_in) => welcome(call, sealed, &signed_in),
        Err(Error::WrongCode) => again(),
        Err(error) => pages::failed(call, &error),
    }
}

/// Goes on from where the page asked.
pub(super) fn welcome(
    call: &RequestContext,
    sealed: &Map<String, Value>,
    signed_in: &SignedIn,
) -> Response {
    let mut response = pages::see_other(sealed["then"].as_str().unwrap_or("/"));
    pages::begin_session(&mut response, &call.state.settings, &signed_in.session_token);
    remember_client(&mut response, call, signed_in);
    response
}
