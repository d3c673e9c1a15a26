//! `/login`, where no website has it: what went wrong, the way to the identity provider, and the
//! last step of the way back.

use account_core::{Error, HandOffCode, SignedIn};
use askama::Template;
use poem::{Request, Response, http::StatusCode};
use serde_json::json;

use super::{Browser, object, page, redeem, returned};
use crate::api::account::external_sign_in::LoginError;
use crate::http::{Anonymous, RequestContext, form::Form};

#[derive(Template)]
#[template(path = "pages/login.html")]
struct Login<'a> {
    fault: Option<&'a str>,
    /// What hands a sign-in over, where one is almost done.
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

/// Says what went wrong in words of this service alone, whatever the address says.
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
    let form = browser.seal(call, object(json!({ "step": "hand_off", "code": code.expose() })));
    let fault = error.map(LoginError::text);
    let shown = Login { fault, form: Some(form), has_provider: call.state.idp.is_some() };
    let mut response = page(StatusCode::OK, &shown, "");
    browser.remember(&mut response, &call.state.settings);
    response
}

/// Takes the last step.
pub(super) async fn sign_in(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((_, sealed)) = returned(&mut request, call, "hand_off").await else {
        return super::expired();
    };
    match redeem(&anonymous, sealed["code"].as_str().unwrap_or_default()).await {
        Ok(signed_in) => show_key(call, "You are signed in", &signed_in, None).await,
        Err(error) => failed(call, &error),
    }
}

/// Shows who is in now, and the key.
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
    page(StatusCode::OK, &shown, "")
}

/// Answers a sign-in that came to nothing.
pub(super) fn failed(call: &RequestContext, error: &Error) -> Response {
    match error {
        Error::WrongCode => refused(call, StatusCode::BAD_REQUEST, Some(LoginError::Code)),
        Error::Suspended => refused(call, StatusCode::FORBIDDEN, Some(LoginError::Suspended)),
        error => super::failed(call, error),
    }
}

fn refused(call: &RequestContext, status: StatusCode, error: Option<LoginError>) -> Response {
    let fault = error.map(LoginError::text);
    page(status, &Login { fault, form: None, has_provider: call.state.idp.is_some() }, "")
}
