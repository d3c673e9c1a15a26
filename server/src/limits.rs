//! How often each caller has come: counted in memory, or leased from where several instances count
//! together.

use std::{net::IpAddr, num::NonZeroU32, time::Duration};

use account_core::guest::NetworkCount;
use account_core::{
    Caller, GuestLimits, LimitDecision, LimitStatus, MinuteCount, StoreError, Timestamp,
};
use dashmap::DashMap;

mod by_address;
mod distributed;
mod leases;
mod local;
mod redis;

pub use by_address::AddressLimiter;
pub use leases::Leases;
pub use redis::{RedisAddress, RedisLeases};

use distributed::DistributedLimits;
use local::{LocalLimits, is_loud};

/// How long a call waits for a lease: no longer than the rule allows for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The calls of the last hour, and of a guest's day.
pub struct Limits {
    callers: CallerLimits,
    /// The guests of one network together; each instance counts them by itself.
    networks: DashMap<IpAddr, GuestLimits>,
    /// How many guests' calls the guests of one network have together.
    guests_per_network: u32,
}

/// Who counts.
enum CallerLimits {
    /// This process, for itself.
    Local(LocalLimits),
    /// All instances that lease in one place.
    Distributed(DistributedLimits),
}

/// The store does not say whether there are calls left, and none is leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no share of the limit can be leased")]
pub struct Unavailable;

impl Limits {
    /// Counts in this process, and takes up what was counted before a restart. The guests of one
    /// network have the calls of so many guests together.
    #[must_use]
    pub fn local(
        counts: &[MinuteCount],
        networks: &[NetworkCount],
        guests_per_network: NonZeroU32,
    ) -> Self {
        Self::over(CallerLimits::Local(LocalLimits::seeded(counts)), networks, guests_per_network)
    }

    /// Leases what is let through, so that all instances that lease there keep one limit.
    #[must_use]
    pub fn distributed(
        leases: Leases,
        networks: &[NetworkCount],
        guests_per_network: NonZeroU32,
    ) -> Self {
        Self::over(
            CallerLimits::Distributed(DistributedLimits::new(leases)),
            networks,
            guests_per_network,
        )
    }

    fn over(
        callers: CallerLimits,
        counts: &[NetworkCount],
        guests_per_network: NonZeroU32,
    ) -> Self {
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
    /// [`Unavailable`] where instances count together, the place of the leases does not answer, and no call is
    /// leased.
    pub async fn admit(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<LimitDecision, Unavailable> {
        let distributed = match &self.callers {
            CallerLimits::Local(local) => {
                return Ok(local.admit(caller, &self.networks, self.guests_per_network, now));
            }
            CallerLimits::Distributed(distributed) => distributed,
        };
        let admit = distributed.admit(caller, now, |own| self.admit_network(caller, own, now));
        match tokio::time::timeout(PATIENCE, admit).await {
            Ok(Ok(decision)) => Ok(decision),
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

    /// Counts a guest's call for the network that made its key too.
    fn admit_network(&self, caller: &Caller, own: LimitStatus, now: Timestamp) -> LimitDecision {
        let Caller::Guest(guest) = caller else { return LimitDecision::Granted(own) };
        let mut network = self.networks.entry(guest.network).or_default();
        match network.admit(now, self.guests_per_network) {
            LimitDecision::Granted(shared) => LimitDecision::Granted(own.tighter(shared)),
            refused @ LimitDecision::Refused { .. } => refused,
        }
    }

    /// How the limit of `caller` stands, without counting. Together, calls that another instance
    /// has leased count as made.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where instances count together and the place of the leases does not answer.
    pub async fn limit_status(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<LimitStatus, StoreError> {
        let own = match &self.callers {
            CallerLimits::Local(local) => local.limit_status(caller, now),
            CallerLimits::Distributed(distributed) => distributed.limit_status(caller, now).await?,
        };
        let Caller::Guest(guest) = caller else { return Ok(own) };
        let network = self.networks.entry(guest.network).or_default();
        Ok(own.tighter(network.limit_status(now, self.guests_per_network)))
    }

    /// How many calls a guest has made today.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where instances count together and the place of the leases does not answer.
    pub async fn requests_today(
        &self,
        guest: account_core::GuestId,
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        match &self.callers {
            CallerLimits::Local(local) => Ok(local.requests_today(guest, now)),
            CallerLimits::Distributed(distributed) => distributed.requests_today(guest, now).await,
        }
    }

    /// Asks the Redis of the limits whether it answers; `None` where they have none.
    pub async fn ping_redis(&self) -> Option<Result<(), StoreError>> {
        match &self.callers {
            CallerLimits::Distributed(DistributedLimits {
                leases: Leases::Redis(redis), ..
            }) => Some(redis.ping().await),
            _ => None,
        }
    }

    /// Forgets callers that have been quiet for as long as a limit looks back.
    pub async fn sweep(&self, now: Timestamp) {
        self.networks.retain(|_, limits| is_loud(limits, now));
        match &self.callers {
            CallerLimits::Local(local) => local.sweep(now),
            CallerLimits::Distributed(distributed) => {
                if let Err(error) = distributed.leases.sweep(now).await {
                    tracing::error!(%error, "limits that count no longer are not forgotten");
                }
            }
        }
    }

    /// Gives back what was leased for a cell that is over and not used.
    pub async fn give_back_expired(&self, now: Timestamp) {
        if let CallerLimits::Distributed(distributed) = &self.callers {
            distributed.give_back_expired(now).await;
        }
    }

    /// Gives back everything, for the others, when this instance ends.
    pub async fn give_back_all(&self) {
        if let CallerLimits::Distributed(distributed) = &self.callers {
            distributed.give_back_all().await;
        }
    }
}
