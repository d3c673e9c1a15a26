//! Results, in memory.

use super::{MemoryStore, State, Stored, spend};
use crate::Timestamp;
use crate::accounts::results::{ResultId, ResultStore, StoredResult};
use crate::credits::Entry;
use crate::identity::AccountId;

impl ResultStore for MemoryStore {
    async fn keep_results(&self, results: Vec<StoredResult>) -> Stored<()> {
        let mut state = self.lock();
        let State { accounts, results: kept, .. } = &mut *state;
        let owned = results.into_iter().filter(|result| accounts.contains_key(&result.owner));
        kept.extend(owned.map(|result| (result.id, result)));
        Ok(())
    }

    async fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        after: Timestamp,
    ) -> Stored<Option<String>> {
        let state = self.lock();
        let own = state.results.get(&id).filter(|kept| kept.owner == owner && kept.at > after);
        Ok(own.map(|kept| kept.body.clone()))
    }
}

impl State {
    /// Keeps what is to be kept of a call that is paid.
    pub(super) fn keep(&mut self, owner: AccountId, entry: &mut Entry, balance: u64) {
        let Some(kept) = entry.kept.take() else { return };
        let (id, body) = (ResultId(entry.usage.request_id), kept.with(balance));
        self.results.insert(id, StoredResult { id, owner, body, at: entry.usage.at });
    }

    /// Removes at most so many results that were made up to the moment; answers how many.
    pub(super) fn remove_results(&mut self, made: Timestamp, limit: u32) -> u64 {
        let mut left = limit;
        self.results.retain(|_, kept| !spend(&mut left, kept.at <= made));
        u64::from(limit - left)
    }
}
