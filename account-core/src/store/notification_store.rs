//! The inbox, preferences, broadcasts and the outbox.

use chrono::TimeDelta;

use crate::identity::{AccountId, Email};
use crate::notification::{Announcement, Notice, NotificationId, PreferenceChanges, Preferences};
use crate::outbox::{Channel, DueMessage, MessageId, SealedMessage};
use crate::{StoreError, Timestamp};

/// The least time between two test messages of one account.
pub const TEST_COOLDOWN: TimeDelta = TimeDelta::seconds(60);

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

/// The storage of notifications, preferences, broadcasts and outbound messages.
///
/// An account sees its own notifications, and the broadcasts that were made since it was verified.
pub trait NotificationStore: Send + Sync {
    /// Lists notifications, newest first, and counts all and the unread. Broadcasts are left out
    /// where the account does not want them in its inbox ([`Preferences::notify_in_app`]).
    fn notifications(
        &self,
        account: AccountId,
        unread_only: bool,
        limit: u32,
        offset: u32,
    ) -> impl Future<Output = Result<Inbox, StoreError>> + Send;

    /// Marks a notification that the account sees as read; `false` where there is none. One that
    /// was read stays read since then.
    fn read_notification(
        &self,
        account: AccountId,
        id: NotificationId,
        now: Timestamp,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Marks all that the account sees as read; answers how many were not.
    fn read_all_notifications(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Takes a notification out of the account's inbox; `false` where there is none.
    fn delete_notification(
        &self,
        account: AccountId,
        id: NotificationId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Writes a notice into an account's inbox; nothing where the account is gone.
    fn add_notice(
        &self,
        account: AccountId,
        notice: &Notice,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads the preferences; the default of an account that never changed them.
    fn preferences(
        &self,
        account: AccountId,
    ) -> impl Future<Output = Result<Preferences, StoreError>> + Send;

    /// Applies [`Preferences::changed`] and answers the result, as one step.
    fn change_preferences(
        &self,
        account: AccountId,
        changes: PreferenceChanges,
    ) -> impl Future<Output = Result<Preferences, StoreError>> + Send;

    /// Puts a test message into the outbox; `false`, and nothing changed, where the account's last
    /// one was written within [`TEST_COOLDOWN`].
    fn send_test_message(
        &self,
        account: AccountId,
        message: SealedMessage,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Saves a broadcast to all accounts that are verified now; answers how many those are.
    fn broadcast(
        &self,
        announcement: &Announcement,
        now: Timestamp,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// The next accounts of the oldest broadcast that has not reached everyone by e-mail or
    /// message; `None` where every one has.
    fn next_batch(
        &self,
        limit: u32,
    ) -> impl Future<Output = Result<Option<Batch>, StoreError>> + Send;

    /// Puts a batch's messages into the outbox and moves on to its last account, or ends the
    /// broadcast where the batch has none, as one step. Does nothing where another worker moved on
    /// first.
    fn post_batch(
        &self,
        batch: &Batch,
        messages: Vec<SealedMessage>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Lists messages of a channel that are due, oldest first.
    fn due_messages(
        &self,
        channel: Channel,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<DueMessage>, StoreError>> + Send;

    /// When the next message of a channel is due, now or later; `None` where none waits.
    fn next_message_at(
        &self,
        channel: Channel,
    ) -> impl Future<Output = Result<Option<Timestamp>, StoreError>> + Send;

    /// How many messages of a channel are not sent yet, due or put off.
    fn waiting_messages(
        &self,
        channel: Channel,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Wipes a message that was sent; that there was one still counts for [`SendQuota`](crate::outbox::SendQuota).
    fn message_sent(
        &self,
        id: MessageId,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Counts a failure and puts the message off.
    fn message_failed(
        &self,
        id: MessageId,
        retry_at: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}
