//! Results that are stored for a day, so that the caller of a shortened answer can read the whole
//! result.

use chrono::TimeDelta;

use crate::accounts::Accounts;
use crate::identity::AccountId;
use crate::password::PasswordHasher;
use crate::store::{ResultId, Store};
use crate::{Result, Timestamp};

/// The time for which a result is stored.
pub const KEPT: TimeDelta = TimeDelta::hours(24);

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
    ) -> Result<Option<String>> {
        Ok(self.store().kept_result(owner, id, now - KEPT).await?)
    }
}
