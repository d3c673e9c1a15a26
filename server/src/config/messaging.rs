//! The messaging channel.

use std::fmt;

use clap::Args;

use super::problems::{Problems, given};

/// The settings of the messaging channel.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Messaging")]
pub struct MessagingArgs {
    /// The messaging channel for notifications: the address of a bot API, as in
    /// `https://api.example.org`. Needs QS_MESSAGING_TOKEN.
    #[arg(long, env = "QS_MESSAGING_URL")]
    pub messaging_url: Option<String>,
    /// The token of the bot that sends the messages.
    #[arg(long, env = "QS_MESSAGING_TOKEN", hide_env_values = true)]
    pub messaging_token: Option<String>,
}

/// The bot that sends the messages, and the address of its API.
#[derive(Clone, PartialEq, Eq)]
pub struct MessagingRoute {
    /// The address of the bot API, without a slash at the end.
    pub url: String,
    /// The secret token of the bot.
    pub token: String,
}

impl fmt::Debug for MessagingRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessagingRoute({}, …)", self.url)
    }
}

impl MessagingArgs {
    /// Checks address and token of the messaging channel: both or none are set.
    pub(super) fn check(&self, problems: &mut Problems) -> Option<MessagingRoute> {
        match (given(self.messaging_url.as_deref()), given(self.messaging_token.as_deref())) {
            (None, None) => None,
            (Some(url), Some(token)) => {
                let url = problems.base_url("QS_MESSAGING_URL", url);
                let may_hold = |byte: u8| byte.is_ascii_alphanumeric() || b":_-".contains(&byte);
                if !token.bytes().all(may_hold) {
                    let wanted = "letters, digits, colons, underscores and hyphens";
                    problems.add(format!("QS_MESSAGING_TOKEN must hold {wanted} alone"));
                }
                Some(MessagingRoute { url, token: token.to_owned() })
            }
            (Some(_), None) => {
                problems.add_missing("QS_MESSAGING_URL", "QS_MESSAGING_TOKEN");
                None
            }
            (None, Some(_)) => {
                problems.add_missing("QS_MESSAGING_TOKEN", "QS_MESSAGING_URL");
                None
            }
        }
    }
}
