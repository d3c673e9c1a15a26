//! The outbox: e-mails and chat messages that wait to be sent, and the quota of each address.
//!
//! A message is sealed and put into the outbox in the transaction that needs the message. A worker
//! of the server sends it later: no request waits for a mail server, and no crash loses a message.

use std::time::Duration;

use chrono::TimeDelta;
use rand::CryptoRng;

use crate::code::{Code, Purpose};
use crate::digest::Digest;
use crate::identity::{Email, NOBODY, Username};
use crate::notification::ChatId;
use crate::token::EmailUndoToken;
use crate::vault::{Sealed, SealedKind, Vault};
use crate::{Error, Result, Timestamp, random};

/// The least time between two e-mails of one purpose to one address.
pub const COOLDOWN: TimeDelta = TimeDelta::seconds(60);
/// The largest number of e-mails of one purpose to one address within 24 hours.
pub const MESSAGES_A_DAY: u32 = 10;

const DAY: TimeDelta = TimeDelta::hours(24);
const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// One e-mail or chat message before it is sealed.
#[derive(Clone)]
pub struct OutboundMessage {
    /// The one recipient of the e-mail or message.
    pub to: Email,
    /// The kind of the message, with the values that its text needs.
    pub content: Content,
}

/// The content of a message; one variant for each kind of e-mail, and one for chat messages.
#[derive(Clone)]
pub enum Content {
    /// The code that confirms a registration, with the user name.
    Registration {
        /// The user name of the registration.
        username: Username,
        /// The code that confirms the address, in plain text.
        code: Code,
    },
    /// The notice of a registration with an address that already has an account.
    AccountExists,
    /// The code of a second factor.
    Mfa {
        /// The code that completes the login, in plain text.
        code: Code,
    },
    /// The code for a new password.
    Reset {
        /// The code that allows a new password, in plain text.
        code: Code,
    },
    /// The notice of a new password.
    PasswordChanged,
    /// The notice that a login requires a second factor from now on.
    MfaEnabled,
    /// The notice that a login requires no second factor from now on.
    MfaDisabled,
    /// The code that confirms the new address of an account.
    EmailChange {
        /// The code.
        code: Code,
    },
    /// The notice of a requested change of address, for the present address.
    EmailChangeRequested {
        /// The requested address.
        to: Email,
        /// The code of the second factor, where it is on.
        code: Option<Code>,
    },
    /// The notice of a changed address, for the former address.
    EmailChanged {
        /// The new address.
        to: Email,
        /// The token that undoes the change.
        undo: EmailUndoToken,
    },
    /// The notice of an undone change of address, for both addresses.
    EmailRestored {
        /// The restored address.
        email: Email,
    },
    /// The notice of a deleted account.
    AccountDeleted,
    /// The notice of a lock after wrong passwords, one for each lock.
    AccountLocked,
    /// A broadcast of an administrator.
    Announcement {
        /// The headline of the broadcast, in one line.
        title: String,
        /// A short summary in one line, or an empty text.
        description: String,
        /// The text, or an empty text.
        message: String,
    },
    /// A message to the recipient's chat, in place of an e-mail.
    Message {
        /// The chat that receives the message.
        chat: ChatId,
        /// The text of the message.
        text: String,
    },
    /// A row that is never sent. The row takes the place of a code's e-mail for an address that
    /// gets no code, so that both addresses have the same cost and the same quota.
    Decoy {
        /// The purpose whose quota the row counts against.
        purpose: Purpose,
    },
}

impl Content {
    /// Returns the purpose whose quota the message counts against; `None` for a notice.
    const fn purpose(&self) -> Option<Purpose> {
        match self {
            Self::Registration { .. } | Self::AccountExists => Some(Purpose::Registration),
            Self::Mfa { .. } => Some(Purpose::Mfa),
            Self::Reset { .. } => Some(Purpose::Reset),
            Self::AccountLocked => Some(Purpose::Lock),
            Self::EmailChange { .. } => Some(Purpose::EmailChange),
            Self::EmailChangeRequested { .. } => Some(Purpose::EmailChangeNotice),
            Self::Decoy { purpose } => Some(*purpose),
            Self::PasswordChanged
            | Self::MfaEnabled
            | Self::MfaDisabled
            | Self::EmailChanged { .. }
            | Self::EmailRestored { .. }
            | Self::AccountDeleted
            | Self::Announcement { .. }
            | Self::Message { .. } => None,
        }
    }

