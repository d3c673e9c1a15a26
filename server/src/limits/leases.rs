//! The store of leases that several instances share: the database or Redis.

use account_core::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};
use account_core::store::LeaseStore;
use account_core::{CallerId, StoreError, Timestamp};
use chrono::TimeDelta;

use super::RedisLeases;
use crate::store::LeaseWriter;

/// The store of the leases that all instances share.
pub enum Leases {
    /// The database, by the lease writers.
    Database(LeaseWriter),
    /// A Redis server beside the database.
    Redis(RedisLeases),
}

impl Leases {
    /// Deletes expired limits. Redis expires its keys by itself.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        match self {
            // A guest's day and the hour before the day, with a margin of an hour.
            Self::Database(writer) => {
                writer.store().forget_shared(now - TimeDelta::hours(26)).await
            }
            Self::Redis(_) => Ok(()),
        }
    }

    /// Returns the unused calls of several callers.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store does not answer; some calls may have been returned by then.
    pub async fn give_back_all(
        &self,
        unused: &[(CallerId, ReturnedCalls)],
    ) -> Result<(), StoreError> {
        match self {
            Self::Database(writer) => writer.store().give_back_all(unused).await,
            Self::Redis(redis) => {
                for (caller, unused) in unused {
                    redis.give_back(*caller, *unused).await?;
                }
                Ok(())
            }
        }
    }
}

impl LeaseStore for Leases {
    async fn lease(&self, caller: CallerId, ask: Ask) -> Result<Lease, StoreError> {
        match self {
            Self::Database(writer) => writer.lease(caller, ask).await,
            Self::Redis(redis) => redis.lease(caller, ask).await,
        }
    }

    async fn give_back(&self, caller: CallerId, unused: ReturnedCalls) -> Result<(), StoreError> {
        match self {
            Self::Database(writer) => writer.give_back(caller, unused).await,
            Self::Redis(redis) => redis.give_back(caller, unused).await,
        }
    }

    async fn shared(&self, caller: CallerId) -> Result<SharedWindow, StoreError> {
        match self {
            Self::Database(writer) => writer.shared(caller).await,
            Self::Redis(redis) => redis.shared(caller).await,
        }
    }
}
