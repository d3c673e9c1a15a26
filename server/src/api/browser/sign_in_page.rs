//! The sign-in page: a password, a code where the account has a second factor, a session in a cookie.

use account_core::{Code, Email, Error, Login, MfaToken, Password, SealedForm, SignedIn};
use askama::Template;
use poem::{Request, Response, http::StatusCode};
use serde_json::{Map, Value, json};

use super::{
    client_cookie::remember_client,
    page,
    sealed_form::{self, Browser},
    session,
};
use crate::http::{Anonymous, RequestContext, form::Form};

/// Path to which the sign-in page links for the sign-in by the identity provider.
pub(crate) const PROVIDER_PATH: &str = "/oauth/sign-in/provider";
/// The name of the first step in its sealed form.
pub(crate) const FIRST_STEP: &str = "sign_in";

/// Minutes for which a code is valid.
const CODE_MINUTES: i64 = account_core::code::VALIDITY.num_minutes();
const WRONG: &str = "The e-mail address or the password is wrong.";
/// The text of a page whose code is refused.
pub(crate) const WRONG_CODE: &str = "The code is wrong or has expired.";

#[derive(Template)]
#[template(path = "pages/sign_in.html")]
struct SignInPage<'a> {
    client: Option<&'a str>,
    fault: Option<&'a str>,
    email: &'a str,
    form: String,
    /// The link to the identity provider, where there is one.
    provider: Option<String>,
}

#[derive(Template)]
#[template(path = "pages/second_step.html")]
struct SecondStepPage<'a> {
    fault: Option<&'a str>,
    email: &'a str,
    form: String,
    /// The minutes for which the code is valid.
    minutes: i64,
}

/// Shows the sign-in form; after the sign-in the browser goes to `then`, a path of this service.
pub(crate) fn form(
    call: &RequestContext,
    browser: &Browser,
    then: &str,
    client: Option<&str>,
) -> Response {
    let fields = json!({ "step": FIRST_STEP, "then": then, "client": client });
    ask(call, browser, &sealed_form::object(fields), "", StatusCode::OK, None)
}

/// An application's request that is refused as soon as its user has signed in.
pub(crate) struct RefusedRequest<'a> {
    /// The name of the application.
    pub(crate) client: &'a str,
    /// The text for its user.
    pub(crate) fault: &'a str,
    /// The origin of the answer. A browser checks the target of a form at each redirect.
    pub(crate) leads_to: &'a str,
}

/// Shows the sign-in form before an application is told that its request is refused.
pub(crate) fn refused(
    call: &RequestContext,
    browser: &Browser,
    then: &str,
    request: &RefusedRequest<'_>,
) -> Response {
    let RefusedRequest { client, fault, leads_to } = request;
    let fields =
        json!({ "step": FIRST_STEP, "then": then, "client": client, "leads_to": leads_to });
    ask(call, browser, &sealed_form::object(fields), "", StatusCode::BAD_REQUEST, Some(fault))
}

