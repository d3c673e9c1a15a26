//! Kept answers, in memory.

use std::collections::HashMap;

use super::{MemoryStore, State, Stored, spend};
use crate::Timestamp;
use crate::credits::{self, CallerId, Entry, Settlement};
use crate::idempotency::{
    Claim, Claimed, HELD, IdempotencyStore, KEPT, RequestDigest, Slot, StoredAnswer,
};

/// A slot that was taken.
pub(super) struct Taken {
    request: RequestDigest,
    run: u128,
    held_until: Timestamp,
    expires_at: Timestamp,
    answer: Option<StoredAnswer>,
}

impl Taken {
    fn is_free(&self, now: Timestamp) -> bool {
        self.expires_at <= now || (self.answer.is_none() && self.held_until <= now)
    }
}

impl IdempotencyStore for MemoryStore {
    async fn claim(&self, claim: Claim, now: Timestamp) -> Stored<Claimed> {
        let mut state = self.lock();
        if let Some(taken) = state.slots.get(&claim.slot).filter(|taken| !taken.is_free(now)) {
            return Ok(match &taken.answer {
                _ if taken.request != claim.request => Claimed::OtherRequest,
                Some(answer) => Claimed::Answered(answer.clone()),
                None => Claimed::Running,
            });
        }
        let Claim { slot, request, run } = claim;
        let (held_until, expires_at) = (now + HELD, now + KEPT);
        state.slots.insert(slot, Taken { request, run, held_until, expires_at, answer: None });
        Ok(Claimed::Yours)
    }

    async fn is_answered(&self, slot: Slot, now: Timestamp) -> Stored<bool> {
        let state = self.lock();
        let taken = state.slots.get(&slot);
        Ok(taken.is_some_and(|taken| taken.answer.is_some() && taken.expires_at > now))
    }

    async fn settle_and_keep(
        &self,
        claim: Claim,
        entry: Entry,
        body: String,
    ) -> Stored<Option<Settlement>> {
        let mut state = self.lock();
        let own = |taken: &&mut Taken| taken.run == claim.run && taken.answer.is_none();
        if state.slots.get_mut(&claim.slot).filter(own).is_none() {
            return Ok(None);
        }
        let cost = entry.cost;
        let settlement = state.settle(vec![entry]).remove(0);
        if let (Settlement::Charged { balance }, Some(taken)) =
            (settlement, state.slots.get_mut(&claim.slot))
        {
            taken.answer = Some(StoredAnswer { body, cost, balance });
        }
        Ok(Some(settlement))
    }

    async fn release(&self, claim: Claim) -> Stored<()> {
        let mut state = self.lock();
        let own = |taken: &Taken| taken.run == claim.run && taken.answer.is_none();
        if state.slots.get(&claim.slot).is_some_and(own) {
            state.slots.remove(&claim.slot);
        }
        Ok(())
    }
}

impl State {
    /// Settles a batch, as [`credits::decide`] says.
    pub(super) fn settle(&mut self, batch: Vec<Entry>) -> Vec<Settlement> {
        let mut balances = HashMap::new();
        for entry in &batch {
            if let Some(balance) = self.balance(entry.caller) {
                balances.insert(entry.caller, *balance);
            }
        }
        let asked = batch.iter().map(|entry| (entry.caller, entry.cost));
        let settled = credits::decide(&mut balances, asked);
        for (caller, left) in balances {
            if let Some(balance) = self.balance(caller) {
                *balance = left;
            }
        }
        for (mut entry, settlement) in batch.into_iter().zip(&settled) {
            let Settlement::Charged { balance } = settlement else { continue };
            if let CallerId::Account(account) = entry.caller {
                if entry.cost > 0 {
                    self.book_usage(account, &entry, *balance);
                }
                self.keep(account, &mut entry, *balance);
            }
            self.write_down(entry);
        }
        settled
    }

    /// Removes at most so many slots that no answer or run holds any more; answers how many.
    pub(super) fn remove_slots(&mut self, now: Timestamp, limit: u32) -> u64 {
        let mut left = limit;
        self.slots.retain(|_, taken| !spend(&mut left, taken.expires_at <= now));
        u64::from(limit - left)
    }
}
