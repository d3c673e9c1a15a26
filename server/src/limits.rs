//! How often each caller has come, in memory.

use std::{net::IpAddr, num::NonZeroU32};

use account_core::guest::NetworkCount;
use account_core::{
    Admission, Caller, CallerId, GuestLimits, MinuteCount, RollingHour, Standing, Timestamp,
};
use dashmap::DashMap;

/// The calls of the last hour, and of a guest's day.
#[derive(Default)]
pub struct Limits {
    accounts: DashMap<i64, RollingHour>,
    guests: DashMap<i64, GuestLimits>,
    /// The guests of one network together.
    networks: DashMap<IpAddr, GuestLimits>,
    /// How many guests' calls the guests of one network have together.
    guests_per_network: u32,
}

impl Limits {
    /// Takes up what was counted before a restart. The guests of one network have the calls of so
    /// many guests together.
    #[must_use]
    pub fn seeded(
        counts: &[MinuteCount],
        networks: &[NetworkCount],
        guests_per_network: NonZeroU32,
    ) -> Self {
        let limits = Self { guests_per_network: guests_per_network.get(), ..Self::default() };
        for count in networks {
            limits.networks.entry(count.network).or_default().seed(count.minute, count.calls);
        }
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
        match caller {
            Caller::Account(account) => {
                self.accounts.entry(account.id.0).or_default().admit(now, account.hourly_limit)
            }
            Caller::Guest(guest) => {
                // Always in this order, so that no two callers wait for each other.
                let mut network = self.networks.entry(guest.network).or_default();
                let mut own = self.guests.entry(guest.id.0).or_default();
                own.admit_both(&mut network, now, self.guests_per_network)
            }
        }
    }

    /// How the limit of `caller` stands, without counting.
    #[must_use]
    pub fn standing(&self, caller: &Caller, now: Timestamp) -> Standing {
        match caller {
            Caller::Account(account) => {
                self.accounts.entry(account.id.0).or_default().standing(now, account.hourly_limit)
            }
            Caller::Guest(guest) => {
                let network = self.networks.entry(guest.network).or_default();
                let shared = network.standing(now, self.guests_per_network);
                drop(network);
                self.guests.entry(guest.id.0).or_default().standing(now, 1).tighter(shared)
            }
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
        let is_loud = |limits: &GuestLimits| {
            let standing = limits.standing(now, 1);
            limits.requests_today(now) > 0 || standing.remaining < standing.limit
        };
        self.guests.retain(|_, limits| is_loud(limits));
        self.networks.retain(|_, limits| is_loud(limits));
    }
}
