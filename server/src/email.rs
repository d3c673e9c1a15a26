//! Letters and messages: out of the outbox, written from templates, handed to a mail server, a
//! folder or a messaging channel.
//!
//! A letter is in the outbox before the request that asked for it is answered, and leaves it only
//! once the mail server has taken it: a slow or dead server slows no request and loses no letter.
//! At worst, after a crash, a letter is sent twice under the same `Message-ID`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use account_core::outbox::Channel;

mod composition;
mod folder;
mod messaging;
mod worker;

pub use messaging::{Messenger, MessengerError};
pub use worker::Worker;

/// How long a mail server may take for one letter.
const SMTP_TIMEOUT: Duration = Duration::from_secs(60);

/// Where letters go.
#[derive(Clone)]
pub struct Sender {
    from: Mailbox,
    route: Route,
}

#[derive(Clone)]
enum Route {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Folder(PathBuf),
}

/// Who takes what waits in a lane of the outbox.
pub enum Transport {
    /// Letters.
    Mail(Sender),
    /// Messages.
    Messaging(Messenger),
}

impl Transport {
    fn channel(&self) -> Channel {
        match self {
            Self::Mail(_) => Channel::Mail,
            Self::Messaging(_) => Channel::Messaging,
        }
    }
}

impl From<Sender> for Transport {
    fn from(sender: Sender) -> Self {
        Self::Mail(sender)
    }
}

impl From<Messenger> for Transport {
    fn from(messenger: Messenger) -> Self {
        Self::Messaging(messenger)
    }
}

/// Why letters cannot be sent as configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetUpError {
    /// The sender is no mailbox.
    #[error("`{0}` is no sender: give an address, or a name and an address in angle brackets")]
    From(String),
    /// The mail server's address is malformed; it may hold a password and is not repeated.
    #[error(
        "the mail server's address must look like smtps://user:password@host:465 or smtp://host:25 ({0})"
    )]
    Smtp(lettre::transport::smtp::Error),
    /// The folder cannot be made.
    #[error("the mail folder `{path}` cannot be used: {cause}")]
    Folder {
        /// The folder.
        path: String,
        /// What the system says.
        cause: std::io::Error,
    },
}

/// Why one letter could not be sent; it will be tried again.
#[derive(Debug, thiserror::Error)]
enum SendError {
    #[error("the letter cannot be written: {0}")]
    Compose(Box<dyn std::error::Error + Send + Sync>),
    #[error("the mail server refuses or does not answer: {0}")]
    Smtp(#[from] lettre::transport::smtp::Error),
    #[error("the mail folder refuses: {0}")]
    Folder(#[from] std::io::Error),
    #[error("the messaging channel does not answer: {0}")]
    Unreachable(reqwest::Error),
    #[error("the messaging channel answers {status}")]
    Unwilling { status: u16, retry_after: Duration },
    /// No other answer is to be had: the chat does not exist, or blocked the service.
    #[error("the messaging channel refuses: {0}")]
    Refused(String),
}

impl SendError {
    /// How long the other side asked to wait.
    fn retry_after(&self) -> Duration {
        match self {
            Self::Unwilling { retry_after, .. } => *retry_after,
            _ => Duration::ZERO,
        }
    }
}

impl Sender {
    /// Sends by a mail server: `smtps://user:password@host:465`, `smtp://host:587?tls=required`.
    /// Called within the runtime, which keeps the connections.
    ///
    /// # Errors
    ///
    /// [`SetUpError`] for a malformed address or sender. Whether the server answers is seen later.
    pub fn smtp(url: &str, from: &str) -> Result<Self, SetUpError> {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(SetUpError::Smtp)?
            .timeout(Some(SMTP_TIMEOUT))
            .build();
        Ok(Self { from: mailbox(from)?, route: Route::Smtp(transport) })
    }

    /// Writes each letter as an `.eml` file, named by its time, into a folder that its owner alone
    /// can read.
    ///
    /// # Errors
    ///
    /// [`SetUpError`] for a malformed sender or a folder that cannot be made.
    pub fn folder(path: &Path, from: &str) -> Result<Self, SetUpError> {
        folder::prepare(path)
            .map_err(|cause| SetUpError::Folder { path: path.display().to_string(), cause })?;
        Ok(Self { from: mailbox(from)?, route: Route::Folder(path.to_owned()) })
    }

    async fn send(&self, message: Message, file_name: String) -> Result<(), SendError> {
        match &self.route {
            Route::Smtp(transport) => {
                transport.send(message).await?;
            }
            Route::Folder(path) => {
                folder::write(path.join(file_name), message.formatted()).await?;
            }
        }
        Ok(())
    }
}

fn mailbox(text: &str) -> Result<Mailbox, SetUpError> {
    text.parse().map_err(|_| SetUpError::From(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn malformed_settings_are_told_and_no_password_repeated() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(Sender::folder(folder.path(), "nobody"), Err(SetUpError::From(_))));
        let error = Sender::smtp("ftp://user:hunter2@host", "a@example.com").err();
        let text = error.expect("no such scheme").to_string();
        assert!(!text.contains("hunter2"), "{text}");
        assert!(Sender::smtp("smtps://user:pw@mail.example.com", "Quant <a@example.com>").is_ok());
    }
}
