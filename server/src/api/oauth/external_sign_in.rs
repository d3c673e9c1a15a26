//! Sign-in on a page by the identity provider: away from the page, and back to it.
//!
//! The browser sets out from the service's public address, where the provider sends it back to, and
//! comes to the MCP endpoint's host with a hand-off code; the two may be different hosts. What the
//! page sealed for it goes along, so that no other browser can be signed in by the code.

use account_core::{Destination, Error, SealedForm};
use poem::{IntoResponse, Request, Response, http::StatusCode};

use super::sign_in;
use crate::{
    api::{
        account::external_sign_in::{LoginError, send_away},
        pages::{self, Browser},
    },
    http::{Anonymous, RequestContext, form::Form},
};

/// The address of the way to the provider, where there is one; it takes the page's form along.
///
/// It is a link, since a browser checks where a form leads at each redirect, and a provider may
/// send it to any host.
pub(super) fn link(call: &RequestContext, form: &str) -> Option<String> {
    let form = SealedForm::parse(form)?;
    let public_url = call.state.idp.as_ref()?.public_url();
    Some(format!("{public_url}{}?form={}", super::PROVIDER, form.as_str()))
}

/// Sends the browser to the provider.
pub(super) async fn leave(anonymous: Anonymous, request: Request) -> Response {
    let call = anonymous.context();
    let query = Form::of_query(request.uri().query().unwrap_or_default());
    match (&call.state.idp, SealedForm::parse(query.field("form"))) {
        (Some(provider), Some(form)) => {
            send_away(call, provider, Destination::Page(form)).await.into_response()
        }
        _ => pages::expired(),
    }
}

/// Signs in the browser that the page was shown to, and goes on from where it asked.
pub(super) async fn come_back(anonymous: Anonymous, request: Request) -> Response {
    let call = anonymous.context();
    let query = Form::of_query(request.uri().query().unwrap_or_default());
    let browser = Browser::of(&request, &call.state.settings);
    let sealed = browser.open(call, query.field("form"));
    let Some(sealed) = sealed.filter(|sealed| sealed["step"] == sign_in::FIRST_STEP) else {
        return pages::expired();
    };
    let again = |status, error: LoginError| {
        sign_in::ask(call, &browser, &sealed, "", status, Some(error.text()))
    };
    match pages::redeem(&anonymous, query.field("code")).await {
        Ok(signed_in) => sign_in::welcome(call, &sealed, &signed_in),
        Err(Error::WrongCode) => again(StatusCode::BAD_REQUEST, LoginError::Code),
        Err(Error::Suspended) => again(StatusCode::FORBIDDEN, LoginError::Suspended),
        Err(error) => pages::failed(call, &error),
    }
}
