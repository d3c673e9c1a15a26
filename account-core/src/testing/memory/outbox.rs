//! Letters on their way, in memory.

use super::{MemoryStore, State, Stored, Waiting};
use crate::Timestamp;
use crate::code::Purpose;
use crate::identity::Email;
use crate::letter::{DueLetter, Lane, LetterId, OutboxLetter, OutboxStore, Postage};
use crate::vault::Digest;

impl State {
    pub(super) fn postage(
        &self,
        recipient: &Digest<Email>,
        purpose: Purpose,
        now: Timestamp,
    ) -> Postage {
        let letters = self.letters.iter().map(|waiting| &waiting.letter).filter(|letter| {
            letter.recipient == *recipient
                && letter.purpose == Some(purpose)
                && letter.created_at > Postage::since(now)
        });
        let times: Vec<Timestamp> = letters.map(|letter| letter.created_at).collect();
        Postage { letters: times.len() as u32, last_at: times.into_iter().max() }
    }

    pub(super) fn send(&mut self, letter: OutboxLetter) {
        let due_at = Some(letter.created_at);
        self.letters.push(Waiting { letter, due_at, failures: 0 });
    }
}

impl OutboxStore for MemoryStore {
    async fn due_letters(&self, lane: Lane, now: Timestamp, limit: u32) -> Stored<Vec<DueLetter>> {
        let state = self.lock();
        let due = state.letters.iter().filter(|waiting| {
            waiting.letter.lane == lane && waiting.due_at.is_some_and(|due_at| due_at <= now)
        });
        let letters = due.take(limit as usize).map(|waiting| DueLetter {
            id: waiting.letter.id,
            sealed: waiting.letter.sealed.clone(),
            created_at: waiting.letter.created_at,
            failures: waiting.failures,
        });
        Ok(letters.collect())
    }

    async fn next_letter_at(&self, lane: Lane) -> Stored<Option<Timestamp>> {
        let state = self.lock();
        let of_lane = state.letters.iter().filter(|waiting| waiting.letter.lane == lane);
        Ok(of_lane.filter_map(|waiting| waiting.due_at).min())
    }

    async fn waiting_letters(&self, lane: Lane) -> Stored<u64> {
        let state = self.lock();
        let of_lane = state.letters.iter().filter(|waiting| waiting.letter.lane == lane);
        Ok(of_lane.filter(|waiting| waiting.due_at.is_some()).count() as u64)
    }

    async fn letter_sent(&self, id: LetterId, _now: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        for waiting in state.letters.iter_mut().filter(|waiting| waiting.letter.id == id) {
            waiting.due_at = None;
            waiting.letter.sealed.bytes.clear();
        }
        Ok(())
    }

    async fn letter_failed(&self, id: LetterId, retry_at: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        for waiting in state.letters.iter_mut().filter(|waiting| waiting.letter.id == id) {
            waiting.due_at = Some(retry_at);
            waiting.failures += 1;
        }
        Ok(())
    }

    async fn forget_letters(&self, before: Timestamp) -> Stored<u64> {
        let mut state = self.lock();
        let count = state.letters.len();
        state
            .letters
            .retain(|waiting| waiting.due_at.is_some() || waiting.letter.created_at > before);
        Ok((count - state.letters.len()) as u64)
    }
}
