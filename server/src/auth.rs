//! Authentication: API keys and access tokens with their cache, passwords, OpenID Connect, metadata
//! documents of OAuth clients.

pub mod access_tokens;
pub mod accounts;
pub mod api_keys;
pub mod cache;
pub mod client_documents;
pub mod client_metadata;
pub mod lookup_error;
pub mod oidc;
pub mod passwords;
