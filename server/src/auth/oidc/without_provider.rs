//! The absent provider of a program without the feature `openid-connect`.

use account_core::accounts::external_sign_in::Started;
use account_core::id_token::Returned;
use account_core::{ProvenIdentity, Timestamp};

use super::{IdpError, ProviderError};
use crate::config::IdpRoute;

/// A provider that nothing can make, so that its methods are never called.
pub enum WithoutProvider {}

impl WithoutProvider {
    /// Refuses the settings of a provider.
    ///
    /// # Errors
    ///
    /// [`ProviderError`], always.
    pub fn new(_: &IdpRoute) -> Result<Self, ProviderError> {
        Err(ProviderError("this program was built without the feature openid-connect".into()))
    }

    /// Returns the public address of the service.
    pub fn public_url(&self) -> &str {
        match *self {}
    }

    /// Returns the address at the provider at which a browser signs in.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn authorize_url(&self, _: &Started, _: Timestamp) -> Result<String, IdpError> {
        match *self {}
    }

    /// Exchanges a code for an ID token, and verifies it.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn exchange(
        &self,
        _: &str,
        _: &Returned,
        _: Timestamp,
    ) -> Result<ProvenIdentity, IdpError> {
        match *self {}
    }

    /// Verifies an ID token.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn verify(
        &self,
        _: &str,
        _: Option<&str>,
        _: Timestamp,
    ) -> Result<ProvenIdentity, IdpError> {
        match *self {}
    }
}
