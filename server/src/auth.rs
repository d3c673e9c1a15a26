//! Authentication: API keys and access tokens with their cache, passwords, OpenID Connect.

pub mod access_tokens;
pub mod accounts;
pub mod api_keys;
pub mod cache;
pub mod oidc;
pub mod passwords;