    /// Returns the channel that carries the message.
    const fn channel(&self) -> Channel {
        if matches!(self, Self::Message { .. }) { Channel::Messaging } else { Channel::Mail }
    }

    /// Returns the name of the kind, as stored.
    const fn name(&self) -> &'static str {
        match self {
            Self::Registration { .. } => "registration",
            Self::AccountExists => "account_exists",
            Self::Mfa { .. } => "mfa",
            Self::Reset { .. } => "reset",
            Self::PasswordChanged => "password_changed",
            Self::MfaEnabled => "mfa_enabled",
            Self::MfaDisabled => "mfa_disabled",
            Self::EmailChange { .. } => "email_change",
            Self::EmailChangeRequested { .. } => "email_change_requested",
            Self::EmailChanged { .. } => "email_changed",
            Self::EmailRestored { .. } => "email_restored",
            Self::AccountDeleted => "account_deleted",
            Self::AccountLocked => "account_locked",
            Self::Announcement { .. } => "announcement",
            Self::Message { .. } => "message",
            Self::Decoy { .. } => "decoy",
        }
    }
}

impl OutboundMessage {
    /// Seals the message for the outbox.
    #[must_use]
    pub fn seal(&self, vault: &Vault, rng: &mut dyn CryptoRng, now: Timestamp) -> SealedMessage {
        let id = MessageId(random::identifier(rng));
        let purpose = self.content.purpose();
        let plain = zeroize::Zeroizing::new(self.encode());
        // A message belongs to an address and not to an account, because the address may have no
        // account.
        let sealed = vault.seal(SealedKind::OutboundMessage, NOBODY, id.0, plain.as_bytes(), rng);
        let recipient = vault.email_digest(&self.to);
        let channel = self.content.channel();
        SealedMessage { id, channel, recipient, purpose, sealed, created_at: now }
    }

    /// Opens a message of the outbox.
    ///
    /// # Errors
    ///
    /// [`Error::Sealed`] where the message was altered or was sealed under a lost key.
    pub fn unseal(id: MessageId, sealed: &Sealed, vault: &Vault) -> Result<Self> {
        let plain = vault.unseal(SealedKind::OutboundMessage, NOBODY, id.0, sealed)?;
        std::str::from_utf8(&plain).ok().and_then(Self::decode).ok_or(Error::Sealed)
    }

    /// Writes one line each for kind, recipient and values. Only the last value of a kind can
    /// contain a line break.
    fn encode(&self) -> String {
        let (kind, to) = (self.content.name(), self.to.as_str());
        match &self.content {
            Content::Registration { username, code } => {
                format!("{kind}\n{to}\n{}\n{}", username.as_str(), code.expose())
            }
            Content::Mfa { code } | Content::Reset { code } | Content::EmailChange { code } => {
                format!("{kind}\n{to}\n{}", code.expose())
            }
            Content::EmailChangeRequested { to: new, code: None } => {
                format!("{kind}\n{to}\n{}", new.as_str())
            }
            Content::EmailChangeRequested { to: new, code: Some(code) } => {
                format!("{kind}\n{to}\n{}\n{}", new.as_str(), code.expose())
            }
            Content::EmailChanged { to: new, undo } => {
                format!("{kind}\n{to}\n{}\n{}", new.as_str(), undo.expose())
            }
            Content::EmailRestored { email } => format!("{kind}\n{to}\n{}", email.as_str()),
            Content::Decoy { purpose } => format!("{kind}\n{to}\n{}", purpose.name()),
            Content::Announcement { title, description, message } => {
                format!("{kind}\n{to}\n{title}\n{description}\n{message}")
            }
            Content::Message { chat, text } => {
                format!("{kind}\n{to}\n{}\n{text}", chat.as_str())
            }
            Content::AccountExists
            | Content::PasswordChanged
            | Content::MfaEnabled
            | Content::MfaDisabled
            | Content::AccountDeleted
            | Content::AccountLocked => format!("{kind}\n{to}"),
        }
    }

