//! How often each caller has come, in memory.

use account_core::{
    Admission, Caller, CallerId, GuestLimits, MinuteCount, RollingHour, Standing, Timestamp,
};
use dashmap::DashMap;

/// The calls of the last hour, and of a guest's day.
#[derive(Default)]
pub struct Limits {
    accounts: DashMap<i64, RollingHour>,
    guests: DashMap<i64, GuestLimits>,
}

impl Limits {
    /// Takes up what was counted before a restart.
    #[must_use]
    pub fn seeded(counts: &[MinuteCount]) -> Self {
        let limits = Self::default();
        for count in counts {
            match count.caller {
                CallerId::Account(id) => {
                    limits.accounts.entry(id.0).or_default().seed(count.minute, count.calls);
                }
                CallerId::Guest(id) => {
                    limits.guests.entry(id.0).or_default().seed(count.minute, count.calls);
                }
            }
        }
        limits
    }

    /// Counts a call of `caller`, or refuses it.
    #[must_use]
    pub fn admit(&self, caller: &Caller, now: Timestamp) -> Admission {
        match caller.id() {
            CallerId::Account(id) => {
                self.accounts.entry(id.0).or_default().admit(now, caller.hourly_limit())
            }
            CallerId::Guest(id) => self.guests.entry(id.0).or_default().admit(now),
        }
    }

    /// How the limit of `caller` stands, without counting.
    #[must_use]
    pub fn standing(&self, caller: &Caller, now: Timestamp) -> Standing {
        match caller.id() {
            CallerId::Account(id) => {
                self.accounts.entry(id.0).or_default().standing(now, caller.hourly_limit())
            }
            CallerId::Guest(id) => self.guests.entry(id.0).or_default().standing(now),
        }
    }

    /// How many calls a guest has made today.
    #[must_use]
    pub fn requests_today(&self, guest: account_core::GuestId, now: Timestamp) -> u32 {
        self.guests.get(&guest.0).map_or(0, |limits| limits.requests_today(now))
    }

    /// Forgets callers that have been quiet for as long as a limit looks back.
    pub fn sweep(&self, now: Timestamp) {
        self.accounts.retain(|_, hour| hour.standing(now, u32::MAX).remaining < u32::MAX);
        self.guests.retain(|_, limits| {
            let standing = limits.standing(now);
            limits.requests_today(now) > 0 || standing.remaining < standing.limit
        });
    }
}
