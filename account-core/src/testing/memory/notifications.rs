//! The inbox, preferences, broadcasts and the outbox.

use super::tables::Broadcast;
use super::{MemoryStore, State, Stored, Waiting};
use crate::Timestamp;
use crate::code::Purpose;
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::notification::{Announcement, Notice, NotificationId, PreferenceChanges, Preferences};
use crate::outbox::{Channel, DueMessage, MessageId, SealedMessage, SendQuota};
use crate::store::{Batch, Inbox, Notification, NotificationStore, Recipient, TEST_COOLDOWN};

impl State {
    pub(super) fn notify(&mut self, account: AccountId, notice: &Notice, now: Timestamp) {
        if !self.accounts.contains_key(&account) {
            return;
        }
        let notification = Notification {
            id: self.notifications.next_id(),
            title: notice.title().to_owned(),
            description: Some(notice.description()),
            message: None,
            category: notice.category().to_owned(),
            created_at: now,
            read_at: None,
        };
        self.notifications.notices.push((account, notification));
    }

    /// Returns the notifications that an account sees, newest first.
    fn inbox(&self, account: AccountId) -> Vec<Notification> {
        let known = &self.notifications;
        let verified_at = self.accounts.get(&account).and_then(|account| account.verified_at);
        let wants = known.preferences.get(&account).is_none_or(|wishes| wishes.notify_in_app);
        let own = known.notices.iter().filter(|(whose, _)| *whose == account);
        let broadcasts = known.broadcasts.iter().filter(|broadcast| {
            wants
                && broadcast.announcement.channels.in_app
                && verified_at.is_some_and(|since| since <= broadcast.notification.created_at)
                && !known.deleted.contains(&(account, broadcast.notification.id))
        });
        let broadcasts = broadcasts.map(|broadcast| Notification {
            read_at: known.read.get(&(account, broadcast.notification.id)).copied(),
            ..broadcast.notification.clone()
        });
        let mut inbox: Vec<_> = own.map(|(_, own)| own.clone()).chain(broadcasts).collect();
        inbox.sort_by_key(|notification| std::cmp::Reverse(notification.id));
        inbox
    }

    fn mark_read(&mut self, account: AccountId, id: NotificationId, now: Timestamp) {
        let own =
            |(whose, notice): &&mut (AccountId, Notification)| (*whose, notice.id) == (account, id);
        if let Some((_, notice)) = self.notifications.notices.iter_mut().find(own) {
            notice.read_at.get_or_insert(now);
        } else {
            self.notifications.read.entry((account, id)).or_insert(now);
        }
    }
}

impl State {
    pub(super) fn quota(
        &self,
        recipient: &Digest<Email>,
        purpose: Purpose,
        now: Timestamp,
    ) -> SendQuota {
        let messages = self.messages.iter().map(|waiting| &waiting.message).filter(|message| {
            message.recipient == *recipient
                && message.purpose == Some(purpose)
                && message.created_at > SendQuota::since(now)
                && message.created_at <= SendQuota::until(now)
        });
        let times: Vec<Timestamp> = messages.map(|message| message.created_at).collect();
        SendQuota { messages: times.len() as u32, last_at: times.into_iter().max() }
    }

    pub(super) fn send(&mut self, message: SealedMessage) {
        let due_at = Some(message.created_at);
        self.messages.push(Waiting { message, due_at, failures: 0 });
    }
}

impl NotificationStore for MemoryStore {
    async fn notifications(
        &self,
        account: AccountId,
        unread_only: bool,
        limit: u32,
        offset: u32,
    ) -> Stored<Inbox> {
        let inbox = self.lock().inbox(account);
        let is_unread = |notification: &&Notification| notification.read_at.is_none();
        let listed = inbox.iter().filter(|one| !unread_only || is_unread(one));
        Ok(Inbox {
            entries: listed.skip(offset as usize).take(limit as usize).cloned().collect(),
            total: inbox.len() as u64,
            unread: inbox.iter().filter(is_unread).count() as u64,
        })
    }

    async fn read_notification(
        &self,
        account: AccountId,
        id: NotificationId,
        now: Timestamp,
    ) -> Stored<bool> {
        let mut state = self.lock();
        let is_there = state.inbox(account).iter().any(|notification| notification.id == id);
        if is_there {
            state.mark_read(account, id, now);
        }
        Ok(is_there)
    }

    async fn read_all_notifications(&self, account: AccountId, now: Timestamp) -> Stored<u64> {
        let mut state = self.lock();
        let unread = state.inbox(account).into_iter().filter(|one| one.read_at.is_none());
        let unread: Vec<_> = unread.map(|one| one.id).collect();
        for id in &unread {
            state.mark_read(account, *id, now);
        }
        Ok(unread.len() as u64)
    }

    async fn delete_notification(&self, account: AccountId, id: NotificationId) -> Stored<bool> {
        let mut state = self.lock();
        let is_there = state.inbox(account).iter().any(|notification| notification.id == id);
        let known = &mut state.notifications;
        known.notices.retain(|(whose, notice)| (*whose, notice.id) != (account, id));
        if is_there {
            known.deleted.insert((account, id));
        }
        Ok(is_there)
    }

