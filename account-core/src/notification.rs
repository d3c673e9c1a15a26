//! Notifications: what the service tells an account, what an administrator tells all of them, and
//! over which channels.

use std::net::IpAddr;

use crate::identity::is_line;
use crate::{Error, Timestamp};

/// Characters of a broadcast's title.
pub const TITLE_CHARACTERS: usize = 200;
/// Characters of its short summary.
pub const DESCRIPTION_CHARACTERS: usize = 500;
/// Characters of its text.
pub const MESSAGE_CHARACTERS: usize = 4_000;
/// Characters of its category.
pub const CATEGORY_CHARACTERS: usize = 50;

/// The number of a notification; notices and broadcasts are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NotificationId(pub i64);

/// What the service writes into an inbox by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The account was verified.
    Welcome,
    /// Someone signed in from a network that the account does not know.
    NewAddress(IpAddr),
    /// The API key was replaced.
    KeyRegenerated,
    /// The password was replaced.
    PasswordChanged,
    /// The account has another e-mail address.
    EmailChanged,
    /// The account has its former e-mail address again.
    EmailRestored,
    /// A login asks for a second factor from now on.
    MfaEnabled,
    /// A login asks for no second factor any more.
    MfaDisabled,
    /// An identity provider knows the account's address, and signs in from now on.
    ProviderLinked,
    /// Wrong passwords locked the login.
    Locked {
        /// Until then.
        until: Timestamp,
    },
    /// A fifth of the last grant, or less, is left.
    CreditsLow {
        /// Credits left.
        balance: u64,
    },
    /// No credit is left.
    CreditsGone,
}

impl Notice {
    /// The notice of a debit: where it takes the balance to a fifth of the last grant or below,
    /// and where it takes the last credit. A balance that was there already is no news.
    ///
    /// # Examples
    ///
    /// ```
    /// use account_core::notification::Notice;
    ///
    /// assert_eq!(Notice::of_debit(75, 70, 350), Some(Notice::CreditsLow { balance: 70 }));
    /// assert_eq!(Notice::of_debit(70, 65, 350), None);
    /// assert_eq!(Notice::of_debit(5, 0, 350), Some(Notice::CreditsGone));
    /// ```
    #[must_use]
    pub const fn of_debit(before: u64, balance: u64, last_grant: u64) -> Option<Self> {
        let mark = last_grant / 5;
        if before > 0 && balance == 0 {
            Some(Self::CreditsGone)
        } else if before > mark && balance <= mark {
            Some(Self::CreditsLow { balance })
        } else {
            None
        }
    }

    /// What it is about, as in `security`.
    #[must_use]
    pub const fn category(&self) -> &'static str {
        match self {
            Self::Welcome => "account",
            Self::CreditsLow { .. } | Self::CreditsGone => "credits",
            Self::NewAddress(_)
            | Self::KeyRegenerated
            | Self::PasswordChanged
            | Self::EmailChanged
            | Self::EmailRestored
            | Self::MfaEnabled
            | Self::MfaDisabled
            | Self::ProviderLinked
            | Self::Locked { .. } => "security",
        }
    }

    /// Its headline.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        match self {
            Self::Welcome => "Welcome",
            Self::NewAddress(_) => "Sign-in from a new address",
            Self::KeyRegenerated => "API key replaced",
            Self::PasswordChanged => "Password changed",
            Self::EmailChanged => "E-mail address changed",
            Self::EmailRestored => "E-mail address restored",
            Self::MfaEnabled => "Second login step switched on",
            Self::MfaDisabled => "Second login step switched off",
            Self::ProviderLinked => "Identity provider linked",
            Self::Locked { .. } => "Login locked",
            Self::CreditsLow { .. } => "Credits running low",
            Self::CreditsGone => "No credits left",
        }
    }

    /// What happened, and what to do if it was someone else.
    #[must_use]
    pub fn description(&self) -> String {
        match self {
            Self::Welcome => "Your account is verified, and its key is good.".to_owned(),
            Self::NewAddress(address) => format!(
                "Someone signed in from {address}. If it was not you, reset your password and \
                 replace your API key."
            ),
            Self::KeyRegenerated => "The old key no longer works. If it was not you, reset your \
                                     password and replace the key again."
                .to_owned(),
            Self::PasswordChanged => {
                "All sessions were ended. If it was not you, reset your password at once."
                    .to_owned()
            }
            Self::EmailChanged => {
                "E-mails of this account go to its new address. The former address \
                                   was told how to undo the change."
                    .to_owned()
            }
            Self::EmailRestored => {
                "The change of the e-mail address was undone. All sessions were \
                                    ended, the password has to be chosen anew, and the API key was \
                                    replaced."
                    .to_owned()
            }
            Self::MfaEnabled => {
                "Each login now asks for a code that is sent by e-mail. If it was not you, replace \
                 your API key."
                    .to_owned()
            }
            Self::MfaDisabled => "Logins no longer ask for a code. If it was not you, reset your \
                                  password and replace your API key."
                .to_owned(),
            Self::ProviderLinked => {
                "An identity provider confirmed your e-mail address, and signs \
                                     you in from now on. If it was not you, ask the operator of \
                                     the service."
                    .to_owned()
            }
            Self::Locked { until } => format!(
                "Five wrong passwords were entered. Logins are refused until {}; your key goes on \
                 working.",
                until.format("%Y-%m-%dT%H:%M:%SZ")
            ),
            Self::CreditsLow { balance } => {
                format!("{balance} credits are left: a fifth of the last grant or less.")
            }
            Self::CreditsGone => {
                "Calls that cost credits are refused until there are some again.".to_owned()
            }
        }
    }
}

