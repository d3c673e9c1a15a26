//! Sign-in on a page: a password, a code where the account asks for one, a session in a cookie.

use account_core::{Code, Email, Error, Login, MfaToken, Password, SignedIn};
use askama::Template;
use poem::{
    Request, Response,
    http::{StatusCode, header},
};
use serde_json::{Map, Value, json};

use crate::{
    account::remember_client,
    http::{Call, Refusal, Visitor, form::Form},
    pages::{self, Browser},
};

const WRONG: &str = "The e-mail address or the password is wrong.";
const WRONG_CODE: &str = "The code is wrong or has expired.";

#[derive(Template)]
#[template(path = "pages/sign_in.html")]
struct SignIn<'a> {
    client: Option<&'a str>,
    fault: Option<&'a str>,
    email: &'a str,
    form: String,
}

#[derive(Template)]
#[template(path = "pages/second_step.html")]
struct SecondStep<'a> {
    fault: Option<&'a str>,
    email: &'a str,
    form: String,
}

/// Asks who it is; afterwards the browser goes to `then`, a path of this service.
pub(super) fn form(call: &Call, browser: &Browser, then: &str, client: Option<&str>) -> Response {
    let fields = json!({ "step": "password", "then": then, "client": client });
    let form = browser.seal(call, object(fields));
    pages::page(StatusCode::OK, &SignIn { client, fault: None, email: "", form }, "")
}

/// Takes either step.
pub(super) async fn sign_in(mut request: Request) -> Response {
    let visitor = match Visitor::admitted(&request) {
        Ok(visitor) => visitor,
        Err(refusal) => return turned_away(&refusal),
    };
    let call = visitor.call();
    let Ok(form) = Form::of_body(&mut request).await else { return pages::expired() };
    let browser = Browser::of(&request, &call.service.settings);
    let field = |name| form.get(name).ok().flatten().unwrap_or_default();
    let Some(sealed) = browser.open(call, field("form")) else { return pages::expired() };
    match sealed["step"].as_str() {
        Some("password") => {
            first_step(&visitor, &browser, &sealed, field("email"), field("password")).await
        }
        Some("code") => second_step(&visitor, &browser, &sealed, field("code")).await,
        _ => pages::expired(),
    }
}

async fn first_step(
    visitor: &Visitor,
    browser: &Browser,
    sealed: &Map<String, Value>,
    address: &str,
    password: &str,
) -> Response {
    let call = visitor.call();
    let again = |status, fault| {
        let client = sealed["client"].as_str();
        let form = browser.seal(call, sealed.clone());
        pages::page(status, &SignIn { client, fault: Some(fault), email: address, form }, "")
    };
    let Ok(email) = Email::parse(address.trim()) else {
        return again(StatusCode::FORBIDDEN, WRONG);
    };
    let password = Password::attempt(password);
    let login = call.service.accounts.login(&email, &password, &visitor.client(), call.at).await;
    match login {
        Ok(Login::SignedIn(signed_in)) => welcome(call, sealed, &signed_in),
        Ok(Login::MfaRequired { mfa_token }) => {
            let fields = json!({
                "step": "code", "then": sealed["then"], "email": email.as_str(),
                "mfa_token": mfa_token.expose(),
            });
            let form = browser.seal(call, object(fields));
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
        Err(error) => failed(call, &error),
    }
}

async fn second_step(
    visitor: &Visitor,
    browser: &Browser,
    sealed: &Map<String, Value>,
    code: &str,
) -> Response {
    let call = visitor.call();
    let address = sealed["email"].as_str().unwrap_or_default();
    let again = || {
        let form = browser.seal(call, sealed.clone());
        let page = SecondStep { fault: Some(WRONG_CODE), email: address, form };
        pages::page(StatusCode::BAD_REQUEST, &page, "")
    };
    let token = sealed["mfa_token"].as_str().and_then(MfaToken::parse);
    let Ok(email) = Email::parse(address) else { return pages::expired() };
    let Ok(code) = Code::parse(code.trim()) else { return again() };
    let (accounts, client) = (&call.service.accounts, visitor.client());
    match accounts.complete_login(&email, &code, token.as_ref(), &client, call.at).await {
        Ok(signed_in) => welcome(call, sealed, &signed_in),
        Err(Error::WrongCode) => again(),
        Err(error) => failed(call, &error),
    }
}

fn welcome(call: &Call, sealed: &Map<String, Value>, signed_in: &SignedIn) -> Response {
    let mut response = pages::see_other(sealed["then"].as_str().unwrap_or("/"));
    pages::begin_session(&mut response, &call.service.settings, &signed_in.session_token);
    remember_client(&mut response, call, signed_in);
    response
}

/// Tells a browser that came too often.
pub(super) fn turned_away(refusal: &Refusal) -> Response {
    let text = "Too many calls came from your address. Try again in a minute.";
    let mut response = pages::message(StatusCode::TOO_MANY_REQUESTS, "Please wait", text);
    if let Refusal::RateLimit { retry_after, .. } = refusal {
        response.headers_mut().insert(header::RETRY_AFTER, (retry_after.as_secs() + 1).into());
    }
    response
}

/// Tells a browser that it is not its fault.
pub(super) fn failed(call: &Call, error: &Error) -> Response {
    let text = "The service cannot answer now. Nothing was changed. Try again in a moment.";
    let mut response = pages::message(StatusCode::SERVICE_UNAVAILABLE, "Please try again", text);
    let wait = match error {
        Error::Busy { retry_after } => retry_after.as_secs().max(1),
        error => {
            tracing::error!(request_id = %call.id, %error, "a page failed");
            1
        }
    };
    response.headers_mut().insert(header::RETRY_AFTER, wait.into());
    response
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
