//! Where calls are leased that several instances count together.

use account_core::limit::lease::{Ask, Lease, LeaseStore, Shared, Unused};
use account_core::{CallerId, StoreError, Timestamp};
use chrono::TimeDelta;

use super::redis::RedisLeases;
use crate::store::Store;

/// One of two places that all instances reach.
pub enum Leases {
    /// The database.
    Database(Store),
    /// A Redis beside it.
    Redis(RedisLeases),
}

impl Leases {
    /// Forgets callers of whom nothing counts any longer. Redis forgets them by itself.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the database does not answer.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        match self {
            // A guest's day, and the hour before it.
            Self::Database(store) => store.forget_shared(now - TimeDelta::hours(26)).await,
            Self::Redis(_) => Ok(()),
        }
    }
}

impl LeaseStore for Leases {
    async fn lease(&self, caller: CallerId, ask: Ask) -> Result<Lease, StoreError> {
        match self {
            Self::Database(store) => store.lease(caller, ask).await,
            Self::Redis(redis) => redis.lease(caller, ask).await,
        }
    }

    async fn give_back(&self, caller: CallerId, unused: Unused) -> Result<(), StoreError> {
        match self {
            Self::Database(store) => store.give_back(caller, unused).await,
            Self::Redis(redis) => redis.give_back(caller, unused).await,
        }
    }

    async fn shared(&self, caller: CallerId) -> Result<Shared, StoreError> {
        match self {
            Self::Database(store) => store.shared(caller).await,
            Self::Redis(redis) => redis.shared(caller).await,
        }
    }
}
