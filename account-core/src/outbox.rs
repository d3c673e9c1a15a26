//! Letters: what is said to whom, and how many may be sent.
//!
//! A letter is sealed and put into the outbox in the transaction that needs it; a worker of the
//! server sends it later, so that no request waits for a mail server and no crash loses a letter.

use std::time::Duration;

use chrono::TimeDelta;

use crate::code::{Code, Purpose};
use crate::entropy::{self, Entropy};
use crate::identity::{Email, NOBODY, Username};
use crate::notification::ChatId;
use crate::vault::{Digest, Sealed, SealedKind, Vault};
use crate::{Error, Result, StoreError, Timestamp};

/// The least time between two letters of one purpose to one address.
pub const COOLDOWN: TimeDelta = TimeDelta::seconds(60);
/// Letters of one purpose to one address within 24 hours.
pub const MESSAGES_A_DAY: u32 = 10;

const DAY: TimeDelta = TimeDelta::hours(24);
const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// A letter, ready to be written.
#[derive(Clone)]
pub struct OutboundMessage {
    /// The one recipient.
    pub to: Email,
    /// What it says.
    pub content: Content,
}

/// What a letter says.
#[derive(Clone)]
pub enum Content {
    /// The code that confirms a registration, and the name of the account it would make.
    Registration {
        /// The name that the registration asks for.
        username: Username,
        /// The code.
        code: Code,
    },
    /// Someone tried to register an address that has an account.
    AccountExists,
    /// The code of the second step of a login.
    Mfa {
        /// The code.
        code: Code,
    },
    /// The code that sets a new password.
    Reset {
        /// The code.
        code: Code,
    },
    /// The password was replaced.
    PasswordChanged,
    /// A login asks for a second factor from now on.
    MfaEnabled,
    /// A login asks for no second factor any more.
    MfaDisabled,
    /// The account is gone.
    AccountDeleted,
    /// Wrong passwords locked the account's logins; once for each lock.
    AccountLocked,
    /// What an administrator tells all accounts.
    Announcement {
        /// Its headline, one line.
        title: String,
        /// A short summary, one line; empty where there is none.
        description: String,
        /// The text; empty where there is none.
        message: String,
    },
    /// No letter, but a message to a chat of the recipient's.
    Message {
        /// The chat.
        chat: ChatId,
        /// What it says.
        text: String,
    },
    /// Nothing: stands in the outbox where an address was asked about that gets no code, so that
    /// it costs and counts the same. It is never sent.
    Decoy {
        /// Which letters it counts among.
        purpose: Purpose,
    },
}

impl Content {
    /// Which letters it counts among; a notice of what was done counts among none.
    const fn purpose(&self) -> Option<Purpose> {
        match self {
            Self::Registration { .. } | Self::AccountExists => Some(Purpose::Registration),
            Self::Mfa { .. } => Some(Purpose::Mfa),
            Self::Reset { .. } => Some(Purpose::Reset),
            Self::AccountLocked => Some(Purpose::Lock),
            Self::Decoy { purpose } => Some(*purpose),
            Self::PasswordChanged
            | Self::MfaEnabled
            | Self::MfaDisabled
            | Self::AccountDeleted
            | Self::Announcement { .. }
            | Self::Message { .. } => None,
        }
    }

    /// Which worker sends it.
    const fn channel(&self) -> Channel {
        if matches!(self, Self::Message { .. }) { Channel::Messaging } else { Channel::Mail }
    }

    /// The name of the kind, under which it is stored.
    const fn name(&self) -> &'static str {
        match self {
            Self::Registration { .. } => "registration",
            Self::AccountExists => "account_exists",
            Self::Mfa { .. } => "mfa",
            Self::Reset { .. } => "reset",
            Self::PasswordChanged => "password_changed",
            Self::MfaEnabled => "mfa_enabled",
            Self::MfaDisabled => "mfa_disabled",
            Self::AccountDeleted => "account_deleted",
            Self::AccountLocked => "account_locked",
            Self::Announcement { .. } => "announcement",
            Self::Message { .. } => "message",
            Self::Decoy { .. } => "decoy",
        }
    }
}

impl OutboundMessage {
    /// Seals the letter for the outbox.
    #[must_use]
    pub fn seal(&self, vault: &Vault, entropy: &dyn Entropy, now: Timestamp) -> SealedMessage {
        let id = MessageId(entropy::identifier(entropy));
        let purpose = self.content.purpose();
        let plain = zeroize::Zeroizing::new(self.encode());
        // Letters belong to an address, not to an account: it may be unknown or gone.
        let sealed =
            vault.seal(SealedKind::OutboundMessage, NOBODY, id.0, plain.as_bytes(), entropy);
        let recipient = vault.email_digest(&self.to);
        let channel = self.content.channel();
        SealedMessage { id, channel, recipient, purpose, sealed, created_at: now }
    }

