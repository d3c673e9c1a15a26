//! Notices, preferences, broadcasts and the outbox. A broadcast is one row for all accounts.

use account_core::code::Purpose;
use account_core::digest::Digest;
use account_core::identity::Email;
use account_core::notification::{
    Announcement, Channels, ChatId, Notice, NotificationId, PreferenceChanges, Preferences,
};
use account_core::outbox::{Channel, DueMessage, MessageId, SealedMessage, SendQuota};
use account_core::store::{
    Batch, Inbox, Notification, NotificationStore, Recipient, TEST_COOLDOWN,
};
use account_core::vault::Sealed;
use account_core::{AccountId, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult, Value};

use super::engine::lock_account;
use super::handle::Store;
use super::ledger::statements::INSERT_NOTICE;
use super::rows::{
    column, digest, malformed, narrow, number, number_column, optional_time_column, statement,
    stored, time, time_column,
};

/// The notifications that an account sees: its own, and the broadcasts since its verification that
/// the account did not delete. A broadcast is read at its own mark, or at the first mark over all
/// notifications that came after the broadcast.
const INBOX: &str = "WITH inbox AS (\
     SELECT id, title, description, message, category, created_at, read_at \
     FROM notification WHERE account_id = $1 \
     UNION ALL \
     SELECT notification.id, title, description, message, category, notification.created_at, \
     coalesce(mark.read_at, (SELECT min(read_at) FROM inbox_mark \
      WHERE account_id = $1 AND up_to >= notification.id)) \
     FROM account \
     JOIN notification ON notification.account_id IS NULL \
     AND notification.created_at >= account.verified_at \
     JOIN broadcast ON broadcast.notification_id = notification.id AND broadcast.in_app \
     LEFT JOIN notification_mark AS mark \
     ON mark.account_id = $1 AND mark.notification_id = notification.id \
     LEFT JOIN preference ON preference.account_id = $1 \
     WHERE account.id = $1 AND coalesce(NOT mark.deleted, TRUE) \
     AND coalesce(preference.notify_in_app, TRUE)) ";

/// Marks a broadcast that the account sees, once for each account. A broadcast that a mark over all
/// notifications covers keeps the time of that mark.
const MARK: &str = "INSERT INTO notification_mark (account_id, notification_id, read_at, deleted) \
     SELECT account.id, notification.id, \
     coalesce((SELECT min(read_at) FROM inbox_mark \
      WHERE account_id = $1 AND up_to >= notification.id), $3), $4 \
     FROM account \
     JOIN notification ON notification.id = $2 AND notification.account_id IS NULL \
     AND notification.created_at >= account.verified_at \
     JOIN broadcast ON broadcast.notification_id = notification.id AND broadcast.in_app \
     LEFT JOIN preference ON preference.account_id = account.id \
     WHERE account.id = $1 AND coalesce(preference.notify_in_app, TRUE) \
     ON CONFLICT (account_id, notification_id) DO UPDATE SET \
     read_at = coalesce(notification_mark.read_at, excluded.read_at), \
     deleted = excluded.deleted WHERE NOT notification_mark.deleted";

impl NotificationStore for Store {
    async fn notifications(
        &self,
        account: AccountId,
        unread_only: bool,
        limit: u32,
        offset: u32,
    ) -> Result<Inbox, StoreError> {
        let count = format!(
            "{INBOX} SELECT count(*) AS total, count(*) - count(read_at) AS unread FROM inbox"
        );
        let count = statement(&count, [account.0.into()]);
        let row = stored(self.readers.query_one_raw(count).await)?;
        let row = row.ok_or_else(|| malformed("total"))?;
        let page = format!(
            "{INBOX} SELECT id, title, description, message, category, created_at, read_at \
             FROM inbox WHERE read_at IS NULL OR NOT $2 \
             ORDER BY id DESC LIMIT $3 OFFSET $4"
        );
        let (limit, offset) = (i64::from(limit), i64::from(offset));
        let values = [account.0.into(), unread_only.into(), limit.into(), offset.into()];
        let rows = stored(self.readers.query_all_raw(statement(&page, values)).await)?;
        Ok(Inbox {
            entries: rows.iter().map(notification).collect::<Result<_, _>>()?,
            total: narrow(&row, "total")?,
            unread: narrow(&row, "unread")?,
        })
    }

