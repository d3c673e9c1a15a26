//! The page `/login`, where the operator has no website: errors of a sign-in, the link to the
//! identity provider, and the last step of the return.

use account_core::{Error, HandOffCode, SignedIn};
use askama::Template;
use poem::{Request, Response, http::StatusCode};
use serde_json::json;

use crate::api::browser::{
    oidc_flow::LoginError,
    page,
    sealed_form::{self, Browser},
    session,
};
use crate::http::{Anonymous, RequestContext, form::Form};

#[derive(Template)]
#[template(path = "pages/login.html")]
struct Login<'a> {
    fault: Option<&'a str>,
    /// The sealed form with a hand-off code, where only the last step of the sign-in is left.
    form: Option<String>,
    has_provider: bool,
}

#[derive(Template)]
#[template(path = "pages/signed_in.html")]
struct InPage<'a> {
    heading: &'a str,
    username: &'a str,
    email: &'a str,
    api_key: &'a str,
    program: Option<&'a str>,
}

/// Shows the page. The error text is one of this service, never the text of the address.
pub(super) async fn show(anonymous: Anonymous, request: Request) -> Response {
    let call = anonymous.context();
    let query = Form::of_query(request.uri().query().unwrap_or_default());
    let told = query.field("error");
    let error = LoginError::ALL.into_iter().find(|error| error.text() == told);
    let error = error.or((!told.is_empty()).then_some(LoginError::Unverified));
    let Some(code) = HandOffCode::parse(query.field("code")) else {
        return refused(call, StatusCode::OK, error);
    };
    let browser = Browser::of(&request, &call.state.settings);
    let form = browser
        .seal(call, sealed_form::object(json!({ "step": "hand_off", "code": code.expose() })));
    let fault = error.map(LoginError::text);
    let shown = Login { fault, form: Some(form), has_provider: call.state.idp.is_some() };
    let mut response = page::render(StatusCode::OK, &shown, "");
    browser.remember(&mut response, &call.state.settings);
    response
}

/// Takes the last step of a sign-in.
pub(super) async fn sign_in(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((_, sealed)) = sealed_form::returned(&mut request, call, "hand_off").await else {
        return page::expired();
    };
    match session::redeem(&anonymous, sealed["code"].as_str().unwrap_or_default()).await {
        Ok(signed_in) => show_key(call, "You are signed in", &signed_in, None).await,
        Err(error) => failed(call, &error),
    }
}

/// Shows the account that is signed in, and its API key.
pub(super) async fn show_key(
    call: &RequestContext,
    heading: &str,
    signed_in: &SignedIn,
    program: Option<&str>,
) -> Response {
    let profile = match call.state.accounts.profile(signed_in.account).await {
        Ok(profile) => profile,
        Err(error) => return failed(call, &error),
    };
    let shown = InPage {
        heading,
        username: profile.username.as_str(),
        email: profile.email.as_str(),
        api_key: signed_in.api_key.expose(),
        program,
    };
    page::render(StatusCode::OK, &shown, "")
}

/// Answers a sign-in that failed with a page that states the reason.
pub(super) fn failed(call: &RequestContext, error: &Error) -> Response {
    match error {
        Error::WrongCode => refused(call, StatusCode::BAD_REQUEST, Some(LoginError::Code)),
        Error::Suspended => refused(call, StatusCode::FORBIDDEN, Some(LoginError::Suspended)),
        error => page::failed(call, error),
    }
}

fn refused(call: &RequestContext, status: StatusCode, error: Option<LoginError>) -> Response {
    let fault = error.map(LoginError::text);
    page::render(status, &Login { fault, form: None, has_provider: call.state.idp.is_some() }, "")
}