    async fn add_notice(&self, account: AccountId, notice: &Notice, now: Timestamp) -> Stored<()> {
        self.lock().notify(account, notice, now);
        Ok(())
    }

    async fn preferences(&self, account: AccountId) -> Stored<Preferences> {
        Ok(self.lock().notifications.preferences.get(&account).cloned().unwrap_or_default())
    }

    async fn change_preferences(
        &self,
        account: AccountId,
        changes: PreferenceChanges,
    ) -> Stored<Preferences> {
        let mut state = self.lock();
        let is_there = state.accounts.contains_key(&account);
        let known = &mut state.notifications.preferences;
        let changed = known.get(&account).cloned().unwrap_or_default().changed(changes);
        if is_there {
            known.insert(account, changed.clone());
        }
        Ok(changed)
    }

    async fn send_test_message(&self, account: AccountId, message: SealedMessage) -> Stored<bool> {
        let (mut state, now) = self.lock_and_time();
        let last = state.notifications.tested.get(&account);
        if last.is_some_and(|last| now - *last < TEST_COOLDOWN) {
            return Ok(false);
        }
        state.notifications.tested.insert(account, now);
        state.send(message);
        Ok(true)
    }

    async fn broadcast(&self, announcement: &Announcement, now: Timestamp) -> Stored<u64> {
        let mut state = self.lock();
        let verified = state.accounts.iter().filter(|(_, row)| row.verified_at.is_some());
        let recipients: Vec<AccountId> = verified.map(|(id, _)| *id).collect();
        let notification = Notification {
            id: state.notifications.next_id(),
            title: announcement.title.clone(),
            description: announcement.description.clone(),
            message: announcement.message.clone(),
            category: announcement.category.clone(),
            created_at: now,
            read_at: None,
        };
        state.notifications.broadcasts.push(Broadcast {
            notification,
            announcement: announcement.clone(),
            reached: AccountId(0),
            is_done: !(announcement.channels.email || announcement.channels.messaging),
        });
        Ok(recipients.len() as u64)
    }

    async fn next_batch(&self, limit: u32) -> Stored<Option<Batch>> {
        let state = self.lock();
        let known = &state.notifications;
        let Some(broadcast) = known.broadcasts.iter().find(|broadcast| !broadcast.is_done) else {
            return Ok(None);
        };
        let next = state.accounts.iter().filter(|(id, row)| {
            **id > broadcast.reached
                && row.verified_at.is_some_and(|since| since <= broadcast.notification.created_at)
        });
        let recipients = next.take(limit as usize).map(|(id, row)| Recipient {
            account: *id,
            email: row.email.clone(),
            preferences: known.preferences.get(id).cloned().unwrap_or_default(),
        });
        Ok(Some(Batch {
            broadcast: broadcast.notification.id,
            announcement: broadcast.announcement.clone(),
            after: broadcast.reached,
            recipients: recipients.collect(),
        }))
    }

    async fn post_batch(&self, batch: &Batch, messages: Vec<SealedMessage>) -> Stored<()> {
        let mut state = self.lock();
        let broadcasts = &mut state.notifications.broadcasts;
        let waiting = broadcasts.iter_mut().find(|broadcast| {
            !broadcast.is_done
                && (broadcast.notification.id, broadcast.reached) == (batch.broadcast, batch.after)
        });
        let Some(broadcast) = waiting else { return Ok(()) };
        match batch.recipients.last() {
            Some(last) => broadcast.reached = last.account,
            None => broadcast.is_done = true,
        }
        for message in messages {
            state.send(message);
        }
        Ok(())
    }

    async fn due_messages(
        &self,
        channel: Channel,
        now: Timestamp,
        limit: u32,
    ) -> Stored<Vec<DueMessage>> {
        let state = self.lock();
        let due = state.messages.iter().filter(|waiting| {
            waiting.message.channel == channel && waiting.due_at.is_some_and(|due_at| due_at <= now)
        });
        let messages = due.take(limit as usize).map(|waiting| DueMessage {
            id: waiting.message.id,
            sealed: waiting.message.sealed.clone(),
            created_at: waiting.message.created_at,
            failures: waiting.failures,
        });
        Ok(messages.collect())
    }

    async fn next_message_at(&self, channel: Channel) -> Stored<Option<Timestamp>> {
        let state = self.lock();
        let of_channel = state.messages.iter().filter(|waiting| waiting.message.channel == channel);
        Ok(of_channel.filter_map(|waiting| waiting.due_at).min())
    }

    async fn waiting_messages(&self, channel: Channel) -> Stored<u64> {
        let state = self.lock();
        let of_channel = state.messages.iter().filter(|waiting| waiting.message.channel == channel);
        Ok(of_channel.filter(|waiting| waiting.due_at.is_some()).count() as u64)
    }

    async fn message_sent(&self, id: MessageId) -> Stored<()> {
        let mut state = self.lock();
        for waiting in state.messages.iter_mut().filter(|waiting| waiting.message.id == id) {
            waiting.due_at = None;
            waiting.message.sealed.bytes.clear();
        }
        Ok(())
    }

    async fn message_failed(&self, id: MessageId, retry_at: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        for waiting in state.messages.iter_mut().filter(|waiting| waiting.message.id == id) {
            waiting.due_at = Some(retry_at);
            waiting.failures += 1;
        }
        Ok(())
    }
}