    async fn read_notification(
        &self,
        account: AccountId,
        id: NotificationId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = self.write().await?;
        let own = "UPDATE notification SET read_at = coalesce(read_at, $3) \
                   WHERE id = $2 AND account_id = $1";
        let own = statement(own, [account.0.into(), id.0.into(), time(now)]);
        let mut found = stored(change.execute_raw(own).await)?.rows_affected() > 0;
        if !found {
            let values = [account.0.into(), id.0.into(), time(now), false.into()];
            let marked = stored(change.execute_raw(statement(MARK, values)).await)?;
            found = marked.rows_affected() > 0;
        }
        stored(change.commit().await)?;
        Ok(found)
    }

    async fn read_all_notifications(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let change = self.write().await?;
        let count = format!("{INBOX} SELECT count(*) AS unread FROM inbox WHERE read_at IS NULL");
        let count = statement(&count, [account.0.into()]);
        let row = stored(change.query_one_raw(count).await)?;
        let unread = narrow(&row.ok_or_else(|| malformed("unread"))?, "unread")?;
        let own = "UPDATE notification SET read_at = $2 WHERE account_id = $1 AND read_at IS NULL";
        let broadcasts = "INSERT INTO inbox_mark (account_id, up_to, read_at) \
                          SELECT account.id, (SELECT max(id) FROM notification \
                           WHERE account_id IS NULL), $2 FROM account \
                          LEFT JOIN preference ON preference.account_id = account.id \
                          WHERE account.id = $1 AND coalesce(preference.notify_in_app, TRUE) \
                          AND (SELECT max(id) FROM notification WHERE account_id IS NULL) \
                          > coalesce((SELECT max(up_to) FROM inbox_mark WHERE account_id = $1), 0) \
                          ON CONFLICT (account_id, up_to) DO NOTHING";
        for mark in [own, broadcasts] {
            let mark = statement(mark, [account.0.into(), time(now)]);
            stored(change.execute_raw(mark).await)?;
        }
        stored(change.commit().await)?;
        Ok(unread)
    }

    async fn delete_notification(
        &self,
        account: AccountId,
        id: NotificationId,
    ) -> Result<bool, StoreError> {
        let change = self.write().await?;
        let own = "DELETE FROM notification WHERE id = $2 AND account_id = $1";
        let own = statement(own, [account.0.into(), id.0.into()]);
        let mut found = stored(change.execute_raw(own).await)?.rows_affected() > 0;
        if !found {
            let never: Option<i64> = None;
            let values = [account.0.into(), id.0.into(), never.into(), true.into()];
            let marked = stored(change.execute_raw(statement(MARK, values)).await)?;
            found = marked.rows_affected() > 0;
        }
        stored(change.commit().await)?;
        Ok(found)
    }

    async fn add_notice(
        &self,
        account: AccountId,
        notice: &Notice,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let change = self.write().await?;
        notify(&change, account, notice, now).await?;
        stored(change.commit().await)
    }

    async fn preferences(&self, account: AccountId) -> Result<Preferences, StoreError> {
        read_preferences(&self.readers, account).await
    }

    async fn change_preferences(
        &self,
        account: AccountId,
        changes: PreferenceChanges,
    ) -> Result<Preferences, StoreError> {
        let change = self.write().await?;
        lock_account(&change, account).await?;
        have_preferences(&change, account).await?;
        let preferences = read_preferences(&*change, account).await?.changed(changes);
        let update = "UPDATE preference SET notify_email = $2, notify_messaging = $3, \
                      notify_in_app = $4, messaging_chat_id = $5 WHERE account_id = $1";
        let values = [
            account.0.into(),
            preferences.notify_email.into(),
            preferences.notify_messaging.into(),
            preferences.notify_in_app.into(),
            preferences.messaging_chat_id.as_ref().map(ChatId::as_str).into(),
        ];
        stored(change.execute_raw(statement(update, values)).await)?;
        stored(change.commit().await)?;
        Ok(preferences)
    }

