//! Shared limits, in memory.

use super::{MemoryStore, Stored};
use crate::Timestamp;
use crate::credits::CallerId;
use crate::limit::lease::{Ask, Lease, LeaseStore, Shared, Unused};

impl LeaseStore for MemoryStore {
    async fn lease(&self, caller: CallerId, ask: Ask) -> Stored<Lease> {
        let mut state = self.lock();
        let (shared, at) = state.shared.entry(caller).or_default();
        *at = (*at).max(ask.now);
        Ok(shared.lease(&ask))
    }

    async fn give_back(&self, caller: CallerId, unused: Unused) -> Stored<()> {
        if let Some((shared, _)) = self.lock().shared.get_mut(&caller) {
            shared.give_back(unused);
        }
        Ok(())
    }

    async fn shared(&self, caller: CallerId) -> Stored<Shared> {
        let state = self.lock();
        Ok(state.shared.get(&caller).map(|(shared, _)| shared.clone()).unwrap_or_default())
    }

    async fn forget_shared(&self, since: Timestamp) -> Stored<()> {
        self.lock().shared.retain(|_, (_, at)| *at >= since);
        Ok(())
    }
}
