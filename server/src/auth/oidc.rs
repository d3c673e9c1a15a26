//! OpenID Connect: the provider at which people sign in, and the reasons why a sign-in fails.
//!
//! Without the feature `openid-connect` there is no provider: settings that name one are refused at the start.

#[cfg(feature = "openid-connect")]
mod keys;
#[cfg(feature = "openid-connect")]
mod provider;
#[cfg(not(feature = "openid-connect"))]
mod without_provider;

use account_core::IdTokenError;

#[cfg(feature = "openid-connect")]
pub use provider::Provider;
#[cfg(not(feature = "openid-connect"))]
pub use without_provider::WithoutProvider as Provider;

/// The reason why a sign-in proved no identity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdpError {
    /// The provider does not answer, or the answer cannot be read.
    #[error("the identity provider does not answer: {0}")]
    Unavailable(String),
    /// The provider refused to exchange the code for a token.
    #[error("the identity provider gave no token: {0}")]
    NoToken(String),
    /// The token is malformed, or not signed by the provider.
    #[error("the ID token is not the provider's: {0}")]
    Signature(String),
    /// The token is signed by the provider, but its claims are refused.
    #[error("the ID token does not fit: {0}")]
    IdTokenError(#[from] IdTokenError),
}

/// The provider cannot be used as configured.
#[derive(Debug, thiserror::Error)]
#[error("QS_IDP_ISSUER or QS_PUBLIC_URL cannot be used: {0}")]
pub struct ProviderError(Box<dyn std::error::Error + Send + Sync>);
