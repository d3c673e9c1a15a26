//! Cookies: their names, and the value of the `Set-Cookie` header that sets one.

use std::time::Duration;

use poem::{
    Request, Response,
    http::{HeaderValue, header},
    web::cookie::{Cookie, SameSite},
};

/// The cookie that marks a client which has signed in before, without its prefix.
pub(crate) const CLIENT: &str = "qs_client";
/// The cookie with the session of a browser, without its prefix.
pub(crate) const SESSION: &str = "qs_session";
/// The cookie with the secret that a browser's forms are sealed with, without its prefix.
pub(crate) const FORM: &str = "qs_form";
/// The cookie that ties a sign-in by the identity provider to its browser, without its prefix.
pub(crate) const IDP: &str = "qs_idp";

/// Returns the value of a cookie of the request; `None` where the request has no such cookie.
///
/// Over HTTP/2 a client may send each cookie in a header of its own (RFC 9113, section 8.2.3). A cookie of
/// another program that is no text hides no other one.
pub(crate) fn cookie<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let lines = request.headers().get_all(header::COOKIE).into_iter().map(HeaderValue::as_bytes);
    let cookies = lines.flat_map(|line| line.split(|byte| *byte == b';'));
    let texts = cookies.filter_map(|cookie| std::str::from_utf8(cookie).ok());
    let mut pairs = texts.filter_map(|text| text.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// Returns the name of a cookie. Over HTTPS the prefix `__Host-` keeps other hosts from setting it.
pub(crate) fn name(name: &str, is_https: bool) -> String {
    let prefix = if is_https { "__Host-" } else { "" };
    format!("{prefix}{name}")
}

/// Writes a cookie for the whole site that scripts cannot read. Without `max_age` the browser drops
/// the cookie when it closes; a `max_age` of zero removes the cookie.
pub(crate) fn write(name: &str, value: &str, max_age: Option<Duration>, is_https: bool) -> String {
    let mut cookie = Cookie::new_with_str(name, value);
    cookie.set_path("/");
    cookie.set_http_only(true);
    cookie.set_same_site(SameSite::Lax);
    cookie.set_secure(is_https);
    if let Some(max_age) = max_age {
        cookie.set_max_age(max_age);
    }
    cookie.to_string()
}

/// Adds a written cookie to a response.
pub(crate) fn append(response: &mut Response, cookie: &str) {
    let cookie = HeaderValue::try_from(cookie).expect("base64url makes a header");
    response.headers_mut().append(header::SET_COOKIE, cookie);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_in_each_line_and_beside_any_other_cookie() {
        for (lines, expected) in [
            (&[&b"a=b; qs_form=c"[..]][..], Some("c")),
            (&[b"a=b", b"qs_form=c"], Some("c")),
            (&[b"a=\xff; qs_form=c"], Some("c")),
            (&[b"qs_form=c; qs_form=d"], Some("c")),
            (&[b"a=qs_form"], None),
            (&[], None),
        ] {
            let mut request = Request::default();
            for line in lines {
                let line = HeaderValue::from_bytes(line).expect("a header");
                request.headers_mut().append(header::COOKIE, line);
            }
            assert_eq!(cookie(&request, FORM), expected, "{lines:?}");
        }
    }
}