    fn decode(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('\n')?;
        let fields = match kind {
            "announcement" => 4,
            "message" => 3,
            _ => usize::MAX,
        };
        let mut lines = rest.splitn(fields, '\n');
        let to = Email::parse(lines.next()?).ok()?;
        let mut code = || Code::parse(lines.next()?).ok();
        let content = match kind {
            "mfa" => Content::Mfa { code: code()? },
            "reset" => Content::Reset { code: code()? },
            "email_change" => Content::EmailChange { code: code()? },
            "email_change_requested" => Content::EmailChangeRequested {
                to: Email::parse(lines.next()?).ok()?,
                code: lines.next().map(Code::parse).transpose().ok()?,
            },
            "email_changed" => Content::EmailChanged {
                to: Email::parse(lines.next()?).ok()?,
                undo: EmailUndoToken::parse(lines.next()?)?,
            },
            "email_restored" => Content::EmailRestored { email: Email::parse(lines.next()?).ok()? },
            "registration" => Content::Registration {
                username: Username::parse(lines.next()?).ok()?,
                code: Code::parse(lines.next()?).ok()?,
            },
            "decoy" => {
                let name = lines.next()?;
                let mut all = Purpose::ALL.into_iter();
                Content::Decoy { purpose: all.find(|purpose| purpose.name() == name)? }
            }
            "account_exists" => Content::AccountExists,
            "password_changed" => Content::PasswordChanged,
            "mfa_enabled" => Content::MfaEnabled,
            "mfa_disabled" => Content::MfaDisabled,
            "account_deleted" => Content::AccountDeleted,
            "account_locked" => Content::AccountLocked,
            "announcement" => Content::Announcement {
                title: lines.next()?.to_owned(),
                description: lines.next()?.to_owned(),
                message: lines.next()?.to_owned(),
            },
            "message" => Content::Message {
                chat: ChatId::parse(lines.next()?).ok()?,
                text: lines.next()?.to_owned(),
            },
            _ => return None,
        };
        Some(Self { to, content })
    }
}

/// The number of a message in the outbox; an e-mail counts as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId(pub u128);

/// A channel to the recipient, with a worker of its own, so that no channel waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// E-mail, by SMTP or into a folder.
    Mail,
    /// Chat messages, by the messaging service that the settings name.
    Messaging,
}

impl Channel {
    /// Returns the name of the channel, as stored.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Messaging => "messaging",
        }
    }
}

/// A sealed message in the outbox.
#[derive(Clone)]
pub struct SealedMessage {
    /// The number of the message in the outbox.
    pub id: MessageId,
    /// The channel that carries the message.
    pub channel: Channel,
    /// The address whose quota the message counts against.
    pub recipient: Digest<Email>,
    /// The purpose whose quota the message counts against; `None` for a notice.
    pub purpose: Option<Purpose>,
    /// The recipient and the content, sealed.
    pub sealed: Sealed,
    /// The time at which the message was written.
    pub created_at: Timestamp,
}

/// The messages of one purpose to one address from [`SendQuota::since`] to [`SendQuota::until`], and
/// the rule that limits the next ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendQuota {
    /// The number of messages in that time.
    pub messages: u32,
    /// The time of the last message; `None` where there was none in that time.
    pub last_at: Option<Timestamp>,
}

impl SendQuota {
    /// Returns the start of the 24 hours in which messages count.
    #[must_use]
    pub fn since(now: Timestamp) -> Timestamp {
        now - DAY
    }

    /// Returns the end of the time in which messages count: a minute ahead of `now`. Messages of
    /// other instances may be slightly ahead; messages of a clock that was wrong by more do not
    /// count.
    #[must_use]
    pub fn until(now: Timestamp) -> Timestamp {
        now + COOLDOWN
    }

