//! Metadata documents of OAuth clients (draft-ietf-oauth-client-id-metadata-document): fetched from
//! the website that the client id names, and cached.
//!
//! Anybody can have a document fetched, from any host. So a fetch reaches public addresses alone
//! (`public_names`), reads little within a short time (`fetch`), and its refusals repeat nothing of
//! the answer.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use account_core::{
    Timestamp,
    oauth::{ClientDocument, DocumentUrl, OauthError, RegisteredClient},
};
use moka::future::Cache;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::client_metadata;

mod fetch;
mod fetch_error;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod public_names;

pub use fetch::DocumentNetwork;
pub use fetch_error::DocumentFetchError;
pub use public_names::PublicNames;

/// The number of documents that one address may have fetched in a minute.
pub const FETCHES_A_MINUTE: NonZeroU32 = NonZeroU32::new(10).expect("not zero");
/// The number of documents that are fetched at once.
const FETCHES_AT_ONCE: usize = 8;
/// The number of documents in the cache.
const CACHED: u64 = 1_000;

/// The reason why a document does not describe a client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// Too many documents are being fetched.
    #[error("too many documents are fetched at this moment")]
    Busy,
    /// The document could not be fetched.
    #[error(transparent)]
    Fetch(#[from] DocumentFetchError),
    /// The document is not JSON, or not an object.
    #[error("the document is not a JSON object")]
    Json,
    /// A field of the document is refused.
    #[error(transparent)]
    Field(#[from] OauthError),
}

/// The documents of clients, as fetched at most a day ago.
pub struct ClientDocuments {
    http: reqwest::Client,
    known: Cache<DocumentUrl, Arc<KnownClient>>,
    places: Semaphore,
}

/// A client of the cache.
struct KnownClient {
    client: RegisteredClient,
    fetched_at: Timestamp,
    kept: Duration,
}

impl ClientDocuments {
    /// Makes an empty cache over a network.
    ///
    /// # Errors
    ///
    /// The error of the HTTP client, which cannot be made.
    pub fn new(network: DocumentNetwork) -> Result<Self, reqwest::Error> {
        Ok(Self {
            http: network.client()?,
            known: Cache::new(CACHED),
            places: Semaphore::new(FETCHES_AT_ONCE),
        })
    }

    /// Returns the client of a document that was fetched before and is still valid.
    pub async fn known(&self, url: &DocumentUrl, now: Timestamp) -> Option<RegisteredClient> {
        let known = self.known.get(url).await?;
        // An age below zero is none: the clock was set back.
        let is_valid = (now - known.fetched_at).to_std().is_ok_and(|age| age < known.kept);
        is_valid.then(|| known.client.clone())
    }

    /// Fetches a document. Only a good one is cached, so that its website can mend a bad one.
    ///
    /// # Errors
    ///
    /// [`DocumentError`].
    pub async fn fetch(
        &self,
        url: &DocumentUrl,
        now: Timestamp,
    ) -> Result<RegisteredClient, DocumentError> {
        let _place = self.places.try_acquire().map_err(|_| DocumentError::Busy)?;
        let fetched = fetch::fetch(&self.http, url).await?;
        let client = RegisteredClient::described(url, &read(&fetched.body)?, now)?;
        let known = KnownClient { client: client.clone(), fetched_at: now, kept: fetched.kept };
        self.known.insert(url.clone(), Arc::new(known)).await;
        Ok(client)
    }
}

fn read(body: &[u8]) -> Result<ClientDocument, DocumentError> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(body) else {
        return Err(DocumentError::Json);
    };
    let text = |name, fault| {
        client_metadata::text(&fields, name).map_err(|()| OauthError::InvalidClientMetadata(fault))
    };
    let secrets = ["client_secret", "client_secret_expires_at"];
    Ok(ClientDocument {
        client_id: text("client_id", "client_id must be a text")?,
        token_endpoint_auth_method: text(
            "token_endpoint_auth_method",
            "token_endpoint_auth_method must be a text",
        )?,
        has_secret: secrets.iter().any(|name| fields.contains_key(*name)),
        metadata: client_metadata::read(&fields)?,
    })
}
