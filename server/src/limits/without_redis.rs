//! The absent Redis of a program without the feature `redis`: its address is refused at the start.

use std::str::FromStr;

use account_core::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};
use account_core::store::LeaseStore;
use account_core::{CallerId, StoreError};

use crate::store::Store;

/// The refusal of an address of Redis.
#[derive(Debug, thiserror::Error)]
#[error("this program was built without the feature redis")]
pub struct WithoutRedisError;

/// An address that no text can name.
#[derive(Clone, Debug)]
pub enum WithoutRedisAddress {}

impl FromStr for WithoutRedisAddress {
    type Err = WithoutRedisError;

    fn from_str(_: &str) -> Result<Self, WithoutRedisError> {
        Err(WithoutRedisError)
    }
}

/// A store of leases that nothing can make, so that its methods are never called.
pub enum WithoutRedis {}

impl WithoutRedis {
    /// Connects to Redis.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn connect(
        address: &WithoutRedisAddress,
        _: Store,
    ) -> Result<Self, WithoutRedisError> {
        match *address {}
    }

    /// Checks that Redis answers.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn ping(&self) -> Result<(), StoreError> {
        match *self {}
    }
}

impl LeaseStore for WithoutRedis {
    async fn lease(&self, _: CallerId, _: Ask) -> Result<Lease, StoreError> {
        match *self {}
    }

    async fn give_back(&self, _: CallerId, _: ReturnedCalls) -> Result<(), StoreError> {
        match *self {}
    }

    async fn shared(&self, _: CallerId) -> Result<SharedWindow, StoreError> {
        match *self {}
    }
}
