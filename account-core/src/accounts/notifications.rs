//! The inbox, notification preferences, and broadcasts to all accounts.
//!
//! A broadcast is one row, whatever the number of accounts. An account that reads or deletes a
//! broadcast gets a mark of its own, and reading all notifications moves a single mark. The worker
//! writes e-mails and chat messages in batches, in the order of account numbers, never during a
//! request.

use crate::accounts::Accounts;
use crate::identity::AccountId;
use crate::notification::{Announcement, Notice, NotificationId, PreferenceChanges, Preferences};
use crate::outbox::{Channel, Content};
use crate::password::PasswordHasher;
use crate::store::{Inbox, Recipient, Store};
use crate::{Error, Result, Timestamp};

/// The number of postponed messages of one channel from which on broadcasts wait.
pub const WAITING: u64 = 1_000;

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

    /// Marks a notification as read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the account has no such notification; [`Error::Store`].
    pub async fn read_notification(
        &self,
        account: AccountId,
        id: NotificationId,
        now: Timestamp,
    ) -> Result<()> {
        found(self.store().read_notification(account, id, now).await?)
    }

    /// Marks all notifications as read, and returns the number of those that were unread.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn read_all_notifications(&self, account: AccountId, now: Timestamp) -> Result<u64> {
        Ok(self.store().read_all_notifications(account, now).await?)
    }

    /// Removes a notification from the inbox.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the account has no such notification; [`Error::Store`].
    pub async fn delete_notification(&self, account: AccountId, id: NotificationId) -> Result<()> {
        found(self.store().delete_notification(account, id).await?)
    }

    /// Notifies an account of a debit that crossed a mark ([`Notice::of_debit`]).
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

    /// Changes an account's preferences, and returns all of them.
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

    /// Sends a test message to an account's chat through the outbox. Returns `false` where the last
    /// test message is less than a minute old.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for `messaging_chat_id` where the account has no chat;
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn send_test_message(&self, account: AccountId, now: Timestamp) -> Result<bool> {
        let missing = Error::invalid("messaging_chat_id", "set first", "chat_id");
        let chat = self.store().preferences(account).await?.messaging_chat_id.ok_or(missing)?;
        let email = self.profile(account).await?.email;
        let text = "This is the test message that you asked for.".to_owned();
        let message = self.message(&email, Content::Message { chat, text }, now);
        Ok(self.store().send_test_message(account, message).await?)
    }

    /// Announces a broadcast to all accounts, and returns their number. [`fan_out`](Self::fan_out)
    /// writes the e-mails and chat messages.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn broadcast(&self, announcement: &Announcement, now: Timestamp) -> Result<u64> {
        Ok(self.store().broadcast(announcement, now).await?)
    }

    /// Writes the messages of the next batch of a broadcast; `false` where no batch is left or the
    /// batch has to wait.
    ///
    /// A batch waits until no other message is due, so that a code never waits for a broadcast. A
    /// batch also waits while [`WAITING`] messages are postponed, so that the outbox does not grow
    /// while a mail server is down.
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

/// Returns the messages that one account gets of a broadcast.
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

/// Joins title, summary and text into one message.
fn message_text(announcement: &Announcement) -> String {
    let Announcement { title, description, message, .. } = announcement;
    let parts = [Some(title.as_str()), description.as_deref(), message.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}
