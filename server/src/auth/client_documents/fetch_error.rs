//! The reasons why a document cannot be fetched, in texts that repeat nothing of the answer.
//!
//! An unknown host and one with an address that is not public have one text. Otherwise anybody could
//! ask which names the network of the service knows.

/// The largest document in bytes, which is what the draft recommends.
pub(super) const LARGEST: usize = 5 * 1024;

/// The reason why a document cannot be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentFetchError {
    /// An address of the host is not on the public internet.
    #[error("its website does not answer by HTTPS at a public address")]
    NotPublic,
    /// The host is unknown, refuses connections, or proves no identity.
    #[error("its website does not answer by HTTPS at a public address")]
    Unreachable,
    /// The answer was not complete in time.
    #[error("its website does not answer in time")]
    Timeout,
    /// The website redirects.
    #[error("its website redirects, and redirects are not followed")]
    Redirect,
    /// The status is not 200.
    #[error("its website answers with status {0}, not 200")]
    Status(u16),
    /// The media type is not JSON.
    #[error("the document is not served as application/json")]
    MediaType,
    /// The document is too large.
    #[error("the document has more than {} bytes", LARGEST)]
    TooLarge,
}
