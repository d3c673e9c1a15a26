//! The cookie that marks a client which has signed in before.
//!
//! A lockout of an account leaves marked clients their own attempts, so that attempts from other
//! clients cannot lock them out.

use std::time::Duration;

use account_core::SignedIn;
use poem::Response;

use crate::http::{Answer, RequestContext, cookies};

/// Time for which a browser keeps the cookie, as long as the service knows the client.
const MAX_AGE: Duration =
    Duration::from_secs(account_core::client::KNOWN_FOR.num_seconds().cast_unsigned());

/// Marks the client of a sign-in over REST.
pub(crate) fn with_client_cookie<T>(
    answer: Answer<T>,
    call: &RequestContext,
    signed_in: &SignedIn,
) -> Answer<T> {
    answer.with_cookie(client_cookie(call, signed_in))
}

/// Adds the cookie by which the account will know the client that signed in on a page.
pub(crate) fn remember_client(
    response: &mut Response,
    call: &RequestContext,
    signed_in: &SignedIn,
) {
    cookies::append(response, &client_cookie(call, signed_in));
}

fn client_cookie(call: &RequestContext, signed_in: &SignedIn) -> String {
    let (token, is_https) = (signed_in.client_token.expose(), call.state.settings.is_https);
    cookies::write(&cookies::name(cookies::CLIENT, is_https), token, Some(MAX_AGE), is_https)
}
