//! The sign-in by the identity provider, started on the sign-in page.
//!
//! The provider returns the browser to the service's public address, which redirects it to the MCP
//! endpoint's host with a hand-off code, because the two hosts may differ. The sealed form of the
//! sign-in page goes along, so that the code can sign in no other browser.

use account_core::{Destination, Error, SealedForm};
use poem::{IntoResponse, Request, Response, http::StatusCode};

use crate::{
    api::browser::{
        oidc_flow::{LoginError, send_away},
        page,
        sealed_form::Browser,
        session, sign_in_page,
    },
    http::{Anonymous, form::Form},
};

/// Sends the browser to the provider.
pub(super) async fn leave(anonymous: Anonymous, request: Request) -> Response {
    let call = anonymous.context();
    let query = Form::of_query(request.uri().query().unwrap_or_default());
    match (&call.state.idp, SealedForm::parse(query.field("form"))) {
        (Some(provider), Some(form)) => {
            send_away(call, provider, Destination::Page(form)).await.into_response()
        }
        _ => page::expired(),
    }
}

/// Signs in the browser that the page was shown to, and continues its authorization request.
pub(super) async fn come_back(anonymous: Anonymous, request: Request) -> Response {
    let call = anonymous.context();
    let query = Form::of_query(request.uri().query().unwrap_or_default());
    let browser = Browser::of(&request, &call.state.settings);
    let sealed = browser.open(call, query.field("form"));
    let Some(sealed) = sealed.filter(|sealed| sealed["step"] == sign_in_page::FIRST_STEP) else {
        return page::expired();
    };
    let again = |status, error: LoginError| {
        sign_in_page::ask(call, &browser, &sealed, "", status, Some(error.text()))
    };
    match session::redeem(&anonymous, query.field("code")).await {
        Ok(signed_in) => sign_in_page::welcome(&request, call, &sealed, &signed_in).await,
        Err(Error::WrongCode | Error::Unauthorised) => {
            again(StatusCode::BAD_REQUEST, LoginError::Code)
        }
        Err(Error::Suspended) => again(StatusCode::FORBIDDEN, LoginError::Suspended),
        Err(error) => page::failed(call, &error),
    }
}
