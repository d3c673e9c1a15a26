//! Letters on their way, in memory.

use super::{MemoryStore, State, Stored, Waiting};
use crate::Timestamp;
use crate::code::Purpose;
use crate::identity::Email;
use crate::outbox::{Channel, DueMessage, MessageId, OutboxStore, SealedMessage, SendQuota};
use crate::vault::Digest;

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
        });
        let times: Vec<Timestamp> = messages.map(|message| message.created_at).collect();
        SendQuota { messages: times.len() as u32, last_at: times.into_iter().max() }
    }

    pub(super) fn send(&mut self, message: SealedMessage) {
        let due_at = Some(message.created_at);
        self.messages.push(Waiting { message, due_at, failures: 0 });
    }
}

impl OutboxStore for MemoryStore {
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

    async fn message_sent(&self, id: MessageId, _now: Timestamp) -> Stored<()> {
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

    async fn forget_messages(&self, before: Timestamp) -> Stored<u64> {
        let mut state = self.lock();
        let count = state.messages.len();
        state
            .messages
            .retain(|waiting| waiting.due_at.is_some() || waiting.message.created_at > before);
        Ok((count - state.messages.len()) as u64)
    }
}