    async fn send_test_message(
        &self,
        account: AccountId,
        message: SealedMessage,
    ) -> Result<bool, StoreError> {
        let change = self.write().await?;
        have_preferences(&change, account).await?;
        let now = change.now();
        let test = "UPDATE preference SET tested_at = $2 \
                    WHERE account_id = $1 AND (tested_at IS NULL OR tested_at <= $3)";
        let values = [account.0.into(), time(now), time(now - TEST_COOLDOWN)];
        if stored(change.execute_raw(statement(test, values)).await)?.rows_affected() == 0 {
            return Ok(false);
        }
        insert_message(&change, message).await?;
        stored(change.commit().await)?;
        self.outbox_notify.notify_one();
        Ok(true)
    }

    async fn broadcast(
        &self,
        announcement: &Announcement,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let change = self.write().await?;
        let insert = "INSERT INTO notification \
                      (category, title, description, message, created_at) \
                      VALUES ($1, $2, $3, $4, $5) RETURNING id";
        let values = [
            announcement.category.as_str().into(),
            announcement.title.as_str().into(),
            announcement.description.as_deref().into(),
            announcement.message.as_deref().into(),
            time(now),
        ];
        let row = stored(change.query_one_raw(statement(insert, values)).await)?;
        let id: i64 = column(&row.ok_or_else(|| malformed("id"))?, "id")?;
        let insert = "INSERT INTO broadcast \
                      (notification_id, in_app, email, messaging, reached, is_done) \
                      VALUES ($1, $2, $3, $4, 0, $5)";
        let Channels { in_app, email, messaging } = announcement.channels;
        let is_done = !(email || messaging);
        let values = [id.into(), in_app.into(), email.into(), messaging.into(), is_done.into()];
        stored(change.execute_raw(statement(insert, values)).await)?;
        stored(change.commit().await)?;
        self.outbox_notify.notify_one();
        // Unverified forms are few, and have an index of their own.
        let count = "SELECT (SELECT count(*) FROM account) - \
                     (SELECT count(*) FROM account WHERE verified_at IS NULL) AS recipients";
        let row = stored(self.readers.query_one_raw(statement(count, [])).await)?;
        narrow(&row.ok_or_else(|| malformed("recipients"))?, "recipients")
    }

    async fn next_batch(&self, limit: u32) -> Result<Option<Batch>, StoreError> {
        let query = "SELECT notification.id, title, description, message, category, created_at, \
                     in_app, email, messaging, reached \
                     FROM broadcast JOIN notification ON notification.id = notification_id \
                     WHERE is_done = FALSE ORDER BY notification_id LIMIT 1";
        let row = stored(self.readers.query_one_raw(statement(query, [])).await)?;
        let Some(row) = row else { return Ok(None) };
        let after: i64 = column(&row, "reached")?;
        let query = "SELECT account.id, account.email, notify_email, notify_messaging, \
                     notify_in_app, messaging_chat_id FROM account \
                     LEFT JOIN preference ON preference.account_id = account.id \
                     WHERE account.id > $1 AND verified_at <= $2 ORDER BY account.id LIMIT $3";
        let values =
            [after.into(), column::<i64>(&row, "created_at")?.into(), i64::from(limit).into()];
        let accounts = stored(self.readers.query_all_raw(statement(query, values)).await)?;
        Ok(Some(Batch {
            broadcast: NotificationId(column(&row, "id")?),
            announcement: announcement(&row)?,
            after: AccountId(after),
            recipients: accounts.iter().map(recipient).collect::<Result<_, _>>()?,
        }))
    }

    async fn post_batch(
        &self,
        batch: &Batch,
        messages: Vec<SealedMessage>,
    ) -> Result<(), StoreError> {
        let change = self.write().await?;
        let last = batch.recipients.last().map_or(batch.after, |last| last.account);
        let advance = "UPDATE broadcast SET reached = $3, is_done = $4 \
                       WHERE notification_id = $1 AND reached = $2 AND NOT is_done";
        let values = [
            batch.broadcast.0.into(),
            batch.after.0.into(),
            last.0.into(),
            batch.recipients.is_empty().into(),
        ];
        if stored(change.execute_raw(statement(advance, values)).await)?.rows_affected() == 0 {
            return Ok(());
        }
        insert_messages(&change, messages).await?;
        stored(change.commit().await)?;
        self.outbox_notify.notify_one();
        Ok(())
    }

