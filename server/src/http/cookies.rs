//! The names of the cookies that a request may carry.

use poem::Request;

/// The cookie that marks a client which has signed in before.
pub(crate) const CLIENT_COOKIE: &str = "qs_client";
/// The cookie that binds a sign-in by the identity provider to a browser, over plain HTTP.
pub(crate) const IDP_COOKIE: &str = "qs_idp";
/// The same cookie over HTTPS, where the prefix stops other hosts from setting it.
pub(crate) const IDP_HOST_COOKIE: &str = "__Host-qs_idp";

/// The value of a cookie of the request.
pub(crate) fn cookie<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let cookies = request.header("cookie")?.split(';');
    let mut pairs = cookies.filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}
