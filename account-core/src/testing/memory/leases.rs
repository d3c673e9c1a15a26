//! Limits that several instances share.

use super::{MemoryStore, Stored};
use crate::identity::CallerId;
use crate::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};
use crate::store::LeaseStore;

impl LeaseStore for MemoryStore {
    async fn lease(&self, caller: CallerId, ask: Ask) -> Stored<Lease> {
        let mut state = self.lock();
        Ok(state.shared.entry(caller).or_default().lease(&ask))
    }

    async fn give_back(&self, caller: CallerId, unused: ReturnedCalls) -> Stored<()> {
        if let Some(shared) = self.lock().shared.get_mut(&caller) {
            shared.give_back(unused);
        }
        Ok(())
    }

    async fn shared(&self, caller: CallerId) -> Stored<SharedWindow> {
        let state = self.lock();
        Ok(state.shared.get(&caller).cloned().unwrap_or_default())
    }
}
