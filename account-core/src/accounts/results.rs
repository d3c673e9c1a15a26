//! Answers that are kept for a day, so that whoever got one cut can read the whole of it.

use chrono::TimeDelta;

use crate::accounts::{Accounts, Store};
use crate::identity::AccountId;
use crate::password::PasswordHasher;
use crate::{Result, StoreError, Timestamp};

/// How long a result is kept.
pub const KEPT: TimeDelta = TimeDelta::hours(24);

/// The number of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultId(pub u128);

/// A result as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// Its number.
    pub id: ResultId,
    /// Who may read it, and nobody else.
    pub owner: AccountId,
    /// What was answered.
    pub body: String,
    /// When.
    pub at: Timestamp,
}

/// Where results are kept.
pub trait ResultStore: Send + Sync {
    /// Keeps results, as one step. Those of an account that is gone are left out.
    fn keep_results(
        &self,
        results: Vec<StoredResult>,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;

    /// Reads the owner's result with this number, if it was made after the moment.
    fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        after: Timestamp,
    ) -> impl Future<Output = std::result::Result<Option<String>, StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Reads a result of the last day. Another's is as unknown as one that never was.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        now: Timestamp,
    ) -> Result<Option<String>> {
        Ok(self.store().kept_result(owner, id, now - KEPT).await?)
    }
}
