//! The session of a browser, which a cookie carries between pages.

use std::time::Duration;

use account_core::{AccountId, Error, HandOffCode, SessionToken, SignedIn};
use poem::{Request, Response, http::HeaderValue};

use crate::{
    http::{Anonymous, RequestContext, cookie, cookies},
    state::Settings,
};

/// Sets the cookie with a new session, and ends the former session of the requesting browser.
///
/// # Errors
///
/// [`Error::Store`]; no cookie is set then.
pub(crate) async fn begin(
    request: &Request,
    call: &RequestContext,
    response: &mut Response,
    token: &SessionToken,
) -> Result<(), Error> {
    if let Some((former, account)) = signed_in(request, call).await? {
        call.state.accounts.logout(&former, account).await?;
    }
    let is_https = call.state.settings.browsers_use_https();
    let name = cookies::name(cookies::SESSION, is_https);
    cookies::append(response, &cookies::write(&name, token.expose(), None, is_https));
    Ok(())
}

/// Removes the cookie with the session, and the key of the playground, which its script keeps in the
/// storage of each tab. Browsers follow the header `Clear-Site-Data` over HTTPS and on the loopback.
pub(crate) fn end(response: &mut Response, settings: &Settings) {
    let is_https = settings.browsers_use_https();
    let name = cookies::name(cookies::SESSION, is_https);
    cookies::append(response, &cookies::write(&name, "", Some(Duration::ZERO), is_https));
    let storage = HeaderValue::from_static("\"storage\"");
    response.headers_mut().insert("clear-site-data", storage);
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
