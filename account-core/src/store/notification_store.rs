//! The inbox, preferences, broadcasts and the outbox.

use chrono::TimeDelta;

use crate::identity::{AccountId, Email};
use crate::notification::{Announcement, Notice, NotificationId, PreferenceChanges, Preferences};
use crate::outbox::{Channel, DueMessage, MessageId, SealedMessage};
use crate::{StoreError, Timestamp};

/// The least time between two test messages of one account.
pub const TEST_COOLDOWN: TimeDelta = TimeDelta::seconds(60);

/// A notification as its account sees it in the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The number of the notification.
    pub id: NotificationId,
    /// The headline, in one line.
    pub title: String,
    /// A short summary, in one line; `None` where the notification has none.
    pub description: Option<String>,
    /// The text, in lines and paragraphs; `None` where the notification has none.
    pub message: Option<String>,
    /// The category, as in `security`.
    pub category: String,
    /// The time at which the notification was written.
    pub created_at: Timestamp,
    /// The time at which the account first read the notification; `None` while unread.
    pub read_at: Option<Timestamp>,
}

/// One page of an account's inbox, with the counts of all pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox {
    /// The notifications, newest first.
    pub entries: Vec<Notification>,
    /// The number of notifications on all pages.
    pub total: u64,
    /// The number of unread notifications on all pages.
    pub unread: u64,
}

/// The next batch of accounts of a broadcast.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The number of the broadcast.
    pub broadcast: NotificationId,
    /// The text and the channels of the broadcast.
    pub announcement: Announcement,
    /// The last account of the previous batch.
    pub after: AccountId,
    /// The next accounts, in the order of their numbers; none where the broadcast is complete.
    pub recipients: Vec<Recipient>,
}

/// An account that receives a broadcast.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipient {
    /// The account that receives the broadcast.
    pub account: AccountId,
    /// The e-mail address of the account.
    pub email: Email,
    /// The preferences, which select the channels.
    pub preferences: Preferences,
}

/// The storage of notifications, preferences, broadcasts and the outbox.
///
/// An account sees its own notifications, and the broadcasts since its verification.
pub trait NotificationStore: Send + Sync {
    /// Lists notifications, newest first, with the numbers of all and of unread ones. Broadcasts
    /// are omitted where the account's preferences exclude them from the inbox
    /// ([`Preferences::notify_in_app`]).
    fn notifications(
        &self,
        account: AccountId,
        unread_only: bool,
        limit: u32,
        offset: u32,
    ) -> impl Future<Output = Result<Inbox, StoreError>> + Send;

    /// Marks a notification that the account sees as read; `false` where there is none. The time of
    /// the first reading is kept.
    fn read_notification(
        &self,
        account: AccountId,
        id: NotificationId,
        now: Timestamp,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Marks all notifications that the account sees as read, and returns the number of those that
    /// were unread.
    fn read_all_notifications(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Removes a notification from the account's inbox; `false` where there is none.
    fn delete_notification(
        &self,
        account: AccountId,
        id: NotificationId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Writes a notice into an account's inbox; does nothing for a deleted account.
    fn add_notice(
        &self,
        account: AccountId,
        notice: &Notice,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads the preferences, which are the default until the account changes them.
    fn preferences(
        &self,
        account: AccountId,
    ) -> impl Future<Output = Result<Preferences, StoreError>> + Send;

    /// Applies [`Preferences::changed`] and returns the result, in one transaction.
    fn change_preferences(
        &self,
        account: AccountId,
        changes: PreferenceChanges,
    ) -> impl Future<Output = Result<Preferences, StoreError>> + Send;

    /// Puts a test message into the outbox; `false`, with nothing changed, where the account's last
    /// test message is younger than [`TEST_COOLDOWN`].
    fn send_test_message(
        &self,
        account: AccountId,
        message: SealedMessage,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Saves a broadcast to all accounts that are verified now, and returns their number.
    fn broadcast(
        &self,
        announcement: &Announcement,
        now: Timestamp,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Returns the next accounts of the oldest incomplete broadcast; `None` where all broadcasts
    /// are complete.
    fn next_batch(
        &self,
        limit: u32,
    ) -> impl Future<Output = Result<Option<Batch>, StoreError>> + Send;

    /// Puts a batch's messages into the outbox and records its last account, or completes the
    /// broadcast where the batch is empty, in one transaction. Does nothing where another worker
    /// recorded the batch first.
    fn post_batch(
        &self,
        batch: &Batch,
        messages: Vec<SealedMessage>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Lists the due messages of a channel, oldest first.
    fn due_messages(
        &self,
        channel: Channel,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<DueMessage>, StoreError>> + Send;

    /// Returns the time at which the next message of a channel is due; `None` where no message
    /// waits.
    fn next_message_at(
        &self,
        channel: Channel,
    ) -> impl Future<Output = Result<Option<Timestamp>, StoreError>> + Send;

    /// Counts the unsent messages of a channel, due or postponed.
    fn waiting_messages(
        &self,
        channel: Channel,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Wipes the text of a sent message, which still counts for its
    /// [`SendQuota`](crate::outbox::SendQuota).
    fn message_sent(&self, id: MessageId) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Counts a failure and postpones the message.
    fn message_failed(
        &self,
        id: MessageId,
        retry_at: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}
