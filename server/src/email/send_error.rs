//! The reason why one e-mail or message could not be sent.

use std::time::Duration;

/// A failed attempt to send one e-mail or message.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("the e-mail cannot be composed: {0}")]
    Compose(Box<dyn std::error::Error + Send + Sync>),
    #[error("the mail server refuses or does not answer: {0}")]
    Smtp(#[from] lettre::transport::smtp::Error),
    #[error("the mail folder refuses: {0}")]
    Folder(#[from] std::io::Error),
    #[error("the messaging channel does not answer: {0}")]
    Unreachable(reqwest::Error),
    #[error("the messaging channel answers {status}")]
    Unwilling { status: u16, retry_after: Duration },
    /// The messaging channel refuses the message for good, so that no retry follows: the chat does
    /// not exist, or has blocked the service.
    #[error("the messaging channel refuses: {0}")]
    Refused(String),
}

impl SendError {
    /// Returns the time to wait that the messaging channel asked for; zero where none was asked for.
    pub(super) fn retry_after(&self) -> Duration {
        match self {
            Self::Unwilling { retry_after, .. } => *retry_after,
            _ => Duration::ZERO,
        }
    }
}
