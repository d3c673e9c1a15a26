//! The rules of the OAuth 2.1 server: clients, redirects, codes, tokens and grants.
//!
//! | module | subject |
//! |---|---|
//! | [`uri`] | redirect URIs and resources: parsing and comparison |
//! | [`client`] | dynamic client registration |
//! | [`document`], [`document_url`] | clients that a metadata document describes, and their ids |
//! | [`pkce`] | the proof that the exchange of a code comes from the client that requested the code |
//! | [`token`] | codes, access tokens and refresh tokens, with their validity |
//! | [`grant`] | the access of a client to an account, and the events that end the access |
//!
//! All clients are public clients without a secret. The only scope is [`SCOPE`].

use crate::StoreError;

pub mod client;
pub mod document;
pub mod document_url;
pub mod grant;
pub mod pkce;
pub mod token;
pub mod uri;

pub use client::{ClientId, ClientMetadata, ClientName, RegisteredClient};
pub use document::ClientDocument;
pub use document_url::DocumentUrl;
pub use grant::{Authorization, Bearer, Exchange, Grant, GrantId, Refresh, Tokens};
pub use pkce::{CodeChallenge, CodeVerifier};
pub use token::{AccessToken, AuthorizationCode, RefreshToken};
pub use uri::{RedirectUri, is_same_resource};

/// The only scope, which allows a client to call tools over MCP.
pub const SCOPE: &str = "mcp";

/// The reason why a call of the OAuth server was refused. The text is for the author of the client;
/// it contains no secret and no part of the request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OauthError {
    /// A parameter is missing, given twice or malformed.
    #[error("{0}")]
    InvalidRequest(&'static str),
    /// The client is unknown, or sent a client secret.
    #[error("{0}")]
    InvalidClient(&'static str),
    /// The code or token is wrong, used, expired, revoked or another client's.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// The scope does not exist.
    #[error("{0}")]
    InvalidScope(&'static str),
    /// The resource is not the one that this server issues tokens for.
    #[error("{0}")]
    InvalidTarget(&'static str),
    /// The redirect URI may not be registered.
    #[error("{0}")]
    InvalidRedirectUri(&'static str),
    /// Another part of a registration is invalid.
    #[error("{0}")]
    InvalidClientMetadata(&'static str),
    /// The grant type is not supported.
    #[error("{0}")]
    UnsupportedGrantType(&'static str),
    /// The response type is not supported.
    #[error("{0}")]
    UnsupportedResponseType(&'static str),
    /// The owner refused the consent.
    #[error("{0}")]
    AccessDenied(&'static str),
    /// The storage failed, so that the outcome of the call is unknown.
    #[error("storage failed")]
    Store(#[from] StoreError),
}

/// The result of a call of the OAuth server.
pub type OauthResult<T> = Result<T, OauthError>;

impl OauthError {
    /// Returns the name on the wire, as in RFC 6749, 7591 and 8707.
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

/// Checks a list of scopes, separated by spaces. The granted scope is [`SCOPE`], where the list is
/// absent or empty, or contains [`SCOPE`] among others.
///
/// # Errors
///
/// [`OauthError::InvalidScope`] where the list contains other scopes only.
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
