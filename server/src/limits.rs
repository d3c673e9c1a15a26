//! How often each caller has come: counted in memory, or leased from where several instances count
//! together.

use std::{net::IpAddr, num::NonZeroU32, sync::Arc, time::Duration};

use account_core::guest::NetworkCount;
use account_core::limit::lease::{Allowance, LeaseStore, Share, Unused};
use account_core::{
    Admission, Caller, CallerId, GuestLimits, MinuteCount, RollingHour, Standing, StoreError,
    Timestamp,
};
use chrono::TimeDelta;
use dashmap::DashMap;
use tokio::sync::Mutex;

use crate::store::Store;

/// How long a call waits for a lease: no longer than the rule allows for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The calls of the last hour, and of a guest's day.
pub struct Limits {
    callers: Callers,
    /// The guests of one network together; each instance counts them by itself.
    networks: DashMap<IpAddr, GuestLimits>,
    /// How many guests' calls the guests of one network have together.
    guests_per_network: u32,
}

/// Who counts.
enum Callers {
    /// This process, for itself.
    Alone { accounts: DashMap<i64, RollingHour>, guests: DashMap<i64, GuestLimits> },
    /// All instances on one store.
    Together { store: Store, shares: DashMap<CallerId, Arc<Mutex<Share>>> },
}

/// The store does not say whether there are calls left, and none is leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no share of the limit can be leased")]
pub struct Unavailable;

impl Limits {
    /// Counts in this process, and takes up what was counted before a restart. The guests of one
    /// network have the calls of so many guests together.
    #[must_use]
    pub fn alone(
        counts: &[MinuteCount],
        networks: &[NetworkCount],
        guests_per_network: NonZeroU32,
    ) -> Self {
        let accounts: DashMap<i64, RollingHour> = DashMap::new();
        let guests: DashMap<i64, GuestLimits> = DashMap::new();
        for count in counts {
            match count.caller {
                CallerId::Account(id) => {
                    accounts.entry(id.0).or_default().seed(count.minute, count.calls);
                }
                CallerId::Guest(id) => {
                    guests.entry(id.0).or_default().seed(count.minute, count.calls);
                }
            }
        }
        Self::over(Callers::Alone { accounts, guests }, networks, guests_per_network)
    }

    /// Leases from the store what is let through, so that all instances on it keep one limit.
    #[must_use]
    pub fn together(
        store: Store,
        networks: &[NetworkCount],
        guests_per_network: NonZeroU32,
    ) -> Self {
        let callers = Callers::Together { store, shares: DashMap::new() };
        Self::over(callers, networks, guests_per_network)
    }

    fn over(callers: Callers, counts: &[NetworkCount], guests_per_network: NonZeroU32) -> Self {
        let networks: DashMap<IpAddr, GuestLimits> = DashMap::new();
        for count in counts {
            networks.entry(count.network).or_default().seed(count.minute, count.calls);
        }
        Self { callers, networks, guests_per_network: guests_per_network.get() }
    }

    /// Counts a call of `caller`, or refuses it.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] where instances count together, the store does not answer, and no call is
    /// leased.
    pub async fn admit(&self, caller: &Caller, now: Timestamp) -> Result<Admission, Unavailable> {
        let (store, shares) = match &self.callers {
            Callers::Alone { accounts, guests } => {
                return Ok(self.admit_alone(accounts, guests, caller, now));
            }
            Callers::Together { store, shares } => (store, shares),
        };
        let share = shares.entry(caller.id()).or_default().clone();
        let admit = self.admit_together(store, &share, caller, now);
        match tokio::time::timeout(PATIENCE, admit).await {
            Ok(Ok(admission)) => Ok(admission),
            Ok(Err(error)) => {
                tracing::error!(%error, "no share of a limit can be leased");
                Err(Unavailable)
            }
            Err(_) => {
                tracing::error!("no share of a limit was leased in time");
                Err(Unavailable)
            }
        }
    }

    fn admit_alone(
        &self,
        accounts: &DashMap<i64, RollingHour>,
        guests: &DashMap<i64, GuestLimits>,
        caller: &Caller,
        now: Timestamp,
    ) -> Admission {
        match caller {
            Caller::Account(account) => {
                accounts.entry(account.id.0).or_default().admit(now, account.hourly_limit)
            }
            Caller::Guest(guest) => {
                // Always in this order, so that no two callers wait for each other.
                let mut network = self.networks.entry(guest.network).or_default();
                let mut own = guests.entry(guest.id.0).or_default();
                own.admit_both(&mut network, now, self.guests_per_network)
            }
        }
    }

