//! The inbox, its preferences, and broadcasts to all accounts.
//!
//! A broadcast is one row, however many accounts there are: who read or deleted it is marked when
//! it happens, and reading all of them moves one mark. Letters and messages are written by a
//! worker, batch by batch along the accounts' numbers, never in the request.

use crate::accounts::{Accounts, Store};
use crate::identity::{AccountId, Email};
use crate::notification::{Announcement, Notice, NotificationId, PreferenceChanges, Preferences};
use crate::outbox::{Channel, Content, SealedMessage};
use crate::password::PasswordHasher;
use crate::{Error, Result, StoreError, Timestamp};

/// The least time between two test messages of one account.
pub const TEST_COOLDOWN: chrono::TimeDelta = chrono::TimeDelta::seconds(60);

/// Letters put off after failures, of one lane, with which no broadcast goes on.
pub const WAITING: u64 = 1_000;

/// A notification as its reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Its number.
    pub id: NotificationId,
    /// Its headline.
    pub title: String,
    /// A short summary.
    pub description: Option<String>,
    /// The text.
    pub message: Option<String>,
    /// What it is about.
    pub category: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was read.
    pub read_at: Option<Timestamp>,
}

/// A page of an inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox {
    /// The notifications, newest first.
    pub entries: Vec<Notification>,
    /// How many there are, unread or not.
    pub total: u64,
    /// How many of them are unread.
    pub unread: u64,
}

/// A batch of accounts that a broadcast has not reached yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The broadcast.
    pub broadcast: NotificationId,
    /// What it says, and over which channels.
    pub announcement: Announcement,
    /// The last account that was reached.
    pub after: AccountId,
    /// Those that come next, by their numbers; none where all are reached.
    pub recipients: Vec<Recipient>,
}

/// An account that a broadcast goes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipient {
    /// The account.
    pub account: AccountId,
    /// Its address.
    pub email: Email,
    /// How it wants to hear of broadcasts.
    pub preferences: Preferences,
}

/// Where notifications are kept. An account sees its own, and the broadcasts that were made since
/// it was verified.
pub trait InboxStore: Send + Sync {
    /// Lists notifications, newest first, and counts all and the unread. Broadcasts are left out
    /// where the account does not want them in its inbox ([`Preferences::notify_in_app`]).
    fn notifications(
        &self,
        account: AccountId,
        unread_only: bool,
        limit: u32,
        offset: u32,
    ) -> impl Future<Output = std::result::Result<Inbox, StoreError>> + Send;

