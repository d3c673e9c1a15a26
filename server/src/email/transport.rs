//! The transports of the outbox: a mail server, a folder, or a messaging channel.

use std::path::{Path, PathBuf};
use std::time::Duration;

use account_core::outbox::Channel;
use lettre::message::Mailbox;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use super::folder;
use super::messaging::Messenger;
use super::send_error::SendError;

/// Longest time for one e-mail at the mail server.
const SMTP_TIMEOUT: Duration = Duration::from_secs(60);

/// The sender of e-mails, with the mail server or folder.
#[derive(Clone)]
pub struct Sender {
    pub(super) from: Mailbox,
    route: Route,
}

#[derive(Clone)]
enum Route {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Folder(PathBuf),
}

/// The transport of one channel of the outbox.
pub enum Transport {
    /// E-mails, by a mail server or into a folder.
    Mail(Sender),
    /// Chat messages, by the bot API.
    Messaging(Messenger),
}

impl Transport {
    pub(super) fn channel(&self) -> Channel {
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

/// The reason why e-mails cannot be sent as configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetUpError {
    /// The setting of the sender is no mailbox.
    #[error("`{0}` is no sender: give an address, or a name and an address in angle brackets")]
    From(String),
    /// The mail server's address is malformed; it may hold a password and is not repeated.
    #[error(
        "the mail server's address must look like smtps://user:password@host:465 or smtp://host:25 ({0})"
    )]
    Smtp(lettre::transport::smtp::Error),
    /// The folder for e-mails cannot be made.
    #[error("the mail folder `{path}` cannot be used: {cause}")]
    Folder {
        /// The path of the folder.
        path: String,
        /// The error of the operating system.
        cause: std::io::Error,
    },
}

impl Sender {
    /// Makes a sender by a mail server: `smtps://user:password@host:465`,
    /// `smtp://host:587?tls=required`. Must be called within the runtime, which keeps the
    /// connections.
    ///
    /// # Errors
    ///
    /// [`SetUpError`] for a malformed address or sender. The server is not contacted.
    pub fn smtp(url: &str, from: &str) -> Result<Self, SetUpError> {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(SetUpError::Smtp)?
            .timeout(Some(SMTP_TIMEOUT))
            .build();
        Ok(Self { from: mailbox(from)?, route: Route::Smtp(transport) })
    }

    /// Makes a sender that writes each e-mail as an `.eml` file, named by its time, into a folder
    /// that only its owner can read.
    ///
    /// # Errors
    ///
    /// [`SetUpError`] for a malformed sender or a folder that cannot be made.
    pub fn folder(path: &Path, from: &str) -> Result<Self, SetUpError> {
        folder::prepare(path)
            .map_err(|cause| SetUpError::Folder { path: path.display().to_string(), cause })?;
        Ok(Self { from: mailbox(from)?, route: Route::Folder(path.to_owned()) })
    }

    pub(super) async fn send(&self, message: Message, file_name: String) -> Result<(), SendError> {
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