    /// Calls of one caller wait for one lease. One that is given up on the way, with its client or
    /// by the clock, may have leased what nobody uses then: never too many, perhaps too few.
    async fn admit_together(
        &self,
        store: &Store,
        share: &Mutex<Share>,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        let allowance = allowance(caller);
        let mut share = share.lock().await;
        let admission = loop {
            if let Some(admission) = share.admit(now, &allowance) {
                break admission;
            }
            let ask = share.ask(now, &allowance);
            share.receive(store.lease(caller.id(), ask).await?, &ask);
        };
        let (Admission::Granted(own), Caller::Guest(guest)) = (admission, caller) else {
            return Ok(admission);
        };
        let mut network = self.networks.entry(guest.network).or_default();
        match network.admit(now, self.guests_per_network) {
            Admission::Granted(shared) => Ok(Admission::Granted(own.tighter(shared))),
            refused @ Admission::Refused { .. } => {
                share.take_back();
                Ok(refused)
            }
        }
    }

    /// How the limit of `caller` stands, without counting. Together, calls that another instance
    /// has leased count as made.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where instances count together and the store does not answer.
    pub async fn standing(&self, caller: &Caller, now: Timestamp) -> Result<Standing, StoreError> {
        let own = match (&self.callers, caller) {
            (Callers::Alone { accounts, .. }, Caller::Account(account)) => {
                accounts.entry(account.id.0).or_default().standing(now, account.hourly_limit)
            }
            (Callers::Alone { guests, .. }, Caller::Guest(guest)) => {
                guests.entry(guest.id.0).or_default().standing(now, 1)
            }
            (Callers::Together { store, shares }, caller) => {
                let share = shares.entry(caller.id()).or_default().clone();
                let (share, allowance) = (share.lock().await, allowance(caller));
                let shared = store.shared(caller.id()).await?.standing(now, &allowance);
                Standing { remaining: shared.remaining + share.unused(now, &allowance), ..shared }
            }
        };
        let Caller::Guest(guest) = caller else { return Ok(own) };
        let network = self.networks.entry(guest.network).or_default();
        Ok(own.tighter(network.standing(now, self.guests_per_network)))
    }

    /// How many calls a guest has made today.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where instances count together and the store does not answer.
    pub async fn requests_today(
        &self,
        guest: account_core::GuestId,
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        match &self.callers {
            Callers::Alone { guests, .. } => {
                Ok(guests.get(&guest.0).map_or(0, |limits| limits.requests_today(now)))
            }
            Callers::Together { store, .. } => {
                Ok(store.shared(CallerId::Guest(guest)).await?.requests_today(now))
            }
        }
    }

    /// Forgets callers that have been quiet for as long as a limit looks back.
    pub async fn sweep(&self, now: Timestamp) {
        let is_loud = |limits: &GuestLimits| {
            let standing = limits.standing(now, 1);
            limits.requests_today(now) > 0 || standing.remaining < standing.limit
        };
        self.networks.retain(|_, limits| is_loud(limits));
        match &self.callers {
            Callers::Alone { accounts, guests } => {
                accounts.retain(|_, hour| hour.standing(now, u32::MAX).remaining < u32::MAX);
                guests.retain(|_, limits| is_loud(limits));
            }
            Callers::Together { store, .. } => {
                // A guest's day, and the hour before it.
                if let Err(error) = store.forget_shared(now - TimeDelta::hours(26)).await {
                    tracing::error!(%error, "limits that count no longer are not forgotten");
                }
            }
        }
    }

    /// Gives back what was leased for a minute that is over and not used.
    pub async fn give_back_expired(&self, now: Timestamp) {
        self.give_back(|share| share.give_up_expired(now)).await;
    }

    /// Gives back everything, for the others, when this instance ends.
    pub async fn give_back_all(&self) {
        self.give_back(Share::give_up).await;
    }

    async fn give_back(&self, give_up: impl Fn(&mut Share) -> Option<Unused>) {
        let Callers::Together { store, shares } = &self.callers else { return };
        let mut given_up = Vec::new();
        shares.retain(|caller, share| {
            // Whoever is at it looks at its lease itself.
            let Ok(mut held) = share.try_lock() else { return true };
            given_up.extend(give_up(&mut held).map(|unused| (*caller, unused)));
            !held.is_empty() || Arc::strong_count(share) > 1
        });
        for (caller, unused) in given_up {
            if let Err(error) = store.give_back(caller, unused).await {
                // They count as made for an hour: too few are let through, not too many.
                tracing::warn!(%error, "calls that were leased are not given back");
                return;
            }
        }
    }
}

fn allowance(caller: &Caller) -> Allowance {
    match caller {
        Caller::Account(account) => Allowance::hourly(account.hourly_limit),
        Caller::Guest(_) => Allowance::GUEST,
    }
}