    async fn due_messages(
        &self,
        channel: Channel,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueMessage>, StoreError> {
        let query = "SELECT id, sealed, data_key, created_at, failures FROM outbound_message \
                     WHERE channel = $1 AND due_at <= $2 ORDER BY due_at, created_at LIMIT $3";
        let query = statement(query, [channel.name().into(), time(now), i64::from(limit).into()]);
        let rows = stored(self.readers.query_all_raw(query).await)?;
        let message = |row| {
            let sealed =
                Sealed { data_key: narrow(row, "data_key")?, bytes: column(row, "sealed")? };
            Ok(DueMessage {
                id: MessageId(number_column(row, "id")?),
                sealed,
                created_at: time_column(row, "created_at")?,
                failures: narrow(row, "failures")?,
            })
        };
        rows.iter().map(message).collect()
    }

    async fn next_message_at(&self, channel: Channel) -> Result<Option<Timestamp>, StoreError> {
        let query = "SELECT min(due_at) AS due_at FROM outbound_message \
                     WHERE channel = $1 AND due_at IS NOT NULL";
        let query = statement(query, [channel.name().into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.map_or(Ok(None), |row| optional_time_column(&row, "due_at"))
    }

    async fn waiting_messages(&self, channel: Channel) -> Result<u64, StoreError> {
        let query = "SELECT count(*) AS messages FROM outbound_message \
                     WHERE channel = $1 AND due_at IS NOT NULL";
        let query = statement(query, [channel.name().into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.map_or(Ok(0), |row| narrow(&row, "messages"))
    }

    async fn message_sent(&self, id: MessageId) -> Result<(), StoreError> {
        let sent = "UPDATE outbound_message SET due_at = NULL, sealed = $2 WHERE id = $1";
        let values = [number(id.0), Vec::<u8>::new().into()];
        self.execute(statement(sent, values)).await?;
        Ok(())
    }

    async fn message_failed(&self, id: MessageId, retry_at: Timestamp) -> Result<(), StoreError> {
        let failed =
            "UPDATE outbound_message SET due_at = $2, failures = failures + 1 WHERE id = $1";
        let values = [number(id.0), time(retry_at)];
        self.execute(statement(failed, values)).await?;
        Ok(())
    }
}

/// Writes a notice into an inbox; does nothing for a deleted account.
pub(super) async fn notify(
    change: &DatabaseTransaction,
    account: AccountId,
    notice: &Notice,
    now: Timestamp,
) -> Result<(), StoreError> {
    let values = [
        account.0.into(),
        notice.category().into(),
        notice.title().into(),
        notice.description().into(),
        time(now),
    ];
    stored(change.execute_raw(statement(INSERT_NOTICE, values)).await)?;
    Ok(())
}

/// Inserts the preferences of an account that has none.
async fn have_preferences(
    change: &DatabaseTransaction,
    account: AccountId,
) -> Result<(), StoreError> {
    let insert = "INSERT INTO preference \
                  (account_id, notify_email, notify_messaging, notify_in_app) \
                  SELECT id, $2, $3, $4 FROM account WHERE id = $1 \
                  ON CONFLICT (account_id) DO NOTHING";
    let Preferences { notify_email, notify_messaging, notify_in_app, .. } = Preferences::default();
    let values =
        [account.0.into(), notify_email.into(), notify_messaging.into(), notify_in_app.into()];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}

async fn read_preferences(
    connection: &impl ConnectionTrait,
    account: AccountId,
) -> Result<Preferences, StoreError> {
    let query = "SELECT notify_email, notify_messaging, notify_in_app, messaging_chat_id \
                 FROM preference WHERE account_id = $1";
    let query = statement(query, [account.0.into()]);
    let row = stored(connection.query_one_raw(query).await)?;
    row.map_or_else(|| Ok(Preferences::default()), |row| preferences(&row))
}

/// Returns the preferences of a row, or the default where the row has none.
fn preferences(row: &QueryResult) -> Result<Preferences, StoreError> {
    let default = Preferences::default();
    let wish = |name, default| Ok(column::<Option<bool>>(row, name)?.unwrap_or(default));
    let chat: Option<String> = column(row, "messaging_chat_id")?;
    let chat = chat.map(|chat| ChatId::parse(&chat)).transpose();
    Ok(Preferences {
        notify_email: wish("notify_email", default.notify_email)?,
        notify_messaging: wish("notify_messaging", default.notify_messaging)?,
        notify_in_app: wish("notify_in_app", default.notify_in_app)?,
        messaging_chat_id: chat.map_err(StoreError::new)?,
    })
}

fn recipient(row: &QueryResult) -> Result<Recipient, StoreError> {
    Ok(Recipient {
        account: AccountId(column(row, "id")?),
        email: Email::parse(&column::<String>(row, "email")?).map_err(StoreError::new)?,
        preferences: preferences(row)?,
    })
}

fn announcement(row: &QueryResult) -> Result<Announcement, StoreError> {
    Ok(Announcement {
        title: column(row, "title")?,
        description: column(row, "description")?,
        message: column(row, "message")?,
        category: column(row, "category")?,
        channels: Channels {
            in_app: column(row, "in_app")?,
            email: column(row, "email")?,
            messaging: column(row, "messaging")?,
        },
    })
}

fn notification(row: &QueryResult) -> Result<Notification, StoreError> {
    Ok(Notification {
        id: NotificationId(column(row, "id")?),
        title: column(row, "title")?,
        description: column(row, "description")?,
        message: column(row, "message")?,
        category: column(row, "category")?,
        created_at: time_column(row, "created_at")?,
        read_at: optional_time_column(row, "read_at")?,
    })
}

/// Puts a message into the outbox, due immediately.
pub(super) async fn insert_message(
    change: &DatabaseTransaction,
    message: SealedMessage,
) -> Result<(), StoreError> {
    insert_messages(change, vec![message]).await
}

/// Puts messages into the outbox, due immediately, by one statement.
pub(super) async fn insert_messages(
    change: &DatabaseTransaction,
    messages: Vec<SealedMessage>,
) -> Result<(), StoreError> {
    const COLUMNS: usize = 7;
    if messages.is_empty() {
        return Ok(());
    }
    let rows = (0..messages.len()).map(|row| {
        let [id, recipient, purpose, sealed, data_key, at, channel] =
            std::array::from_fn::<_, COLUMNS, _>(|column| row * COLUMNS + column + 1);
        format!(
            "(${id}, ${recipient}, ${purpose}, ${sealed}, ${data_key}, ${at}, ${at}, ${channel}, 0)"
        )
    });
    let insert = format!(
        "INSERT INTO outbound_message \
         (id, recipient, purpose, sealed, data_key, created_at, due_at, channel, failures) \
         VALUES {}",
        rows.collect::<Vec<_>>().join(", ")
    );
    let values = messages.into_iter().flat_map(|message| -> [Value; COLUMNS] {
        [
            number(message.id.0),
            digest(&message.recipient),
            message.purpose.map(Purpose::name).into(),
            message.sealed.bytes.into(),
            message.sealed.data_key.into(),
            time(message.created_at),
            message.channel.name().into(),
        ]
    });
    stored(change.execute_raw(statement(&insert, values)).await)?;
    Ok(())
}

/// Returns whether the recipient may get another message of this purpose.
pub(super) async fn may_send(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
    purpose: Purpose,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let query = "SELECT count(*) AS messages, max(created_at) AS last_at FROM outbound_message \
                 WHERE recipient = $1 AND purpose = $2 AND created_at > $3 AND created_at <= $4";
    let (since, until) = (time(SendQuota::since(now)), time(SendQuota::until(now)));
    let values = [digest(recipient), purpose.name().into(), since, until];
    let row = stored(change.query_one_raw(statement(query, values)).await)?;
    let Some(row) = row else { return Ok(true) };
    let last_at = optional_time_column(&row, "last_at")?;
    Ok(SendQuota { messages: narrow(&row, "messages")?, last_at }.allows(now))
}
