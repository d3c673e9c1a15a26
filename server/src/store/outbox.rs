//! The outbox: letters that wait, and the count of those that were sent.

use account_core::StoreError;
use account_core::Timestamp;
use account_core::code::Purpose;
use account_core::identity::Email;
use account_core::outbox::{Channel, DueMessage, MessageId, OutboxStore, SealedMessage, SendQuota};
use account_core::vault::{Digest, Sealed};
use sea_orm::{ConnectionTrait, DatabaseTransaction, Value};

use super::Store;
use super::rows::{
    column, digest, narrow, number, number_column, optional_time_column, statement, stored, time,
    time_column,
};

impl OutboxStore for Store {
    async fn due_messages(
        &self,
        channel: Channel,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueMessage>, StoreError> {
        let query = "SELECT id, sealed, data_key, created_at, failures FROM letter \
                     WHERE lane = $1 AND due_at <= $2 ORDER BY due_at, created_at LIMIT $3";
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
        let query = "SELECT min(due_at) AS due_at FROM letter \
                     WHERE lane = $1 AND due_at IS NOT NULL";
        let query = statement(query, [channel.name().into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.map_or(Ok(None), |row| optional_time_column(&row, "due_at"))
    }

    async fn waiting_messages(&self, channel: Channel) -> Result<u64, StoreError> {
        let query = "SELECT count(*) AS letters FROM letter WHERE lane = $1 AND due_at IS NOT NULL";
        let query = statement(query, [channel.name().into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.map_or(Ok(0), |row| narrow(&row, "letters"))
    }

    async fn message_sent(&self, id: MessageId, _now: Timestamp) -> Result<(), StoreError> {
        let sent = "UPDATE letter SET due_at = NULL, sealed = $2 WHERE id = $1";
        let values = [number(id.0), Vec::<u8>::new().into()];
        self.execute(statement(sent, values)).await?;
        Ok(())
    }

    async fn message_failed(&self, id: MessageId, retry_at: Timestamp) -> Result<(), StoreError> {
        let failed = "UPDATE letter SET due_at = $2, failures = failures + 1 WHERE id = $1";
        let values = [number(id.0), time(retry_at)];
        self.execute(statement(failed, values)).await?;
        Ok(())
    }

    async fn forget_messages(&self, before: Timestamp) -> Result<u64, StoreError> {
        let forget = "DELETE FROM letter WHERE due_at IS NULL AND created_at <= $1";
        let forgotten = self.execute(statement(forget, [time(before)])).await?;
        Ok(forgotten.rows_affected())
    }
}

/// Puts a letter into the outbox, due at once.
pub(super) async fn insert_message(
    change: &DatabaseTransaction,
    message: SealedMessage,
) -> Result<(), StoreError> {
    insert_messages(change, vec![message]).await
}

/// Puts letters into the outbox, due at once: one statement for many.
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
        "INSERT INTO letter (id, recipient, purpose, sealed, data_key, created_at, due_at, lane, failures) \
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

/// Whether the recipient may get another letter of this purpose.
pub(super) async fn may_send(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
    purpose: Purpose,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let query = "SELECT count(*) AS letters, max(created_at) AS last_at FROM letter \
                 WHERE recipient = $1 AND purpose = $2 AND created_at > $3";
    let values = [digest(recipient), purpose.name().into(), time(SendQuota::since(now))];
    let row = stored(change.query_one_raw(statement(query, values)).await)?;
    let Some(row) = row else { return Ok(true) };
    let last_at = optional_time_column(&row, "last_at")?;
    Ok(SendQuota { messages: narrow(&row, "letters")?, last_at }.allows(now))
}