/// Returns the origin that a form of the sign-in may lead to beside this service.
fn leads_to(sealed: &Map<String, Value>) -> &str {
    sealed.get("leads_to").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the address that leads to the provider, where there is one; the address contains the
/// page's form.
///
/// The page has a link and not a form, because a browser checks the target of a form at each
/// redirect, and a provider may redirect to any host.
fn provider_link(call: &RequestContext, form: &str) -> Option<String> {
    let form = SealedForm::parse(form)?;
    let public_url = call.state.idp.as_ref()?.public_url();
    Some(format!("{public_url}{PROVIDER_PATH}?form={}", form.as_str()))
}

/// Shows the sign-in form, with the reason of a failed attempt where there is one.
pub(crate) fn ask(
    call: &RequestContext,
    browser: &Browser,
    sealed: &Map<String, Value>,
    email: &str,
    status: StatusCode,
    fault: Option<&str>,
) -> Response {
    let client = sealed["client"].as_str();
    let form = browser.seal(call, sealed.clone());
    let provider = provider_link(call, &form);
    page::render(status, &SignInPage { client, fault, email, form, provider }, leads_to(sealed))
}

/// Takes the form of either step.
pub(crate) async fn sign_in(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Ok(form) = Form::of_body(&mut request).await else { return page::expired() };
    let browser = Browser::of(&request, &call.state.settings);
    let Some(sealed) = browser.open(call, form.field("form")) else { return page::expired() };
    let signed_in = match sealed["step"].as_str() {
        Some(FIRST_STEP) => {
            let (email, password) = (form.field("email"), form.field("password"));
            first_step(&anonymous, &browser, &sealed, email, password).await
        }
        Some("code") => second_step(&anonymous, &browser, &sealed, form.field("code")).await,
        _ => return page::expired(),
    };
    match signed_in {
        Ok(signed_in) => welcome(&request, call, &sealed, &signed_in).await,
        Err(response) => response,
    }
}

/// Checks the password. The response is the next page of a sign-in that is not complete.
async fn first_step(
    anonymous: &Anonymous,
    browser: &Browser,
    sealed: &Map<String, Value>,
    address: &str,
    password: &str,
) -> Result<SignedIn, Response> {
    let call = anonymous.context();
    let again = |status, fault| ask(call, browser, sealed, address, status, Some(fault));
    let Ok(email) = Email::parse(address.trim()) else {
        return Err(again(StatusCode::FORBIDDEN, WRONG));
    };
    let password = Password::attempt(password);
    let login = call.state.accounts.login(&email, &password, &anonymous.client(), call.at).await;
    Err(match login {
        Ok(Login::SignedIn(signed_in)) => return Ok(signed_in),
        Ok(Login::MfaRequired { mfa_token }) => {
            let fields = json!({
                "step": "code", "then": sealed["then"], "email": email.as_str(),
                "mfa_token": mfa_token.expose(), "leads_to": leads_to(sealed),
            });
            let form = browser.seal(call, sealed_form::object(fields));
            let page =
                SecondStepPage { fault: None, email: email.as_str(), form, minutes: CODE_MINUTES };
            page::render(StatusCode::OK, &page, leads_to(sealed))
        }
        Err(Error::WrongCredentials) => again(StatusCode::FORBIDDEN, WRONG),
        Err(Error::Locked { .. }) => {
            let minutes = account_core::lockout::LOCK.num_minutes();
            let fault = format!(
                "Too many wrong passwords. Try again in {minutes} minutes, or choose a new password."
            );
            again(StatusCode::LOCKED, &fault)
        }
        Err(Error::Unverified) => again(
            StatusCode::FORBIDDEN,
            "This e-mail address is not confirmed yet. Enter the code of the e-mail first.",
        ),
        Err(Error::Suspended) => again(
            StatusCode::FORBIDDEN,
            "This account is suspended. Ask the operator of the service.",
        ),
        Err(error) => page::failed(call, &error),
    })
}

/// Checks the code of the second factor, as [`first_step`] checks the password.
async fn second_step(
    anonymous: &Anonymous,
    browser: &Browser,
    sealed: &Map<String, Value>,
    code: &str,
) -> Result<SignedIn, Response> {
    let call = anonymous.context();
    let address = sealed["email"].as_str().unwrap_or_default();
    let again = || {
        let form = browser.seal(call, sealed.clone());
        let page =
            SecondStepPage { fault: Some(WRONG_CODE), email: address, form, minutes: CODE_MINUTES };
        page::render(StatusCode::BAD_REQUEST, &page, leads_to(sealed))
    };
    let token = sealed["mfa_token"].as_str().and_then(MfaToken::parse);
    let Ok(email) = Email::parse(address) else { return Err(page::expired()) };
    let Ok(code) = Code::parse(code.trim()) else { return Err(again()) };
    let (accounts, client) = (&call.state.accounts, anonymous.client());
    let signed_in = accounts.complete_login(&email, &code, token.as_ref(), &client, call.at).await;
    signed_in.map_err(|error| match error {
        Error::WrongCode => again(),
        error => page::failed(call, &error),
    })
}

/// Begins the session, and continues with the path that the form names.
pub(crate) async fn welcome(
    request: &Request,
    call: &RequestContext,
    sealed: &Map<String, Value>,
    signed_in: &SignedIn,
) -> Response {
    let mut response = page::see_other(sealed["then"].as_str().unwrap_or("/"));
    let begun = session::begin(request, call, &mut response, &signed_in.session_token).await;
    if let Err(error) = begun {
        return page::failed(call, &error);
    }
    remember_client(&mut response, call, signed_in);
    response
}
