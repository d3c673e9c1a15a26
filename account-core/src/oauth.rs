//! The rules of the OAuth 2.1 server: who asks, where answers go, what tokens are worth.
//!
//! | module | what it rules |
//! |---|---|
//! | [`uri`] | redirect URIs and resources, taken apart and compared |
//! | [`client`] | clients that register themselves |
//! | [`pkce`] | that who exchanges a code is who asked for it |
//! | [`token`] | codes, access tokens and refresh tokens, and how long they live |
//! | [`grant`] | what an owner allowed a client, and what ends it |
//!
//! All clients are public: none has a secret. The one scope is [`SCOPE`].

use crate::StoreError;

pub mod client;
pub mod grant;
pub mod pkce;
pub mod token;
pub mod uri;

pub use client::{ClientId, ClientMetadata, ClientName, RegisteredClient};
pub use grant::{Authorization, Bearer, Exchange, Grant, GrantId, Refresh, Tokens};
pub use pkce::{CodeChallenge, CodeVerifier};
pub use token::{AccessToken, AuthorizationCode, RefreshToken};
pub use uri::{RedirectUri, is_same_resource};

/// The one scope: to call tools over MCP.
pub const SCOPE: &str = "mcp";

/// Why a call of the OAuth server was refused. The text tells a client's author what is wrong; no
/// secret and nothing that the caller sent is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OauthError {
    /// A parameter is missing, given twice or malformed.
    #[error("{0}")]
    InvalidRequest(&'static str),
    /// The client is unknown, or tried to prove itself with a secret.
    #[error("{0}")]
    InvalidClient(&'static str),
    /// A code or token that is wrong, used, expired, revoked or another client's.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// A scope that is not there to be had.
    #[error("{0}")]
    InvalidScope(&'static str),
    /// A resource that this server gives no tokens for.
    #[error("{0}")]
    InvalidTarget(&'static str),
    /// A redirect URI that no client may register.
    #[error("{0}")]
    InvalidRedirectUri(&'static str),
    /// Something else in a registration that does not fit.
    #[error("{0}")]
    InvalidClientMetadata(&'static str),
    /// A grant type that is not there to be had.
    #[error("{0}")]
    UnsupportedGrantType(&'static str),
    /// A response type that is not there to be had.
    #[error("{0}")]
    UnsupportedResponseType(&'static str),
    /// The owner said no.
    #[error("{0}")]
    AccessDenied(&'static str),
    /// The storage failed; nothing is known about the call beyond that.
    #[error("storage failed")]
    Store(#[from] StoreError),
}

/// The answer of a call of the OAuth server.
pub type OauthResult<T> = Result<T, OauthError>;

impl OauthError {
    /// The name on the wire, as in RFC 6749, 7591 and 8707.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidClient(_) => "invalid_client",
            Self::InvalidGrant(_) => "invalid_grant",
            Self::InvalidScope(_) => "invalid_scope",
            Self::InvalidTarget(_) => "invalid_target",
            Self::InvalidRedirectUri(_) => "invalid_redirect_uri",
            Self::InvalidClientMetadata(_) => "invalid_client_metadata",
            Self::UnsupportedGrantType(_) => "unsupported_grant_type",
            Self::UnsupportedResponseType(_) => "unsupported_response_type",
            Self::AccessDenied(_) => "access_denied",
            Self::Store(_) => "server_error",
        }
    }
}

/// Reads a list of scopes, separated by spaces: what is granted is [`SCOPE`], where it is asked
/// for among others or nothing is asked for.
///
/// # Errors
///
/// [`OauthError::InvalidScope`] where other scopes alone are asked for.
pub fn check_scope(asked: Option<&str>) -> Result<(), OauthError> {
    let mut asked = asked.unwrap_or(SCOPE).split(' ').filter(|scope| !scope.is_empty()).peekable();
    if asked.peek().is_none() || asked.any(|scope| scope == SCOPE) {
        Ok(())
    } else {
        Err(OauthError::InvalidScope("the only scope is `mcp`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scope_is_granted_where_it_is_asked_for_or_nothing_is() {
        for asked in [None, Some(""), Some("mcp"), Some("openid mcp"), Some("mcp offline_access")] {
            assert!(check_scope(asked).is_ok(), "{asked:?}");
        }
        for asked in [Some("openid"), Some("MCP"), Some("mcp:read")] {
            assert_eq!(check_scope(asked).unwrap_err().code(), "invalid_scope", "{asked:?}");
        }
    }
}
