//! Calls that one process counts for itself, in memory.

use std::net::IpAddr;

use account_core::{
    Caller, CallerId, GuestId, GuestLimits, LimitDecision, LimitStatus, MinuteCount, RollingHour,
    Timestamp,
};
use dashmap::DashMap;

/// The calls of the last hour, and of a guest's day.
#[derive(Default)]
pub(super) struct LocalLimits {
    accounts: DashMap<i64, RollingHour>,
    guests: DashMap<i64, GuestLimits>,
}

impl LocalLimits {
    /// Takes up what was counted before a restart.
    pub(super) fn seeded(counts: &[MinuteCount]) -> Self {
        let local = Self::default();
        for count in counts {
            match count.caller {
                CallerId::Account(id) => {
                    local.accounts.entry(id.0).or_default().seed(count.minute, count.calls);
                }
                CallerId::Guest(id) => {
                    local.guests.entry(id.0).or_default().seed(count.minute, count.calls);
                }
            }
        }
        local
    }

    /// Counts a call, a guest's for its network too, or refuses it.
    pub(super) fn admit(
        &self,
        caller: &Caller,
        networks: &DashMap<IpAddr, GuestLimits>,
        guests_per_network: u32,
        now: Timestamp,
    ) -> LimitDecision {
        match caller {
            Caller::Account(account) => {
                let mut hour = self.accounts.entry(account.id.0).or_default();
                hour.admit(now, account.hourly_limit)
            }
            Caller::Guest(guest) => {
                // Always in this order, so that no two callers wait for each other.
                let mut network = networks.entry(guest.network).or_default();
                let mut own = self.guests.entry(guest.id.0).or_default();
                own.admit_both(&mut network, now, guests_per_network)
            }
        }
    }

    /// How a caller's own limit stands.
    pub(super) fn limit_status(&self, caller: &Caller, now: Timestamp) -> LimitStatus {
        match caller {
            Caller::Account(account) => {
                let hour = self.accounts.entry(account.id.0).or_default();
                hour.limit_status(now, account.hourly_limit)
            }
            Caller::Guest(guest) => self.guests.entry(guest.id.0).or_default().limit_status(now, 1),
        }
    }

    /// How many calls a guest has made today.
    pub(super) fn requests_today(&self, guest: GuestId, now: Timestamp) -> u32 {
        self.guests.get(&guest.0).map_or(0, |limits| limits.requests_today(now))
    }

    /// Forgets callers that have been quiet for as long as a limit looks back.
    pub(super) fn sweep(&self, now: Timestamp) {
        self.accounts.retain(|_, hour| hour.limit_status(now, u32::MAX).remaining < u32::MAX);
        self.guests.retain(|_, limits| is_loud(limits, now));
    }
}

/// Whether a limit still counts a call.
pub(super) fn is_loud(limits: &GuestLimits, now: Timestamp) -> bool {
    let limit_status = limits.limit_status(now, 1);
    limits.requests_today(now) > 0 || limit_status.remaining < limit_status.limit
}
