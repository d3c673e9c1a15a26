//! The session of a browser, which a cookie carries between pages.

use std::time::Duration;

use account_core::{AccountId, Error, HandOffCode, SessionToken, SignedIn};
use poem::{Request, Response};

use crate::{
    http::{Anonymous, RequestContext, cookie, cookies},
    state::Settings,
};

/// Sets the cookie with the session.
pub(crate) fn begin(response: &mut Response, settings: &Settings, token: &SessionToken) {
    let is_https = settings.browsers_use_https();
    let name = cookies::name(cookies::SESSION, is_https);
    cookies::append(response, &cookies::write(&name, token.expose(), None, is_https));
}

/// Removes the cookie with the session.
pub(crate) fn end(response: &mut Response, settings: &Settings) {
    let is_https = settings.browsers_use_https();
    let name = cookies::name(cookies::SESSION, is_https);
    cookies::append(response, &cookies::write(&name, "", Some(Duration::ZERO), is_https));
}

/// Returns the session of the requesting browser, with its account.
pub(crate) async fn signed_in(
    request: &Request,
    call: &RequestContext,
) -> Result<Option<(SessionToken, AccountId)>, Error> {
    let is_https = call.state.settings.browsers_use_https();
    let name = cookies::name(cookies::SESSION, is_https);
    let Some(token) = cookie(request, &name).and_then(SessionToken::parse) else {
        return Ok(None);
    };
    let account = call.state.accounts.browser(&token, call.at).await?;
    Ok(account.map(|account| (token, account)))
}

/// Signs a browser in by a hand-off code.
pub(crate) async fn redeem(anonymous: &Anonymous, code: &str) -> Result<SignedIn, Error> {
    let call = anonymous.context();
    let code = HandOffCode::parse(code).ok_or(Error::WrongCode)?;
    call.state.accounts.redeem_hand_off(&code, &anonymous.client(), call.at).await
}
