//! Guests in memory.

use std::collections::BTreeMap;

use super::{MICROSECONDS_A_MINUTE, MemoryStore, Stored};
use crate::Timestamp;
use crate::credits::{CallerId, REFUSED_BY_LIMIT};
use crate::guest::{self, CreationLimits, GuestId, GuestStore, NetworkCount, NewGuest};

impl GuestStore for MemoryStore {
    async fn create_guest(
        &self,
        guest: NewGuest,
        limits: CreationLimits,
    ) -> Stored<Option<GuestId>> {
        let mut state = self.lock();
        let day = guest::day(guest.created_at);
        let counts = limits.counts(&guest);
        let made = |scope: &String| state.guest_counts.get(&(scope.clone(), day)).copied();
        if counts.iter().any(|(scope, limit)| made(scope).unwrap_or(0) >= limit.get()) {
            return Ok(None);
        }
        for (scope, _) in counts {
            *state.guest_counts.entry((scope, day)).or_default() += 1;
        }
        state.last_guest += 1;
        let id = GuestId(state.last_guest);
        state.guests.insert(id, guest);
        Ok(Some(id))
    }

    async fn guest_calls(&self, since: Timestamp) -> Stored<Vec<NetworkCount>> {
        let state = self.lock();
        let mut counts = BTreeMap::new();
        for call in &state.usage {
            let usage = &call.entry.usage;
            let Some(CallerId::Guest(id)) = call.caller else { continue };
            if usage.at < since || usage.status == REFUSED_BY_LIMIT {
                continue;
            }
            if let Some(guest) = state.guests.get(&id) {
                let minute = usage.at.timestamp_micros().div_euclid(MICROSECONDS_A_MINUTE);
                *counts.entry((guest::network(guest.address), minute)).or_insert(0) += 1;
            }
        }
        let count = |((network, minute), calls)| NetworkCount { network, minute, calls };
        Ok(counts.into_iter().map(count).collect())
    }
}