    /// Opens a letter of the outbox.
    ///
    /// # Errors
    ///
    /// [`Error::Sealed`] where it was altered or sealed under a lost key.
    pub fn unseal(id: MessageId, sealed: &Sealed, vault: &Vault) -> Result<Self> {
        let plain = vault.unseal(SealedKind::OutboundMessage, NOBODY, id.0, sealed)?;
        std::str::from_utf8(&plain).ok().and_then(Self::decode).ok_or(Error::Sealed)
    }

    /// One line each: kind, recipient, what the kind needs. Only the last field of a kind can hold
    /// a line's end.
    fn encode(&self) -> String {
        let (kind, to) = (self.content.name(), self.to.as_str());
        match &self.content {
            Content::Registration { username, code } => {
                format!("{kind}\n{to}\n{}\n{}", username.as_str(), code.expose())
            }
            Content::Mfa { code } | Content::Reset { code } => {
                format!("{kind}\n{to}\n{}", code.expose())
            }
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

/// The number of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId(pub u128);

/// Which worker sends what waits; the lanes do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Letters.
    Mail,
    /// Messages.
    Messaging,
}

impl Channel {
    /// The name under which it is stored.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Messaging => "messaging",
        }
    }
}

/// A letter as it waits in the outbox.
#[derive(Clone)]
pub struct SealedMessage {
    /// The number of the letter.
    pub id: MessageId,
    /// Which worker sends it.
    pub channel: Channel,
    /// Whose letters it counts among.
    pub recipient: Digest<Email>,
    /// Which letters it counts among.
    pub purpose: Option<Purpose>,
    /// The letter.
    pub sealed: Sealed,
    /// When it was written.
    pub created_at: Timestamp,
}

/// The letters of one purpose that an address got within the last 24 hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendQuota {
    /// How many.
    pub messages: u32,
    /// When the last of them was written.
    pub last_at: Option<Timestamp>,
}

impl SendQuota {
    /// From when on letters count.
    #[must_use]
    pub fn since(now: Timestamp) -> Timestamp {
        now - DAY
    }

    /// Whether another letter may be sent.
    #[must_use]
    pub fn allows(&self, now: Timestamp) -> bool {
        // The distance, not the difference: a clock put back must not silence an address for long.
        let cool = self.last_at.is_none_or(|last| (now - last).abs() >= COOLDOWN);
        cool && self.messages < MESSAGES_A_DAY
    }
}

/// A letter that is due.
pub struct DueMessage {
    /// The number of the letter.
    pub id: MessageId,
    /// The letter.
    pub sealed: Sealed,
    /// When it was written.
    pub created_at: Timestamp,
    /// How often sending it failed.
    pub failures: u32,
}

/// How long to wait after so many failures: a second, doubled each time, an hour at most.
#[must_use]
pub fn retry_delay(failures: u32) -> Duration {
    Duration::from_secs(1 << (failures.clamp(1, 13) - 1)).min(LONGEST_DELAY)
}

/// Where letters wait.
pub trait OutboxStore: Send + Sync {
    /// Lists letters of a lane that are due, oldest first.
    fn due_messages(
        &self,
        channel: Channel,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = std::result::Result<Vec<DueMessage>, StoreError>> + Send;

    /// When the next letter of a lane is due, now or later; `None` where none waits.
    fn next_message_at(
        &self,
        channel: Channel,
    ) -> impl Future<Output = std::result::Result<Option<Timestamp>, StoreError>> + Send;

    /// How many letters of a lane are not sent yet, due or put off.
    fn waiting_messages(
        &self,
        channel: Channel,
    ) -> impl Future<Output = std::result::Result<u64, StoreError>> + Send;

    /// Wipes a letter that was sent; that there was one still counts for [`SendQuota`].
    fn message_sent(
        &self,
        id: MessageId,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;

    /// Counts a failure and puts the letter off.
    fn message_failed(
        &self,
        id: MessageId,
        retry_at: Timestamp,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;

    /// Forgets sent letters that count no longer ([`SendQuota::since`]).
    fn forget_messages(
        &self,
        before: Timestamp,
    ) -> impl Future<Output = std::result::Result<u64, StoreError>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SeededEntropy;

    #[test]
    fn a_sealed_letter_opens_as_it_was_and_only_as_itself() {
        let entropy = SeededEntropy::new(1);
        let vault = Vault::create(&entropy);
        let to = Email::parse("ada@example.com").unwrap();
        let code = Code::parse("012345").unwrap();
        let contents = [
            Content::Registration { username: Username::parse("ada").unwrap(), code: code.clone() },
            Content::AccountExists,
            Content::Mfa { code: code.clone() },
            Content::Reset { code },
            Content::PasswordChanged,
            Content::MfaEnabled,
            Content::MfaDisabled,
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
            let waiting = message.seal(&vault, &entropy, Timestamp::UNIX_EPOCH);
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
    fn ten_letters_a_day_a_minute_apart() {
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
    fn a_failing_letter_is_tried_ever_more_rarely_but_at_least_each_hour() {
        let delays: Vec<u64> = (0..=14).map(|failures| retry_delay(failures).as_secs()).collect();
        assert_eq!(delays[..5], [1, 1, 2, 4, 8]);
        assert_eq!(delays[12..], [2048, 3600, 3600]);
    }
}