    /// Marks a notification that the account sees as read; `false` where there is none. One that
    /// was read stays read since then.
    fn read_notification(
        &self,
        account: AccountId,
        id: NotificationId,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<bool, StoreError>> + Send;

    /// Marks all that the account sees as read; answers how many were not.
    fn read_all_notifications(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<u64, StoreError>> + Send;

    /// Takes a notification out of the account's inbox; `false` where there is none.
    fn delete_notification(
        &self,
        account: AccountId,
        id: NotificationId,
    ) -> impl Future<Output = std::result::Result<bool, StoreError>> + Send;

    /// Writes a notice into an account's inbox; nothing where the account is gone.
    fn add_notice(
        &self,
        account: AccountId,
        notice: &Notice,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;
}

/// Where preferences are kept.
pub trait PreferenceStore: Send + Sync {
    /// Reads the preferences; the default of an account that never changed them.
    fn preferences(
        &self,
        account: AccountId,
    ) -> impl Future<Output = std::result::Result<Preferences, StoreError>> + Send;

    /// Applies [`Preferences::changed`] and answers the result, as one step.
    fn change_preferences(
        &self,
        account: AccountId,
        changes: PreferenceChanges,
    ) -> impl Future<Output = std::result::Result<Preferences, StoreError>> + Send;

    /// Puts a test message into the outbox; `false`, and nothing changed, where the account's last
    /// one was written within [`TEST_COOLDOWN`].
    fn send_test_message(
        &self,
        account: AccountId,
        message: SealedMessage,
    ) -> impl Future<Output = std::result::Result<bool, StoreError>> + Send;
}

/// Where broadcasts are kept.
pub trait BroadcastStore: Send + Sync {
    /// Saves a broadcast to all accounts that are verified now; answers how many those are.
    fn broadcast(
        &self,
        announcement: &Announcement,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<u64, StoreError>> + Send;

    /// The next accounts of the oldest broadcast that has not reached everyone by e-mail or
    /// message; `None` where every one has.
    fn next_batch(
        &self,
        limit: u32,
    ) -> impl Future<Output = std::result::Result<Option<Batch>, StoreError>> + Send;

    /// Puts a batch's letters into the outbox and moves on to its last account, or ends the
    /// broadcast where the batch has none, as one step. Does nothing where another worker moved on
    /// first.
    fn post_batch(
        &self,
        batch: &Batch,
        messages: Vec<SealedMessage>,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Lists an account's notifications.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn notifications(
        &self,
        account: AccountId,
        unread_only: bool,
        limit: u32,
        offset: u32,
    ) -> Result<Inbox> {
        Ok(self.store().notifications(account, unread_only, limit, offset).await?)
    }

    /// Marks one notification as read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the account does not see such a one; [`Error::Store`].
    pub async fn read_notification(
        &self,
        account: AccountId,
        id: NotificationId,
        now: Timestamp,
    ) -> Result<()> {
        found(self.store().read_notification(account, id, now).await?)
    }

    /// Marks all notifications as read; answers how many were not.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn read_all_notifications(&self, account: AccountId, now: Timestamp) -> Result<u64> {
        Ok(self.store().read_all_notifications(account, now).await?)
    }

    /// Takes one notification out of the inbox.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the account does not see such a one; [`Error::Store`].
    pub async fn delete_notification(&self, account: AccountId, id: NotificationId) -> Result<()> {
        found(self.store().delete_notification(account, id).await?)
    }

    /// Tells an account that a debit crossed a mark ([`Notice::of_debit`]).
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn add_notice(
        &self,
        account: AccountId,
        notice: &Notice,
        now: Timestamp,
    ) -> Result<()> {
        Ok(self.store().add_notice(account, notice, now).await?)
    }

    /// Reads an account's preferences.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn preferences(&self, account: AccountId) -> Result<Preferences> {
        Ok(self.store().preferences(account).await?)
    }

    /// Changes an account's preferences and answers them all.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn change_preferences(
        &self,
        account: AccountId,
        changes: PreferenceChanges,
    ) -> Result<Preferences> {
        Ok(self.store().change_preferences(account, changes).await?)
    }

    /// Sends a test message to an account's chat, through the outbox; `false` where the last one
    /// was sent less than a minute ago.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for `messaging_chat_id` where the account has none;
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn send_test_message(&self, account: AccountId, now: Timestamp) -> Result<bool> {
        let missing = Error::invalid("messaging_chat_id", "set first", "chat_id");
        let chat = self.store().preferences(account).await?.messaging_chat_id.ok_or(missing)?;
        let email = self.profile(account).await?.email;
        let text = "This is the test message that you asked for.".to_owned();
        let message = self.message(&email, Content::Message { chat, text }, now);
        Ok(self.store().send_test_message(account, message).await?)
    }

    /// Tells all accounts; answers how many there are. Letters and messages follow by
    /// [`fan_out`](Self::fan_out).
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn broadcast(&self, announcement: &Announcement, now: Timestamp) -> Result<u64> {
        Ok(self.store().broadcast(announcement, now).await?)
    }

    /// Writes the letters and messages of a broadcast for the next accounts; `false` where every
    /// broadcast has reached everyone, or the outbox has enough to do. Calls at the same time, or
    /// again after a crash, write no letter twice.
    ///
    /// A batch waits until nothing else is due, so that a code never waits behind a broadcast, and
    /// until fewer than [`WAITING`] letters were put off, so that a dead server fills no outbox.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn fan_out(&self, limit: u32, now: Timestamp) -> Result<bool> {
        let Some(batch) = self.store().next_batch(limit).await? else { return Ok(false) };
        for channel in [Channel::Mail, Channel::Messaging] {
            let is_busy = !self.store().due_messages(channel, now, 1).await?.is_empty();
            if is_busy || self.store().waiting_messages(channel).await? >= WAITING {
                return Ok(false);
            }
        }
        let messages = batch.recipients.iter().flat_map(|recipient| {
            let contents = contents(&batch.announcement, recipient);
            contents.into_iter().map(|content| self.message(&recipient.email, content, now))
        });
        let messages = messages.collect();
        self.store().post_batch(&batch, messages).await?;
        Ok(true)
    }
}

fn found(is_there: bool) -> Result<()> {
    if is_there { Ok(()) } else { Err(Error::NotFound) }
}

/// What one account is sent of a broadcast.
fn contents(announcement: &Announcement, recipient: &Recipient) -> Vec<Content> {
    let Recipient { preferences, .. } = recipient;
    let mut contents = Vec::new();
    if announcement.channels.email && preferences.notify_email {
        contents.push(Content::Announcement {
            title: announcement.title.clone(),
            description: announcement.description.clone().unwrap_or_default(),
            message: announcement.message.clone().unwrap_or_default(),
        });
    }
    let chat = preferences.messaging_chat_id.as_ref().filter(|_| preferences.notify_messaging);
    if let (true, Some(chat)) = (announcement.channels.messaging, chat) {
        contents.push(Content::Message { chat: chat.clone(), text: message_text(announcement) });
    }
    contents
}

/// Title, summary and text as one message.
fn message_text(announcement: &Announcement) -> String {
    let Announcement { title, description, message, .. } = announcement;
    let parts = [Some(title.as_str()), description.as_deref(), message.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}
