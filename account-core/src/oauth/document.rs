//! Clients that a metadata document describes (draft-ietf-oauth-client-id-metadata-document).
//!
//! The id of such a client is the URL of its document. Its website vouches for the document, and
//! nobody for the name in it.

use super::client::{ClientId, ClientMetadata, RegisteredClient};
use super::{DocumentUrl, OauthError, OauthResult};
use crate::Timestamp;

/// The content of a metadata document; further fields are ignored.
#[derive(Clone, Debug, Default)]
pub struct ClientDocument {
    /// The id that the document states; `None` where the document states none.
    pub client_id: Option<String>,
    /// The fields that a registration has too.
    pub metadata: ClientMetadata,
    /// The method of authentication; `None` means none.
    pub token_endpoint_auth_method: Option<String>,
    /// True if the document has a secret, or states the end of one.
    pub has_secret: bool,
}

impl RegisteredClient {
    /// Checks the document that was fetched from `url`, and makes the client.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidRedirectUri`]; [`OauthError::InvalidClientMetadata`].
    pub fn described(
        url: &DocumentUrl,
        document: &ClientDocument,
        now: Timestamp,
    ) -> OauthResult<Self> {
        let fault = |reason| Err(OauthError::InvalidClientMetadata(reason));
        if document.client_id.as_deref() != Some(url.as_str()) {
            return fault("client_id must equal the URL of the document, byte for byte");
        }
        if document.has_secret {
            return fault("a public document has no client secret");
        }
        let method = document.token_endpoint_auth_method.as_deref();
        if method.is_some_and(|method| method != "none") {
            return fault("token_endpoint_auth_method must be none");
        }
        Self::checked(ClientId::of_document(url), &document.metadata, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://app.example.com/client.json";

    fn document(change: impl FnOnce(&mut ClientDocument)) -> OauthResult<RegisteredClient> {
        let metadata = ClientMetadata {
            redirect_uris: vec!["http://127.0.0.1/callback".to_owned()],
            client_name: Some("A host".to_owned()),
            ..ClientMetadata::default()
        };
        let client_id = Some(URL.to_owned());
        let mut document = ClientDocument { client_id, metadata, ..ClientDocument::default() };
        change(&mut document);
        let url = DocumentUrl::parse(URL).expect("a good URL");
        RegisteredClient::described(&url, &document, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_document_describes_the_client_of_its_own_url_alone() {
        let client = document(|_| {}).expect("a good document");
        assert_eq!((client.id.as_str(), client.name.as_str()), (URL, "A host"));
        let none = |document: &mut ClientDocument| {
            document.token_endpoint_auth_method = Some("none".to_owned());
        };
        document(none).expect("a public client");
        let methods =
            ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"];
        for method in methods {
            let refused = document(|d| d.token_endpoint_auth_method = Some(method.to_owned()));
            assert_eq!(refused.unwrap_err().code(), "invalid_client_metadata", "{method}");
        }
        for id in [None, Some(""), Some("https://app.example.com/client.json?"), Some("x")] {
            let refused = document(|d| d.client_id = id.map(str::to_owned));
            assert_eq!(refused.unwrap_err().code(), "invalid_client_metadata", "{id:?}");
        }
        let refused = document(|d| d.has_secret = true);
        assert_eq!(refused.unwrap_err().code(), "invalid_client_metadata");
        for uris in [vec![], vec!["javascript:alert(1)"], vec!["http://app.example.com/"]] {
            let uris: Vec<String> = uris.into_iter().map(str::to_owned).collect();
            let refused = document(|d| d.metadata.redirect_uris = uris);
            assert_eq!(refused.unwrap_err().code(), "invalid_redirect_uri");
        }
    }
}
