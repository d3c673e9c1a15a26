//! The mail server.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::Args;

/// The settings of e-mails.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Mail")]
pub struct MailArgs {
    /// Mail server, as in smtps://user:password@mail.example.com. Without one every e-mail is
    /// written to a file in the data folder.
    #[arg(long, env = "QS_SMTP_URL", hide_env_values = true)]
    pub smtp_url: Option<String>,
    /// Sender of the e-mails.
    #[arg(long, env = "QS_MAIL_FROM", default_value = "quant-server <no-reply@localhost>")]
    pub mail_from: String,
}

/// The settings of e-mails, resolved. The address of the mail server is checked at the start.
#[derive(Clone, Debug)]
pub struct MailSettings {
    /// The mail server or the folder that e-mails go to.
    pub route: MailRoute,
    /// The sender of all e-mails, a mailbox.
    pub from: String,
}

/// The mail server or the folder that e-mails go to.
#[derive(Clone, PartialEq, Eq)]
pub enum MailRoute {
    /// Sends e-mails to the mail server at this address, which may hold a password.
    Smtp(String),
    /// Writes e-mails as files into this folder, for tests and development.
    Folder(PathBuf),
}

impl fmt::Debug for MailRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The address of a mail server may hold its password.
            Self::Smtp(_) => f.write_str("Smtp(…)"),
            Self::Folder(path) => f.debug_tuple("Folder").field(path).finish(),
        }
    }
}

impl MailArgs {
    /// Resolves the settings; e-mails go to a folder in `data_dir` where no mail server is set.
    pub(super) fn locate(&self, data_dir: &Path) -> MailSettings {
        let route = match &self.smtp_url {
            Some(url) => MailRoute::Smtp(url.clone()),
            None => MailRoute::Folder(data_dir.join("mail")),
        };
        MailSettings { route, from: self.mail_from.clone() }
    }
}