/// Over which channels a broadcast goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    /// Into the inbox.
    pub in_app: bool,
    /// By e-mail, to whom takes such messages.
    pub email: bool,
    /// Over the messaging channel, to whom has switched it on.
    pub messaging: bool,
}

/// What an administrator tells all accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Its headline, one line.
    pub title: String,
    /// A short summary, one line.
    pub description: Option<String>,
    /// The text, lines and paragraphs.
    pub message: Option<String>,
    /// What it is about.
    pub category: String,
    /// Over which channels it goes.
    pub channels: Channels,
}

impl Announcement {
    /// The category of whoever names none.
    pub const CATEGORY: &str = "announcement";

    /// Reads an announcement: a title of 1 to 200 characters; the rest is optional, and an empty
    /// text counts as absent. Only the message may hold line breaks.
    ///
    /// # Errors
    ///
    /// One [`Error::Invalid`] for each field at fault, in the order of the arguments.
    pub fn parse(
        title: &str,
        description: Option<&str>,
        message: Option<&str>,
        category: Option<&str>,
        channels: Channels,
    ) -> Result<Self, Vec<Error>> {
        let title = title.trim();
        let description = present(description);
        let message = present(message);
        let category = present(category);
        let is_text = |text: &str| {
            text.chars().count() <= MESSAGE_CHARACTERS
                && !text.chars().any(|one| one.is_control() && !matches!(one, '\n' | '\r' | '\t'))
        };
        let faults: Vec<Error> = [
            (
                !title.is_empty() && is_line(title, TITLE_CHARACTERS),
                Error::invalid("title", "one line of 1 to 200 characters", "title"),
            ),
            (
                description.is_none_or(|text| is_line(text, DESCRIPTION_CHARACTERS)),
                Error::invalid("description", "one line of at most 500 characters", "description"),
            ),
            (
                message.is_none_or(is_text),
                Error::invalid("message", "at most 4000 characters of text", "message"),
            ),
            (
                category.is_none_or(|text| is_line(text, CATEGORY_CHARACTERS)),
                Error::invalid("category", "one line of at most 50 characters", "category"),
            ),
        ]
        .into_iter()
        .filter_map(|(holds, fault)| (!holds).then_some(fault))
        .collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            title: title.to_owned(),
            description: description.map(str::to_owned),
            message: message.map(|text| text.replace("\r\n", "\n").replace('\r', "\n")),
            category: category.unwrap_or(Self::CATEGORY).to_owned(),
            channels,
        })
    }
}

/// Where a message goes on the messaging channel: a chat's number, or `@` and a channel's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatId(String);

