//! Limits that one instance counts in memory.

use std::net::IpAddr;

use account_core::{
    Caller, CallerId, GuestId, GuestLimits, LimitDecision, LimitStatus, MinuteCount, RollingHour,
    Timestamp,
};
use dashmap::DashMap;

/// Counters of the last hour of each account, and of the hour and the day of each guest.
#[derive(Default)]
pub(super) struct LocalLimits {
    accounts: DashMap<i64, RollingHour>,
    guests: DashMap<i64, GuestLimits>,
}

impl LocalLimits {
    /// Returns counters that start with the counts from before a restart.
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

    /// Counts a call, or refuses the call. A guest's call counts for its network too.
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
                // The fixed order of the two locks prevents deadlocks.
                let mut network = networks.entry(guest.network).or_default();
                let mut own = self.guests.entry(guest.id.0).or_default();
                own.admit_both(&mut network, now, guests_per_network)
            }
        }
    }

    /// Returns the status of a caller's own limit.
    pub(super) fn limit_status(&self, caller: &Caller, now: Timestamp) -> LimitStatus {
        match caller {
            Caller::Account(account) => {
                let hour = self.accounts.entry(account.id.0).or_default();
                hour.limit_status(now, account.hourly_limit)
            }
            Caller::Guest(guest) => self.guests.entry(guest.id.0).or_default().limit_status(now, 1),
        }
    }

    /// Returns the number of calls that a guest has made today.
    pub(super) fn requests_today(&self, guest: GuestId, now: Timestamp) -> u32 {
        self.guests.get(&guest.0).map_or(0, |limits| limits.requests_today(now))
    }

    /// Removes callers without a call in the period of their limit.
    pub(super) fn sweep(&self, now: Timestamp) {
        self.accounts.retain(|_, hour| hour.limit_status(now, u32::MAX).remaining < u32::MAX);
        self.guests.retain(|_, limits| has_calls(limits, now));
    }
}

/// Returns whether any call counts towards a guest's limits.
pub(super) fn has_calls(limits: &GuestLimits, now: Timestamp) -> bool {
    let limit_status = limits.limit_status(now, 1);
    limits.requests_today(now) > 0 || limit_status.remaining < limit_status.limit
}