    /// Returns whether another message may be sent now.
    #[must_use]
    pub fn allows(&self, now: Timestamp) -> bool {
        // The absolute difference is compared, so that a clock that is set back does not silence an
        // address for long.
        let cool = self.last_at.is_none_or(|last| (now - last).abs() >= COOLDOWN);
        cool && self.messages < MESSAGES_A_DAY
    }
}

/// A message of the outbox whose time to be sent has come.
pub struct DueMessage {
    /// The number of the message in the outbox.
    pub id: MessageId,
    /// The recipient and the content, sealed.
    pub sealed: Sealed,
    /// The time at which the message was written.
    pub created_at: Timestamp,
    /// The number of failed attempts to send the message.
    pub failures: u32,
}

/// Returns the delay before the next attempt: one second, doubled with each failure, at most one
/// hour.
#[must_use]
pub fn retry_delay(failures: u32) -> Duration {
    Duration::from_secs(1 << (failures.clamp(1, 13) - 1)).min(LONGEST_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::seeded_rng;

    #[test]
    fn a_sealed_email_opens_unchanged_and_as_no_other_kind() {
        let mut rng = seeded_rng(1);
        let vault = Vault::create(&mut rng);
        let to = Email::parse("ada@example.com").unwrap();
        let code = Code::parse("012345").unwrap();
        let contents = [
            Content::Registration { username: Username::parse("ada").unwrap(), code: code.clone() },
            Content::AccountExists,
            Content::Mfa { code: code.clone() },
            Content::Reset { code: code.clone() },
            Content::PasswordChanged,
            Content::MfaEnabled,
            Content::MfaDisabled,
            Content::EmailChange { code: code.clone() },
            Content::EmailChangeRequested { to: to.clone(), code: None },
            Content::EmailChangeRequested { to: to.clone(), code: Some(code) },
            Content::EmailChanged { to: to.clone(), undo: EmailUndoToken::generate(&mut rng) },
            Content::EmailRestored { email: to.clone() },
            Content::AccountDeleted,
            Content::AccountLocked,
            Content::Announcement {
                title: "News".to_owned(),
                description: String::new(),
                message: "Two\nlines".to_owned(),
            },
            Content::Message {
                chat: ChatId::parse("-100").unwrap(),
                text: "Two\n\nparagraphs".to_owned(),
            },
            Content::Decoy { purpose: Purpose::Reset },
        ];
        for content in contents {
            let message = OutboundMessage { to: to.clone(), content };
            let waiting = message.seal(&vault, &mut rng, Timestamp::UNIX_EPOCH);
            let opened =
                OutboundMessage::unseal(waiting.id, &waiting.sealed, &vault).expect("its own");
            assert_eq!(opened.encode(), message.encode());
            assert!(
                OutboundMessage::unseal(MessageId(waiting.id.0 ^ 1), &waiting.sealed, &vault)
                    .is_err()
            );
        }
    }

    #[test]
    fn ten_emails_a_day_a_minute_apart() {
        let now = Timestamp::UNIX_EPOCH + DAY;
        let seconds = |seconds| Some(now - TimeDelta::seconds(seconds));
        for (messages, last_at, allowed) in [
            (0, None, true),
            (1, seconds(59), false),
            (1, seconds(60), true),
            (9, seconds(60), true),
            (10, seconds(3600), false),
            (1, seconds(-30), false),
            (1, seconds(-3600), true),
        ] {
            assert_eq!(
                SendQuota { messages, last_at }.allows(now),
                allowed,
                "{messages} {last_at:?}"
            );
        }
    }

    #[test]
    fn a_failing_email_is_retried_at_growing_intervals_of_at_most_an_hour() {
        let delays: Vec<u64> = (0..=14).map(|failures| retry_delay(failures).as_secs()).collect();
        assert_eq!(delays[..5], [1, 1, 2, 4, 8]);
        assert_eq!(delays[12..], [2048, 3600, 3600]);
    }
}
