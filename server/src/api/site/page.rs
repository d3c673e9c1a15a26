//! The headers and the address that the pages share.

use poem::Request;

use crate::http::RequestContext;

/// The content security policy of a page: scripts and styles of this service alone, and calls to it.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The media type of a page.
pub(super) const HTML: &str = "text/html; charset=utf-8";

/// The address that the samples call where the operator names no public one.
const LOCAL_URL: &str = "http://127.0.0.1:8080";

/// Returns the address of the service that samples call.
pub(super) fn base_url(request: &Request) -> String {
    let public = RequestContext::of(request).state.settings.public_url.clone();
    public.unwrap_or_else(|| LOCAL_URL.to_owned())
}
