//! The OAuth 2.1 server: clients get tokens for the MCP endpoint, and nothing else.
//!
//! Every address in what it says comes from the configuration, never from a request's `Host`.

use poem::http::HeaderValue;

use crate::service::ServiceSettings;

/// Where the metadata of the MCP endpoint is, below the host's address.
pub(crate) const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

/// The `WWW-Authenticate` of a 401: where a client learns how to get a token. What is wrong with
/// one is told only to who sent one.
///
/// # Panics
///
/// Where the address was not checked, as the configuration's is.
#[must_use]
pub fn challenge(settings: &ServiceSettings, token_was_sent: bool) -> HeaderValue {
    let error = if token_was_sent { r#", error="invalid_token""# } else { "" };
    let scope = account_core::oauth::SCOPE;
    let url = &settings.mcp_url;
    let challenge =
        format!(r#"Bearer resource_metadata="{url}{RESOURCE_METADATA}", scope="{scope}"{error}"#);
    challenge.parse().expect("a checked address makes a header")
}
