//! How often each caller has come: counted in memory, or leased from where several instances count
//! together.

use std::{net::IpAddr, num::NonZeroU32, time::Duration};

use account_core::guest::NetworkCount;
use account_core::{Admission, Caller, GuestLimits, MinuteCount, Standing, StoreError, Timestamp};
use dashmap::DashMap;

mod alone;
mod leases;
mod redis;
mod together;

pub use leases::Leases;
pub use redis::{RedisAddress, RedisLeases};

use alone::{Alone, is_loud};
use together::Together;

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
    Alone(Alone),
    /// All instances that lease in one place.
    Together(Together),
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
        Self::over(Callers::Alone(Alone::seeded(counts)), networks, guests_per_network)
    }

    /// Leases what is let through, so that all instances that lease there keep one limit.
    #[must_use]
    pub fn together(
        leases: Leases,
        networks: &[NetworkCount],
        guests_per_network: NonZeroU32,
    ) -> Self {
        Self::over(Callers::Together(Together::new(leases)), networks, guests_per_network)
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
    /// [`Unavailable`] where instances count together, the place of the leases does not answer, and no call is
    /// leased.
    pub async fn admit(&self, caller: &Caller, now: Timestamp) -> Result<Admission, Unavailable> {
        let together = match &self.callers {
            Callers::Alone(alone) => {
                return Ok(alone.admit(caller, &self.networks, self.guests_per_network, now));
            }
            Callers::Together(together) => together,
        };
        let admit = together.admit(caller, now, |own| self.admit_network(caller, own, now));
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

    /// Counts a guest's call for the network that made its key too.
    fn admit_network(&self, caller: &Caller, own: Standing, now: Timestamp) -> Admission {
        let Caller::Guest(guest) = caller else { return Admission::Granted(own) };
        let mut network = self.networks.entry(guest.network).or_default();
        match network.admit(now, self.guests_per_network) {
            Admission::Granted(shared) => Admission::Granted(own.tighter(shared)),
            refused @ Admission::Refused { .. } => refused,
        }
    }

    /// How the limit of `caller` stands, without counting. Together, calls that another instance
    /// has leased count as made.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where instances count together and the place of the leases does not answer.
    pub async fn standing(&self, caller: &Caller, now: Timestamp) -> Result<Standing, StoreError> {
        let own = match &self.callers {
            Callers::Alone(alone) => alone.standing(caller, now),
            Callers::Together(together) => together.standing(caller, now).await?,
        };
        let Caller::Guest(guest) = caller else { return Ok(own) };
        let network = self.networks.entry(guest.network).or_default();
        Ok(own.tighter(network.standing(now, self.guests_per_network)))
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
            Callers::Alone(alone) => Ok(alone.requests_today(guest, now)),
            Callers::Together(together) => together.requests_today(guest, now).await,
        }
    }

    /// Asks the Redis of the limits whether it answers; `None` where they have none.
    pub async fn ping_redis(&self) -> Option<Result<(), StoreError>> {
        match &self.callers {
            Callers::Together(Together { leases: Leases::Redis(redis), .. }) => {
                Some(redis.ping().await)
            }
            _ => None,
        }
    }

    /// Forgets callers that have been quiet for as long as a limit looks back.
    pub async fn sweep(&self, now: Timestamp) {
        self.networks.retain(|_, limits| is_loud(limits, now));
        match &self.callers {
            Callers::Alone(alone) => alone.sweep(now),
            Callers::Together(together) => {
                if let Err(error) = together.leases.sweep(now).await {
                    tracing::error!(%error, "limits that count no longer are not forgotten");
                }
            }
        }
    }

    /// Gives back what was leased for a cell that is over and not used.
    pub async fn give_back_expired(&self, now: Timestamp) {
        if let Callers::Together(together) = &self.callers {
            together.give_back_expired(now).await;
        }
    }

    /// Gives back everything, for the others, when this instance ends.
    pub async fn give_back_all(&self) {
        if let Callers::Together(together) = &self.callers {
            together.give_back_all().await;
        }
    }
}
