//! Notifications: notices of the service, broadcasts of an administrator, and their channels.

use std::net::IpAddr;

use crate::guest::end_of_day;
use crate::identity::is_line;
use crate::spend_cap::{CapMark, CapNotice};
use crate::{Error, Timestamp};

/// The largest number of characters of a broadcast's title.
pub const TITLE_CHARACTERS: usize = 200;
/// The largest number of characters of a broadcast's summary.
pub const DESCRIPTION_CHARACTERS: usize = 500;
/// The largest number of characters of a broadcast's text.
pub const MESSAGE_CHARACTERS: usize = 4_000;
/// The largest number of characters of a broadcast's category.
pub const CATEGORY_CHARACTERS: usize = 50;

/// The number of a notification; notices and broadcasts share one sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NotificationId(pub i64);

/// A notice that the service writes into an inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The account was verified, which ends its registration.
    Welcome,
    /// A session began on a network that the account does not know.
    SignInFromNewAddress(IpAddr),
    /// The API key was replaced by a new one.
    KeyRegenerated,
    /// The password of the account was replaced.
    PasswordChanged,
    /// The e-mail address was replaced.
    EmailChanged,
    /// A change of the e-mail address was undone.
    EmailRestored,
    /// A login requires a second factor from now on.
    MfaEnabled,
    /// A login requires no second factor from now on.
    MfaDisabled,
    /// The account was linked to an identity of the provider.
    ProviderLinked,
    /// The login was locked after wrong passwords.
    Locked {
        /// The time at which the lock ends.
        until: Timestamp,
    },
    /// At most a fifth of the last grant is left.
    CreditsLow {
        /// The credits that remain after the debit.
        balance: u64,
    },
    /// A debit took the last credit of the account.
    CreditsGone,
    /// At least 80 % of the cap of credits a day are spent.
    SpendCapNear {
        /// The credits spent on the day.
        spent: u64,
        /// The cap of the account.
        per_day: u64,
    },
    /// The cap of credits a day is spent, or refused a call.
    SpendCapReached {
        /// The credits spent on the day.
        spent: u64,
        /// The cap of the account.
        per_day: u64,
        /// The end of the day, from which paid calls are allowed again.
        until: Timestamp,
    },
}

impl Notice {
    /// Returns the notice of a debit that takes the balance to a fifth of the last grant or below,
    /// or to zero. A balance that was already there causes no notice.
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

    /// Returns the notice of a mark of the account's cap.
    #[must_use]
    pub fn of_cap(reached: &CapNotice) -> Self {
        let CapNotice { spent, per_day, at, .. } = *reached;
        match reached.mark {
            CapMark::Near => Self::SpendCapNear { spent, per_day },
            CapMark::Reached => Self::SpendCapReached { spent, per_day, until: end_of_day(at) },
        }
    }

    /// Returns the category, as in `security`.
    #[must_use]
    pub const fn category(&self) -> &'static str {
        match self {
            Self::Welcome => "account",
            Self::CreditsLow { .. }
            | Self::CreditsGone
            | Self::SpendCapNear { .. }
            | Self::SpendCapReached { .. } => "credits",
            Self::SignInFromNewAddress(_)
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

    /// Returns the headline of the notice.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        match self {
            Self::Welcome => "Welcome",
            Self::SignInFromNewAddress(_) => "Sign-in from a new address",
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
            Self::SpendCapNear { .. } => "Daily cap nearly reached",
            Self::SpendCapReached { .. } => "Daily cap reached",
        }
    }

    /// Returns the event, and the steps for an owner who did not cause the event.
    #[must_use]
    pub fn description(&self) -> String {
        match self {
            Self::Welcome => "Your account is verified, and its key is good.".to_owned(),
            Self::SignInFromNewAddress(address) => format!(
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
            Self::SpendCapNear { spent, per_day } => {
                format!("{spent} of the {per_day} credits of your daily cap are spent.")
            }
            Self::SpendCapReached { spent, per_day, until } => format!(
                "{spent} of the {per_day} credits of your daily cap are spent. Calls that would pass \
                 the cap are refused until {}.",
                until.format("%Y-%m-%dT%H:%M:%SZ")
            ),
        }
    }
}

/// The channels that a broadcast is sent over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    /// True if the broadcast is in the inbox.
    pub in_app: bool,
    /// True if an e-mail is sent to the accounts that accept broadcasts by e-mail.
    pub email: bool,
    /// True if a chat message is sent to the accounts that have enabled the channel.
    pub messaging: bool,
}

/// A broadcast of an administrator to all accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The headline, in one line.
    pub title: String,
    /// A short summary, in one line; `None` for a broadcast without one.
    pub description: Option<String>,
    /// The text, in lines and paragraphs; `None` for a broadcast without one.
    pub message: Option<String>,
    /// The category, a free text such as `maintenance`.
    pub category: String,
    /// The channels that the broadcast is sent over.
    pub channels: Channels,
}

impl Announcement {
    /// The category of a broadcast without one.
    pub const CATEGORY: &str = "announcement";

    /// Reads a broadcast: a title of 1 to 200 characters. The other texts are optional, and an
    /// empty text counts as absent. Only the message may contain line breaks.
    ///
    /// # Errors
    ///
    /// One [`Error::Invalid`] for each invalid field, in the order of the arguments.
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

/// A recipient on the messaging channel: the number of a chat, or `@` and the name of a channel.
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

    /// Returns the identifier as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The channels on which an account accepts broadcasts. Notices of security and credits are always
/// in the inbox, and e-mails about security are always sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preferences {
    /// True if broadcasts are sent by e-mail.
    pub notify_email: bool,
    /// True if broadcasts are sent to the chat.
    pub notify_messaging: bool,
    /// True if broadcasts are in the inbox.
    pub notify_in_app: bool,
    /// The recipient on the messaging channel; `None` for an account that gave none.
    pub messaging_chat_id: Option<ChatId>,
}

impl Default for Preferences {
    /// Returns the preferences of an account that never changed them: inbox and e-mail.
    fn default() -> Self {
        Self {
            notify_email: true,
            notify_messaging: false,
            notify_in_app: true,
            messaging_chat_id: None,
        }
    }
}

/// The changes of an account's preferences; absent fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreferenceChanges {
    /// True if broadcasts are sent by e-mail.
    pub notify_email: Option<bool>,
    /// True if broadcasts are sent to the chat.
    pub notify_messaging: Option<bool>,
    /// True if broadcasts are in the inbox.
    pub notify_in_app: Option<bool>,
    /// The recipient on the messaging channel, or `None` to remove the stored one.
    pub messaging_chat_id: Option<Option<ChatId>>,
}

impl Preferences {
    /// Returns the preferences after a change.
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

/// Returns a text that is not empty; `None` for an absent or empty text.
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