impl ChatId {
    /// Reads a chat identifier.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the field `messaging_chat_id`.
    pub fn parse(text: &str) -> crate::Result<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_number =
            (1..=20).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = text.strip_prefix('@').is_some_and(|name| {
            (4..=64).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        if is_number || is_name {
            Ok(Self(text.to_owned()))
        } else {
            let requirement = "a chat's number, or @ and the name of a channel";
            Err(Error::invalid("messaging_chat_id", requirement, "chat_id"))
        }
    }

    /// The identifier as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Over which channels an account wants to hear of broadcasts. Notices of its own security and
/// credits are always in the inbox, and messages about its security are always sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preferences {
    /// By e-mail.
    pub notify_email: bool,
    /// Over the messaging channel.
    pub notify_messaging: bool,
    /// In the inbox.
    pub notify_in_app: bool,
    /// Where on the messaging channel.
    pub messaging_chat_id: Option<ChatId>,
}

impl Default for Preferences {
    /// What whoever never said anything gets: inbox and e-mail.
    fn default() -> Self {
        Self {
            notify_email: true,
            notify_messaging: false,
            notify_in_app: true,
            messaging_chat_id: None,
        }
    }
}

/// What an account changes of its preferences; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreferenceChanges {
    /// By e-mail.
    pub notify_email: Option<bool>,
    /// Over the messaging channel.
    pub notify_messaging: Option<bool>,
    /// In the inbox.
    pub notify_in_app: Option<bool>,
    /// Where on the messaging channel, or nowhere.
    pub messaging_chat_id: Option<Option<ChatId>>,
}

impl Preferences {
    /// The preferences after a change.
    #[must_use]
    pub fn changed(self, changes: PreferenceChanges) -> Self {
        Self {
            notify_email: changes.notify_email.unwrap_or(self.notify_email),
            notify_messaging: changes.notify_messaging.unwrap_or(self.notify_messaging),
            notify_in_app: changes.notify_in_app.unwrap_or(self.notify_in_app),
            messaging_chat_id: changes.messaging_chat_id.unwrap_or(self.messaging_chat_id),
        }
    }
}

/// A text that says something.
fn present(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debit_makes_a_notice_only_where_it_crosses_a_threshold() {
        let low = |balance| Some(Notice::CreditsLow { balance });
        #[rustfmt::skip]
        let rows = [
            // before  after  grant  notice
            (350,      345,   350,   None),
            (71,       70,    350,   low(70)),
            (72,       69,    350,   low(69)),
            (70,       69,    350,   None),
            (70,       0,     350,   Some(Notice::CreditsGone)),
            (100,      0,     350,   Some(Notice::CreditsGone)),
            (0,        0,     350,   None),
            (1,        0,     0,     Some(Notice::CreditsGone)),
            (4,        3,     4,     None),
        ];
        for (before, after, grant, expected) in rows {
            assert_eq!(Notice::of_debit(before, after, grant), expected, "{before} → {after}");
        }
    }

    #[test]
    fn every_field_of_an_announcement_at_fault_is_named() {
        let channels = Channels { in_app: true, email: false, messaging: false };
        let long = "x".repeat(201);
        let faults =
            Announcement::parse(&long, Some("a\nb"), Some("\u{7}"), Some("c\u{0}"), channels);
        let fields: Vec<_> = faults.unwrap_err().iter().map(Error::field).collect();
        let expected = ["title", "description", "message", "category"].map(Some);
        assert_eq!(fields, expected);
        for title in ["", "   ", "a\r\nBcc: eve@example.com"] {
            assert!(Announcement::parse(title, None, None, None, channels).is_err(), "{title:?}");
        }
        let plain = Announcement::parse(" News ", Some(""), Some("a\r\nb"), None, channels);
        let plain = plain.expect("a title is enough");
        assert_eq!((plain.title.as_str(), plain.description), ("News", None));
        assert_eq!(plain.message.as_deref(), Some("a\nb"));
        assert_eq!(plain.category, "announcement");
    }

    #[test]
    fn a_chat_is_a_number_or_a_name() {
        for text in ["1", "-1001234567890", "@quant_news"] {
            assert_eq!(ChatId::parse(text).expect(text).as_str(), text);
        }
        for text in ["", "-", "@", "@abc", "12a", "1 2", "@a/../b", "１２", "--1", "@a b c d"] {
            assert_eq!(ChatId::parse(text).expect_err(text).field(), Some("messaging_chat_id"));
        }
    }
}
