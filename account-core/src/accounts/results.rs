//! Results that are stored for a day, so that the caller of a shortened answer can read the whole
//! result.

use chrono::TimeDelta;

use crate::accounts::Accounts;
use crate::identity::AccountId;
use crate::password::PasswordHasher;
use crate::store::{ListedResult, ResultId, Store, StoredResult};
use crate::{Result, Timestamp};

/// The time for which a result is stored.
pub const KEPT: TimeDelta = TimeDelta::hours(24);

/// The most results of one account that are stored; the oldest are removed first.
pub const MOST_RESULTS: u32 = 10_000;
/// The most bytes of stored results of one account; the oldest are removed first.
pub const MOST_BYTES: u64 = 64 * 1000 * 1000;

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Reads a stored result of the last day. Another account's result is treated as unknown.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        now: Timestamp,
    ) -> Result<Option<StoredResult>> {
        Ok(self.store().kept_result(owner, id, now - KEPT).await?)
    }

    /// Lists an account's stored results of the last day, the newest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn recent_results(
        &self,
        owner: AccountId,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<ListedResult>> {
        Ok(self.store().recent_results(owner, now - KEPT, limit).await?)
    }
}
