//! The rate limits of callers: counted in memory by one instance, or leased from a store that
//! several instances share. The credits that running calls have reserved are in `reserved_credits`.

use std::{net::IpAddr, num::NonZeroU32, time::Duration};

use account_core::guest::NetworkCount;
use account_core::{
    Caller, GuestLimits, LimitDecision, LimitStatus, MinuteCount, StoreError, Timestamp,
};
use dashmap::DashMap;

use crate::store::StoreFault;

mod by_address;
mod code_requests;
mod distributed;
mod leases;
mod local;
#[cfg(feature = "redis")]
mod redis;
mod reserved_credits;
#[cfg(not(feature = "redis"))]
mod without_redis;

pub use by_address::AddressLimiter;
pub use code_requests::{CodeRequests, Dropped};
pub use leases::Leases;
#[cfg(feature = "redis")]
pub use redis::{RedisAddress, RedisError, RedisLeases};
pub use reserved_credits::{CreditReservation, Price, ReservedCredits};
#[cfg(not(feature = "redis"))]
pub use without_redis::{
    WithoutRedis as RedisLeases, WithoutRedisAddress as RedisAddress,
    WithoutRedisError as RedisError,
};

use distributed::DistributedLimits;
use local::{LocalLimits, has_calls};

/// The longest wait of a call for a lease, which the rule of the limits allows for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The limits of all callers: calls of the last hour, and of a guest's day.
pub struct Limits {
    callers: CallerLimits,
    /// The calls of the guests of one network together, which each instance counts by itself.
    networks: DashMap<IpAddr, GuestLimits>,
    /// The limit of one network, as a multiple of the limit of one guest.
    guests_per_network: u32,
}

/// The counters of all callers, in memory or leased.
enum CallerLimits {
    /// Counters in the memory of the one instance.
    Local(LocalLimits),
    /// Leases from a store that all instances share.
    Distributed(DistributedLimits),
}

/// The failure to decide on a call: the lease store does not answer, and no leased call is left.
/// The field is the state of the database; `None` where the database is not the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no calls of the limit can be leased")]
pub struct Unavailable(pub Option<StoreFault>);

impl Limits {
    /// Returns limits that this process counts, starting with the counts from before a restart. The
    /// guests of one network together have the limit of `guests_per_network` guests.
    #[must_use]
    pub fn local(
        counts: &[MinuteCount],
        networks: &[NetworkCount],
        guests_per_network: NonZeroU32,
    ) -> Self {
        Self::over(CallerLimits::Local(LocalLimits::seeded(counts)), networks, guests_per_network)
    }

    /// Returns limits of leased calls, which all instances with the same lease store share.
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
    /// [`Unavailable`] where the limits are distributed, the lease store does not answer, and no
    /// leased call is left.
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
        // Boxed, so that the future of a request has no room for it where the limits are local.
        let admit =
            Box::pin(distributed.admit(caller, now, |own| self.admit_network(caller, own, now)));
        match tokio::time::timeout(PATIENCE, admit).await {
            Ok(Ok(decision)) => Ok(decision),
            Ok(Err(error)) => {
                tracing::error!(%error, "no calls of a limit can be leased");
                Err(Unavailable(StoreFault::of(&error)))
            }
            Err(_) => {
                tracing::error!("no calls of a limit were leased in time");
                Err(Unavailable(None))
            }
        }
    }

    /// Counts a guest's call for the network that requested the guest's key.
    fn admit_network(&self, caller: &Caller, own: LimitStatus, now: Timestamp) -> LimitDecision {
        let Caller::Guest(guest) = caller else { return LimitDecision::Granted(own) };
        let mut network = self.networks.entry(guest.network).or_default();
        match network.admit(now, self.guests_per_network) {
            LimitDecision::Granted(shared) => LimitDecision::Granted(own.tighter(shared)),
            refused @ LimitDecision::Refused { .. } => refused,
        }
    }

    /// Returns the status of a caller's limit without counting a call. Calls that another instance
    /// has leased count as made.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the limits are distributed and the lease store does not answer.
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

    /// Returns the number of calls that a guest has made today.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the limits are distributed and the lease store does not answer.
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

    /// Checks that the Redis of the limits answers; `None` without Redis.
    pub async fn ping_redis(&self) -> Option<Result<(), StoreError>> {
        match &self.callers {
            CallerLimits::Distributed(DistributedLimits {
                leases: Leases::Redis(redis), ..
            }) => Some(redis.ping().await),
            _ => None,
        }
    }

    /// Removes callers without a call in the period of their limit.
    pub async fn sweep(&self, now: Timestamp) {
        self.networks.retain(|_, limits| has_calls(limits, now));
        match &self.callers {
            CallerLimits::Local(local) => local.sweep(now),
            CallerLimits::Distributed(distributed) => {
                if let Err(error) = distributed.leases.sweep(now).await {
                    tracing::error!(%error, "expired limits could not be deleted");
                }
            }
        }
    }

    /// Returns unused calls that were leased for an expired cell.
    pub async fn give_back_expired(&self, now: Timestamp) {
        if let CallerLimits::Distributed(distributed) = &self.callers {
            distributed.give_back_expired(now).await;
        }
    }

    /// Returns every unused leased call, so that other instances can use the calls.
    pub async fn give_back_all(&self) {
        if let CallerLimits::Distributed(distributed) = &self.callers {
            distributed.give_back_all().await;
        }
    }
}
